/* Launches: threadgroups over cores, time, counters. */
#include "units/gpu/gpu_timing_state.h"

#include <stdlib.h>
#include <string.h>

/* How far cores run ahead of one another. They meet in the memory system, whose links accept requests that are up to
 * MEM_LINK_LATE_NS (100 ns) late. */
#define QUANTUM_CYCLES 128.0

const char *gpu_stall_name(enum gpu_stall stall)
{
    static const char *const names[] = {
#define X(name, key, text) [GPU_STALL_##name] = key,
        GPU_STALL_TABLE(X)
#undef X
    };
    return (unsigned)stall < GPU_STALL_COUNT ? names[stall] : "?";
}

static bool valid(const struct gpu_params *p)
{
    return p->cores > 0 && p->clock_ghz > 0 && p->schedulers > 0 && p->schedulers <= GPU_SCHEDULERS_MAX &&
           p->issue_per_cycle > 0 && p->register_window >= 2 && p->register_window <= GPU_WINDOW_MAX &&
           p->l1_bytes_per_cycle > 0 && p->slot_entries > 0 && p->slot_entries <= GPU_SLOT_ENTRIES_MAX;
}

static bool create_core(struct gpu_timing *t, unsigned number, struct mem_port *port)
{
    struct gpu_core_timing *core = &t->core[number];
    const size_t simds = (size_t)t->params.schedulers * GPU_SIMDS_MAX;
    core->timing = t;
    core->port = port;
    core->number = number;
    core->simd = aligned_alloc(GPU_HOST_LINE, simds * sizeof *core->simd);
    core->free_simd = calloc(simds, sizeof *core->free_simd);
    core->group = calloc(simds, sizeof *core->group);
    core->laps = calloc(simds, sizeof *core->laps);
    return core->simd && core->free_simd && core->group && core->laps;
}

static const struct gpu_core_set *best_cores(void)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl"))
        return &gpu_cores_avx512;
    if (__builtin_cpu_supports("avx2"))
        return &gpu_cores_avx2;
#endif
    return &gpu_cores_portable;
}

struct gpu_timing *gpu_timing_create(const struct gpu_params *params, struct mem_port *const *ports)
{
    if (!valid(params))
        return NULL;
    struct gpu_timing *t = calloc(1, sizeof *t);
    if (!t)
        return NULL;
    t->params = *params;
    t->ns_per_cycle = 1 / params->clock_ghz;
    t->interval = params->interval_cycles;
    t->window = params->register_window;
    t->hold_cycles[GPU_HOLD_16] = params->stall_16_cycles;
    t->hold_cycles[GPU_HOLD_32] = params->stall_32_cycles;
    t->hold_cycles[GPU_HOLD_FMA32] = params->stall_fma32_cycles;
    t->core = calloc(params->cores, sizeof *t->core);
    bool ok = t->core != NULL;
    for (unsigned i = 0; ok && i < params->cores; i++)
        ok = create_core(t, i, ports[i]);
    if (ok)
        return t;
    gpu_timing_free(t);
    return NULL;
}

static void free_program(struct gpu_timing *t)
{
    for (unsigned i = 0; t->core && i < t->params.cores; i++) {
        free(t->core[i].ready);
        t->core[i].ready = NULL;
        free(t->core[i].line_ready);
        free(t->core[i].line_used);
        t->core[i].line_ready = NULL;
        t->core[i].line_used = NULL;
    }
    gpu_sites_free(t);
    gpu_profile_free(&t->profile);
    free(t->effect);
    t->effect = NULL;
}

void gpu_timing_free(struct gpu_timing *t)
{
    if (!t)
        return;
    free_program(t);
    for (unsigned i = 0; t->core && i < t->params.cores; i++) {
        free(t->core[i].simd);
        free(t->core[i].free_simd);
        free(t->core[i].laps);
        free(t->core[i].group);
    }
    free(t->core);
    free(t);
}

