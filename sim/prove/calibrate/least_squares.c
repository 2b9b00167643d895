/* Bounded least squares: a trust-region method (libgsl) over variables that a sine maps into the bounds, so that no step can
 * leave them (as in MINUIT; F. James, CERN D506). */
#include "sim/prove/calibrate/fit.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_multifit_nlinear.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Step of a parameter's logarithm: large against the granularity of a simulator that counts whole cycles, small against the
 * changes looked for. */
#define STEP 0.02
enum { ITERATIONS = 10 };

void calibrate_model_free(struct calibrate_model *m)
{
    for (size_t i = 0; i < m->count; i++)
        free(m->known[i].residual);
    free(m->known);
    free(m->idle);
    m->known = NULL;
    m->idle = NULL;
    m->count = 0;
}

static bool fill_residuals(struct calibrate_model *m, const double *log_factor, double *residual)
{
    if (!calibrate_predict(m->q, m->rows, log_factor, residual, m->error))
        return false;
    for (size_t i = 0; i < m->rows->count; i++) {
        if (m->rows->row[i].idle) {
            residual[i] = m->idle[i];
            continue;
        }
        residual[i] = log(residual[i] / m->rows->row[i].measured);
        if (!isfinite(residual[i]))
            return orch_fail(m->error, ORCH_FAILED, "row %s is not predicted any more when the parameters move",
                             m->rows->row[i].id);
    }
    return true;
}

const double *calibrate_residuals(struct calibrate_model *m, const double *log_factor)
{
    for (size_t i = 0; i < m->count; i++)
        if (memcmp(m->known[i].log_factor, log_factor, m->q->keys * sizeof *log_factor) == 0)
            return m->known[i].residual;
    struct calibrate_known *const grown = realloc(m->known, (m->count + 1) * sizeof *grown);
    double *const residual = grown ? calloc(m->rows->count, sizeof *residual) : NULL;
    if (grown)
        m->known = grown;
    if (!residual) {
        orch_no_memory(m->error);
        return NULL;
    }
    m->known[m->count] = (struct calibrate_known){.residual = residual};
    memcpy(m->known[m->count].log_factor, log_factor, m->q->keys * sizeof *log_factor);
    m->count++;
    m->evaluations++;
    if (!fill_residuals(m, log_factor, residual)) {
        m->count--;
        free(residual);
        return NULL;
    }
    if (m->q->evaluated)
        m->q->evaluated(m->q->context, m->evaluations);
    return residual;
}

bool calibrate_settle(struct calibrate_model *m, struct calibrate_rows *rows, const double *log_factor, const double *jacobian)
{
    double *const idle = calloc(rows->count + 1, sizeof *idle);
    const double *const residual = jacobian ? calibrate_residuals(m, log_factor) : NULL;
    if (!idle || (jacobian && !residual)) {
        free(idle);
        return m->error->exit_code == 0 ? orch_no_memory(m->error) : false;
    }
    for (size_t i = 0; i < rows->count; i++) {
        rows->row[i].idle = jacobian != NULL;
        for (size_t k = 0; jacobian && k < m->q->keys; k++)
            rows->row[i].idle &= jacobian[i * m->q->keys + k] == 0;
        idle[i] = residual ? residual[i] : 0;
    }
    calibrate_model_free(m);
    m->idle = idle;
    return true;
}

bool calibrate_jacobian(struct calibrate_model *m, const double *log_factor, double *jacobian)
{
    double moved[CALIBRATE_KEYS];
    const size_t keys = m->q->keys;
    for (size_t k = 0; k < keys; k++) {
        memcpy(moved, log_factor, keys * sizeof *moved);
        moved[k] += moved[k] + STEP > m->bounds[k].high ? -STEP : STEP;
        const double *const there = calibrate_residuals(m, moved), *const here =
                                                                       there ? calibrate_residuals(m, log_factor) : NULL;
        if (!here)
            return false;
        for (size_t i = 0; i < m->rows->count; i++)
            jacobian[i * keys + k] = (there[i] - here[i]) / (moved[k] - log_factor[k]);
    }
    return true;
}

/* ---- libgsl ---- */

struct problem {
    struct calibrate_model *model;
    unsigned without;
    double *jacobian;
    bool held[CALIBRATE_KEYS]; /* no row of this fit depends on it */
};

static double half_width(const struct calibrate_bounds *b)
{
    return 0.5 * (b->high - b->low);
}

static void to_parameters(const struct problem *p, const gsl_vector *x, double *log_factor)
{
    for (size_t k = 0; k < p->model->q->keys; k++) {
        const struct calibrate_bounds *const b = &p->model->bounds[k];
        log_factor[k] = b->low + half_width(b) * (sin(gsl_vector_get(x, k)) + 1);
        if (p->held[k] || fabs(log_factor[k]) < 1e-12)
            log_factor[k] = 0; /* as in the files */
    }
}

