/* The schedulers of a core: body of gpu_timing_core_<host instruction set>.c, which differ in how places are searched. */
#include "units/gpu/gpu_timing_scan.h"

#include <string.h>

/* A source that says again and again that there is more and gives nothing is broken. */
#define REFILL_TRIES 1000

/* A scheduler's own time passes until `to`, for one reason. Without branches, as much here: simdgroups stand at different
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

static void enter_traces(struct gpu_core_timing *core, const struct gpu_resident_group *group)
{
    for (unsigned i = 0; i < group->simds; i++)
        if (group->simd[i] != UINT16_MAX) {
            struct gpu_simd *simd = &core->simd[group->simd[i]];
            gpu_sites_enter(core->timing, &simd->history, simd->trace);
            simd->at = simd->trace->record ? simd->trace->record + simd->trace->read : NULL;
            simd->end = simd->trace->record ? simd->trace->record + simd->trace->written : NULL;
        }
}

/* More records from the source; false when the simdgroup has ended (or the source failed). */
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

/* Taken out of its scheduler; places stay in order of age. */
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
    core->end = gpu_later(core->end, group->end);
    gpu_launch_next(core, slot, group->end);
}

/* When the last operand is there. */
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

/* Which operand the next instruction waits for longest; `otherwise` when none comes after simd->next. */
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

/* The next record of a simdgroup that has one: when its instruction may issue, pipes aside, and why not before. `why`: what it
 * waits for until simd->next. */
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

/* The same behind an instruction of its own scheduler, which looks for its next event itself. */
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

static void occupy(struct gpu_core_timing *core, struct gpu_scheduler *s, const struct gpu_plan *plan, double now)
{
    double *free = plan->pipe < GPU_PIPE_SHARED ? s->pipe_free : core->pipe_free;
    free[plan->pipe] = now + plan->pipe_cycles; /* GPU_PIPE_NONE: none */
}

/* An instruction that has just issued; its result, where it has one, ends it. */
__attribute__((cold, noinline)) static void tell(const struct gpu_core_timing *core, const struct gpu_simd *simd, uint32_t site,
                                                 double now, double issued)
{
    const struct gpu_timing *t = core->timing;
    const struct gpu_plan *plan = &t->plan[site];
    const double result = plan->writes ? simd->ready[plan->write] : issued;
    const struct unit_instruction told = {.pc = gpu_program_pc(t->launch.program, t->site[site].instruction),
                                          .operand = (uint64_t)(simd - core->simd) << 8 | simd->record.active_lanes,
                                          .issued_ns = gpu_ns(t, now),
                                          .done_ns = gpu_ns(t, result > issued && result < GPU_NEVER ? result : issued)};
    t->watch->gpu(t->watch->context, core->number, &told);
}

static void issue(struct gpu_core_timing *core, struct gpu_scheduler *s, unsigned place)
{
    struct gpu_timing *t = core->timing;
    struct gpu_simd *simd = &core->simd[s->simd[place]];
    const uint32_t site = s->site[place]; /* beside its simdgroup, so that the host fetches both at a time */
    const struct gpu_plan *plan = &t->plan[site];
    const struct gpu_trace_record record = simd->record;
    const double now = s->time;
    t->tally[site] += (UINT64_C(1) << GPU_TALLY_LANE_BITS) + record.active_lanes;
    s->issued++;
    const double issued = now + plan->issue_cycles, ported = issued + plan->port_cycles;
    s->stall[GPU_STALL_ISSUE] += issued - now;
    s->stall[GPU_STALL_REGISTER_CACHE] += ported - issued;
    s->time = ported;
    simd->next = gpu_later(now + t->interval, ported);
    if (plan->act >= GPU_DO_GROUP_MEMORY && plan->act <= GPU_DO_ATOMIC) {
        gpu_memory_access(core, simd, plan, &record, now);
    } else {
        occupy(core, s, plan, now);
        gpu_set_results(simd, plan, now + plan->latency_cycles, false);
    }
    if (__builtin_expect(t->watch != NULL, 0))
        tell(core, simd, site, now, ported);
    if (plan->act == GPU_DO_BARRIER)
        arrive(core, simd, now);
    else
        prepare_next(core, s, simd);
}

