#include "sim/ask/sweep/kriging_internal.h"

#include "isa/array_count.h"

#include <gsl/gsl_blas.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct kriging *create(size_t dimensions, size_t columns, size_t responses)
{
    struct kriging *const k = calloc(1, sizeof *k);
    if (!k || dimensions > KRIGING_DIMENSIONS_MAX) {
        free(k);
        return NULL;
    }
    k->dimensions = dimensions;
    k->columns = columns;
    k->responses = responses;
    k->sigma2 = calloc(responses + 1, sizeof *k->sigma2);
    for (size_t d = 0; d < dimensions; d++)
        k->covariance.length[d] = 1;
    k->covariance.nugget = 1e-4;
    k->covariance.kind = columns > dimensions ? 0.1 : 0;
    if (k->sigma2)
        return k;
    free(k);
    return NULL;
}

struct kriging *kriging_create(size_t dimensions, size_t responses)
{
    return create(dimensions, dimensions, responses);
}

struct kriging *kriging_create_with_kinds(size_t dimensions, size_t responses)
{
    return create(dimensions, dimensions + 1, responses);
}

static void drop_fit(struct kriging *k)
{
    gsl_matrix **const all[] = {&k->inverse, &k->w, &k->trend, &k->weight, &k->beta};
    for (size_t i = 0; i < ARRAY_COUNT(all); i++) {
        if (*all[i])
            gsl_matrix_free(*all[i]);
        *all[i] = NULL;
    }
    free(k->x);
    free(k->scaled);
    free(k->q);
    k->x = k->scaled = k->q = NULL;
    k->count = 0;
}

void kriging_free(struct kriging *k)
{
    if (!k)
        return;
    drop_fit(k);
    free(k->sigma2);
    free(k);
}

/* ---- covariance and trend ---- */

/* Places in units in which the correlation of each dimension is (1 + r) exp(-r). */
static void scale(const struct kriging *k, const struct kriging_covariance *as, const double *x, size_t count, double *scaled)
{
    for (size_t d = 0; d < k->columns; d++) {
        const double factor = d < k->dimensions ? sqrt(3.0) / as->length[d] : 1;
        for (size_t i = 0; i < count; i++)
            scaled[i * k->columns + d] = x[i * k->columns + d] * factor;
    }
}

static double covariance(const struct kriging *k, const struct kriging_covariance *as, const double *a, const double *b)
{
    double sum = 0, product = 1;
    for (size_t d = 0; d < k->dimensions; d++) {
        const double r = fabs(a[d] - b[d]);
        sum += r;
        product *= 1 + r;
    }
    const bool same = k->columns > k->dimensions && a[k->dimensions] == b[k->dimensions];
    return product * exp(-sum) + (same ? as->kind : 0);
}

double kriging_covariance(const struct kriging *k, const double *a, const double *b)
{
    double from[KRIGING_DIMENSIONS_MAX + 1], to[KRIGING_DIMENSIONS_MAX + 1];
    scale(k, &k->covariance, a, 1, from);
    scale(k, &k->covariance, b, 1, to);
    return covariance(k, &k->covariance, from, to);
}

void kriging_fill_covariance(gsl_matrix *m, const struct kriging *k, const struct kriging_covariance *as, const double *x,
                             const double *noise, double *scaled)
{
    const size_t columns = k->columns;
    scale(k, as, x, m->size1, scaled);
    for (size_t i = 0; i < m->size1; i++) {
        for (size_t j = 0; j < i; j++) {
            const double c = covariance(k, as, scaled + i * columns, scaled + j * columns);
            gsl_matrix_set(m, i, j, c);
            gsl_matrix_set(m, j, i, c);
        }
        gsl_matrix_set(m, i, i, 1 + as->kind + as->nugget * (noise ? noise[i] : 1));
    }
}

/* The trend is linear: column 0 is 1, the others are the coordinates of the place. */
static double kriging_trend_at(const double *place, size_t column)
{
    return column ? place[column - 1] : 1;
}

