/* A request of hand-made tasks on buffers of its own, for suites of the executing side. */
#ifndef ORCHARD_TESTS_UNITS_ANE_EXEC_EXAMPLE_H
#define ORCHARD_TESTS_UNITS_ANE_EXEC_EXAMPLE_H

#include "isa/ane/ane_half.h"
#include "tests/support/suite.h"
#include "units/ane/ane_exec.h"

#include <stdlib.h>
#include <string.h>

enum { EXAMPLE_TASKS = 8, EXAMPLE_L2 = 2 << 20, BAR_COEFFICIENTS = 1, BAR_OUT = 4, BAR_IN = 5, BAR_SECOND = 6 };

struct ane_example {
    struct mem_space *space;
    struct ane_core *core;
    struct ane_program program;
    struct ane_request request;
    struct ane_task task[EXAMPLE_TASKS];
    struct ane_pack pack;
    struct ane_exec_counts counts;
    struct unit_fault fault;
};

static inline void ane_example_open(struct ane_example *e)
{
    memset(e, 0, sizeof *e);
    e->space = mem_space_create((uint64_t)1 << 30);
    e->core = ane_core_create(NULL, EXAMPLE_L2);
    CU_ASSERT_FATAL(e->space != NULL && e->core != NULL);
    e->program.task = e->task;
    e->request.program = &e->program;
    e->request.space = e->space;
}

static inline void ane_example_close(struct ane_example *e)
{
    free(e->pack.bytes);
    ane_core_free(e->core);
    mem_space_free(e->space);
}

/* A buffer of exactly so many bytes for a base register. */
static inline uint8_t *ane_example_buffer(struct ane_example *e, unsigned bar, uint64_t bytes)
{
    e->request.address[bar] = mem_space_alloc(e->space, bytes, 16384);
    e->request.bytes[bar] = bytes;
    CU_ASSERT_FATAL(e->request.address[bar] != 0);
    return mem_at(e->space, e->request.address[bar], bytes, MEM_READ | MEM_WRITE);
}

static inline struct ane_operand ane_example_operand(enum ane_place place, unsigned bar, uint32_t base, uint32_t channels,
                                                     uint32_t height, uint32_t width)
{
    const uint32_t grain = place == ANE_PLACE_DRAM ? 64 : 16, row = (2 * width + grain - 1) / grain * grain;
    return (struct ane_operand){.place = place,
                                .format = ANE_F16,
                                .bar = (uint8_t)bar,
                                .base = base,
                                .row = row,
                                .plane = row * height,
                                .depth = row * height * channels,
                                .group = row * height * channels,
                                .interleave = 1};
}

/* An operand in a fresh buffer of its own. */
static inline struct ane_operand ane_example_dram(struct ane_example *e, unsigned bar, uint32_t channels, uint32_t height,
                                                  uint32_t width)
{
    const struct ane_operand o = ane_example_operand(ANE_PLACE_DRAM, bar, 0, channels, height, width);
    ane_example_buffer(e, bar, o.depth);
    return o;
}

/* The next task, all neutral. */
static inline struct ane_task *ane_example_task(struct ane_example *e)
{
    struct ane_task *t = &e->task[e->program.count++];
    *t = (struct ane_task){.groups = 1,
                           .kernel_width = 1,
                           .kernel_height = 1,
                           .stride_x = 1,
                           .stride_y = 1,
                           .step_x = 1,
                           .step_y = 1,
                           .post_scale = 1,
                           .pe_pre_scale = 1,
                           .pe_scale = 1,
                           .pe_final_scale = 1,
                           .kernel_format = ANE_KERNEL_F16,
                           .engines = 16,
                           .tile_height = 1,
                           .id = (uint16_t)(e->program.count - 1)};
    return t;
}

static inline void ane_example_shape(struct ane_task *t, uint32_t channels_in, uint32_t height_in, uint32_t width_in,
                                     uint32_t channels_out, uint32_t height_out, uint32_t width_out)
{
    t->channels_in = channels_in;
    t->height_in = height_in;
    t->width_in = width_in;
    t->channels_out = channels_out;
    t->height_out = height_out;
    t->width_out = width_out;
}

static inline uint8_t *ane_example_at(const struct ane_example *e, const struct ane_operand *o, uint32_t c, uint32_t y,
                                      uint32_t x)
{
    const uint64_t at = e->request.address[o->bar] + o->base + (uint64_t)c * o->plane + (uint64_t)y * o->row + 2 * (uint64_t)x;
    return e->space->host + at;
}

static inline void ane_example_set_bits(const struct ane_example *e, const struct ane_operand *o, uint32_t c, uint32_t y,
                                        uint32_t x, uint16_t bits)
{
    memcpy(ane_example_at(e, o, c, y, x), &bits, sizeof bits);
}

static inline uint16_t ane_example_bits(const struct ane_example *e, const struct ane_operand *o, uint32_t c, uint32_t y,
                                        uint32_t x)
{
    uint16_t bits;
    memcpy(&bits, ane_example_at(e, o, c, y, x), sizeof bits);
    return bits;
}

static inline double ane_example_get(const struct ane_example *e, const struct ane_operand *o, uint32_t c, uint32_t y, uint32_t x)
{
    return ane_half_value(ane_example_bits(e, o, c, y, x));
}

/* A value of [-size, size) with eleven significant bits. */
static inline double ane_example_random(uint64_t *state, double size)
{
    return ane_half_round(((double)(suite_random(state) >> 11) * 0x1p-52 - 1) * size);
}

static inline void ane_example_fill(const struct ane_example *e, const struct ane_operand *o, uint32_t channels, uint32_t height,
                                    uint32_t width, double size, uint64_t *state)
{
    for (uint32_t c = 0; c < channels; c++)
        for (uint32_t y = 0; y < height; y++)
            for (uint32_t x = 0; x < width; x++)
                ane_example_set_bits(e, o, c, y, x, ane_half_bits(ane_example_random(state, size)));
}

/* Packs weights into the task's banks and hands the coefficients to the program. */
static inline void ane_example_weights(struct ane_example *e, struct ane_task *t, const uint16_t *weight, const uint16_t *bias)
{
    struct isa_error error = {.text = ""};
    const bool ok = ane_weights_pack(t, weight, bias, &e->pack, &error);
    CHECK(ok, "%s", error.text);
    e->program.bytes = e->pack.bytes;
    e->program.size = e->program.const_bytes = e->pack.used;
}

static inline void ane_example_table(struct ane_example *e, struct ane_task *t, const struct ane_table *table)
{
    e->pack.bytes = realloc(e->pack.bytes, e->pack.used + 2 * ANE_TABLE_HALVES);
    CU_ASSERT_FATAL(e->pack.bytes != NULL);
    ane_table_write(table, e->pack.bytes + e->pack.used);
    t->bank[0] = (struct ane_bank){true, (uint32_t)e->pack.used, 2 * ANE_TABLE_HALVES};
    e->pack.used = e->pack.room = e->pack.used + 2 * ANE_TABLE_HALVES;
    e->program.bytes = e->pack.bytes;
    e->program.size = e->program.const_bytes = e->pack.used;
}

static inline bool ane_example_run(struct ane_example *e, unsigned threads)
{
    return ane_core_run(e->core, &e->request, threads, &e->counts, &e->fault);
}

/* As above; the test fails when the run does. */
static inline void ane_example_must_run(struct ane_example *e, unsigned threads)
{
    const bool ok = ane_example_run(e, threads);
    CHECK(ok, "%s", e->fault.text);
}

#endif
