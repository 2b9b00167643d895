/* Answers between simulated points of one kind: same workload, chip, unit ..., other numbers.
 *
 * Time is taken apart first: while the unit works (device_seconds) and the rest of seconds follow different parameters, and both
 * are smoother than their sum. Positive quantities are interpolated as logarithms. Of joules, what is interpolated is their ratio
 * to a price, where there is one. gflops, dram_gbps and watts_avg follow from the others, interval ends keep their ratio to
 * seconds, and bound_by is that of the nearest simulated point.
 */
#ifndef ORCHARD_SIM_ASK_SWEEP_SWEEP_MODEL_H
#define ORCHARD_SIM_ASK_SWEEP_SWEEP_MODEL_H

#include "sim/ask/sweep/sweep_answer.h"
#include "sim/ask/sweep/sweep_price.h"

#include <stddef.h>

struct sweep_model;

/* Places have `dimensions` coordinates, each spanning about 0 to 1, and with `kinds` the number of their kind as well: answers of
 * a kind are off by an amount in common. NULL when memory is out. */
struct sweep_model *sweep_model_create(size_t dimensions, bool kinds);
/* Whom to ask for prices of joules; must outlive the model. */
void sweep_model_set_price(struct sweep_model *model, const struct sweep_price *price);
void sweep_model_free(struct sweep_model *model);
/* Whether the answers can be interpolated at all: all are done and have the same responses. */
bool sweep_model_suits(const struct sweep_answer *const *answer, size_t count);
/* The answers must live as long as the model uses them, and come in the same order each time. index[i] is the point that answer i
 * is of, for prices. noise[i] is how many times as much as others answer i scatters, as
 * variance; NULL = all alike. */
bool sweep_model_fit(struct sweep_model *model, const double *place, const struct sweep_answer *const *answer,
                     const size_t *index, const double *noise, size_t count, struct orch_error *error);
/* The same for a model that is only asked about seconds. */
bool sweep_model_fit_seconds(struct sweep_model *model, const double *place, const struct sweep_answer *const *answer,
                             const double *noise, size_t count, struct orch_error *error);

/* Relative errors of left-out points, without those that skip[] names (NULL = of all): the worst of seconds, joules and
 * celsius_max: root mean square and greatest. *seconds_rms is that of seconds alone. */
struct sweep_left_out {
    double rms, greatest, seconds_rms;
    size_t count;
};
struct sweep_left_out sweep_model_left_out(const struct sweep_model *model, const bool *skip);
/* The relative error of seconds at point i when it is left out. */
double sweep_model_left_out_at(const struct sweep_model *model, size_t i);
/* Interpolates the answer for the point with this index, with the expected relative error of seconds. */
void sweep_model_answer(const struct sweep_model *model, const double *place, size_t index, struct sweep_answer *answer);
/* The worst expected relative error of all responses at a place. */
double sweep_model_expected(const struct sweep_model *model, const double *place);
/* Chooses up to `wanted` candidates where a simulated answer would help most. */
size_t sweep_model_choose(const struct sweep_model *model, const double *candidate, size_t count, size_t wanted, size_t *chosen);

#endif
