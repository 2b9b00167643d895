/* Timed passes over threadgroups of a launch. */
#include "sim/run/interval.h"
#include "sim/base/host_time.h"
#include "sim/run/run_launch.h"
#include "sim/workload/gpu/gpu_job.h"

static void read_stalls(struct run_launch *l)
{
    struct run_gpu *g = &l->m->gpu;
    double cycles[GPU_STALL_COUNT];
    g->issue_share = interval_gpu_stalls(l->gpu->timing, g->params.cores, cycles);
    for (int i = 0; i < GPU_STALL_COUNT; i++)
        g->stalls[i] += cycles[i];
}

bool run_launch_pass(struct run_launch *l, const struct gpu_selection *selection, struct gpu_part *part,
                     struct gpu_totals *totals)
{
    struct gpu_totals own = {0};
    struct engine *engine = engine_create();
    struct gpu_job *job = gpu_job_create(l->setup, &l->gpu->params, l->gpu->timing, selection, l->error);
    double end_ns;
    bool ok = job && gpu_totals_init(&own, l->setup->program, l->error);
    if (ok && !engine)
        ok = orch_no_memory(l->error);
    if (ok) {
        const struct engine_task task = gpu_job_task(job);
        ok = (engine_add(engine, &task, NULL, 0) >= 0 || orch_no_memory(l->error)) && engine_run(engine, &end_ns, l->error);
    }
    if (ok) {
        gpu_job_add_totals(job, &own);
        *part = (struct gpu_part){gpu_job_end_ns(job) - gpu_job_begin_ns(job), (double)own.instructions};
        if (totals)
            gpu_job_add_totals(job, totals);
    }
    gpu_totals_free(&own);
    gpu_job_free(job);
    engine_free(engine);
    return ok;
}

void run_launch_restart(struct run_launch *l, bool keep_caches)
{
    struct activity unused = {{0}};
    soc_take_activity(l->m->soc, &unused);
    soc_restart(l->m->soc, keep_caches);
}

bool run_launch_measure(struct run_launch *l, const struct gpu_selection *selection, bool keep_caches, struct gpu_part *part,
                        struct gpu_totals *totals)
{
    struct mem_counters memory;
    run_launch_restart(l, keep_caches);
    gpu_setup_restore(l->setup);
    const double begin = host_seconds();
    if (!run_launch_pass(l, selection, part, totals))
        return false;
    l->m->host_seconds += host_seconds() - begin;
    soc_take_activity(l->m->soc, &l->m->activity);
    mem_system_counters(soc_memory(l->m->soc), &memory);
    run_memory_add(&l->m->memory, &memory);
    read_stalls(l);
    return true;
}

struct gpu_totals *run_launch_totals(const struct run_launch *l)
{
    return l->run->request->mode == RUN_TIMING ? &l->m->gpu.totals : NULL;
}
