/* Finds lengths and nugget: those under which the responses are likeliest. */
#include "sim/ask/sweep/kriging_internal.h"

#include <gsl/gsl_blas.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_multimin.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEARN_POINTS = 200, LEARN_STEPS = 60 };
#define LENGTH_LEAST   0.02
#define LENGTH_MOST    30.0
#define NUGGET_LEAST   1e-9
#define NUGGET_MOST    0.5
#define KIND_LEAST     1e-6
#define KIND_MOST      1e3
#define VARIANCE_LEAST 1e-24 /* rounding, when the trend explains a response completely */

struct learning {
    const struct kriging *k;
    const double *x, *noise;
    double *scaled;
    const gsl_matrix *y; /* count * leading */
    gsl_matrix *r, *f, *z, *a;
};

/* Parameters are logarithms: of each length, of the nugget, and of the variance of kinds where there are kinds. */
static size_t parameters(const struct kriging *k)
{
    return k->dimensions + 1 + (k->columns > k->dimensions);
}

static double clamped(double logarithm, double least, double most)
{
    return fmin(fmax(exp(logarithm), least), most);
}

/* *log_det becomes log det of R; f and z become L^-1 f and L^-1 z for its factor L. False when R is not positive definite. */
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

/* Sum of squares that the whitened trend leaves of a whitened response; `a` is the factor of F'F. */
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

static struct kriging_covariance covariance_of(const struct kriging *k, const gsl_vector *parameter)
{
    const size_t d = k->dimensions;
    struct kriging_covariance as = {.nugget = clamped(gsl_vector_get(parameter, d), NUGGET_LEAST, NUGGET_MOST)};
    for (size_t i = 0; i < d; i++)
        as.length[i] = clamped(gsl_vector_get(parameter, i), LENGTH_LEAST, LENGTH_MOST);
    if (k->columns > d)
        as.kind = clamped(gsl_vector_get(parameter, d + 1), KIND_LEAST, KIND_MOST);
    return as;
}

/* Negative logarithm of the likelihood with the best trend and variances. A weak prior keeps lengths from running away. */
static double unlikely(const gsl_vector *parameter, void *context)
{
    struct learning *const l = context;
    const size_t n = l->r->size1, d = l->k->dimensions;
    double log_det, sum = 0;
    for (size_t i = 0; i < d; i++)
        sum += 0.05 * pow(gsl_vector_get(parameter, i), 2);
    const struct kriging_covariance as = covariance_of(l->k, parameter);
    kriging_fill_covariance(l->r, l->k, &as, l->x, l->noise, l->scaled);
    kriging_fill_trend(l->f, l->k, l->x);
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
    gsl_vector *const try = gsl_vector_alloc(parameters(k));
    double best = INFINITY;
    static const double starts[] = {1.0, 0.2};
    const struct kriging_covariance before = k->covariance;
    const bool known = k->learned;
    for (size_t s = known ? 0 : 1; s < 3; s++) {
        for (size_t i = 0; i < d; i++)
            gsl_vector_set(try, i, log(s == 0 ? before.length[i] : starts[s - 1]));
        gsl_vector_set(try, d, log(s == 0 ? before.nugget : 1e-4));
        if (k->columns > d)
            gsl_vector_set(try, d + 1, log(s == 0 ? before.kind : 0.1));
        const double value = search(l, try);
        if (!(value < best))
            continue;
        best = value;
        k->covariance = covariance_of(k, try);
    }
    gsl_vector_free(try);
}

/* The covariance is a property of the whole, so an even selection of the points is enough to learn it. */
void kriging_learn(struct kriging *k, const double *x, const double *y, const double *noise, size_t count, size_t leading)
{
    const size_t stride = (count + LEARN_POINTS - 1) / LEARN_POINTS, n = (count + stride - 1) / stride, d = k->dimensions,
                 columns = k->columns;
    double *const place = calloc(n * columns + 1, sizeof *place), *const scaled = calloc(n * columns + 1, sizeof *scaled),
                  *const noisy = calloc(n, sizeof *noisy);
    gsl_matrix *const given = gsl_matrix_alloc(n, leading);
    struct learning l = {k,
                         place,
                         noisy,
                         scaled,
                         given,
                         gsl_matrix_alloc(n, n),
                         gsl_matrix_alloc(n, d + 1),
                         gsl_matrix_alloc(n, leading),
                         gsl_matrix_alloc(d + 1, d + 1)};
    if (place && scaled && noisy && given && l.r && l.f && l.z && l.a) {
        for (size_t i = 0; i < n; i++) {
            noisy[i] = noise ? noise[i * stride] : 1;
            memcpy(place + i * columns, x + i * stride * columns, columns * sizeof *x);
            for (size_t r = 0; r < leading; r++)
                gsl_matrix_set(given, i, r, y[i * stride * k->responses + r]);
        }
        learn_with(k, &l);
        k->learned = true;
    }
    free(place);
    free(scaled);
    free(noisy);
    gsl_matrix_free(given);
    gsl_matrix_free(l.r);
    gsl_matrix_free(l.f);
    gsl_matrix_free(l.z);
    gsl_matrix_free(l.a);
}
