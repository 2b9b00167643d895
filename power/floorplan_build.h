/* Makes a floorplan from areas alone, for dies whose plan nobody published. Blocks stand in columns from west to east, and in
 * each column from south to north, in the order given; so neighbours in the list are neighbours on the die.
 */
#ifndef ORCHARD_POWER_FLOORPLAN_BUILD_H
#define ORCHARD_POWER_FLOORPLAN_BUILD_H

#include "power/floorplan.h"

struct floorplan_area {
    char name[FLOORPLAN_NAME];
    double mm2;
};
/* The die has the sum of the areas, and height / width = aspect. The number of columns is the one that makes the blocks squarest.
 * Free with floorplan_free. */
bool floorplan_build(const struct floorplan_area *area, size_t count, double aspect, struct floorplan *plan,
                     struct power_error *error);

#endif
