/* The one-pass program. A threadgroup has 4 simdgroups with 8 or 16 queries each; 32 keys and values at a time go through
 * threadgroup memory. Matrices are held as in gpu_gemm.c: lane (R, P) holds row R, columns 2P and 2P + 1. Where keys and values
 * do not fit beside each other they take turns, long heads in parts of up to 128 elements.
 *
 * Scores S = Q K^T: key 8P + 4c + 2q + j is column 2P + j of matrix (c, q). When the same registers are operand A of the product
 * with V, these keys are its columns, so V's row R of (c, q) is key 8 (R / 2) + 4c + 2q + R % 2; lines of V are put in that
 * order.
 */
#include "units/gpu/kernels/gpu_attention_internal.h"

#include "units/gpu/kernels/gpu_matrix.h"

#include <math.h>
#include <stdio.h>

/* The first of the four columns of group g for P = 0, and the distance of those of neighbouring P: chosen to avoid bank
 * conflicts. */
static unsigned group_column(const struct gpu_flash *f, unsigned g)
{
    return f->part % 2 ? 16 * g : 32 * (g / 2) + 4 * (g % 2);
}

static unsigned score(const struct gpu_flash *f, unsigned i, unsigned matrix)
{
    return f->scores + 8 * i + 2 * matrix; /* matrix = 2 c + q */
}

static const char *fragment(struct gpu_flash *f, unsigned half, unsigned q)
{
    return gpu_matrix_operand(f->e, f->a->type == GPU_F16, half + q * f->four_halves / 2);
}

static unsigned fragment_half(const struct gpu_flash *f, unsigned number)
{
    return 2 * f->fragments + number * f->four_halves;
}

/* Loads keys 4c .. 4c + 3 of element 4 (R / 2) + R % 2 + 2h + 16 depth; step = 2 depth + h. */
static void take_keys(struct gpu_flash *f, unsigned step)
{
    for (unsigned c = 0; c < 2; c++) {
        const uint32_t at = f->k_address + (4 * c * f->pitch + 16 * (step / 2) + 2 * (step % 2)) * gpu_flash_bytes(f);
        const unsigned half = fragment_half(f, step % 2 * 2 + c);
        for (unsigned j = 0; j < FLASH_FOUR; j++)
            gpu_group_load_raw(f->e, f->a->type, 1, half + j * f->four_halves / FLASH_FOUR, gpu_argument_u16(f->e, (uint16_t)at),
                               gpu_h(f->e, f->take_k[j]));
    }
}

/* Adds the products of one part of the elements. */
static void add_scores(struct gpu_flash *f, unsigned part)
{
    const bool streams = gpu_flash_streams(f);
    if (streams)
        gpu_flash_stream_query(f, part * f->part);
    take_keys(f, 0);
    for (unsigned step = 0; step < 2 * f->part; step++) {
        const unsigned depth = part * f->part + step / 2;
        if (streams && step % 2 == 0)
            gpu_wait(f->e, 0);
        if (streams && step % 2 == 0 && step / 2 + 1 < f->part)
            gpu_flash_stream_query(f, depth + 1);
        if (step + 1 < 2 * f->part)
            take_keys(f, step + 1);
        for (unsigned i = 0; i < f->row_tiles; i++)
            for (unsigned m = 0; m < 4; m++) {
                const char *q = gpu_matrix_operand(f->e, f->a->type == GPU_F16, gpu_flash_query_half(f, i, depth, step % 2));
                gpu_matrix_fmadd(f->e, score(f, i, m), q, fragment(f, fragment_half(f, step % 2 * 2 + m / 2), m % 2));
            }
    }
}

static void make_scores(struct gpu_flash *f)
{
    gpu_clear_words(f->e, f->scores, 8 * f->row_tiles);
    for (unsigned part = 0; part < f->parts; part++) {
        if (f->turns)
            gpu_flash_load_part(f, false, part);
        add_scores(f, part);
    }
}

/* Keeps `value` where `place` < limit (signed) and sets it to -infinity elsewhere. */
static void keep_below(struct gpu_flash *f, unsigned value, unsigned place, uint32_t limit)
{
    const char *never = gpu_argument_u32(f->e, f32_bits(-INFINITY));
    gpu_emit(f->e, "icmpsel slt, r%u, r%u, %s, r%u, %s", value, place, gpu_argument_u32(f->e, limit), value, never);
}

/* Sets the scores of keys that a query does not see to -infinity. Key of a lane: key + 8P + (place of the register). */
static void mask_scores(struct gpu_flash *f, unsigned i)
{
    struct gpu_emit *e = f->e;
    const bool cut = f->a->length % FLASH_KEYS != 0;
    gpu_mad_imm(e, f->scratch, f->p, 8, f->key);
    if (f->a->causal) {
        gpu_emit(e, "isub r%u, r%u, r%u", f->other, f->scratch, f->row);
        gpu_add_imm(e, f->other, f->other, -(int64_t)(8 * i));
    }
    for (unsigned n = 0; n < 8; n++) {
        const unsigned value = score(f, i, n / 2) + n % 2;
        if (cut)
            keep_below(f, value, f->scratch, f->a->length - n);
        if (f->a->causal)
            keep_below(f, value, f->other, 1U - n);
    }
}

