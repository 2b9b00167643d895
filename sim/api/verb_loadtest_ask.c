/* Options of the verb loadtest. */
#include "sim/api/verb_loadtest.h"

#include "isa/array_count.h"
#include "sim/base/suggest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PROMPT_USUALLY = 128, GENERATE_USUALLY = 64, OFFLINE_USUALLY = 24576, OPEN_USUALLY_S = 60, CLOSED_USUALLY_S = 600 };

/* MLPerf's own limit where a benchmark has none (mlcommons/inference, loadgen/mlperf.conf). */
#define LIMIT_USUALLY_MS 10

const struct orchard_option loadtest_options[] = {
    {"arrivals", 0, "FORM", false,
     "poisson:RATE (requests a second), constant:RATE, or a file of lines seconds,model,samples,prompt,generate (default "
     "poisson:50)"},
    {"scenario", 0, "NAME", false,
     "instead, one of MLPerf's: single-stream, multi-stream (queries of 8), server (random arrivals under a limit), offline"},
    {"limit", 0, "MS", false,
     "server: 99 % of the latencies stay below it (default 10); without arrivals the highest rate is looked for"},
    {"samples", 0, "N", false, "offline: samples that are there at once (default 24576)"},
    {"max-batch", 0, "B", false, "samples in a batch at most; language models: sequences (default 1, or what config.pbtxt says)"},
    {"preferred", 0, "LIST", false, "preferred batch sizes, as in 4,8 (default: the largest)"},
    {"queue-delay", 0, "MS", false, "the oldest request waits so long for others (default 0)"},
    {"queue-size", 0, "N", false, "requests of a model that may wait; more are turned away (default: any number)"},
    {"timeout", 0, "MS", false, "requests that waited longer are turned away (default: never)"},
    {"instances", 0, "UNIT=N", true,
     "N instances on cpu, amx, gpu or ane, for every model; MODEL/UNIT=N for one; repeats, the first are used first (default "
     "gpu=1)"},
    {"batching", 0, "KIND", false, "language models: continuous (sequences join between tokens, default) or static"},
    {"share", 0, "LIST", false, "shares of the models in the requests, as in 3,1 (default: equal)"},
    {"config", 0, "FILE", true, "a config.pbtxt for the models in their order; folders of a repository have their own"},
    {"precision", 0, "TYPE", false, "as run has it"},
    {"dim", 0, "NAME=N", true, "networks: the size of a dimension that the file leaves open, apart from the batch"},
    {"kernels", 0, "SET[@VERSION]", false, "GPU: whose kernels run where the set has them"},
    {"memory", 0, "GIB", false, "memory of the machine, one of the chip's options (default: largest; DRAM: smallest)"},
    {"prompt", 0, "N", false, "language models: tokens of a prompt (default 128)"},
    {"generate", 0, "N", false, "language models: tokens that follow (default 64)"},
    {"duration", 0, "SECONDS", false, "requests come so long (default 60; of MLPerf's scenarios 600)"},
    {"device", 0, "NAME", false,
     "machine around the chip, with heat and clocks: macbook-air, mac-mini ... (default: fixed clocks)"},
    {"ambient", 0, "C", false, "temperature of the room (default: 23)"},
    {"power-mode", 0, "MODE", false, "high, balanced (default) or low"},
    {"power-cap", 0, "W", false, "most power of chip and memory"},
    {"battery", 0, "PERCENT", false, "run from the battery, so full at the start"},
    {"output", 'o', "FILE", false, "a page: latency over rate, batch sizes, queues, power"},
    {0},
};

/* ---- models and their batches ---- */

static bool add_model(struct loadtest *t, const char *text, struct orch_error *error)
{
    const unsigned m = t->setup.models;
    struct model_entry *const e = &t->entry[m];
    if (m == LOAD_MODELS)
        return orch_fail(error, ORCH_USAGE, "at most %d models", LOAD_MODELS);
    if (!model_entry_open(text, e, error))
        return false;
    const char *const file = api_value_at(&t->context->args, "config", m);
    if (m < api_count(&t->context->args, "config")) {
        if (!model_config_read(file, &e->config, error))
            return false;
        e->configured = true;
    }
    t->name[m] = e->name;
    for (unsigned i = 0; i < m; i++)
        if (strcmp(t->name[i], e->name) == 0)
            return orch_fail(error, ORCH_USAGE, "two models are called %s", e->name);
    t->setup.model[t->setup.models++] =
        (struct load_model){.name = e->name,
                            .language = service_is_language(e->workload),
                            .continuous = true,
                            .rule = e->configured ? e->config.rule : (struct batch_rule){.most = 1},
                            .share = 1};
    return true;
}

