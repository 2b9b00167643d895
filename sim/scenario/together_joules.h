/* Energy of workloads that run at the same time: what each one does is added, what is there anyway is counted once.
 *
 * Events keep their number and so their energy; being slowed only stretches the time in which cores are clocked. A workload's
 * slices are gated when it has ended for long enough. Memory and the rest of the chip are on throughout.
 */
#ifndef ORCHARD_SIM_SCENARIO_TOGETHER_JOULES_H
#define ORCHARD_SIM_SCENARIO_TOGETHER_JOULES_H

#include "sim/run/run_internal.h"

struct together_energy_part {
    const struct energy_run *run;          /* alone, or on the common time line */
    double start_s, end_s;                 /* submitted; last completion */
    double busy_s;                         /* of that at work, up to the end */
    uint64_t clusters[POWER_DOMAIN_COUNT]; /* of CPU domains, one bit each: where its cores are */
};
/* Fills clusters from the cores of a measure. */
void together_energy_place(struct together_energy_part *part, const struct run_measure *measure);

/* The whole as one run of `seconds`. */
void together_energy(const struct energy_model *model, const struct together_energy_part *part, unsigned count, double seconds,
                     struct energy_run *whole);
/* Energy of the events of one part, at the voltages it runs at. */
double together_dynamic_joules(const struct energy_model *model, const struct energy_run *run);

#endif
