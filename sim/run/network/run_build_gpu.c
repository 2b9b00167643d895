#include "sim/run/network/run_build.h"

#include "sim/run/gpu/run_chain.h"
#include "sim/run/gpu/run_gpu_kernel.h"
#include "sim/run/run_internal.h"
#include "sim/workload/gpu/abi_write.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_zero(const uint8_t *bytes, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        if (bytes[i])
            return false;
    return true;
}

/* A launch that reads parts of one buffer has several arguments of its name: "x", "x_2". */
static void tell_apart(struct abi_kernel *launch, unsigned arg)
{
    char *const name = launch->arg[arg].name;
    const size_t length = strlen(name);
    unsigned same = 0;
    for (unsigned i = 0; i < arg; i++)
        same += strncmp(launch->arg[i].name, name, length) == 0 &&
                (!launch->arg[i].name[length] || launch->arg[i].name[length] == '_');
    if (same)
        snprintf(name + length, sizeof launch->arg[arg].name - length, "_%u", same + 1);
}

/* A copy of what an argument points to. Kernels that begin outside of an image point before its buffer, those that take channels
 * in groups may point behind it: there are zeros. */
static bool copy_contents(const struct gpu_library *library, const struct gpu_library_place *place, struct abi_arg *a,
                          const struct mem_space *space, uint64_t address)
{
    const struct gpu_kernel_buffer *const b = &library->kernel.buffer[place->buffer];
    const int64_t offset = (int64_t)place->offset_bytes, whole = (int64_t)gpu_type_bytes(b->type, b->count);
    const uint8_t *const at = mem_at(space, address, (uint64_t)whole, MEM_READ);
    if (offset >= whole) {
        a->bytes = (uint64_t)whole;
        a->count = a->bytes / element_type_bytes(a->type);
    }
    a->initial = at ? calloc(1, a->bytes + 1) : NULL;
    if (a->initial && offset < 0)
        memcpy(a->initial - offset, at, (size_t)whole);
    else if (a->initial && offset < whole)
        memcpy(a->initial, at + offset, (size_t)(whole - offset));
    return a->initial != NULL;
}

struct builder {
    const struct gpu_library *library;
    struct run_chain chain;
    uint64_t buffer[GPU_KERNEL_BUFFERS];
    struct run_built *built;
};

/* The launch gets what memory has at its buffers; zeros go without a file. */
static bool take_contents(const struct builder *b, unsigned step, struct abi_kernel *launch)
{
    for (unsigned i = 0; i < launch->args; i++) {
        struct abi_arg *const a = &launch->arg[i];
        const struct gpu_library_place *const place = &b->library->place[step][i];
        tell_apart(launch, i);
        a->initial = NULL;
        if (!a->buffer)
            continue;
        if (!copy_contents(b->library, place, a, b->chain.space, b->buffer[place->buffer]))
            return orch_no_memory(b->chain.error);
        a->start = is_zero(a->initial, a->bytes) ? ABI_START_ZEROS : ABI_START_BYTES;
        a->unchanged = false;
    }
    return true;
}

static bool write_launch(struct builder *b, unsigned step, const char *folder)
{
    struct abi_kernel *const launch = malloc(sizeof *launch);
    if (!launch)
        return orch_no_memory(b->chain.error);
    *launch = b->library->step[step]; /* code and names stay the library's */
    for (unsigned i = 0; i < launch->args; i++)
        launch->arg[i].initial = NULL;
    const bool ok = take_contents(b, step, launch) && abi_write(launch, NULL, folder, b->chain.error);
    b->built->programs += ok;
    b->built->code_bytes += ok ? (double)launch->code_bytes : 0;
    for (unsigned i = 0; i < launch->args; i++)
        free(launch->arg[i].initial);
    free(launch);
    return ok;
}

/* Later launches find what earlier ones made of constants, or, where there are no others' buffers, of everything. */
static bool execute(const struct builder *b, unsigned step)
{
    const struct abi_kernel *const k = &b->library->step[step];
    uint64_t address[ABI_ARGS_MAX] = {0};
    for (unsigned i = 0; i < k->args; i++)
        if (k->arg[i].buffer)
            address[i] = b->buffer[b->library->place[step][i].buffer] + b->library->place[step][i].offset_bytes;
    return (b->chain.given && step >= b->library->kernel.loading_steps) || run_chain_execute(&b->chain, k, address);
}

static bool write_launches(struct builder *b, const char *base)
{
    const unsigned steps = b->library->kernel.steps;
    char folder[PATH_MAX];
    for (unsigned s = 0; s < steps; s++) {
        snprintf(folder, sizeof folder, "%.3900s", base);
        if (steps > 1)
            snprintf(folder, sizeof folder, "%.3900s-%u", base, s + 1);
        if (!write_launch(b, s, folder) || (s + 1 < steps && !execute(b, s)))
            return false;
    }
    return true;
}

bool run_build_gpu(struct run *run, const struct run_given *given, const char *base, struct run_built *built,
                   struct orch_error *error)
{
    struct run_measure unused = {.soc = NULL};
    struct run_result result;
    struct mem_space *const own = given ? NULL : run_space_create(run, error);
    struct builder b = {.library = run_gpu_library(run),
                        .chain = {.run = run, .space = given ? given->space : own, .error = error, .given = given != NULL},
                        .built = built};
    run_result_init(&result);
    const bool ok =
        b.chain.space && run_gpu_generation(run, &b.chain.generation, &result, error) &&
        gpu_library_place(b.library, b.chain.space, given ? given->address : NULL, true, run->request->seed, b.buffer, error) &&
        write_launches(&b, base);
    for (unsigned i = 0; given && ok && i < b.library->kernel.buffers; i++) /* what nobody else knows */
        if (b.library->kernel.buffer[i].role == GPU_BUFFER_SCRATCH && b.buffer[i])
            mem_space_unmap(given->space, b.buffer[i],
                            gpu_type_bytes(b.library->kernel.buffer[i].type, b.library->kernel.buffer[i].count));
    run_space_free(own, run, &unused);
    run_result_free(&result);
    return ok;
}
