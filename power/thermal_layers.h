/* Layers of a package over the blocks of a die, for the packages of this folder only. */
#ifndef ORCHARD_POWER_THERMAL_LAYERS_H
#define ORCHARD_POWER_THERMAL_LAYERS_H

#include "power/thermal_hotspot.h"

/* Adds a node for each block, with the bulk capacity of the material times `factor`. Returns the first. */
uint32_t thermal_layer_nodes(const struct floorplan *plan, const struct thermal_material *m, double factor, const char *prefix,
                             struct thermal_network *network);
/* Links blocks that share an edge, for heat that flows sideways. */
void thermal_layer_lateral(const struct floorplan *plan, const struct thermal_material *m, uint32_t first,
                           struct thermal_network *network);
/* Links every block of a layer to the same block of the next, through the whole thickness of the upper layer. */
void thermal_layer_down(const struct floorplan *plan, const struct thermal_material *upper, uint32_t from, uint32_t to,
                        struct thermal_network *network);
/* Links the blocks at the die's edges to the four rim nodes W E N S: half of the block in series with its share of the rim's
 * resistance. */
void thermal_layer_rim(const struct floorplan *plan, const struct thermal_material *m, uint32_t first, uint32_t rim,
                       const double resistance[4], struct thermal_network *network);

#endif
