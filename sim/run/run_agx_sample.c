/* The time of a big launch of GPU machine code from some of its threadgroups. */
#include "sim/agx/gpu_sample.h"
#include "sim/chip/chip_units.h"
#include "sim/run/run_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Threadgroups that the GPU holds at a time. */
static uint64_t wave_of(const struct run_launch *l)
{
    return (uint64_t)l->m->gpu.occupancy * l->m->gpu.params.cores;
}

static uint64_t times(uint64_t count, double factor)
{
    return (uint64_t)llround((double)count * factor);
}

/* Counts of the sample stand for the whole, `factor` times as much. */
static void scale_counts(struct run_launch *l, double factor)
{
    struct run_measure *m = l->m;
    struct mem_counters *c = &m->memory;
    for (int i = 0; i < ACT_COUNT; i++)
        m->activity.count[i] = times(m->activity.count[i], factor);
    for (int level = 0; level < MEM_LEVEL_COUNT; level++) {
        c->hits[level] = times(c->hits[level], factor);
        c->misses[level] = times(c->misses[level], factor);
        c->writebacks[level] = times(c->writebacks[level], factor);
    }
    c->tlb_misses = times(c->tlb_misses, factor);
    const struct mem_traffic sample = c->traffic;
    memset(&c->traffic, 0, sizeof c->traffic);
    mem_traffic_add(&c->traffic, &sample, factor);
    if (!run_launch_totals(l))
        return;
    m->gpu.totals.instructions = times(m->gpu.totals.instructions, factor);
    m->gpu.totals.active_lanes = times(m->gpu.totals.active_lanes, factor);
    for (uint32_t i = 0; i < gpu_program_count(l->setup->program); i++)
        m->gpu.totals.issues[i] = times(m->gpu.totals.issues[i], factor);
}

/* Runs threadgroups for what they leave in the caches. */
static bool warm(struct run_launch *l, struct gpu_warmer *warmer, uint64_t first, uint64_t end)
{
    struct unit_fault fault = {0};
    if (gpu_warmer_run(warmer, first, end, 0, &fault))
        return true;
    if (fault.kind == UNIT_FAULT_NONE)
        return orch_fail(l->error, ORCH_INTERNAL, "out of memory for a sample of threadgroups");
    return gpu_setup_explain(l->setup, &fault, l->error);
}

/* Caches behind the GPU's cores, lines. */
struct reach {
    double l2_lines, slc_lines;
    bool fits;              /* what the launch touches stays in the SLC as a whole */
    uint64_t l2, slc;       /* threadgroups after which nothing is left in the cache of what was there before */
};

/* The SLC scatters pages over its sets: below this share of it hardly any set overflows. */
#define FILLED_SHARE 0.75
/* And after so many lines for each of its places hardly any place has its old line. */
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

