/* gsl's banded Cholesky factorisation solves the band, the Schur complement S = D - B' A^-1 B the dense rows. */
#include "power/band_solver.h"

#include <gsl/gsl_blas.h>
#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include <stdlib.h>

struct band_solver {
    size_t n, half, m;
    gsl_matrix *band;   /* n x (half + 1): element (i, i - d) of A stands at (i - d, d) */
    gsl_matrix *border; /* m x n: B' */
    gsl_matrix *solved; /* m x n: (A^-1 B)' */
    gsl_matrix *corner; /* m x m: D, then the factor of S */
};

struct band_solver *band_solver_create(size_t n, size_t half, size_t m)
{
    struct band_solver *const s = calloc(1, sizeof *s);

    if (!s)
        return NULL;
    *s = (struct band_solver){.n = n, .half = half, .m = m};
    gsl_error_handler_t *const handler = gsl_set_error_handler_off();
    s->band = gsl_matrix_calloc(n, half + 1);
    s->border = gsl_matrix_calloc(m, n);
    s->solved = gsl_matrix_calloc(m, n);
    s->corner = gsl_matrix_calloc(m, m);
    gsl_set_error_handler(handler);
    if (s->band && s->border && s->solved && s->corner)
        return s;
    band_solver_free(s);
    return NULL;
}

void band_solver_free(struct band_solver *s)
{
    if (!s)
        return;
    gsl_matrix *const owned[] = {s->band, s->border, s->solved, s->corner};
    for (size_t i = 0; i < sizeof owned / sizeof owned[0]; i++)
        if (owned[i])
            gsl_matrix_free(owned[i]);
    free(s);
}

static void add_at(gsl_matrix *m, size_t i, size_t j, double value)
{
    *gsl_matrix_ptr(m, i, j) += value;
}

void band_solver_add(struct band_solver *s, size_t i, size_t j, double value)
{
    const size_t low = i < j ? i : j, high = i < j ? j : i;

    if (high < s->n) {
        add_at(s->band, low, high - low, value);
    } else if (low < s->n) {
        add_at(s->border, high - s->n, low, value);
    } else {
        add_at(s->corner, high - s->n, low - s->n, value);
        if (high != low)
            add_at(s->corner, low - s->n, high - s->n, value);
    }
}

bool band_solver_factorise(struct band_solver *s)
{
    gsl_error_handler_t *const handler = gsl_set_error_handler_off();
    bool ok = gsl_linalg_cholesky_band_decomp(s->band) == GSL_SUCCESS;

    gsl_matrix_memcpy(s->solved, s->border);
    for (size_t k = 0; ok && k < s->m; k++) {
        gsl_vector_view column = gsl_matrix_row(s->solved, k);
        ok = gsl_linalg_cholesky_band_svx(s->band, &column.vector) == GSL_SUCCESS;
    }
    if (ok && s->m) {
        gsl_blas_dgemm(CblasNoTrans, CblasTrans, -1, s->border, s->solved, 1, s->corner);
        ok = gsl_linalg_cholesky_decomp1(s->corner) == GSL_SUCCESS;
    }
    gsl_set_error_handler(handler);
    return ok;
}

void band_solver_solve(const struct band_solver *s, double *values)
{
    gsl_vector_view x = gsl_vector_view_array(values, s->n);

    if (s->m) {
        gsl_vector_view y = gsl_vector_view_array(values + s->n, s->m);
        gsl_blas_dgemv(CblasNoTrans, -1, s->solved, &x.vector, 1, &y.vector); /* g - B' A^-1 f */
        gsl_linalg_cholesky_svx(s->corner, &y.vector);
        gsl_linalg_cholesky_band_svx(s->band, &x.vector);
        gsl_blas_dgemv(CblasTrans, -1, s->solved, &y.vector, 1, &x.vector);
    } else {
        gsl_linalg_cholesky_band_svx(s->band, &x.vector);
    }
}
