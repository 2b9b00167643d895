#include "sim/ask/sweep/whatif.h"

#include "isa/array_count.h"
#include "sim/base/quantity.h"
#include "sim/base/suggest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* LOOKS: places tried on the way from the present value to each end. HALVINGS: of the interval between the last place that fails
 * and the first that reaches the goal (an eighth of the way, then 2^-10 of that). */
enum { LOOKS = 8, HALVINGS = 10, PASSES = 2 };

/* ---- goals ---- */

static const char *const families[] = {"utilisation.", "joules_by.", "counters.", "stalls."};

/* *unit is the field's, "" when it has none of its own. */
static bool known_field(const char *field, const char **unit, struct orch_error *error)
{
    struct suggest nearest;
    char phrase[160];
    *unit = "";
    suggest_start(&nearest, field);
    for (size_t i = 0; i < run_number_field_count(); i++) {
        if (strcmp(run_number_field(i)->name, field) == 0) {
            *unit = run_number_field(i)->unit;
            return true;
        }
        suggest_offer(&nearest, run_number_field(i)->name);
    }
    for (size_t i = 0; i < ARRAY_COUNT(families); i++)
        if (strncmp(field, families[i], strlen(families[i])) == 0)
            return true;
    return orch_fail(error, ORCH_USAGE, "a run has no number '%.60s'%s", field, suggest_phrase(&nearest, phrase, sizeof phrase));
}

bool whatif_goal_parse(const char *text, struct whatif_goal *goal, struct orch_error *error)
{
    const size_t name = strcspn(text, "<>=");
    const char *after = text + name, *unit;
    if (name == 0 || name >= sizeof goal->field || (*after != '<' && *after != '>'))
        return orch_fail(error, ORCH_USAGE, "goal '%.60s': expected FIELD<NUMBER, <=, > or >=, as in 'seconds<0.01'", text);
    memcpy(goal->field, text, name);
    goal->field[name] = 0;
    goal->relation = *after == '<' ? WHATIF_LESS : WHATIF_MORE;
    if (*++after == '=') {
        goal->relation = goal->relation == WHATIF_LESS ? WHATIF_AT_MOST : WHATIF_AT_LEAST;
        after++;
    }
    if (!known_field(goal->field, &unit, error))
        return false;
    if (!quantity_read(after, unit, &goal->bound))
        return orch_fail(error, ORCH_USAGE, "goal '%.60s': '%.40s' is no number%s%s", text, after, *unit ? " in " : "", unit);
    return true;
}

/* NAN when the run has no such number. */
static double whatif_field(const struct run_result *result, const char *field)
{
    const char *const dot = strchr(field, '.');
    for (size_t i = 0; i < run_number_field_count(); i++)
        if (strcmp(run_number_field(i)->name, field) == 0)
            return run_number_of(result, run_number_field(i));
    if (!dot)
        return NAN;
    for (int part = 0; part < RUN_UTILISATION_COUNT; part++)
        if (strncmp(field, "utilisation.", 12) == 0 && strcmp(orch_part_name((enum orch_part)part), dot + 1) == 0)
            return result->utilisation[part];
    const struct run_values *const values = strncmp(field, "joules_by.", 10) == 0 ? &result->joules_by
                                            : strncmp(field, "counters.", 9) == 0 ? &result->counters
                                                                                  : &result->stalls;
    return run_values_get(values, dot + 1);
}

static bool whatif_reached(const struct whatif_goal *goal, double value)
{
    switch (goal->relation) {
    case WHATIF_LESS: return value < goal->bound;
    case WHATIF_AT_MOST: return value <= goal->bound;
    case WHATIF_MORE: return value > goal->bound;
    default: return value >= goal->bound;
    }
}

/* ---- points ---- */

struct search {
    struct study *study;
    const struct whatif_question *q;
    struct whatif_answer *answer;
    struct orch_error *error;
};

/* Distance from the goals: 0 when all are reached, otherwise the worst, relative to its bound. */
static double shortfall(const struct search *s, const struct whatif_point *p)
{
    double worst = 0;
    if (!p->done)
        return INFINITY;
    for (size_t g = 0; g < s->q->goals; g++)
        if (!whatif_reached(&s->q->goal[g], p->field[g]))
            worst = fmax(worst, fabs(p->field[g] - s->q->goal[g].bound) / fmax(fabs(s->q->goal[g].bound), 1e-300) + 1e-12);
    return worst;
}

static double change_of_key(const struct search *s, size_t key, double value)
{
    const struct sweep_key *const k = &s->q->spec->key[key];
    const double present = s->answer->present.value[key];
    return value > 0 && present > 0 ? fabs(log(value / present)) : fabs(value - present) / (k->high - k->low);
}

