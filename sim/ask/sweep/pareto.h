/* The points that no other point beats in every response. */
#ifndef ORCHARD_SIM_ASK_SWEEP_PARETO_H
#define ORCHARD_SIM_ASK_SWEEP_PARETO_H

#include "sim/ask/sweep/sweep_read.h"

/* The responses that count: seconds; joules and celsius_max if all points have them. `response` has room for 3. */
size_t sweep_pareto_responses(const struct sweep_data *data, size_t workload, enum sweep_response response[3]);
/* The front of a workload as indices into data->point, by rising seconds. Lower is better in every response; the first of equal
 * points stands for the others. The caller frees *front; false when memory is out. */
bool sweep_pareto(const struct sweep_data *data, size_t workload, size_t **front, size_t *count, struct orch_error *error);

/* The same for plain numbers value[i * dimensions + d], lower being better. Sets keep[i]. */
bool pareto_front(const double *value, size_t count, size_t dimensions, bool *keep);

#endif
