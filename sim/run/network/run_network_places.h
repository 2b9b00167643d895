/* Generated whole numbers that a network takes for places of something: how many places there are. */
#ifndef ORCHARD_SIM_RUN_NETWORK_RUN_NETWORK_PLACES_H
#define ORCHARD_SIM_RUN_NETWORK_RUN_NETWORK_PLACES_H

#include "sim/network/graph/graph.h"

/* The numbers of a value of whole numbers below which all are places wherever the network looks something up by them, or axes; at
 * most `most`. Dimensions that are not known do not count. */
int64_t run_network_places(const struct net_model *model, net_id value, int64_t most);

#endif
