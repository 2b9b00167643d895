/* What there is to know of a node before anybody computes it. */
#ifndef ORCHARD_SIM_RUN_NETWORK_RUN_NETWORK_NODE_H
#define ORCHARD_SIM_RUN_NETWORK_RUN_NETWORK_NODE_H

#include "sim/network/graph/graph.h"
#include "sim/run/network/run_network.h"

/* If, Loop, Scan: their nodes are run one by one. */
bool run_network_is_control(const struct net_node *node);
/* Whether numbers are halves on the unit that is asked for, or on some of several. */
bool run_network_in_halves(const struct run_network *n);
/* Makes the results, as zeros, of the shapes that the node's rule states of these operands; false when it leaves one open.
 * `blank`: nobody will write those that are no whole numbers. */
bool run_network_make(const struct net_node *node, struct net_array *const *in, bool blank, struct net_array **out);
/* The same where shapes hang on values (NonZero, Compress): a unit would write as many and say how many there are, here the
 * reference says it beforehand. Elements are zeros. */
bool run_network_make_by_values(const struct net_node *node, struct net_array *const *in, struct net_array **out);
/* Multiplications of the node; where shapes hang on numbers of the run, by those that its operands have. */
double run_network_macs(const struct net_model *model, const struct net_node *node, struct net_array *const *in);
void run_network_drop(struct net_array **out, size_t count);
/* Whether results that were made may stay zeros where no values are wanted: whole numbers decide shapes and places. */
bool run_network_may_skip(struct net_array *const *out, size_t count);
/* Computes whole numbers of results that kernels were given, where these compute no values; numbers stay as they are. */
bool run_network_fill(const struct net_node *node, struct net_array *const *in, struct net_array *const *out,
                      struct orch_error *error);
/* Whether an operand is a number that somebody has to compute first: on the host, the GPU's must have completed. */
bool run_network_needs_unit(const struct net_model *model, const struct net_node *node);

#endif
