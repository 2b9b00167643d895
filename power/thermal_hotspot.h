/* The package that HotSpot 7.0 models: silicon, interface material, heat spreader and heat sink over a die of rectangular blocks.
 *
 * It was written from the description of the model (HotSpot, uvahotspot; DAC 2004; IEEE TC 2008 57(9):1277). The nodes are n
 * blocks of silicon, n of interface, n of spreader, n of sink, and then twelve rims: spreader W E N S, sink inner W E N S, sink
 * outer W E N S.
 */
#ifndef ORCHARD_POWER_THERMAL_HOTSPOT_H
#define ORCHARD_POWER_THERMAL_HOTSPOT_H

#include "power/floorplan.h"
#include "power/thermal_network.h"

/* X(field, unit, meaning) */
/* clang-format off */
#define THERMAL_MATERIAL_FIELDS(X) \
    X(thickness_m, "m", "thickness of the layer") \
    X(conductivity_w_per_mk, "W/(m K)", "thermal conductivity") \
    X(capacity_j_per_m3k, "J/(m3 K)", "heat capacity by volume")
/* clang-format on */

struct thermal_material {
#define X(field, unit, meaning) double field;
    THERMAL_MATERIAL_FIELDS(X)
#undef X
};
struct thermal_package {
    struct thermal_material chip, interface, spreader, sink;
    double spreader_side_m, sink_side_m;
    double convection_k_per_w, convection_j_per_k;
    double ambient_k, initial_k;
    double sampling_s;      /* interval of power traces */
    double capacity_factor; /* of bulk capacities: 0.333 in HotSpot ("lumped against distributed"), 1 in physics */
    bool omit_lateral;      /* no heat flows sideways in the silicon */
    bool grid;              /* cells instead of blocks */
    unsigned grid_rows, grid_cols;
};

/* Sets HotSpot's example settings. */
void thermal_package_init(struct thermal_package *package);
/* Reads "key value" lines with the keys of HotSpot's configuration (t_chip, k_sink, r_convec, model_type ...). */
bool thermal_package_parse(const char *text, size_t size, struct thermal_package *package, struct power_error *error);
/* Checks that sizes are positive, the die is no larger than the spreader, and the spreader is smaller than the sink. */
bool thermal_package_check(const struct thermal_package *package, const struct floorplan *plan, struct power_error *error);

/* Builds the block model: 4 n + 12 nodes, of which the first n take power. */
bool thermal_hotspot_network(const struct floorplan *plan, const struct thermal_package *package, struct thermal_network *network,
                             struct power_error *error);

/* The rims of spreader and sink, which the block and the grid model share. Conductances are in W/K, capacities in J/K; the order
 * is W E N S. */
struct thermal_rims {
    double spreader_to_inner[4], inner_to_outer[4];
    double inner_to_ambient[4], outer_to_ambient[4];
    double spreader_capacity[4], inner_capacity[4], outer_capacity[4];
    /* Resistance of a whole side between the die's edge and the middle of the rim, K/W. */
    double spreader_resistance[4], sink_resistance[4];
};
void thermal_hotspot_rims(const struct floorplan *plan, const struct thermal_package *package, struct thermal_rims *rims);

#endif
