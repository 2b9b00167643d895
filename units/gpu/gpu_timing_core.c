/* The schedulers of a core. */
#include "units/gpu/gpu_timing_state.h"

#include <string.h>

/* A source that says again and again that there is more and gives nothing is broken. */
#define REFILL_TRIES 1000

/* A scheduler's own time passes until `to`, for one reason. */
static void spend(struct gpu_scheduler *s, double to, uint8_t why)
{
    if (to > s->time) {
        s->stall[why] += to - s->time;
        s->time = to;
    }
}

static double pipe_free(const struct gpu_core_timing *core, const struct gpu_scheduler *s, uint8_t pipe)
{
    return pipe < GPU_PIPE_SHARED ? s->pipe_free[pipe] : core->pipe_free[pipe];
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
            simd->at = simd->trace->record ? simd->trace->record + simd->trace->read : NULL;
            simd->end = simd->trace->record ? simd->trace->record + simd->trace->written : NULL;
        }
}

/* More records from the source; false when the simdgroup has ended (or the source failed). */
static bool refill(struct gpu_core_timing *core, struct gpu_simd *simd)
{
    struct gpu_timing *t = core->timing;
    const struct gpu_source *source = &t->launch.source;
    const struct gpu_resident_group *group = &core->group[simd->group];
    bool more = true, ok = true;
    unsigned tries = 0;
    leave_traces(core, group);
    while (more && ok && tries++ < REFILL_TRIES && simd->trace->read == simd->trace->written)
        more = source->refill(source->context, core->number, simd->group, simd->index, &ok);
    t->failed |= !ok || tries > REFILL_TRIES;
    enter_traces(core, group);
    return more && ok && !t->failed;
}

static void set_ready(struct gpu_core_timing *core, const struct gpu_simd *simd, double ready, uint8_t why)
{
    struct gpu_scheduler *s = scheduler_of(core, simd);
    const uint8_t pipe = simd->plan ? simd->plan->pipe : GPU_PIPE_NONE;
    s->ready[simd->place] = ready;
    s->reason[simd->place] = why;
    if (pipe != s->pipe[simd->place]) {
        s->want[s->pipe[simd->place]]--;
        s->want[pipe]++;
        s->pipe[simd->place] = pipe;
    }
    if (ready < s->wake)
        s->wake = gpu_later(ready, s->time);
}

