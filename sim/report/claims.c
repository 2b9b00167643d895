#include "sim/report/claims_internal.h"

#include "isa/array_count.h"
#include "sim/base/json_read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { OPTIONS_MAX = 12, WHY = 400 };

struct asked {
    char name[96]; /* question and chip */
    json_object *document;
    char why[WHY];
};

struct claims {
    json_object *root;
    struct claim *claim;
    size_t count;
    struct asked *asked; /* every question once */
    size_t asked_count, asked_room;
    const struct claims_asker *asker;
    bool failed;
};

static const char *const hows[CLAIM_HOWS] = {"is", "at-least", "at-most", "peak"};

const char *claim_how_name(enum claim_how how)
{
    return hows[how];
}

/* ---- the table ---- */

static json_object *member(json_object *o, const char *name)
{
    json_object *value = NULL;
    return o && json_object_object_get_ex(o, name, &value) ? value : NULL;
}

static const char *text_of(json_object *o, const char *name)
{
    return json_object_get_string(member(o, name));
}

static double number_of(json_object *o, const char *name, double absent)
{
    json_object *const value = member(o, name);
    return value ? json_object_get_double(value) : absent;
}

static bool read_claim(struct claim *c, json_object *row, size_t index, struct orch_error *error)
{
    const char *const how = text_of(row, "how");
    *c = (struct claim){.topic = text_of(row, "topic"),
                        .text = text_of(row, "claim"),
                        .unit = text_of(row, "unit"),
                        .note = text_of(row, "note"),
                        .claimed_low = number_of(row, "low", NAN),
                        .claimed_high = number_of(row, "high", NAN)};
    while (how && c->how < CLAIM_HOWS && strcmp(how, hows[c->how]) != 0)
        c->how++;
    if (!c->topic || !c->text || !c->unit || !how || c->how == CLAIM_HOWS)
        return orch_fail(error, ORCH_USAGE,
                         "claims: claims[%zu]: topic, claim, unit and how (is, at-least, at-most, peak) are needed", index);
    if (!member(row, "answer") == !member(row, "not_modelled"))
        return orch_fail(error, ORCH_USAGE, "claims: claims[%zu]: either answer or not_modelled", index);
    return true;
}

struct claims *claims_open(const char *text, const char *only, struct orch_error *error)
{
    struct json_reader r;
    const char *const document = text ? text : report_claims;
    struct claims *const c = calloc(1, sizeof *c);
    if (!c) {
        orch_no_memory(error);
        return NULL;
    }
    if (!json_reader_open(&r, "claims", document, strlen(document), error)) {
        free(c);
        return NULL;
    }
    c->root = json_object_get(r.root);
    json_reader_close(&r);
    json_object *const list = claims_wanted(member(c->root, "claims"), only);
    const size_t count = json_object_array_length(list);
    json_object_object_add(c->root, "claims", list);
    c->claim = calloc(count + 1, sizeof *c->claim);
    bool ok = c->claim || orch_no_memory(error);
    for (; ok && c->count < count; c->count++)
        ok = read_claim(&c->claim[c->count], json_object_array_get_idx(list, c->count), c->count, error);
    if (ok && count == 0)
        ok = only ? orch_fail(error, ORCH_USAGE, "no claim has '%.60s' in its topic or text", only)
                  : orch_fail(error, ORCH_USAGE, "claims: no claims");
    if (ok)
        return c;
    claims_close(c);
    return NULL;
}

void claims_close(struct claims *c)
{
    if (!c)
        return;
    for (size_t i = 0; i < c->asked_count; i++)
        json_object_put(c->asked[i].document);
    free(c->asked);
    free(c->claim);
    json_object_put(c->root);
    free(c);
}

size_t claims_count(const struct claims *c)
{
    return c->count;
}

const struct claim *claims_at(const struct claims *c, size_t index)
{
    return index < c->count ? &c->claim[index] : NULL;
}

size_t claims_with(const struct claims *c, enum claim_verdict verdict)
{
    size_t count = 0;
    for (size_t i = 0; i < c->count; i++)
        count += c->claim[i].verdict == verdict;
    return count;
}

const char *claims_source(const struct claims *c)
{
    return text_of(c->root, "source");
}

/* ---- questions ---- */

/* Writes the question as a command, and its options for the asker. */
static size_t options_of(json_object *question, const char *chip, char *chip_option, size_t size, const char **option)
{
    json_object *const list = member(question, "options");
    size_t count = 0;
    for (size_t i = 0; list && i < json_object_array_length(list) && count + 2 < OPTIONS_MAX; i++)
        option[count++] = json_object_get_string(json_object_array_get_idx(list, i));
    snprintf(chip_option, size, "chip=%s", chip);
    option[count++] = *chip ? chip_option : NULL;
    option[count] = NULL;
    return count;
}

