#include "power/thermal_layers.h"

#include <math.h>
#include <stdio.h>

static double area_m2(const struct floorplan_block *b)
{
    return b->width_m * b->height_m;
}

uint32_t thermal_layer_nodes(const struct floorplan *plan, const struct thermal_material *m, double factor, const char *prefix,
                             struct thermal_network *network)
{
    const uint32_t first = (uint32_t)network->nodes;

    for (size_t i = 0; i < plan->count; i++) {
        char name[48];
        snprintf(name, sizeof name, "%s%s", prefix, plan->block[i].name);
        thermal_add_node(network, name, factor * m->capacity_j_per_m3k * m->thickness_m * area_m2(&plan->block[i]), 0);
    }
    return first;
}

void thermal_layer_down(const struct floorplan *plan, const struct thermal_material *upper, uint32_t from, uint32_t to,
                        struct thermal_network *network)
{
    for (uint32_t i = 0; i < plan->count; i++)
        thermal_add_link(network, from + i, to + i, upper->conductivity_w_per_mk * area_m2(&plan->block[i]) / upper->thickness_m);
}

void thermal_layer_lateral(const struct floorplan *plan, const struct thermal_material *m, uint32_t first,
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

/* Whether a block touches side W, E, N or S of the die, with the length of its edge and half its size towards the rim. */
static bool touches(const struct floorplan *plan, const struct floorplan_block *b, unsigned side, double *edge_m, double *half_m)
{
    const double gap[4] = {b->left_m, plan->width_m - b->left_m - b->width_m, plan->height_m - b->bottom_m - b->height_m,
                           b->bottom_m};
    *edge_m = side < 2 ? b->height_m : b->width_m;
    *half_m = side < 2 ? b->width_m / 2 : b->height_m / 2;
    return gap[side] < FLOORPLAN_EPSILON_M;
}

void thermal_layer_rim(const struct floorplan *plan, const struct thermal_material *m, uint32_t first, uint32_t rim,
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