static bool each_word(struct loadtest *t, const char *list, bool (*take)(struct loadtest *, const char *, struct orch_error *),
                      struct orch_error *error)
{
    char *const words = strdup(list), *rest = NULL;
    bool ok = words || orch_no_memory(error);
    for (const char *w = ok ? strtok_r(words, ",", &rest) : NULL; ok && w; w = strtok_r(NULL, ",", &rest))
        ok = take(t, w, error);
    free(words);
    return ok;
}

static bool whole(const char *text, const char *option, unsigned most, unsigned *value, struct orch_error *error)
{
    char *end;
    const double number = strtod(text, &end);
    if (end == text || *end || !(number >= 1) || number > most || number != floor(number))
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("%s") " %.40s: a whole number from 1 to %u", option, text, most);
    *value = (unsigned)number;
    return true;
}

static bool add_preferred(struct loadtest *t, const char *text, struct orch_error *error)
{
    unsigned size;
    if (!whole(text, "preferred", BATCH_MOST, &size, error))
        return false;
    for (unsigned m = 0; m < t->setup.models; m++) {
        struct batch_rule *const rule = &t->setup.model[m].rule;
        if (rule->preferences == BATCH_PREFERRED)
            return orch_fail(error, ORCH_USAGE, ORCH_OPTION("preferred") ": at most %d sizes", BATCH_PREFERRED);
        rule->preferred[rule->preferences++] = size;
    }
    return true;
}

static bool read_rules(struct loadtest *t, struct orch_error *error)
{
    const struct api_args *const a = &t->context->args;
    unsigned batching = 0;
    for (unsigned m = 0; m < t->setup.models; m++) {
        struct load_model *const model = &t->setup.model[m];
        uint64_t most = model->rule.most, queue = model->rule.queue, prompt = PROMPT_USUALLY, generate = GENERATE_USUALLY;
        double delay_ms = 1e3 * model->rule.delay_s, timeout_ms = 1e3 * model->rule.timeout_s;
        if (!api_unsigned(a, "max-batch", 1, BATCH_MOST, &most, error) ||
            !api_unsigned(a, "queue-size", 1, 100000000, &queue, error) ||
            !api_quantity(a, "queue-delay", "ms", 0, 3.6e6, &delay_ms, error) ||
            !api_quantity(a, "timeout", "ms", 0, 3.6e6, &timeout_ms, error) ||
            !api_unsigned(a, "prompt", 1, 1 << 20, &prompt, error) ||
            !api_unsigned(a, "generate", 1, 1 << 20, &generate, error) ||
            !api_chosen(a, "batching", "continuous|static", &batching, error))
            return false;
        model->rule.most = (unsigned)most;
        model->rule.queue = (unsigned)queue;
        model->rule.delay_s = 1e-3 * delay_ms;
        model->rule.timeout_s = 1e-3 * timeout_ms;
        model->prompt = (unsigned)prompt;
        model->generate = (unsigned)generate;
        model->continuous = batching == 0;
        if (api_has(a, "preferred"))
            model->rule.preferences = 0;
    }
    if (api_has(a, "preferred") && !each_word(t, api_value(a, "preferred"), add_preferred, error))
        return false;
    for (unsigned m = 0; m < t->setup.models; m++)
        if (!batch_rule_is_sound(&t->setup.model[m].rule, error))
            return orch_fail_in(error, "%s", t->name[m]);
    return true;
}

