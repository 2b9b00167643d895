/* From what a run did to joules: activity priced by domain, clock trees and leakage of the slices that ran, waited or were gated,
 * at the clocks and voltages of the run. Nothing here knows workloads: only counts, times and clocks.
 *
 *     struct energy_model model;
 *     energy_model_open(&model, chip, &error);
 *     struct energy_run run;
 *     energy_run_start(&run, &model, seconds, device_s);
 *     energy_run_add_activity(&run, &model, &activity, POWER_GPU);
 *     energy_run_set_slices(&run, &model, POWER_GPU, cores, cores * device_s, mhz);
 *     energy_run_set_memory(&run, &model);
 *     energy_report(&run, &model, energy_reference_celsius(&model), &report);
 */
#ifndef ORCHARD_SIM_MACHINE_POWER_RUN_ENERGY_H
#define ORCHARD_SIM_MACHINE_POWER_RUN_ENERGY_H

#include "sim/chip/chip_power.h"
#include "sim/machine/power/profile.h"
#include "sim/soc/soc.h"

/* What the energies of a chip depend on, read once. */
struct energy_model {
    struct power_params params;
    struct opp_table table[POWER_DOMAIN_COUNT];
    unsigned slices[POWER_DOMAIN_COUNT]; /* slices that the chip has */
    double memory_gbps;
};
/* On failure the error names the key that is not known for this chip. */
bool energy_model_open(struct energy_model *model, const struct chip *chip, struct orch_error *error);
double energy_reference_celsius(const struct energy_model *model); /* The temperature at which the chip file gives leakage. */

struct energy_run {
    struct power_profile profile; /* fixed_s is NAN: a single run cannot tell it */
    double device_s;              /* part of profile.seconds in which the unit was at work */
    double mhz[POWER_DOMAIN_COUNT], volts[POWER_DOMAIN_COUNT];
    double memory_bytes; /* read from and written to SLC and DRAM */
};

struct energy_report {
    struct power_energy domain[POWER_DOMAIN_COUNT];
    double joules, watts, busy_watts; /* busy: while the unit was at work */
};

/* Starts with everything behind closed gates except the always-on rest of the chip and the memory side. */
void energy_run_start(struct energy_run *run, const struct energy_model *model, double seconds, double device_s);
/* Adds the events that the unit of domain `from` reported. */
void energy_run_add_activity(struct energy_run *run, const struct energy_model *model, const struct activity *activity,
                             enum power_domain from);
/* `slices` of the domain have a clock throughout the run; they work for running_s slice-seconds. Also sets the operating point of
 * the domain. */
void energy_run_set_slices(struct energy_run *run, const struct energy_model *model, enum power_domain domain, unsigned slices,
                           double running_s, double mhz);
/* To be called after the activity is added: SLC, fabric and DRAM work for the share of their bandwidth that was used. */
void energy_run_set_memory(struct energy_run *run, const struct energy_model *model);

/* Use of CPU cores and AMX blocks, gathered while their timing still has the times of a pass. */
struct energy_cores {
    double seconds[POWER_DOMAIN_COUNT];        /* slice-seconds at work */
    double shared_seconds[POWER_DOMAIN_COUNT]; /* cluster-seconds in which any slice of the cluster worked */
    double mhz[POWER_DOMAIN_COUNT];            /* mean over the slices */
    unsigned slices[POWER_DOMAIN_COUNT], clusters[POWER_DOMAIN_COUNT];
    double rail_mhz; /* clock of the cores beside the AMX blocks, which are on the same rail */
    enum power_domain rail;
};
void energy_cores_add(struct energy_cores *to, struct soc_core *const *cores, unsigned count);
/* The core worked for so much longer, and its block did. */
void energy_cores_more(struct energy_cores *to, const struct soc_core *core, double core_seconds, double block_seconds);
void energy_cores_sum(struct energy_cores *to,
                      const struct energy_cores *pass); /* Adds another pass, on the same cores or
                                                                  others: what one of them used has a clock all along. */
void energy_run_set_cores(struct energy_run *run, const struct energy_model *model, const struct energy_cores *cores);

/* Energy at a die temperature. */
void energy_report(const struct energy_run *run, const struct energy_model *model, double celsius, struct energy_report *report);

#endif