static void write_command(json_object *question, const char *const *option, char *text, size_t size)
{
    const char *const workload = text_of(question, "workload");
    const bool several = workload && strpbrk(workload, " [");
    int used = snprintf(text, size, "orchard %s%s%s%s%s", text_of(question, "verb"), workload ? " " : "", several ? "'" : "",
                        workload ? workload : "", several ? "'" : "");
    for (; *option && used > 0 && (size_t)used < size; option++)
        used += snprintf(text + used, size - (size_t)used, " --%.*s%s%s", (int)strcspn(*option, "="), *option,
                         strchr(*option, '=') ? " " : "", strchr(*option, '=') ? strchr(*option, '=') + 1 : "");
}

static json_object *question_named(const struct claims *c, const char *name)
{
    return member(member(c->root, "questions"), name);
}

/* The answer to a question, asked at its first use; NULL document when there is none. */
static const struct asked *ask(struct claims *c, const char *name, const char *chip)
{
    char key[96], chip_option[64];
    const char *option[OPTIONS_MAX];
    json_object *const question = question_named(c, name);
    snprintf(key, sizeof key, "%.48s %.40s", name, chip);
    for (size_t i = 0; i < c->asked_count; i++)
        if (strcmp(c->asked[i].name, key) == 0)
            return &c->asked[i];
    struct asked *const a = c->asked_count < c->asked_room ? &c->asked[c->asked_count++] : NULL;
    if (!a)
        return NULL;
    snprintf(a->name, sizeof a->name, "%s", key);
    if (!question) {
        snprintf(a->why, sizeof a->why, "no question is called %.60s", name);
        return a;
    }
    options_of(question, chip, chip_option, sizeof chip_option, option);
    a->document =
        c->asker->ask(c->asker->context, text_of(question, "verb"), text_of(question, "workload"), option, a->why, sizeof a->why);
    return a;
}

/* ---- numbers of answers ---- */

static double at(json_object *document, const char *key)
{
    char pointer[120];
    json_object *value = NULL;
    snprintf(pointer, sizeof pointer, "/%s", key);
    const bool is_number = json_pointer_get(document, pointer, &value) == 0 &&
                           (json_object_is_type(value, json_type_double) || json_object_is_type(value, json_type_int));
    return is_number ? json_object_get_double(value) : (double)NAN;
}

/* "UNIT PRECISION" of the peaks of a chip. */
static double one_peak(json_object *peaks, const char *key)
{
    char unit[16] = "", precision[24] = "";
    sscanf(key, "%15s %23s", unit, precision);
    for (size_t i = 0; peaks && i < json_object_array_length(peaks); i++) {
        json_object *const p = json_object_array_get_idx(peaks, i);
        if (strcmp(text_of(p, "unit"), unit) == 0 && strcmp(text_of(p, "precision"), precision) == 0)
            return number_of(p, "value", NAN);
    }
    return NAN;
}

/* "peak UNIT PRECISION", or several: "peak gpu f32 + ane f16". */
static double peak_of(json_object *document, const char *key)
{
    double sum = 0;
    for (const char *at = strchr(key, ' '); at; at = strstr(at + 1, "+ ") ? strstr(at + 1, "+ ") + 1 : NULL)
        sum += one_peak(member(document, "peaks"), at + 1);
    return sum;
}

/* The least time that the peak of the unit allows a run; NAN when it is not known. */
static double least_seconds(struct claims *c, json_object *run, const char *chip)
{
    char key[48];
    const char *const unit = text_of(run, "unit"), *const precision = text_of(run, "precision");
    const struct asked *const peaks = unit && precision && question_named(c, "peaks") ? ask(c, "peaks", chip) : NULL;
    snprintf(key, sizeof key, "peak %.12s %.20s", unit ? unit : "", precision ? precision : "");
    return peaks && peaks->document ? at(run, "flops") / peak_of(peaks->document, key) : (double)NAN;
}

/* Intervals of numbers that have none of their own follow from that of the time or of the energy. An interval comes of how far
 * hardware was from predictions; no hardware is above its peak. `least_s` NAN = not known. */
