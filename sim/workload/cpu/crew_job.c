#include "sim/workload/cpu/crew_job_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static bool is_pending(const struct seat *s)
{
    return s->core && cpu_timing_pending(s->core->timing);
}

/* The busy core that is behind the others; *next_ns is where the second one is. */
static int behind(const struct crew_job *c, double *now_ns, double *next_ns)
{
    int best = -1;
    *now_ns = *next_ns = INFINITY;
    for (unsigned i = 0; i < c->seats; i++) {
        const double now = crew_seat_busy(c, i) ? core_job_now(c->seat[i].job) : INFINITY;
        if (now < *now_ns) {
            *next_ns = *now_ns;
            *now_ns = now;
            best = (int)i;
        } else if (now < *next_ns) {
            *next_ns = now;
        }
    }
    return best;
}

/* Time that the only thread has waited goes by, on the core that it is on. */
static void sleep_on(struct crew_job *c)
{
    const uint64_t slept_ns = cpu_linux_slept_ns(c->system);
    for (unsigned i = 0; i < c->seats && slept_ns > c->slept_ns; i++)
        core_job_sleep(c->seat[i].job, (double)(slept_ns - c->slept_ns), i == c->latest);
    c->slept_ns = slept_ns;
}

/* ---- the end ---- */

static enum engine_progress end(struct crew_job *c, enum cpu_stop stop, const struct unit_fault *fault)
{
    c->over = true;
    c->stop = stop;
    c->fault = *fault;
    for (unsigned i = 0; i < c->seats; i++) {
        struct soc_core *const core = c->seat[i].core;
        while (core && cpu_timing_pending(core->timing))
            cpu_timing_advance(core->timing, INFINITY);
        core_job_settle(c->seat[i].job);
    }
    sleep_on(c);
    return ENGINE_DONE;
}

/* The thread of a core has stopped for good, unless it handles its fault. */
static bool stopped(struct crew_job *c, unsigned i)
{
    struct core_job *const job = c->seat[i].job;
    const struct unit_fault *const fault = core_job_fault(job);
    if (core_job_stop(job) == CPU_STOP_FAULT && cpu_linux_handle_fault(c->system, c->seat[i].cpu, fault)) {
        core_job_go_on(job);
        return false;
    }
    c->interrupted = core_job_interrupted(job);
    end(c, core_job_stop(job), fault);
    if (c->stop == CPU_STOP_FAULT && c->seats > 1) {
        const struct unit_fault own = c->fault;
        snprintf(c->fault.text, sizeof c->fault.text, "thread %d: %.180s", cpu_linux_on(c->system, i), own.text);
    }
    return true;
}

/* ---- steps ---- */

/* Nothing runs: time goes on to what is due. False: the program is over. */
static bool wait_for_due(struct crew_job *c)
{
    struct unit_fault fault = {0};
    const uint64_t due = cpu_linux_due_ns(c->system);
    if (due == UINT64_MAX) {
        cpu_linux_explain_deadlock(c->system, &fault);
        c->deadlock = true;
        end(c, CPU_STOP_FAULT, &fault);
        return false;
    }
    if (!cpu_linux_pass(c->system, due, &fault)) {
        end(c, CPU_STOP_FAULT, &fault);
        return false;
    }
    return true;
}

/* Before core `i` goes on: what is due, whose turn it is, and signals. *again: look anew who is behind. False: it is over. */
static bool prepare(struct crew_job *c, unsigned i, bool *again, double *until_ns)
{
    struct unit_fault fault = {0};
    struct seat *const s = &c->seat[i];
    const double clock = core_job_clock_ns(s->job);
    const uint64_t due = cpu_linux_due_ns(c->system);
    uint64_t unused;
    unsigned last;
    *again = true;
    *until_ns = INFINITY;
    if (due != UINT64_MAX)
        crew_share(c); /* so that time goes by in short steps */
    if (due <= clock)
        return cpu_linux_pass(c->system, due, &fault) || end(c, CPU_STOP_FAULT, &fault) != ENGINE_DONE;
    const bool others = cpu_linux_next(c->system, &unused, &last);
    if ((others && clock >= s->slice_end_ns) || (crew_seat_slow(c, i) && crew_has_idle_fast(c, clock))) {
        cpu_linux_preempt(c->system, i, (uint64_t)clock);
        return true;
    }
    if (!cpu_linux_signals(c->system, i, &fault)) {
        fault.pc = cpu_core_pc(s->cpu);
        return end(c, CPU_STOP_FAULT, &fault) != ENGINE_DONE;
    }
    *again = false;
    if (others)
        *until_ns = core_job_now(s->job) + (s->slice_end_ns - clock);
    if (due != UINT64_MAX)
        *until_ns = fmin(*until_ns, core_job_now(s->job) + ((double)due - clock));
    return true;
}