/* What is still counted by instruction. */
static void add_tally(const struct gpu_timing *t, struct activity *into)
{
    for (uint32_t i = 0; i < t->site_count; i++) {
        const struct gpu_tally tally = {t->tally[i] >> GPU_TALLY_LANE_BITS,
                                        t->tally[i] & ((UINT64_C(1) << GPU_TALLY_LANE_BITS) - 1)};
        gpu_activity_add(into, &t->effect[t->site[i].instruction], &tally);
    }
}

/* Moves it to the activity. */
static void settle_tally(struct gpu_timing *t)
{
    add_tally(t, &t->activity);
    for (uint32_t i = 0; i < t->site_count; i++)
        t->tally[i] = 0;
}

/* The number of places that an instruction names. */
static uint32_t places_named(const struct gpu_plan *plan)
{
    uint32_t places = (uint32_t)plan->write + plan->writes;
    for (unsigned i = 0; i < plan->reads; i++)
        places = plan->read[i] + 1u > places ? plan->read[i] + 1u : places;
    return places;
}

static bool make_plans(struct gpu_timing *t)
{
    const struct gpu_program *program = t->launch.program;
    const uint32_t count = gpu_program_count(program);
    t->effect = calloc(count, sizeof *t->effect);
    if (!gpu_sites_create(t, count) || !t->effect)
        return false;
    t->icache_lines = 1;
    for (uint32_t i = 0; i < count; i++) {
        t->effect[i] = *gpu_program_effect(program, i);
        gpu_plan_make(&t->plan[i], &t->params, gpu_program_inst(program, i), gpu_program_effect(program, i),
                      gpu_program_pc(program, i));
        if (t->launch.lap && t->launch.lap[i])
            t->plan[i].act = GPU_DO_LAP;
        if (t->plan[i].icache_line >= t->icache_lines)
            t->icache_lines = t->plan[i].icache_line + 1;
    }
    t->words = GPU_PLACE_WORDS;
    for (uint32_t i = 0; i < count; i++) {
        gpu_plan_straight(t, i);
        t->words = places_named(&t->plan[i]) > t->words ? places_named(&t->plan[i]) : t->words;
    }
    t->icache_capacity = (uint32_t)(t->params.instruction_cache_bytes / GPU_ICACHE_LINE);
    return true;
}

static void start_schedulers(const struct gpu_timing *t, struct gpu_core_timing *core)
{
    memset(core->scheduler, 0, sizeof core->scheduler);
    for (unsigned i = 0; i < GPU_SCHEDULERS_MAX; i++) {
        core->wake[i] = GPU_NEVER;
        for (unsigned place = 0; place < GPU_SIMDS_MAX; place++)
            core->scheduler[i].ready[place] = GPU_NEVER;
        core->scheduler[i].why = GPU_STALL_LAUNCH;
    }
    memset(core->pipe_free, 0, sizeof core->pipe_free);
    memset(core->pipe_ahead, 0, sizeof core->pipe_ahead);
    for (unsigned pipe = GPU_PIPE_MEMORY; pipe < GPU_PIPE_COUNT; pipe++)
        core->pipe_ahead[pipe] = t->params.memory_queue_cycles;
}

static bool start_core(struct gpu_timing *t, struct gpu_core_timing *core)
{
    const unsigned simds = t->params.schedulers * GPU_SIMDS_MAX;
    core->line_ready = malloc(t->icache_lines * sizeof *core->line_ready);
    core->line_used = calloc(t->icache_lines, sizeof *core->line_used);
    core->ready = calloc((size_t)simds * t->words, sizeof *core->ready);
    if (!core->line_ready || !core->line_used || !core->ready)
        return false;
    for (uint32_t i = 0; i < t->icache_lines; i++)
        core->line_ready[i] = GPU_NEVER;
    core->lines_present = core->line_clock = 0;
    core->free_count = 0;
    for (unsigned i = simds; i > 0; i--)
        core->free_simd[core->free_count++] = (uint16_t)(i - 1);
    start_schedulers(t, core);
    core->launch_free = core->end = 0;
    core->groups = 0;
    core->last_scheduler = t->params.schedulers - 1;
    mem_port_forget(core->port);
    return true;
}

