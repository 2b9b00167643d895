/* Runs kernels of the GPU library on the executing side alone: buffers in a memory of their own, all steps, results back. */
#ifndef ORCHARD_TESTS_UNITS_GPU_LIBRARY_EXAMPLE_H
#define ORCHARD_TESTS_UNITS_GPU_LIBRARY_EXAMPLE_H

#include "isa/float_bits.h"
#include "tests/support/suite.h"
#include "units/gpu/gpu_core.h"
#include "units/gpu/kernels/gpu_kernels.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct gpu_example {
    struct gpu_kernel_request request;
    struct gpu_kernel kernel;
    struct mem_space *space;
    uint64_t address[GPU_KERNEL_BUFFERS];
    uint64_t instructions; /* of all steps */
    const uint32_t *only;  /* position of the one threadgroup to run of each step; NULL = all */
    char text[256];        /* what went wrong */
};

/* ---- element types, on the host ---- */

static inline float example_half_to_float(uint16_t half)
{
    _Float16 value;
    memcpy(&value, &half, sizeof value);
    return (float)value;
}

static inline uint16_t example_float_to_half(float value)
{
    const _Float16 half = (_Float16)value;
    uint16_t bits;
    memcpy(&bits, &half, sizeof bits);
    return bits;
}

static inline float example_bf16_to_float(uint16_t bits)
{
    return f32_of_bits((uint32_t)bits << 16);
}

