/* A die as rectangles: name, size and place of every block. The text format is that of HotSpot's .flp files: a line "name width
 * height left bottom" in metres for each block, and # comments.
 */
#ifndef ORCHARD_POWER_FLOORPLAN_H
#define ORCHARD_POWER_FLOORPLAN_H

#include "power/power_error.h"

#include <stdbool.h>
#include <stddef.h>

#define FLOORPLAN_NAME 32

struct floorplan_block {
    char name[FLOORPLAN_NAME];
    double width_m, height_m, left_m, bottom_m;
};
struct floorplan {
    struct floorplan_block *block; /* owned */
    size_t count;
    double width_m, height_m; /* of the die */
};

/* Reads a floorplan and checks it. Free with floorplan_free. */
bool floorplan_parse(const char *text, size_t size, struct floorplan *plan, struct power_error *error);
/* Checks that blocks have different names and positive sizes, start at (0, 0) and tile the die without gaps or overlaps; the
 * error names the first block that does not. Sets width_m and height_m. */
bool floorplan_check(struct floorplan *plan, struct power_error *error);
void floorplan_free(struct floorplan *plan);
/* The index of a block; -1 when there is none of that name. */
long floorplan_find(const struct floorplan *plan, const char *name);
/* Places closer than this are the same place, since plans are written in whole micrometres. */
#define FLOORPLAN_EPSILON_M 1e-7
/* The length of the edge that two blocks share; 0 when they share none. *vertical: the edge runs from north to south, so heat
 * crosses it sideways. */
double floorplan_shared_edge_m(const struct floorplan_block *a, const struct floorplan_block *b, bool *vertical);

#endif
