#include "sim/workload/amx/scalar_trace.h"
#include "isa/array_count.h"
#include "units/amx/kernels/gemm_pack.h"

#include <math.h>
#include <stdlib.h>

/* Basic blocks, in AArch64 words, as gcc 12 -O3 compiles them from gemm_pack.c and the freestanding memcpy. */

/* 64 bytes of memcpy: add x5,x1,x3; add x4,x0,x3; add x3,x3,#64; ldp q2,q3,[x5]; ldp q0,q1,[x5,#32]; stp q2,q3,[x4];
 * stp q0,q1,[x4,#32]; cmp x3,x6; b.ne */
static const uint32_t copy_words[] = {0x8b030025, 0x8b030004, 0x91010063, 0xad400ca2, 0xad4104a0,
                                      0xad000c82, 0xad010480, 0xeb06007f, 0x54ffff01};
/* Per row: the call, the test of the length and the return: sub, and, add, cmp, b.ls, add, and, add, cbz, ret. */
static const uint32_t row_words[] = {0xd1010046, 0x927ae4c6, 0x910100c6, 0xf100fc5f, 0x91000421,
                                     0x92401442, 0x91000463, 0xeb07001f, 0x54ffff01};
/* A tail of 16 bytes or less: ldr q0,[x1]; str q0,[x3]; add; cmp; b.ne */
static const uint32_t tail_words[] = {0x3dc00020, 0x3d800060, 0x91004021, 0xf100049f, 0x54ffff01};
/* One 4 x 4 block of words: four q loads, eight zips, four q stores. */
static const uint32_t transpose4_words[] = {0x8b130011, 0x8b140030, 0x8b130232, 0x8b14020f, 0x3cf36801, 0x8b1401e8, 0x3cf36a42,
                                            0x91004000, 0x3cdf0000, 0x3cf36a24, 0x4e823823, 0x4e827821, 0x4e843802, 0x4e847800,
                                            0x4e833844, 0x4e837842, 0x4e813803, 0x4e817800, 0x3d800024, 0x8b140101, 0x3d800202,
                                            0x3d8001e3, 0x3d800100, 0xeb0003df, 0x54fffd08};
/* One 8 x 8 block of halves: eight loads, twenty-four zips, eight stores. */
static const uint32_t transpose8_words[] = {
    0x8b13001b, 0x8b140039, 0x8b13036f, 0x8b140332, 0x8b1301fa, 0x8b140251, 0x8b130347, 0x8b140230, 0x8b1300fc, 0x8b130388,
    0x3cf368f1, 0x3cf369e5, 0x8b14020f, 0x3cf36913, 0x8b1401e8, 0x3cf36801, 0x8b140107, 0x3cf36b92, 0x91004000, 0x3cdf0000,
    0x3cf36b47, 0x3cf36b64, 0x4e5338b0, 0x4e513823, 0x4e523886, 0x4e473802, 0x4e527884, 0x4e517821, 0x4e477800, 0x4e503871,
    0x4e463847, 0x4e5378a5, 0x4e507863, 0x4e467842, 0x4e5138f2, 0x4e453830, 0x4e443806, 0x4e5178e7, 0x4e447800, 0x3d800032,
    0x8b1400e1, 0x4e433851, 0x4e457821, 0x3d800327, 0x4e437842, 0x4e5038c4, 0x3d800251, 0x4e5078c6, 0x4e413803, 0x3d800222,
    0x4e417800, 0x3d800204, 0x3d8001e6, 0x3d800103, 0x3d8000e0, 0xeb0003df, 0x54fff908};
/* One 2 x 2 block of doubles. */
static const uint32_t transpose2_words[] = {0x3cf36801, 0x8b140028, 0x3dc00000, 0x91004000, 0x4ec13802, 0x4ec17800,
                                            0x3d800022, 0x8b140101, 0x3d800100, 0xeb0003df, 0x54fffec8};
