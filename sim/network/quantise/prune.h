/* Pruning by magnitude: the smallest weights of products become zeros, which sparse banks of the Neural Engine leave out. */
#ifndef ORCHARD_SIM_NETWORK_QUANTISE_PRUNE_H
#define ORCHARD_SIM_NETWORK_QUANTISE_PRUNE_H

#include "sim/network/graph/graph.h"

struct net_pruned_count {
    unsigned products;
    uint64_t weights, zeros;            /* zeros: after pruning, those that were there included */
    uint64_t bytes_before, bytes_after; /* in f32; after: the weights that are left, and a bit for each place */
};

/* `share` of each output's weights of Conv, MatMul and Gemm, rounded down; of equal ones those that come first. Changes the
 * model. */
bool net_prune(struct net_model *model, double share, struct net_pruned_count *count, struct orch_error *error);

#endif
