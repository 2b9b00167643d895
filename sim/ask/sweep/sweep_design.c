#include "sim/ask/sweep/sweep_design.h"

#include <gsl/gsl_randist.h>
#include <gsl/gsl_rng.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct sweep_design {
    const struct sweep_spec *spec;
    uint64_t per_workload;
    size_t alone; /* tornado points per workload, without the base */
    float *place; /* random, lhs: place within each key from 0 to 1, sample by sample */
};

/* Number of points at which a key alone moves: both ends of numbers, otherwise every level. */
static size_t alone_count(const struct sweep_key *key)
{
    return key->numeric ? 2 : key->level_count;
}

static void fill_random(struct sweep_design *d, gsl_rng *rng)
{
    const size_t keys = d->spec->key_count;
    for (uint64_t i = 0; i < d->spec->samples * keys; i++)
        d->place[i] = (float)gsl_rng_uniform(rng);
}

/* Latin hypercube: each of N slices of each key holds one sample. */
static bool fill_lhs(struct sweep_design *d, gsl_rng *rng)
{
    const size_t keys = d->spec->key_count, samples = d->spec->samples;
    uint32_t *const slice = calloc(samples, sizeof *slice);
    for (size_t k = 0; slice && k < keys; k++) {
        for (size_t s = 0; s < samples; s++)
            slice[s] = (uint32_t)s;
        gsl_ran_shuffle(rng, slice, samples, sizeof *slice);
        for (size_t s = 0; s < samples; s++)
            d->place[s * keys + k] = (float)(((double)slice[s] + gsl_rng_uniform(rng)) / (double)samples);
    }
    free(slice);
    return slice != NULL;
}

static bool fill(struct sweep_design *d)
{
    const struct sweep_spec *const spec = d->spec;
    gsl_rng *const rng = gsl_rng_alloc(gsl_rng_mt19937);
    bool ok = rng != NULL;
    d->place = calloc(spec->samples * spec->key_count + 1, sizeof *d->place);
    if (ok && d->place) {
        gsl_rng_set(rng, (unsigned long)spec->seed);
        if (spec->design == SWEEP_RANDOM)
            fill_random(d, rng);
        else
            ok = fill_lhs(d, rng);
    }
    gsl_rng_free(rng);
    return ok && d->place;
}

struct sweep_design *sweep_design_create(const struct sweep_spec *spec)
{
    struct sweep_design *const d = calloc(1, sizeof *d);
    if (!d)
        return NULL;
    d->spec = spec;
    d->per_workload = spec->points / spec->workload_count;
    for (size_t k = 0; k < spec->key_count; k++)
        d->alone += alone_count(&spec->key[k]);
    if (spec->design != SWEEP_GRID && !fill(d)) {
        sweep_design_free(d);
        return NULL;
    }
    return d;
}

void sweep_design_free(struct sweep_design *design)
{
    if (design)
        free(design->place);
    free(design);
}

uint64_t sweep_design_points(const struct sweep_design *design)
{
    return design->spec->points + design->spec->workload_count * (1 + design->alone);
}

/* Finds the key that tornado point `number` moves, and which of its ends or levels it takes. */
static size_t alone_key(const struct sweep_design *d, size_t number, size_t *which)
{
    size_t k = 0;
    for (; k + 1 < d->spec->key_count && number >= alone_count(&d->spec->key[k]); k++)
        number -= alone_count(&d->spec->key[k]);
    *which = number;
    return k;
}

struct sweep_place sweep_design_place(const struct sweep_design *design, uint64_t point)
{
    const struct sweep_spec *const spec = design->spec;
    size_t which;
    if (point < spec->points)
        return (struct sweep_place){SWEEP_POINT, (size_t)(point / design->per_workload), 0};
    const size_t behind = (size_t)(point - spec->points), number = behind % (1 + design->alone);
    return (struct sweep_place){number ? SWEEP_ALONE : SWEEP_BASE, behind / (1 + design->alone),
                                number ? alone_key(design, number - 1, &which) : 0};
}

static double level_value(const struct sweep_key *key, size_t level)
{
    return key->numeric ? strtod(key->level[level], NULL) : (double)level;
}

/* Value at a place of a continuous range, rounded to what its text says. */
static double range_value(const struct sweep_key *key, double place)
{
    char text[32];
    if (key->whole)
        return fmin(key->high, key->low + floor(place * (key->high - key->low + 1)));
    const double exact = key->log ? key->low * pow(key->high / key->low, place) : key->low + place * (key->high - key->low);
    snprintf(text, sizeof text, "%.6g", exact);
    return fmin(fmax(strtod(text, NULL), key->low), key->high);
}

static void values_of_grid(const struct sweep_spec *spec, uint64_t number, double *value)
{
    for (size_t k = spec->key_count; k-- > 0;) {
        value[k] = level_value(&spec->key[k], (size_t)(number % spec->key[k].level_count));
        number /= spec->key[k].level_count;
    }
}

/* The base keeps the chip's own values and takes the first value of other keys. */
static void values_of_base(const struct sweep_design *d, size_t number, double *value)
{
    for (size_t k = 0; k < d->spec->key_count; k++) {
        const struct sweep_key *const key = &d->spec->key[k];
        value[k] = key->chip ? (double)NAN : key->level_count ? level_value(key, 0) : key->low;
    }
    if (number == 0)
        return;
    size_t which;
    const size_t k = alone_key(d, number - 1, &which);
    const struct sweep_key *const key = &d->spec->key[k];
    value[k] = !key->numeric ? (double)which : which ? key->high : key->low;
}

void sweep_design_values(const struct sweep_design *design, uint64_t point, double *value)
{
    const struct sweep_spec *const spec = design->spec;
    const uint64_t number = point % design->per_workload;
    if (point >= spec->points) {
        values_of_base(design, (size_t)((point - spec->points) % (1 + design->alone)), value);
        return;
    }
    if (spec->design == SWEEP_GRID) {
        values_of_grid(spec, number, value);
        return;
    }
    for (size_t k = 0; k < spec->key_count; k++) {
        const struct sweep_key *const key = &spec->key[k];
        const double place = (double)design->place[number * spec->key_count + k];
        const size_t level = (size_t)(place * (double)key->level_count);
        value[k] = key->level_count ? level_value(key, level < key->level_count ? level : key->level_count - 1)
                                    : range_value(key, place);
    }
}

bool sweep_design_varied(const struct sweep_design *design, uint64_t point, struct study_setting *setting)
{
    const struct sweep_spec *const spec = design->spec;
    double value[SWEEP_KEYS_MAX];
    char text[32];
    sweep_design_values(design, point, value);
    if (spec->workload_count > 1 &&
        !study_setting_set(setting, "workload", spec->workload[sweep_design_place(design, point).workload]))
        return false;
    for (size_t k = 0; k < spec->key_count; k++) {
        const struct sweep_key *const key = &spec->key[k];
        if (isnan(value[k]))
            continue;
        snprintf(text, sizeof text, "%.12g", value[k]);
        if (!study_setting_set(setting, key->name, key->numeric ? text : key->level[(size_t)value[k]]))
            return false;
    }
    return true;
}

bool sweep_design_setting(const struct sweep_design *design, uint64_t point, struct study_setting *setting)
{
    const struct sweep_spec *const spec = design->spec;
    return study_setting_copy(setting, &spec->base) &&
           study_setting_set(setting, "workload", spec->workload[sweep_design_place(design, point).workload]) &&
           sweep_design_varied(design, point, setting);
}
