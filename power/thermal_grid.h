/* The grid model of HotSpot's package: each of the four layers over the die has rows x cols cells, with row 0 in the north. It
 * makes maps of the die; block models (thermal_hotspot.h) are faster for traces.
 */
#ifndef ORCHARD_POWER_THERMAL_GRID_H
#define ORCHARD_POWER_THERMAL_GRID_H

#include "power/thermal_hotspot.h"

#define THERMAL_LAYERS 4u
#define THERMAL_RIMS   12u

struct thermal_grid;

/* A grid of package->grid_rows x grid_cols cells; NULL, with *error, on failure. */
struct thermal_grid *thermal_grid_create(const struct floorplan *plan, const struct thermal_package *package,
                                         struct power_error *error);
void thermal_grid_free(struct thermal_grid *grid);
size_t thermal_grid_cells(const struct thermal_grid *grid); /* of one layer */

/* Makes the steady state under power_w of every block the state. */
bool thermal_grid_steady(struct thermal_grid *grid, const double *power_w);
void thermal_grid_set_uniform(struct thermal_grid *grid, double kelvin);
/* Advances by seconds under constant power. The method is of second order in time (TR-BDF2), with steps that grow from 1/64 of
 * the interval because power changes at its start. The error is below 0.02 K for intervals of 5 ms on dies of laptop chips. */
bool thermal_grid_step(struct thermal_grid *grid, const double *power_w, double seconds);

/* The temperatures of a layer, K: 0 silicon, 1 interface, 2 spreader, 3 sink; cell = row * cols + col. */
void thermal_grid_layer(const struct thermal_grid *grid, unsigned layer, double *kelvin);
/* The temperature of a block, K: the plain mean of all cells that it touches, as in HotSpot's "avg" maps. */
double thermal_grid_block(const struct thermal_grid *grid, size_t block);

#endif