static bool read_shares(struct loadtest *t, struct orch_error *error)
{
    const char *at = api_value(&t->context->args, "share");
    for (unsigned m = 0; at && m < t->setup.models; m++) {
        char *end;
        t->setup.model[m].share = strtod(at, &end);
        if (end == at || !(t->setup.model[m].share >= 0) || *end != (m + 1 < t->setup.models ? ',' : 0))
            return orch_fail(error, ORCH_USAGE, ORCH_OPTION("share") " %.60s: a number for each of the %u models, as in 3,1",
                             api_value(&t->context->args, "share"), t->setup.models);
        at = end + 1;
    }
    return true;
}

/* ---- instances ---- */

static bool add_group(struct loadtest *t, unsigned model, const char *unit, unsigned count, struct orch_error *error)
{
    static const char *const units[] = {"cpu", "amx", "gpu", "ane"};
    struct suggest s;
    char hint[96];
    suggest_start(&s, unit);
    if (t->setup.groups == LOAD_GROUPS)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("instances") ": at most %d groups", LOAD_GROUPS);
    for (unsigned i = 0; i < ARRAY_COUNT(units); i++) {
        suggest_offer(&s, units[i]);
        if (strcmp(unit, units[i]) != 0)
            continue;
        snprintf(t->unit[t->setup.groups], sizeof t->unit[0], "%s", units[i]);
        t->setup.group[t->setup.groups++] =
            (struct load_group){.model = model, .count = count, .part = (enum orch_part)(PART_CPU + i), .cost = service_cost};
        return true;
    }
    return orch_fail(error, ORCH_USAGE, ORCH_OPTION("instances") " %.40s: units are cpu, amx, gpu and ane%s", unit,
                     suggest_phrase(&s, hint, sizeof hint));
}

/* UNIT=N or MODEL/UNIT=N. */
static bool add_instances(struct loadtest *t, const char *text, struct orch_error *error)
{
    char word[192];
    unsigned count = 1;
    snprintf(word, sizeof word, "%.180s", text);
    char *const equals = strrchr(word, '=');
    if (equals && !whole(equals + 1, "instances", LOAD_INSTANCES, &count, error))
        return false;
    if (equals)
        *equals = 0;
    char *const slash = strrchr(word, '/');
    const char *const unit = slash ? slash + 1 : word;
    bool any = false;
    if (slash)
        *slash = 0;
    for (unsigned m = 0; m < t->setup.models; m++) {
        if (slash && strcmp(word, t->name[m]) != 0)
            continue;
        any = true;
        if (!add_group(t, m, unit, count, error))
            return false;
    }
    return any || orch_fail(error, ORCH_USAGE, ORCH_OPTION("instances") " %.100s: there is no model of that name (%s%s)", text,
                            t->name[0], t->setup.models > 1 ? " ..." : "");
}

static bool read_instances(struct loadtest *t, struct orch_error *error)
{
    const struct api_args *const a = &t->context->args;
    for (size_t i = 0; i < api_count(a, "instances"); i++)
        if (!each_word(t, api_value_at(a, "instances", i), add_instances, error))
            return false;
    for (unsigned m = 0; m < t->setup.models; m++) {
        const struct model_config *const c = t->entry[m].configured ? &t->entry[m].config : NULL;
        bool has = false;
        for (unsigned g = 0; g < t->setup.groups; g++)
            has |= t->setup.group[g].model == m;
        /* The accelerator that a configuration names, else the kind of its groups. */
        for (unsigned g = 0; !has && c && g < c->groups; g++)
            if (!add_group(t, m, c->unit[0] ? c->unit : c->group[g].unit[0] ? c->group[g].unit : "gpu", c->group[g].count, error))
                return false;
        if (!has && !(c && c->groups) && !add_group(t, m, c && c->unit[0] ? c->unit : "gpu", 1, error))
            return false;
    }
    return true;
}

/* ---- load and machine ---- */

