#include "sim/load/model_config.h"

#include "isa/array_count.h"
#include "sim/base/file_read.h"
#include "sim/base/suggest.h"
#include "sim/load/text_proto.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FILE_MOST = 1 << 20 };

struct reading {
    const char *file;
    struct model_config *config;
    struct orch_error *error;
};

/* A field of a message, and what is done with it; NULL = it is known and changes nothing here. */
struct rule {
    const char *name;
    bool (*take)(struct reading *r, const struct text_proto_field *f);
};

static bool take_all(struct reading *r, const struct text_proto *m, const char *where, const struct rule *rule, size_t rules)
{
    for (size_t i = 0; i < m->count; i++) {
        const struct text_proto_field *const f = &m->field[i];
        struct suggest s;
        char hint[96];
        size_t k = 0;
        suggest_start(&s, f->name);
        for (; k < rules && strcmp(rule[k].name, f->name) != 0; k++)
            suggest_offer(&s, rule[k].name);
        if (k == rules)
            return orch_fail(r->error, ORCH_USAGE, "%s:%u: %s has no field '%.60s'%s", r->file, f->line, where, f->name,
                             suggest_phrase(&s, hint, sizeof hint));
        if (rule[k].take ? !rule[k].take(r, f) : false)
            return false;
        if (!rule[k].take && r->config->ignored_count < MODEL_CONFIG_IGNORED)
            snprintf(r->config->ignored[r->config->ignored_count++], sizeof r->config->ignored[0], "%.40s", f->name);
    }
    return true;
}

static bool take_message(struct reading *r, const struct text_proto_field *f, const struct rule *rule, size_t rules)
{
    const struct text_proto *const m = text_proto_message(r->file, f, r->error);
    return m && take_all(r, m, f->name, rule, rules);
}

static bool take_name_into(struct reading *r, const struct text_proto_field *f, char *to, size_t size)
{
    const char *const text = text_proto_string(r->file, f, r->error);
    if (!text)
        return false;
    if (strlen(text) >= size)
        return orch_fail(r->error, ORCH_USAGE, "%s:%u: %.60s: at most %zu characters", r->file, f->line, f->name, size - 1);
    snprintf(to, size, "%s", text);
    return true;
}

/* ---- batching ---- */

static bool take_preferred(struct reading *r, const struct text_proto_field *f)
{
    struct batch_rule *const rule = &r->config->rule;
    int64_t size;
    if (rule->preferences == BATCH_PREFERRED)
        return orch_fail(r->error, ORCH_USAGE, "%s:%u: at most %d preferred sizes", r->file, f->line, BATCH_PREFERRED);
    if (!text_proto_integer(r->file, f, 1, BATCH_MOST, &size, r->error))
        return false;
    /* Triton's is a set. */
    unsigned at = rule->preferences;
    while (at > 0 && rule->preferred[at - 1] >= size)
        at--;
    if (at < rule->preferences && rule->preferred[at] == size)
        return true;
    memmove(&rule->preferred[at + 1], &rule->preferred[at], (rule->preferences - at) * sizeof *rule->preferred);
    rule->preferred[at] = (unsigned)size;
    rule->preferences++;
    return true;
}

static bool take_microseconds(struct reading *r, const struct text_proto_field *f, double *seconds)
{
    int64_t number;
    if (!text_proto_integer(r->file, f, 0, INT64_C(3600000000), &number, r->error))
        return false;
    *seconds = 1e-6 * (double)number;
    return true;
}

static bool take_delay(struct reading *r, const struct text_proto_field *f)
{
    return take_microseconds(r, f, &r->config->rule.delay_s);
}

static bool take_timeout(struct reading *r, const struct text_proto_field *f)
{
    return take_microseconds(r, f, &r->config->rule.timeout_s);
}

static bool take_queue_size(struct reading *r, const struct text_proto_field *f)
{
    int64_t size;
    if (!text_proto_integer(r->file, f, 0, 100000000, &size, r->error))
        return false;
    r->config->rule.queue = (unsigned)size;
    return true;
}

