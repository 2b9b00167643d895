/* What the nodes of a network do: multiplications with additions, parameters, bytes. */
#ifndef ORCHARD_SIM_NETWORK_COST_H
#define ORCHARD_SIM_NETWORK_COST_H

#include "sim/network/graph/graph.h"

/* Bytes of a value as a unit holds it (integers of four bits two in a byte); false when type or shape are not known. */
bool net_value_bytes(const struct net_model *model, net_id id, uint64_t *bytes);

struct net_cost {
    uint64_t macs; /* of products, convolutions and recurrent layers */
    uint64_t
        parameters; /* numbers in constants that are inputs; integers of 64 bits, which are shapes and places, are not counted */
    uint64_t bytes; /* of all inputs and outputs: what is moved when nothing stays near the unit */
    bool known;     /* false: some size was not known, and the sums lack it */
};

/* Of an If the branch with more work, of loops one iteration (and then not known). */
struct net_cost net_node_cost(const struct net_model *model, const struct net_node *node);
/* Of the top graph; parameters that several nodes use count once. */
struct net_cost net_total_cost(const struct net_model *model);

#endif