void kriging_fill_trend(gsl_matrix *m, const struct kriging *k, const double *x)
{
    for (size_t i = 0; i < m->size1; i++)
        for (size_t c = 0; c <= k->dimensions; c++)
            gsl_matrix_set(m, i, c, kriging_trend_at(x + i * k->columns, c));
}

/* ---- fit ---- */

static bool allocate(struct kriging *k, size_t count)
{
    const size_t p = k->dimensions + 1;
    drop_fit(k);
    k->x = calloc(count * k->columns + 1, sizeof *k->x);
    k->scaled = calloc(count * k->columns + 1, sizeof *k->scaled);
    k->q = calloc(count, sizeof *k->q);
    k->inverse = gsl_matrix_alloc(count, count);
    k->w = gsl_matrix_alloc(count, p);
    k->trend = gsl_matrix_alloc(p, p);
    k->weight = gsl_matrix_alloc(count, k->responses);
    k->beta = gsl_matrix_alloc(p, k->responses);
    k->count = count;
    return k->x && k->scaled && k->q && k->inverse && k->w && k->trend && k->weight && k->beta;
}

/* Diagonal of Q = R^-1 - W (F' W)^-1 W'. */
static void diagonal(struct kriging *k)
{
    gsl_vector *const row = gsl_vector_alloc(k->w->size2);
    double squares;
    for (size_t i = 0; i < k->count; i++) {
        gsl_matrix_get_row(row, k->w, i);
        gsl_blas_dtrsv(CblasLower, CblasNoTrans, CblasNonUnit, k->trend, row);
        gsl_blas_ddot(row, row, &squares);
        k->q[i] = gsl_matrix_get(k->inverse, i, i) - squares;
    }
    gsl_vector_free(row);
}

static bool solve(struct kriging *k, const double *y, const double *noise)
{
    const size_t n = k->count;
    gsl_matrix *const f = gsl_matrix_alloc(n, k->dimensions + 1);
    const gsl_matrix_const_view given = gsl_matrix_const_view_array(y, n, k->responses);
    kriging_fill_covariance(k->inverse, k, &k->covariance, k->x, noise, k->scaled);
    kriging_fill_trend(f, k, k->x);
    bool ok = gsl_linalg_cholesky_decomp1(k->inverse) == GSL_SUCCESS && gsl_linalg_cholesky_invert(k->inverse) == GSL_SUCCESS;
    if (ok) {
        gsl_blas_dgemm(CblasNoTrans, CblasNoTrans, 1, k->inverse, f, 0, k->w);
        gsl_blas_dgemm(CblasTrans, CblasNoTrans, 1, f, k->w, 0, k->trend);
        ok = gsl_linalg_cholesky_decomp1(k->trend) == GSL_SUCCESS;
    }
    if (ok) {
        gsl_blas_dgemm(CblasTrans, CblasNoTrans, 1, k->w, &given.matrix, 0, k->beta);
        gsl_blas_dtrsm(CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, 1, k->trend, k->beta);
        gsl_blas_dtrsm(CblasLeft, CblasLower, CblasTrans, CblasNonUnit, 1, k->trend, k->beta);
        gsl_blas_dgemm(CblasNoTrans, CblasNoTrans, 1, k->inverse, &given.matrix, 0, k->weight);
        gsl_blas_dgemm(CblasNoTrans, CblasNoTrans, -1, k->w, k->beta, 1, k->weight);
        diagonal(k);
    }
    for (size_t r = 0; ok && r < k->responses; r++) {
        double sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += y[i * k->responses + r] * gsl_matrix_get(k->weight, i, r);
        k->sigma2[r] = fmax(sum / (double)(n - k->dimensions - 1), 0);
    }
    gsl_matrix_free(f);
    return ok;
}

bool kriging_fit(struct kriging *k, const double *x, const double *y, size_t count, size_t leading, bool learn_too,
                 struct orch_error *error)
{
    return kriging_fit_noisy(k, x, y, NULL, count, leading, learn_too, error);
}

