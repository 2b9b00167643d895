/* Heat as a network: nodes with a capacity, links with a conductance, and some nodes with a conductance to the ambient.
 *
 *     C dT/dt = P + G_ambient T_ambient - G T
 *
 * Power enters the first `powered` nodes. Packages and devices build networks; thermal_solver.h solves them.
 */
#ifndef ORCHARD_POWER_THERMAL_NETWORK_H
#define ORCHARD_POWER_THERMAL_NETWORK_H

#include "power/power_error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct thermal_node {
    char name[48];
    double capacity_j_per_k;
    double ambient_w_per_k;
};
struct thermal_link {
    uint32_t a, b;
    double w_per_k;
};
struct thermal_network {
    struct thermal_node *node; /* owned */
    struct thermal_link *link; /* owned */
    size_t nodes, links, powered;
    size_t node_room, link_room;
    bool failed; /* memory ran out while it was built */
};

void thermal_network_init(struct thermal_network *network);
void thermal_network_free(struct thermal_network *network);
/* Adds a node and returns its number. */
uint32_t thermal_add_node(struct thermal_network *network, const char *name, double capacity_j_per_k, double ambient_w_per_k);
/* Adds a conductance between two nodes, unless it is 0. */
void thermal_add_link(struct thermal_network *network, uint32_t a, uint32_t b, double w_per_k);
/* Checks that capacities are positive, conductances positive and finite, and every node is connected to the ambient. */
bool thermal_network_check(const struct thermal_network *network, struct power_error *error);

#endif