/* One element: ldr w,[x]; str w,[x]; add; add; cmp; b.ne */
static const uint32_t element_words[] = {0xb9400120, 0xb90000e0, 0x91001129, 0x910200e7, 0x6b05009f, 0x54ffff01};

enum { BLOCK_COPY, BLOCK_ROW, BLOCK_TAIL, BLOCK_T4, BLOCK_T8, BLOCK_T2, BLOCK_ELEMENT, BLOCK_COUNT };

struct block_text {
    const uint32_t *words;
    uint32_t count;
};
#define TEXT(words)                                                                                                              \
    {                                                                                                                            \
        words, ARRAY_COUNT(words)                                                                                                \
    }
static const struct block_text texts[BLOCK_COUNT] = {
    [BLOCK_COPY] = TEXT(copy_words),      [BLOCK_ROW] = TEXT(row_words),       [BLOCK_TAIL] = TEXT(tail_words),
    [BLOCK_T4] = TEXT(transpose4_words),  [BLOCK_T8] = TEXT(transpose8_words), [BLOCK_T2] = TEXT(transpose2_words),
    [BLOCK_ELEMENT] = TEXT(element_words)};

#define MAX_BLOCKS    2048
#define MAX_ADDRESSES (16 * MAX_BLOCKS)

struct scalar_trace {
    struct cpu_block block[BLOCK_COUNT];
    struct cpu_trace trace;
    bool skips; /* instead of timing */
};

static int decode_block(struct cpu_block *b, uint32_t id)
{
    const struct block_text *t = &texts[id];
    b->insn = calloc(t->count, sizeof *b->insn);
    if (!b->insn)
        return 0;
    b->pc = UINT64_C(0x1000) * (id + 1);
    b->id = id;
    b->count = t->count;
    for (uint32_t i = 0; i < t->count; i++) {
        a64_decode(t->words[i], &b->insn[i]);
        if (b->insn[i].form == A64_UNDEFINED)
            return 0;
        b->mem_count += cpu_traces_address(&b->insn[i]);
    }
    return 1;
}

struct scalar_trace *scalar_trace_create(void)
{
    struct scalar_trace *s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    int ok = 1;
    for (uint32_t id = 0; id < BLOCK_COUNT; id++)
        ok &= decode_block(&s->block[id], id);
    s->trace.block = calloc(MAX_BLOCKS, sizeof *s->trace.block);
    s->trace.address = calloc(MAX_ADDRESSES, sizeof *s->trace.address);
    s->trace.block_capacity = MAX_BLOCKS;
    s->trace.address_capacity = MAX_ADDRESSES;
    if (ok && s->trace.block && s->trace.address)
        return s;
    scalar_trace_free(s);
    return NULL;
}

void scalar_trace_free(struct scalar_trace *s)
{
    if (!s)
        return;
    for (int id = 0; id < BLOCK_COUNT; id++)
        free(s->block[id].insn);
    free(s->trace.block);
    free(s->trace.address);
    free(s);
}

void scalar_trace_time(struct scalar_trace *s, bool timed)
{
    s->skips = !timed;
}

static void drain(struct scalar_trace *s, struct cpu_timing *timing)
{
    if (!s->trace.blocks)
        return;
    s->trace.last_count = s->trace.block[s->trace.blocks - 1]->count;
    cpu_timing_feed(timing, &s->trace);
    if (s->skips)
        cpu_timing_skip(timing);
    while (cpu_timing_pending(timing))
        cpu_timing_advance(timing, INFINITY);
    s->trace.blocks = s->trace.addresses = 0;
}

static void begin(struct scalar_trace *s, struct cpu_timing *timing, int id)
{
    if (s->trace.blocks == MAX_BLOCKS)
        drain(s, timing);
    s->trace.block[s->trace.blocks++] = &s->block[id];
}

static void touch(struct scalar_trace *s, uint64_t address)
{
    s->trace.address[s->trace.addresses++] = address;
}

