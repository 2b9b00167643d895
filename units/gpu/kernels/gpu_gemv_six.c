/* gemv with ggml's blocks q6_K of 256 weights: 128 bytes of low nibbles, 64 of pairs of upper bits, 16 signed scales, and the
 * block's scale behind them (ggml: block_q6_K).
 *
 * A simdgroup takes a block of each row at a time. A lane has two neighbours of each of four groups of 32 in one half of the
 * block: their nibbles are the lower and upper ones of bytes l and l + 32, their upper bits the four pairs of one byte. Bytes are
 * denormal halves as in gpu_gemv_quantised.c; what bits stand for beyond that is multiplied behind the sums of each group.
 */
#include "isa/array_count.h"
#include "units/gpu/kernels/gpu_gemv.h"

#include <stdio.h>

enum { WEIGHTS = 256, BLOCK_BYTES = 210, UPPER = 128, SCALES = 192, SCALE = 208, HALF = 128, GROUPS = 4, GROUP = 32, EACH = 2 };

struct six {
    const struct gpu_gemv *g;
    struct gpu_emit *e;
    struct gpu_base bytes, halves, x;
    unsigned row_block[GPU_GEMV_ROWS_MAX];
    unsigned block;               /* of the row */
    unsigned low, up, scale_at;   /* bytes of this lane in a block: nibbles, upper bits, scales */
    unsigned first;               /* weight of this lane in a block */
    unsigned x_of, x_sum;         /* two for each group; one for each */
    unsigned place, base, masked; /* base: of the block */
    unsigned nibbles, uppers;     /* registers of two bytes: two, one */
    unsigned scales, d;           /* eight bytes, of which every other one counts */
    unsigned dot, dot_up, all;
    unsigned sum; /* per row */
};

static void take_registers(struct six *q)
{
    unsigned *const single[] = {&q->block,  &q->low,    &q->up, &q->scale_at, &q->first,  &q->place, &q->base,
                                &q->masked, &q->uppers, &q->d,  &q->dot,      &q->dot_up, &q->all};
    for (unsigned i = 0; i < ARRAY_COUNT(single); i++)
        *single[i] = gpu_register(q->e, 1);
    q->x_of = gpu_register(q->e, GROUPS * EACH);
    q->x_sum = gpu_register(q->e, GROUPS);
    q->nibbles = gpu_register(q->e, 2);
    q->scales = gpu_register(q->e, 4);
    q->sum = gpu_register(q->e, q->g->rows);
}

/* Where this lane is in every block. */
static void start(struct six *q, unsigned row, unsigned lane)
{
    const uint32_t blocks = q->g->n / WEIGHTS;
    gpu_shr(q->e, q->dot, lane, 4); /* the half of the block */
    gpu_and_imm(q->e, q->dot_up, lane, 15);
    gpu_shr(q->e, q->place, q->dot_up, 3); /* 16 weights have a scale */
    gpu_mad_imm(q->e, q->scale_at, q->dot, 8, q->place);
    gpu_shl(q->e, q->dot_up, q->dot_up, 1);
    gpu_mad_imm(q->e, q->low, q->dot, 64, q->dot_up);
    gpu_mad_imm(q->e, q->up, q->dot, GROUP, q->dot_up);
    gpu_mad_imm(q->e, q->first, q->dot, HALF, q->dot_up);
    gpu_mov_imm(q->e, q->block, 0);
    for (unsigned i = 0; i < q->g->rows; i++) {
        q->row_block[i] = gpu_register(q->e, 1);
        gpu_gemv_row(q->e, q->g, q->row_block[i], row, i);
        gpu_mad_imm(q->e, q->row_block[i], q->row_block[i], blocks, GPU_NO_REGISTER);
        gpu_mov_imm(q->e, q->sum + i, 0);
    }
}

static void load_x(struct six *q)
{
    gpu_mad_imm(q->e, q->place, q->block, WEIGHTS, q->first);
    for (unsigned k = 0; k < GROUPS; k++) {
        if (k)
            gpu_add_imm(q->e, q->place, q->place, GROUP);
        gpu_load_raw(q->e, 0, GPU_F32, EACH, 2 * (q->x_of + EACH * k), q->x, gpu_r(q->e, q->place));
    }
}

static void load_bytes(struct six *q, unsigned count, unsigned to, unsigned at, int64_t behind)
{
    gpu_emit(q->e, "iadd r%u, r%u, r%u", q->place, q->base, at);
    if (behind)
        gpu_add_imm(q->e, q->place, q->place, behind);
    gpu_load_raw(q->e, 0, GPU_U8, count, 2 * to, q->bytes, gpu_r(q->e, q->place));
}

