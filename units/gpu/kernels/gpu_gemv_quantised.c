/* gemv with GGUF blocks (ggml: block_q4_0, block_q8_0, block_q4_K).
 *
 * Loads of i8 extend bytes to halves. A half of value v < 1024 is the denormal float16 v * 2^-24, which the float unit accepts as
 * it is (AGX keeps denormals of float16). A weight therefore costs one bit operation and one multiply-add; powers of two are
 * corrected at the end, and offsets (the 8 of q4_0, the 128 of q8_0) by sums of x alone.
 */
#include "isa/array_count.h"
#include "units/gpu/kernels/gpu_gemv.h"

#include <stdio.h>

enum { LANES = 32, BYTES = 4 /* of quants per lane and round */ };

struct quantised {
    const struct gpu_gemv *g;
    struct gpu_emit *e;
    struct gpu_base bytes, halves, x;      /* of a, addressed by bytes and by halves */
    unsigned row_block[GPU_GEMV_ROWS_MAX]; /* number of the row's block that this lane works on */
    unsigned block, part;                  /* of the row; the part of the block's bytes that is this lane's */
    unsigned low, high, low_sum, high_sum; /* of x: four each for low and high nibbles; their sums */
    unsigned place, byte;
    unsigned quants, masked, scales; /* two registers, one, three */
    unsigned dot, dot_high, scale;
    unsigned sum, offset; /* per row: scaled dot products; scaled sums of x */
};

static unsigned block_weights(enum gpu_type type)
{
    return type == GPU_Q4_K ? 256 : 32;
}

static unsigned block_bytes(enum gpu_type type)
{
    return (unsigned)gpu_type_bytes(type, block_weights(type));
}

/* Number of lanes that share a block: each takes four bytes of its quants. */
static unsigned block_lanes(enum gpu_type type)
{
    return type == GPU_Q4_0 ? 4 : type == GPU_Q8_0 ? 8 : 32;
}

/* ---- x ---- */

static void sum_of_four(struct quantised *q, unsigned to, unsigned four)
{
    gpu_emit(q->e, "fadd32 r%u, r%u, r%u", to, four, four + 1);
    gpu_emit(q->e, "fadd32 r%u, r%u, r%u", to, to, four + 2);
    gpu_emit(q->e, "fadd32 r%u, r%u, r%u", to, to, four + 3);
}

/* place = first weight of this lane's low nibbles (or bytes). */
static void x_place(struct quantised *q)
{
    gpu_mad_imm(q->e, q->place, q->part, 4, GPU_NO_REGISTER);
    if (q->g->type == GPU_Q4_K) { /* 32 bytes hold two groups of 32 weights */
        gpu_emit(q->e, "bfeil r%u, 0, r%u, 3", q->byte, q->part);
        gpu_mad_imm(q->e, q->place, q->byte, 32, q->place);
    }
    gpu_mad_imm(q->e, q->place, q->block, block_weights(q->g->type), q->place);
}

static void load_x(struct quantised *q)
{
    const unsigned apart = q->g->type == GPU_Q4_K ? 32 : 16;
    x_place(q);
    gpu_load_raw(q->e, 0, GPU_F32, 4, 2 * q->low, q->x, gpu_r(q->e, q->place));
    if (q->g->type == GPU_Q8_0)
        return;
    gpu_add_imm(q->e, q->place, q->place, apart);
    gpu_load_raw(q->e, 0, GPU_F32, 4, 2 * q->high, q->x, gpu_r(q->e, q->place));
}

/* High nibbles are read as 16 v, so their x is divided by 16 instead. */
static void prepare_x(struct quantised *q)
{
    sum_of_four(q, q->low_sum, q->low);
    if (q->g->type == GPU_Q8_0)
        return;
    sum_of_four(q, q->high_sum, q->high);
    for (unsigned j = 0; j < 4; j++)
        gpu_emit(q->e, "fmul32 r%u, r%u, 0.0625", q->high + j, q->high + j);
}

/* ---- a row's part of a block ---- */

static void load_quants(struct quantised *q, unsigned row)
{
    const enum gpu_type type = q->g->type;
    const unsigned header = block_bytes(type) - (type == GPU_Q4_0 ? 16 : type == GPU_Q8_0 ? 32 : 128);
    gpu_mad_imm(q->e, q->place, q->row_block[row], block_bytes(type) / 2, GPU_NO_REGISTER);
    gpu_load_raw(q->e, 0, GPU_F16, type == GPU_Q4_K ? 2 : 1, 2 * q->scale, q->halves, gpu_r(q->e, q->place));
    gpu_mad_imm(q->e, q->byte, q->place, 2, GPU_NO_REGISTER);
    gpu_mad_imm(q->e, q->place, q->part, 4, q->byte);
    gpu_add_imm(q->e, q->place, q->place, header);
    gpu_load_raw(q->e, 0, GPU_U8, 4, 2 * q->quants, q->bytes, gpu_r(q->e, q->place));
}

