/* Lengths of sequences that nobody gave: as long as the arrays. */
#ifndef ORCHARD_SIM_RUN_NETWORK_LENGTHS_H
#define ORCHARD_SIM_RUN_NETWORK_LENGTHS_H

#include "sim/network/graph/graph.h"

/* Makes the inputs (NULL = not given) from which attention computes how much is kept, and counts them: what was kept is full, and
 * masks keep everything. Any other number could be no length at all. False = out of memory. */
bool run_network_fill_lengths(const struct net_model *model, struct net_array **input, unsigned *filled,
                              struct orch_error *error);

#endif
