#include "sim/workload/cpu/crew_sample.h"

#include "sim/workload/cpu/core_phases.h"
#include "units/cpu/cpu_system.h"

#include <math.h>
#include <stdlib.h>

/* What a clock is off by is made up for by so much of what passes, at most: no stretch may seem to take no time. */
#define MAKE_UP 0.25

/* How often a kind of work whose pace nobody knows ends a gap: when it is so rare that the windows behind did not meet it, it
 * goes at the pace of all work. */
#define SOUGHT_MOST 4

/* One core. */
struct seat {
    struct soc_core *core;
    struct core_reading before; /* of the stretch under way */
    double work;                /* its instructions; 0 = none is */
    unsigned phase;             /* its kind */
    double owes_ns;             /* to be made up for */
};

/* Cores that go at one pace: those of a cluster share its L2 and its AMX block, and clusters of one kind with as many cores at
 * work are alike. Cores that run in step must stay so: packing panels of a power of two in step on four cores of M2, where all
 * want another row of the same bank, takes twice as long as with the cores apart. */
struct group {
    struct core_sample sample; /* what kinds of work take */
    unsigned seats;
    double passed_ns; /* by which clocks went on for what was skipped, of all its cores */
};

struct crew_sample {
    struct core_sample_shape each; /* as of one core */
    struct core_sample all;        /* the work of all cores: decides which parts are timed */
    struct core_phases phases;
    enum core_sample_part part;
    unsigned seats, sought[CORE_SAMPLE_KINDS];
    struct seat seat[CPU_LINUX_CORES];
    struct group cluster[CPU_LINUX_CORES], kind[2]; /* all cores of a cluster; all E cores, all P cores */
};

struct crew_sample *crew_sample_create(const struct core_sample_shape *shape)
{
    struct crew_sample *const s = calloc(1, sizeof *s);
    if (s) {
        s->each = *shape;
        core_sample_begin(&s->all, shape);
    }
    return s;
}

void crew_sample_free(struct crew_sample *s)
{
    free(s);
}

static void join(const struct crew_sample *s, struct group *g)
{
    if (g->seats++ > 0)
        return;
    core_sample_begin(&g->sample, &s->each);
    core_sample_enter(&g->sample, s->all.part);
}

/* The work that is timed from the start on, of so many cores. */
static double start_of(const struct crew_sample *s, unsigned cores)
{
    return fmax(s->each.first + (cores - 1) * s->each.first_more, s->each.first_part * s->each.expected);
}

void crew_sample_join(struct crew_sample *s, unsigned number, struct soc_core *core)
{
    s->seat[number].core = core;
    join(s, &s->cluster[core->cluster]);
    join(s, &s->kind[core->performance]);
    if (s->all.part == CORE_SAMPLE_START)
        s->all.left += start_of(s, number + 1) - (number ? start_of(s, number) : s->each.first);
    s->seats = number + 1;
    s->all.shape.lead = s->seats * s->each.lead;
    s->all.shape.spread = s->seats * s->each.spread;
    s->all.shape.window = s->seats * s->each.window;
    s->all.shape.gap_least = s->seats * s->each.gap_least;
    s->all.shape.gap_most = s->seats * s->each.gap_most;
}

/* ---- time of what is skipped ---- */

static struct group *group_of(struct crew_sample *s, const struct seat *seat)
{
    const struct soc_core *const core = seat->core;
    struct group *const own = &s->cluster[core->cluster];
    for (unsigned i = 0; i < s->seats; i++) {
        const struct soc_core *const other = s->seat[i].core;
        if (other->performance == core->performance && s->cluster[other->cluster].seats != own->seats)
            return own;
    }
    return &s->kind[core->performance];
}

static void pass(const struct soc_core *core, double ns, const struct core_reading *pace)
{
    cpu_timing_pass(core->timing, ns, pace->stall);
    if (core->amx)
        amx_block_pass(core->amx, core->slot, cpu_timing_done_at(core->timing), pace->stall + CPU_STALL_COUNT);
}

/* Of what was timed so far. In a warm-up an instruction takes a cycle: that only decides in which order cores touch lines. */
static struct core_reading mean_pace(const struct core_sample *own, double clock_ghz)
{
    struct core_reading mean = {.ns = 0};
    if (own->timed_work <= 0)
        return (struct core_reading){.ns = 1 / clock_ghz};
    core_reading_add(&mean, &own->counted, 1 / own->timed_work);
    core_reading_add(&mean, &own->lead, 1 / own->timed_work);
    return mean;
}

