/* Timed passes over threadgroups of a launch. */
#include "sim/run/interval.h"
#include "sim/base/host_time.h"
#include "sim/run/gpu/run_launch.h"
#include "units/mem/cache.h"
#include "sim/workload/gpu/gpu_job.h"

#include <string.h>

/* ---- what is counted ---- */

/* The stalls of the core that was busy longest, and in the mean what was not timed would add. */
static void read_stalls(struct run_launch *l, const struct gpu_counted *beside)
{
    struct run_gpu *g = &l->m->gpu;
    double cycles[GPU_STALL_COUNT], total = 0, more = 0;
    const double issue = interval_gpu_stalls(l->gpu->timing, g->params.cores, cycles);
    for (int i = 0; i < GPU_STALL_COUNT; i++) {
        total += cycles[i];
        more += beside->stall_cycles[i];
        g->stalls[i] += cycles[i] + beside->stall_cycles[i];
    }
    g->issue_share = total + more > 0 ? (issue * total + beside->stall_cycles[GPU_STALL_ISSUE]) / (total + more) : 0;
}

static void mean_stalls(const struct run_launch *l, double cycles[GPU_STALL_COUNT])
{
    const unsigned cores = l->m->gpu.params.cores;
    memset(cycles, 0, GPU_STALL_COUNT * sizeof *cycles);
    for (unsigned core = 0; core < cores; core++) {
        double own[GPU_STALL_COUNT], total;
        gpu_timing_stalls(l->gpu->timing, core, own, &total);
        for (unsigned i = 0; i < GPU_STALL_COUNT; i++)
            cycles[i] += own[i] / cores;
    }
}

/* Reading takes the activity, so that it is kept. */
static void read_counts(void *context, struct gpu_counted *counts)
{
    struct run_launch *l = context;
    struct mem_counters memory;
    double cycles[GPU_STALL_COUNT];
    soc_take_activity(l->m->soc, &l->taken);
    mem_system_counters(soc_memory(l->m->soc), &memory);
    mean_stalls(l, cycles);
    gpu_counted_set(counts, &l->taken, &memory, cycles);
}

/* ---- passes ---- */

bool run_launch_pass(struct run_launch *l, const struct gpu_selection *selection, struct run_part *part,
                     struct gpu_totals *totals)
{
    struct engine *engine = engine_create();
    struct gpu_selection with = *selection;
    const struct gpu_leaps leaps = {l->lap, l->gpu->port, l->slc_lines / (double)run_launch_wave(l)};
    with.leaps = l->lap && !selection->window ? &leaps : NULL; /* windows are amid long loops, and shorter than leaps are worth */
    const struct gpu_skips skips = {&l->work, l->gpu->port, l->slc_lines, l->empty};
    with.skips = l->skips && !selection->first && !selection->window ? &skips : NULL;
    with.replay = l->replay;
    with.reader = (struct gpu_reader){read_counts, l};
    with.profile = l->profile.row && (part || selection->window) ? &l->profile : NULL;
    memset(&l->taken, 0, sizeof l->taken);
    struct launch_watch watch;
    run_launch_watch(&watch, l);
    struct gpu_job *job = gpu_job_create(l->setup, &l->gpu->params, l->gpu->timing, &with, l->error);
    double end_ns;
    bool ok = job && (engine || orch_no_memory(l->error));
    if (ok) {
        const struct engine_task task = gpu_job_task(job);
        ok = (engine_add(engine, &task, NULL, 0) >= 0 || orch_no_memory(l->error)) && engine_run(engine, &end_ns, l->error);
    }
    if (ok && part)
        *part = (struct run_part){.ns = gpu_job_end_ns(job) - gpu_job_begin_ns(job),
                                  .timed_share = gpu_job_timed_share(job),
                                  .skipped = gpu_job_skipped(job),
                                  .uncertainty = gpu_job_uncertainty(job),
                                  .beside = *gpu_job_leapt(job)};
    ok = ok && (!totals || gpu_job_add_totals(job, totals, l->error));
    l->empty = false;
    run_launch_unwatch(&watch);
    gpu_job_free(job);
    engine_free(engine);
    return ok;
}

/* Reads the data once, from cores by turns; what does not fit drops out as it does there. */
static void place_present(const struct run_launch *l)
{
    const unsigned cores = l->m->gpu.params.cores;
    for (unsigned i = 0; i < l->presents; i++) {
        const struct run_range *const r = &l->present[i];
        for (uint64_t at = r->address & ~(uint64_t)(MEM_LINE_BYTES - 1); at < r->address + r->bytes; at += MEM_LINE_BYTES)
            mem_port_warm(l->gpu->port[mem_page_hash(at / MEM_LINE_BYTES) % cores], 0, at, MEM_LINE_BYTES, MEM_ACCESS_LOAD);
    }
}

void run_launch_restart(struct run_launch *l, bool keep_caches)
{
    struct activity unused = {{0}};
    soc_take_activity(l->m->soc, &unused);
    soc_restart(l->m->soc, keep_caches);
    if (!keep_caches)
        place_present(l);
    l->empty = (l->empty || !keep_caches) && l->presents == 0;
}

bool run_launch_measure(struct run_launch *l, const struct gpu_selection *selection, bool keep_caches, struct run_part *part,
                        struct gpu_totals *totals)
{
    run_launch_restart(l, keep_caches);
    run_launch_rewind(l);
    const double begin = host_seconds();
    if (!run_launch_pass(l, selection, part, totals))
        return false;
    l->m->host_seconds += host_seconds() - begin;
    return true;
}

void run_launch_count(struct run_launch *l, const struct gpu_counted *beside)
{
    struct mem_counters memory;
    soc_take_activity(l->m->soc, &l->taken);
    mem_system_counters(soc_memory(l->m->soc), &memory);
    gpu_counted_give(beside, &l->taken, &memory);
    activity_add(&l->m->activity, &l->taken);
    l->idle_beside += beside->stall_cycles[GPU_STALL_LAUNCH];
    run_memory_add(&l->m->memory, &memory);
    read_stalls(l, beside);
}

struct gpu_totals *run_launch_totals(const struct run_launch *l)
{
    return l->run->request->mode == RUN_TIMING ? &l->m->gpu.totals : NULL;
}
