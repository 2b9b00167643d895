/* Everything that a timed pass counts, as numbers that can be scaled: what was not timed is taken to count as what was. */
#ifndef ORCHARD_SIM_WORKLOAD_GPU_GPU_COUNTED_H
#define ORCHARD_SIM_WORKLOAD_GPU_GPU_COUNTED_H

#include "power/activity.h"
#include "units/gpu/gpu_timing.h"
#include "units/mem/mem_timing.h"

/* struct mem_counters is a row of counters. */
#define GPU_MEMORY_COUNTS (sizeof(struct mem_counters) / sizeof(uint64_t))

struct gpu_counted {
    double activity[ACT_COUNT];
    double memory[GPU_MEMORY_COUNTS];
    double stall_cycles[GPU_STALL_COUNT]; /* of a core, in the mean */
};

/* Reads what has been counted since the pass began. */
struct gpu_reader {
    void (*read)(void *context, struct gpu_counted *counts);
    void *context;
};

/* Sets all counts. */
void gpu_counted_set(struct gpu_counted *counts, const struct activity *activity, const struct mem_counters *memory,
                     const double stall_cycles[GPU_STALL_COUNT]);
/* *into += factor times *from. */
void gpu_counted_add(struct gpu_counted *into, const struct gpu_counted *from, double factor);
/* The sum of a rate over work from `begin` to `end` that is a power of the work: what a launch reads for the first time grows
 * ever more slowly. Where a rate is zero, it changes steadily instead. */
double gpu_counted_between(double first_rate, double last_rate, double begin, double end);
/* Adds the same for all counts per work. */
void gpu_counted_add_between(struct gpu_counted *into, const struct gpu_counted *first, const struct gpu_counted *last,
                             double begin, double end);
/* Adds the counts, rounded, to those of a pass; results below zero become zero. */
void gpu_counted_give(const struct gpu_counted *counts, struct activity *activity, struct mem_counters *memory);

#endif
