/* Time of the host, for what is reported as host_seconds: seconds since some moment, never set back. */
#ifndef ORCHARD_SIM_BASE_HOST_TIME_H
#define ORCHARD_SIM_BASE_HOST_TIME_H

#include <time.h>

static inline double host_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
