/* Gaussian-process regression (universal kriging): from answers at some places to answers at others, with the error to expect.
 *
 *     struct kriging *k = kriging_create(dimensions, responses);
 *     kriging_fit(k, x, y, count, true, &error);      // x[count][dimensions], y[count][responses]
 *     kriging_predict(k, place, value, deviation);
 *
 * A response is a linear trend in the coordinates plus a Gaussian process with the Matern 3/2 covariance (a product over the
 * dimensions, a length scale each), what places of a kind share, and a nugget for what does not repeat smoothly. All responses
 * share the covariance, so that one factorisation serves them; its parameters make the likelihood greatest (C. E. Rasmussen, C.
 * K. I. Williams, Gaussian Processes for Machine Learning, MIT Press 2006, chapters 2.7, 4.2, 5.4). Errors of leaving one point
 * out are exact and cost no further factorisation (O. Dubrule, Cross validation of kriging in a unique neighborhood, Math.
 * Geology 15, 1983).
 *
 * Coordinates should span about 0 .. 1. Deterministic.
 */
#ifndef ORCHARD_SIM_ASK_SWEEP_KRIGING_H
#define ORCHARD_SIM_ASK_SWEEP_KRIGING_H

#include "sim/base/error.h"

#include <stdbool.h>
#include <stddef.h>

enum { KRIGING_DIMENSIONS_MAX = 32 };

struct kriging;

/* NULL when memory is out. */
struct kriging *kriging_create(size_t dimensions, size_t responses);
/* The same for places with a kind: one more number behind the coordinates. Places of a kind share an amount that is added to the
 * response, of a variance that is learned, too. */
struct kriging *kriging_create_with_kinds(size_t dimensions, size_t responses);
void kriging_free(struct kriging *k);

/* Takes over the points. With `learn` the covariance is fitted to them; otherwise that of the last fit stays, which must exist.
 * The covariance depends on the first `leading` responses only. Needs at least dimensions + 2 points. */
bool kriging_fit(struct kriging *k, const double *x, const double *y, size_t count, size_t leading, bool learn,
                 struct orch_error *error);

/* The same when the nugget of point i counts noise[i] times (NULL = once): what is known to scatter more is followed less. */
bool kriging_fit_noisy(struct kriging *k, const double *x, const double *y, const double *noise, size_t count, size_t leading,
                       bool learn, struct orch_error *error);

/* Values of the responses at a place, and their standard deviations (either may be NULL). */
void kriging_predict(const struct kriging *k, const double *place, double *value, double *deviation);
/* Predicts response r at point i from all other points: returns predicted - given, and the standard deviation expected of it. */
double kriging_left_out(const struct kriging *k, size_t i, size_t r, double *deviation);
/* Squared distance between two places, in length scales. */
double kriging_distance(const struct kriging *k, const double *a, const double *b);

/* Chooses `wanted` candidate places where the deviation is greatest, each choice counting as known for the next; chosen[] gets
 * their indices. Returns how many, fewer when there are not enough candidates. */
size_t kriging_choose(const struct kriging *k, const double *candidate, size_t count, size_t wanted, size_t *chosen);

#endif