bool kriging_fit_noisy(struct kriging *k, const double *x, const double *y, const double *noise, size_t count, size_t leading,
                       bool learn_too, struct orch_error *error)
{
    if (count < k->dimensions + 2)
        return orch_fail(error, ORCH_INTERNAL, "interpolation of %zu points in %zu dimensions", count, k->dimensions);
    gsl_error_handler_t *const handler =
        gsl_set_error_handler_off(); /* a matrix that is not positive definite is an answer, not an error */
    if (learn_too || !k->learned)
        kriging_learn(k, x, y, noise, count, leading);
    bool ok = allocate(k, count);
    if (ok) {
        memcpy(k->x, x, count * k->columns * sizeof *x);
        ok = solve(k, y, noise);
        for (int more = 0; !ok && more < 4; more++) { /* places that nearly coincide need a nugget */
            k->covariance.nugget = fmax(k->covariance.nugget * 100, 1e-8);
            ok = solve(k, y, noise);
        }
    }
    gsl_set_error_handler(handler);
    return ok || orch_fail(error, ORCH_INTERNAL, "interpolation: the covariance of %zu points cannot be factorised", count);
}

/* ---- answers ---- */

void kriging_covariances(const struct kriging *k, const double *place, gsl_vector *c)
{
    double at[KRIGING_DIMENSIONS_MAX + 1];
    scale(k, &k->covariance, place, 1, at);
    for (size_t i = 0; i < k->count; i++)
        gsl_vector_set(c, i, covariance(k, &k->covariance, k->scaled + i * k->columns, at));
}

/* u = L^-1 (f - W' c), L being the factor of the trend's matrix: the uncertainty of the trend itself adds u'u. */
static void trend_part(const struct kriging *k, const double *place, const gsl_vector *c, gsl_vector *u)
{
    for (size_t i = 0; i < u->size; i++)
        gsl_vector_set(u, i, kriging_trend_at(place, i));
    gsl_blas_dgemv(CblasTrans, -1, k->w, c, 1, u);
    gsl_blas_dtrsv(CblasLower, CblasNoTrans, CblasNonUnit, k->trend, u);
}

double kriging_spread(const struct kriging *k, const double *place, const gsl_vector *c, gsl_vector *v, gsl_vector *u)
{
    double known, trend;
    gsl_blas_dsymv(CblasLower, 1, k->inverse, c, 0, v);
    gsl_blas_ddot(c, v, &known);
    trend_part(k, place, c, u);
    gsl_blas_ddot(u, u, &trend);
    return fmax(1 + k->covariance.kind - known + trend, 0);
}

void kriging_predict(const struct kriging *k, const double *place, double *value, double *deviation)
{
    const size_t n = k->count, p = k->dimensions + 1;
    gsl_vector *const c = gsl_vector_alloc(n), *const v = gsl_vector_alloc(n), *const u = gsl_vector_alloc(p);
    kriging_covariances(k, place, c);
    for (size_t r = 0; value && r < k->responses; r++) {
        double sum = 0;
        for (size_t i = 0; i < p; i++)
            sum += kriging_trend_at(place, i) * gsl_matrix_get(k->beta, i, r);
        for (size_t i = 0; i < n; i++)
            sum += gsl_vector_get(c, i) * gsl_matrix_get(k->weight, i, r);
        value[r] = sum;
    }
    if (deviation) {
        const double part = kriging_spread(k, place, c, v, u) + k->covariance.nugget;
        for (size_t r = 0; r < k->responses; r++)
            deviation[r] = sqrt(k->sigma2[r] * part);
    }
    gsl_vector_free(c);
    gsl_vector_free(v);
    gsl_vector_free(u);
}

double kriging_left_out(const struct kriging *k, size_t i, size_t r, double *deviation)
{
    if (deviation)
        *deviation = sqrt(k->sigma2[r] / k->q[i]);
    return -gsl_matrix_get(k->weight, i, r) / k->q[i];
}

double kriging_distance(const struct kriging *k, const double *a, const double *b)
{
    double sum = 0;
    for (size_t d = 0; d < k->dimensions; d++)
        sum += pow((a[d] - b[d]) / k->covariance.length[d], 2);
    return sum;
}