static void pass_skipped(struct crew_sample *s, struct seat *seat, unsigned phase, double work)
{
    struct group *const c = group_of(s, seat);
    const bool known = c->sample.kind[phase].known;
    const struct core_reading pace = known ? c->sample.kind[phase].pace : mean_pace(&c->sample, seat->core->clock_ghz);
    const double ns = work * pace.ns, most = MAKE_UP * ns, owed = fmax(-most, fmin(most, seat->owes_ns));
    seat->owes_ns -= owed;
    s->cluster[seat->core->cluster].passed_ns += ns + owed;
    s->kind[seat->core->performance].passed_ns += ns + owed;
    pass(seat->core, ns + owed, &pace);
    if (!known && s->sought[phase]++ < SOUGHT_MOST)
        core_sample_end_gap(&s->all);
}

/* ---- parts ---- */

/* All go on with the part that all are in. At the end of a window it is known what clocks are off by. */
static void follow(struct crew_sample *s)
{
    const enum core_sample_part before = s->part;
    s->part = s->all.part;
    for (unsigned i = 0; i < CPU_LINUX_CORES; i++)
        if (s->cluster[i].seats)
            core_sample_enter(&s->cluster[i].sample, s->part);
    for (unsigned i = 0; i < 2; i++)
        if (s->kind[i].seats)
            core_sample_enter(&s->kind[i].sample, s->part);
    for (unsigned i = 0; i < s->seats && before != s->part && s->part == CORE_SAMPLE_GAP && !s->all.shape.blind; i++) {
        const struct group *const g = group_of(s, &s->seat[i]);
        s->seat[i].owes_ns = (core_sample_extra_ns(&g->sample) - g->passed_ns) / g->seats;
    }
}

static void skip(struct crew_sample *s, struct seat *seat, unsigned phase, double work)
{
    cpu_timing_skip(seat->core->timing);
    pass_skipped(s, seat, phase, work);
    core_sample_passed(&s->cluster[seat->core->cluster].sample, phase, work);
    core_sample_passed(&s->kind[seat->core->performance].sample, phase, work);
    core_sample_passed(&s->all, phase, work);
    follow(s);
}

bool crew_sample_ran(struct crew_sample *s, unsigned number, const struct cpu_trace *trace, double instructions)
{
    struct seat *const seat = &s->seat[number];
    if (trace->blocks == 0)
        return true;
    if (!s->all.shape.blind)
        core_phases_note(&s->phases, trace);
    const unsigned phase = s->all.shape.blind ? 0 : core_phases_of(&s->phases);
    if (s->all.part == CORE_SAMPLE_GAP) {
        skip(s, seat, phase, instructions);
        return false;
    }
    core_reading_take(&seat->before, seat->core, cpu_timing_done_at(seat->core->timing));
    seat->work = instructions;
    seat->phase = phase;
    return true;
}

void crew_sample_settle(struct crew_sample *s, unsigned number)
{
    struct seat *const seat = &s->seat[number];
    struct core_reading after;
    if (seat->work == 0 || cpu_timing_pending(seat->core->timing))
        return;
    core_reading_take(&after, seat->core, cpu_timing_done_at(seat->core->timing));
    core_sample_timed(&s->cluster[seat->core->cluster].sample, seat->phase, seat->work, &seat->before, &after);
    core_sample_timed(&s->kind[seat->core->performance].sample, seat->phase, seat->work, &seat->before, &after);
    core_sample_timed(&s->all, seat->phase, seat->work, &seat->before, &after);
    seat->work = 0;
    follow(s);
}

struct core_sampled crew_sample_end(struct crew_sample *s, unsigned last)
{
    const struct group *const ended = group_of(s, &s->seat[last]);
    struct core_sampled r = {.windows = s->all.windows, .sampled = s->all.timed_work < s->all.work};
    if (r.sampled)
        r.extra_ns = (core_sample_extra_ns(&ended->sample) - ended->passed_ns) / ended->seats;
    for (unsigned i = 0; i < 2; i++) {
        struct group *const g = &s->kind[i];
        if (!g->seats)
            continue;
        const struct core_sampled one = core_sample_end(&g->sample);
        for (int m = 0; m < MEM_TIMED_COUNTS; m++)
            r.memory[m] += one.sampled ? one.memory[m] : g->sample.counted.memory[m];
        r.sd_ns = fmax(r.sd_ns, one.sd_ns / g->seats); /* cores err alike */
    }
    r.work = s->all.work;
    r.timed_work = s->all.timed_work;
    return r.sampled ? r : (struct core_sampled){.sampled = false};
}
