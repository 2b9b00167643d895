/* The battery and the adapter of a machine: charge, drain, time left, power at the wall. */
#ifndef ORCHARD_POWER_BATTERY_H
#define ORCHARD_POWER_BATTERY_H

#include <stdbool.h>

/* KEYs "battery.<field>" of a device. X(field, unit, lowest, highest, meaning) */
/* clang-format off */
#define BATTERY_FIELDS(X) \
    X(capacity_wh, "Wh", 0, 1000, "capacity; 0: a desktop") \
    X(efficiency, "1", 0.1, 1, "of conversion between battery and load") \
    X(adapter_w, "W", 1, 5000, "rated power of the power supply") \
    X(adapter_efficiency, "1", 0.1, 1, "from the wall to the machine") \
    X(floor_w, "W", 0, 1000, "of the machine beside chip and memory: display off, SSD, radios")
/* clang-format on */

struct battery_params {
#define X(field, unit, lowest, highest, meaning) double field;
    BATTERY_FIELDS(X)
#undef X
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
