/* What each instruction of a program cost in a launch, and how it used the memory. Counted by the timing side when it is asked
 * to.
 *
 * Every cycle of a scheduler belongs to one instruction: to the one that issues, or, while none can, to the next one of the
 * simdgroup that will issue first, with the reason for which that one waits.
 */
#ifndef ORCHARD_UNITS_GPU_GPU_TIMING_COUNTS_H
#define ORCHARD_UNITS_GPU_GPU_TIMING_COUNTS_H

#include "units/gpu/gpu_timing_stall.h"

#include <stdbool.h>
#include <stdint.h>

struct gpu_profile_row {
    uint64_t issues, lanes; /* instructions of simdgroups; their active lanes */
    uint64_t empty;         /* issues without an active lane */
    /* Accesses with at least one active lane. Of device and stack memory: the lines touched, and how few would do if the lanes'
     * bytes lay side by side. Of threadgroup memory: passes of its banks, and how few would do without conflicts. */
    uint64_t accesses, units, least_units;
    double cycles[GPU_STALL_COUNT]; /* of all schedulers */
};

struct gpu_profile {
    uint32_t count; /* instructions of the program */
    struct gpu_profile_row *row;
    double idle_cycles; /* of schedulers without a simdgroup, or whose simdgroups are being started */
};

/* False when memory is out. */
bool gpu_profile_create(struct gpu_profile *profile, uint32_t count);
void gpu_profile_free(struct gpu_profile *profile);
/* *into += *from; both of the same program. */
void gpu_profile_add(struct gpu_profile *into, const struct gpu_profile *from);
/* All counts become 0. */
void gpu_profile_clear(struct gpu_profile *profile);

#endif
