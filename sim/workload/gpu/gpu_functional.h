/* Executes all threadgroups of a launch without timing them, on several host threads when the program's results do not depend on
 * the order of its threadgroups. Results and counts are the same whatever the number of threads.
 */
#ifndef ORCHARD_SIM_WORKLOAD_GPU_GPU_FUNCTIONAL_H
#define ORCHARD_SIM_WORKLOAD_GPU_GPU_FUNCTIONAL_H

#include "sim/workload/gpu/gpu_setup.h"

/* Dynamic counts of a pass. `issues` has one number per instruction of the program. */
struct gpu_totals {
    uint64_t instructions, active_lanes;
    uint64_t *issues;
};
bool gpu_totals_init(struct gpu_totals *totals, const struct gpu_program *program, struct orch_error *error);
void gpu_totals_free(struct gpu_totals *totals);
/* Adds what a threadgroup executor has counted since it was created. */
void gpu_totals_add(struct gpu_totals *totals, const struct gpu_group *group);
void gpu_totals_merge(struct gpu_totals *totals, const struct gpu_totals *more, const struct gpu_program *program);

/* The count of an instruction, times `factor`. What rounding takes is in *rest (0 before the first) and goes to the next one,
 * because the instructions of a loop would all be rounded alike. What was never issued stays so. */
uint64_t gpu_totals_scaled(uint64_t issues, double factor, double *rest);

/* What checks.sanitize found, once per kind and instruction. */
struct gpu_findings {
    char (*text)[400];
    size_t count;
};
void gpu_findings_free(struct gpu_findings *findings);

struct gpu_functional {
    unsigned threads;              /* upper limit; one is used when order matters, and for findings in the order of the grid */
    unsigned cores;                /* of the GPU, for the core number that programs can read */
    struct gpu_checks checks;      /* but the limit of instructions is the setup's */
    struct gpu_findings *findings; /* may be NULL */
};

/* False on a fault; *error explains that of the first faulting threadgroup in grid order, as gpu_setup_explain does. */
bool gpu_functional_run(const struct gpu_setup *setup, const struct gpu_functional *options, struct gpu_totals *totals,
                        struct orch_error *error);

#endif