/* Lets core `i` run. */
static void run_seat(struct crew_job *c, unsigned i, double until_ns)
{
    struct seat *const s = &c->seat[i];
    if (c->latest != i)
        cpu_core_clear_exclusive(s->cpu); /* another core has run meanwhile */
    c->latest = i;
    const enum engine_progress progress = core_job_run(s->job, until_ns);
    if (progress == ENGINE_DONE && stopped(c, i))
        return;
    if (!c->samples && !is_pending(s)) /* a sample would take it for a part of its pieces: the time goes by at the end */
        sleep_on(c);
    if (core_job_stop(s->job) == CPU_STOP_PAUSE && !is_pending(s))
        cpu_linux_settle(c->system, i);
    if (c->shared && crew_job_instructions(c) >= c->max_instructions)
        end(c, CPU_STOP_BUDGET, &(struct unit_fault){.pc = cpu_core_pc(s->cpu)});
}

static enum engine_progress crew_step(void *context, double limit_ns, struct orch_error *error)
{
    struct crew_job *const c = context;
    if (!c->seat[0].core)
        limit_ns = INFINITY; /* no time that others share */
    while (!c->over) {
        double now_ns, next_ns, until_ns;
        bool again;
        if (!crew_seat_ready(c, error))
            return ENGINE_FAILED;
        const int i = behind(c, &now_ns, &next_ns);
        if (i < 0) {
            if (!wait_for_due(c))
                break;
            continue;
        }
        if (now_ns > limit_ns)
            return ENGINE_MORE;
        if (is_pending(&c->seat[i])) { /* it has run on already; its time has not */
            cpu_timing_advance(c->seat[i].core->timing, fmin(limit_ns, next_ns));
            core_job_settle(c->seat[i].job);
            continue;
        }
        if (!prepare(c, (unsigned)i, &again, &until_ns))
            break;
        if (!again)
            run_seat(c, (unsigned)i, fmin(fmin(until_ns, limit_ns), next_ns));
    }
    return ENGINE_DONE;
}

static double crew_now(void *context)
{
    const struct crew_job *const c = context;
    double now_ns, next_ns, done = 0;
    if (!c->over)
        return behind(c, &now_ns, &next_ns) < 0 ? 0 : c->seat[0].core ? now_ns : 0;
    for (unsigned i = 0; i < c->seats; i++)
        if (c->seat[i].core)
            done = fmax(done, soc_core_done_at(c->seat[i].core));
    return done;
}

struct engine_task crew_job_task(struct crew_job *crew)
{
    return (struct engine_task){.name = "program", .now_ns = crew_now, .step = crew_step, .context = crew};
}

/* ---- making one ---- */

struct crew_job *crew_job_create(struct cpu_core *cpu, struct cpu_linux *system, struct mem_space *space, enum amx_gen gen,
                                 struct soc_core *core, const struct crew_cores *cores, uint64_t max_instructions,
                                 struct orch_error *error)
{
    struct crew_job *const c = calloc(1, sizeof *c);
    if (!c) {
        orch_no_memory(error);
        return NULL;
    }
    c->system = system;
    c->space = space;
    c->gen = gen;
    c->cores = *cores;
    c->max_instructions = max_instructions ? max_instructions : UINT64_MAX;
    c->slept_ns = c->before_ns = cpu_linux_slept_ns(system);
    c->seat[0] = (struct seat){.cpu = cpu, .core = core};
    c->seat[0].job = core_job_create(cpu, space, gen, core, max_instructions, error);
    if (!c->seat[0].job) {
        free(c);
        return NULL;
    }
    if (cores->steers)
        core_job_steer(c->seat[0].job);
    cpu_linux_add_core(system, cpu);
    c->seats = 1;
    return c;
}