/* Where the search for a simdgroup begins: scattered, so that all get on alike without marching in step. In step, all would
 * want the same pipe at the same time; a multiply and three adds would take 5.9 cycles, and 5.4 were measured (metal-benchmarks,
 * IMUL32 + 3 IADD32). */
static unsigned first_place(const struct gpu_scheduler *s)
{
    const uint32_t scattered = s->issued * UINT32_C(2654435761) >> 8;
    return scattered - s->count * (uint32_t)(scattered * s->count_inverse >> GPU_INVERSE_BITS);
}

/* The first place of a set, from `place` on and around. */
static unsigned first_of(uint32_t set, unsigned place)
{
    const uint32_t behind = set & UINT32_MAX << place;
    return (unsigned)__builtin_ctz(behind ? behind : set);
}

/* What the next instruction of a place's simdgroup waits for. */
static uint8_t reason_of(const struct gpu_core_timing *core, const struct gpu_scheduler *s, unsigned place)
{
    const struct gpu_simd *simd = &core->simd[s->simd[place]];
    const uint8_t reason = s->reason[place];
    if (!(reason & GPU_REASON_OPERANDS))
        return reason;
    return operand_reason(simd, &core->timing->plan[simd->record.instruction], reason & (GPU_REASON_OPERANDS - 1));
}

/* Until when nobody can go, and why. */
static double sleep_until(const struct gpu_core_timing *core, struct gpu_scheduler *s, uint8_t blocked)
{
    uint32_t set;
    s->why = s->count == 0 ? GPU_STALL_LAUNCH : GPU_STALL_BARRIER;
    if (s->count == 0)
        return GPU_NEVER;
    const uint8_t wanted = s->pipe_bit[0];
    /* When all want one pipe and it is busy, nobody needs to be looked at. */
    if ((blocked & wanted) && gpu_scan_all_want(s, wanted)) {
        const unsigned pipe = (unsigned)__builtin_ctz(wanted);
        s->why = pipe_reason((uint8_t)pipe);
        return gpu_pipe_takes(core, s, pipe);
    }
    const double until = gpu_scan_earliest(core, s, blocked, &set);
    if (until < GPU_NEVER) {
        const unsigned best = first_of(set, first_place(s));
        const uint8_t its = (uint8_t)__builtin_ctz(s->pipe_bit[best]);
        s->why = until > s->ready[best] ? pipe_reason(its) : reason_of(core, s, best);
    }
    return until;
}

/* At its next event: issues for a simdgroup that can go, or sleeps until one can. */
static void step(struct gpu_core_timing *core, unsigned number)
{
    struct gpu_scheduler *s = &core->scheduler[number];
    spend(s, core->wake[number], s->why);
    const uint8_t blocked = gpu_scan_blocked(core, s);
    const uint32_t free = gpu_scan_ready(s, s->time) & ~gpu_scan_pipes(s, blocked);
    if (!free) {
        core->wake[number] = sleep_until(core, s, blocked);
        return;
    }
    core->wake[number] = GPU_NEVER;
    issue(core, s, first_of(free, first_place(s)));
    core->wake[number] = s->time;
    s->why = GPU_STALL_ALU;
}

static void core_fetch(const struct gpu_core_timing *core, bool near)
{
    for (unsigned i = 0; i < core->timing->params.schedulers; i++) {
        const struct gpu_scheduler *s = &core->scheduler[i];
        for (unsigned place = 0; place < s->count; place++) {
            const struct gpu_simd *simd = &core->simd[s->simd[place]];
            const char *words = (const char *)(core->ready + (size_t)s->simd[place] * core->timing->words);
            if (near) {
                __builtin_prefetch(simd->at);
                continue;
            }
            __builtin_prefetch(simd, 1);
            __builtin_prefetch((const char *)simd + GPU_HOST_LINE, 1);
            for (size_t byte = 0; byte < core->timing->words * sizeof *core->ready; byte += GPU_HOST_LINE)
                __builtin_prefetch(words + byte, 1);
        }
    }
}

