#include "power/thermal_hotspot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum layer { CHIP, INTERFACE, SPREADER, SINK, LAYERS };
static const char *const prefix[LAYERS] = {"", "iface_", "hsp_", "hsink_"};

static const struct thermal_material *material(const struct thermal_package *p, enum layer layer)
{
    const struct thermal_material *const all[LAYERS] = {&p->chip, &p->interface, &p->spreader, &p->sink};
    return all[layer];
}

static double area_m2(const struct floorplan_block *b)
{
    return b->width_m * b->height_m;
}

static void add_layer_nodes(const struct floorplan *plan, const struct thermal_package *p, enum layer layer,
                            struct thermal_network *network)
{
    const struct thermal_material *const m = material(p, layer);
    const double ss2 = p->sink_side_m * p->sink_side_m;

    for (size_t i = 0; i < plan->count; i++) {
        const double area = area_m2(&plan->block[i]);
        double capacity = p->capacity_factor * m->capacity_j_per_m3k * m->thickness_m * area, ambient = 0;
        char name[48];
        if (layer == SINK) {
            capacity += p->capacity_factor * p->convection_j_per_k * area / ss2;
            ambient = 1 / (m->thickness_m / (m->conductivity_w_per_mk * area) + p->convection_k_per_w * ss2 / area);
        }
        snprintf(name, sizeof name, "%s%s", prefix[layer], plan->block[i].name);
        thermal_add_node(network, name, capacity, ambient);
    }
}

static void add_lateral(const struct floorplan *plan, const struct thermal_material *m, uint32_t first,
                        struct thermal_network *network)
{
    for (uint32_t i = 0; i < plan->count; i++)
        for (uint32_t j = i + 1; j < plan->count; j++) {
            const struct floorplan_block *const a = &plan->block[i], *const b = &plan->block[j];
            bool vertical;
            const double edge = floorplan_shared_edge_m(a, b, &vertical);
            const double distance = vertical ? (a->width_m + b->width_m) / 2 : (a->height_m + b->height_m) / 2;
            if (edge > 0)
                thermal_add_link(network, first + i, first + j, m->conductivity_w_per_mk * m->thickness_m * edge / distance);
        }
}

/* Whether a block touches side W E N S of the die, and how: edge length and half its size towards the rim. */
static bool touches(const struct floorplan *plan, const struct floorplan_block *b, unsigned side, double *edge_m, double *half_m)
{
    const double gap[4] = {b->left_m, plan->width_m - b->left_m - b->width_m, plan->height_m - b->bottom_m - b->height_m,
                           b->bottom_m};
    *edge_m = side < 2 ? b->height_m : b->width_m;
    *half_m = side < 2 ? b->width_m / 2 : b->height_m / 2;
    return gap[side] < FLOORPLAN_EPSILON_M;
}

/* Blocks at the die's edge to the rim: their own half in series with their share of the rim's resistance. */
static void add_rim_links(const struct floorplan *plan, const struct thermal_material *m, uint32_t first, uint32_t rim,
                          const double resistance[4], struct thermal_network *network)
{
    for (unsigned side = 0; side < 4; side++) {
        double sum = 0, edge, half;
        for (size_t i = 0; i < plan->count; i++)
            if (touches(plan, &plan->block[i], side, &edge, &half))
                sum += m->conductivity_w_per_mk * m->thickness_m * edge / half;
        for (uint32_t i = 0; i < plan->count; i++)
            if (touches(plan, &plan->block[i], side, &edge, &half)) {
                const double own = m->conductivity_w_per_mk * m->thickness_m * edge / half;
                thermal_add_link(network, first + i, rim + side, 1 / (1 / own + resistance[side] * sum / own));
            }
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
        add_layer_nodes(plan, package, layer, network);
    add_rims(&rims, network, rim);
    network->powered = n;
    for (enum layer layer = CHIP; layer < LAYERS; layer++) {
        const struct thermal_material *const m = material(package, layer);
        if (layer != CHIP || !package->omit_lateral)
            add_lateral(plan, m, layer * n, network);
        if (layer != SINK) /* whole thickness of the upper layer, none of the lower one */
            for (uint32_t i = 0; i < n; i++)
                thermal_add_link(network, layer * n + i, (layer + 1) * n + i,
                                 m->conductivity_w_per_mk * area_m2(&plan->block[i]) / m->thickness_m);
    }
    add_rim_links(plan, material(package, SPREADER), SPREADER * n, rim[0], rims.spreader_resistance, network);
    add_rim_links(plan, material(package, SINK), SINK * n, rim[1], rims.sink_resistance, network);
    if (thermal_network_check(network, error))
        return true;
    thermal_network_free(network);
    return false;
}
