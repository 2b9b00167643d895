/* The schedulers of a core: body of gpu_timing_core_<host instruction set>.c, which differ in how places are searched. */
#include "units/gpu/gpu_timing_prepare.h"

static void occupy(struct gpu_core_timing *core, struct gpu_scheduler *s, const struct gpu_plan *plan, double now)
{
    double *free = plan->pipe < GPU_PIPE_SHARED ? s->pipe_free : core->pipe_free;
    free[plan->pipe] = now + plan->pipe_cycles; /* for GPU_PIPE_NONE nothing reads it */
}

/* Reports an instruction that has just issued. It ends with its result, where it has one. */
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

/* A simdgroup jumps back. */
__attribute__((noinline)) static void note_lap(struct gpu_core_timing *core, const struct gpu_simd *simd, uint32_t jump,
                                               double now)
{
    struct gpu_laps *laps = &core->laps[simd - core->simd];
    if (laps->loop != jump + 1)
        *laps = (struct gpu_laps){.loop = jump + 1};
    laps->lap_ns[laps->passed++ % GPU_LAPS_KEPT] = gpu_ns(core->timing, now);
}

static void issue(struct gpu_core_timing *core, struct gpu_scheduler *s, unsigned place)
{
    struct gpu_timing *t = core->timing;
    struct gpu_simd *simd = &core->simd[s->simd[place]];
    const uint32_t site = s->site[place]; /* stored beside its simdgroup, so that the host fetches both together */
    const struct gpu_plan *plan = &t->plan[site];
    const struct gpu_trace_record record = simd->record;
    const double now = s->time;
    profile_issue(core, s, simd, plan, site);
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
    if (plan->act == GPU_DO_LAP)
        note_lap(core, simd, t->site[site].instruction, now);
    if (plan->act == GPU_DO_BARRIER)
        arrive(core, simd, now);
    else
        prepare_next(core, s, simd);
}

/* The place where the search for a simdgroup begins. It is scattered, so that all advance equally without marching in step. In
 * step, all would want the same pipe at the same time; a multiply and three adds would take 5.9 cycles, while 5.4 were measured
 * (metal-benchmarks, IMUL32 + 3 IADD32). */
static unsigned first_place(const struct gpu_scheduler *s)
{
    const uint32_t scattered = s->issued * UINT32_C(2654435761) >> 8;
    return scattered - s->count * (uint32_t)(scattered * s->count_inverse >> GPU_INVERSE_BITS);
}

/* The first place of a set, searching from `place` on and then around. */
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

/* Until when no simdgroup can issue, and why. */
static double sleep_until(const struct gpu_core_timing *core, struct gpu_scheduler *s, uint8_t blocked)
{
    uint32_t set;
    s->why = s->count == 0 ? GPU_STALL_LAUNCH : GPU_STALL_BARRIER;
    if (s->count == 0)
        return GPU_NEVER;
    profile_wait_first(core, s);
    const uint8_t wanted = s->pipe_bit[0];
    /* When all want one pipe and it is busy, no simdgroup needs a closer look. */
    if ((blocked & wanted) && gpu_scan_all_want(s, wanted)) {
        const unsigned pipe = (unsigned)__builtin_ctz(wanted);
        s->why = pipe_reason((uint8_t)pipe);
        return gpu_pipe_takes(core, s, pipe);
    }
    const double until = gpu_scan_earliest(core, s, blocked, &set);
    if (until < GPU_NEVER) {
        const unsigned best = first_of(set, first_place(s));
        const uint8_t its = (uint8_t)__builtin_ctz(s->pipe_bit[best]);
        profile_wait(core, s, best);
        s->why = until > s->ready[best] ? pipe_reason(its) : reason_of(core, s, best);
    }
    return until;
}

/* Handles the scheduler's next event: issues for a simdgroup that can go, or sleeps until one can. */
static void step(struct gpu_core_timing *core, unsigned number)
{
    struct gpu_scheduler *s = &core->scheduler[number];
    profile_spend(core, s, core->wake[number], s->why);
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

static void core_fetch(const struct gpu_core_timing *core, double until, bool near)
{
    for (unsigned i = 0; i < core->timing->params.schedulers; i++) {
        const struct gpu_scheduler *s = &core->scheduler[i];
        for (uint32_t left = gpu_scan_ready(s, until); left; left &= left - 1) {
            const unsigned place = (unsigned)__builtin_ctz(left);
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

/* The scheduler with the next event; of equals the one after the last, so that none starves. Usually they take turns, which the
 * branch predicts: the host then works on several schedulers at a time. */
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

/* The scheduler for the next simdgroup of a threadgroup: one with as few of the same threadgroup as possible, which wait for one
 * another at barriers and want the same pipes at the same time; of these, the one with the fewest in all. A guess: how the
 * hardware distributes them is not published. */
static unsigned choose_scheduler(const struct gpu_core_timing *core, const struct gpu_resident_group *group, unsigned index)
{
    unsigned own[GPU_SCHEDULERS_MAX] = {0}, best = 0;
    for (unsigned i = 0; i < index; i++)
        if (group->simd[i] != UINT16_MAX)
            own[core->simd[group->simd[i]].scheduler]++;
    for (unsigned i = 1; i < core->timing->params.schedulers; i++)
        if (own[i] < own[best] || (own[i] == own[best] && core->scheduler[i].count < core->scheduler[best].count))
            best = i;
    return best;
}

static bool place_simd(struct gpu_core_timing *core, unsigned slot, unsigned index, double start)
{
    const unsigned chosen = choose_scheduler(core, &core->group[slot], index);
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
    gpu_timing_restart_laps(core->timing, core->number);
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
