#include "sim/api/verb_run_program.h"

#include <math.h>

static bool read_world(const struct api_args *a, struct program_world *world, struct orch_error *error)
{
    for (size_t i = 0; i < api_count(a, "mount"); i++)
        if (!program_world_mount(world, api_value_at(a, "mount", i), error))
            return false;
    for (size_t i = 0; i < api_count(a, "env"); i++)
        if (!program_world_env(world, api_value_at(a, "env", i), error))
            return false;
    return !api_has(a, "stdin") || program_world_input(world, api_value(a, "stdin"), error);
}

bool verb_run_program_read(struct api_context *context, struct verb_run_program *program, struct run_request *request,
                           struct orch_error *error)
{
    const struct api_args *const a = &context->args;
    unsigned whose = 0;
    uint64_t cores = 0;
    if (!read_world(a, &program->world, error) || !api_chosen(a, "exit-code", "orchard|program", &whose, error) ||
        !api_unsigned(a, "max-instructions", 1, UINT64_MAX / 2, &request->max_instructions, error) ||
        !api_unsigned(a, "thread-cores", 1, 64, &cores, error))
        return false;
    program->own_status = whose == 1;
    request->thread_cores = (unsigned)cores;
    request->returns = api_value(a, "returns");
    if (api_has(a, "mount") || api_has(a, "env") || api_has(a, "stdin"))
        request->world = &program->world;
    return true;
}

void verb_run_program_free(struct verb_run_program *program)
{
    program_world_free(&program->world);
}

int verb_run_program_code(const struct verb_run_program *program, double exit_status)
{
    return program->own_status && !isnan(exit_status) ? (int)exit_status & 0xff : ORCH_OK;
}
