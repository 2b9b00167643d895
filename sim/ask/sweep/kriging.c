#include "sim/ask/sweep/kriging.h"
#include "isa/array_count.h"

#include <gsl/gsl_blas.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_multimin.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PARAMETERS_MAX = KRIGING_DIMENSIONS_MAX + 1, LEARN_POINTS = 200, LEARN_STEPS = 60 };
#define LENGTH_LEAST   0.02
#define LENGTH_MOST    30.0
#define NUGGET_LEAST   1e-9
#define NUGGET_MOST    0.5
#define VARIANCE_LEAST 1e-24 /* of what a trend explains wholly: rounding */

struct kriging {
    size_t dimensions, responses, count;
    double *x; /* count * dimensions */
    double length[KRIGING_DIMENSIONS_MAX], nugget;
    bool learned;
    gsl_matrix *inverse;       /* of the covariance, R */
    gsl_matrix *w;             /* R^-1 F */
    gsl_matrix *trend;         /* Cholesky factor of F' R^-1 F */
    gsl_matrix *weight, *beta; /* a column per response: Q y, and the trend's coefficients */
    double *q, *sigma2;        /* diagonal of Q; variance of each response's process */
};

struct kriging *kriging_create(size_t dimensions, size_t responses)
{
    struct kriging *const k = calloc(1, sizeof *k);

