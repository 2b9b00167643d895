#include "sim/workload/cpu/program_set.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool open_one(struct program_set *set, unsigned i, const void *file, size_t bytes, const struct program_options *options,
                     enum amx_gen gen, struct soc_core *core, program_prepare *prepare, void *context, struct orch_error *error)
{
    struct program *p = program_open(file, bytes, options, error);
    set->program[i] = p;
    if (!p || (prepare && !prepare(context, i, p, error)))
        return false;
    set->job[i] = core_job_create(program_core(p), program_space(p), gen, core, 0, error);
    return set->job[i] != NULL;
}

bool program_set_open(struct program_set *set, unsigned count, const void *file, size_t bytes,
                      const struct program_options *options, enum amx_gen gen, struct soc_core **cores, program_prepare *prepare,
                      void *context, struct orch_error *error)
{
    memset(set, 0, sizeof *set);
    set->program = calloc(count, sizeof(struct program *));
    set->job = calloc(count, sizeof(struct core_job *));
    set->task = calloc(count, sizeof *set->task);
    if (!set->program || !set->job || !set->task)
        return orch_no_memory(error);
    set->count = count;
    for (unsigned i = 0; i < count; i++)
        if (!open_one(set, i, file, bytes, options, gen, cores ? cores[i] : NULL, prepare, context, error))
            return false;
    return true;
}

void program_set_tell(struct program_set *set, const struct work_progress *progress, const char *doing)
{
    for (unsigned i = 0; i < set->count; i++)
        core_job_tell(set->job[i], progress, doing);
}

bool program_set_add(struct program_set *set, struct engine *engine, struct orch_error *error)
{
    for (unsigned i = 0; i < set->count; i++) {
        const struct engine_task task = core_job_task(set->job[i]);
        set->task[i] = engine_add(engine, &task, NULL, 0);
        if (set->task[i] < 0)
            return orch_no_memory(error);
    }
    return true;
}

bool program_set_finish(struct program_set *set, const struct engine *engine, struct orch_error *error)
{
    set->end_ns = 0;
    for (unsigned i = 0; i < set->count; i++) {
        set->end_ns = fmax(set->end_ns, engine_done_at(engine, set->task[i]));
        if (core_job_stop(set->job[i]) == CPU_STOP_FAULT)
            return program_explain_fault(set->program[i], core_job_fault(set->job[i]), error);
    }
    return true;
}

bool program_set_run(struct program_set *set, struct orch_error *error)
{
    struct engine *engine = engine_create();
    double end_ns;
    bool ok = engine || orch_no_memory(error);
    ok =
        ok && program_set_add(set, engine, error) && engine_run(engine, &end_ns, error) && program_set_finish(set, engine, error);
    engine_free(engine);
    return ok;
}

void program_set_close(struct program_set *set)
{
    for (unsigned i = 0; i < set->count; i++) {
        core_job_free(set->job ? set->job[i] : NULL);
        program_close(set->program ? set->program[i] : NULL);
    }
    free(set->program);
    free(set->job);
    free(set->task);
    memset(set, 0, sizeof *set);
}
