/* Executes threadgroups without timing them; their accesses reach the caches at no time. What is timed next finds the caches as the
 * threadgroups before it leave them.
 */
#ifndef ORCHARD_SIM_AGX_GPU_WARM_H
#define ORCHARD_SIM_AGX_GPU_WARM_H

#include "sim/agx/gpu_setup.h"
#include "units/mem/mem_timing.h"

struct gpu_warmer;

/* `port` has one of each of the `cores`. Both and the setup must outlive the warmer. NULL when memory is out. */
struct gpu_warmer *gpu_warmer_create(const struct gpu_setup *setup, struct mem_port *const *port, unsigned cores);
void gpu_warmer_free(struct gpu_warmer *warmer);

/* Threadgroups [first, end), one after another around the cores. False on a fault, or with *fault untouched when memory is out. */
bool gpu_warmer_run(struct gpu_warmer *warmer, uint64_t first, uint64_t end, double now_ns, struct unit_fault *fault);
/* Since creation: instructions of simdgroups, and accesses that brought lines into L2, and into the SLC. */
struct gpu_warmed {
    uint64_t work, into_l2, into_slc;
};
struct gpu_warmed gpu_warmer_counts(const struct gpu_warmer *warmer);

#endif