static bool read_load(struct loadtest *t, struct orch_error *error)
{
    enum { NONE, SINGLE, MULTI, SERVER, OFFLINE };
    const struct api_args *const a = &t->context->args;
    unsigned scenario = NONE;
    uint64_t samples = OFFLINE_USUALLY;
    double limit_ms = LIMIT_USUALLY_MS;
    if (!api_chosen(a, "scenario", "open|single-stream|multi-stream|server|offline", &scenario, error) ||
        !api_unsigned(a, "samples", 1, 100000000, &samples, error) ||
        !api_quantity(a, "limit", "ms", 1e-6, 3.6e6, &limit_ms, error))
        return false;
    t->server = scenario == SERVER;
    t->limit_s = 1e-3 * limit_ms;
    t->setup.scenario = scenario == SINGLE    ? LOAD_SINGLE_STREAM
                        : scenario == MULTI   ? LOAD_MULTI_STREAM
                        : scenario == OFFLINE ? LOAD_OFFLINE
                                              : LOAD_OPEN;
    t->setup.requests = scenario == OFFLINE ? samples : 0;
    t->setup.duration_s = scenario == NONE ? OPEN_USUALLY_S : CLOSED_USUALLY_S;
    t->setup.seed = t->context->common.seed;
    t->arrivals_text = api_value(a, "arrivals");
    if (t->arrivals_text && scenario != NONE && scenario != SERVER)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("arrivals") ": of open load and of the server scenario, not of this one");
    if (scenario != NONE && scenario != SERVER && t->setup.models > 1)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("scenario") ": of one model");
    if (!t->arrivals_text && !t->server)
        t->arrivals_text = "poisson:50";
    if (t->server && t->arrivals_text && strncmp(t->arrivals_text, "poisson:", 8) != 0)
        return orch_fail(error, ORCH_USAGE,
                         ORCH_OPTION("arrivals") " %.80s: the server scenario has random arrivals, poisson:RATE",
                         t->arrivals_text);
    if (!api_quantity(a, "duration", "s", 1e-3, 1e7, &t->setup.duration_s, error))
        return false;
    t->setup.arrivals = &t->arrivals;
    if (!t->arrivals_text) {
        t->arrivals = (struct arrivals){.kind = ARRIVALS_POISSON};
        return true;
    }
    if (!arrivals_read(t->arrivals_text, t->name, t->setup.models, &t->arrivals, error))
        return false;
    if (t->arrivals.kind == ARRIVALS_TRACE && !api_has(a, "duration"))
        t->setup.duration_s = t->arrivals.item[t->arrivals.count - 1].time_s + OPEN_USUALLY_S;
    return true;
}

static bool read_machine(struct loadtest *t, struct orch_error *error)
{
    static const char *const of_machines[] = {"ambient", "power-mode", "power-cap", "battery"};
    const struct api_args *const a = &t->context->args;
    unsigned mode = 1;
    t->heat = (struct load_heat_setup){.ambient_c = NAN, .battery_percent = NAN, .policy = GOVERNOR_PERFORMANCE};
    for (size_t i = 0; i < ARRAY_COUNT(of_machines); i++)
        if (api_has(a, of_machines[i]) && !api_has(a, "device"))
            return orch_fail(error, ORCH_USAGE, ORCH_OPTION("%s") " belongs to a machine: give " ORCH_OPTION("device"),
                             of_machines[i]);
    if (!api_chosen(a, "power-mode", "high|balanced|low", &mode, error) ||
        !api_quantity(a, "ambient", "C", -40, 60, &t->heat.ambient_c, error) ||
        !api_quantity(a, "power-cap", "W", 0.1, 1e4, &t->heat.power_cap_w, error) ||
        !api_number(a, "battery", 0, 100, &t->heat.battery_percent, error))
        return false;
    for (unsigned m = 0; m < t->setup.models; m++)
        if (t->entry[m].configured && strcmp(t->entry[m].config.power_mode, "low") == 0)
            t->heat.low_power = true;
    t->heat.low_power |= mode == 2;
    if (mode == 1 && api_has(a, "power-mode"))
        t->heat.policy = GOVERNOR_BALANCED;
    return !api_has(a, "device") || device_list_load(NULL, &t->devices, error);
}

