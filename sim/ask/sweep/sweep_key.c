/* Parses what varies, "KEY=a,b,c" and "KEY=lo:hi:N", and checks it against what the key takes. */
#include "isa/array_count.h"
#include "sim/ask/sweep/sweep_spec.h"

#include "sim/chip/chip.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool plain_number(const char *text, double *value)
{
    char *end;
    if (!strchr("+-.0123456789", *text) || !*text)
        return false;
    *value = strtod(text, &end);
    return *end == 0 && isfinite(*value);
}

/* Finds out whether the key takes numbers or only integers, and in which range. */
static void describe(struct sweep_key *key, double *lowest, double *highest)
{
    static const struct {
        const char *name;
        bool whole;
        double lowest, highest;
    } own[] = {{"cores", true, 1, 64},
               {"memory", true, 1, 65536},
               {"ambient", false, -40, 60},
               {"power-cap", false, 0.1, 1e4},
               {"duration", false, 1e-6, 1e7}};
    const struct chip_key *const chip = chip_key_find(key->name);

    key->chip = chip != NULL;
    if (chip) {
        key->numeric = chip->type == CHIP_INT || chip->type == CHIP_REAL || chip->type == CHIP_CORES;
        key->whole = chip->type == CHIP_INT;
        *lowest = chip->lowest;
        *highest = chip->highest;
        return;
    }
    for (size_t i = 0; i < ARRAY_COUNT(own); i++)
        if (strcmp(own[i].name, key->name) == 0) {
            key->numeric = true;
            key->whole = own[i].whole;
            *lowest = own[i].lowest;
            *highest = own[i].highest;
        }
}

static struct sweep_key *add_key(struct sweep_spec *spec, const char *name, double *lowest, double *highest,
                                 struct orch_error *error)
{
    struct sweep_key *const grown = reallocarray(spec->key, spec->key_count + 1, sizeof *grown);
    if (grown)
        spec->key = grown;
    if (!study_key_check(name, error))
        return NULL;
    if (strcmp(name, "workload") == 0) {
        orch_fail(error, ORCH_USAGE, "workloads are a list of their own: A,B instead of workload=A,B");
        return NULL;
    }
    for (size_t k = 0; k < spec->key_count; k++)
        if (strcmp(spec->key[k].name, name) == 0) {
            orch_fail(error, ORCH_USAGE, "%s varies twice", name);
            return NULL;
        }
    if (spec->key_count == SWEEP_KEYS_MAX) {
        orch_fail(error, ORCH_USAGE, "more than %d keys vary", SWEEP_KEYS_MAX);
        return NULL;
    }
    char *const copy = strdup(name);
    if (!grown || !copy) {
        free(copy);
        orch_no_memory(error);
        return NULL;
    }
    struct sweep_key *const key = &grown[spec->key_count++];
    *key = (struct sweep_key){.name = copy, .low = NAN, .high = NAN};
    describe(key, lowest, highest);
    return key;
}

static bool in_limits(const struct sweep_key *key, double value, double lowest, double highest, struct orch_error *error)
{
    if (value < lowest || value > highest)
        return orch_fail(error, ORCH_USAGE, "%s: %g is not within %g and %g", key->name, value, lowest, highest);
    if (key->whole && value != floor(value))
        return orch_fail(error, ORCH_USAGE, "%s: %g is not whole", key->name, value);
    return true;
}

bool sweep_spec_vary_list(struct sweep_spec *spec, const char *name, const char *const *level, size_t count,
                          struct orch_error *error)
{
    double lowest = 0, highest = 0, value = 0;
    struct sweep_key *const key = add_key(spec, name, &lowest, &highest, error);
    if (!key)
        return false;
    if (count == 0)
        return orch_fail(error, ORCH_USAGE, "%s: no values", name);
    for (size_t i = 0; i < count; i++)
        key->numeric = key->numeric && plain_number(level[i], &value); /* values with a unit cannot be ordered, only told apart */
    key->level = calloc(count, sizeof *key->level);
    if (!key->level)
        return orch_no_memory(error);
    for (size_t i = 0; i < count; i++) {
        if (!*level[i])
            return orch_fail(error, ORCH_USAGE, "%s: an empty value", name);
        if (strlen(level[i]) > 60)
            return orch_fail(error, ORCH_USAGE, "%s: '%.40s...' has more than 60 letters", name, level[i]);
        if (key->numeric && (!plain_number(level[i], &value) || !in_limits(key, value, lowest, highest, error)))
            return false;
        for (size_t j = 0; j < i; j++)
            if (strcmp(level[j], level[i]) == 0 || (key->numeric && strtod(level[j], NULL) == value))
                return orch_fail(error, ORCH_USAGE, "%s: %s is given twice", name, level[i]);
        key->level[i] = strdup(level[i]);
        if (!key->level[i])
            return orch_no_memory(error);
        key->level_count++;
        key->low = key->numeric ? fmin(key->low, value) : NAN;
        key->high = key->numeric ? fmax(key->high, value) : NAN;
    }
    return true;
}

