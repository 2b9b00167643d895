/* Prepares simdgroups for issue: reads their records, finds when the operands of the next instruction are ready, and handles
 * barriers and the end of a simdgroup. Part of the body of gpu_timing_core_<host instruction set>.c. */
#include "units/gpu/gpu_timing_profile.h"

#include <string.h>

/* A source that keeps announcing more records without giving any is broken. */
#define REFILL_TRIES 1000

/* Lets a scheduler's own time pass until `to`, for one reason. Without branches, like much here: simdgroups are at different
 * instructions, which no branch predictor foresees. */
static void spend(struct gpu_scheduler *s, double to, uint8_t why)
{
    const double later = gpu_later(to, s->time);
    s->stall[why] += later - s->time;
    s->time = later;
}

static uint8_t pipe_reason(uint8_t pipe)
{
    return pipe == GPU_PIPE_MEMORY         ? GPU_STALL_MEMORY_QUEUE
           : pipe == GPU_PIPE_GROUP_MEMORY ? GPU_STALL_THREADGROUP_MEMORY
                                           : GPU_STALL_ALU;
}

static struct gpu_scheduler *scheduler_of(struct gpu_core_timing *core, const struct gpu_simd *simd)
{
    return &core->scheduler[simd->scheduler];
}

/* Traces move when they grow, and a source may run all simdgroups of a threadgroup when it is asked for one. */
static void leave_traces(struct gpu_core_timing *core, const struct gpu_resident_group *group)
{
    for (unsigned i = 0; i < group->simds; i++)
        if (group->simd[i] != UINT16_MAX) {
            const struct gpu_simd *simd = &core->simd[group->simd[i]];
            simd->trace->read = simd->at ? (size_t)(simd->at - simd->trace->record) : simd->trace->read;
        }
}

/* The caches of a GPU are more than the host's caches hold. */
static void expect_lines(const struct gpu_core_timing *core, struct gpu_trace *trace)
{
    for (; trace->lines_expected < trace->lines_written; trace->lines_expected++)
        mem_port_expect(core->port, trace->line[trace->lines_expected].address);
}

static void enter_traces(struct gpu_core_timing *core, const struct gpu_resident_group *group)
{
    for (unsigned i = 0; i < group->simds; i++)
        if (group->simd[i] != UINT16_MAX) {
            struct gpu_simd *simd = &core->simd[group->simd[i]];
            gpu_sites_enter(core->timing, &simd->history, simd->trace);
            expect_lines(core, simd->trace);
            simd->at = simd->trace->record ? simd->trace->record + simd->trace->read : NULL;
            simd->end = simd->trace->record ? simd->trace->record + simd->trace->written : NULL;
        }
}

/* Gets more records from the source. False when the simdgroup has ended (or the source failed). */
static bool refill(struct gpu_core_timing *core, struct gpu_simd *simd)
{
    struct gpu_timing *t = core->timing;
    const struct gpu_source *source = &t->launch.source;
    const struct gpu_resident_group *group = &core->group[simd->group_slot];
    bool more = true, ok = true;
    unsigned tries = 0;
    leave_traces(core, group);
    while (more && ok && tries++ < REFILL_TRIES && simd->trace->read == simd->trace->written)
        more = source->refill(source->context, core->number, simd->group_slot, simd->index, &ok);
    t->failed |= !ok || tries > REFILL_TRIES;
    enter_traces(core, group);
    return more && ok && !t->failed;
}

static void put_ready(struct gpu_scheduler *s, const struct gpu_simd *simd, uint8_t pipe, double ready, uint8_t why)
{
    s->site[simd->place] = simd->record.instruction;
    s->ready[simd->place] = ready;
    s->reason[simd->place] = why;
    s->pipe_bit[simd->place] = (uint8_t)(1u << pipe);
}

static void set_ready(struct gpu_core_timing *core, const struct gpu_simd *simd, uint8_t pipe, double ready, uint8_t why)
{
    struct gpu_scheduler *s = scheduler_of(core, simd);
    double *wake = &core->wake[simd->scheduler];
    put_ready(s, simd, pipe, ready, why);
    if (ready < *wake)
        *wake = gpu_later(ready, s->time);
}

static void set_count(struct gpu_scheduler *s, unsigned count)
{
    s->count = (uint8_t)count;
    s->count_inverse = count ? (UINT64_C(1) << GPU_INVERSE_BITS) / count + 1 : 0;
}

/* Removes a simdgroup from its scheduler; places stay in order of age. */
static void remove_simd(struct gpu_core_timing *core, struct gpu_simd *simd)
{
    struct gpu_scheduler *s = scheduler_of(core, simd);
    set_count(s, s->count - 1u);
    for (unsigned i = simd->place; i < s->count; i++) {
        s->ready[i] = s->ready[i + 1];
        s->pipe_bit[i] = s->pipe_bit[i + 1];
        s->reason[i] = s->reason[i + 1];
        s->simd[i] = s->simd[i + 1];
        s->site[i] = s->site[i + 1];
        core->simd[s->simd[i]].place = (uint8_t)i;
    }
    s->ready[s->count] = GPU_NEVER;
    core->free_simd[core->free_count++] = (uint16_t)(simd - core->simd);
}

static void prepare(struct gpu_core_timing *core, struct gpu_simd *simd, uint8_t why);

