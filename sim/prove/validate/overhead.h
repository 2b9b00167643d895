/* What frameworks add to the hardware's own time, and how it was fitted. */
#ifndef ORCHARD_SIM_PROVE_VALIDATE_OVERHEAD_H
#define ORCHARD_SIM_PROVE_VALIDATE_OVERHEAD_H

#include <stddef.h>

/* One operation: the time that is missing, how often it has the two things that time is told for (once and KiB, KiB in and KiB
 * out), and the time that errors are told relative to. */
struct overhead_sample {
    double missing_us, times[2], measured_us;
};
struct overhead_fit {
    double us[2]; /* of each of the two things */
    double error; /* mean relative error that remains */
};
/* The pair with the least mean relative error: us[0] is at least `least_us`, us[1] not negative. */
struct overhead_fit overhead_fit(const struct overhead_sample *samples, size_t count, double least_us);

#endif
