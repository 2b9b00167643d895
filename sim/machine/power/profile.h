/* What one repetition of a workload costs in time and energy, at one clock and at others: the bridge from a run to sustained
 * operation under a governor.
 *
 * A run gives activity per reporting domain, times and the slices that worked. Time splits into a part that scales with the clock
 * of the domain that paces the work and a part that does not (memory, firmware, host); the split comes from simulating the
 * workload at two clocks, never from a formula.
 */
#ifndef ORCHARD_SIM_MACHINE_POWER_PROFILE_H
#define ORCHARD_SIM_MACHINE_POWER_PROFILE_H

#include "power/energy.h"

struct power_profile {
    enum power_domain driver;                    /* domain whose clock paces it */
    double mhz;                                  /* of the driver, of the run below */
    double seconds;                              /* of one repetition at that clock, overheads included */
    double fixed_s;                              /* of the seconds: do not change with the driver's clock */
    unsigned slices[POWER_DOMAIN_COUNT];         /* that take part */
    double running_s[POWER_DOMAIN_COUNT];        /* slice-seconds at work, at that clock; they scale as the time does */
    double waiting_s[POWER_DOMAIN_COUNT];        /* slice-seconds clocked without work */
    double shared_running_s[POWER_DOMAIN_COUNT]; /* seconds in which any slice worked, of CPU domains summed over clusters */
    double shared_waiting_s[POWER_DOMAIN_COUNT]; /* seconds in which one was clocked, but none worked, likewise */
    double event_j[POWER_DOMAIN_COUNT];          /* energy of events at nominal voltage */
    double own_mhz[POWER_DOMAIN_COUNT]; /* not 0: repeats beside the driver at a pace of its own, this was its clock in the run */
    double flops, dram_bytes;
};

/* Seconds of one repetition at another clock of the driver. */
double power_profile_seconds(const struct power_profile *profile, double mhz);

#endif