static inline uint16_t example_float_to_bf16(float value)
{
    const uint32_t bits = f32_bits(value);
    return (uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

/* Largest relative error of rounding to the type. */
static inline double example_epsilon(enum gpu_type type)
{
    return type == GPU_F16 ? 0x1p-11 : type == GPU_BF16 ? 0x1p-8 : 0x1p-24;
}

static inline double example_get(const uint8_t *bytes, enum gpu_type type, uint64_t index)
{
    uint16_t half;
    float value;
    int32_t word;
    switch (type) {
    case GPU_F16: memcpy(&half, bytes + 2 * index, sizeof half); return (double)example_half_to_float(half);
    case GPU_BF16: memcpy(&half, bytes + 2 * index, sizeof half); return (double)example_bf16_to_float(half);
    case GPU_I32:
    case GPU_U32: memcpy(&word, bytes + 4 * index, sizeof word); return type == GPU_I32 ? (double)word : (double)(uint32_t)word;
    case GPU_U8: return bytes[index];
    case GPU_Q8_0: /* a scale, then 32 signed bytes */
        memcpy(&half, bytes + index / 32 * 34, sizeof half);
        return (double)example_half_to_float(half) * (int8_t)bytes[index / 32 * 34 + 2 + index % 32];
    default: memcpy(&value, bytes + 4 * index, sizeof value); return (double)value;
    }
}

static inline void example_put(uint8_t *bytes, enum gpu_type type, uint64_t index, double wide)
{
    const float value = (float)wide;
    const uint16_t half = type == GPU_F16 ? example_float_to_half(value) : example_float_to_bf16(value);
    const int32_t word = type == GPU_U32 ? (int32_t)(uint32_t)wide : type == GPU_I32 ? (int32_t)wide : 0;
    switch (type) {
    case GPU_F16:
    case GPU_BF16: memcpy(bytes + 2 * index, &half, sizeof half); break;
    case GPU_I32:
    case GPU_U32: memcpy(bytes + 4 * index, &word, sizeof word); break;
    case GPU_U8: bytes[index] = (uint8_t)wide; break;
    default: memcpy(bytes + 4 * index, &value, sizeof value);
    }
}

/* ---- buffers ---- */

static inline uint8_t *example_bytes(const struct gpu_example *x, unsigned buffer)
{
    const struct gpu_kernel_buffer *b = &x->kernel.buffer[buffer];
    return mem_at(x->space, x->address[buffer], gpu_type_bytes(b->type, b->count), MEM_READ | MEM_WRITE);
}

/* Index of the buffer of that name; the test fails when there is none. */
static inline unsigned example_buffer(const struct gpu_example *x, const char *name)
{
    for (unsigned i = 0; i < x->kernel.buffers; i++)
        if (strcmp(x->kernel.buffer[i].name, name) == 0)
            return i;
    CHECK(0, "no buffer %s", name);
    return 0;
}

/* All elements as doubles; free them. */
static inline double *example_values(const struct gpu_example *x, const char *name)
{
    const unsigned buffer = example_buffer(x, name);
    const struct gpu_kernel_buffer *b = &x->kernel.buffer[buffer];
    const uint8_t *bytes = example_bytes(x, buffer);
    double *values = malloc(sizeof *values * (b->count + 1));
    for (uint64_t i = 0; values && i < b->count; i++)
        values[i] = example_get(bytes, b->type, i);
    return values;
}

static inline double example_uniform(uint64_t *state, double low, double high)
{
    return low + (high - low) * (double)(suite_random(state) >> 11) * 0x1p-53;
}

/* Inputs take random values of their range; what the kernel shall write starts as bytes of 0xa5, so that nothing is right by
 * chance. Quantised buffers get random bytes: fill them yourself. */
static inline void example_fill(struct gpu_example *x, uint64_t seed)
{
    for (unsigned i = 0; i < x->kernel.buffers; i++) {
        const struct gpu_kernel_buffer *b = &x->kernel.buffer[i];
        uint8_t *bytes = example_bytes(x, i);
        const bool random = b->role == GPU_BUFFER_INPUT || b->role == GPU_BUFFER_IN_OUT;
        memset(bytes, 0xa5, gpu_type_bytes(b->type, b->count));
        for (uint64_t k = 0; random && b->type < GPU_Q4_0 && k < b->count; k++) {
            const double value = example_uniform(&seed, b->low, b->high);
            example_put(bytes, b->type, k, b->type >= GPU_I32 ? floor(value) : value);
        }
    }
}

/* ---- running ---- */

static inline void example_close(struct gpu_example *x)
{
    mem_space_free(x->space);
    gpu_kernel_free(&x->kernel);
}

/* Parses, builds, places the buffers (each between unmapped pages, its last byte at the end of one). False with x->text. */
static inline bool example_open(struct gpu_example *x, const char *workload, const char *precision, uint32_t cores)
{
    struct isa_error error = {.line = 0};
    memset(x, 0, sizeof *x);
    x->request.cores = cores;
    if (!gpu_kernel_parse(workload, precision, &x->request, &error) || !gpu_kernel_build(&x->request, &x->kernel, &error)) {
        snprintf(x->text, sizeof x->text, "%s", error.text);
        return false;
    }
    x->space = mem_space_create(0);
    for (unsigned i = 0; x->space && i < x->kernel.buffers; i++) {
        const uint64_t bytes = gpu_type_bytes(x->kernel.buffer[i].type, x->kernel.buffer[i].count);
        x->address[i] = mem_space_alloc(x->space, bytes, MEM_PAGE_BYTES) +
                        (MEM_PAGE_BYTES - bytes % MEM_PAGE_BYTES) % MEM_PAGE_BYTES / 16 * 16;
    }
    return x->space != NULL;
}

static inline void example_uniforms(const struct gpu_example *x, const struct gpu_kernel_step *step, uint16_t *uniforms)
{
    uint8_t *block = (uint8_t *)uniforms;
    const struct agx_assembly *code = &step->code;
    memset(uniforms, 0, sizeof(uint16_t) * AGX_UNIFORM_HALVES);
    for (unsigned i = 0; i < step->arguments; i++) {
        const struct gpu_kernel_argument *a = &step->argument[i];
        const uint64_t pointer = x->address[a->buffer] + a->value;
        const uint32_t word = (uint32_t)a->value;
        if (a->kind == GPU_ARGUMENT_BUFFER)
            memcpy(block + a->offset_bytes, &pointer, sizeof pointer);
        else
            memcpy(block + a->offset_bytes, &word, sizeof word);
    }
    memcpy(uniforms + code->constant_first_half, code->code + code->constants_offset, 2 * code->constant_halves);
}

static inline bool example_run_groups(struct gpu_example *x, const struct gpu_launch *launch, bool sanitize)
{
    struct unit_fault fault = {.kind = UNIT_FAULT_NONE};
    const struct gpu_checks checks = {.sanitize = sanitize, .poison = true, .instruction_limit = 100000000};
    struct gpu_group *group = gpu_group_create(launch, &checks);
    uint32_t groups[3];
    bool ok = group != NULL;
    gpu_launch_groups(launch, groups);
    for (uint64_t i = 0; ok && i < (uint64_t)groups[0] * groups[1] * groups[2]; i++) {
        const uint32_t position[3] = {(uint32_t)(i % groups[0]), (uint32_t)(i / groups[0] % groups[1]),
                                      (uint32_t)(i / groups[0] / groups[1])};
        gpu_group_start(group, x->only ? x->only : position, 0);
        ok = gpu_group_finish(group, NULL, &fault);
        if (x->only)
            break;
    }
    if (!ok)
        snprintf(x->text, sizeof x->text, "pc %llx, address %llx: %.180s", (unsigned long long)fault.pc,
                 (unsigned long long)fault.address, fault.text);
    const struct gpu_finding *finding;
    if (ok && sanitize && gpu_group_findings(group, &finding)) {
        snprintf(x->text, sizeof x->text, "%s: %.200s", gpu_finding_name(finding->kind), finding->text);
        ok = false;
    }
    x->instructions += group ? gpu_group_counts(group).instructions : 0;
    gpu_group_free(group);
    return ok;
}

/* The launch of a step; program and uniforms, which are filled, must outlive it. */
static inline struct gpu_launch example_launch(const struct gpu_example *x, const struct gpu_kernel_step *step,
                                               const struct gpu_program *program, uint16_t uniforms[AGX_UNIFORM_HALVES])
{
    example_uniforms(x, step, uniforms);
    struct gpu_launch launch = {.program = program,
                                .uniforms = uniforms,
                                .space = x->space,
                                .threadgroup_memory_bytes = step->code.threadgroup_memory_bytes,
                                .register_halves = step->code.register_halves};
    memcpy(launch.grid_threads, step->grid_threads, sizeof launch.grid_threads);
    memcpy(launch.group_threads, step->group_threads, sizeof launch.group_threads);
    return launch;
}

static inline bool example_run_step(struct gpu_example *x, const struct gpu_kernel_step *step, bool sanitize)
{
    uint16_t uniforms[AGX_UNIFORM_HALVES];
    struct unit_fault fault = {.kind = UNIT_FAULT_NONE};
    struct gpu_program *program = gpu_program_create(step->code.code, step->code.code_bytes, (uint32_t)step->code.main_offset,
                                                     x->request.generation, &fault);
    if (!program) {
        snprintf(x->text, sizeof x->text, "%s", fault.text);
        return false;
    }
    const struct gpu_launch launch = example_launch(x, step, program, uniforms);
    const bool ok = example_run_groups(x, &launch, sanitize);
    gpu_program_free(program);
    return ok;
}

/* All steps in order, with the checks of --sanitize when asked. */
static inline bool example_run(struct gpu_example *x, bool sanitize)
{
    for (unsigned i = 0; i < x->kernel.steps; i++)
        if (!example_run_step(x, &x->kernel.step[i], sanitize))
            return false;
    return true;
}

/* Opens, fills and runs under all checks; failures are failures of the test. Close in any case. */
static inline bool example_start(struct gpu_example *x, const char *workload, const char *precision, uint64_t seed)
{
    const bool ok = example_open(x, workload, precision, 8);
    if (ok)
        example_fill(x, seed);
    const bool ran = ok && example_run(x, true);
    CHECK(ran, "%s %s: %s", workload, precision ? precision : "", x->text);
    return ran;
}

/* The library refuses the workload, and the reason has this part. */
static inline void example_refused(const char *workload, const char *precision, const char *part)
{
    struct gpu_example x;
    const bool opened = example_open(&x, workload, precision, 8);
    CHECK(!opened && strstr(x.text, part), "%s: %s", workload, x.text);
    example_close(&x);
}

/* Each workload runs under all checks without a finding. */
static inline void example_all_clean(const char *const *workloads, size_t count, const char *precision)
{
    for (size_t i = 0; i < count; i++) {
        struct gpu_example x;
        example_start(&x, workloads[i], precision, 1);
        example_close(&x);
    }
}

#endif
