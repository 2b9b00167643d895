/* What goes into a network: arrays from files, and numbers where nothing is given. */
#ifndef ORCHARD_SIM_RUN_NETWORK_RUN_NETWORK_INPUT_H
#define ORCHARD_SIM_RUN_NETWORK_RUN_NETWORK_INPUT_H

#include "sim/network/graph/graph.h"

/* "NAME=FILE.npy", in place of what the input had. */
bool run_network_read_input(const struct net_model *model, struct net_array **input, const char *text, struct orch_error *error);
/* Numbers of their own for inputs that have none; *generated counts them. False where a dimension is open. */
bool run_network_generate_missing(const struct net_model *model, struct net_array **input, uint64_t seed, unsigned *generated,
                                  struct orch_error *error);
/* The precision that a file is in for units that have several: "f16" where most of its numbers are halves, NULL = f32. */
const char *run_network_own_precision(const struct net_model *model);

#endif
