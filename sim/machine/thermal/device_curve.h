/* A measured curve of a machine: time_s,soc_power_W,soc_temp_C. Scored open loop: the measured watts go in, temperatures are
 * compared.
 */
#ifndef ORCHARD_SIM_MACHINE_THERMAL_DEVICE_CURVE_H
#define ORCHARD_SIM_MACHINE_THERMAL_DEVICE_CURVE_H

#include "sim/chip/chip.h"
#include "sim/machine/device/device.h"

#include <stddef.h>

struct device_curve {
    double *time_s, *watts, *celsius; /* owned */
    size_t count;
};
/* True when the text begins with the header of a curve. */
bool device_curve_recognise(const char *text, size_t size);
/* False with "NAME:LINE: reason". Times rise, power is not negative. Free with device_curve_free. */
bool device_curve_parse(const char *name, const char *text, size_t size, struct device_curve *curve, struct orch_error *error);
void device_curve_free(struct device_curve *curve);

struct device_curve_score {
    double rmse_k, bias_k, worst_k, worst_s;
};
/* The machine starts at the curve's first temperature. Of the power, up to 1.6 W belong to the rest of the chip, what is above to
 * the P cluster: how the curves of loaded CPUs were made (ThomasKaiser/Knowledge). */
bool device_curve_score(const struct device_curve *curve, const struct chip *chip, const struct device *device,
                        struct device_curve_score *score, struct orch_error *error);

#endif