void gpu_launch_next(struct gpu_core_timing *core, unsigned slot, double now)
{
    struct gpu_timing *t = core->timing;
    bool ok = true;
    if (t->none_left || t->failed)
        return;
    const unsigned simds = t->launch.source.start(t->launch.source.context, core->number, slot, &ok);
    if (ok && simds == GPU_SLOT_EMPTY)
        return;
    if (!ok || simds > 32)
        t->failed = true;
    if (simds == 0)
        t->none_left = true;
    if (t->failed || t->none_left)
        return;
    const double start = gpu_later(now, core->launch_free) + t->params.group_launch_cycles;
    core->launch_free = start + simds * t->params.simdgroup_launch_cycles;
    if (!t->cores->place(core, slot, simds, start))
        t->failed = true;
}

/* Where one memory has registers, threadgroup memory and L1, the first threadgroups of a core leave its L1 the rest. What later
 * ones give back, or an end with few of them, is not counted. */
static bool share_pool(struct gpu_timing *t, struct gpu_core_timing *core)
{
    const double left = gpu_timing_pool_left(&t->params, &t->launch, (unsigned)core->groups);
    return t->params.pool_bytes <= 0 || mem_port_share_l1(core->port, left / 1024);
}

bool gpu_timing_begin(struct gpu_timing *t, const struct gpu_timing_launch *launch, double now_ns)
{
    const char *limit;
    settle_tally(t);
    free_program(t);
    t->launch = *launch;
    t->begin_ns = now_ns;
    t->now = 0;
    t->quanta = 0;
    t->running = 0;
    t->none_left = t->failed = false;
    t->active = true;
    t->occupancy = gpu_timing_occupancy(&t->params, launch, &limit);
    t->cores = launch->profile ? &gpu_cores_profiled : best_cores();
    bool ok = t->occupancy > 0 && make_plans(t) && gpu_profile_begin(t);
    for (unsigned i = 0; ok && i < t->params.cores; i++)
        ok = start_core(t, &t->core[i]);
    /* One threadgroup per core, then the next round. */
    for (unsigned slot = 0; ok && slot < t->occupancy; slot++)
        for (unsigned i = 0; i < t->params.cores; i++)
            gpu_launch_next(&t->core[i], slot, 0);
    for (unsigned i = 0; ok && i < t->params.cores; i++)
        ok = share_pool(t, &t->core[i]);
    return ok && !t->failed;
}

/* Returns the next event of a core. */
static double next_event(const struct gpu_core_timing *core)
{
    double next = GPU_NEVER;
    for (unsigned i = 0; i < core->timing->params.schedulers; i++)
        next = core->wake[i] < next ? core->wake[i] : next;
    return next;
}

static double earliest_event(const struct gpu_timing *t)
{
    double next = GPU_NEVER;
    for (unsigned i = 0; i < t->params.cores; i++) {
        const double at = next_event(&t->core[i]);
        next = at < next ? at : next;
    }
    return next;
}

static enum gpu_look look(const struct gpu_timing *t)
{
    const struct gpu_source *source = &t->launch.source;
    return source->look && t->quanta % GPU_LOOK_QUANTA == 0 ? source->look(source->context) : GPU_LOOK_ON;
}

bool gpu_timing_advance(struct gpu_timing *t, double until_ns)
{
    const double until = gpu_cycles(t, until_ns);
    bool stopped = false;
    while (t->active && !stopped && !t->failed && t->running > 0 && t->now < until) {
        const double next = earliest_event(t);
        if (next == GPU_NEVER) { /* every simdgroup waits: for a barrier that the source never opens */
            t->failed = true;
            break;
        }
        const double to = next + QUANTUM_CYCLES < until ? next + QUANTUM_CYCLES : until;
        t->cores->fetch(&t->core[0], to, false);
        for (unsigned i = 0; i < t->params.cores; i++) {
            t->cores->fetch(&t->core[i], to, true);
            if (i + 1 < t->params.cores)
                t->cores->fetch(&t->core[i + 1], to, false);
            t->cores->run(&t->core[i], to);
        }
        t->now = gpu_later(t->now, to);
        if (++t->quanta % GPU_TALLY_QUANTA == 0)
            settle_tally(t);
        const enum gpu_look found = look(t);
        t->failed = t->failed || found == GPU_LOOK_FAULT;
        stopped = found == GPU_LOOK_STOP;
    }
    if (t->running == 0 || t->failed || stopped)
        t->active = false;
    return t->active;
}

