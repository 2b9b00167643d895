/* The memory half of instructions: coalesced lines through the core's load/store path, scoreboard slots, threadgroup memory, and
 * the instruction cache. */
#include "units/gpu/gpu_timing_state.h"

static void slot_add(struct gpu_slot_queue *slot, uint32_t entries, double done)
{
    slot->entry[slot->next] = done;
    slot->next = slot->next + 1 == entries ? 0 : slot->next + 1;
    slot->done = gpu_later(slot->done, done);
}

static const enum mem_access_kind kinds[] = {[GPU_DO_LOAD] = MEM_ACCESS_LOAD,
                                             [GPU_DO_STORE] = MEM_ACCESS_STORE,
                                             /* Atomics are performed beyond the L1. */
                                             [GPU_DO_ATOMIC] = MEM_ACCESS_FETCH};

/* Moves bytes of a line through the load/store path. Returns when that is done, in cycles. */
static double access_line(struct gpu_core_timing *core, enum gpu_act act, uint64_t address, uint32_t bytes, double start)
{
    const struct gpu_timing *t = core->timing;
    const double ns = gpu_ns(t, start);
    const struct mem_reply reply = mem_port_access(core->port, ns, address, bytes, kinds[act], 0);
    if (act == GPU_DO_ATOMIC)
        mem_port_access(core->port, ns, address, bytes, MEM_ACCESS_STORE, 0);
    return gpu_cycles(t, reply.ready_ns);
}

/* A memory access on its way through the load/store path. */
struct passage {
    double at, done; /* in cycles: when the path takes the next line; when everything is done */
};

/* Loads and atomics: what the lanes want, spread over the lines. The path takes half a line at a time, whatever the lanes want of
 * it: Apple's L1 delivers 64 bytes per cycle (philipturner/metal-benchmarks), and reductions of MLX in one threadgroup, whose
 * loads of four bytes lie 16 bytes apart, run at 16 bytes per cycle on every chip from M1 to M4 (TristanBilot/mlx-benchmark,
 * argmax over all of 64x1024x128). */
static void pass_loads(struct gpu_core_timing *core, const struct gpu_plan *plan, const struct gpu_trace_record *record,
                       const struct gpu_trace_line *line, struct passage *passage)
{
    const struct gpu_params *p = &core->timing->params;
    const uint32_t bytes = record->lines ? (uint32_t)record->active_lanes * plan->lane_bytes / record->lines : 0;
    const double half = GPU_LINE_BYTES / 2 / p->l1_bytes_per_cycle;
    for (unsigned i = 0; i < record->lines; i++) {
        const double each = gpu_later((line[i].bytes == 3 ? 2 : 1) * half, p->memory_issue_cycles);
        const struct gpu_trace_place place = gpu_trace_place(&line[i], bytes);
        const double done = access_line(core, (enum gpu_act)plan->act, place.address, place.bytes, passage->at);
        passage->done = gpu_later(passage->done, done);
        passage->at += each;
    }
}

/* Stores: the written bytes, line by line. */
static void pass_stores(struct gpu_core_timing *core, const struct gpu_trace_record *record, const struct gpu_trace_line *line,
                        struct passage *passage)
{
    const struct gpu_params *p = &core->timing->params;
    for (unsigned i = 0; i < record->lines;) {
        const uint64_t number = line[i].address / GPU_LINE_BYTES;
        uint32_t bytes = 0;
        for (; i < record->lines && line[i].address / GPU_LINE_BYTES == number; i++) {
            const double done = access_line(core, GPU_DO_STORE, line[i].address, line[i].bytes, passage->at);
            passage->done = gpu_later(passage->done, done);
            bytes += line[i].bytes;
        }
        passage->at += gpu_later(bytes / p->l1_bytes_per_cycle, p->memory_issue_cycles);
    }
}

static double device_access(struct gpu_core_timing *core, struct gpu_simd *simd, const struct gpu_plan *plan,
                            const struct gpu_trace_record *record, double now)
{
    const struct gpu_params *p = &core->timing->params;
    double *free = &core->pipe_free[GPU_PIPE_MEMORY];
    const double begin = gpu_later(now, *free), least = begin + p->memory_issue_cycles;
    const struct gpu_trace_line *line = simd->trace->line + simd->trace->lines_read;
    struct passage passage = {begin, least};
    if (plan->act == GPU_DO_STORE)
        pass_stores(core, record, line, &passage);
    else
        pass_loads(core, plan, record, line, &passage);
    if (plan->act == GPU_DO_ATOMIC) {
        passage.at += record->passes * p->atomic_cycles;
        passage.done += record->passes * p->atomic_cycles;
    }
    simd->trace->lines_read += record->lines;
    *free = gpu_later(passage.at, least);
    return passage.done;
}

static double group_access(struct gpu_core_timing *core, const struct gpu_plan *plan, const struct gpu_trace_record *record,
                           double now)
{
    const struct gpu_params *p = &core->timing->params;
    double *free = &core->pipe_free[GPU_PIPE_GROUP_MEMORY];
    const double each = plan->group_atomic ? p->threadgroup_atomic_cycles : p->threadgroup_pass_cycles;
    *free = gpu_later(now, *free) + (record->passes ? record->passes : 1) * each;
    return *free + p->threadgroup_latency_cycles;
}

void gpu_memory_access(struct gpu_core_timing *core, struct gpu_simd *simd, const struct gpu_plan *plan,
                       const struct gpu_trace_record *record, double now)
{
    const bool group_memory = plan->act == GPU_DO_GROUP_MEMORY;
    double done;
    if (group_memory) {
        done = group_access(core, plan, record, now);
    } else {
        done = device_access(core, simd, plan, record, now);
        slot_add(&simd->slot[plan->slot], core->timing->params.slot_entries, done);
        core->end = gpu_later(core->end, done);
    }
    /* A device load is waited for by `wait`, not through its register. */
    gpu_set_results(simd, plan, group_memory ? done : now, group_memory);
}

/* Makes room for one more line: the one unused for longest goes. */
static void make_room(struct gpu_core_timing *core)
{
    const struct gpu_timing *t = core->timing;
    uint32_t oldest = UINT32_MAX;
    if (core->lines_present < t->icache_capacity) {
        core->lines_present++;
        return;
    }
    for (uint32_t i = 0; i < t->icache_lines; i++)
        if (core->line_ready[i] < GPU_NEVER && (oldest == UINT32_MAX || core->line_used[i] < core->line_used[oldest]))
            oldest = i;
    if (oldest != UINT32_MAX)
        core->line_ready[oldest] = GPU_NEVER;
}

static void fetch_line(struct gpu_core_timing *core, uint32_t line, double now)
{
    const struct gpu_timing *t = core->timing;
    make_room(core);
    const uint64_t address = t->launch.code_address + (uint64_t)line * GPU_ICACHE_LINE;
    const struct mem_reply reply = mem_port_access(core->port, gpu_ns(t, now), address, GPU_ICACHE_LINE, MEM_ACCESS_FETCH, 0);
    core->line_ready[line] = gpu_cycles(t, reply.ready_ns);
    core->line_used[line] = ++core->line_clock;
}

double gpu_memory_fetch(struct gpu_core_timing *core, uint32_t line, double now)
{
    core->line_used[line] = ++core->line_clock;
    if (core->line_ready[line] == GPU_NEVER)
        fetch_line(core, line, now);
    /* The next line is fetched along with it: otherwise straight code would wait at every line. A guess. */
    if (line + 1 < core->timing->icache_lines && core->line_ready[line + 1] == GPU_NEVER)
        fetch_line(core, line + 1, now);
    return core->line_ready[line];
}
