/* Specifications: their parts, and the checks that need the whole. */
#include "sim/ask/sweep/sweep_spec.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *sweep_design_name(enum sweep_design_kind kind)
{
    static const char *const text[] = {"grid", "random", "lhs"};
    return text[kind];
}

struct sweep_spec *sweep_spec_create(void)
{
    struct sweep_spec *const spec = calloc(1, sizeof *spec);
    if (spec) {
        spec->seed = 1;
        spec->tolerance = SWEEP_TOLERANCE;
    }
    return spec;
}

static void free_texts(char **text, size_t count)
{
    for (size_t i = 0; text && i < count; i++)
        free(text[i]);
    free(text);
}

void sweep_spec_free(struct sweep_spec *spec)
{
    if (!spec)
        return;
    for (size_t k = 0; k < spec->key_count; k++) {
        free(spec->key[k].name);
        free_texts(spec->key[k].level, spec->key[k].level_count);
    }
    free(spec->key);
    free_texts(spec->workload, spec->workload_count);
    study_setting_free(&spec->base);
    free(spec->name);
    free(spec);
}

/* ---- workloads ---- */

bool sweep_spec_add_workload(struct sweep_spec *spec, const char *workload, size_t length, struct orch_error *error)
{
    char **const grown = reallocarray(spec->workload, spec->workload_count + 1, sizeof *grown);
    if (!grown)
        return orch_no_memory(error);
    spec->workload = grown;
    if (length == 0)
        return orch_fail(error, ORCH_USAGE, "an empty workload in the list");
    if (length > 1000)
        return orch_fail(error, ORCH_USAGE, "workload '%.40s...' has more than 1000 letters", workload);
    for (size_t i = 0; i < spec->workload_count; i++)
        if (strlen(grown[i]) == length && memcmp(grown[i], workload, length) == 0)
            return orch_fail(error, ORCH_USAGE, "workload '%.*s' is given twice", (int)(length < 80 ? length : 80), workload);
    grown[spec->workload_count] = strndup(workload, length);
    if (!grown[spec->workload_count])
        return orch_no_memory(error);
    spec->workload_count++;
    return true;
}

/* Whether a shape goes on, as in "k=64,..."; "gemm:8x8x8" and "conv2d:n=1" begin another workload. */
static bool goes_on(const char *text)
{
    const size_t word = strcspn(text, ":=,");
    return text[word] == '=';
}

bool sweep_spec_workloads(struct sweep_spec *spec, const char *list, struct orch_error *error)
{
    const char *begin = list, *at = list;
    for (;;) {
        at += strcspn(at, ",");
        if (*at == ',' && goes_on(at + 1)) {
            at++;
            continue;
        }
        if (!sweep_spec_add_workload(spec, begin, (size_t)(at - begin), error))
            return false;
        if (!*at)
            return true;
        begin = ++at;
    }
}

/* ---- the whole ---- */

bool sweep_spec_base(struct sweep_spec *spec, const char *key, const char *value, struct orch_error *error)
{
    if (!study_key_check(key, error))
        return false;
    if (strcmp(key, "workload") == 0)
        return orch_fail(error, ORCH_USAGE, "workload has a place of its own, not among the base settings");
    if (strlen(value) > 200)
        return orch_fail(error, ORCH_USAGE, "%s: a value of more than 200 letters", key);
    if (study_setting_get(&spec->base, key))
        return orch_fail(error, ORCH_USAGE, "%s is given twice", key);
    return study_setting_set(&spec->base, key, value) || orch_no_memory(error);
}

static double step_value(const struct sweep_key *key, size_t step)
{
    const double part = (double)step / (double)(key->steps - 1);
    if (step == 0)
        return key->low;
    if (step == key->steps - 1)
        return key->high;
    return key->log ? key->low * pow(key->high / key->low, part) : key->low + part * (key->high - key->low);
}

/* Makes the levels of a range with steps; integers that coincide are one level. */
static bool make_levels(struct sweep_key *key, struct orch_error *error)
{
    char text[32];
    key->level = calloc(key->steps, sizeof *key->level);
    if (!key->level)
        return orch_no_memory(error);
    for (size_t s = 0; s < key->steps; s++) {
        snprintf(text, sizeof text, "%.12g", key->whole ? round(step_value(key, s)) : step_value(key, s));
        if (key->level_count && strcmp(key->level[key->level_count - 1], text) == 0)
            continue;
        key->level[key->level_count] = strdup(text);
        if (!key->level[key->level_count])
            return orch_no_memory(error);
        key->level_count++;
    }
    return true;
}

static bool finish_key(const struct sweep_spec *spec, struct sweep_key *key, struct orch_error *error)
{
    if (study_setting_get(&spec->base, key->name))
        return orch_fail(error, ORCH_USAGE, "%s varies and is fixed at the same time", key->name);
    if (key->range && key->steps == 0 && spec->design == SWEEP_GRID)
        return orch_fail(
            error, ORCH_USAGE,
            "%s: a grid needs the number of steps, as in %s=%g:%g:5 (or " ORCH_OPTION("lhs") ", " ORCH_OPTION("random") ")",
            key->name, key->name, key->low, key->high);
    return !key->range || key->steps == 0 || key->level_count > 0 || make_levels(key, error);
}

bool sweep_spec_finish(struct sweep_spec *spec, struct orch_error *error)
{
    const bool grid = spec->design == SWEEP_GRID;
    uint64_t points = grid ? 1 : spec->samples;
    if (spec->workload_count == 0)
        return orch_fail(error, ORCH_USAGE, "a workload is missing, as in gemm:512x512x512");
    if (spec->key_count == 0 && spec->workload_count == 1)
        return orch_fail(error, ORCH_USAGE, "nothing varies: give " ORCH_LETTER("L", "list") " KEY=a,b,c or KEY=lo:hi:N");
    for (size_t k = 0; k < spec->key_count; k++) {
        if (!finish_key(spec, &spec->key[k], error))
            return false;
        points *= grid ? spec->key[k].level_count : 1;
        if (points > SWEEP_POINTS_MAX)
            break;
    }
    points *= points > SWEEP_POINTS_MAX ? 1 : spec->workload_count;
    if (points > SWEEP_POINTS_MAX)
        return orch_fail(error, ORCH_USAGE, "more than %d points", SWEEP_POINTS_MAX);
    if (points == 0)
        return orch_fail(error, ORCH_USAGE, "a sweep of no points");
    spec->points = points;
    return true;
}