static bool take_timeout_action(struct reading *r, const struct text_proto_field *f)
{
    const char *const word = text_proto_word(r->file, f, r->error);
    return word &&
           (strcmp(word, "REJECT") == 0 ||
            orch_fail(r->error, ORCH_USAGE, "%s:%u: timeout_action %.20s: only REJECT is simulated", r->file, f->line, word));
}

static bool take_policy(struct reading *r, const struct text_proto_field *f)
{
    static const struct rule rules[] = {{"timeout_action", take_timeout_action},
                                        {"default_timeout_microseconds", take_timeout},
                                        {"allow_timeout_override", NULL},
                                        {"max_queue_size", take_queue_size}};
    return take_message(r, f, rules, ARRAY_COUNT(rules));
}

static bool take_batching(struct reading *r, const struct text_proto_field *f)
{
    static const struct rule rules[] = {{"preferred_batch_size", take_preferred},
                                        {"max_queue_delay_microseconds", take_delay},
                                        {"default_queue_policy", take_policy},
                                        {"preserve_ordering", NULL},
                                        {"priority_levels", NULL},
                                        {"default_priority_level", NULL},
                                        {"priority_queue_policy", NULL}};
    return take_message(r, f, rules, ARRAY_COUNT(rules));
}

static bool take_max_batch(struct reading *r, const struct text_proto_field *f)
{
    int64_t size;
    if (!text_proto_integer(r->file, f, 0, BATCH_MOST, &size, r->error))
        return false;
    r->config->max_batch = (unsigned)size;
    return true;
}

/* ---- instances ---- */

static bool take_count(struct reading *r, const struct text_proto_field *f)
{
    int64_t count;
    if (!text_proto_integer(r->file, f, 1, 64, &count, r->error))
        return false;
    r->config->group[r->config->groups].count = (unsigned)count;
    return true;
}

static bool take_kind(struct reading *r, const struct text_proto_field *f)
{
    static const char *const kinds[][2] = {{"KIND_AUTO", ""}, {"KIND_MODEL", ""}, {"KIND_GPU", "gpu"}, {"KIND_CPU", "cpu"}};
    const char *const word = text_proto_word(r->file, f, r->error);
    for (size_t i = 0; word && i < ARRAY_COUNT(kinds); i++) {
        if (strcmp(word, kinds[i][0]) == 0) {
            snprintf(r->config->group[r->config->groups].unit, sizeof r->config->group[0].unit, "%s", kinds[i][1]);
            return true;
        }
    }
    return word && orch_fail(r->error, ORCH_USAGE, "%s:%u: kind %.30s is none of KIND_AUTO, KIND_GPU, KIND_CPU, KIND_MODEL",
                             r->file, f->line, word);
}

static bool take_group(struct reading *r, const struct text_proto_field *f)
{
    static const struct rule rules[] = {
        {"name", NULL},         {"kind", take_kind},         {"count", take_count}, {"gpus", NULL},       {"profile", NULL},
        {"rate_limiter", NULL}, {"secondary_devices", NULL}, {"passive", NULL},     {"host_policy", NULL}};
    const unsigned ignored = r->config->ignored_count;
    if (r->config->groups == MODEL_CONFIG_GROUPS)
        return orch_fail(r->error, ORCH_USAGE, "%s:%u: at most %d instance groups", r->file, f->line, MODEL_CONFIG_GROUPS);
    r->config->group[r->config->groups] = (struct model_config_group){.count = 1};
    if (!take_message(r, f, rules, ARRAY_COUNT(rules)))
        return false;
    r->config->groups++;
    r->config->ignored_count = ignored; /* names and numbers of GPUs mean nothing on one chip */
    return true;
}

/* ---- execution accelerators: which unit ---- */