bool gpu_timing_failed(const struct gpu_timing *t)
{
    return t->failed;
}

void gpu_timing_set_watch(struct gpu_timing *timing, const struct unit_watch *watch)
{
    timing->watch = watch && watch->gpu ? watch : NULL;
}

/* A launch ends when its lines that have left the L2 have arrived as well: else it would move more than the memory side takes in
 * its time. */
static double end_cycles(const struct gpu_timing *t)
{
    double end = 0, written = 0;
    for (unsigned i = 0; i < t->params.cores; i++) {
        end = gpu_later(end, t->core[i].end);
        written = gpu_later(written, gpu_cycles(t, mem_port_written_ns(t->core[i].port)));
    }
    return end > 0 ? gpu_later(end, written) : end;
}

double gpu_timing_end_ns(const struct gpu_timing *t)
{
    return gpu_ns(t, end_cycles(t));
}

double gpu_timing_now_ns(const struct gpu_timing *t)
{
    return t->active ? gpu_ns(t, t->now) : gpu_timing_end_ns(t);
}

uint64_t gpu_timing_issued(const struct gpu_timing *t, unsigned core)
{
    uint64_t issued = 0;
    for (unsigned i = 0; i < t->params.schedulers; i++)
        issued += t->core[core].scheduler[i].issued;
    return issued;
}

/* ---- laps ---- */

unsigned gpu_timing_laps(const struct gpu_timing *t, unsigned core, unsigned slot, struct gpu_laps *laps)
{
    const struct gpu_core_timing *c = &t->core[core];
    const struct gpu_resident_group *group = &c->group[slot];
    unsigned live = 0;
    for (unsigned i = 0; group->used && i < group->simds; i++)
        if (group->simd[i] != UINT16_MAX) {
            if (laps)
                laps[live] = c->laps[group->simd[i]];
            live++;
        }
    return live;
}

void gpu_timing_restart_laps(struct gpu_timing *t, unsigned core)
{
    if (!t->launch.lap)
        return;
    memset(t->core[core].laps, 0, (size_t)t->params.schedulers * GPU_SIMDS_MAX * sizeof *t->core[core].laps);
}

double gpu_core_now(const struct gpu_timing *t, unsigned core)
{
    double now = t->active ? t->now : end_cycles(t);
    for (unsigned i = 0; i < t->params.schedulers; i++)
        now = gpu_later(now, t->core[core].scheduler[i].time);
    return now;
}

/* Schedulers have slept for different times: each one's time up to now gets the reason for which it sleeps. */
void gpu_timing_stalls(const struct gpu_timing *t, unsigned core, double cycles[GPU_STALL_COUNT], double *total)
{
    const struct gpu_core_timing *c = &t->core[core];
    const double now = gpu_core_now(t, core);
    memset(cycles, 0, GPU_STALL_COUNT * sizeof *cycles);
    for (unsigned i = 0; i < t->params.schedulers; i++) {
        const struct gpu_scheduler *s = &c->scheduler[i];
        for (unsigned r = 0; r < GPU_STALL_COUNT; r++)
            cycles[r] += s->stall[r] / t->params.schedulers;
        cycles[s->count ? s->why : GPU_STALL_LAUNCH] += (now - s->time) / t->params.schedulers;
    }
    *total = now;
}

void gpu_timing_take_activity(struct gpu_timing *t, struct activity *into)
{
    settle_tally(t);
    activity_add(into, &t->activity);
    memset(&t->activity, 0, sizeof t->activity);
}

void gpu_timing_activity(const struct gpu_timing *t, struct activity *into)
{
    activity_add(into, &t->activity);
    add_tally(t, into);
}
