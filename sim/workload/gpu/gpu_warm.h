/* Executes threadgroups without timing them. Their accesses fill the caches but take no simulated time, so that what is timed
 * next finds the caches as the threadgroups before it leave them.
 *
 * Here threadgroups run one by one, on the GPU side by side. There a threadgroup spends most of its time waiting for loads: it
 * loads when it begins and stores when it ends, and by then as many others have begun as the GPU holds. So stores come that many
 * threadgroups later than loads.
 */
#ifndef ORCHARD_SIM_WORKLOAD_GPU_GPU_WARM_H
#define ORCHARD_SIM_WORKLOAD_GPU_GPU_WARM_H

#include "sim/workload/gpu/gpu_functional.h"
#include "units/mem/mem_timing.h"

struct gpu_warmer;

/* `port` has one port for each of the `cores`, which hold `resident` threadgroups at a time. Ports and setup must outlive the
 * warmer. NULL when memory ran out. */
struct gpu_warmer *gpu_warmer_create(const struct gpu_setup *setup, struct mem_port *const *port, unsigned cores,
                                     uint64_t resident);
void gpu_warmer_free(struct gpu_warmer *warmer);

/* Runs threadgroups [first, end). The stores of the last ones reach the caches when more are run, in this call or another,
 * because a GPU at work has as many under way all the time. False on a fault, or, with *fault untouched, when memory ran out. */
bool gpu_warmer_run(struct gpu_warmer *warmer, uint64_t first, uint64_t end, double now_ns, struct unit_fault *fault);
/* Lets the outstanding stores reach the caches now. */
void gpu_warmer_settle(struct gpu_warmer *warmer, double now_ns);
/* Counts since creation: instructions of simdgroups, accesses that brought lines into the L2, and those into the SLC. */
struct gpu_warmed {
    uint64_t work, into_l2, into_slc;
};
struct gpu_warmed gpu_warmer_counts(const struct gpu_warmer *warmer);

#endif
