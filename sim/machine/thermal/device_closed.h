/* A measured curve of a machine against the closed loop: a load on its cores, governor on, nothing measured goes in but when the
 * load began and ended and how warm the machine was.
 */
#ifndef ORCHARD_SIM_MACHINE_THERMAL_DEVICE_CLOSED_H
#define ORCHARD_SIM_MACHINE_THERMAL_DEVICE_CLOSED_H

#include "sim/machine/power/profile.h"
#include "sim/machine/thermal/device_curve.h"

struct device_closed_score {
    double begin_s, end_s;                       /* of the load, read off the curve: it crosses half of its highest watts */
    double rmse_k, bias_k;                       /* mean sensor of the die, over all points of the curve */
    double onset_s;                              /* from the begin until clocks fall; NAN = never */
    double first_w, first_mhz, last_w, last_mhz; /* P cluster, 25 to 35 s after the begin and in the last 10 s */
    double chip_first_w, chip_last_w;            /* the whole chip, then */
    double measured_first_w, measured_last_w;    /* the curve's watts, then */
};
bool device_closed_score(const struct device_curve *curve, const struct chip *chip, const struct device *device,
                         const struct power_profile *load, struct device_closed_score *score, struct orch_error *error);

#endif
