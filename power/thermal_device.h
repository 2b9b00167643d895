/* The machine around a chip: die, interface material and heat spreader by blocks, then stages of growing size (plate, heat pipe
 * or sink, chassis) up to the room. A fan lowers the resistance of the last stage.
 */
#ifndef ORCHARD_POWER_THERMAL_DEVICE_H
#define ORCHARD_POWER_THERMAL_DEVICE_H

#include "power/thermal_hotspot.h"

#define THERMAL_STAGES     4
#define THERMAL_FAN_POINTS 8

struct thermal_stage {
    char name[24];
    double j_per_k; /* capacity */
    double k_per_w; /* resistance to the next stage, or from the last stage to the room */
};
struct thermal_fan_point {
    double rpm, k_per_w; /* resistance of the last stage to the room at this speed */
};
struct thermal_device {
    struct thermal_material chip, interface, spreader;
    double spreader_side_m;
    double contact_k_per_w; /* from the whole spreader to the first stage */
    struct thermal_stage stage[THERMAL_STAGES];
    unsigned stages;
    struct thermal_fan_point fan[THERMAL_FAN_POINTS]; /* in ascending order of speed, from 0 rpm on; none = no fan */
    unsigned fan_points;
    double fan_start_c, fan_full_c; /* mean die temperatures between which the fan goes from its lowest to its highest speed */
};

/* Checks that values are positive, that resistance does not rise with the fan's speed, and that the spreader covers the die. */
bool thermal_device_check(const struct thermal_device *device, const struct floorplan *plan, struct power_error *error);
/* The resistance of the last stage at a fan speed: straight lines between the points. */
double thermal_device_room_k_per_w(const struct thermal_device *device, double rpm);
/* The speed that the fan's own curve asks for at a mean die temperature; 0 without a fan. */
double thermal_device_fan_rpm(const struct thermal_device *device, double celsius);
/* The nodes are blocks of the die, blocks of the spreader, four rims of the spreader, and stages. Power enters the blocks of the
 * die. */
bool thermal_device_network(const struct floorplan *plan, const struct thermal_device *device, double rpm,
                            struct thermal_network *network, struct power_error *error);

#endif
