#include "sim/prove/calibrate/fit.h"

#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- scores ---- */

/* Sums over the rows of the fold `only`, over all folds but `without`, or over all rows when both are UINT_MAX. */
struct sums {
    double ape, square;
    size_t count;
};

static void add_rows(struct sums *s, const struct calibrate_rows *rows, const double *residual, unsigned only, unsigned without)
{
    for (size_t i = 0; i < rows->count; i++) {
        if ((only != UINT_MAX && rows->row[i].fold != only) || rows->row[i].fold == without)
            continue;
        s->ape += fabs(expm1(residual[i]));
        s->square += residual[i] * residual[i];
        s->count++;
    }
}

static struct calibrate_score score_of(const struct sums *s)
{
    return (struct calibrate_score){s->ape / (double)s->count, sqrt(s->square / (double)s->count)};
}

static bool score_all(struct calibrate_model *m, const double *log_factor, struct calibrate_score *score)
{
    struct sums s = {0};
    const double *const residual = calibrate_residuals(m, log_factor);
    if (!residual)
        return false;
    add_rows(&s, m->rows, residual, UINT_MAX, UINT_MAX);
    *score = score_of(&s);
    return true;
}

/* ---- cross-validation ---- */

static bool cross_validate(struct calibrate_model *m, struct calibrate_result *r)
{
    static const double as_is[CALIBRATE_KEYS];
    struct sums in = {0}, out = {0}, before = {0};
    for (unsigned fold = 0; fold < m->q->folds; fold++) {
        double log_factor[CALIBRATE_KEYS];
        if (!calibrate_least_squares(m, fold, log_factor))
            return orch_fail_in(m->error, "fold %u", fold + 1);
        const double *const fitted = calibrate_residuals(m, log_factor), *const given =
                                                                             fitted ? calibrate_residuals(m, as_is) : NULL;
        if (!given)
            return false;
        add_rows(&in, m->rows, fitted, UINT_MAX, fold);
        add_rows(&out, m->rows, fitted, fold, UINT_MAX);
        add_rows(&before, m->rows, given, fold, UINT_MAX);
    }
    r->folds = m->q->folds;
    r->folds_by_source = m->rows->by_source;
    r->in_fold = score_of(&in);
    r->out_of_fold = score_of(&out);
    r->out_before = score_of(&before);
    return true;
}

/* ---- the parameters ---- */

static bool check_key(struct calibrate_model *m, size_t k)
{
    const struct calibrate_request *const q = m->q;
    char why[200];
    m->bounds[k] = (struct calibrate_bounds){-INFINITY, INFINITY};
    for (unsigned c = 0; c < m->rows->chips; c++) {
        struct chip *const chip = chip_open(q->chips, m->rows->chip[c], &q->sets, m->error);
        const struct chip_value *const v = chip ? chip_value(chip, q->key[k]) : NULL;
        struct calibrate_bounds b = {0};
        const char *const nearest = v ? NULL : chip_key_nearest(q->key[k]);
        const bool ok = v && calibrate_tunable(v, &b, why, sizeof why);
        if (chip && !v)
            orch_fail(m->error, ORCH_USAGE, "unknown key '%.60s'%s%s (orchard chips show %s lists keys)", q->key[k],
                      nearest ? "; did you mean " : "", nearest ? nearest : "", m->rows->chip[c]);
        else if (chip && !ok)
            orch_fail(m->error, ORCH_USAGE, "%s of %s cannot be tuned: %s", q->key[k], m->rows->chip[c], why);
        if (chip)
            chip_close(chip);
        if (!ok)
            return false;
        m->bounds[k].low = fmax(m->bounds[k].low, b.low);
        m->bounds[k].high = fmin(m->bounds[k].high, b.high);
    }
    for (size_t other = 0; other < k; other++)
        if (strcmp(q->key[other], q->key[k]) == 0)
            return orch_fail(m->error, ORCH_USAGE, "%s is given twice", q->key[k]);
    return true;
}

static bool check_keys(struct calibrate_model *m)
{
    if (m->q->keys == 0 || m->q->keys > CALIBRATE_KEYS)
        return orch_fail(m->error, ORCH_USAGE, "1 to %d parameters to vary, got %zu", CALIBRATE_KEYS, m->q->keys);
    for (size_t k = 0; k < m->q->keys; k++)
        if (!check_key(m, k))
            return false;
    return true;
}

/* ---- rows that nothing predicts fall out ---- */

