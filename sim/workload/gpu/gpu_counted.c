#include "sim/workload/gpu/gpu_counted.h"

#include <math.h>
#include <string.h>

_Static_assert(sizeof(struct mem_counters) % sizeof(uint64_t) == 0, "a row of 64-bit counters");

void gpu_counted_set(struct gpu_counted *counts, const struct activity *activity, const struct mem_counters *memory,
                     const double stall_cycles[GPU_STALL_COUNT])
{
    uint64_t row[GPU_MEMORY_COUNTS];
    memcpy(row, memory, sizeof row);
    for (size_t i = 0; i < ACT_COUNT; i++)
        counts->activity[i] = (double)activity->count[i];
    for (size_t i = 0; i < GPU_MEMORY_COUNTS; i++)
        counts->memory[i] = (double)row[i];
    memcpy(counts->stall_cycles, stall_cycles, sizeof counts->stall_cycles);
}

void gpu_counted_add(struct gpu_counted *into, const struct gpu_counted *from, double factor)
{
    for (size_t i = 0; i < ACT_COUNT; i++)
        into->activity[i] += factor * from->activity[i];
    for (size_t i = 0; i < GPU_MEMORY_COUNTS; i++)
        into->memory[i] += factor * from->memory[i];
    for (size_t i = 0; i < GPU_STALL_COUNT; i++)
        into->stall_cycles[i] += factor * from->stall_cycles[i];
}

static uint64_t more(uint64_t count, double by)
{
    const double sum = (double)count + by;
    return sum > 0 ? (uint64_t)llround(sum) : 0;
}

void gpu_counted_give(const struct gpu_counted *counts, struct activity *activity, struct mem_counters *memory)
{
    uint64_t row[GPU_MEMORY_COUNTS];
    memcpy(row, memory, sizeof row);
    for (size_t i = 0; i < ACT_COUNT; i++)
        activity->count[i] = more(activity->count[i], counts->activity[i]);
    for (size_t i = 0; i < GPU_MEMORY_COUNTS; i++)
        row[i] = more(row[i], counts->memory[i]);
    memcpy(memory, row, sizeof row);
}
