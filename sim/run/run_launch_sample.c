/* The time of a large launch of GPU machine code, extended from some of its threadgroups. */
#include "sim/workload/gpu/gpu_sample.h"
#include "sim/base/host_time.h"
#include "sim/chip/chip_units.h"
#include "sim/run/run_internal.h"
#include "sim/run/run_launch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint64_t times(uint64_t count, double factor)
{
    return (uint64_t)llround((double)count * factor);
}

/* Multiplies the counts by the number of repetitions, and those of executed instructions by what was not executed, too. */
static void scale_counts(struct run_launch *l, double repeats, double executed)
{
    struct run_measure *m = l->m;
    const struct gpu_counted none = {.activity = {0}};
    struct gpu_counted more;
    gpu_counted_set(&more, &m->activity, &m->memory, none.stall_cycles);
    for (double i = 1; i < repeats; i++)
        gpu_counted_give(&more, &m->activity, &m->memory);
    if (!run_launch_totals(l))
        return;
    m->gpu.totals.instructions = times(m->gpu.totals.instructions, repeats * executed);
    m->gpu.totals.active_lanes = times(m->gpu.totals.active_lanes, repeats * executed);
    for (uint32_t i = 0; i < gpu_program_count(l->setup->program); i++)
        m->gpu.totals.issues[i] = times(m->gpu.totals.issues[i], repeats * executed);
}

/* The caches behind the GPU's cores, in lines. */
struct reach {
    double l2_lines, slc_lines;
    bool fits;        /* what the launch touches stays in the SLC as a whole */
    uint64_t l2, slc; /* number of threadgroups that replace everything in the cache */
};

/* New lines per place of a cache after which hardly any place holds its old line. */
#define RENEWED 1.5

static bool cache_lines(const struct run_launch *l, struct reach *r)
{
    struct mem_params memory;
    unsigned first = 0;
    if (!chip_mem_params(l->run->request->chip, NULL, &memory, l->error) ||
        !chip_gpu_memory(l->run->request->chip, &memory, &first, l->error))
        return false;
    *r = (struct reach){.slc_lines = 1024.0 * memory.slc.kib * memory.dies / MEM_LINE_BYTES};
    for (unsigned c = first; c < memory.cluster_count; c++)
        r->l2_lines += 1024.0 * memory.cluster[c].l2.kib / MEM_LINE_BYTES;
    return true;
}

/* Finds how many threadgroups back the contents of the caches can come from, by running threadgroups from the middle of the
 * launch. */
static bool find_reach(struct run_launch *l, struct gpu_warmer *warmer, struct reach *r)
{
    const uint64_t groups = l->setup->group_count, turn = l->m->gpu.params.cores;
    const double lines = run_launch_buffer_bytes(l) / MEM_LINE_BYTES;
    if (!cache_lines(l, r))
        return false;
    r->fits = !l->run->request->cold && lines < RUN_SLC_FILLED * r->slc_lines;
    r->l2 = r->slc = groups;
    gpu_warmer_settle(warmer, 0);
    run_launch_restart(l, false);
    const struct gpu_warmed start = gpu_warmer_counts(warmer);
    /* Where the data cannot renew the SLC there is nothing to find. */
    const uint64_t most = r->fits || lines >= 2 * RENEWED * r->slc_lines ? groups / 2 : 0;
    for (uint64_t done = 0; done < most;) {
        const uint64_t end = done + turn < most ? done + turn : most;
        if (!run_launch_skip(l, warmer, groups / 2 + done, groups / 2 + end))
            return false;
        done = end;
        const struct gpu_warmed now = gpu_warmer_counts(warmer);
        if (r->l2 == groups && (double)(now.into_l2 - start.into_l2) >= RENEWED * r->l2_lines)
            r->l2 = done;
        if ((double)(now.into_slc - start.into_slc) >= RENEWED * r->slc_lines)
            r->slc = done;
        if (r->slc < groups || (r->fits && r->l2 < groups))
            break;
    }
    return true;
}

/* Touches every line of every buffer from begin to end, all buffers side by side. */
static void sweep(struct run_launch *l)
{
    const struct abi_kernel *k = l->setup->kernel;
    uint64_t longest = 0;
    for (unsigned i = 0; i < k->args; i++)
        longest = k->arg[i].bytes > longest ? k->arg[i].bytes : longest;
    for (uint64_t at = 0; at < longest; at += MEM_LINE_BYTES)
        for (unsigned i = 0; i < k->args; i++)
            if (at < k->arg[i].bytes)
                mem_port_warm(l->gpu->port[at / MEM_LINE_BYTES % l->gpu->params.cores], 0, l->setup->address[i] + at,
                              MEM_LINE_BYTES, MEM_ACCESS_LOAD);
}

