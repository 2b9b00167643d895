/* Real kernels (tests/golden/agx/kernels): compiled by Mesa 25.0.7's AGX back end; how to launch them and what they count. */
#ifndef ORCHARD_TESTS_UNITS_GPU_KERNEL_EXAMPLE_H
#define ORCHARD_TESTS_UNITS_GPU_KERNEL_EXAMPLE_H

#include "isa/float_bits.h"
#include "tests/support/suite.h"
#include "units/gpu/gpu_core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KERNEL_ARGUMENTS 6

/* A buffer: element i is the generator's (f32 or u32, seed), a multiple of i, or 0; a scalar: its bits. */
struct kernel_argument {
    const char *name;
    char kind; /* 'f' f32 seed, 'u' u32 seed, 'i' step * index, '0' zeros, 's' scalar; 0 = none */
    uint32_t number;
    uint32_t count;
    float scale; /* of floats, 0 = 1 */
};

struct kernel_example {
    const char *name;
    uint32_t main, preamble; /* offsets; preamble 0 = none */
    uint32_t constant_first, constant_halves;
    uint32_t register_halves, threadgroup_memory;
    uint32_t group[3], groups[3];
    struct kernel_argument argument[KERNEL_ARGUMENTS];
    unsigned out;              /* argument that is compared */
    double absolute, relative; /* both 0: +0 = -0, else equal */
    uint64_t instructions, active_lanes;
};

struct kernel_machine {
    struct mem_space *space;
    struct gpu_program *program;
    uint16_t uniforms[AGX_UNIFORM_HALVES];
    uint64_t address[KERNEL_ARGUMENTS];
    struct gpu_buffer buffer[KERNEL_ARGUMENTS];
    size_t buffers;
    struct gpu_launch launch;
};

static inline size_t kernel_read_file(const char *name, const char *file, void *bytes, size_t room)
{
    char path[256];
    snprintf(path, sizeof path, "agx/kernels/%s/%s", name, file);
    FILE *in = fopen(suite_golden(path), "rb");
    const size_t size = in ? fread(bytes, 1, room, in) : 0;
    if (in)
        fclose(in);
    return size;
}

static inline void kernel_fill(uint8_t *bytes, const struct kernel_argument *a)
{
    uint64_t seed = a->number;
    for (uint32_t i = 0; i < a->count; i++) {
        uint32_t word = 0;
        if (a->kind == 'f') {
            word = f32_bits(((float)(suite_random(&seed) >> 40) * 0x1p-23f - 1) * (a->scale != 0 ? a->scale : 1));
        } else if (a->kind == 'u') {
            word = (uint32_t)(suite_random(&seed) >> 32);
        } else if (a->kind == 'i') {
            word = a->number * i;
        }
        memcpy(bytes + 4 * i, &word, 4);
    }
}

static inline void kernel_place_arguments(struct kernel_machine *m, const struct kernel_example *k)
{
    uint8_t block[64] = {0};
    size_t at = 0;
    for (unsigned i = 0; i < KERNEL_ARGUMENTS && k->argument[i].kind; i++) {
        const struct kernel_argument *a = &k->argument[i];
        if (a->kind == 's') {
            memcpy(block + at, &a->number, 4);
            at += 4;
            continue;
        }
        m->address[i] = mem_space_alloc(m->space, 4ULL * a->count, 128);
        kernel_fill(mem_at(m->space, m->address[i], 4ULL * a->count, MEM_WRITE), a);
        m->buffer[m->buffers++] = (struct gpu_buffer){a->name, m->address[i], 4ULL * a->count};
        memcpy(block + at, &m->address[i], 8);
        at += 8;
    }
    memcpy(m->uniforms, block, sizeof block / 2 * 2);
}

/* False, told on stderr, when something is missing. */
static inline bool kernel_open(struct kernel_machine *m, const struct kernel_example *k)
{
    static uint8_t code[4096];
    struct unit_fault fault = {0};
    memset(m, 0, sizeof *m);
    const size_t bytes = kernel_read_file(k->name, "code.bin", code, sizeof code);
    m->space = mem_space_create(UINT64_C(1) << 34);
    m->program = bytes ? gpu_program_create(code, bytes, k->main, GPU_G13, &fault) : NULL;
    if (!m->space || !m->program) {
        fprintf(stderr, "%s: %s\n", k->name, bytes ? fault.text : "no code");
        return false;
    }
    kernel_place_arguments(m, k);
    memcpy(m->uniforms + k->constant_first, code, 2ULL * k->constant_halves);
    if (k->preamble) {
        struct gpu_program *preamble = gpu_program_create(code, bytes, k->preamble, GPU_G13, &fault);
        const bool good = preamble && gpu_preamble_run(preamble, m->space, m->uniforms, &fault);
        gpu_program_free(preamble);
        if (!good) {
            fprintf(stderr, "%s: %s\n", k->name, fault.text);
            return false;
        }
    }
    m->launch = (struct gpu_launch){.program = m->program,
                                    .uniforms = m->uniforms,
                                    .space = m->space,
                                    .threadgroup_memory_bytes = k->threadgroup_memory,
                                    .register_halves = k->register_halves,
                                    .buffer = m->buffer,
                                    .buffer_count = m->buffers};
    for (unsigned axis = 0; axis < 3; axis++) {
        m->launch.group_threads[axis] = k->group[axis];
        m->launch.grid_threads[axis] = k->group[axis] * k->groups[axis];
    }
    return true;
}

static inline void kernel_close(struct kernel_machine *m)
{
    gpu_program_free(m->program);
    mem_space_free(m->space);
}

/* Every `step`-th threadgroup from `first` on. */
static inline bool kernel_run(struct gpu_group *group, const struct gpu_launch *launch, uint32_t first, uint32_t step,
                              struct unit_fault *fault)
{
    uint32_t groups[3];
    gpu_launch_groups(launch, groups);
    for (uint32_t i = first; i < groups[0] * groups[1] * groups[2]; i += step) {
        const uint32_t position[3] = {i % groups[0], i / groups[0] % groups[1], i / groups[0] / groups[1]};
        gpu_group_start(group, position, 0);
        if (!gpu_group_finish(group, NULL, fault))
            return false;
    }
    return true;
}

#endif