/* Cores that threads used are again what they were. */
static void give_back(struct crew_job *c)
{
    struct soc_core *cores[CPU_LINUX_CORES];
    struct orch_error unused;
    for (unsigned i = 1; i < c->seats; i++)
        if (c->seat[i].core)
            soc_share_space(c->cores.soc, c->seat[i].core, c->seat[i].core);
    if (c->seats > 1 && c->seat[0].core)
        soc_place(c->cores.soc, 1, c->cores.choice, cores, &unused);
}

void crew_job_free(struct crew_job *c)
{
    bool more = true;
    if (!c)
        return;
    give_back(c);
    for (unsigned i = 0; c->shared && more; i++) {
        struct amx_core *const amx = cpu_linux_unit_at(c->system, i, &more);
        if (i > 0) /* the first one is its core's own */
            amx_core_free(amx);
    }
    for (unsigned i = 0; i < CPU_LINUX_CORES; i++) {
        core_job_free(c->seat[i].job);
        cpu_core_free(c->seat[i].own_cpu);
    }
    crew_sample_free(c->sample);
    free(c);
}

void crew_job_tell(struct crew_job *c, const struct work_progress *progress, const char *doing)
{
    c->progress = progress;
    c->doing = doing;
    core_job_tell(c->seat[0].job, progress, doing);
}

void crew_job_sample(struct crew_job *c, const struct core_sample_shape *shape, const struct core_sample_shape *with_amx,
                     const struct core_sample_shape *several)
{
    core_job_sample(c->seat[0].job, shape, with_amx);
    c->samples = true;
    c->shape = *several;
}

/* ---- what it did ---- */

struct core_sampled crew_job_sampled(struct crew_job *c)
{
    struct core_sampled all = c->sample ? crew_sample_end(c->sample, c->latest) : (struct core_sampled){.sampled = false};
    if (!all.sampled)
        return core_job_sampled(c->seat[0].job);
    core_job_add_alone(c->seat[0].job, &all);
    return all;
}

enum cpu_stop crew_job_stop(const struct crew_job *c)
{
    return c->stop;
}

bool crew_job_strayed(const struct crew_job *c)
{
    bool strayed = false;
    for (unsigned i = 0; i < c->seats; i++)
        strayed |= cpu_core_strayed(c->seat[i].cpu);
    return strayed;
}

bool crew_job_deadlock(const struct crew_job *c)
{
    return c->deadlock || (c->stop == CPU_STOP_FAULT && cpu_linux_stuck(c->system));
}

bool crew_job_interrupted(const struct crew_job *c)
{
    return c->interrupted;
}

const struct unit_fault *crew_job_fault(const struct crew_job *c)
{
    return &c->fault;
}

int crew_job_exit_code(const struct crew_job *c)
{
    return cpu_core_exit_code(c->seat[c->latest].cpu);
}

const struct cpu_core *crew_job_cpu(const struct crew_job *c)
{
    return c->seat[c->latest].cpu;
}

uint64_t crew_job_pc(const struct crew_job *c)
{
    return cpu_core_pc(c->seat[c->latest].cpu);
}

uint64_t crew_job_instructions(const struct crew_job *c)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < c->seats; i++)
        sum += core_job_instructions(c->seat[i].job);
    return sum;
}

uint64_t crew_job_amx_instructions(const struct crew_job *c)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < c->seats; i++)
        sum += core_job_amx_instructions(c->seat[i].job);
    return sum;
}

void crew_job_amx_counts(const struct crew_job *c, uint64_t count[32])
{
    for (unsigned i = 0; i < c->seats; i++)
        for (unsigned op = 0; op < 32; op++)
            count[op] += core_job_amx_counts(c->seat[i].job)[op];
}

unsigned crew_job_cores(const struct crew_job *c)
{
    return c->seats;
}

double crew_job_slept_ns(const struct crew_job *c)
{
    return (double)(c->slept_ns - c->before_ns);
}

struct soc_core *crew_job_core(const struct crew_job *c, unsigned index, double *joined_ns)
{
    *joined_ns = c->seat[index].joined_ns;
    return c->seat[index].core;
}
