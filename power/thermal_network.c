#include "power/thermal_network.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void thermal_network_init(struct thermal_network *network)
{
    memset(network, 0, sizeof *network);
}

void thermal_network_free(struct thermal_network *network)
{
    free(network->node);
    free(network->link);
    thermal_network_init(network);
}

static bool grow(void **array, size_t count, size_t *room, size_t size)
{
    if (count < *room)
        return true;
    const size_t more = *room ? *room * 2 : 64;
    void *const grown = realloc(*array, more * size);
    if (!grown)
        return false;
    *array = grown;
    *room = more;
    return true;
}

uint32_t thermal_add_node(struct thermal_network *network, const char *name, double capacity_j_per_k, double ambient_w_per_k)
{
    void *array = network->node;

    if (!grow(&array, network->nodes, &network->node_room, sizeof *network->node)) {
        network->failed = true;
        return 0;
    }
    network->node = array;
    struct thermal_node *const node = &network->node[network->nodes];
    memset(node, 0, sizeof *node);
    snprintf(node->name, sizeof node->name, "%s", name);
    node->capacity_j_per_k = capacity_j_per_k;
    node->ambient_w_per_k = ambient_w_per_k;
    return (uint32_t)network->nodes++;
}

void thermal_add_link(struct thermal_network *network, uint32_t a, uint32_t b, double w_per_k)
{
    void *array = network->link;

    if (w_per_k == 0)
        return;
    if (!grow(&array, network->links, &network->link_room, sizeof *network->link)) {
        network->failed = true;
        return;
    }
    network->link = array;
    network->link[network->links++] = (struct thermal_link){.a = a, .b = b, .w_per_k = w_per_k};
}

/* Marks the nodes that are reached from the ambient, link by link, until none is added. */
static bool all_reached(const struct thermal_network *network, bool *reached)
{
    bool more = true;

    for (size_t i = 0; i < network->nodes; i++)
        reached[i] = network->node[i].ambient_w_per_k > 0;
    while (more) {
        more = false;
        for (size_t l = 0; l < network->links; l++) {
            const struct thermal_link *const link = &network->link[l];
            if (reached[link->a] != reached[link->b]) {
                reached[link->a] = reached[link->b] = true;
                more = true;
            }
        }
    }
    for (size_t i = 0; i < network->nodes; i++)
        if (!reached[i])
            return false;
    return true;
}

bool thermal_network_check(const struct thermal_network *network, struct power_error *error)
{
    if (network->failed)
        return power_fail(error, 0, "out of memory");
    if (network->nodes == 0 || network->powered > network->nodes)
        return power_fail(error, 0, "a thermal network needs nodes");
    for (size_t i = 0; i < network->nodes; i++) {
        const struct thermal_node *const n = &network->node[i];
        if (!(n->capacity_j_per_k > 0) || !isfinite(n->capacity_j_per_k) || !(n->ambient_w_per_k >= 0) ||
            !isfinite(n->ambient_w_per_k))
            return power_fail(error, 0, "thermal node %s: capacity must be positive, conductance to ambient not negative",
                              n->name);
    }
    for (size_t l = 0; l < network->links; l++)
        if (!(network->link[l].w_per_k > 0) || !isfinite(network->link[l].w_per_k) || network->link[l].a >= network->nodes ||
            network->link[l].b >= network->nodes)
            return power_fail(error, 0, "thermal link %s - %s: conductance must be positive",
                              network->node[network->link[l].a % network->nodes].name,
                              network->node[network->link[l].b % network->nodes].name);
    bool *const reached = calloc(network->nodes, sizeof *reached);
    const bool connected = reached && all_reached(network, reached);
    free(reached);
    return connected || power_fail(error, 0, "a part of the thermal network has no way to the ambient");
}
