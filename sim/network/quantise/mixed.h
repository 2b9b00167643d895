/* Mixed precision: which nodes of a network stay in f32 so that the rest of it may be in f16.
 *
 * A node in f16 reads operands and weights that are rounded to f16, computes exactly, and rounds its results: what no unit with
 * tensors of f16 can do better than. The nodes are taken in groups of neighbours; each group alone in f16 says what it adds to
 * the error of the outputs, errors of groups add up like independent ones, and those that add most stay in f32. What is chosen is
 * computed once more, all together, and made larger until it holds.
 */
#ifndef ORCHARD_SIM_NETWORK_QUANTISE_MIXED_H
#define ORCHARD_SIM_NETWORK_QUANTISE_MIXED_H

#include "sim/network/graph/graph.h"

/* What f16 may cost an output, as a share of its largest number. */
#define NET_F16_TOLERANCE 2e-2

struct net_ranges;

/* For integers, what keeps its number of bits is what multiplies: products with constant weights, in integers or in f32. */
struct net_mixed {
    bool *whole; /* by node of the graph: it stays in f32 */
    size_t nodes, whole_nodes;
    /* Largest difference from single precision as a share of the largest number, worst output: all in f16, and as chosen. */
    double error_half, error;
    unsigned runs; /* of the network, by the reference */
};

/* For these inputs (one for each input of the graph; constants may be NULL) and this error at most. What lies under it in f16
 * keeps no node in f32. False with an error; release in any case. */
bool net_mixed_choose(const struct net_model *model, struct net_array *const *input, double tolerance, struct net_mixed *mixed,
                      struct orch_error *error);
/* The same of a network whose products are to be in integers of 8 bits, as net_quantise makes them: which stay as they are. */
bool net_mixed_choose_bytes(const struct net_model *model, struct net_array *const *input, const struct net_ranges *ranges,
                            double tolerance, struct net_mixed *mixed, struct orch_error *error);
void net_mixed_free(struct net_mixed *mixed);
/* Whether a node of the graph stays in f32; false for those of subgraphs. */
bool net_mixed_keeps(const struct net_mixed *mixed, const struct net_model *model, const struct net_node *node);

#endif
