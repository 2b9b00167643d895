#include "sim/ask/sweep/effects.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_multifit.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BINS = 10, LEVELS_AS_THEY_ARE = 16 };

/* ---- main effects ---- */

/* Makes the bins of a key: its levels, or equal parts of its range (of the logarithm for logarithmic ranges). */
static bool make_levels(const struct sweep_key *key, struct sweep_effect *effect)
{
    const bool as_they_are = !key->numeric || (key->level_count && key->level_count <= LEVELS_AS_THEY_ARE);
    const bool log_scale = key->log && key->low > 0;
    effect->level_count = as_they_are ? key->level_count : BINS;
    effect->level = calloc(effect->level_count + 1, sizeof *effect->level);
    for (size_t i = 0; effect->level && i < effect->level_count; i++) {
        struct sweep_level *const l = &effect->level[i];
        const double from = (double)i / BINS, to = (double)(i + 1) / BINS, ratio = log_scale ? key->high / key->low : 1;
        *l = (struct sweep_level){.lowest = INFINITY, .highest = -INFINITY};
        if (as_they_are) {
            l->low = l->high = key->numeric ? strtod(key->level[i], NULL) : (double)i;
        } else {
            l->low = log_scale ? key->low * pow(ratio, from) : key->low + from * (key->high - key->low);
            l->high = log_scale ? key->low * pow(ratio, to) : key->low + to * (key->high - key->low);
        }
    }
    return effect->level != NULL;
}

static struct sweep_level *level_of(const struct sweep_effect *effect, double value)
{
    for (size_t i = 0; i < effect->level_count; i++) {
        struct sweep_level *const l = &effect->level[i];
        if (l->low == l->high ? value == l->low : value < l->high || i + 1 == effect->level_count)
            return l;
    }
    return NULL;
}

/* Share of the variance that lies between levels. In a whole grid every level meets the same settings of the other keys, and
 * answers do not scatter: the share is eta squared of the analysis of variance, and those of all keys and what they do together
 * sum to 1. Points spread at random meet different ones: what scatter alone would show between so many bins is taken off, and
 * not more than is there (epsilon squared; Kelley, An unbiased correlation ratio measure, PNAS 21, 1935). */
static double first_order(const struct sweep_effect *effect, size_t points, double mean, double squares, bool grid, bool alone)
{
    double between = 0;
    size_t used = 0;
    for (size_t i = 0; i < effect->level_count; i++) {
        const struct sweep_level *const l = &effect->level[i];
        if (l->count == 0)
            continue;
        used++;
        between += (double)l->count * (l->mean - mean) * (l->mean - mean);
    }
    if (!(squares > 0) || used < 2)
        return 0;
    if (grid)
        return fmin(between / squares, 1);
    if (points <=
        used) /* a level for each point: without other keys all is due to this one, else nothing tells it from scatter */
        return alone ? 1 : 0;
    const double within = (squares - between) / (double)(points - used);
    return fmin(fmax((between - (double)(used - 1) * within) / squares, 0), 1);
}

static void main_effect(const struct sweep_data *data, struct sweep_effects *all, struct sweep_effect *effect, double squares)
{
    for (size_t i = 0; i < data->point_count; i++) {
        const struct sweep_point *const p = &data->point[i];
        if (!sweep_counts(data, p, all->workload, all->response))
            continue;
        struct sweep_level *const l = level_of(effect, p->value[effect->key]);
        const double value = p->answer.response[all->response];
        if (!l)
            continue;
        l->count++;
        l->mean += (value - l->mean) / (double)l->count;
        l->lowest = fmin(l->lowest, value);
        l->highest = fmax(l->highest, value);
    }
    const bool grid = data->spec->design == SWEEP_GRID && all->points * data->spec->workload_count == data->spec->points;
    effect->first_order = first_order(effect, all->points, all->mean, squares, grid, data->spec->key_count == 1);
    all->sum_to_one &= grid;
}

/* Keys that go up and down together by chance, as in few points at random, share variance, which each of them then counts as its
 * own. What is counted twice is taken from all in proportion: together they do not explain more than there is. */
