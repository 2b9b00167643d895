/* How many instructions a simdgroup of each threadgroup of a launch executes, as far as it is known from some of them. */
#ifndef ORCHARD_SIM_WORKLOAD_GPU_GPU_WORK_H
#define ORCHARD_SIM_WORKLOAD_GPU_GPU_WORK_H

#include <stdint.h>

#define GPU_WORK_KNOWN 8
#define GPU_WORK_AXES  3

/* Known at some places, in ascending order, and taken to lie on straight lines between them. */
struct gpu_work_line {
    unsigned known;
    uint64_t at[GPU_WORK_KNOWN];
    double instructions[GPU_WORK_KNOWN];
};

/* Either along the numbers of threadgroups (axes = 0), or, where the work follows the place in the grid, as the sum of what each
 * of its axes adds: attention with a mask has less to do for the first rows of every head. */
struct gpu_work {
    struct gpu_work_line number;
    unsigned axes;
    uint64_t extent[GPU_WORK_AXES]; /* threadgroups along each axis; numbers go along the first one first */
    struct gpu_work_line axis[GPU_WORK_AXES];
};

double gpu_work_of(const struct gpu_work *work, uint64_t group);
/* The sum over threadgroups [0, end). */
double gpu_work_before(const struct gpu_work *work, uint64_t end);
/* Makes all of it so many times as large. */
void gpu_work_scale(struct gpu_work *work, double factor);

#endif
