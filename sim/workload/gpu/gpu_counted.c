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

double gpu_counted_between(double first_rate, double last_rate, double begin, double end)
{
    if (first_rate <= 0 || last_rate <= 0 || begin <= 0 || end <= begin)
        return fmax(0, end - begin) * (first_rate + last_rate) / 2;
    const double power = log(first_rate / last_rate) / log(end / begin);
    if (fabs(power - 1) < 1e-6)
        return first_rate * begin * log(end / begin);
    return (end * last_rate - begin * first_rate) / (1 - power);
}

static void add_between(double *into, const double *first, const double *last, size_t count, double begin, double end)
{
    for (size_t i = 0; i < count; i++)
        into[i] += gpu_counted_between(first[i], last[i], begin, end);
}

void gpu_counted_add_between(struct gpu_counted *into, const struct gpu_counted *first, const struct gpu_counted *last,
                             double begin, double end)
{
    add_between(into->activity, first->activity, last->activity, ACT_COUNT, begin, end);
    add_between(into->memory, first->memory, last->memory, GPU_MEMORY_COUNTS, begin, end);
    add_between(into->stall_cycles, first->stall_cycles, last->stall_cycles, GPU_STALL_COUNT, begin, end);
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