/* Fills the caches as the launch leaves them. */
static bool leave_caches(struct run_launch *l, struct gpu_warmer *warmer, const struct reach *r)
{
    gpu_warmer_settle(warmer, 0);
    run_launch_restart(l, false);
    if (l->run->request->cold)
        return true;
    if (r->fits)
        sweep(l);
    return run_launch_leave(l, warmer, r->fits ? r->l2 : r->slc);
}

/* ---- the same launch at another clock ---- */

static const struct run_pace *pace_elsewhere(const struct run_launch *l)
{
    const struct run_paces *p = l->run->request->paces;
    return p && l->run->paces.launches < p->launches ? &p->launch[l->run->paces.launches] : NULL;
}

bool run_launch_was_sampled(const struct run_launch *l)
{
    const struct run_pace *p = pace_elsewhere(l);
    return p && p->ns > 0;
}

/* Times only the first stretch of the sample: a launch begins in the same way at every clock. */
static bool time_first_stretch(struct run_launch *l, struct gpu_warmer *warmer, const struct run_pace *elsewhere)
{
    struct run_gpu *g = &l->m->gpu;
    struct gpu_sample s;
    struct gpu_part part;
    const struct reach reach = {.fits = elsewhere->warm > 0, .l2 = elsewhere->warm};
    run_launch_rewind(l);
    run_launch_restart(l, false);
    if (reach.fits && !leave_caches(l, warmer, &reach))
        return false;
    gpu_sample_choose(l->setup->group_count, run_launch_wave(l), 0, 0, &s);
    const struct gpu_selection selection = {.stretch = s.stretch, .stretches = 1, .warmer = warmer, .progress = s.progress};
    if (!run_launch_measure(l, &selection, true, &part, run_launch_totals(l)))
        return false;
    run_launch_count(l, &part.beside);
    g->device_ns = elsewhere->ns * gpu_sample_first_pace(&s) / elsewhere->first;
    g->groups_timed = s.stretch[0].count;
    g->timed_share = (double)g->groups_timed / (double)l->setup->group_count;
    return true;
}

static void note_pace(struct run_launch *l, const struct gpu_sample *s, const struct reach *reach)
{
    struct run_paces *p = &l->run->paces;
    if (p->launches < RUN_PACES)
        p->launch[p->launches] = (struct run_pace){l->m->gpu.device_ns, gpu_sample_first_pace(s), reach->fits ? reach->l2 : 0};
}

/* ---- the whole ---- */

static bool time_sample(struct run_launch *l, struct gpu_warmer *warmer)
{
    struct run_gpu *g = &l->m->gpu;
    struct gpu_sample s;
    struct gpu_part part;
    struct reach reach;
    const double begin = host_seconds();
    run_launch_rewind(l);
    if (!find_reach(l, warmer, &reach) || !leave_caches(l, warmer, &reach))
        return false;
    l->m->host_seconds += host_seconds() - begin;
    /* Empty caches take writes for a while before any line has to go. */
    const uint64_t filling = l->run->request->cold && reach.slc < l->setup->group_count ? reach.slc : 0;
    gpu_sample_choose(l->setup->group_count, run_launch_wave(l), filling, reach.fits ? reach.l2 : reach.slc, &s);
    const struct gpu_selection selection = {
        .stretch = s.stretch, .stretches = s.stretches, .warmer = warmer, .progress = s.progress};
    if (!run_launch_measure(l, &selection, true, &part, run_launch_totals(l)))
        return false;
    const struct gpu_part whole = gpu_sample_scale(&s, part, g->work, l->run->request->cold, &g->scale_uncertainty);
    run_launch_count(l, &whole.beside);
    g->device_ns = run_repeats(l->run) * whole.ns;
    g->groups_timed = s.groups_timed;
    g->timed_share = whole.timed_work / whole.work;
    note_pace(l, &s, &reach);
    scale_counts(l, run_repeats(l->run), whole.work / part.work);
    return true;
}

bool run_launch_sample(struct run_launch *l)
{
    struct gpu_warmer *warmer = run_launch_warmer(l);
    const bool again = run_launch_was_sampled(l);
    const bool ok = warmer && (again ? time_first_stretch(l, warmer, pace_elsewhere(l)) : time_sample(l, warmer));
    gpu_warmer_free(warmer);
    return ok;
}