    if (!k || dimensions > KRIGING_DIMENSIONS_MAX) {
        free(k);
        return NULL;
    }
    k->dimensions = dimensions;
    k->responses = responses;
    k->sigma2 = calloc(responses + 1, sizeof *k->sigma2);
    for (size_t d = 0; d < dimensions; d++)
        k->length[d] = 1;
    k->nugget = 1e-4;
    if (k->sigma2)
        return k;
    free(k);
    return NULL;
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
    free(k->q);
    k->x = k->q = NULL;
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

/* Matern 3/2 in each dimension, multiplied. */
static double correlation(const double *length, const double *a, const double *b, size_t dimensions)
{
    double sum = 0, product = 1;

    for (size_t d = 0; d < dimensions; d++) {
        const double r = sqrt(3.0) * fabs(a[d] - b[d]) / length[d];
        sum += r;
        product *= 1 + r;
    }
    return product * exp(-sum);
}

static void fill_covariance(gsl_matrix *m, const double *x, size_t dimensions, const double *length, double nugget)
{
    for (size_t i = 0; i < m->size1; i++) {
        for (size_t j = 0; j < i; j++) {
            const double c = correlation(length, x + i * dimensions, x + j * dimensions, dimensions);
            gsl_matrix_set(m, i, j, c);
            gsl_matrix_set(m, j, i, c);
        }
        gsl_matrix_set(m, i, i, 1 + nugget);
    }
}

static double trend_at(const double *place, size_t column)
{
    return column ? place[column - 1] : 1;
}

static void fill_trend(gsl_matrix *m, const double *x, size_t dimensions)
{
    for (size_t i = 0; i < m->size1; i++)
        for (size_t c = 0; c <= dimensions; c++)
            gsl_matrix_set(m, i, c, trend_at(x + i * dimensions, c));
}

/* ---- likelihood ---- */

struct learning {
    const struct kriging *k;
    const double *x;
    const gsl_matrix *y; /* count * leading */
    gsl_matrix *r, *f, *z, *a;
};

static double clamped(double logarithm, double least, double most)
{
    return fmin(fmax(exp(logarithm), least), most);
}

/* log det of R, and z = L^-1 z for the factor L; false when R is not positive. */
static bool whiten(gsl_matrix *r, gsl_matrix *f, gsl_matrix *z, double *log_det)
{
    if (gsl_linalg_cholesky_decomp1(r) != GSL_SUCCESS)
        return false;
    gsl_blas_dtrsm(CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, 1, r, f);
    gsl_blas_dtrsm(CblasLeft, CblasLower, CblasNoTrans, CblasNonUnit, 1, r, z);
    *log_det = 0;
    for (size_t i = 0; i < r->size1; i++)
        *log_det += 2 * log(gsl_matrix_get(r, i, i));
    return true;
}

/* Sum of squares of a whitened response beside the whitened trend; `a` is the factor of F'F. */
static double residual(const gsl_matrix *f, const gsl_matrix *a, gsl_vector_view z)
{
    gsl_vector *const b = gsl_vector_alloc(f->size2);
    double total, explained;

    gsl_blas_dgemv(CblasTrans, 1, f, &z.vector, 0, b);
    gsl_blas_dtrsv(CblasLower, CblasNoTrans, CblasNonUnit, a, b);
    gsl_blas_ddot(&z.vector, &z.vector, &total);
    gsl_blas_ddot(b, b, &explained);
    gsl_vector_free(b);
    return total - explained;
}

/* Negative logarithm of the likelihood, trend and variances at their best; a little prior keeps lengths from running away. */
static double unlikely(const gsl_vector *parameter, void *context)
{
    struct learning *const l = context;
    const size_t n = l->r->size1, d = l->k->dimensions;
    double length[KRIGING_DIMENSIONS_MAX] = {0}, log_det, sum = 0;

    for (size_t i = 0; i < d; i++) {
        length[i] = clamped(gsl_vector_get(parameter, i), LENGTH_LEAST, LENGTH_MOST);
        sum += 0.05 * pow(gsl_vector_get(parameter, i), 2);
    }
    fill_covariance(l->r, l->x, d, length, clamped(gsl_vector_get(parameter, d), NUGGET_LEAST, NUGGET_MOST));
    fill_trend(l->f, l->x, d);
    gsl_matrix_memcpy(l->z, l->y);
    if (!whiten(l->r, l->f, l->z, &log_det))
        return 1e10;
    gsl_blas_dsyrk(CblasLower, CblasTrans, 1, l->f, 0, l->a);
    if (gsl_linalg_cholesky_decomp1(l->a) != GSL_SUCCESS)
        return 1e10;
    for (size_t r = 0; r < l->z->size2; r++)
        sum += 0.5 * (double)n * log(fmax(residual(l->f, l->a, gsl_matrix_column(l->z, r)) / (double)n, VARIANCE_LEAST)) +
               0.5 * log_det;
    return sum;
}

static double search(struct learning *l, gsl_vector *parameter)
{
    const size_t count = parameter->size;
    gsl_multimin_function f = {unlikely, count, l};
    gsl_multimin_fminimizer *const m = gsl_multimin_fminimizer_alloc(gsl_multimin_fminimizer_nmsimplex2, count);
    gsl_vector *const step = gsl_vector_alloc(count);
    double best = INFINITY;

    gsl_vector_set_all(step, 1);
    if (gsl_multimin_fminimizer_set(m, &f, parameter, step) == GSL_SUCCESS)
        for (size_t i = 0; i < LEARN_STEPS + 20 * count && gsl_multimin_fminimizer_size(m) > 0.02; i++)
            if (gsl_multimin_fminimizer_iterate(m) != GSL_SUCCESS)
                break;
    best = gsl_multimin_fminimizer_minimum(m);
    gsl_vector_memcpy(parameter, gsl_multimin_fminimizer_x(m));
    gsl_vector_free(step);
    gsl_multimin_fminimizer_free(m);
    return best;
}

static void learn_with(struct kriging *k, struct learning *l)
{
    const size_t d = k->dimensions;
    gsl_vector *const try = gsl_vector_alloc(d + 1);
    double best = INFINITY;
    static const double starts[] = {1.0, 0.2};

    for (size_t s = 0; s < (k->learned ? 1 : 2); s++) {
        for (size_t i = 0; i < d; i++)
            gsl_vector_set(try, i, log(k->learned ? k->length[i] : starts[s]));
        gsl_vector_set(try, d, log(k->learned ? k->nugget : 1e-4));
        const double value = search(l, try);
        if (!(value < best))
            continue;
        best = value;
        for (size_t i = 0; i < d; i++)
            k->length[i] = clamped(gsl_vector_get(try, i), LENGTH_LEAST, LENGTH_MOST);
        k->nugget = clamped(gsl_vector_get(try, d), NUGGET_LEAST, NUGGET_MOST);
    }
    gsl_vector_free(try);
}

/* Many points are represented by every so manieth: the covariance is a property of the whole. */
static void learn(struct kriging *k, const double *x, const double *y, size_t count, size_t leading)
{
    const size_t stride = (count + LEARN_POINTS - 1) / LEARN_POINTS, n = (count + stride - 1) / stride, d = k->dimensions;
    double *const place = calloc(n * d + 1, sizeof *place);
    gsl_matrix *const given = gsl_matrix_alloc(n, leading);
    struct learning l = {k,
                         place,
                         given,
                         gsl_matrix_alloc(n, n),
                         gsl_matrix_alloc(n, d + 1),
                         gsl_matrix_alloc(n, leading),
                         gsl_matrix_alloc(d + 1, d + 1)};

    if (place && given && l.r && l.f && l.z && l.a) {
        for (size_t i = 0; i < n; i++) {
            memcpy(place + i * d, x + i * stride * d, d * sizeof *x);
            for (size_t r = 0; r < leading; r++)
                gsl_matrix_set(given, i, r, y[i * stride * k->responses + r]);
        }
        learn_with(k, &l);
        k->learned = true;
    }
    free(place);
    gsl_matrix_free(given);
    gsl_matrix_free(l.r);
    gsl_matrix_free(l.f);
    gsl_matrix_free(l.z);
    gsl_matrix_free(l.a);
}

/* ---- fit ---- */

static bool allocate(struct kriging *k, size_t count)
{
    const size_t p = k->dimensions + 1;

    drop_fit(k);
    k->x = calloc(count * k->dimensions + 1, sizeof *k->x);
    k->q = calloc(count, sizeof *k->q);
    k->inverse = gsl_matrix_alloc(count, count);
    k->w = gsl_matrix_alloc(count, p);
    k->trend = gsl_matrix_alloc(p, p);
    k->weight = gsl_matrix_alloc(count, k->responses);
    k->beta = gsl_matrix_alloc(p, k->responses);
    k->count = count;
    return k->x && k->q && k->inverse && k->w && k->trend && k->weight && k->beta;
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

static bool solve(struct kriging *k, const double *y)
{
    const size_t n = k->count;
    gsl_matrix *const f = gsl_matrix_alloc(n, k->dimensions + 1);
    const gsl_matrix_const_view given = gsl_matrix_const_view_array(y, n, k->responses);

    fill_covariance(k->inverse, k->x, k->dimensions, k->length, k->nugget);
    fill_trend(f, k->x, k->dimensions);
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
    if (count < k->dimensions + 2)
        return orch_fail(error, ORCH_INTERNAL, "interpolation of %zu points in %zu dimensions", count, k->dimensions);
    gsl_error_handler_t *const handler = gsl_set_error_handler_off(); /* a matrix that is not positive is an answer */
    if (learn_too || !k->learned)
        learn(k, x, y, count, leading);
    bool ok = allocate(k, count);
    if (ok) {
        memcpy(k->x, x, count * k->dimensions * sizeof *x);
        ok = solve(k, y);
        for (int more = 0; !ok && more < 4; more++) { /* places that nearly coincide need a nugget */
            k->nugget = fmax(k->nugget * 100, 1e-8);
            ok = solve(k, y);
        }
    }
    gsl_set_error_handler(handler);
    return ok || orch_fail(error, ORCH_INTERNAL, "interpolation: the covariance of %zu points cannot be factorised", count);
}

/* ---- answers ---- */

static void covariances(const struct kriging *k, const double *place, gsl_vector *c)
{
    for (size_t i = 0; i < k->count; i++)
        gsl_vector_set(c, i, correlation(k->length, k->x + i * k->dimensions, place, k->dimensions));
}

/* u = L^-1 (f - W' c) for the factor L of the trend's matrix: what the trend's own uncertainty adds is u'u. */
static void trend_part(const struct kriging *k, const double *place, const gsl_vector *c, gsl_vector *u)
{
    for (size_t i = 0; i < u->size; i++)
        gsl_vector_set(u, i, trend_at(place, i));
    gsl_blas_dgemv(CblasTrans, -1, k->w, c, 1, u);
    gsl_blas_dtrsv(CblasLower, CblasNoTrans, CblasNonUnit, k->trend, u);
}

/* Variance per variance of the process, without nugget. `v` gets R^-1 c. */
static double spread(const struct kriging *k, const double *place, const gsl_vector *c, gsl_vector *v, gsl_vector *u)
{
    double known, trend;

    gsl_blas_dsymv(CblasLower, 1, k->inverse, c, 0, v);
    gsl_blas_ddot(c, v, &known);
    trend_part(k, place, c, u);
    gsl_blas_ddot(u, u, &trend);
    return fmax(1 - known + trend, 0);
}

void kriging_predict(const struct kriging *k, const double *place, double *value, double *deviation)
{
    const size_t n = k->count, p = k->dimensions + 1;
    gsl_vector *const c = gsl_vector_alloc(n), *const v = gsl_vector_alloc(n), *const u = gsl_vector_alloc(p);

    covariances(k, place, c);
    for (size_t r = 0; value && r < k->responses; r++) {
        double sum = 0;
        for (size_t i = 0; i < p; i++)
            sum += trend_at(place, i) * gsl_matrix_get(k->beta, i, r);
        for (size_t i = 0; i < n; i++)
            sum += gsl_vector_get(c, i) * gsl_matrix_get(k->weight, i, r);
        value[r] = sum;
    }
    if (deviation) {
        const double part = spread(k, place, c, v, u) + k->nugget;
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

double kriging_length(const struct kriging *k, size_t dimension)
{
    return k->length[dimension];
}

double kriging_distance(const struct kriging *k, const double *a, const double *b)
{
    double sum = 0;

    for (size_t d = 0; d < k->dimensions; d++)
        sum += (a[d] - b[d]) / k->length[d] * ((a[d] - b[d]) / k->length[d]);
    return sum;
}

/* ---- choice ---- */

/* Candidates as rows: covariance with the known points c, R^-1 c, the trend's part u, and the variance left. */
struct choice {
    gsl_matrix *c, *v, *u, *step; /* step: a column per choice made */
    double *left;
};

static bool choice_open(const struct kriging *k, const double *candidate, size_t count, size_t wanted, struct choice *s)
{
    *s = (struct choice){gsl_matrix_alloc(count, k->count), gsl_matrix_alloc(count, k->count),
                         gsl_matrix_alloc(count, k->dimensions + 1), gsl_matrix_alloc(count, wanted),
                         calloc(count, sizeof *s->left)};
    if (!s->c || !s->v || !s->u || !s->step || !s->left)
        return false;
    for (size_t i = 0; i < count; i++) {
        gsl_vector_view c = gsl_matrix_row(s->c, i), v = gsl_matrix_row(s->v, i), u = gsl_matrix_row(s->u, i);
        covariances(k, candidate + i * k->dimensions, &c.vector);
        s->left[i] = spread(k, candidate + i * k->dimensions, &c.vector, &v.vector, &u.vector);
    }
    return true;
}

static void choice_close(struct choice *s)
{
    gsl_matrix_free(s->c);
    gsl_matrix_free(s->v);
    gsl_matrix_free(s->u);
    gsl_matrix_free(s->step);
    free(s->left);
}

/* What knowing candidate `best` takes from the others: one step of a pivoted Cholesky factorisation. */
static void take(const struct kriging *k, const double *candidate, struct choice *s, size_t count, size_t best, size_t taken)
{
    const double root = sqrt(s->left[best] + k->nugget);
    const gsl_vector_const_view cb = gsl_matrix_const_row(s->c, best), ub = gsl_matrix_const_row(s->u, best);

    for (size_t i = 0; i < count; i++) {
        const gsl_vector_const_view v = gsl_matrix_const_row(s->v, i), u = gsl_matrix_const_row(s->u, i);
        double known, trend, before = 0;
        gsl_blas_ddot(&v.vector, &cb.vector, &known);
        gsl_blas_ddot(&u.vector, &ub.vector, &trend);
        for (size_t j = 0; j < taken; j++)
            before += gsl_matrix_get(s->step, i, j) * gsl_matrix_get(s->step, best, j);
        const double c = correlation(k->length, candidate + i * k->dimensions, candidate + best * k->dimensions, k->dimensions);
        gsl_matrix_set(s->step, i, taken, (c - known + trend - before) / root);
    }
    for (size_t i = 0; i < count; i++)
        s->left[i] = fmax(s->left[i] - pow(gsl_matrix_get(s->step, i, taken), 2), 0);
    s->left[best] = -1;
}

size_t kriging_choose(const struct kriging *k, const double *candidate, size_t count, size_t wanted, size_t *chosen)
{
    struct choice s;
    size_t taken = 0;

    wanted = wanted < count ? wanted : count;
    if (wanted == 0)
        return 0;
    for (bool ok = choice_open(k, candidate, count, wanted, &s); ok && taken < wanted; taken++) {
        size_t best = 0;
        for (size_t i = 1; i < count; i++)
            best = s.left[i] > s.left[best] ? i : best;
        chosen[taken] = best;
        take(k, candidate, &s, count, best, taken);
    }
    choice_close(&s);
    return taken;
}