/* How far back what is in the caches can come from: runs threadgroups from the middle of the launch on. */
static bool find_reach(struct run_launch *l, struct gpu_warmer *warmer, struct reach *r)
{
    const uint64_t groups = l->setup->group_count, turn = l->m->gpu.params.cores;
    const double lines = run_launch_buffer_bytes(l) / MEM_LINE_BYTES;
    if (!cache_lines(l, r))
        return false;
    r->fits = !l->run->request->cold && lines < FILLED_SHARE * r->slc_lines;
    r->l2 = r->slc = groups;
    gpu_warmer_settle(warmer, 0);
    run_launch_restart(l, false);
    const struct gpu_warmed start = gpu_warmer_counts(warmer);
    /* Data that cannot renew the SLC need not be tried. */
    const uint64_t most = r->fits || lines >= 2 * RENEWED * r->slc_lines ? groups / 2 : 0;
    for (uint64_t done = 0; done < most;) {
        const uint64_t end = done + turn < most ? done + turn : most;
        if (!warm(l, warmer, groups / 2 + done, groups / 2 + end))
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

/* Every line of every buffer, from begin to end and all buffers side by side. */
static void sweep(struct run_launch *l)
{
    const struct abi_kernel *k = l->setup->kernel;
    uint64_t longest = 0;
    for (unsigned i = 0; i < k->args; i++)
        longest = k->arg[i].bytes > longest ? k->arg[i].bytes : longest;
    for (uint64_t at = 0; at < longest; at += MEM_LINE_BYTES)
        for (unsigned i = 0; i < k->args; i++)
            if (at < k->arg[i].bytes)
                mem_port_warm(l->gpu->port[at / MEM_LINE_BYTES % l->gpu->params.cores], 0, l->setup->address[i] + at, MEM_LINE_BYTES,
                              MEM_ACCESS_LOAD);
}

/* So many waves end a launch together: the last one's loads and stores come in another order than those of single threadgroups. */
#define END_WAVES 2

/* The caches as the launch leaves them. */
static bool leave_caches(struct run_launch *l, struct gpu_warmer *warmer, const struct reach *r)
{
    const uint64_t groups = l->setup->group_count, last = r->fits ? r->l2 : r->slc;
    gpu_warmer_settle(warmer, 0);
    run_launch_restart(l, false);
    if (l->run->request->cold)
        return true;
    if (r->fits)
        sweep(l);
    gpu_setup_restore(l->setup);
    const uint64_t end = END_WAVES * wave_of(l), first = last > end ? groups - last : groups - end;
    const struct gpu_stretch stretch = {.first = groups - end, .count = end, .warm_first = groups - end};
    const struct gpu_selection selection = {.stretch = &stretch, .stretches = 1};
    struct gpu_part unused;
    if (!warm(l, warmer, first, groups - end))
        return false;
    gpu_warmer_settle(warmer, 0);
    run_launch_restart(l, true);
    return run_launch_pass(l, &selection, &unused, NULL);
}

static bool time_sample(struct run_launch *l, struct gpu_warmer *warmer)
{
    struct run_gpu *g = &l->m->gpu;
    struct gpu_sample s;
    struct gpu_part part;
    struct reach reach;
    const double begin = run_host_seconds();
    gpu_setup_restore(l->setup);
    if (!find_reach(l, warmer, &reach) || !leave_caches(l, warmer, &reach))
        return false;
    l->m->host_seconds += run_host_seconds() - begin;
    gpu_sample_choose(l->setup->group_count, wave_of(l), reach.fits ? reach.l2 : reach.slc, &s);
    const struct gpu_selection selection = {s.stretch, s.stretches, warmer, s.progress};
    if (!run_launch_measure(l, &selection, true, &part, run_launch_totals(l)))
        return false;
    const struct gpu_part whole = gpu_sample_scale(&s, part, g->work, &g->scale_uncertainty);
    g->device_ns = run_launch_repeats(l) * whole.ns;
    g->groups_timed = s.groups_timed;
    scale_counts(l, run_launch_repeats(l) * whole.work / part.work);
    return true;
}

/* Above so many instructions of simdgroups `--detail auto` times a sample: some seconds of simulation. */
#define AUTO_INSTRUCTIONS 0x1p24

/* Instructions of the launch, from a few threadgroups of it. */
static bool estimate_work(struct run_launch *l, struct gpu_warmer *warmer, double *work)
{
    enum { TRIED = 8 };
    const uint64_t groups = l->setup->group_count, before = gpu_warmer_counts(warmer).work;
    gpu_setup_restore(l->setup);
    for (uint64_t i = 0; i < TRIED; i++) {
        const uint64_t group = groups * (2 * i + 1) / (2 * TRIED);
        if (!warm(l, warmer, group, group + 1))
            return false;
    }
    *work = (double)(gpu_warmer_counts(warmer).work - before) / TRIED * (double)groups;
    return true;
}

static bool may_sample(const struct run_launch *l)
{
    const char *detail = l->run->request->detail;
    return !(detail && strcmp(detail, "instr") == 0) && gpu_sample_worthwhile(l->setup->group_count, wave_of(l), INFINITY);
}

bool run_launch_sample(struct run_launch *l, bool *done)
{
    const char *detail = l->run->request->detail;
    const bool automatic = !detail || strcmp(detail, "auto") == 0;
    double work = 0;
    *done = false;
    if (!may_sample(l))
        return true;
    struct gpu_warmer *warmer = gpu_warmer_create(l->setup, l->gpu->port, l->m->gpu.params.cores, wave_of(l));
    bool ok = warmer || orch_fail(l->error, ORCH_INTERNAL, "out of memory for a sample of threadgroups");
    ok = ok && estimate_work(l, warmer, &work);
    *done = gpu_sample_worthwhile(l->setup->group_count, wave_of(l), work) && (!automatic || work > AUTO_INSTRUCTIONS);
    if (ok && *done)
        ok = time_sample(l, warmer);
    gpu_warmer_free(warmer);
    return ok;
}

/* Per-threadgroup counts weigh a sample; they are gathered only where one is possible. */
bool run_launch_prepare(struct run_launch *l)
{
    if (l->run->request->mode != RUN_FULL || !may_sample(l))
        return true;
    l->m->gpu.work = calloc(l->setup->group_count, sizeof *l->m->gpu.work);
    return l->m->gpu.work || orch_fail(l->error, ORCH_INTERNAL, "out of memory for the counts of %llu threadgroups",
                                       (unsigned long long)l->setup->group_count);
}
