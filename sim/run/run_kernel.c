#include "sim/chip/chip_units.h"
#include "sim/workload/amx/amx_job.h"
#include "sim/run/run_internal.h"

#include <stdlib.h>
#include <string.h>

/* One pass over the kernel on one core; with time unless mode is FUNCTIONAL. */
static bool one_pass(const struct run *run, const struct kernel_data *data, struct mem_space *space, enum amx_gen gen,
                     struct soc_core *core, enum amx_job_mode mode, unsigned repeat, struct run_measure *m,
                     struct orch_error *error)
{
    struct engine *engine = engine_create();
    struct amx_job *job = amx_job_create(&run->call, data, space, gen, core, mode, error);
    bool ok = engine && job;
    if (job && !engine)
        orch_no_memory(error);
    for (unsigned i = 0; ok && i < repeat; i++) {
        const struct engine_task task = amx_job_task(job);
        const int before = (int)i - 1;
        ok = engine_add(engine, &task, &before, i > 0) >= 0;
    }
    ok = ok && engine_run(engine, &m->end_ns, error);
    if (ok) {
        m->amx_instructions = amx_job_instructions(job);
        memcpy(m->amx_counts, amx_job_op_counts(job), sizeof m->amx_counts);
    }
    amx_job_free(job);
    engine_free(engine);
    return ok;
}

/* A pass that only fills the caches. The scalar part of kernels does move bytes, so the old C is kept for the real pass. */
static bool warm_up(const struct run *run, const struct kernel_data *data, struct mem_space *space, struct soc_core *core,
                    struct run_measure *m, struct orch_error *error)
{
    uint8_t *c = mem_at(space, data->c, data->c_bytes, MEM_READ | MEM_WRITE);
    uint8_t *kept = run->call.beta != 0 ? malloc(data->c_bytes) : NULL;
    if (run->call.beta != 0 && !kept)
        return orch_no_memory(error);
    if (kept)
        memcpy(kept, c, data->c_bytes);
    const bool ok = one_pass(run, data, space, core->gen, core, AMX_JOB_TIMING, 1, m, error);
    if (kept)
        memcpy(c, kept, data->c_bytes);
    free(kept);
    return ok;
}

static bool timed(const struct run *run, const struct kernel_data *data, struct mem_space *space, struct run_measure *m,
                  struct orch_error *error)
{
    const struct run_request *q = run->request;
    const unsigned repeat = q->repeat ? q->repeat : 1;
    if (!run_place(run, 1, m, error))
        return false;
    struct soc_core *const core = m->cores[0];
    const enum amx_gen gen = soc_amx_gen(m->soc);
    if (!core->amx)
        return orch_fail(error, ORCH_UNMODELLED, "%s has no AMX block in this cluster", chip_id(q->chip));
    if (!q->cold && !warm_up(run, data, space, core, m, error))
        return false;
    soc_restart(m->soc, !q->cold);
    run_watch(run, m);
    const double begin = run_host_seconds();
    if (!one_pass(run, data, space, gen, core, q->mode == RUN_TIMING ? AMX_JOB_TIMING : AMX_JOB_FULL, repeat, m, error))
        return false;
    m->host_seconds = run_host_seconds() - begin;
    m->cpu_instructions = cpu_timing_instructions(core->timing);
    run_measure_finish(m);
    return true;
}

static bool functional(const struct run *run, const struct kernel_data *data, struct mem_space *space, enum amx_gen gen,
                       struct run_measure *m, struct orch_error *error)
{
    const unsigned repeat = run->request->repeat ? run->request->repeat : 1;
    const double begin = run_host_seconds();
    const bool ok = one_pass(run, data, space, gen, NULL, AMX_JOB_FUNCTIONAL, repeat, m, error);
    m->host_seconds = run_host_seconds() - begin;
    return ok;
}

bool run_kernel_in(struct run *run, struct mem_space *space, const uint64_t *given, struct run_measure *m,
                   struct run_result *result, struct orch_error *error)
{
    const struct run_request *q = run->request;
    struct kernel_data data;
    enum amx_gen gen;
    bool ok = chip_amx_gen(q->chip, &gen, error) && kernel_check_generation(&run->call, gen, error) &&
              kernel_data_create(&run->call, gen, space, given, q->seed, &data, error);
    if (ok)
        ok = q->mode == RUN_FUNCTIONAL ? functional(run, &data, space, gen, m, error) : timed(run, &data, space, m, error);
    if (ok && q->mode != RUN_FUNCTIONAL && !kernel_in_process_is_close(&run->call))
        ok = run_values_set(&result->counters, "run.approximate", 1) &&
             run_assumption_add(&result->assumptions, "home", "inferred",
                                "approximate: scalar code between tiles is left out in-process; --home elf runs it");
    if (ok && q->mode != RUN_TIMING)
        ok = run_checksum_add(&result->checksum, "c", kernel_data_checksum(&run->call, &data, space));
    if (ok)
        ok = run_placement_add(&result->placement, run->call.info->name, "amx", kernel_variant(&run->call, gen),
                               "the only unit with this kernel");
    return ok;
}

bool run_kernel(struct run *run, struct run_measure *m, struct run_result *result, struct orch_error *error)
{
    struct mem_space *space = run_space_create(run, error);
    bool ok = space != NULL;
    ok = ok && (run->request->mode == RUN_FUNCTIONAL || run_soc_open(run, m, error)) &&
         run_kernel_in(run, space, NULL, m, result, error);
    run_space_free(space, run, m);
    return ok;
}