/* to = sum of (byte `op` mask) * x * 2^-24 */
static void dot_product(struct quantised *q, unsigned to, const char *op, unsigned mask, unsigned x)
{
    for (unsigned j = 0; j < BYTES; j++) {
        gpu_emit(q->e, "%s %s, %s, %u", op, gpu_h(q->e, 2 * q->masked + (j & 1)), gpu_h(q->e, 2 * q->quants + j), mask);
        if (j == 0)
            gpu_emit(q->e, "fmul32 r%u, %s, r%u", to, gpu_h(q->e, 2 * q->masked), x);
        else
            gpu_emit(q->e, "fmadd32 r%u, %s, r%u, r%u", to, gpu_h(q->e, 2 * q->masked + (j & 1)), x + j, to);
    }
}

/* Blocks with one scale: sum += d * dot, offset += d * sum of x. */
static void add_plain(struct quantised *q, unsigned row)
{
    if (q->g->type == GPU_Q8_0) {
        dot_product(q, q->dot, "xor", 128, q->low); /* q + 128 */
    } else {
        dot_product(q, q->dot, "and", 15, q->low);
        dot_product(q, q->dot_high, "and", 240, q->high);
        gpu_emit(q->e, "fadd32 r%u, r%u, r%u", q->dot, q->dot, q->dot_high);
    }
    const char *d = gpu_h(q->e, 2 * q->scale);
    gpu_emit(q->e, "fmadd32 r%u, %s, r%u, r%u", q->sum + row, d, q->dot, q->sum + row);
    gpu_emit(q->e, "fmadd32 r%u, %s, r%u, r%u", q->offset + row, d, q->low_sum, q->offset + row);
    if (q->g->type != GPU_Q8_0)
        gpu_emit(q->e, "fmadd32 r%u, %s, r%u, r%u", q->offset + row, d, q->high_sum, q->offset + row);
}

/* ---- q4_K: scales and minima of 6 bits in 12 bytes ----
 *
 * Quant bytes 32 i .. 32 i + 31 belong to sub-blocks 2i (low) and 2i + 1 (high). With j = 2 (i & 1), bytes p0 = [j], p1 = [j +
 * 4], p2 = [j + 8] of the twelve: i < 2: scale p0 & 63, minimum p1 & 63; else scale (p2 & 15) | (p0 >> 6) << 4, minimum p2 >> 4 |
 * (p1 >> 6) << 4.
 */

static void load_scales(struct quantised *q)
{
    gpu_emit(q->e, "bfeil r%u, 0, r%u, 3, mask 0x1", q->place, q->part);
    gpu_emit(q->e, "iadd r%u, r%u, r%u, lsl 1", q->byte, q->byte, q->place);
    for (unsigned p = 0; p < 3; p++) {
        gpu_add_imm(q->e, q->place, q->byte, 4 + 4 * p);
        gpu_load_raw(q->e, 0, GPU_U8, 2, 2 * (q->scales + p), q->bytes, gpu_r(q->e, q->place));
    }
}

/* Halves s of p0 and p1 give scale and minimum of sub-block 2i + s; q->place is 0 for i < 2. */
static void unpack_scales(struct quantised *q, unsigned s)
{
    struct gpu_emit *e = q->e;
    const char *p0 = gpu_h(e, 2 * q->scales + s), *p1 = gpu_h(e, 2 * q->scales + 2 + s), *p2 = gpu_h(e, 2 * q->scales + 4 + s);
    const char *t = gpu_h(e, 2 * q->masked), *u = gpu_h(e, 2 * q->masked + 1);
    gpu_emit(e, "bfeil %s, 0, %s, 6", t, p0);
    gpu_emit(e, "bfi %s, %s, %s, 4, mask 0x3", t, p2, t);
    gpu_emit(e, "and %s, %s, 63", t, t);
    gpu_emit(e, "and %s, %s, 63", u, p0);
    gpu_emit(e, "icmpsel ueq, %s, r%u, 0, %s, %s", p0, q->place, u, t);
    gpu_emit(e, "bfeil %s, 0, %s, 6", t, p1);
    gpu_emit(e, "bfeil %s, 0, %s, 4", u, p2);
    gpu_emit(e, "bfi %s, %s, %s, 4, mask 0x3", t, u, t);
    gpu_emit(e, "and %s, %s, 63", u, p1);
    gpu_emit(e, "icmpsel ueq, %s, r%u, 0, %s, %s", p1, q->place, u, t);
}

static void add_sub_block(struct quantised *q, unsigned row, unsigned s)
{
    struct gpu_emit *e = q->e;
    const unsigned dot = s ? q->dot_high : q->dot, x_sum = s ? q->high_sum : q->low_sum;
    dot_product(q, dot, "and", s ? 240 : 15, s ? q->high : q->low);
    gpu_emit(e, "fmul32 r%u, %s, r%u", dot, gpu_h(e, 2 * q->scales + s), dot);
    gpu_emit(e, "fmadd32 r%u, %s, r%u, r%u", q->sum + row, gpu_h(e, 2 * q->scale), dot, q->sum + row);
    gpu_emit(e, "fmul32 r%u, %s, r%u", dot, gpu_h(e, 2 * q->scales + 2 + s), x_sum);
    gpu_emit(e, "fmadd32 r%u, %s, r%u, r%u", q->offset + row, gpu_h(e, 2 * q->scale + 1), dot, q->offset + row);
}

