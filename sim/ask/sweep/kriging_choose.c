/* Chooses candidates to simulate next: those that leave the least variance to the others. */
#include "sim/ask/sweep/kriging_internal.h"

#include <gsl/gsl_blas.h>
#include <math.h>
#include <stdlib.h>

/* A row per candidate: covariance with the known points c, R^-1 c, the part of the trend u, and the variance left. */
struct choice {
    gsl_matrix *c, *v, *u, *step; /* step: a column for each choice made */
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
        kriging_covariances(k, candidate + i * k->columns, &c.vector);
        s->left[i] = kriging_spread(k, candidate + i * k->columns, &c.vector, &v.vector, &u.vector);
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

/* Subtracts what knowing candidate `best` tells about the others: one step of a pivoted Cholesky factorisation. */
static void take(const struct kriging *k, const double *candidate, struct choice *s, size_t count, size_t best, size_t taken)
{
    const double root = sqrt(s->left[best] + k->covariance.nugget);
    const gsl_vector_const_view cb = gsl_matrix_const_row(s->c, best), ub = gsl_matrix_const_row(s->u, best);
    for (size_t i = 0; i < count; i++) {
        const gsl_vector_const_view v = gsl_matrix_const_row(s->v, i), u = gsl_matrix_const_row(s->u, i);
        double known, trend, before = 0;
        gsl_blas_ddot(&v.vector, &cb.vector, &known);
        gsl_blas_ddot(&u.vector, &ub.vector, &trend);
        for (size_t j = 0; j < taken; j++)
            before += gsl_matrix_get(s->step, i, j) * gsl_matrix_get(s->step, best, j);
        const double c = kriging_covariance(k, candidate + i * k->columns, candidate + best * k->columns);
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
