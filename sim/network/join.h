/* Several networks as one graph of parts that do not hang on one another, so that they can be planned together. */
#ifndef ORCHARD_SIM_NETWORK_JOIN_H
#define ORCHARD_SIM_NETWORK_JOIN_H

#include "sim/network/graph/graph.h"

enum { NET_PARTS_MAX = 5 };

/* Moves what `from` has behind what `to` has; `from` is empty then. Names of the third network's nodes, inputs and outputs begin
 * with "3:" and so on. Both are prepared. False = out of memory. */
bool net_join(struct net_model *to, struct net_model *from);

/* The network, from 0, that the first node of is this one; NET_PARTS_MAX when it begins none. */
unsigned net_part_begins(const struct net_model *model, const struct net_node *node);

#endif
