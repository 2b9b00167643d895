/* The time that frameworks add to that of the hardware, and its fit. */
#ifndef ORCHARD_SIM_PROVE_VALIDATE_OVERHEAD_H
#define ORCHARD_SIM_PROVE_VALIDATE_OVERHEAD_H

#include <stddef.h>

/* An operation: the missing time; how much it has of the two things on which time depends (one and KiB, or KiB in and KiB out);
 * and the time to which errors are relative. */
struct overhead_sample {
    double missing_us, times[2], measured_us;
};
struct overhead_fit {
    double us[2]; /* for each of the two things */
    double error; /* mean relative error that is left */
};
/* Finds the pair with the least mean relative error, with us[0] >= `least_us` and us[1] >= 0. */
struct overhead_fit overhead_fit(const struct overhead_sample *samples, size_t count, double least_us);

#endif