static void share_out(struct sweep_effects *all)
{
    double sum = 0;
    for (size_t i = 0; i < all->count; i++)
        sum += all->effect[i].first_order;
    for (size_t i = 0; sum > 1 && i < all->count; i++)
        all->effect[i].first_order /= sum;
}

/* ---- tornado ---- */

static double base_of(const struct sweep_data *data, size_t workload, enum sweep_response response)
{
    for (size_t i = 0; i < data->point_count; i++) {
        const struct sweep_point *const p = &data->point[i];
        if (p->role == SWEEP_BASE && p->workload == workload && p->answer.status == SWEEP_DONE)
            return p->answer.response[response];
    }
    return NAN;
}

static void tornado(const struct sweep_data *data, const struct sweep_effects *all, struct sweep_effect *effect)
{
    effect->low_value = effect->high_value = effect->low_response = effect->high_response = NAN;
    for (size_t i = 0; i < data->point_count; i++) {
        const struct sweep_point *const p = &data->point[i];
        const double response = p->answer.response[all->response];
        if (p->role != SWEEP_ALONE || p->workload != all->workload || p->key != effect->key || p->answer.status != SWEEP_DONE ||
            isnan(response))
            continue;
        if (!(response >= effect->low_response)) {
            effect->low_response = response;
            effect->low_value = p->value[effect->key];
        }
        if (!(response <= effect->high_response)) {
            effect->high_response = response;
            effect->high_value = p->value[effect->key];
        }
    }
}

/* ---- regression in logarithms ---- */

struct regression {
    size_t key[SWEEP_KEYS_MAX], keys;
    gsl_matrix *x, *covariance;
    gsl_vector *y, *c;
    size_t rows;
};

static double deviation_of(const gsl_matrix *x, size_t column)
{
    double mean = 0, squares = 0;
    for (size_t i = 0; i < x->size1; i++)
        mean += gsl_matrix_get(x, i, column) / (double)x->size1;
    for (size_t i = 0; i < x->size1; i++)
        squares += pow(gsl_matrix_get(x, i, column) - mean, 2);
    return sqrt(squares / (double)x->size1);
}

static size_t fill_rows(const struct sweep_data *data, const struct sweep_effects *all, struct regression *r)
{
    size_t rows = 0;
    for (size_t i = 0; i < data->point_count; i++) {
        const struct sweep_point *const p = &data->point[i];
        if (!sweep_counts(data, p, all->workload, all->response))
            continue;
        gsl_matrix_set(r->x, rows, 0, 1);
        for (size_t k = 0; k < r->keys; k++)
            gsl_matrix_set(r->x, rows, k + 1, log(p->value[r->key[k]]));
        gsl_vector_set(r->y, rows++, log(p->answer.response[all->response]));
    }
    return rows;
}

static void solve(struct sweep_effects *all, struct regression *r, const size_t *effect_of)
{
    gsl_multifit_linear_workspace *const w = gsl_multifit_linear_alloc(r->x->size1, r->x->size2);
    double residual, mean = 0, squares = 0;
    for (size_t i = 0; i < r->y->size; i++)
        mean += gsl_vector_get(r->y, i) / (double)r->y->size;
    for (size_t i = 0; i < r->y->size; i++)
        squares += pow(gsl_vector_get(r->y, i) - mean, 2);
    if (w && squares > 0 && gsl_multifit_linear(r->x, r->y, r->c, r->covariance, &residual, w) == GSL_SUCCESS) {
        all->explained = 1 - residual / squares;
        for (size_t k = 0; k < r->keys; k++) {
            struct sweep_effect *const e = &all->effect[effect_of[r->key[k]]];
            e->elasticity = gsl_vector_get(r->c, k + 1);
            e->coefficient = e->elasticity * deviation_of(r->x, k + 1) / sqrt(squares / (double)r->y->size);
        }
    }
    if (w)
        gsl_multifit_linear_free(w);
}

