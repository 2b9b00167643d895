/* Decides which values may be calibrated: quantities of the models of units, which are times, rates, clocks, energies and shares.
 * Counts, sizes, switches and rules of arithmetic are not: they are integers, or other things follow from them. */
#include "isa/array_count.h"
#include "sim/prove/calibrate/calibrate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static const struct mark {
    const char *prefix;
    const char *units; /* separated by blanks */
} marks[] = {
    {"amx.", " cycles B/cycle 1/cycle GHz "},
    {"amx_e.", " cycles B/cycle 1/cycle GHz "},
    {"cpu_p.", " cycles GHz "},
    {"cpu_e.", " cycles GHz "},
    {"mem.", " cycles B/cycle GB/s ns "},
    {"dram.", " ns share GB/s "},
    {"gpu.", " cycles B/cycle 1/cycle GB/s ns us "},
    {"ane.", " cycles B/cycle 1/cycle GB/s GHz us "},
    {"power.", " pJ pJ/B W nF uJ us 1 1/K "},
};

static bool is_marked(const struct chip_key *key)
{
    char unit[32];
    snprintf(unit, sizeof unit, " %.20s ", key->unit);
    for (size_t i = 0; i < ARRAY_COUNT(marks); i++)
        if (strncmp(key->name, marks[i].prefix, strlen(marks[i].prefix)) == 0)
            return (key->type == CHIP_REAL || key->type == CHIP_CORES) && strstr(marks[i].units, unit) != NULL;
    return false;
}

static bool refuse(char *why, size_t size, const char *text)
{
    snprintf(why, size, "%s", text);
    return false;
}

/* Three standard deviations of what is known about the value, as far as the range of the key allows for each of its numbers. */
static bool find_bounds(const struct chip_value *v, struct calibrate_bounds *b)
{
    const double reach = 3 * log1p(v->uncertainty);
    b->low = -reach;
    b->high = reach;
    for (size_t i = 0; i < (v->list ? v->count : 1); i++) {
        const double x = v->list ? v->list[i] : v->number;
        if (!(x > 0))
            return false;
        b->high = fmin(b->high, log(v->key->highest / x));
        b->low = v->key->lowest > 0 ? fmax(b->low, log(v->key->lowest / x)) : b->low;
    }
    return b->high > b->low;
}

bool calibrate_tunable(const struct chip_value *v, struct calibrate_bounds *bounds, char *why, size_t size)
{
    if (!is_marked(v->key))
        return refuse(
            why, size,
            "it is not a quantity of a unit's model that may be tuned (counts, sizes, switches and published figures are not)");
    if (!v->known)
        return refuse(why, size, "it is not known");
    if (v->origin && strcmp(v->origin, "derived") == 0)
        return refuse(why, size, "it follows from other values");
    if (v->origin && strcmp(v->origin, "--set") == 0)
        return refuse(why, size, "it is set on the command line");
    if (v->kind != CHIP_GUESS && v->kind != CHIP_FITTED && v->kind != CHIP_INFERRED) {
        snprintf(why, size, "it is %s (%.120s): only guesses, fitted and inferred values may be tuned", chip_kind_name(v->kind),
                 v->source);
        return false;
    }
    return find_bounds(v, bounds) || refuse(why, size, "it is 0, which no factor moves, or exact");
}
