/* Who uses and who computes a value, through all subgraphs. */
#ifndef ORCHARD_SIM_NETWORK_GRAPH_USES_H
#define ORCHARD_SIM_NETWORK_GRAPH_USES_H

#include "sim/network/graph/graph.h"

/* By value: how many inputs of nodes and outputs of graphs it is, and the node of the given graph that computes it (NULL = none
 * there). */
struct net_uses {
    uint32_t *count;
    struct net_node **producer;
    size_t *position; /* of the producer in the graph */
};

bool net_uses_find(const struct net_model *model, const struct net_graph *graph, struct net_uses *uses);
void net_uses_free(struct net_uses *uses);

/* Makes every user of one value in the graph and its subgraphs use another. */
void net_replace(struct net_graph *graph, net_id from, net_id to);

/* Calls for each subgraph of a node. */
void net_subgraphs(const struct net_node *node, void (*call)(struct net_graph *graph, void *context), void *context);

#endif
