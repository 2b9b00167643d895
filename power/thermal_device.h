/* The machine around a chip: die, interface material and heat spreader by blocks, then stages of growing size (plate, heat pipe
 * or sink, chassis) up to the room. A fan lowers the resistance of the last stage.
 */
#ifndef ORCHARD_POWER_THERMAL_DEVICE_H
#define ORCHARD_POWER_THERMAL_DEVICE_H

#include "power/thermal_hotspot.h"

#define THERMAL_STAGES     4
#define THERMAL_FAN_POINTS 8

/* KEYs "thermal.<field>" of a device, of its list "stages" and of the points of "fan". X(field, unit, meaning) */
/* clang-format off */
#define THERMAL_DEVICE_FIELDS(X) \
    X(spreader_side_m, "m", "side of the square heat spreader") \
    X(contact_k_per_w, "K/W", "whole spreader to the first stage")
#define THERMAL_STAGE_FIELDS(X) \
    X(j_per_k, "J/K", "heat capacity of the stage") \
    X(k_per_w, "K/W", "to the next stage, of the last one to the room")
#define THERMAL_FAN_POINT_FIELDS(X) \
    X(rpm, "1/min", "speed") \
    X(k_per_w, "K/W", "resistance of the last stage to the room at this speed")
#define THERMAL_FAN_FIELDS(X) \
    X(fan_start_c, "degC", "mean die temperature up to which the fan keeps its slowest speed") \
    X(fan_full_c, "degC", "mean die temperature from which it has its fastest")
/* clang-format on */

#define X(field, unit, meaning) double field;
struct thermal_stage {
    char name[24];
    THERMAL_STAGE_FIELDS(X)
};
struct thermal_fan_point {
    THERMAL_FAN_POINT_FIELDS(X)
};
struct thermal_device {
    struct thermal_material chip, interface, spreader;
    THERMAL_DEVICE_FIELDS(X)
    struct thermal_stage stage[THERMAL_STAGES];
    unsigned stages;
    struct thermal_fan_point fan[THERMAL_FAN_POINTS]; /* in ascending order of speed, from 0 rpm on; none = no fan */
    unsigned fan_points;
    THERMAL_FAN_FIELDS(X)
};
#undef X

/* The resistance of the last stage at a fan speed: straight lines between the points. */
double thermal_device_room_k_per_w(const struct thermal_device *device, double rpm);
/* The speed that the fan's own curve asks for at a mean die temperature; 0 without a fan. */
double thermal_device_fan_rpm(const struct thermal_device *device, double celsius);
/* The nodes are blocks of the die, blocks of the spreader, four rims of the spreader, and stages. Power enters the blocks of the
 * die. */
bool thermal_device_network(const struct floorplan *plan, const struct thermal_device *device, double rpm,
                            struct thermal_network *network, struct power_error *error);

#endif
