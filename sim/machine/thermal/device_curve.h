/* A measured curve of a machine with the columns time_s,soc_power_W,soc_temp_C. It is scored in an open loop: the measured power
 * goes in and temperatures are compared. */
#ifndef ORCHARD_SIM_MACHINE_THERMAL_DEVICE_CURVE_H
#define ORCHARD_SIM_MACHINE_THERMAL_DEVICE_CURVE_H

#include "sim/chip/chip.h"
#include "sim/machine/device/device.h"

#include <stddef.h>

struct device_curve {
    double *time_s, *watts, *celsius; /* owned */
    size_t count;
};
/* Whether the text begins with the header of a curve. */
bool device_curve_recognise(const char *text, size_t size);
/* False with "NAME:LINE: reason". Times must rise, and power must not be negative. Free with device_curve_free. */
bool device_curve_parse(const char *name, const char *text, size_t size, struct device_curve *curve, struct orch_error *error);
void device_curve_free(struct device_curve *curve);

struct device_curve_score {
    double rmse_k, bias_k, worst_k, worst_s;
};
/* The machine starts at the first temperature of the curve. Up to 1.6 W of the power belong to the rest of the chip, anything
 * above to the P cluster, which is how the curves of loaded CPUs were made (ThomasKaiser/Knowledge). */
bool device_curve_score(const struct device_curve *curve, const struct chip *chip, const struct device *device,
                        struct device_curve_score *score, struct orch_error *error);

#endif
