#include "power/thermal_device.h"

#include "power/thermal_layers.h"

#include <stdio.h>

static bool positive(const struct thermal_material *m)
{
    return m->thickness_m > 0 && m->conductivity_w_per_mk > 0 && m->capacity_j_per_m3k > 0;
}

/* Checks that values are positive, that resistance does not rise with the fan's speed, and that the spreader covers the die. */
static bool thermal_device_check(const struct thermal_device *d, const struct floorplan *plan, struct power_error *error)
{
    if (!positive(&d->chip) || !positive(&d->interface) || !positive(&d->spreader))
        return power_fail(error, 0, "thickness, conductivity and heat capacity of every layer must be positive");
    if (d->spreader_side_m - plan->width_m < FLOORPLAN_EPSILON_M || d->spreader_side_m - plan->height_m < FLOORPLAN_EPSILON_M)
        return power_fail(error, 0, "the spreader (%.1f mm) must be larger than the die (%.1f x %.1f mm)",
                          1e3 * d->spreader_side_m, 1e3 * plan->width_m, 1e3 * plan->height_m);
    if (!(d->contact_k_per_w > 0) || d->stages == 0 || d->stages > THERMAL_STAGES)
        return power_fail(error, 0, "a device needs 1 to %d stages and a positive contact resistance", THERMAL_STAGES);
    for (unsigned i = 0; i < d->stages; i++)
        if (!(d->stage[i].j_per_k > 0) || !(d->stage[i].k_per_w > 0))
            return power_fail(error, 0, "stage %s: capacity and resistance must be positive", d->stage[i].name);
    for (unsigned i = 0; i < d->fan_points; i++) {
        const struct thermal_fan_point *const p = &d->fan[i];
        if (!(p->k_per_w > 0) || (i == 0 && p->rpm != 0) || (i && (p->rpm <= p[-1].rpm || p->k_per_w > p[-1].k_per_w)))
            return power_fail(error, 0, "fan: speeds rise from 0, resistance must not (%.0f rpm, %.3g K/W)", p->rpm, p->k_per_w);
    }
    if (d->fan_points && !(d->fan_full_c > d->fan_start_c))
        return power_fail(error, 0, "fan: its full speed must come at a higher temperature than its start");
    return true;
}

double thermal_device_room_k_per_w(const struct thermal_device *d, double rpm)
{
    if (d->fan_points == 0)
        return d->stage[d->stages - 1].k_per_w;
    for (unsigned i = 1; i < d->fan_points; i++) {
        const struct thermal_fan_point *const b = &d->fan[i], *const a = b - 1;
        if (rpm <= b->rpm)
            return a->k_per_w + (b->k_per_w - a->k_per_w) * (rpm - a->rpm) / (b->rpm - a->rpm);
    }
    return d->fan[d->fan_points - 1].k_per_w;
}

double thermal_device_fan_rpm(const struct thermal_device *d, double celsius)
{
    if (d->fan_points < 2 || celsius < d->fan_start_c)
        return 0;
    const double slowest = d->fan[1].rpm, fastest = d->fan[d->fan_points - 1].rpm;
    const double share = (celsius - d->fan_start_c) / (d->fan_full_c - d->fan_start_c);
    return share >= 1 ? fastest : slowest + share * (fastest - slowest);
}

/* The distance from the die's edge to the middle of the spreader's rim, and the area of the rim, as in HotSpot's package. */
static uint32_t add_rims(const struct floorplan *plan, const struct thermal_device *d, double resistance[4], double area_m2[4],
                         struct thermal_network *network)
{
    static const char *const names[4] = {"rim_w", "rim_e", "rim_n", "rim_s"};
    const double sp = d->spreader_side_m, k = d->spreader.conductivity_w_per_mk * d->spreader.thickness_m;
    const uint32_t first = (uint32_t)network->nodes;

    for (unsigned side = 0; side < 4; side++) {
        const double across = side < 2 ? plan->width_m : plan->height_m, along = side < 2 ? plan->height_m : plan->width_m;
        area_m2[side] = (sp + along) * (sp - across) / 4;
        resistance[side] = (sp - across) / 4 / (k * (sp + 3 * along) / 4);
        thermal_add_node(network, names[side], d->spreader.capacity_j_per_m3k * d->spreader.thickness_m * area_m2[side], 0);
    }
    return first;
}

static uint32_t add_stages(const struct thermal_device *d, double rpm, struct thermal_network *network)
{
    const uint32_t first = (uint32_t)network->nodes;

    for (unsigned i = 0; i < d->stages; i++) {
        const bool last = i + 1 == d->stages;
        thermal_add_node(network, d->stage[i].name, d->stage[i].j_per_k, last ? 1 / thermal_device_room_k_per_w(d, rpm) : 0);
        if (i)
            thermal_add_link(network, first + i - 1, first + i, 1 / d->stage[i - 1].k_per_w);
    }
    return first;
}

/* The interface material reacts within a tenth of a millisecond, so it has no nodes of its own. Its resistance is in series with
 * that of the die, and its capacity is shared by both sides. */
static void add_interface(const struct floorplan *plan, const struct thermal_device *d, uint32_t chip, uint32_t spreader,
                          struct thermal_network *network)
{
    const double k_m2_per_w =
        d->chip.thickness_m / d->chip.conductivity_w_per_mk + d->interface.thickness_m / d->interface.conductivity_w_per_mk;

    for (uint32_t i = 0; i < plan->count && !network->failed; i++) {
        const double area = plan->block[i].width_m * plan->block[i].height_m;
        const double half = d->interface.capacity_j_per_m3k * d->interface.thickness_m * area / 2;
        network->node[chip + i].capacity_j_per_k += half;
        network->node[spreader + i].capacity_j_per_k += half;
        thermal_add_link(network, chip + i, spreader + i, area / k_m2_per_w);
    }
}

bool thermal_device_network(const struct floorplan *plan, const struct thermal_device *d, double rpm,
                            struct thermal_network *network, struct power_error *error)
{
    double resistance[4], area_m2[4];

    thermal_network_init(network);
    if (!thermal_device_check(d, plan, error))
        return false;
    const uint32_t chip = thermal_layer_nodes(plan, &d->chip, 1, "", network);
    const uint32_t spreader = thermal_layer_nodes(plan, &d->spreader, 1, "hsp_", network);
    const uint32_t rim = add_rims(plan, d, resistance, area_m2, network);
    const uint32_t stage = add_stages(d, rpm, network);
    network->powered = plan->count;
    thermal_layer_lateral(plan, &d->chip, chip, network);
    thermal_layer_lateral(plan, &d->spreader, spreader, network);
    add_interface(plan, d, chip, spreader, network);
    thermal_layer_rim(plan, &d->spreader, spreader, rim, resistance, network);
    /* The contact is spread evenly over the spreader. */
    const double w_per_k_m2 = 1 / (d->contact_k_per_w * d->spreader_side_m * d->spreader_side_m);
    for (uint32_t i = 0; i < plan->count; i++)
        thermal_add_link(network, spreader + i, stage, w_per_k_m2 * plan->block[i].width_m * plan->block[i].height_m);
    for (unsigned side = 0; side < 4; side++)
        thermal_add_link(network, rim + side, stage, w_per_k_m2 * area_m2[side]);
    if (thermal_network_check(network, error))
        return true;
    thermal_network_free(network);
    return false;
}
