/* Compares a measured curve of a machine with the closed loop: a load on its cores under the governor. Of the measurement, only
 * the beginning and end of the load and the temperature at the start go in. */
#ifndef ORCHARD_SIM_MACHINE_THERMAL_DEVICE_CLOSED_H
#define ORCHARD_SIM_MACHINE_THERMAL_DEVICE_CLOSED_H

#include "sim/machine/power/profile.h"
#include "sim/machine/thermal/device_curve.h"

struct device_closed_score {
    double begin_s, end_s;                       /* of the load: where the curve crosses half of its highest power */
    double rmse_k, bias_k;                       /* of the mean sensor of the die, over all points of the curve */
    double onset_s;                              /* from the beginning of the load until clocks fall; NAN = never */
    double first_w, first_mhz, last_w, last_mhz; /* P cluster, 25 to 35 s after the beginning and in the last 10 s */
    double chip_first_w, chip_last_w;            /* whole chip in the same two stretches */
    double measured_first_w, measured_last_w;    /* power of the curve in the same two stretches */
};
bool device_closed_score(const struct device_curve *curve, const struct chip *chip, const struct device *device,
                         const struct power_profile *load, struct device_closed_score *score, struct orch_error *error);

#endif
