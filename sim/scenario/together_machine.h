/* The shared resources of a chip by number, and what a workload that ran alone moves through each. For together*.c. */
#ifndef ORCHARD_SIM_SCENARIO_TOGETHER_MACHINE_H
#define ORCHARD_SIM_SCENARIO_TOGETHER_MACHINE_H

#include "sim/chip/chip_units.h"
#include "sim/soc/dram_share.h"
#include "sim/soc/fair_share.h"
#include "sim/run/run_internal.h"

struct together_machine {
    struct fair_resource resource[FAIR_RESOURCES_MAX];
    char name[FAIR_RESOURCES_MAX][32];
    unsigned count;
    unsigned l2[MEM_CLUSTERS_MAX], read[MEM_CLUSTERS_MAX], write[MEM_CLUSTERS_MAX], amx[MEM_CLUSTERS_MAX];
    unsigned slc[MEM_DIES_MAX], dram[MEM_DIES_MAX], link[MEM_DIES_MAX];
    unsigned ane; /* the Neural Engine's path to memory */
    unsigned clusters, cpu_clusters;
    struct mem_params memory;
    struct dram_share share; /* of one die */
    double gpu_cores;
};

/* Lists the resources of a chip of which active[c] cores are busy in CPU cluster c. */
bool together_machine_open(struct together_machine *machine, const struct chip *chip, const unsigned *active,
                           struct orch_error *error);

/* What the busy phase of a run moves through each resource, in the units of that resource. */
struct together_load {
    double bytes[FAIR_RESOURCES_MAX];
    double busy_ns, latency_ns;
    unsigned requesters;
};
void together_load_read(const struct together_machine *machine, const struct run *run, const struct run_measure *m,
                        const struct run_result *alone, struct together_load *load);

#endif