static void open_barrier(struct gpu_core_timing *core, struct gpu_resident_group *group)
{
    group->arrived = 0;
    for (unsigned i = 0; i < group->simds; i++) {
        struct gpu_simd *simd = &core->simd[group->simd[i]];
        if (group->simd[i] == UINT16_MAX || !simd->at_barrier)
            continue;
        simd->at_barrier = false;
        simd->next = gpu_later(simd->next, group->release);
        prepare(core, simd, GPU_STALL_BARRIER);
    }
}

static void leave(struct gpu_core_timing *core, struct gpu_simd *simd)
{
    struct gpu_resident_group *group = &core->group[simd->group_slot];
    const unsigned slot = simd->group_slot;
    group->end = gpu_later(group->end, simd->next);
    group->simd[simd->index] = UINT16_MAX;
    group->live--;
    remove_simd(core, simd);
    if (group->live > 0) {
        if (group->arrived == group->live)
            open_barrier(core, group);
        return;
    }
    group->used = false;
    core->groups--;
    core->timing->running--;
    gpu_timing_restart_laps(core->timing, core->number);
    core->end = gpu_later(core->end, group->end);
    gpu_launch_next(core, slot, group->end);
}

/* When the last operand is ready. */
static inline double operands_ready(const struct gpu_simd *simd, const struct gpu_plan *plan)
{
    double ready[GPU_READS_USUAL];
#pragma GCC unroll 4
    for (unsigned i = 0; i < GPU_READS_USUAL; i++)
        ready[i] = simd->ready[plan->read[i]];
    double last = gpu_later(gpu_later(ready[0], ready[1]), gpu_later(ready[2], ready[3]));
    for (unsigned i = GPU_READS_USUAL; i < plan->reads; i++)
        last = gpu_later(simd->ready[plan->read[i]], last);
    return last;
}

/* The reason of the operand that the next instruction waits for longest; `otherwise` when none comes after simd->next. */
static uint8_t operand_reason(const struct gpu_simd *simd, const struct gpu_plan *plan, uint8_t otherwise)
{
    const unsigned reads = plan->reads > GPU_READS_USUAL ? plan->reads : GPU_READS_USUAL;
    unsigned last = GPU_PLACE_READ_NONE;
    double ready = simd->next;
    for (unsigned i = 0; i < reads; i++)
        if (simd->ready[plan->read[i]] > ready) {
            last = plan->read[i];
            ready = simd->ready[last];
        }
    if (last == GPU_PLACE_READ_NONE)
        return otherwise;
    const unsigned word = last - GPU_PLACE_WORDS;
    return simd->from_group_memory[word / 64 & 1] >> word % 64 & 1 ? GPU_STALL_THREADGROUP_MEMORY : GPU_STALL_DEPENDENCY;
}

/* Takes the next record of a simdgroup that has one. Returns when its instruction may issue, apart from pipes; *why becomes the
 * reason for not issuing earlier (on entry: what it waits for until simd->next). */
static inline __attribute__((always_inline)) double take_record(struct gpu_core_timing *core, struct gpu_simd *simd,
                                                                const struct gpu_plan **its, uint8_t *why)
{
    const struct gpu_timing *t = core->timing;
    simd->record = *simd->at++;
    __builtin_prefetch(simd->at + GPU_HOST_LINE / sizeof *simd->at);
    const struct gpu_plan *plan = &t->plan[simd->record.instruction];
    double ready = gpu_later(operands_ready(simd, plan), simd->next + plan->hold_cycles);
    *its = plan;
    *why |= GPU_REASON_OPERANDS;
    if (plan->act >= GPU_DO_LOAD && plan->act <= GPU_DO_WAIT) {
        const struct gpu_slot_queue *slot = &simd->slot[plan->slot];
        const double until = plan->act == GPU_DO_WAIT ? slot->done : slot->entry[slot->next];
        if (until > ready)
            ready = until, *why = plan->act == GPU_DO_WAIT ? GPU_STALL_MEMORY : GPU_STALL_MEMORY_QUEUE;
    }
    if (plan->icache_line + 1 != simd->icache_line) {
        simd->icache_line = plan->icache_line + 1;
        const double fetched = gpu_memory_fetch(core, plan->icache_line, simd->next);
        if (fetched > ready)
            ready = fetched, *why = GPU_STALL_INSTRUCTION_FETCH;
    }
    return ready;
}

static void prepare(struct gpu_core_timing *core, struct gpu_simd *simd, uint8_t why)
{
    const struct gpu_plan *plan;
    if (simd->at == simd->end && !refill(core, simd)) {
        leave(core, simd);
        return;
    }
    const double ready = take_record(core, simd, &plan, &why);
    set_ready(core, simd, plan->pipe, ready, why);
}

/* The same after an instruction of the simdgroup's own scheduler, which looks for its next event itself. */
static inline void prepare_next(struct gpu_core_timing *core, struct gpu_scheduler *s, struct gpu_simd *simd)
{
    const struct gpu_plan *plan;
    uint8_t why = GPU_STALL_DEPENDENCY;
    if (__builtin_expect(simd->at == simd->end, 0)) {
        prepare(core, simd, why);
        return;
    }
    const double ready = take_record(core, simd, &plan, &why);
    put_ready(s, simd, plan->pipe, ready, why);
}

static void arrive(struct gpu_core_timing *core, struct gpu_simd *simd, double now)
{
    struct gpu_resident_group *group = &core->group[simd->group_slot];
    simd->at_barrier = true;
    set_ready(core, simd, GPU_PIPE_NONE, GPU_NEVER, GPU_STALL_BARRIER);
    group->arrived++;
    group->release = now + core->timing->params.barrier_cycles;
    if (group->arrived == group->live)
        open_barrier(core, group);
}
