/* A launch of a small kernel on the interpreter: k(in, out, n), two buffers of words and a number. */
#ifndef ORCHARD_TESTS_ISA_IR_BENCH_H
#define ORCHARD_TESTS_ISA_IR_BENCH_H

#include "isa/agx/compiler/ir_interpret.h"
#include "tests/isa/ir_kit.h"
#include "tests/support/suite.h"

#include <string.h>

#define IN_ADDRESS  UINT64_C(0x100000)
#define OUT_ADDRESS UINT64_C(0x200000)
#define WORDS       2048u

struct bench {
    uint32_t in[WORDS], out[WORDS];
    struct ir_counts counts;
    struct isa_error error;
    uint32_t grid, group;
    uint64_t most;
    bool flush, ended_arrive;
};

static inline void *memory_at(void *context, uint64_t address, uint64_t bytes)
{
    struct bench *const b = context;
    const bool out = address >= OUT_ADDRESS;
    const uint64_t offset = address - (out ? OUT_ADDRESS : IN_ADDRESS);
    return offset <= sizeof b->in && bytes <= sizeof b->in - offset ? (uint8_t *)(out ? b->out : b->in) + offset : NULL;
}

static inline struct bench bench_new(uint32_t grid, uint32_t group)
{
    struct bench b = {.grid = grid, .group = group};
    for (uint32_t i = 0; i < WORDS; i++) {
        b.in[i] = i * UINT32_C(2654435761);
        b.out[i] = 0;
    }
    return b;
}

static inline bool run(struct kit *k, struct bench *b, uint32_t n)
{
    const struct {
        uint64_t in, out;
        uint32_t n;
    } arguments = {IN_ADDRESS, OUT_ADDRESS, n};
    const struct ir_launch launch = {.grid = {b->grid, 1, 1},
                                     .group = {b->group, 1, 1},
                                     .arguments = &arguments,
                                     .argument_bytes = 20,
                                     .memory = {memory_at, b},
                                     .most_instructions = b->most,
                                     .ended_arrive = b->ended_arrive,
                                     .flush_subnormals = b->flush,
                                     .counts = &b->counts};
    struct isa_error error = {.text = ""};
    struct ir_function *const kernel = ir_find_function(k->m, "k");
    CHECK(ir_number(kernel) && ir_verify(kernel, &error), "%s", error.text);
    return ir_interpret(kernel, &launch, &b->error);
}

/* Ends the kernel and runs it; the module is gone afterwards. */
static inline void finish(struct kit *k, struct bench *b, uint32_t n)
{
    give(k, NULL);
    const bool ran = run(k, b, n);
    CHECK(ran, "%s", b->error.text);
    ir_module_free(k->m);
}

static inline void refused(struct kit *k, struct bench *b, unsigned long line, const char *text)
{
    const bool ran = run(k, b, 0);
    CHECK(!ran && strstr(b->error.text, text) && b->error.line == line, "%d, line %lu: %s", ran, b->error.line, b->error.text);
    ir_module_free(k->m);
}

#define EXPECT(b, threads, i, value)                                                                                             \
    for (uint32_t i = 0; i < (threads); i++)                                                                                     \
    CHECK((b).out[i] == (uint32_t)(value), "out[%u] is %x, not %x", i, (unsigned)(b).out[i], (unsigned)(value))

static inline val ballot_all(struct kit *k)
{
    return builtin1(k, IR_B_SIMD_BALLOT, k->i32, ir_constant(k->m, k->i1, 1));
}

static inline val group_array(struct kit *k, uint64_t count)
{
    return ir_add_global(k->m, "s", ir_array(k->m, k->i32, count), IR_THREADGROUP);
}

#endif