static void load_row(struct six *q, unsigned row)
{
    gpu_mad_imm(q->e, q->base, q->row_block[row], BLOCK_BYTES / 2, GPU_NO_REGISTER);
    gpu_add_imm(q->e, q->place, q->base, SCALE / 2);
    gpu_load_raw(q->e, 0, GPU_F16, 1, 2 * q->d, q->halves, gpu_r(q->e, q->place));
    gpu_shl(q->e, q->base, q->base, 1);
    load_bytes(q, EACH, q->nibbles, q->low, 0);
    load_bytes(q, EACH, q->nibbles + 1, q->low, GROUP);
    load_bytes(q, EACH, q->uppers, q->up, UPPER);
    load_bytes(q, 4, q->scales, q->scale_at, SCALES);
    load_bytes(q, 4, q->scales + 2, q->scale_at, SCALES + 4);
}

/* to = sum of (byte & mask) * x * 2^-24 over the two bytes of a register */
static void dot_product(struct six *q, unsigned to, unsigned bytes, unsigned mask, unsigned x)
{
    for (unsigned j = 0; j < EACH; j++) {
        const char *const byte = gpu_h(q->e, 2 * q->masked + j);
        gpu_emit(q->e, "and %s, %s, %u", byte, gpu_h(q->e, 2 * bytes + j), mask);
        if (j == 0)
            gpu_emit(q->e, "fmul32 r%u, %s, r%u", to, byte, x);
        else
            gpu_emit(q->e, "fmadd32 r%u, %s, r%u, r%u", to, byte, x + j, to);
    }
}

/* A weight is 16 * upper bits + nibble - 32, times the group's scale. */
static void add_group(struct six *q, unsigned k)
{
    const float upper[GROUPS] = {0x1p28F, 0x1p26F, 0x1p24F, 0x1p22F};
    const char *const scale = gpu_h(q->e, 2 * (q->scales + k / 2 * 2) + k % 2 * 2);
    dot_product(q, q->dot, q->nibbles + k % 2, k < 2 ? 15 : 240, q->x_of + EACH * k);
    dot_product(q, q->dot_up, q->uppers, 3U << 2 * k, q->x_of + EACH * k);
    gpu_emit(q->e, "fmul32 r%u, r%u, %s", q->dot, q->dot, gpu_float(q->e, k < 2 ? 0x1p24F : 0x1p20F));
    gpu_emit(q->e, "fmadd32 r%u, r%u, %s, r%u", q->dot, q->dot_up, gpu_float(q->e, upper[k]), q->dot);
    gpu_emit(q->e, "fmadd32 r%u, r%u, %s, r%u", q->dot, q->x_sum + k, gpu_float(q->e, -32), q->dot);
    gpu_emit(q->e, "xor %s, %s, 128", scale, scale);
    gpu_emit(q->e, "fmul32 r%u, %s, %s", q->dot_up, scale, gpu_float(q->e, 0x1p24F));
    gpu_emit(q->e, "fadd32 r%u, r%u, %s", q->dot_up, q->dot_up, gpu_float(q->e, -128));
    if (k == 0)
        gpu_emit(q->e, "fmul32 r%u, r%u, r%u", q->all, q->dot, q->dot_up);
    else
        gpu_emit(q->e, "fmadd32 r%u, r%u, r%u, r%u", q->all, q->dot, q->dot_up, q->all);
}

static void turn(struct six *q)
{
    load_x(q);
    for (unsigned i = 0; i < q->g->rows; i++) {
        load_row(q, i);
        gpu_wait(q->e, 0);
        for (unsigned k = 0; i == 0 && k < GROUPS; k++)
            gpu_emit(q->e, "fadd32 r%u, r%u, r%u", q->x_sum + k, q->x_of + EACH * k, q->x_of + EACH * k + 1);
        for (unsigned k = 0; k < GROUPS; k++)
            add_group(q, k);
        gpu_emit(q->e, "fmadd32 r%u, %s, r%u, r%u", q->sum + i, gpu_h(q->e, 2 * q->d), q->all, q->sum + i);
        gpu_add_imm(q->e, q->row_block[i], q->row_block[i], 1);
    }
    gpu_add_imm(q->e, q->block, q->block, 1);
}

bool gpu_gemv_build_six(const struct gpu_gemv *g, struct gpu_kernel *kernel, struct isa_error *error)
{
    char variant[32];
    snprintf(variant, sizeof variant, "gemv_%s_%u_rows", gpu_type_name(g->type), g->rows);
    struct six q = {.g = g, .e = gpu_emit_begin(kernel, variant, error)};
    const unsigned row = gpu_register(q.e, 1), lane = gpu_register(q.e, 1);
    q.bytes = q.halves = gpu_argument_buffer(q.e, g->a, 0);
    q.x = gpu_argument_buffer(q.e, g->x, 0);
    take_registers(&q);
    gpu_gemv_place(q.e, g, row, lane);
    start(&q, row, lane);
    gpu_do(q.e);
    turn(&q);
    gpu_while(q.e, "ult", gpu_r(q.e, q.block), gpu_int(q.e, g->n / WEIGHTS));
    gpu_gemv_finish(q.e, g, GPU_F32, q.sum, row, lane);
    return gpu_emit_end(q.e);
}
