#include "sim/workload/cpu/program_set.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct opening {
    const void *file;
    size_t bytes;
    const struct program_options *options;
    enum amx_gen gen;
    const struct crew_cores *more;
    uint64_t max_instructions;
    program_prepare *prepare;
    void *context;
};

static bool open_one(struct program_set *set, unsigned i, const struct opening *o, struct soc_core *core,
                     struct orch_error *error)
{
    struct program *p = program_open(o->file, o->bytes, o->options, error);
    set->program[i] = p;
    if (!p || (o->prepare && !o->prepare(o->context, i, p, error)))
        return false;
    set->job[i] =
        crew_job_create(program_core(p), program_system(p), program_space(p), o->gen, core, o->more, o->max_instructions, error);
    return set->job[i] != NULL;
}

static bool open_all(struct program_set *set, unsigned count, const struct opening *o, struct soc_core **cores,
                     struct orch_error *error)
{
    memset(set, 0, sizeof *set);
    set->program = calloc(count, sizeof(struct program *));
    set->job = calloc(count, sizeof(struct crew_job *));
    set->task = calloc(count, sizeof *set->task);
    if (!set->program || !set->job || !set->task)
        return orch_no_memory(error);
    set->count = count;
    for (unsigned i = 0; i < count; i++)
        if (!open_one(set, i, o, cores ? cores[i] : NULL, error))
            return false;
    return true;
}

bool program_set_open_with(struct program_set *set, unsigned count, const void *file, size_t bytes,
                           const struct program_options *options, enum amx_gen gen, struct soc_core **cores,
                           const struct crew_cores *more, uint64_t max_instructions, program_prepare *prepare, void *context,
                           struct orch_error *error)
{
    const struct opening o = {file, bytes, options, gen, more, max_instructions, prepare, context};
    return open_all(set, count, &o, cores, error);
}

bool program_set_open(struct program_set *set, unsigned count, const void *file, size_t bytes,
                      const struct program_options *options, enum amx_gen gen, struct soc_core **cores, program_prepare *prepare,
                      void *context, struct orch_error *error)
{
    const struct crew_cores alone = {.most = 1};
    return program_set_open_with(set, count, file, bytes, options, gen, cores, &alone, 0, prepare, context, error);
}

void program_set_tell(struct program_set *set, const struct work_progress *progress, const char *doing)
{
    for (unsigned i = 0; i < set->count; i++)
        crew_job_tell(set->job[i], progress, doing);
}

bool program_set_add(struct program_set *set, struct engine *engine, struct orch_error *error)
{
    for (unsigned i = 0; i < set->count; i++) {
        const struct engine_task task = crew_job_task(set->job[i]);
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
        if (crew_job_deadlock(set->job[i]))
            return program_explain_deadlock(set->program[i], error);
        if (crew_job_stop(set->job[i]) == CPU_STOP_FAULT)
            return program_explain_fault(set->program[i], crew_job_fault(set->job[i]), error);
        if (crew_job_stop(set->job[i]) == CPU_STOP_BUDGET && crew_job_interrupted(set->job[i]))
            return program_explain_interrupt(set->program[i], crew_job_instructions(set->job[i]), crew_job_pc(set->job[i]),
                                             error);
        if (crew_job_stop(set->job[i]) == CPU_STOP_BUDGET)
            return program_explain_limit(set->program[i], crew_job_instructions(set->job[i]), crew_job_pc(set->job[i]), error);
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
        crew_job_free(set->job ? set->job[i] : NULL);
        program_close(set->program ? set->program[i] : NULL);
    }
    free(set->program);
    free(set->job);
    free(set->task);
    memset(set, 0, sizeof *set);
}