bool loadtest_read(struct loadtest *t, struct orch_error *error)
{
    const struct api_args *const a = &t->context->args;
    uint64_t memory = 0;
    if (!api_unsigned(a, "memory", 1, 65536, &memory, error) || !each_word(t, t->words, add_model, error))
        return false;
    if (t->setup.models == 0)
        return orch_fail(error, ORCH_USAGE, "a model is missing, as in model.onnx");
    if (api_count(a, "config") > t->setup.models)
        return orch_fail(error, ORCH_USAGE, ORCH_OPTION("config") ": %zu files for %u models", api_count(a, "config"),
                         t->setup.models);
    t->page = api_value(a, "output");
    for (size_t i = 0; i < api_count(a, "dim") && i < ARRAY_COUNT(t->dims); i++)
        t->dims[t->request.dim_count++] = api_value_at(a, "dim", i);
    t->request.dims = t->dims;
    t->request.precision = api_value(a, "precision");
    t->request.kernels = api_value(a, "kernels");
    t->request.memory_gib = (unsigned)memory;
    t->request.seed = t->context->common.seed;
    t->request.threads = t->context->common.threads;
    return read_rules(t, error) && read_shares(t, error) && read_instances(t, error) && read_load(t, error) &&
           read_machine(t, error);
}

/* ---- costs ---- */

static void find_lengths(struct loadtest *t, const struct load_model *model)
{
    t->shortest = t->longest_prompt = model->prompt;
    t->longest = model->prompt + model->generate;
    for (size_t i = 0; i < t->arrivals.count; i++) {
        const struct arrival *const a = &t->arrivals.item[i];
        const unsigned prompt = a->prompt ? a->prompt : model->prompt,
                       all = prompt + (a->generate ? a->generate : model->generate);
        t->shortest = prompt < t->shortest ? prompt : t->shortest;
        t->longest_prompt = prompt > t->longest_prompt ? prompt : t->longest_prompt;
        t->longest = all > t->longest ? all : t->longest;
    }
}

bool loadtest_services(struct loadtest *t, const struct chip *chip, struct orch_error *error)
{
    const struct api_common *const c = &t->context->common;
    t->setup.idle_w = service_idle_watts(chip);
    if (!service_units(chip, t->setup.unit, error))
        return false;
    for (unsigned g = 0; g < t->setup.groups; g++) {
        const struct load_model *const model = &t->setup.model[t->setup.group[g].model];
        const struct model_entry *const e = &t->entry[t->setup.group[g].model];
        find_lengths(t, model);
        struct service_setup s = {.run = t->request,
                                  .workload = e->workload,
                                  .preferred = model->rule.preferred,
                                  .preferences = model->rule.preferences,
                                  .most = model->rule.most,
                                  .together = !model->continuous,
                                  .shortest = t->shortest,
                                  .longest = t->longest,
                                  .longest_prompt = t->longest_prompt,
                                  .db = api_has(&t->context->args, "device") ? api_chip_db(t->context, error) : NULL,
                                  .overrides = {c->sets, c->set_count},
                                  .idle_w = t->setup.idle_w};
        s.run.chip = chip;
        s.run.unit = t->unit[g];
        if (!s.run.precision && e->configured && e->config.precision[0])
            s.run.precision = e->config.precision;
        if (!t->setup.unit[t->setup.group[g].part])
            return orch_fail(error, ORCH_USAGE, ORCH_OPTION("instances") " %s: %s has none", t->unit[g], chip_id(chip));
        api_progress(t->context, &(struct orchard_progress){e->name, NAN, g, t->setup.groups, NAN, NULL});
        if (!service_open(&s, &t->service[g], error))
            return false;
        t->setup.group[g].context = &t->service[g];
    }
    api_progress(t->context, &(struct orchard_progress){NULL, 1, t->setup.groups, t->setup.groups, NAN, NULL});
    return true;
}

double loadtest_capacity(const struct loadtest *t)
{
    double all = 0;
    for (unsigned g = 0; g < t->setup.groups; g++) {
        const struct load_group *const group = &t->setup.group[g];
        const struct load_model *const model = &t->setup.model[group->model];
        double best = 0;
        for (unsigned i = 0; i < t->service[g].points; i++) {
            const struct service_point *const p = &t->service[g].point[i];
            const double once = p->cost.overhead_s + p->cost.device_s;
            const double alone =
                model->language ? 1 / (t->service[g].prompt[0][i].device_s + model->generate * once) : p->size / once;
            const double unit = model->language ? alone : p->size / fmax(p->cost.device_s, 1e-12) * t->setup.unit[group->part];
            best = fmax(best, fmin(alone * group->count, unit));
        }
        all += best;
    }
    return all;
}