/* A map is a list of messages with a key and a value. */
static bool read_entry(struct reading *r, const struct text_proto_field *f, const char **key,
                       const struct text_proto_field **value)
{
    const struct text_proto *const m = text_proto_message(r->file, f, r->error);
    *key = NULL;
    *value = NULL;
    for (size_t i = 0; m && i < m->count; i++) {
        if (strcmp(m->field[i].name, "key") == 0 && !(*key = text_proto_string(r->file, &m->field[i], r->error)))
            return false;
        if (strcmp(m->field[i].name, "value") == 0)
            *value = &m->field[i];
    }
    return m && ((*key && *value) ||
                 orch_fail(r->error, ORCH_USAGE, "%s:%u: %.60s: an entry has a key and a value", r->file, f->line, f->name));
}

static bool take_power_mode(struct reading *r, const struct text_proto_field *value)
{
    static const char *const modes[] = {"high", "balanced", "low"};
    if (!take_name_into(r, value, r->config->power_mode, sizeof r->config->power_mode))
        return false;
    for (size_t i = 0; i < ARRAY_COUNT(modes); i++)
        if (strcmp(r->config->power_mode, modes[i]) == 0)
            return true;
    return orch_fail(r->error, ORCH_USAGE, "%s:%u: power_mode '%.15s' is none of high, balanced, low", r->file, value->line,
                     r->config->power_mode);
}

static bool take_parameter(struct reading *r, const struct text_proto_field *f)
{
    static const char *const precisions[][2] = {{"fp32", "f32"}, {"fp16", "f16"}, {"f32", "f32"}, {"f16", "f16"},
                                                {"FP32", "f32"}, {"FP16", "f16"}, {"int8", "i8"}, {"INT8", "i8"}};
    const struct text_proto_field *value;
    const char *key;
    if (!read_entry(r, f, &key, &value))
        return false;
    if (strcmp(key, "power_mode") == 0)
        return take_power_mode(r, value);
    if (strcmp(key, "precision") != 0 && strcmp(key, "precision_mode") != 0)
        return orch_fail(r->error, ORCH_USAGE, "%s:%u: parameter '%.40s' of an accelerator is none of precision, power_mode",
                         r->file, f->line, key);
    const char *const text = text_proto_string(r->file, value, r->error);
    for (size_t i = 0; text && i < ARRAY_COUNT(precisions); i++) {
        if (strcmp(text, precisions[i][0]) == 0) {
            snprintf(r->config->precision, sizeof r->config->precision, "%s", precisions[i][1]);
            return true;
        }
    }
    return text &&
           orch_fail(r->error, ORCH_USAGE, "%s:%u: precision '%.30s' is none of fp32, fp16, int8", r->file, value->line, text);
}

static bool take_accelerator_name(struct reading *r, const struct text_proto_field *f)
{
    static const char *const names[][2] = {{"apple_neural_engine", "ane"},
                                           {"ane", "ane"},
                                           {"apple_gpu", "gpu"},
                                           {"metal", "gpu"},
                                           {"gpu", "gpu"},
                                           {"amx", "amx"},
                                           {"cpu", "cpu"},
                                           {"accelerate", "amx"}};
    const char *const text = text_proto_string(r->file, f, r->error);
    struct suggest s;
    char hint[96];
    suggest_start(&s, text ? text : "");
    for (size_t i = 0; text && i < ARRAY_COUNT(names); i++) {
        if (strcmp(text, names[i][0]) == 0) {
            snprintf(r->config->unit, sizeof r->config->unit, "%s", names[i][1]);
            return true;
        }
        suggest_offer(&s, names[i][0]);
    }
    return text &&
           orch_fail(r->error, ORCH_USAGE,
                     "%s:%u: accelerator '%.40s' is none of apple_neural_engine, apple_gpu, metal, accelerate, amx, cpu%s",
                     r->file, f->line, text, suggest_phrase(&s, hint, sizeof hint));
}