static void add_super_block(struct quantised *q, unsigned row)
{
    gpu_emit(q->e, "bfeil r%u, 0, r%u, 4", q->place, q->part);
    unpack_scales(q, 0);
    unpack_scales(q, 1);
    add_sub_block(q, row, 0);
    add_sub_block(q, row, 1);
}

/* ---- the whole program ---- */

static void take_registers(struct quantised *q)
{
    unsigned *const singles[] = {&q->block, &q->part,     &q->place, &q->byte,    &q->masked,
                                 &q->dot,   &q->dot_high, &q->scale, &q->low_sum, &q->high_sum};
    for (unsigned i = 0; i < ARRAY_COUNT(singles); i++)
        *singles[i] = gpu_register(q->e, 1);
    q->low = gpu_register(q->e, 4);
    q->high = gpu_register(q->e, 4);
    q->quants = gpu_register(q->e, 2);
    q->scales = gpu_register(q->e, 3);
    q->sum = gpu_register(q->e, q->g->rows);
    q->offset = gpu_register(q->e, q->g->rows);
}

static void start(struct quantised *q, unsigned row, unsigned lane)
{
    const uint32_t blocks = q->g->n / block_weights(q->g->type);
    gpu_divide_imm(q->e, q->block, q->part, lane, block_lanes(q->g->type));
    for (unsigned i = 0; i < q->g->rows; i++) {
        q->row_block[i] = gpu_register(q->e, 1);
        gpu_gemv_row(q->e, q->g, q->row_block[i], row, i);
        gpu_mad_imm(q->e, q->row_block[i], q->row_block[i], blocks, q->block);
        gpu_mov_imm(q->e, q->sum + i, 0);
        gpu_mov_imm(q->e, q->offset + i, 0);
    }
}

static void turn(struct quantised *q)
{
    const unsigned step = LANES / block_lanes(q->g->type);
    load_x(q);
    for (unsigned i = 0; i < q->g->rows; i++) {
        load_quants(q, i);
        if (q->g->type == GPU_Q4_K)
            load_scales(q);
        gpu_wait(q->e, 0);
        if (i == 0)
            prepare_x(q);
        if (q->g->type == GPU_Q4_K)
            add_super_block(q, i);
        else
            add_plain(q, i);
        gpu_add_imm(q->e, q->row_block[i], q->row_block[i], step);
    }
    gpu_add_imm(q->e, q->block, q->block, step);
}

/* sum = 2^24 (2^48 where scales are denormals, too) * sum - offset in the weights' own unit. */
static void put_right(struct quantised *q)
{
    const enum gpu_type type = q->g->type;
    const char *power = gpu_float(q->e, type == GPU_Q4_K ? 0x1p48F : 0x1p24F);
    const char *offset = gpu_float(q->e, type == GPU_Q4_K ? 0x1p24F : type == GPU_Q8_0 ? 128.0F : 8.0F);
    for (unsigned i = 0; i < q->g->rows; i++) {
        gpu_emit(q->e, "fmul32 r%u, r%u, %s", q->offset + i, q->offset + i, offset);
        gpu_emit(q->e, "fmadd32 r%u, r%u, %s, r%u.neg", q->sum + i, q->sum + i, power, q->offset + i);
    }
}

bool gpu_gemv_build_quantised(const struct gpu_gemv *g, struct gpu_kernel *kernel, struct isa_error *error)
{
    char variant[32];
    const uint32_t blocks = g->n / block_weights(g->type);
    snprintf(variant, sizeof variant, "gemv_%s_%u_rows", gpu_type_name(g->type), g->rows);
    struct quantised q = {.g = g, .e = gpu_emit_begin(kernel, variant, error)};
    const unsigned row = gpu_register(q.e, 1), lane = gpu_register(q.e, 1);
    q.bytes = q.halves = gpu_argument_buffer(q.e, g->a, 0);
    q.x = gpu_argument_buffer(q.e, g->x, 0);
    take_registers(&q);
    gpu_gemv_place(q.e, g, row, lane);
    start(&q, row, lane);
    gpu_if(q.e, "ult", gpu_r(q.e, q.block), gpu_int(q.e, blocks));
    gpu_do(q.e);
    turn(&q);
    gpu_while(q.e, "ult", gpu_r(q.e, q.block), gpu_int(q.e, blocks));
    gpu_endif(q.e);
    put_right(&q);
    gpu_gemv_finish(q.e, g, GPU_F32, q.sum, row, lane);
    return gpu_emit_end(q.e);
}