static bool simulate(struct search *s, const struct study_setting *setting, struct whatif_point *p)
{
    struct study_answer got;
    struct orch_error trouble = {0};
    study_answer_init(&got);
    p->done = study_evaluate(s->study, setting, &got, &trouble);
    s->answer->simulated++;
    if (s->q->tell)
        s->q->tell(s->q->context, s->answer->simulated);
    for (size_t g = 0; g < s->q->goals; g++)
        p->field[g] = p->done ? whatif_field(&got.result, s->q->goal[g].field) : (double)NAN;
    snprintf(p->error, sizeof p->error, "%.*s", (int)sizeof p->error - 1, trouble.text);
    study_answer_free(&got);
    if (!p->done && trouble.exit_code == ORCH_INTERNAL)
        *s->error = trouble;
    return p->done || trouble.exit_code != ORCH_INTERNAL;
}

/* Simulates p->value. Keys at their present value are not set, so that they do not count as overridden. */
static bool look(struct search *s, struct whatif_point *p)
{
    const struct sweep_spec *const spec = s->q->spec;
    struct study_setting setting = {0};
    char text[32];
    bool ok = study_setting_copy(&setting, &spec->base) && study_setting_set(&setting, "workload", spec->workload[0]);
    p->change = 0;
    for (size_t k = 0; ok && k < spec->key_count; k++) {
        if (p != &s->answer->present && p->value[k] == s->answer->present.value[k])
            continue;
        if (p == &s->answer->present)
            continue;
        snprintf(text, sizeof text, "%.12g", p->value[k]);
        p->change += change_of_key(s, k, p->value[k]);
        ok = study_setting_set(&setting, spec->key[k].name, text);
    }
    ok = ok ? simulate(s, &setting, p) : orch_no_memory(s->error);
    p->reached = ok && shortfall(s, p) == 0;
    study_setting_free(&setting);
    return ok;
}

/* ---- along a line ---- */

/* Value of a key `part` of the way from one value to another; integer keys are rounded. */
static double between(const struct sweep_key *key, double from, double to, double part)
{
    const double value = from > 0 && to > 0 ? from * pow(to / from, part) : from + part * (to - from);
    char text[32];
    if (part <= 0 || part >= 1)
        return part <= 0 ? from : to;
    snprintf(text, sizeof text, "%.6g", key->whole ? round(value) : value);
    return strtod(text, NULL);
}

static void place(const struct search *s, struct whatif_point *p, const double *from, const double *to, double part)
{
    for (size_t k = 0; k < s->q->spec->key_count; k++)
        p->value[k] = between(&s->q->spec->key[k], from[k], to[k], part);
}

static bool same_place(const struct search *s, const struct whatif_point *a, const struct whatif_point *b)
{
    return memcmp(a->value, b->value, s->q->spec->key_count * sizeof *a->value) == 0;
}

/* Keeps the better of two points: one that reaches the goals before one that does not, then the smaller change, or the smaller
 * shortfall. */
static void keep_better(const struct search *s, struct whatif_point *best, const struct whatif_point *p)
{
    const bool better = p->reached != best->reached ? p->reached
                        : p->reached                ? p->change < best->change
                                                    : shortfall(s, p) < shortfall(s, best);
    if (better)
        *best = *p;
}

/* Finds the first place on the way that reaches the goals and refines it by halving; everything seen goes through keep_better.
 * `from` must fail. */
static bool walk(struct search *s, const double *from, const double *to, struct whatif_point *best)
{
    double failing = 0, reaching = -1;
    struct whatif_point p = {0}, last = {0};
    place(s, &last, from, to, 0);
    for (int step = 1; step <= LOOKS && reaching < 0; step++) {
        place(s, &p, from, to, (double)step / LOOKS);
        if (same_place(s, &p, &last))
            continue;
        if (!look(s, &p))
            return false;
        last = p;
        keep_better(s, best, &p);
        if (p.reached)
            reaching = (double)step / LOOKS;
        else
            failing = (double)step / LOOKS;
    }
    for (int i = 0; i < HALVINGS && reaching > 0; i++) {
        const double middle = (failing + reaching) / 2;
        place(s, &p, from, to, middle);
        if (same_place(s, &p, best))
            break; /* there is nothing between two integers */
        if (!look(s, &p))
            return false;
        keep_better(s, best, &p);
        if (p.reached)
            reaching = middle;
        else
            failing = middle;
    }
    return true;
}

/* ---- one key, all keys ---- */

static bool single(struct search *s, size_t key, struct whatif_point *best)
{
    const struct sweep_key *const k = &s->q->spec->key[key];
    const double ends[] = {k->low, k->high};
    *best = s->answer->present;
    for (int e = 0; e < 2; e++) {
        struct whatif_point end = s->answer->present;
        end.value[key] = ends[e];
        if (ends[e] != s->answer->present.value[key] && !walk(s, s->answer->present.value, end.value, best))
            return false;
    }
    return true;
}

