/* Executes threadgroups without timing them. Their accesses fill the caches but take no simulated time, so that what is timed
 * next finds the caches as the threadgroups before it leave them.
 *
 * Here threadgroups run one by one, on the GPU side by side. There a threadgroup spends most of its time waiting for loads: it
 * loads when it begins and stores when it ends, and by then as many others have begun as the GPU holds. So stores come that many
 * threadgroups later than loads.
 */
#ifndef ORCHARD_SIM_WORKLOAD_GPU_GPU_WARM_H
#define ORCHARD_SIM_WORKLOAD_GPU_GPU_WARM_H

#include "sim/workload/gpu/gpu_setup.h"
#include "units/mem/mem_timing.h"

/* Runs threadgroups [0, end). `port` has one port for each of the `cores`, which hold `resident` threadgroups at a time. False on
 * a fault, or, with *fault untouched, when memory ran out. */
bool gpu_warm(const struct gpu_setup *setup, struct mem_port *const *port, unsigned cores, uint64_t resident, uint64_t end,
              struct unit_fault *fault);

#endif
