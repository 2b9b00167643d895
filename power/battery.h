/* The battery and the adapter of a machine: charge, drain, time left, power at the wall. */
#ifndef ORCHARD_POWER_BATTERY_H
#define ORCHARD_POWER_BATTERY_H

#include <stdbool.h>

struct battery_params {
    double capacity_wh;        /* 0 for a desktop */
    double efficiency;         /* of the conversion between battery and load, 0..1 */
    double adapter_w;          /* rated power of the power supply */
    double adapter_efficiency; /* wall to machine, 0..1 */
    double floor_w;            /* draw of the machine beside chip and memory: SSD, radios; the display is off */
};
struct battery {
    struct battery_params params;
    double charge_j;
    double drained_j; /* since it was set */
};

void battery_set(struct battery *battery, const struct battery_params *params, double percent);
/* Draws `watts` of chip and memory, and the floor, for `seconds`. False when the battery is empty before the end; *lasted_s is
 * how long it lasted. A desktop draws nothing. */
bool battery_draw(struct battery *battery, double watts, double seconds, double *lasted_s);
double battery_percent(const struct battery *battery);
/* The hours that the charge lasts at this power of chip and memory; INFINITY without a battery. */
double battery_hours_left(const struct battery *battery, double watts);
/* The power at the wall when the machine runs from its adapter. */
double battery_wall_w(const struct battery_params *params, double watts);

#endif