static void take_interval(struct claim_number *n, json_object *run, const char *key, double least_s)
{
    static const char *const times[] = {"seconds", "prefill_seconds"};
    static const char *const rates[] = {"gflops", "tokens_per_second", "dram_gbps", "utilisation/dram"};
    static const char *const energies[] = {"joules", "watts_avg", "watts_peak"};
    const double s = at(run, "seconds"), high = at(run, "seconds_high") / s;
    const double low = isfinite(least_s) ? fmax(at(run, "seconds_low"), fmin(s, least_s)) / s : at(run, "seconds_low") / s;
    const double j = at(run, "joules"), joules_low = at(run, "joules_low") / j, joules_high = at(run, "joules_high") / j;
    for (size_t i = 0; i < ARRAY_COUNT(times) && isfinite(low); i++)
        if (strcmp(key, times[i]) == 0)
            n->low = n->value * low, n->high = n->value * high;
    for (size_t i = 0; i < ARRAY_COUNT(rates) && isfinite(low); i++)
        if (strcmp(key, rates[i]) == 0)
            n->low = n->value / high, n->high = n->value / low;
    for (size_t i = 0; i < ARRAY_COUNT(energies) && isfinite(joules_low); i++)
        if (strcmp(key, energies[i]) == 0)
            n->low = n->value * joules_low, n->high = n->value * joules_high;
}

/* One term: a number of an answer, or the constant 1. */
static bool term(struct claims *c, json_object *t, const char *chip, struct claim_number *n, char *why, size_t size)
{
    const char *const question = text_of(t, "question"), *const key = text_of(t, "key"), *const own = text_of(t, "chip");
    *n = (struct claim_number){.value = 1, .low = 1, .high = 1};
    if (!question)
        return true;
    const struct asked *const a = ask(c, question, own ? own : chip);
    if (!a || !a->document) {
        snprintf(why, size, "%s", a ? a->why : "out of memory");
        return false;
    }
    n->value = strncmp(key, "peak ", 5) == 0 ? peak_of(a->document, key) : at(a->document, key);
    n->low = n->high = n->value;
    n->run = member(a->document, "stalls") ? a->document : NULL;
    n->is_run_time = strcmp(key, "seconds") == 0 || strcmp(key, "prefill_seconds") == 0;
    take_interval(n, a->document, key, n->run ? least_seconds(c, n->run, own ? own : chip) : (double)NAN);
    return isfinite(n->value) || (snprintf(why, size, "the answer has no %s", key), false);
}

/* Whether two documents are different runs of the same unit. */
static bool same_unit(json_object *a, json_object *b)
{
    const char *const x = text_of(a, "unit"), *const y = text_of(b, "unit");
    return a != b && x && y && strcmp(x, y) == 0;
}

static bool over(struct claims *c, json_object *answer, const char *chip, struct claim_number *n, char *why, size_t size)
{
    struct claim_number below;
    const double scale = number_of(answer, "scale", 1);
    if (!term(c, answer, chip, n, why, size) || !term(c, member(answer, "over"), chip, &below, why, size))
        return false;
    /* The model errs in one direction for one unit: what is too slow here is too slow there. */
    const bool together = n->run && below.run && same_unit(n->run, below.run);
    const double x = scale * n->low / (together ? below.low : below.high),
                 y = scale * n->high / (together ? below.high : below.low);
    n->value *= scale / below.value;
    n->low = fmin(n->value, fmin(x, y));
    n->high = fmax(n->value, fmax(x, y));
    n->below = n->run && below.run != n->run ? below.run : NULL;
    n->run = n->run ? n->run : below.run;
    n->is_run_time = n->is_run_time && !member(answer, "over");
    return true;
}

/* The share of questions whose number is at least so much. */
static bool counted(struct claims *c, json_object *answer, const char *chip, struct claim_number *n, char *why, size_t size)
{
    json_object *const list = member(answer, "count");
    const size_t count = json_object_array_length(list);
    size_t holds = 0;
    for (size_t i = 0; i < count; i++) {
        const struct asked *const a = ask(c, json_object_get_string(json_object_array_get_idx(list, i)), chip);
        if (!a)
            return false;
        holds += a->document && at(a->document, text_of(answer, "key")) >= number_of(answer, "at_least", 0);
    }
    const double share = (double)holds / (double)count;
    snprintf(why, size, "%zu of %zu", holds, count);
    *n = (struct claim_number){.value = share, .low = share, .high = share};
    return true;
}

/* 1 when the chips answer and refuse as is claimed, else 0; the texts of the refusals say why. */
static bool refused(struct claims *c, json_object *answer, struct claim_number *n, char *why, size_t size)
{
    static const char *const lists[] = {"answers", "refuses"};
    bool as_claimed = true;
    size_t used = 0;
    for (size_t l = 0; l < 2; l++) {
        json_object *const chips = member(answer, lists[l]);
        for (size_t i = 0; i < json_object_array_length(chips); i++) {
            const char *const chip = json_object_get_string(json_object_array_get_idx(chips, i));
            const struct asked *const a = ask(c, text_of(answer, "question"), chip);
            const bool answers = a && a->document;
            as_claimed = as_claimed && answers == (l == 0);
            const int put = used < size ? snprintf(why + used, size - used, "%s%s %s", used ? "; " : "", chip,
                                                   answers ? "computes it" : "refuses it")
                                        : 0;
            used += put > 0 ? (size_t)put : 0;
        }
    }
    *n = (struct claim_number){.value = as_claimed, .low = as_claimed, .high = as_claimed};
    return true;
}

