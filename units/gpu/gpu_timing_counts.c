#include "units/gpu/gpu_timing_counts.h"

#include <stdlib.h>
#include <string.h>

bool gpu_profile_create(struct gpu_profile *profile, uint32_t count)
{
    *profile = (struct gpu_profile){.count = count, .row = calloc((size_t)count + 1, sizeof *profile->row)};
    return profile->row != NULL;
}

void gpu_profile_free(struct gpu_profile *profile)
{
    free(profile->row);
    *profile = (struct gpu_profile){.count = 0};
}

void gpu_profile_add(struct gpu_profile *into, const struct gpu_profile *from)
{
    for (uint32_t i = 0; i < into->count && i < from->count; i++) {
        struct gpu_profile_row *const a = &into->row[i];
        const struct gpu_profile_row *const b = &from->row[i];
        a->issues += b->issues;
        a->lanes += b->lanes;
        a->empty += b->empty;
        a->accesses += b->accesses;
        a->units += b->units;
        a->least_units += b->least_units;
        for (unsigned r = 0; r < GPU_STALL_COUNT; r++)
            a->cycles[r] += b->cycles[r];
    }
    into->idle_cycles += from->idle_cycles;
}

void gpu_profile_clear(struct gpu_profile *profile)
{
    memset(profile->row, 0, profile->count * sizeof *profile->row);
    profile->idle_cycles = 0;
}