bool sweep_spec_vary_range(struct sweep_spec *spec, const char *name, double low, double high, size_t steps, bool log,
                           struct orch_error *error)
{
    double lowest = 0, highest = 0;
    struct sweep_key *const key = add_key(spec, name, &lowest, &highest, error);
    if (!key)
        return false;
    if (!key->numeric)
        return orch_fail(error, ORCH_USAGE, "%s takes no numbers: give a list", name);
    if (!(low < high))
        return orch_fail(error, ORCH_USAGE, "%s: the range %g:%g is empty", name, low, high);
    if (log && !(low > 0))
        return orch_fail(error, ORCH_USAGE, "%s: logarithmic steps need a range above zero", name);
    if (steps == 1)
        return orch_fail(error, ORCH_USAGE, "%s: a range has at least 2 steps", name);
    if (steps > SWEEP_POINTS_MAX)
        return orch_fail(error, ORCH_USAGE, "%s: more than %d points", name, SWEEP_POINTS_MAX);
    if (!in_limits(key, low, lowest, highest, error) || !in_limits(key, high, lowest, highest, error))
        return false;
    key->range = true;
    key->log = log;
    key->low = low;
    key->high = high;
    key->steps = steps;
    return true;
}

/* ---- texts ---- */

/* Reads "N", "Nlog" or "log". */
static bool read_steps(const char *text, size_t *steps, bool *log)
{
    char *end;
    *steps = 0;
    if (*text >= '0' && *text <= '9') {
        const unsigned long long number = strtoull(text, &end, 10);
        if (number == 0)
            return false;
        *steps = number > SWEEP_POINTS_MAX ? (size_t)SWEEP_POINTS_MAX + 1 : (size_t)number;
        text = end;
    }
    *log = strcmp(text, "log") == 0;
    return *log || (*steps && !*text);
}

static bool vary_range(struct sweep_spec *spec, const char *name, char *low, struct orch_error *error)
{
    char *const high = strchr(low, ':') + 1, *steps_text = strchr(high, ':');
    double from, to;
    size_t steps = 0;
    bool log = false;
    high[-1] = 0;
    if (steps_text)
        *steps_text++ = 0;
    if (!study_key_check(name, error))
        return false;
    if (!plain_number(low, &from) || !plain_number(high, &to) || (steps_text && !read_steps(steps_text, &steps, &log)))
        return orch_fail(error, ORCH_USAGE, "%s: a range is lo:hi, lo:hi:N or lo:hi:Nlog, with numbers", name);
    return sweep_spec_vary_range(spec, name, from, to, steps, log, error);
}

static bool vary_list(struct sweep_spec *spec, const char *name, char *text, struct orch_error *error)
{
    size_t count = 1;
    for (const char *c = text; *c; c++)
        count += *c == ',';
    const char **const level = calloc(count, sizeof *level);
    if (!level)
        return orch_no_memory(error);
    for (size_t i = 0; i < count; i++) {
        level[i] = text;
        text += strcspn(text, ",");
        *text++ = 0;
    }
    const bool ok = count == 1 && !*level[0] ? orch_fail(error, ORCH_USAGE, "%s: no values", name)
                                             : sweep_spec_vary_list(spec, name, level, count, error);
    free(level);
    return ok;
}

bool sweep_spec_vary(struct sweep_spec *spec, const char *text, struct orch_error *error)
{
    const size_t name = strcspn(text, "=");
    if (!text[name] || name == 0)
        return orch_fail(error, ORCH_USAGE, "'%.60s': expected KEY=a,b,c or KEY=lo:hi:N", text);
    char *const copy = strdup(text);
    if (!copy)
        return orch_no_memory(error);
    copy[name] = 0;
    const bool ok = strchr(copy + name + 1, ':') ? vary_range(spec, copy, copy + name + 1, error)
                                                 : vary_list(spec, copy, copy + name + 1, error);
    free(copy);
    return ok;
}