/* Taken out of its scheduler; places stay in order of age. */
static void remove_simd(struct gpu_core_timing *core, struct gpu_simd *simd)
{
    struct gpu_scheduler *s = scheduler_of(core, simd);
    s->count--;
    s->want[s->pipe[simd->place]]--;
    for (unsigned i = simd->place; i < s->count; i++) {
        s->ready[i] = s->ready[i + 1];
        s->pipe[i] = s->pipe[i + 1];
        s->reason[i] = s->reason[i + 1];
        s->simd[i] = s->simd[i + 1];
        core->simd[s->simd[i]].place = (uint8_t)i;
    }
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
    struct gpu_resident_group *group = &core->group[simd->group];
    const unsigned slot = simd->group;
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

/* Operands: when the last is there, and what reading them costs beyond that. */
static double operands(const struct gpu_timing *t, struct gpu_simd *simd, const struct gpu_plan *plan, uint8_t *why)
{
    const unsigned window = t->params.register_window >> plan->half_width;
    double ready = simd->next, hold = 0;
    unsigned nearest = window;
    for (unsigned i = 0; i < plan->reads; i++) {
        const struct gpu_word *word = &simd->word[plan->read[i]];
        const unsigned distance = simd->sequence - word->sequence;
        if (word->ready > ready)
            ready = word->ready, *why = word->why;
        if (distance >= window || plan->cached >> i & 1 || word->hold == GPU_HOLD_NONE)
            continue;
        const double h = t->hold_cycles[word->hold] * (window - distance);
        hold = h > hold ? h : hold;
        nearest = distance < nearest ? distance : nearest;
    }
    simd->port_cycles = 0;
    if (nearest == window || plan->hold == GPU_HOLD_NONE)
        return ready;
    const double share = 1.0 / (window - 1);
    if (plan->two_words)
        simd->port_cycles = (float)(t->params.register_port_cycles * (plan->half_width ? 0.5 : 1) * (window - nearest) * share);
    return gpu_later(ready, simd->next + hold * share);
}

/* Finds out when the next instruction of a simdgroup may issue, pipes aside. `why`: what it waits for until simd->next. */
static void prepare(struct gpu_core_timing *core, struct gpu_simd *simd, uint8_t why)
{
    const struct gpu_timing *t = core->timing;
    if (simd->at == simd->end && !refill(core, simd)) {
        leave(core, simd);
        return;
    }
    simd->record = *simd->at++;
    const struct gpu_plan *plan = &t->plan[simd->record.instruction];
    simd->plan = plan;
    double ready = operands(t, simd, plan, &why);
    if (plan->act >= GPU_DO_LOAD && plan->act <= GPU_DO_WAIT) {
        const struct gpu_slot_queue *slot = &simd->slot[plan->slot];
        const double until = plan->act == GPU_DO_WAIT ? slot->done : slot->entry[slot->next];
        if (until > ready)
            ready = until, why = plan->act == GPU_DO_WAIT ? GPU_STALL_MEMORY : GPU_STALL_MEMORY_QUEUE;
    }
    if (plan->icache_line + 1 != simd->icache_line) {
        simd->icache_line = plan->icache_line + 1;
        const double fetched = gpu_memory_fetch(core, plan->icache_line, simd->next);
        if (fetched > ready)
            ready = fetched, why = GPU_STALL_INSTRUCTION_FETCH;
    }
    set_ready(core, simd, ready, why);
}

static void arrive(struct gpu_core_timing *core, struct gpu_simd *simd, double now)
{
    struct gpu_resident_group *group = &core->group[simd->group];
    simd->at_barrier = true;
    simd->plan = NULL;
    set_ready(core, simd, GPU_NEVER, GPU_STALL_BARRIER);
    group->arrived++;
    group->release = now + core->timing->params.barrier_cycles;
    if (group->arrived == group->live)
        open_barrier(core, group);
}

static void occupy(struct gpu_core_timing *core, struct gpu_scheduler *s, const struct gpu_plan *plan, double now)
{
    double *free = plan->pipe < GPU_PIPE_SHARED ? &s->pipe_free[plan->pipe] : &core->pipe_free[plan->pipe];
    if (plan->pipe != GPU_PIPE_NONE)
        *free = now + plan->pipe_cycles;
}

static void issue(struct gpu_core_timing *core, struct gpu_scheduler *s, unsigned place)
{
    struct gpu_timing *t = core->timing;
    struct gpu_simd *simd = &core->simd[s->simd[place]];
    const struct gpu_plan *plan = simd->plan;
    const struct gpu_trace_record record = simd->record;
    const double now = s->time;
    t->tally[record.instruction].issues++;
    t->tally[record.instruction].lanes += record.active_lanes;
    s->issued++;
    spend(s, now + plan->issue_cycles, GPU_STALL_ISSUE);
    spend(s, s->time + simd->port_cycles, GPU_STALL_REGISTER_CACHE);
    simd->next = gpu_later(now + t->interval, s->time);
    if (plan->act >= GPU_DO_GROUP_MEMORY && plan->act <= GPU_DO_ATOMIC) {
        gpu_memory_access(core, simd, plan, &record, now);
    } else {
        occupy(core, s, plan, now);
        for (unsigned i = 0; i < plan->writes; i++)
            simd->word[plan->write + i] =
                (struct gpu_word){now + plan->latency_cycles, simd->sequence, plan->hold, GPU_STALL_DEPENDENCY};
    }
    simd->sequence++;
    if (plan->act == GPU_DO_BARRIER)
        arrive(core, simd, now);
    else
        prepare(core, simd, GPU_STALL_DEPENDENCY);
}

/* Memory pipes take work ahead of time, as far as their queue reaches. */
static double pipe_takes(const struct gpu_core_timing *core, const struct gpu_scheduler *s, uint8_t pipe)
{
    const double free = pipe_free(core, s, pipe);
    return pipe >= GPU_PIPE_MEMORY ? free - core->timing->params.memory_queue_cycles : free;
}

static double may_issue(const struct gpu_core_timing *core, const struct gpu_scheduler *s, unsigned place)
{
    return gpu_later(s->ready[place], pipe_takes(core, s, s->pipe[place]));
}

/* When all want one pipe and it is busy, nobody needs to be looked at. */
static bool all_blocked(const struct gpu_core_timing *core, struct gpu_scheduler *s)
{
    if (s->count == 0 || s->want[s->pipe[0]] != s->count)
        return false;
    const double at = pipe_takes(core, s, s->pipe[0]);
    if (at <= s->time)
        return false;
    s->wake = at;
    s->why = pipe_reason(s->pipe[0]);
    return true;
}

static uint8_t reason_at(const struct gpu_core_timing *core, const struct gpu_scheduler *s, unsigned place)
{
    return may_issue(core, s, place) > s->ready[place] ? pipe_reason(s->pipe[place]) : s->reason[place];
}

/* Where the search for a simdgroup begins: scattered, so that all get on alike without marching in step. In step, all would
 * want the same pipe at the same time; a multiply and three adds would take 5.9 cycles, and 5.4 were measured (metal-benchmarks,
 * IMUL32 + 3 IADD32). */
static unsigned first_place(const struct gpu_scheduler *s)
{
    return s->count ? (s->issued * UINT32_C(2654435761) >> 8) % s->count : 0;
}

/* At s->wake: issues for a simdgroup that can go, or sleeps until one can. */
static void step(struct gpu_core_timing *core, struct gpu_scheduler *s)
{
    unsigned best = 0, place = first_place(s);
    double earliest = GPU_NEVER;
    spend(s, s->wake, s->why);
    if (all_blocked(core, s))
        return;
    for (unsigned i = 0; i < s->count; i++) {
        const double at = may_issue(core, s, place);
        if (at <= s->time) {
            s->wake = GPU_NEVER;
            issue(core, s, place);
            s->wake = s->time;
            s->why = GPU_STALL_ALU;
            return;
        }
        if (at < earliest)
            earliest = at, best = place;
        place = place + 1 < s->count ? place + 1 : 0;
    }
    s->wake = earliest;
    s->why = s->count == 0                  ? GPU_STALL_LAUNCH
             : earliest < GPU_NEVER         ? reason_at(core, s, best)
                                            : GPU_STALL_BARRIER;
}

double gpu_core_next(const struct gpu_core_timing *core)
{
    double next = GPU_NEVER;
    for (unsigned i = 0; i < core->timing->params.schedulers; i++)
        next = core->scheduler[i].wake < next ? core->scheduler[i].wake : next;
    return next;
}

void gpu_core_run(struct gpu_core_timing *core, double until)
{
    const unsigned n = core->timing->params.schedulers;
    while (!core->timing->failed) {
        /* The earliest; of equals the one after the last, so that none is starved. */
        unsigned best = core->last_scheduler;
        double wake = GPU_NEVER;
        for (unsigned i = 0, k = core->last_scheduler; i < n; i++) {
            k = k + 1 < n ? k + 1 : 0;
            if (core->scheduler[k].wake < wake)
                wake = core->scheduler[k].wake, best = k;
        }
        if (!(wake < until))
            return;
        core->last_scheduler = best;
        step(core, &core->scheduler[best]);
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
    memset(simd, 0, sizeof *simd);
    simd->trace = source->trace(source->context, core->number, slot, index);
    simd->next = start;
    simd->sequence = GPU_WORDS; /* far from the registers' first writers */
    simd->group = (uint16_t)slot;
    simd->index = (uint16_t)index;
    simd->scheduler = (uint8_t)chosen;
    simd->place = s->count;
    s->simd[s->count] = number;
    s->ready[s->count] = GPU_NEVER;
    s->pipe[s->count] = GPU_PIPE_NONE;
    s->want[GPU_PIPE_NONE]++;
    s->reason[s->count] = GPU_STALL_LAUNCH;
    s->count++;
    core->group[slot].simd[index] = number;
    return simd->trace != NULL;
}

bool gpu_core_place(struct gpu_core_timing *core, unsigned slot, unsigned simds, double start)
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
