/* Whether the rows tell the parameters apart, judged by the derivatives of the logarithms: a parameter on which no row depends
 * has a column of zeros; parameters that only appear together have columns of the same direction, and no data can say which of
 * them to move. */
#include "sim/prove/calibrate/fit.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* Columns of unit length whose singular values lie farther apart than this are one column, given the granularity of a simulator;
 * estimates that are correlated more than this are one estimate. */
#define CONDITION_MAX   1000.0
#define CORRELATION_MAX 0.98
#define SHARE_NAMED     0.3

struct columns {
    const struct calibrate_model *model;
    size_t rows, keys;
    double norm[CALIBRATE_KEYS];
    gsl_matrix *u, *v; /* of the Jacobian with columns of unit length */
    gsl_vector *s, *work;
};

static void name(char *text, size_t size, const char *what)
{
    const size_t at = strlen(text);
    snprintf(text + at, size - at, "%s%s", at ? ", " : "", what);
}

static bool check_effects(const struct columns *c, const double *jacobian)
{
    char none[300] = "";
    for (size_t k = 0; k < c->keys; k++) {
        double largest = 0;
        for (size_t i = 0; i < c->rows; i++)
            largest = fmax(largest, fabs(jacobian[i * c->keys + k]));
        if (largest < CALIBRATE_LEAST_EFFECT)
            name(none, sizeof none, c->model->q->key[k]);
    }
    return !*none || orch_fail(c->model->error, ORCH_FAILED, "not identifiable: no row depends on %s", none);
}

static void decompose(struct columns *c, const double *jacobian)
{
    for (size_t k = 0; k < c->keys; k++) {
        double sum = 0;
        for (size_t i = 0; i < c->rows; i++)
            sum += jacobian[i * c->keys + k] * jacobian[i * c->keys + k];
        c->norm[k] = sqrt(sum);
        for (size_t i = 0; i < c->rows; i++)
            gsl_matrix_set(c->u, i, k, jacobian[i * c->keys + k] / c->norm[k]);
    }
    gsl_linalg_SV_decomp(c->u, c->v, c->s, c->work);
}

/* Names the parameters in the direction of the smallest singular value. */
static bool check_condition(const struct columns *c, double *condition)
{
    const double least = gsl_vector_get(c->s, c->keys - 1);
    char together[300] = "";
    *condition = least > 0 ? gsl_vector_get(c->s, 0) / least : INFINITY;
    if (*condition < CONDITION_MAX)
        return true;
    for (size_t k = 0; k < c->keys; k++)
        if (fabs(gsl_matrix_get(c->v, k, c->keys - 1)) > SHARE_NAMED)
            name(together, sizeof together, c->model->q->key[k]);
    return orch_fail(c->model->error, ORCH_FAILED,
                     "not identifiable: the rows depend on %s only together (condition number %.3g): fix all but one of them",
                     together, *condition);
}

/* Computes (J'J)^-1 from the decomposition. */
static void find_covariance(const struct columns *c, double covariance[CALIBRATE_KEYS][CALIBRATE_KEYS])
{
    for (size_t a = 0; a < c->keys; a++)
        for (size_t b = 0; b < c->keys; b++) {
            double sum = 0;
            for (size_t j = 0; j < c->keys; j++) {
                const double s = gsl_vector_get(c->s, j);
                sum += gsl_matrix_get(c->v, a, j) * gsl_matrix_get(c->v, b, j) / (s * s);
            }
            covariance[a][b] = sum / (c->norm[a] * c->norm[b]);
        }
}

static bool check_correlations(const struct columns *c, double covariance[CALIBRATE_KEYS][CALIBRATE_KEYS])
{
    for (size_t a = 0; a < c->keys; a++)
        for (size_t b = 0; b < a; b++) {
            const double r = covariance[a][b] / sqrt(covariance[a][a] * covariance[b][b]);
            if (fabs(r) > CORRELATION_MAX)
                return orch_fail(c->model->error, ORCH_FAILED,
                                 "not identifiable: estimates of %s and %s are correlated by %.3f: fix one of them",
                                 c->model->q->key[b], c->model->q->key[a], r);
        }
    return true;
}

bool calibrate_identify(const struct calibrate_model *m, const double *jacobian, double *condition,
                        double covariance[CALIBRATE_KEYS][CALIBRATE_KEYS])
{
    struct columns c = {.model = m, .rows = m->rows->count, .keys = m->q->keys};
    if (c.rows < c.keys)
        return orch_fail(m->error, ORCH_FAILED, "not identifiable: %zu rows for %zu parameters", c.rows, c.keys);
    if (!check_effects(&c, jacobian))
        return false;
    c.u = gsl_matrix_alloc(c.rows, c.keys);
    c.v = gsl_matrix_alloc(c.keys, c.keys);
    c.s = gsl_vector_alloc(c.keys);
    c.work = gsl_vector_alloc(c.keys);
    bool ok = (c.u && c.v && c.s && c.work) || orch_no_memory(m->error);
    if (ok) {
        decompose(&c, jacobian);
        ok = check_condition(&c, condition);
    }
    if (ok) {
        find_covariance(&c, covariance);
        ok = check_correlations(&c, covariance);
    }
    gsl_matrix_free(c.u);
    gsl_matrix_free(c.v);
    gsl_vector_free(c.s);
    gsl_vector_free(c.work);
    return ok;
}