/* ---- verdicts ---- */

static enum claim_verdict judge(const struct claim *c, const struct claim_number *n)
{
    const bool below = n->low <= c->claimed_high, above = n->high >= c->claimed_low;
    const bool reaches = n->high >= CLAIM_PEAK_SHARE * c->claimed_low;
    const bool holds = c->how == CLAIM_AT_LEAST  ? above
                       : c->how == CLAIM_AT_MOST ? below
                       : c->how == CLAIM_PEAK    ? below && reaches
                                                 : below && above;
    return holds ? CLAIM_PLAUSIBLE : CLAIM_IMPLAUSIBLE;
}

/* Nothing where there is no such question. */
static void command_of(const struct claims *c, const char *name, const char *chip, char *text, size_t size)
{
    char chip_option[64];
    const char *option[OPTIONS_MAX];
    json_object *const question = name ? question_named(c, name) : NULL;
    if (!question)
        return;
    options_of(question, chip, chip_option, sizeof chip_option, option);
    write_command(question, option, text, size);
}

static void answer_on(struct claims *c, struct claim *claim, json_object *measured, json_object *answer, const char *chip)
{
    struct claim_answer *const a = &claim->answer[claim->answers++];
    struct claim_number n;
    char why[WHY] = "";
    json_object *const below = member(answer, "over");
    const char *const first = text_of(answer, "question"), *const own = text_of(answer, "chip");
    const char *const question = first ? first : text_of(below, "question"), *const below_own = text_of(below, "chip");
    const bool ok = member(answer, "count")     ? counted(c, answer, chip, &n, why, sizeof why)
                    : member(answer, "refuses") ? refused(c, answer, &n, why, sizeof why)
                                                : over(c, answer, chip, &n, why, sizeof why);
    snprintf(a->chip, sizeof a->chip, "%s", chip);
    command_of(c, question, own ? own : chip, a->command, sizeof a->command);
    if (first && below)
        command_of(c, text_of(below, "question"), below_own ? below_own : chip, a->over, sizeof a->over);
    a->value = a->low = a->high = a->measured = NAN;
    a->verdict = CLAIM_NOT_MODELLED;
    snprintf(a->reason, sizeof a->reason, "%s", why);
    if (!ok)
        return;
    claim_find_measured(c->asker, measured, n.run, a);
    a->value = n.value;
    a->low = n.low;
    a->high = n.high;
    a->verdict = judge(claim, &n);
    if (!*why)
        claim_reason(claim, &n, a->reason, sizeof a->reason);
}

static void answer_claim(struct claims *c, size_t index)
{
    struct claim *const claim = &c->claim[index];
    json_object *const row = json_object_array_get_idx(member(c->root, "claims"), index);
    json_object *const answer = member(row, "answer"), *const chips = member(row, "chips");
    claim->verdict = CLAIM_NOT_MODELLED;
    if (!answer) {
        struct claim_answer *const a = &claim->answer[claim->answers++];
        *a = (struct claim_answer){.value = NAN, .low = NAN, .high = NAN, .measured = NAN, .verdict = CLAIM_NOT_MODELLED};
        snprintf(a->reason, sizeof a->reason, "%s", text_of(row, "not_modelled"));
        return;
    }
    const size_t count = chips ? json_object_array_length(chips) : 1;
    const bool own = member(answer, "chip") || member(answer, "refuses");
    for (size_t i = 0; i < count && i < CLAIM_CHIPS; i++)
        answer_on(c, claim, member(row, "measured"), answer,
                  chips ? json_object_get_string(json_object_array_get_idx(chips, i))
                  : own ? ""
                        : "m1");
    for (size_t i = claim->answers; i-- > 0;)
        claim->verdict = claim->answer[i].verdict < claim->verdict ? claim->answer[i].verdict : claim->verdict;
}

bool claims_ask(struct claims *c, const struct claims_asker *asker, struct orch_error *error)
{
    enum { QUESTIONS_EACH = 16 };
    c->asked_room = c->count * QUESTIONS_EACH;
    c->asked = calloc(c->asked_room + 1, sizeof *c->asked);
    c->asker = asker;
    if (!c->asked)
        return orch_no_memory(error);
    for (size_t i = 0; i < c->count; i++) {
        if (asker->progress)
            asker->progress(asker->context, i, c->count);
        answer_claim(c, i);
    }
    return true;
}
