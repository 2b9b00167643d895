/* Several networks on hybrid ("model:resnet50 + model:bert-base"), planned together: one graph of parts that do not hang on one
 * another, whose kernels share the units. */
#ifndef ORCHARD_SIM_RUN_NETWORK_RUN_NETWORK_JOIN_H
#define ORCHARD_SIM_RUN_NETWORK_RUN_NETWORK_JOIN_H

#include "sim/network/graph/graph.h"
#include "sim/run/run.h"

/* Seconds until the outputs of each network are there, numbered from 1. */
#define RUN_NETWORK_PART_END "network.part%u.end_seconds"

/* Imports one network, whose name is the workload of the request, with its dimensions bound. */
typedef struct net_model *run_network_import(const struct run_request *request, struct orch_error *error);

/* All of them, prepared and joined; a dimension "2:NAME=N" is the second network's. NULL with *error. */
struct net_model *run_network_join(const struct run_request *request, run_network_import *import, struct orch_error *error);

/* Sets the counters of ends, by the lines of the placement. False = out of memory. */
bool run_network_join_tell(struct run_result *result);

#endif
