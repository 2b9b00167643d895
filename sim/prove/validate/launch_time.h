/* Device time of one kernel of the GPU library on an opened chip, from a few waves of its threadgroups. */
#ifndef ORCHARD_SIM_PROVE_VALIDATE_LAUNCH_TIME_H
#define ORCHARD_SIM_PROVE_VALIDATE_LAUNCH_TIME_H

#include "sim/workload/gpu/gpu_library.h"
#include "sim/soc/soc.h"
#include "units/gpu/gpu_timing.h"

struct launch_time {
    struct soc *soc;
    enum gpu_generation generation; /* of the code */
    double slc_bytes, l2_bytes;     /* of the whole chip; the GPU's L2 */
};

/* Device time of a kernel and, in the same unit, what the busiest core spent it on; traffic of DRAM. */
struct launch_spent {
    double ns, stalls_ns[GPU_STALL_COUNT], read_bytes, write_bytes;
};

void launch_spent_add(struct launch_spent *to, const struct launch_spent *part, double times); /* the same one: makes it longer */

/* `whole_bytes`: what the operation touches from one time to the next, which decides what caches still hold of it. */
bool launch_time_kernel(const struct launch_time *t, const struct gpu_library *library, double whole_bytes,
                        struct launch_spent *spent, struct orch_error *error);

#endif
