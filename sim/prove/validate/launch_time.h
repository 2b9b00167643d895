/* Device time of a kernel of the GPU library on an open chip, from a few waves of its threadgroups. */
#ifndef ORCHARD_SIM_PROVE_VALIDATE_LAUNCH_TIME_H
#define ORCHARD_SIM_PROVE_VALIDATE_LAUNCH_TIME_H

#include "sim/workload/gpu/gpu_library.h"
#include "sim/soc/soc.h"
#include "units/gpu/gpu_timing.h"

struct launch_time {
    struct soc *soc;
    enum gpu_generation generation; /* generation of the code that runs */
    double slc_bytes, l2_bytes;     /* SLC of the whole chip; L2 of the GPU */
};

/* Device time of a kernel; the same time by what the busiest core spent it on; DRAM traffic. */
struct launch_spent {
    double ns, stalls_ns[GPU_STALL_COUNT], read_bytes, write_bytes;
};

/* Adds a part so many times. */
void launch_spent_add(struct launch_spent *to, const struct launch_spent *part, double times);

/* `whole_bytes` is what the operation touches between two of its runs; it decides what the caches still hold. */
bool launch_time_kernel(const struct launch_time *t, const struct gpu_library *library, double whole_bytes,
                        struct launch_spent *spent, struct orch_error *error);

#endif
