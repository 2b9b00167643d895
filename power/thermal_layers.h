/* Layers of a package over the blocks of a die, shared by the packages of this folder; not for others. */
#ifndef ORCHARD_POWER_THERMAL_LAYERS_H
#define ORCHARD_POWER_THERMAL_LAYERS_H

#include "power/thermal_hotspot.h"

/* One node per block with the bulk capacity of the material (times `factor`); returns the first. */
uint32_t thermal_layer_nodes(const struct floorplan *plan, const struct thermal_material *m, double factor, const char *prefix,
                             struct thermal_network *network);
/* Heat sideways between blocks that share an edge. */
void thermal_layer_lateral(const struct floorplan *plan, const struct thermal_material *m, uint32_t first,
                           struct thermal_network *network);
/* Heat down from every block of one layer to the same block of the next: the whole thickness of the upper one. */
void thermal_layer_down(const struct floorplan *plan, const struct thermal_material *upper, uint32_t from, uint32_t to,
                        struct thermal_network *network);
/* Blocks at the die's edges to four rim nodes W E N S: their own half in series with their share of the rim's resistance. */
void thermal_layer_rim(const struct floorplan *plan, const struct thermal_material *m, uint32_t first, uint32_t rim,
                       const double resistance[4], struct thermal_network *network);

#endif
