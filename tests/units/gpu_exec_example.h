/* A simdgroup or a few on bare instructions, for suites of the GPU's executing side. */
#ifndef ORCHARD_TESTS_UNITS_GPU_EXEC_EXAMPLE_H
#define ORCHARD_TESTS_UNITS_GPU_EXEC_EXAMPLE_H

#include "isa/agx/agx_asm.h"
#include "tests/support/suite.h"
#include "units/gpu/gpu_core.h"

#include <stdlib.h>
#include <string.h>

#define GPU_PATHS 4
/* The plain path, then the vector sets; those that the host lacks give no group. */
static const char *const gpu_paths[GPU_PATHS] = {"reference", "avx512", "avx2", "portable"};

static inline struct gpu_group *gpu_example_group(const struct gpu_launch *launch, const char *path)
{
    const struct gpu_checks reference = {.reference = true}, fast = {0};
    return strcmp(path, "reference") == 0 ? gpu_group_create(launch, &reference) : gpu_group_create_named(launch, &fast, path);
}

/* One run of a text on one threadgroup. Zero what does not matter. */
struct gpu_example {
    const char *text;
    const uint16_t *uniforms; /* NULL = all 0 */
    struct mem_space *space;
    uint32_t threads; /* 0 = 32 */
    uint32_t threadgroup_memory, stack_bytes, register_halves;
    enum gpu_generation generation;
    struct gpu_checks checks;
    const struct gpu_buffer *buffer;
    size_t buffer_count;
    const struct gpu_lanes *in; /* NULL = registers 0, all lanes on */
    const char *path;           /* NULL = the best */
    struct gpu_trace *traces;
};

/* Program of a text, NULL with *fault. Fails the test when the text does not assemble. */
static inline struct gpu_program *gpu_example_program(const char *text, enum gpu_generation generation, struct unit_fault *fault)
{
    struct agx_assembly assembly;
    struct isa_error error = {0};
    const bool good = agx_assemble(text, strlen(text), &assembly, &error);
    CHECK(good, "line %lu: %s", error.line, error.text);
    if (!good)
        return NULL;
    struct gpu_program *program =
        gpu_program_create(assembly.code, assembly.code_bytes, (uint32_t)assembly.main_offset, generation, fault);
    agx_assembly_free(&assembly);
    return program;
}

/* Ends in DONE or FAULT; *out = registers of simdgroup 0 afterwards. `watch` (may be NULL) sees the group before it goes. */
static inline enum gpu_step gpu_example_run(const struct gpu_example *e, struct gpu_lanes *out, struct unit_fault *fault,
                                            void (*watch)(const struct gpu_group *group))
{
    static const uint16_t zero[AGX_UNIFORM_HALVES];
    struct gpu_program *program = gpu_example_program(e->text, e->generation, fault);
    const uint32_t threads = e->threads ? e->threads : GPU_LANES;
    if (!program)
        return GPU_STEP_FAULT;
    const struct gpu_launch launch = {.program = program,
                                      .uniforms = e->uniforms ? e->uniforms : zero,
                                      .grid_threads = {threads, 1, 1},
                                      .group_threads = {threads, 1, 1},
                                      .threadgroup_memory_bytes = e->threadgroup_memory,
                                      .stack_bytes_per_thread = e->stack_bytes,
                                      .register_halves = e->register_halves,
                                      .space = e->space,
                                      .buffer = e->buffer,
                                      .buffer_count = e->buffer_count};
    struct gpu_group *group = e->path ? gpu_example_group(&launch, e->path) : gpu_group_create(&launch, &e->checks);
    enum gpu_step step = GPU_STEP_DONE;
    if (group) {
        if (e->in)
            gpu_group_start_bare(group, e->in);
        else
            gpu_group_start(group, (const uint32_t[3]){0}, 0);
        step = gpu_group_finish(group, e->traces, fault) ? GPU_STEP_DONE : GPU_STEP_FAULT;
        gpu_group_read_state(group, 0, out);
        if (watch)
            watch(group);
    } else {
        memset(out, 0, sizeof *out); /* no such host instruction set */
        CHECK(e->path != NULL, "no group");
    }
    gpu_group_free(group);
    gpu_program_free(program);
    return step;
}

#endif