static bool take_accelerator(struct reading *r, const struct text_proto_field *f)
{
    static const struct rule rules[] = {{"name", take_accelerator_name}, {"parameters", take_parameter}};
    return take_message(r, f, rules, ARRAY_COUNT(rules));
}

static bool take_accelerators(struct reading *r, const struct text_proto_field *f)
{
    static const struct rule rules[] = {{"gpu_execution_accelerator", take_accelerator},
                                        {"cpu_execution_accelerator", take_accelerator}};
    return take_message(r, f, rules, ARRAY_COUNT(rules));
}

static bool take_optimization(struct reading *r, const struct text_proto_field *f)
{
    static const struct rule rules[] = {{"execution_accelerators", take_accelerators},
                                        {"graph", NULL},
                                        {"priority", NULL},
                                        {"cuda", NULL},
                                        {"input_pinned_memory", NULL},
                                        {"output_pinned_memory", NULL},
                                        {"gather_kernel_buffer_threshold", NULL},
                                        {"eager_batching", NULL}};
    return take_message(r, f, rules, ARRAY_COUNT(rules));
}

/* ---- the file ---- */

static bool take_name(struct reading *r, const struct text_proto_field *f)
{
    return take_name_into(r, f, r->config->name, sizeof r->config->name);
}

static bool refuse(struct reading *r, const struct text_proto_field *f)
{
    return orch_fail(r->error, ORCH_UNMODELLED, "%s:%u: %.40s is not simulated: only dynamic batching is", r->file, f->line,
                     f->name);
}

/* What the file of the network says already. */
static bool take_known_elsewhere(struct reading *r, const struct text_proto_field *f)
{
    (void)r;
    (void)f;
    return true;
}

static const struct rule config_rules[] = {{"name", take_name},
                                           {"platform", take_known_elsewhere},
                                           {"backend", take_known_elsewhere},
                                           {"runtime", NULL},
                                           {"default_model_filename", NULL},
                                           {"version_policy", NULL},
                                           {"max_batch_size", take_max_batch},
                                           {"input", take_known_elsewhere},
                                           {"output", take_known_elsewhere},
                                           {"batch_input", NULL},
                                           {"batch_output", NULL},
                                           {"dynamic_batching", take_batching},
                                           {"sequence_batching", refuse},
                                           {"ensemble_scheduling", refuse},
                                           {"instance_group", take_group},
                                           {"optimization", take_optimization},
                                           {"cc_model_filenames", NULL},
                                           {"metric_tags", NULL},
                                           {"parameters", NULL},
                                           {"model_warmup", NULL},
                                           {"model_operations", NULL},
                                           {"model_transaction_policy", NULL},
                                           {"model_repository_agents", NULL},
                                           {"response_cache", NULL},
                                           {"model_metrics", NULL}};

bool model_config_parse(const char *file, const char *text, size_t size, struct model_config *config, struct orch_error *error)
{
    struct reading r = {.file = file, .config = config, .error = error};
    struct text_proto *const m = text_proto_parse(file, text, size, error);
    memset(config, 0, sizeof *config);
    bool ok = m && take_all(&r, m, "the model's configuration", config_rules, ARRAY_COUNT(config_rules));
    text_proto_free(m);
    config->rule.most = config->max_batch ? config->max_batch : 1;
    if (ok && !batch_rule_is_sound(&config->rule, error))
        ok = orch_fail_in(error, "%s", file);
    return ok;
}

bool model_config_read(const char *path, struct model_config *config, struct orch_error *error)
{
    FILE *const file = fopen(path, "rb");
    uint8_t *bytes = NULL;
    size_t size = 0;
    const bool read = file && file_read_all(file, FILE_MOST, &bytes, &size);
    const int why = errno;
    if (file)
        fclose(file);
    if (!read)
        return orch_fail(error, ORCH_USAGE, "%s: %s", path, strerror(why));
    const bool ok = model_config_parse(path, (const char *)bytes, size, config, error);
    free(bytes);
    return ok;
}
