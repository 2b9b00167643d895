/* Counting by instruction, for schedulers that are compiled with GPU_PROFILED 1 (gpu_timing_core_profiled.c). In the others these
 * functions are empty, so that nobody pays who has not asked. Times are the same with and without. */
#ifndef ORCHARD_UNITS_GPU_GPU_TIMING_PROFILE_H
#define ORCHARD_UNITS_GPU_GPU_TIMING_PROFILE_H

#include "units/gpu/gpu_timing_scan.h"

#ifndef GPU_PROFILED
#define GPU_PROFILED 0
#endif

/* Cycles of a scheduler belong to what it waits for. */
static inline void profile_spend(const struct gpu_core_timing *core, const struct gpu_scheduler *s, double to, uint8_t why)
{
    if (GPU_PROFILED && to > s->time)
        gpu_profile_charge(core->timing, s->waiting, (enum gpu_stall)why, to - s->time);
}

/* Lines among the entries of a record: several entries of a store may be of one line. */
static inline unsigned lines_of(const struct gpu_simd *simd, const struct gpu_trace_record *record)
{
    const struct gpu_trace_line *line = simd->trace->line + simd->trace->lines_read;
    unsigned lines = 0;
    for (unsigned i = 0; i < record->lines; i++)
        lines += i == 0 || line[i].address / GPU_LINE_BYTES != line[i - 1].address / GPU_LINE_BYTES;
    return lines;
}

static inline void profile_access(struct gpu_profile_row *row, const struct gpu_simd *simd, const struct gpu_plan *plan,
                                  const struct agx_effect *effect)
{
    const struct gpu_trace_record *record = &simd->record;
    const unsigned bytes = (unsigned)record->active_lanes * plan->lane_bytes;
    if (!record->active_lanes || plan->act < GPU_DO_GROUP_MEMORY || plan->act > GPU_DO_ATOMIC)
        return;
    row->accesses++;
    if (plan->act == GPU_DO_GROUP_MEMORY) {
        row->units += record->passes;
        row->least_units += effect->elements ? effect->elements : 1;
    } else {
        row->units += lines_of(simd, record);
        row->least_units += (bytes + GPU_LINE_BYTES - 1) / GPU_LINE_BYTES;
    }
}

/* An instruction issues. To be called before its lines are taken from the trace. */
static inline void profile_issue(const struct gpu_core_timing *core, struct gpu_scheduler *s, const struct gpu_simd *simd,
                                 const struct gpu_plan *plan, uint32_t site)
{
    if (!GPU_PROFILED)
        return;
    const struct gpu_timing *t = core->timing;
    const uint32_t instruction = t->site[site].instruction;
    struct gpu_profile_row *row = &t->profile.row[instruction];
    row->issues++;
    row->lanes += simd->record.active_lanes;
    row->empty += simd->record.active_lanes == 0;
    row->cycles[GPU_STALL_ISSUE] += plan->issue_cycles;
    row->cycles[GPU_STALL_REGISTER_CACHE] += plan->port_cycles;
    profile_access(row, simd, plan, &t->effect[instruction]);
    s->waiting = instruction;
}

/* From now on the scheduler waits for the next instruction of this place's simdgroup. */
static inline void profile_wait(const struct gpu_core_timing *core, struct gpu_scheduler *s, unsigned place)
{
    if (GPU_PROFILED)
        s->waiting = core->timing->site[s->site[place]].instruction;
}

/* The same for the place that is ready first: all wait for one pipe, or (at barriers) for others; then it is the oldest. */
static inline void profile_wait_first(const struct gpu_core_timing *core, struct gpu_scheduler *s)
{
    unsigned first = 0;
    for (unsigned i = 1; GPU_PROFILED && i < s->count; i++)
        if (s->ready[i] < s->ready[first])
            first = i;
    profile_wait(core, s, first);
}

#endif
