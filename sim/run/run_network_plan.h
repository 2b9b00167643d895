/* Which unit computes which node, for `--unit auto`. The network is gone through once without values; each node that units have
 * kernels for gets a predicted time on each of them. Then every node is given to a unit so that the sum is least: of the times in
 * the order of the graph, and of a command buffer whenever the GPU takes over from cores. */
#ifndef ORCHARD_SIM_RUN_RUN_NETWORK_PLAN_H
#define ORCHARD_SIM_RUN_RUN_NETWORK_PLAN_H

#include "sim/run/run_network.h"

struct network_plan;

/* NULL with *error. The network is as run_network takes it. */
struct network_plan *network_plan_make(const struct run_network *network, struct orch_error *error);
void network_plan_free(struct network_plan *plan);

/* The unit of a node; the CPU for nodes that the plan does not know. */
enum orch_part network_plan_part(const struct network_plan *plan, const struct net_node *node);
/* Predicted seconds of everything as planned (PART_COUNT), or with all nodes on a unit as far as it has them. */
double network_plan_seconds(const struct network_plan *plan, enum orch_part part);

#endif
