/* Shared by the interpolation: kriging.c fits and answers, kriging_learn.c finds lengths and nugget, kriging_choose.c new points.
 */
#ifndef ORCHARD_SIM_ASK_SWEEP_KRIGING_INTERNAL_H
#define ORCHARD_SIM_ASK_SWEEP_KRIGING_INTERNAL_H

#include "sim/ask/sweep/kriging.h"

#include <gsl/gsl_matrix.h>

/* What is learned. The variance of the process is 1 here. */
struct kriging_covariance {
    double length[KRIGING_DIMENSIONS_MAX], nugget;
    double kind; /* variance of what places of a kind share */
};

struct kriging {
    size_t dimensions, columns, responses, count; /* columns: numbers of a place, its coordinates and its kind if it has one */
    double *x;                                    /* count * columns */
    double *scaled;                               /* the same, coordinates in units of the lengths */
    struct kriging_covariance covariance;
    bool learned;
    gsl_matrix *inverse;       /* inverse of the covariance R */
    gsl_matrix *w;             /* R^-1 F */
    gsl_matrix *trend;         /* Cholesky factor of F' R^-1 F */
    gsl_matrix *weight, *beta; /* a column per response: Q y, and the trend's coefficients */
    double *q, *sigma2;        /* diagonal of Q; variance of each response's process */
};

/* Covariance of two places: product of a Matern 3/2 correlation for each dimension, and the variance of their kind. */
double kriging_covariance(const struct kriging *k, const double *a, const double *b);
/* Covariances of the points with each other, on the diagonal with the nugget times noise (NULL = 1). `scaled` gets x in units of
 * the lengths. */
void kriging_fill_covariance(gsl_matrix *m, const struct kriging *k, const struct kriging_covariance *as, const double *x,
                             const double *noise, double *scaled);
void kriging_fill_trend(gsl_matrix *m, const struct kriging *k, const double *x);

/* Sets lengths and nugget to those under which the first `leading` responses are likeliest. */
void kriging_learn(struct kriging *k, const double *x, const double *y, const double *noise, size_t count, size_t leading);

/* Correlations of a place with the points of the fit. */
void kriging_covariances(const struct kriging *k, const double *place, gsl_vector *c);
/* Variance per variance of the process, without nugget. `v` gets R^-1 c, `u` the part of the trend. */
double kriging_spread(const struct kriging *k, const double *place, const gsl_vector *c, gsl_vector *v, gsl_vector *u);

#endif