static inline double sooner(double a, double b)
{
    return a < b ? a : b;
}

_Static_assert(GPU_SCHEDULERS_MAX == 8, "next_scheduler names them");

/* The scheduler with the next event; of equals the one after the last, so that none is starved. Mostly they take turns, which the
 * branch foresees: the host then works on several schedulers at a time. */
static unsigned next_scheduler(const struct gpu_core_timing *core)
{
    const unsigned n = core->timing->params.schedulers;
    const unsigned turn = core->last_scheduler + 1 < n ? core->last_scheduler + 1 : 0;
    const double *w = core->wake; /* a tree: what follows waits for the result */
    const double earliest =
        sooner(sooner(sooner(w[0], w[1]), sooner(w[2], w[3])), sooner(sooner(w[4], w[5]), sooner(w[6], w[7])));
    if (core->wake[turn] <= earliest)
        return turn;
    unsigned k = turn;
    while (core->wake[k] > earliest)
        k = (k + 1) & -(unsigned)(k + 1 < n); /* without a branch */
    return k;
}

static void core_run(struct gpu_core_timing *core, double until)
{
    while (!core->timing->failed) {
        const unsigned number = next_scheduler(core);
        if (!(core->wake[number] < until))
            return;
        core->last_scheduler = number;
        step(core, number);
    }
}

static unsigned least_loaded(const struct gpu_core_timing *core)
{
    unsigned best = 0;
    for (unsigned i = 1; i < core->timing->params.schedulers; i++)
        if (core->scheduler[i].count < core->scheduler[best].count)
            best = i;
    return best;
}

static bool place_simd(struct gpu_core_timing *core, unsigned slot, unsigned index, double start)
{
    const unsigned chosen = least_loaded(core);
    struct gpu_scheduler *s = &core->scheduler[chosen];
    const struct gpu_source *source = &core->timing->launch.source;
    if (core->free_count == 0 || s->count == GPU_SIMDS_MAX)
        return false;
    const uint16_t number = core->free_simd[--core->free_count];
    struct gpu_simd *simd = &core->simd[number];
    double *words = core->ready + (size_t)number * core->timing->words;
    *simd = (struct gpu_simd){.ready = words,
                              .next = start,
                              .scheduler = (uint8_t)chosen,
                              .place = s->count,
                              .group_slot = (uint8_t)slot,
                              .index = (uint8_t)index,
                              .trace = source->trace(source->context, core->number, slot, index)};
    memset(words, 0, core->timing->words * sizeof *words);
    memset(simd->history.recent, 0xff, sizeof simd->history.recent);
    s->simd[s->count] = number;
    s->ready[s->count] = GPU_NEVER;
    s->pipe_bit[s->count] = 1u << GPU_PIPE_NONE;
    s->reason[s->count] = GPU_STALL_LAUNCH;
    set_count(s, s->count + 1u);
    core->group[slot].simd[index] = number;
    return simd->trace != NULL;
}

static bool core_place(struct gpu_core_timing *core, unsigned slot, unsigned simds, double start)
{
    struct gpu_resident_group *group = &core->group[slot];
    *group = (struct gpu_resident_group){.simds = simds, .live = simds, .used = true};
    core->groups++;
    core->timing->running++;
    for (unsigned i = 0; i < simds; i++)
        if (!place_simd(core, slot, i, start + i * core->timing->params.simdgroup_launch_cycles))
            return false;
    for (unsigned i = 0; i < simds; i++) {
        const uint16_t number = group->simd[i];
        if (number != UINT16_MAX)
            prepare(core, &core->simd[number], GPU_STALL_LAUNCH);
    }
    return true;
}
