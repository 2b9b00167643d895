#include "power/thermal_hotspot.h"

#include "power/thermal_layers.h"

#include <stdio.h>
#include <string.h>

enum layer { CHIP, INTERFACE, SPREADER, SINK, LAYERS };
static const char *const prefix[LAYERS] = {"", "iface_", "hsp_", "hsink_"};

static const struct thermal_material *material(const struct thermal_package *p, enum layer layer)
{
    const struct thermal_material *const all[LAYERS] = {&p->chip, &p->interface, &p->spreader, &p->sink};
    return all[layer];
}

/* Convection under the sink has a conductance to the ambient and a capacity of its own. */
static void add_convection(const struct floorplan *plan, const struct thermal_package *p, uint32_t first,
                           struct thermal_network *network)
{
    const struct thermal_material *const m = &p->sink;
    const double ss2 = p->sink_side_m * p->sink_side_m;

    for (size_t i = 0; i < plan->count && first + i < network->nodes; i++) {
        const double area = plan->block[i].width_m * plan->block[i].height_m;
        struct thermal_node *const node = &network->node[first + i];
        node->capacity_j_per_k += p->capacity_factor * p->convection_j_per_k * area / ss2;
        node->ambient_w_per_k = 1 / (m->thickness_m / (m->conductivity_w_per_mk * area) + p->convection_k_per_w * ss2 / area);
    }
}

static void add_rims(const struct thermal_rims *rims, struct thermal_network *network, uint32_t rim[3])
{
    const double *const capacity[3] = {rims->spreader_capacity, rims->inner_capacity, rims->outer_capacity};
    const double *const ambient[3] = {NULL, rims->inner_to_ambient, rims->outer_to_ambient};

    for (unsigned ring = 0; ring < 3; ring++) {
        rim[ring] = (uint32_t)network->nodes;
        for (unsigned side = 0; side < 4; side++) {
            char name[48];
            snprintf(name, sizeof name, "inode_%u", 4 * ring + side);
            thermal_add_node(network, name, capacity[ring][side], ambient[ring] ? ambient[ring][side] : 0);
        }
    }
    for (unsigned side = 0; side < 4; side++) {
        thermal_add_link(network, rim[0] + side, rim[1] + side, rims->spreader_to_inner[side]);
        thermal_add_link(network, rim[1] + side, rim[2] + side, rims->inner_to_outer[side]);
    }
}

bool thermal_hotspot_network(const struct floorplan *plan, const struct thermal_package *package, struct thermal_network *network,
                             struct power_error *error)
{
    const uint32_t n = (uint32_t)plan->count;
    struct thermal_rims rims;
    uint32_t rim[3];

    thermal_network_init(network);
    if (!thermal_package_check(package, plan, error))
        return false;
    thermal_hotspot_rims(plan, package, &rims);
    for (enum layer layer = CHIP; layer < LAYERS; layer++)
        thermal_layer_nodes(plan, material(package, layer), package->capacity_factor, prefix[layer], network);
    add_convection(plan, package, SINK * n, network);
    add_rims(&rims, network, rim);
    network->powered = n;
    for (enum layer layer = CHIP; layer < LAYERS; layer++) {
        const struct thermal_material *const m = material(package, layer);
        if (layer != CHIP || !package->omit_lateral)
            thermal_layer_lateral(plan, m, layer * n, network);
        if (layer != SINK)
            thermal_layer_down(plan, m, layer * n, (layer + 1) * n, network);
    }
    thermal_layer_rim(plan, material(package, SPREADER), SPREADER * n, rim[0], rims.spreader_resistance, network);
    thermal_layer_rim(plan, material(package, SINK), SINK * n, rim[1], rims.sink_resistance, network);
    if (thermal_network_check(network, error))
        return true;
    thermal_network_free(network);
    return false;
}
