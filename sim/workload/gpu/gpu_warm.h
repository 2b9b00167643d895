/* Executes threadgroups without timing them. Their accesses fill the caches but take no simulated time, so that what is timed
 * next finds the caches as the threadgroups before it leave them.
 *
 * Here threadgroups run one by one, on the GPU side by side. There a threadgroup spends most of its time waiting for loads: it
 * loads when it begins and stores when it ends, and by then as many others have begun as the GPU holds. So stores come that many
 * threadgroups later than loads.
 */
#ifndef ORCHARD_SIM_WORKLOAD_GPU_GPU_WARM_H
#define ORCHARD_SIM_WORKLOAD_GPU_GPU_WARM_H

#include "sim/workload/gpu/gpu_replay.h"
#include "sim/workload/gpu/gpu_setup.h"
#include "units/mem/mem_timing.h"

/* Threadgroups [first, end), on so many cores that hold `resident` of them at a time, at some moment. */
struct gpu_warming {
    uint64_t first, end, resident;
    unsigned cores;
    double now_ns;
    uint64_t before;                 /* of so many threadgroups before the first one, stores are still to come */
    bool goes_on;                    /* the launch goes on: the stores of the last `resident` ones are still to come */
    const struct gpu_replay *replay; /* plays those that it has; NULL = all are executed */
};

/* Runs these threadgroups. `port` has one port for each core. False on a fault, or, with *fault untouched, when memory ran out.
 */
bool gpu_warm(const struct gpu_setup *setup, struct mem_port *const *port, const struct gpu_warming *what,
              struct unit_fault *fault);

#endif