static bool drop_unmodelled(const struct calibrate_request *q, struct calibrate_rows *rows, struct orch_error *error)
{
    static const double as_is[CALIBRATE_KEYS];
    double *const predicted = calloc(rows->count + 1, sizeof *predicted);
    const bool ok = predicted ? calibrate_predict(q, rows, as_is, predicted, error) : orch_no_memory(error);
    size_t kept = 0;
    for (size_t i = 0; ok && i < rows->count; i++) {
        if (isfinite(predicted[i]) && predicted[i] > 0) {
            rows->row[kept++] = rows->row[i];
            continue;
        }
        free(rows->row[i].source);
        free(rows->row[i].line);
        rows->unmodelled++;
    }
    if (ok)
        rows->count = kept;
    free(predicted);
    return ok && (kept || orch_fail(error, ORCH_USAGE, "%.200s: nothing predicts any of the %zu rows", q->name, rows->given));
}

/* ---- the whole ---- */

/* Starts again with all rows, since the result may depend on a row that nothing changed at the start. */
static bool finish(struct calibrate_model *m, struct calibrate_rows *all, const double *log_factor, struct calibrate_result *r)
{
    const size_t keys = m->q->keys, rows = m->rows->count;
    double *const jacobian = calloc(rows * keys + 1, sizeof *jacobian);
    bool ok = jacobian ? calibrate_settle(m, all, log_factor, NULL) && calibrate_jacobian(m, log_factor, jacobian) &&
                             calibrate_identify(m, jacobian, &r->condition, r->covariance)
                       : orch_no_memory(m->error);
    free(jacobian);
    ok = ok && score_all(m, log_factor, &r->after);
    const double freedom = rows > keys ? (double)(rows - keys) : 1,
                 variance = r->after.rms_log * r->after.rms_log * (double)rows / freedom;
    for (size_t a = 0; ok && a < keys; a++) {
        for (size_t b = 0; b < keys; b++)
            r->covariance[a][b] *= variance;
        r->factor[a] = exp(log_factor[a]);
        r->log_error[a] = sqrt(r->covariance[a][a]);
        r->bounds[a] = m->bounds[a];
        r->at_bound[a] = log_factor[a] - m->bounds[a].low < 1e-3 || m->bounds[a].high - log_factor[a] < 1e-3;
    }
    return ok;
}

static bool identify_first(struct calibrate_model *m, struct calibrate_rows *all, struct calibrate_result *r)
{
    static const double as_is[CALIBRATE_KEYS];
    double *const jacobian = calloc(m->rows->count * m->q->keys + 1, sizeof *jacobian);
    const bool ok = jacobian ? calibrate_jacobian(m, as_is, jacobian) &&
                                   calibrate_identify(m, jacobian, &r->condition, r->covariance) &&
                                   score_all(m, as_is, &r->before) && calibrate_settle(m, all, as_is, jacobian)
                             : orch_no_memory(m->error);
    free(jacobian);
    return ok;
}

static bool keep_rows(const struct calibrate_rows *rows, struct calibrate_result *r, struct orch_error *error)
{
    r->rows = rows->count;
    r->given = rows->given;
    r->no_chip = rows->no_chip;
    r->unmodelled = rows->unmodelled;
    r->chips = rows->chips;
    memcpy(r->chip, rows->chip, sizeof r->chip);
    memcpy(r->hash, rows->hash, sizeof r->hash);
    r->id = calloc(rows->count + 1, sizeof *r->id);
    for (size_t i = 0; r->id && i < rows->count; i++)
        if (!(r->id[i] = strdup(rows->row[i].id)))
            return orch_no_memory(error);
    return r->id || orch_no_memory(error);
}

bool calibrate_run(const struct calibrate_request *q, struct calibrate_result *r, struct orch_error *error)
{
    struct calibrate_rows rows;
    struct orch_error own = {0};
    double log_factor[CALIBRATE_KEYS] = {0};
    *r = (struct calibrate_result){.keys = q->keys};
    if (!calibrate_rows_read(q, &rows, error))
        return false;
    struct calibrate_model model = {.q = q, .rows = &rows, .error = &own};
    const bool ok = check_keys(&model) && drop_unmodelled(q, &rows, &own) && keep_rows(&rows, r, &own) &&
                    identify_first(&model, &rows, r) && calibrate_least_squares(&model, UINT_MAX, log_factor) &&
                    (q->folds == 0 || cross_validate(&model, r)) && finish(&model, &rows, log_factor, r);
    r->evaluations = model.evaluations;
    calibrate_model_free(&model);
    calibrate_rows_free(&rows);
    if (!ok && error)
        *error = own;
    return ok;
}

void calibrate_result_free(struct calibrate_result *r)
{
    for (size_t i = 0; r->id && i < r->rows; i++)
        free(r->id[i]);
    free(r->id);
    *r = (struct calibrate_result){0};
}
