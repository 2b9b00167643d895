/* Which unit computes which node, for `--unit auto`. The network is gone through once without values; each node that units have
 * kernels for gets a predicted time on each of them. Then every node is given to a unit, by a policy:
 *
 *     cost          so that the sum is least: of the times in the order of the graph, and of a command buffer whenever the GPU
 * takes over from cores (the policy that is taken when none is asked for) predictive    the same, of times that recorded kernels
 * tell; where they do not, kernels are simulated list          so that everything is done soonest where units work at the same
 * time: nodes with the longest way to the end first, each on the unit that is done with it first split[:SHARE] the same, and
 * products and convolutions may be computed by AMX and GPU together, the rows or channels parted so that both are done at the
 * same time, or SHARE of them on AMX for each that can be split energy        so that joules are least edp           so that
 * joules times seconds are least power:WATTS   in the least time in which joules per second stay within WATTS size[:SMALL:LARGE]
 * operators of fewer elements than SMALL (1e6) to AMX blocks, of LARGE (1e7) and more to the GPU; between the two where the one
 * before was memory               operators that move bytes for longer than the GPU would multiply, to AMX blocks; others to the
 * GPU class                networks of convolutions, and transformers, to the Neural Engine, in f16; others by cost
 *
 * The last three are rules of thumb of the field; what a policy's unit does not have, cores take. */
#ifndef ORCHARD_SIM_RUN_NETWORK_RUN_NETWORK_PLAN_H
#define ORCHARD_SIM_RUN_NETWORK_RUN_NETWORK_PLAN_H

#include "sim/run/network/run_network.h"

struct network_plan;

/* NULL with *error. The network is as run_network takes it. */
struct network_plan *network_plan_make(const struct run_network *network, struct orch_error *error);
void network_plan_free(struct network_plan *plan);

/* Whether the policy `class` gives the network to the Neural Engine. */
bool network_plan_is_for_engine(const struct net_model *model);
/* The policy of a request: what it says, "list" on hybrid, "cost" on auto. */
const char *network_plan_policy(const struct run_request *request);
/* Whether units work at the same time by this policy. */
bool network_plan_overlaps(const char *policy);
/* How much of a node an AMX block computes beside the GPU; 0 = it is not split. */
double network_plan_amx_share(const struct network_plan *plan, const struct net_node *node);
/* Whether an E core computes it; the unit is the CPU then. */
bool network_plan_on_e_core(const struct network_plan *plan, const struct net_node *node);
/* The unit of a node; the CPU for nodes that the plan does not know. */
enum orch_part network_plan_part(const struct network_plan *plan, const struct net_node *node);
/* Predicted joules as planned, by a policy that counts them; else 0. */
double network_plan_joules(const struct network_plan *plan);
/* What the policy could not keep; "" = nothing. */
const char *network_plan_remark(const struct network_plan *plan);
/* Adds to the lines of the placement what the choice of their node rests on, by the policy "predictive". False = out of memory.
 */
bool network_plan_tell_choices(const struct network_plan *plan, struct run_placements *placement);
/* Predicted seconds of everything as planned (PART_COUNT), or with all nodes on a unit as far as it has them. */
double network_plan_seconds(const struct network_plan *plan, enum orch_part part);

#endif
