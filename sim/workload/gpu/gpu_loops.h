/* The long loops of a GPU program: those whose laps are so many that some stand for the others. */
#ifndef ORCHARD_SIM_WORKLOAD_GPU_GPU_LOOPS_H
#define ORCHARD_SIM_WORKLOAD_GPU_GPU_LOOPS_H

#include "sim/workload/gpu/gpu_setup.h"

/* Marks the jumps back of the long loops in lap[gpu_program_count], after executing the threadgroup with this number for what
 * steers it. Of nested loops the outermost long one is marked. *found is their number. False on a fault, or, with *fault
 * untouched, when memory ran out. */
bool gpu_loops_find(const struct gpu_setup *setup, uint64_t group, bool *lap, unsigned *found, struct unit_fault *fault);

/* By instruction: whether a marked jump goes back to it. The caller frees it; NULL when memory ran out. */
bool *gpu_loops_heads(const struct gpu_program *program, const bool *lap);

#endif
