/* What one repetition of a workload costs in time and energy, at one clock and at others: the bridge from a run to sustained
 * operation under a governor.
 *
 * A run gives activity per reporting domain, times, and the slices that worked. Time splits into a part that scales with the
 * clock of the domain that paces the work and a part that does not (memory, firmware, host). The split comes from simulating the
 * workload at two clocks, never from a formula.
 */
#ifndef ORCHARD_SIM_MACHINE_POWER_PROFILE_H
#define ORCHARD_SIM_MACHINE_POWER_PROFILE_H

#include "power/energy.h"

struct power_profile {
    enum power_domain driver;                    /* domain whose clock paces the work */
    double mhz;                                  /* clock of the driver in the run that the values below describe */
    double seconds;                              /* time of one repetition at that clock, with overheads */
    double fixed_s;                              /* part of the seconds that does not change with the driver's clock */
    unsigned slices[POWER_DOMAIN_COUNT];         /* slices that take part */
    double running_s[POWER_DOMAIN_COUNT];        /* slice-seconds at work, at that clock; they scale as the time does */
    double waiting_s[POWER_DOMAIN_COUNT];        /* slice-seconds with a clock but without work */
    double shared_running_s[POWER_DOMAIN_COUNT]; /* seconds in which any slice worked; summed over clusters for CPU domains */
    double shared_waiting_s[POWER_DOMAIN_COUNT]; /* seconds in which a slice had a clock but none worked; summed likewise */
    double event_j[POWER_DOMAIN_COUNT];          /* energy of events at nominal voltage */
    double own_mhz[POWER_DOMAIN_COUNT]; /* not 0: the domain repeats beside the driver at a pace of its own, and this was its
                                           clock in the run */
    double flops, dram_bytes;
};

/* Seconds of one repetition at another clock of the driver. */
double power_profile_seconds(const struct power_profile *profile, double mhz);

/* Adds `times` repetitions that each take `stretch` times as long, without the driver, its clock and the fixed part, which stay.
 */
void power_profile_add(struct power_profile *to, const struct power_profile *profile, double times, double stretch);

#endif