static int residuals_of(const gsl_vector *x, void *context, gsl_vector *f)
{
    const struct problem *const p = context;
    double log_factor[CALIBRATE_KEYS];
    size_t n = 0;
    to_parameters(p, x, log_factor);
    const double *const residual = calibrate_residuals(p->model, log_factor);
    for (size_t i = 0; residual && i < p->model->rows->count; i++)
        if (p->model->rows->row[i].fold != p->without)
            gsl_vector_set(f, n++, residual[i]);
    return residual ? GSL_SUCCESS : GSL_EBADFUNC;
}

static int derivatives_of(const gsl_vector *x, void *context, gsl_matrix *out)
{
    const struct problem *const p = context;
    const size_t keys = p->model->q->keys;
    double log_factor[CALIBRATE_KEYS];
    size_t n = 0;
    to_parameters(p, x, log_factor);
    if (!calibrate_jacobian(p->model, log_factor, p->jacobian))
        return GSL_EBADFUNC;
    for (size_t i = 0; i < p->model->rows->count; i++) {
        if (p->model->rows->row[i].fold == p->without)
            continue;
        for (size_t k = 0; k < keys; k++)
            gsl_matrix_set(out, n, k,
                           p->held[k] ? 0
                                      : p->jacobian[i * keys + k] * half_width(&p->model->bounds[k]) * cos(gsl_vector_get(x, k)));
        n++;
    }
    return GSL_SUCCESS;
}

static size_t rows_without(const struct calibrate_rows *rows, unsigned without)
{
    size_t count = 0;
    for (size_t i = 0; i < rows->count; i++)
        count += rows->row[i].fold != without;
    return count;
}

static void start_at(const struct problem *p, gsl_vector *x)
{
    for (size_t k = 0; k < p->model->q->keys; k++) {
        const struct calibrate_bounds *const b = &p->model->bounds[k];
        gsl_vector_set(x, k, asin(-b->low / half_width(b) - 1));
    }
}

/* When no row of a fold depends on a parameter, the parameter stays as it is. */
static bool hold(struct problem *p)
{
    static const double as_is[CALIBRATE_KEYS];
    const size_t keys = p->model->q->keys;
    if (!calibrate_jacobian(p->model, as_is, p->jacobian))
        return false;
    for (size_t k = 0; k < keys; k++) {
        p->held[k] = true;
        for (size_t i = 0; i < p->model->rows->count; i++)
            p->held[k] &= p->model->rows->row[i].fold == p->without || fabs(p->jacobian[i * keys + k]) < CALIBRATE_LEAST_EFFECT;
    }
    return true;
}

static bool solve(struct problem *p, size_t rows, double *log_factor)
{
    gsl_multifit_nlinear_parameters how = gsl_multifit_nlinear_default_parameters();
    gsl_multifit_nlinear_fdf fdf = {.f = residuals_of, .df = derivatives_of, .n = rows, .p = p->model->q->keys, .params = p};
    gsl_multifit_nlinear_workspace *const work =
        gsl_multifit_nlinear_alloc(gsl_multifit_nlinear_trust, &how, rows, p->model->q->keys);
    gsl_vector *const x = gsl_vector_alloc(p->model->q->keys);
    int why = 0, code = GSL_ENOMEM;
    if (work && x) {
        start_at(p, x);
        code = gsl_multifit_nlinear_init(x, &fdf, work);
        if (code == GSL_SUCCESS)
            code = gsl_multifit_nlinear_driver(ITERATIONS, 1e-3, 1e-6, 0, NULL, NULL, &why, work);
        to_parameters(p, gsl_multifit_nlinear_position(work), log_factor);
    }
    gsl_vector_free(x);
    if (work)
        gsl_multifit_nlinear_free(work);
    /* no further progress is an end, too, since a simulator's answers are granular */
    return code == GSL_SUCCESS || code == GSL_EMAXITER || code == GSL_ENOPROG || p->model->error->exit_code ||
           orch_fail(p->model->error, ORCH_INTERNAL, "least squares: %s", gsl_strerror(code));
}

bool calibrate_least_squares(struct calibrate_model *m, unsigned without, double *log_factor)
{
    const size_t rows = rows_without(m->rows, without);
    if (rows < m->q->keys)
        return orch_fail(m->error, ORCH_FAILED, "%zu rows cannot tell %zu parameters: fewer parameters, more rows or fewer folds",
                         rows, m->q->keys);
    struct problem p = {.model = m, .without = without, .jacobian = calloc(m->rows->count * m->q->keys + 1, sizeof *p.jacobian)};
    gsl_error_handler_t *const before = gsl_set_error_handler_off(); /* return codes are checked instead */
    const bool ok = p.jacobian ? hold(&p) && solve(&p, rows, log_factor) : orch_no_memory(m->error);
    gsl_set_error_handler(before);
    free(p.jacobian);
    return ok && m->error->exit_code == 0;
}