/* Moves each key back towards its present value as far as the goals hold, the greatest change first. */
static bool take_back(struct search *s, struct whatif_point *best)
{
    const size_t keys = s->q->spec->key_count;
    for (size_t turn = 0; turn < keys; turn++) {
        bool taken[SWEEP_KEYS_MAX] = {false};
        size_t worst = 0;
        for (size_t t = 0; t <= turn; t++) {
            worst = SWEEP_KEYS_MAX;
            for (size_t k = 0; k < keys; k++)
                if (!taken[k] && (worst == SWEEP_KEYS_MAX ||
                                  change_of_key(s, k, best->value[k]) > change_of_key(s, worst, best->value[worst])))
                    worst = k;
            taken[worst] = true;
        }
        struct whatif_point all_back = *best;
        all_back.value[worst] = s->answer->present.value[worst];
        if (same_place(s, &all_back, best))
            continue;
        if (!look(s, &all_back))
            return false;
        keep_better(s, best, &all_back);
        if (!all_back.reached && !walk(s, all_back.value, best->value, best))
            return false;
    }
    return true;
}

/* Moves all keys together towards the ends that help, then moves each back. */
static bool joint(struct search *s, struct whatif_point *best)
{
    struct whatif_point ends = s->answer->present;
    *best = s->answer->present;
    for (size_t k = 0; k < s->q->spec->key_count; k++)
        keep_better(s, best, &s->answer->single[k]);
    for (size_t k = 0; k < s->q->spec->key_count; k++) {
        const struct whatif_point *const one = &s->answer->single[k];
        const double present = s->answer->present.value[k];
        if (one->value[k] != present)
            ends.value[k] = one->value[k] > present ? s->q->spec->key[k].high : s->q->spec->key[k].low;
    }
    struct whatif_point together = s->answer->present;
    if (!same_place(s, &ends, &s->answer->present) && !walk(s, s->answer->present.value, ends.value, &together))
        return false;
    for (int pass = 0; pass < PASSES && together.reached; pass++)
        if (!take_back(s, &together))
            return false;
    keep_better(s, best, &together);
    return true;
}

/* ---- the question ---- */

static bool present_values(struct search *s, const struct chip_db *chips)
{
    const struct sweep_spec *const spec = s->q->spec;
    const char *const name = study_setting_get(&spec->base, "chip");
    char text[64][320];
    const char *sets[64];
    size_t count = 0;
    for (size_t i = 0; i < spec->base.count && count < 64; i++)
        if (study_key_is_chip(spec->base.key[i])) {
            snprintf(text[count], sizeof text[count], "%.96s=%.200s", spec->base.key[i], spec->base.value[i]);
            sets[count] = text[count];
            count++;
        }
    const struct chip_overrides overrides = {sets, count};
    struct chip *const chip = chip_open(chips, name ? name : "m1", &overrides, s->error);
    bool ok = chip != NULL;
    for (size_t k = 0; ok && k < spec->key_count; k++) {
        const struct chip_value *const value = spec->key[k].chip ? chip_value(chip, spec->key[k].name) : NULL;
        const char *const given = study_setting_get(&spec->base, spec->key[k].name);
        s->answer->present.value[k] = value && value->known ? value->number : given ? strtod(given, NULL) : (double)NAN;
        if (isnan(s->answer->present.value[k]))
            ok = orch_fail(s->error, ORCH_USAGE, "%s has no present value to start from", spec->key[k].name);
    }
    chip_close(chip);
    return ok;
}

static bool goals_have_values(struct search *s)
{
    const struct whatif_point *const p = &s->answer->present;
    if (!p->done)
        return orch_fail(s->error, ORCH_USAGE, "the present setting: %s", p->error);
    for (size_t g = 0; g < s->q->goals; g++)
        if (isnan(p->field[g]))
            return orch_fail(s->error, ORCH_USAGE, "this run has no %s", s->q->goal[g].field);
    return true;
}

bool whatif_search(struct study *study, const struct chip_db *chips, const struct whatif_question *question,
                   struct whatif_answer *answer, struct orch_error *error)
{
    struct search s = {study, question, answer, error};
    memset(answer, 0, sizeof *answer);
    if (!present_values(&s, chips) || !look(&s, &answer->present) || !goals_have_values(&s))
        return false;
    answer->joint = answer->present;
    for (size_t k = 0; k < question->spec->key_count; k++) {
        answer->single[k] = answer->present;
        if (!answer->present.reached && !single(&s, k, &answer->single[k]))
            return false;
    }
    return answer->present.reached || joint(&s, &answer->joint);
}
