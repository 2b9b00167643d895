/* What frameworks add to the hardware's own time, and how it was fitted. */
#ifndef ORCHARD_SIM_VALIDATE_OVERHEAD_H
#define ORCHARD_SIM_VALIDATE_OVERHEAD_H

#include <stddef.h>

/* One operation: the time that is missing, its bytes, and the time that errors are told relative to. */
struct overhead_sample {
    double missing_us, kib, measured_us;
};
struct overhead_fit {
    double operation_us, ns_per_kib;
    double error; /* mean relative error that remains */
};
/* The pair with the least mean relative error; ns_per_kib is not negative, operation_us at least `least_us`. */
struct overhead_fit overhead_fit(const struct overhead_sample *samples, size_t count, double least_us);

#endif