/* Regression over the numeric keys with positive values; the response has to be positive everywhere. */
static void regress(const struct sweep_data *data, struct sweep_effects *all, const size_t *effect_of)
{
    struct regression r = {0};
    for (size_t k = 0; k < data->spec->key_count; k++)
        if (data->spec->key[k].numeric && data->spec->key[k].low > 0)
            r.key[r.keys++] = k;
    if (r.keys == 0 || all->points < r.keys + 2 || !(all->lowest > 0))
        return;
    gsl_error_handler_t *const handler = gsl_set_error_handler_off();
    r.x = gsl_matrix_alloc(all->points, r.keys + 1);
    r.y = gsl_vector_alloc(all->points);
    r.c = gsl_vector_alloc(r.keys + 1);
    r.covariance = gsl_matrix_alloc(r.keys + 1, r.keys + 1);
    if (r.x && r.y && r.c && r.covariance && fill_rows(data, all, &r) == all->points)
        solve(all, &r, effect_of);
    gsl_matrix_free(r.x);
    gsl_matrix_free(r.covariance);
    gsl_vector_free(r.y);
    gsl_vector_free(r.c);
    gsl_set_error_handler(handler);
}

/* ---- all ---- */

/* Finds mean and extremes; returns the sum of squares around the mean. */
static double overview(const struct sweep_data *data, struct sweep_effects *all)
{
    double squares = 0;
    all->lowest = INFINITY;
    all->highest = -INFINITY;
    for (size_t i = 0; i < data->point_count; i++) {
        const double value = data->point[i].answer.response[all->response];
        if (!sweep_counts(data, &data->point[i], all->workload, all->response))
            continue;
        const double off = value - all->mean;
        all->points++;
        all->mean += off / (double)all->points;
        squares += off * (value - all->mean);
        all->lowest = fmin(all->lowest, value);
        all->highest = fmax(all->highest, value);
    }
    return squares;
}

static double swing(const struct sweep_effect *e)
{
    return isnan(e->high_response - e->low_response) ? -1 : e->high_response - e->low_response;
}

static int by_swing(const void *a, const void *b)
{
    const struct sweep_effect *const x = a, *const y = b;
    if (swing(x) != swing(y))
        return swing(x) > swing(y) ? -1 : 1;
    if (x->first_order != y->first_order)
        return x->first_order > y->first_order ? -1 : 1;
    return x->key < y->key ? -1 : 1;
}

bool sweep_effects_of(const struct sweep_data *data, size_t workload, enum sweep_response response, struct sweep_effects *effects,
                      struct orch_error *error)
{
    size_t effect_of[SWEEP_KEYS_MAX] = {0};
    *effects = (struct sweep_effects){.response = response, .workload = workload, .explained = NAN, .sum_to_one = true};
    effects->base = base_of(data, workload, response);
    const double squares = overview(data, effects);
    if (effects->points == 0)
        return orch_fail(error, ORCH_USAGE, "no point of %.100s has %s", data->spec->workload[workload],
                         sweep_response_name(response));
    effects->effect = calloc(data->spec->key_count + 1, sizeof *effects->effect);
    bool ok = effects->effect != NULL;
    for (size_t k = 0; ok && k < data->spec->key_count; k++) {
        struct sweep_effect *const e = &effects->effect[effects->count];
        effect_of[k] = effects->count++;
        *e = (struct sweep_effect){.key = k, .elasticity = NAN, .coefficient = NAN};
        ok = make_levels(&data->spec->key[k], e);
        if (ok) {
            main_effect(data, effects, e, squares);
            tornado(data, effects, e);
        }
    }
    if (!ok) {
        sweep_effects_free(effects);
        return orch_no_memory(error);
    }
    share_out(effects);
    regress(data, effects, effect_of);
    qsort(effects->effect, effects->count, sizeof *effects->effect, by_swing);
    return true;
}

const char *sweep_effects_estimate(const struct sweep_effects *effects)
{
    return effects->sum_to_one ? "of the means of levels, over the whole grid (eta squared)"
                               : "of the means of levels or bins, less what scatter alone would show (epsilon squared), at most "
                                 "100 % for all keys together";
}

void sweep_effects_free(struct sweep_effects *effects)
{
    for (size_t i = 0; effects->effect && i < effects->count; i++)
        free(effects->effect[i].level);
    free(effects->effect);
    *effects = (struct sweep_effects){0};
}
