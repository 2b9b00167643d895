/* Points that no other point beats in everything. */
#ifndef ORCHARD_SIM_ASK_SWEEP_PARETO_H
#define ORCHARD_SIM_ASK_SWEEP_PARETO_H

#include "sim/ask/sweep/sweep_read.h"

/* The responses that count: seconds, joules where all points have them, celsius_max where all have it. At least 3. */
size_t sweep_pareto_responses(const struct sweep_data *data, size_t workload, enum sweep_response response[3]);
/* Indices into data->point of the front of a workload, by rising seconds; lower is better in every response. Equal points
 * are represented by the first. *front is the caller's to free; false when memory is short. */
bool sweep_pareto(const struct sweep_data *data, size_t workload, size_t **front, size_t *count, struct orch_error *error);

/* The same on plain numbers: value[i * dimensions + d], lower is better. Marks keep[i]. */
bool pareto_front(const double *value, size_t count, size_t dimensions, bool *keep);

#endif