void scalar_trace_copy(struct scalar_trace *s, struct cpu_timing *timing, uint64_t dst, uint64_t dst_row, uint64_t src,
                       uint64_t src_row, uint32_t rows, uint32_t row_bytes)
{
    for (uint32_t r = 0; r < rows; r++, dst += dst_row) {
        const uint64_t from = src + r * src_row;
        uint32_t at = 0;
        begin(s, timing, BLOCK_ROW);
        for (; row_bytes - at >= 64; at += 64) {
            begin(s, timing, BLOCK_COPY);
            touch(s, from + at);
            touch(s, from + at + 32);
            touch(s, dst + at);
            touch(s, dst + at + 32);
        }
        for (; at < row_bytes; at += 16) {
            begin(s, timing, BLOCK_TAIL);
            touch(s, from + at);
            touch(s, dst + at);
        }
    }
    drain(s, timing);
}

/* The order in which the loops above load the rows of a block. Their stores go in order. */
static const uint8_t load_order4[] = {1, 3, 0, 2}, load_order8[] = {5, 2, 7, 1, 6, 0, 4, 3}, load_order2[] = {1, 0};

static uint32_t loaded_row(int id, uint32_t i)
{
    switch (id) {
    case BLOCK_T4: return load_order4[i];
    case BLOCK_T8: return load_order8[i];
    case BLOCK_T2: return load_order2[i];
    default: return i;
    }
}

static void one_block(struct scalar_trace *s, struct cpu_timing *timing, int id, uint32_t side, uint64_t dst, uint64_t dst_row,
                      uint64_t src, uint64_t src_row)
{
    begin(s, timing, id);
    for (uint32_t i = 0; i < side; i++)
        touch(s, src + loaded_row(id, i) * src_row);
    for (uint32_t i = 0; i < side; i++)
        touch(s, dst + i * dst_row);
}

static void elements(struct scalar_trace *s, struct cpu_timing *timing, uint64_t dst, uint64_t dst_row, uint64_t src,
                     uint64_t src_row, uint32_t bytes, uint32_t vectors, uint32_t from, uint32_t to)
{
    for (uint32_t j = 0; j < vectors; j++)
        for (uint32_t i = from; i < to; i++)
            one_block(s, timing, BLOCK_ELEMENT, 1, dst + i * dst_row + (uint64_t)j * bytes, 0,
                      src + j * src_row + (uint64_t)i * bytes, 0);
}

/* The same walk as transpose_panel in gemm_pack.c. */
void scalar_trace_transpose(struct scalar_trace *s, struct cpu_timing *timing, uint64_t dst, uint64_t dst_row, uint64_t src,
                            uint64_t src_row, uint32_t vectors, uint32_t count, uint32_t bytes)
{
    const uint32_t side = bytes == 1 ? 1 : 16 / bytes;
    const int id = bytes == 1 ? BLOCK_ELEMENT : bytes == 2 ? BLOCK_T8 : bytes == 4 ? BLOCK_T4 : BLOCK_T2;
    const uint32_t whole_i = count / side * side, whole_j = vectors / side * side;
    const uint32_t run = gemm_pack_run_bytes(src_row, vectors) / bytes;
    for (uint32_t i0 = 0; i0 < whole_i; i0 += run)
        for (uint32_t j = 0; j < whole_j; j += side)
            for (uint32_t i = i0; i < whole_i && i < i0 + run; i += side)
                one_block(s, timing, id, side, dst + i * dst_row + (uint64_t)j * bytes, dst_row,
                          src + j * src_row + (uint64_t)i * bytes, src_row);
    elements(s, timing, dst, dst_row, src, src_row, bytes, whole_j, whole_i, count);
    elements(s, timing, dst + (uint64_t)whole_j * bytes, dst_row, src + whole_j * src_row, src_row, bytes, vectors - whole_j, 0,
             count);
    drain(s, timing);
}
