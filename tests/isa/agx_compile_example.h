/* Kernels in lowered form on the simulated GPU and in the interpreter, for suites of the compiler's back end. */
#ifndef ORCHARD_TESTS_ISA_AGX_COMPILE_EXAMPLE_H
#define ORCHARD_TESTS_ISA_AGX_COMPILE_EXAMPLE_H

#include "isa/agx/compiler/agx_compile.h"
#include "isa/agx/compiler/ir_interpret.h"
#include "tests/isa/ir_kit.h"
#include "tests/support/suite.h"
#include "units/gpu/gpu_core.h"

#include <stdlib.h>
#include <string.h>

enum { THREADS = 128, GROUP = 64, WORDS = 256 };

struct block_of_arguments {
    uint64_t in, out;
    uint32_t n;
};
struct run {
    struct mem_space *space;
    uint64_t in, out;
};

static inline void *at(void *context, uint64_t address, uint64_t bytes)
{
    return mem_at(context, address, bytes, MEM_READ | MEM_WRITE);
}

static inline uint32_t *words(const struct run *r, uint64_t address)
{
    return (uint32_t *)(void *)mem_at(r->space, address, sizeof(uint32_t) * WORDS, MEM_READ | MEM_WRITE);
}

static inline void start(struct run *r)
{
    uint64_t state = 7;
    for (unsigned i = 0; i < WORDS; i++) {
        words(r, r->in)[i] = (uint32_t)suite_random(&state);
        words(r, r->out)[i] = 0x11111111;
    }
}

/* Runs the preamble, if there is one. */
static inline bool prepare(const struct run *r, const struct agx_assembly *p, uint16_t *uniforms)
{
    struct unit_fault fault = {0};
    if (!p->has_preamble)
        return true;
    struct gpu_program *const program = gpu_program_create(p->code, p->code_bytes, (uint32_t)p->preamble_offset, GPU_G13, &fault);
    const bool good = program && gpu_preamble_run(program, r->space, uniforms, &fault);
    CHECK(good, "preamble: %s", fault.text);
    gpu_program_free(program);
    return good;
}

/* On the simulated GPU, with its checks. */
static inline bool execute(const struct run *r, const struct agx_compiled *code, const struct block_of_arguments *arguments)
{
    uint16_t uniforms[AGX_UNIFORM_HALVES] = {0};
    struct unit_fault fault = {0};
    const struct agx_assembly *const p = &code->program;
    memcpy(uniforms, arguments, sizeof *arguments < p->argument_bytes ? sizeof *arguments : p->argument_bytes);
    memcpy(uniforms + p->constant_first_half, p->code + p->constants_offset, 2 * p->constant_halves);
    struct gpu_program *const program = gpu_program_create(p->code, p->code_bytes, (uint32_t)p->main_offset, GPU_G13, &fault);
    CHECK(program != NULL, "%s", fault.text);
    if (!program || !prepare(r, p, uniforms)) {
        gpu_program_free(program);
        return false;
    }
    const struct gpu_launch launch = {.program = program,
                                      .uniforms = uniforms,
                                      .grid_threads = {THREADS, 1, 1},
                                      .group_threads = {GROUP, 1, 1},
                                      .threadgroup_memory_bytes = p->threadgroup_memory_bytes,
                                      .stack_bytes_per_thread = 4 * p->stack_words,
                                      .register_halves = p->register_halves,
                                      .space = r->space};
    const struct gpu_checks checks = {.sanitize = true, .poison = true, .reference = true, .instruction_limit = 1u << 20};
    struct gpu_group *const group = gpu_group_create(&launch, &checks);
    bool good = group != NULL;
    for (uint32_t x = 0; x < THREADS / GROUP && good; x++) {
        gpu_group_start(group, (const uint32_t[3]){x, 0, 0}, 0);
        good = gpu_group_finish(group, NULL, &fault);
        CHECK(good, "%s", fault.text);
    }
    const struct gpu_finding *findings;
    const size_t found = good ? gpu_group_findings(group, &findings) : 0;
    CHECK(found == 0, "%s", found ? findings[0].text : "");
    gpu_group_free(group);
    gpu_program_free(program);
    return good && !found;
}

/* Interprets and executes the kernel k(in, out, n) and compares all of `out`. False when they differ. */
static inline bool agrees(const struct ir_function *f, unsigned halves, unsigned *spills)
{
    struct run r = {.space = mem_space_create(1u << 22)};
    struct isa_error error;
    struct agx_compiled code;
    uint32_t expected[WORDS];
    r.in = mem_space_alloc(r.space, sizeof expected, 128);
    r.out = mem_space_alloc(r.space, sizeof expected, 128);
    const struct block_of_arguments arguments = {r.in, r.out, 100};
    const struct ir_launch launch = {.grid = {THREADS, 1, 1},
                                     .group = {GROUP, 1, 1},
                                     .arguments = &arguments,
                                     .argument_bytes = 20,
                                     .memory = {at, r.space},
                                     .most_instructions = 1u << 24,
                                     .flush_subnormals = true};
    start(&r);
    bool good = ir_interpret(f, &launch, &error);
    CHECK(good, "%s", error.text);
    memcpy(expected, words(&r, r.out), sizeof expected);
    start(&r);
    const struct agx_compile_options options = {.register_halves = halves};
    if (good) {
        good = agx_compile(f, &options, &code, &error);
        CHECK(good, "%s", error.text);
    }
    if (good) {
        *spills = code.spills;
        good = execute(&r, &code, &arguments);
        const bool same = good && memcmp(expected, words(&r, r.out), sizeof expected) == 0;
        CHECK(!good || same, "another result with %u halves, from\n%s", halves, code.assembly);
        good = same;
        agx_compiled_free(&code);
    }
    mem_space_free(r.space);
    return good;
}

#endif
