/* The cores of a program, and which of its threads is on which. */
#include "sim/workload/cpu/crew_job_internal.h"

#include <math.h>

/* ---- seats ---- */

bool crew_seat_busy(const struct crew_job *c, unsigned i)
{
    return cpu_linux_on(c->system, i) != 0;
}

void crew_share(struct crew_job *c)
{
    if (c->shared)
        return;
    c->shared = true;
    *cpu_linux_unit(c->system, 0) = core_job_amx(c->seat[0].job);
    if (c->samples)
        c->sample = crew_sample_create(&c->shape); /* without it, everything is timed */
    core_job_share(c->seat[0].job, c->sample, 0);
}

/* The next core of the chip; the clocks follow the number of cores that are used. */
static bool place(struct crew_job *c, struct soc_core **core, struct orch_error *error)
{
    struct soc_core *cores[CPU_LINUX_CORES];
    *core = NULL;
    if (!c->seat[0].core)
        return true;
    if (!soc_place(c->cores.soc, c->seats + 1, c->cores.choice, cores, error))
        return false;
    *core = cores[c->seats];
    soc_share_space(c->cores.soc, *core, c->seat[0].core);
    cpu_timing_set_watch((*core)->timing, c->cores.watch, c->seats);
    return true;
}

static bool open_seat(struct crew_job *c, double clock_ns, struct orch_error *error)
{
    struct seat *const s = &c->seat[c->seats];
    if (!place(c, &s->core, error))
        return false;
    s->cpu = s->own_cpu = cpu_core_create(c->space);
    if (!s->cpu)
        return orch_no_memory(error);
    cpu_core_set_host(s->cpu, cpu_core_host(c->seat[0].cpu));
    cpu_core_set_system(s->cpu, cpu_linux_hook(c->system));
    s->job = core_job_create(s->cpu, c->space, c->gen, s->core, c->max_instructions, error);
    if (!s->job)
        return false;
    if (c->cores.steers)
        core_job_steer(s->job);
    core_job_share(s->job, c->sample, c->seats);
    core_job_join(s->job, c->seat[0].job, clock_ns);
    s->joined_ns = clock_ns + crew_job_slept_ns(c);
    core_job_tell(s->job, c->progress, c->doing);
    cpu_linux_add_core(c->system, s->cpu);
    c->seats++;
    return true;
}

/* ---- which thread is where ---- */

static bool seat_thread(struct crew_job *c, unsigned i, double since_ns, struct orch_error *error)
{
    struct seat *const s = &c->seat[i];
    cpu_linux_enter(c->system, i);
    void **const unit = cpu_linux_unit(c->system, i);
    *unit = core_job_take_amx(s->job, *unit);
    if (!*unit)
        return orch_no_memory(error);
    core_job_idle_until(s->job, since_ns);
    s->slice_end_ns = core_job_clock_ns(s->job) + SLICE_NS;
    return true;
}

bool crew_seat_slow(const struct crew_job *c, unsigned i)
{
    return c->seat[i].core && !c->seat[i].core->performance;
}

/* An idle core for the next thread, a P core if there is one: the one that it was on, else the first. -1 = none. */
static int idle_seat(const struct crew_job *c, unsigned last)
{
    int best = -1;
    if (last < c->seats && !crew_seat_busy(c, last))
        best = (int)last;
    for (unsigned i = 0; i < c->seats && (best < 0 || (!c->cores.stay && crew_seat_slow(c, (unsigned)best))); i++)
        if (!crew_seat_busy(c, i) && (best < 0 || !crew_seat_slow(c, i)))
            best = (int)i;
    return best;
}

bool crew_has_idle_fast(const struct crew_job *c, double clock_ns)
{
    for (unsigned i = 0; i < c->seats && !c->cores.stay; i++)
        if (!crew_seat_busy(c, i) && !crew_seat_slow(c, i) && core_job_clock_ns(c->seat[i].job) <= clock_ns)
            return true;
    return false;
}

bool crew_seat_ready(struct crew_job *c, struct orch_error *error)
{
    const unsigned most = c->cores.most ? c->cores.most : 1;
    uint64_t since_ns;
    unsigned last;
    while (cpu_linux_next(c->system, &since_ns, &last)) {
        crew_share(c);
        int i = idle_seat(c, last);
        if (i < 0 && c->seats == most)
            break;
        if (i < 0 && !open_seat(c, (double)since_ns, error))
            return false;
        i = i < 0 ? (int)c->seats - 1 : i;
        if (!seat_thread(c, (unsigned)i, (double)since_ns, error))
            return false;
    }
    return true;
}
