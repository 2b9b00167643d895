/* Executes threadgroups without timing them; their accesses reach the caches at no time. What is timed next finds the caches as
 * the threadgroups before it leave them.
 *
 * Threadgroups run one by one here, but side by side on the GPU, where one spends its life waiting for what it loads: most load
 * when they begin and store when they end, when as many others have begun as the GPU holds. So stores come that much later than
 * loads.
 */
#ifndef ORCHARD_SIM_WORKLOAD_GPU_GPU_WARM_H
#define ORCHARD_SIM_WORKLOAD_GPU_GPU_WARM_H

#include "sim/workload/gpu/gpu_functional.h"
#include "units/mem/mem_timing.h"

struct gpu_warmer;

/* `port` has one of each of the `cores`, which hold `resident` threadgroups at a time. Ports and setup must outlive the warmer.
 * NULL when memory is out. */
struct gpu_warmer *gpu_warmer_create(const struct gpu_setup *setup, struct mem_port *const *port, unsigned cores,
                                     uint64_t resident);
void gpu_warmer_free(struct gpu_warmer *warmer);

/* Threadgroups [first, end). The last ones' stores come when more are run, in this or another call: a GPU that goes on has as
 * many under way all the time. False on a fault, or with *fault untouched when memory is out. */
bool gpu_warmer_run(struct gpu_warmer *warmer, uint64_t first, uint64_t end, double now_ns, struct unit_fault *fault);
/* Or now. */
void gpu_warmer_settle(struct gpu_warmer *warmer, double now_ns);
/* Since creation: instructions of simdgroups, and accesses that brought lines into L2, and into the SLC. */
struct gpu_warmed {
    uint64_t work, into_l2, into_slc;
};
struct gpu_warmed gpu_warmer_counts(const struct gpu_warmer *warmer);
/* Adds what it executed. */
void gpu_warmer_add_totals(const struct gpu_warmer *warmer, struct gpu_totals *totals);

#endif
