/* Joules of workloads by domain over a step, at given clocks and temperatures. */
#ifndef ORCHARD_SIM_MACHINE_SUSTAIN_LOAD_H
#define ORCHARD_SIM_MACHINE_SUSTAIN_LOAD_H

#include "sim/machine/sustain/machine.h"

struct load_step {
    double joules[POWER_DOMAIN_COUNT];
    double utilisation[POWER_DOMAIN_COUNT]; /* slices at work over all slices */
    double repetitions[SUSTAIN_WORKLOADS];
    double pace[SUSTAIN_WORKLOADS]; /* share of the workload's own speed that is left to it */
    double dram_bytes;
};

/* Slices that the workloads keep busy, at most those of the domain; zeros while nothing runs. */
void load_busy(const struct sustain_setup *setup, bool running, unsigned busy[POWER_DOMAIN_COUNT]);
/* Share of the time in which the driver of a workload works at this clock; below 1 when it waits for its next start. */
double load_duty(const struct sustain_setup *setup, unsigned workload, double mhz, double pace);
/* Share of a workload's time that does not scale with its driver's clock. */
double load_memory_bound(const struct power_profile *profile, double mhz);
/* duty: share of the time in which a domain may work, by domain; NULL = always. Joules, bytes and repetitions go to *step. */
void load_step(const struct sustain_setup *setup, const struct machine *m, bool running, const double mhz[POWER_DOMAIN_COUNT],
               const double *duty, const double celsius[POWER_DOMAIN_COUNT], double seconds, struct load_step *step);

#endif