/* ---- maximum, weights, sum ---- */

/* factor = 2^(old maximum - new one). Scores are scaled to powers of two: times log2(e) / sqrt(depth). */
static void new_maximum(struct gpu_flash *f, unsigned i, const char *scale)
{
    struct gpu_emit *e = f->e;
    gpu_mov(e, f->scratch, score(f, i, 0));
    for (unsigned n = 1; n < 8; n++) {
        const unsigned value = score(f, i, n / 2) + n % 2;
        gpu_emit(e, "fcmpsel gtn, r%u, r%u, r%u, r%u, r%u", f->scratch, f->scratch, value, f->scratch, value);
    }
    gpu_lanes_reduce(e, "fmax", f->scratch, GPU_MATRIX_ROW_LANES, f->other);
    gpu_emit(e, "fmul32 r%u, r%u, %s", f->scratch, f->scratch, scale);
    gpu_emit(e, "fcmpsel gtn, r%u, r%u, r%u, r%u, r%u", f->scratch, f->scratch, f->largest + i, f->scratch, f->largest + i);
    gpu_emit(e, "fadd32 r%u, r%u, r%u.neg", f->factor, f->largest + i, f->scratch);
    gpu_emit(e, "exp2 r%u, r%u", f->factor, f->factor);
    gpu_mov(e, f->largest + i, f->scratch);
}

static void weigh(struct gpu_flash *f, unsigned i)
{
    struct gpu_emit *e = f->e;
    const char *scale = gpu_argument_u32(e, f32_bits((float)(1.4426950408889634 / sqrt((double)f->a->depth))));
    new_maximum(f, i, scale);
    gpu_emit(e, "fmul32 r%u, r%u, r%u", f->sum + i, f->sum + i, f->factor);
    for (unsigned n = 0; n < 8; n++) {
        const unsigned value = score(f, i, n / 2) + n % 2;
        gpu_emit(e, "fmadd32 r%u, r%u, %s, r%u.neg", value, value, scale, f->largest + i);
        gpu_emit(e, "exp2 r%u, r%u", value, value);
    }
    for (unsigned n = 0; n < 8; n++)
        gpu_emit(e, "fadd32 r%u, r%u, r%u", f->sum + i, f->sum + i, score(f, i, n / 2) + n % 2);
    for (unsigned n = 0; n < 4 * f->depths; n++) {
        const unsigned value = f->sum_out + 4 * f->depths * i + n;
        gpu_emit(e, "fmul32 r%u, r%u, r%u", value, value, f->factor);
    }
}

/* Loads values; step = matrix (c, q) and group of columns of V. */
static void take_values(struct gpu_flash *f, unsigned step)
{
    const unsigned matrix = step / f->part, g = step % f->part;
    const uint32_t line = 16 * (matrix / 2) + 8 * (matrix % 2);
    const uint32_t at = f->v_address + (line * f->pitch + group_column(f, g)) * gpu_flash_bytes(f);
    gpu_group_load_raw(f->e, GPU_F32, f->four_halves / 2, fragment_half(f, step % FLASH_SETS),
                       gpu_argument_u16(f->e, (uint16_t)at), gpu_h(f->e, f->take_v));
}

static void add_part(struct gpu_flash *f, unsigned part)
{
    const unsigned steps = 4 * f->part;
    for (unsigned s = 0; s < FLASH_SETS - 1; s++)
        take_values(f, s);
    for (unsigned s = 0; s < steps; s++) {
        const unsigned group = part * f->part + s % f->part;
        if (s + FLASH_SETS - 1 < steps)
            take_values(f, s + FLASH_SETS - 1);
        for (unsigned i = 0; i < f->row_tiles; i++)
            for (unsigned q = 0; q < 2; q++)
                gpu_matrix_fmadd(f->e, f->sum_out + 4 * (f->depths * i + group) + 2 * q,
                                 gpu_run(f->e, score(f, i, s / f->part), 2), fragment(f, fragment_half(f, s % FLASH_SETS), q));
    }
}

static void add_values(struct gpu_flash *f)
{
    for (unsigned part = 0; part < f->parts; part++) {
        if (f->turns)
            gpu_flash_load_part(f, true, part);
        add_part(f, part);
    }
}

/* ---- the whole program ---- */

