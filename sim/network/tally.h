/* Operators of a network with their counts and sums. */
#ifndef ORCHARD_SIM_NETWORK_TALLY_H
#define ORCHARD_SIM_NETWORK_TALLY_H

#include "sim/network/cost.h"

enum { NET_TITLE_BYTES = 128 };
/* "Conv", "orchard.FusedConv". */
const char *net_operator_title(const struct net_node *node, char text[NET_TITLE_BYTES]);

struct net_tally {
    struct net_tally_row {
        char title[NET_TITLE_BYTES];
        size_t nodes;
        struct net_cost cost;
        bool known; /* the reference has it */
    } * row;
    size_t count;
};

/* Of the top graph, by name; false when memory is out. */
bool net_tally_count(const struct net_model *model, struct net_tally *tally);
void net_tally_free(struct net_tally *tally);

#endif
