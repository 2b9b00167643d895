/* Energy of workloads that run at the same time: what each of them does is added up, what is on anyway is counted once.
 *
 * Slowing a workload down changes neither the number of its events nor their energy; it only stretches the time in which its
 * cores are clocked. The slices of a workload are power-gated some time after it has ended. Memory and the rest of the chip are
 * on throughout.
 */
#ifndef ORCHARD_SIM_SCENARIO_TOGETHER_JOULES_H
#define ORCHARD_SIM_SCENARIO_TOGETHER_JOULES_H

#include "sim/run/run_internal.h"

struct together_energy_part {
    const struct energy_run *run;          /* alone, or on the common time line */
    double start_s, end_s;                 /* submitted; last completion */
    double busy_s;                         /* how much of that it is at work, up to end_s */
    uint64_t clusters[POWER_DOMAIN_COUNT]; /* clusters that its slices of each domain are in, one bit per cluster */
};
/* Fills part->clusters from the cores of a measure. */
void together_energy_place(struct together_energy_part *part, const struct run_measure *measure);

/* Describes the whole as one run of `seconds`. */
void together_energy(const struct energy_model *model, const struct together_energy_part *part, unsigned count, double seconds,
                     struct energy_run *whole);
/* Energy of the events of one part, at the voltages at which it runs. */
double together_dynamic_joules(const struct energy_model *model, const struct energy_run *run);

#endif
