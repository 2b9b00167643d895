#include "sim/api/verb_run_program.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

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

static bool is_object(const char *name)
{
    const char *const dot = strrchr(name, '.');
    return dot && (strcmp(dot, ".o") == 0 || strcmp(dot, ".a") == 0);
}

bool verb_run_program_words(struct verb_run_program *program, int words, const char *const *word)
{
    for (int i = 0; i < words; i++)
        if (!is_object(word[i]))
            return false;
    program->word = word + 1;
    program->words = words > 1 ? words - 1 : 0;
    return words > 1;
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
    const size_t options = api_count(a, "link"), words = (size_t)program->words;
    program->link = calloc(options + words + 1, sizeof *program->link);
    if (!program->link)
        return orch_no_memory(error);
    for (size_t i = 0; i < words; i++)
        program->link[i] = program->word[i];
    for (size_t i = 0; i < options; i++)
        program->link[words + i] = api_value_at(a, "link", i);
    request->link = program->link;
    request->link_count = options + words;
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
    free(program->link);
}

int verb_run_program_code(const struct verb_run_program *program, double exit_status)
{
    return program->own_status && !isnan(exit_status) ? (int)exit_status & 0xff : ORCH_OK;
}