static void all_keys(struct gpu_flash *f)
{
    struct gpu_emit *e = f->e;
    gpu_mov_imm(e, f->key, 0);
    gpu_do(e);
    if (!f->turns)
        gpu_flash_load_blocks(f);
    make_scores(f);
    for (unsigned i = 0; i < f->row_tiles; i++) {
        if (f->a->causal || f->a->length % FLASH_KEYS)
            mask_scores(f, i);
        weigh(f, i);
    }
    add_values(f);
    gpu_add_imm(e, f->key, f->key, FLASH_KEYS);
    gpu_while(e, "ult", gpu_r(e, f->key), gpu_r(e, f->keys_end));
}

static void store_group(struct gpu_flash *f, unsigned i, unsigned g)
{
    struct gpu_emit *e = f->e;
    const unsigned value = f->sum_out + 4 * (f->depths * i + g);
    const bool cut = 16 * f->depths > f->a->depth;
    gpu_mad_imm(e, f->other, f->p, gpu_flash_column_step(f), GPU_NO_REGISTER);
    gpu_add_imm(e, f->other, f->other, 16 * f->part * (g / f->part) + group_column(f, g % f->part));
    for (unsigned n = 0; n < FLASH_FOUR; n++)
        gpu_emit(e, "fmul32 r%u, r%u, r%u", value + n, value + n, f->factor);
    gpu_narrow(e, f->a->type, FLASH_FOUR, 2 * value, value, GPU_NO_REGISTER);
    if (cut)
        gpu_if(e, "ult", gpu_r(e, f->other), gpu_int(e, f->a->depth));
    gpu_emit(e, "iadd r%u, r%u, r%u", f->other, f->other, f->scratch);
    gpu_store_raw(e, 1, f->a->type, FLASH_FOUR, 2 * value, f->out_base, gpu_r(e, f->other));
    if (cut)
        gpu_endif(e);
}

static void store_results(struct gpu_flash *f)
{
    struct gpu_emit *e = f->e;
    for (unsigned i = 0; i < f->row_tiles; i++) {
        gpu_lanes_reduce(e, "fadd", f->sum + i, GPU_MATRIX_ROW_LANES, f->scratch);
        gpu_emit(e, "rcp r%u, r%u", f->factor, f->sum + i);
        gpu_flash_query_element(f, f->scratch, i);
        gpu_add_imm(e, f->other, f->row, 8 * i);
        gpu_if(e, "ult", gpu_r(e, f->other), gpu_int(e, f->a->length));
        for (unsigned g = 0; g < f->depths; g++)
            store_group(f, i, g);
        gpu_endif(e);
    }
}

/* Chooses how much of keys and values is in threadgroup memory at a time. */
static void divide_heads(struct gpu_flash *f)
{
    f->parts = (f->depths + FLASH_PART_MAX - 1) / FLASH_PART_MAX;
    f->part = (f->depths + f->parts - 1) / f->parts;
    f->depths = f->parts * f->part;
    f->four_halves = f->a->type == GPU_F32 ? 8 : 4;
    f->pitch = 16 * f->part + (f->a->type == GPU_F32 ? 1 : 6);
    const uint32_t block = FLASH_KEYS * f->pitch * gpu_flash_bytes(f);
    f->turns = f->parts > 1 || 2 * block > FLASH_GROUP_BYTES;
    f->k_address = gpu_threadgroup_memory(f->e, block);
    f->v_address = f->turns ? f->k_address : gpu_threadgroup_memory(f->e, block);
}

bool gpu_attention_build(const struct gpu_attention *a, struct gpu_kernel *kernel, struct isa_error *error)
{
    char variant[32];
    struct gpu_flash f = {.a = a, .row_tiles = a->depth > 64 ? 1 : FLASH_ROWS_MAX, .depths = (a->depth + 15) / 16};
    snprintf(variant, sizeof variant, "attention_flash_%s_%ux%u", gpu_type_name(a->type), (unsigned)gpu_flash_queries(&f),
             FLASH_KEYS);
    f.e = gpu_emit_begin(kernel, variant, error);
    divide_heads(&f);
    f.q_base = gpu_argument_buffer(f.e, a->q, 0);
    f.k_base = gpu_argument_buffer(f.e, a->k, 0);
    f.v_base = gpu_argument_buffer(f.e, a->v, 0);
    f.out_base = gpu_argument_buffer(f.e, a->out, 0);
    gpu_flash_take_registers(&f);
    gpu_flash_find_place(&f);
    gpu_flash_load_queries(&f);
    gpu_clear_words(f.e, f.sum_out, 4 * f.row_tiles * f.depths);
    for (unsigned i = 0; i < f.row_tiles; i++) {
        gpu_mov_imm(f.e, f.largest + i, f32_bits(-INFINITY));
        gpu_mov_imm(f.e, f.sum + i, 0);
    }
    all_keys(&f);
    store_results(&f);
    gpu_emit_grid(f.e, (a->length + gpu_flash_queries(&f) - 1) / gpu_flash_queries(&f) * FLASH_THREADS, a->heads, a->batch,
                  FLASH_THREADS, 1, 1);
    return gpu_emit_end(f.e);
}
