/* The one-pass program. A threadgroup has 4 simdgroups with 8 or 16 queries each; 32 keys and values at a time go through
 * threadgroup memory. Matrices as in gpu_gemm.c: lane (R, P) holds row R, columns 2P and 2P + 1.
 *
 * Scores S = Q K^T: key 8P + 4c + 2q + j is column 2P + j of matrix (c, q). As operand A of the product with V the same registers
 * have these keys as columns, so V's row R of (c, q) is key 8 (R / 2) + 4c + 2q + R % 2; lines of V are put in that order.
 */
#include "units/gpu/kernels/gpu_attention.h"

#include "isa/array_count.h"
#include "units/gpu/kernels/gpu_matrix.h"

#include <math.h>
#include <stdio.h>

enum {
    FOUR = 4,
    KEYS = 32,
    SIMDGROUPS = 4,
    THREADS = 32 * SIMDGROUPS,
    ROWS_MAX = 2,
    DEPTHS_MAX = GPU_ATTENTION_DEPTH_MAX / 16,
    WORK = 32, /* registers: blocks on their way, or scores and fragments */
    SETS = 4   /* of fragments of V; the first two hold those of K */
};

struct flash {
    const struct gpu_attention *a;
    struct gpu_emit *e;
    unsigned row_tiles, depths; /* 8 queries each; 16 elements of a head each */
    unsigned four_halves;
    uint32_t pitch, k_address, v_address; /* of lines in threadgroup memory: elements; bytes */
    struct gpu_base q_base, k_base, v_base, out_base;
    unsigned query, sum_out;          /* registers [row][depth], four elements; [row][2 depths] pairs */
    unsigned work, scores, fragments; /* scores: [row][c][q] pairs */
    unsigned largest, sum, factor, scratch, other;
    unsigned row, p, key, keys_end; /* first query of this lane; P; first key of the block, end of all that are needed */
    unsigned take_k[FOUR], take_v, put_k, put_v; /* half registers */
    unsigned kv_start, line, column;             /* this thread's place in blocks */
};

static uint32_t element_bytes(const struct flash *f)
{
    return (uint32_t)gpu_type_bytes(f->a->type, 1);
}

static uint32_t queries(const struct flash *f)
{
    return 8 * f->row_tiles * SIMDGROUPS;
}

/* First of the four columns of group g for P = 0, and how far apart they are for neighbouring P: free of bank conflicts. */
static unsigned group_column(const struct flash *f, unsigned g)
{
    return f->depths % 2 ? 16 * g : 32 * (g / 2) + 4 * (g % 2);
}

static unsigned column_step(const struct flash *f)
{
    return f->depths % 2 ? 4 : 8;
}

/* Fours of a line of a block, a power of two; those beyond the depth are zero. */
static unsigned line_fours(const struct flash *f)
{
    unsigned fours = FOUR;
    while (fours < f->depths * FOUR)
        fours *= 2;
    return fours;
}

static unsigned passes(const struct flash *f)
{
    return KEYS * line_fours(f) / THREADS;
}

/* ---- registers and places ---- */

static void take_registers(struct flash *f)
{
    struct gpu_emit *e = f->e;
    unsigned *const singles[] = {&f->factor, &f->scratch,  &f->other,    &f->row,  &f->p,
                                 &f->key,    &f->keys_end, &f->kv_start, &f->line, &f->column};
    f->query = gpu_register(e, f->row_tiles * f->depths * f->four_halves / 2);
    f->sum_out = gpu_register(e, 4 * f->row_tiles * f->depths);
    f->work = gpu_register(e, WORK);
    f->scores = f->work;
    f->fragments = f->work + 8 * f->row_tiles;
    f->largest = gpu_register(e, f->row_tiles);
    f->sum = gpu_register(e, f->row_tiles);
    for (unsigned i = 0; i < ARRAY_COUNT(singles); i++)
        *singles[i] = gpu_register(e, 1);
    const unsigned halves = 2 * gpu_register(e, 4);
    for (unsigned j = 0; j < FOUR; j++)
        f->take_k[j] = halves + j;
    f->take_v = halves + 4;
    f->put_k = halves + 5;
    f->put_v = halves + 6;
}

/* Offset of accesses by words, in a half register. */
static void words_of(struct flash *f, unsigned half, unsigned place)
{
    gpu_emit(f->e, "bfeil %s, 0, r%u, %u", gpu_h(f->e, half), place, element_bytes(f) == 4 ? 0 : 1);
}

/* to = place of line `key` of V: R + 8 q + 16 c, bits 0, 3, 4, 1, 2 of the key. */
static void v_line(struct flash *f, unsigned to, unsigned key)
{
    gpu_and_imm(f->e, to, key, 1);
    gpu_emit(f->e, "bfeil r%u, 0, r%u, 3, mask 0x3", f->other, key);
    gpu_emit(f->e, "iadd r%u, r%u, r%u, lsl 1", to, to, f->other);
    gpu_emit(f->e, "bfeil r%u, 0, r%u, 1, mask 0x3", f->other, key);
    gpu_emit(f->e, "iadd r%u, r%u, r%u, lsl 3", to, to, f->other);
}

static uint32_t v_line_of(uint32_t key)
{
    return (key & 1) | (key >> 3 & 3) << 1 | (key >> 1 & 3) << 3;
}

static void find_block_place(struct flash *f)
{
    struct gpu_emit *e = f->e;
    gpu_emit(e, "get_sr r%u, sr%d", f->scratch, GPU_SR_LOCAL_INDEX);
    gpu_divide_imm(e, f->line, f->column, f->scratch, line_fours(f));
    gpu_shl(e, f->column, f->column, 2);
    gpu_mad_imm(e, f->scratch, f->line, f->pitch, f->column);
    words_of(f, f->put_k, f->scratch);
    v_line(f, f->scratch, f->line);
    gpu_mad_imm(e, f->scratch, f->scratch, f->pitch, f->column);
    words_of(f, f->put_v, f->scratch);
}

static void find_fragments(struct flash *f, unsigned r)
{
    struct gpu_emit *e = f->e;
    gpu_and_imm(e, f->scratch, r, 1);
    gpu_shr(e, f->other, r, 1);
    gpu_emit(e, "iadd r%u, r%u, r%u, lsl 2", f->scratch, f->scratch, f->other);
    gpu_mad_imm(e, f->scratch, f->p, 8 * f->pitch, f->scratch);
    for (unsigned j = 0; j < FOUR; j++)
        gpu_emit(e, "iadd %s, %s, %s", gpu_h(e, f->take_k[j]), gpu_h(e, 2 * f->scratch), gpu_int(e, j * f->pitch));
    gpu_mad_imm(e, f->scratch, f->p, column_step(f), GPU_NO_REGISTER);
    gpu_mad_imm(e, f->scratch, r, f->pitch, f->scratch);
    words_of(f, f->take_v, f->scratch);
}

/* kv_start = first element of this head's keys; row = first query of the lane (may lie beyond the end). */
static void find_place(struct flash *f)
{
    struct gpu_emit *e = f->e;
    const struct gpu_attention *a = f->a;
    const unsigned r = gpu_register(e, 1);
    gpu_matrix_lane(e, r, f->p);
    find_block_place(f);
    find_fragments(f, r);
    gpu_emit(e, "get_sr r%u, sr%d", f->scratch, GPU_SR_SIMDGROUP);
    gpu_mad_imm(e, f->row, f->scratch, 8 * f->row_tiles, r);
    gpu_emit(e, "get_sr r%u, sr%d", f->scratch, GPU_SR_GROUP_X);
    gpu_mad_imm(e, f->row, f->scratch, queries(f), f->row);
    gpu_mov_imm(e, f->keys_end, a->length);
    if (a->causal) {
        gpu_add_imm(e, f->scratch, f->scratch, 1);
        gpu_mad_imm(e, f->scratch, f->scratch, queries(f), GPU_NO_REGISTER);
        gpu_min_imm(e, f->keys_end, f->scratch, a->length);
    }
    gpu_emit(e, "get_sr r%u, sr%d", f->scratch, GPU_SR_GROUP_Y);
    gpu_divide_imm(e, f->kv_start, GPU_NO_REGISTER, f->scratch, a->heads / a->kv_heads);
    gpu_emit(e, "get_sr r%u, sr%d", f->scratch, GPU_SR_GROUP_Z);
    gpu_mad_imm(e, f->kv_start, f->scratch, a->kv_heads, f->kv_start);
    gpu_mad_imm(e, f->kv_start, f->kv_start, a->length * a->depth, GPU_NO_REGISTER);
    gpu_register_free(e, r, 1);
}

/* to = element of row `row` + 8 i (the last one if beyond the end) of this head's queries or results, column 0. */
static void query_element(struct flash *f, unsigned to, unsigned i)
{
    struct gpu_emit *e = f->e;
    const struct gpu_attention *a = f->a;
    gpu_add_imm(e, to, f->row, 8 * i);
    gpu_min_imm(e, to, to, a->length - 1);
    gpu_emit(e, "get_sr r%u, sr%d", f->other, GPU_SR_GROUP_Z);
    gpu_mad_imm(e, f->other, f->other, a->heads, GPU_NO_REGISTER);
    gpu_mad_imm(e, to, f->other, a->length, to);
    gpu_emit(e, "get_sr r%u, sr%d", f->other, GPU_SR_GROUP_Y);
    gpu_mad_imm(e, to, f->other, a->length, to);
    gpu_mad_imm(e, to, to, a->depth, GPU_NO_REGISTER);
}

static unsigned query_half(const struct flash *f, unsigned i, unsigned depth, unsigned h)
{
    return 2 * f->query + (i * f->depths + depth) * f->four_halves + h * f->four_halves / 2;
}

static void clear(struct gpu_emit *e, unsigned first, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        gpu_mov_imm(e, first + i, 0);
}

/* Elements 16 depth + 4P .. + 3 of each query. */
static void load_queries(struct flash *f)
{
    struct gpu_emit *e = f->e;
    clear(e, f->query, f->row_tiles * f->depths * f->four_halves / 2);
    for (unsigned i = 0; i < f->row_tiles; i++) {
        query_element(f, f->scratch, i);
        gpu_mad_imm(e, f->scratch, f->p, FOUR, f->scratch);
        gpu_mad_imm(e, f->other, f->p, FOUR, GPU_NO_REGISTER);
        for (unsigned d = 0; d < f->depths; d++) {
            const bool cut = 16 * (d + 1) > f->a->depth;
            if (cut)
                gpu_if(e, "ult", gpu_r(e, f->other), gpu_int(e, f->a->depth - 16 * d));
            gpu_load_raw(e, 0, f->a->type, FOUR, query_half(f, i, d, 0), f->q_base, gpu_r(e, f->scratch));
            if (cut)
                gpu_endif(e);
            gpu_add_imm(e, f->scratch, f->scratch, 16);
        }
    }
    gpu_wait(e, 0);
}

/* ---- blocks of keys and values ---- */

static void load_pass(struct flash *f, struct gpu_base base, unsigned pass, unsigned to_half)
{
    struct gpu_emit *e = f->e;
    gpu_emit(e, "iadd r%u, r%u, r%u", f->scratch, f->key, f->line);
    gpu_add_imm(e, f->scratch, f->scratch, pass * (THREADS / line_fours(f)));
    gpu_min_imm(e, f->scratch, f->scratch, f->a->length - 1);
    gpu_mad_imm(e, f->scratch, f->scratch, f->a->depth, f->kv_start);
    gpu_emit(e, "iadd r%u, r%u, r%u", f->scratch, f->scratch, f->column);
    gpu_load_raw(e, 0, f->a->type, FOUR, to_half, base, gpu_r(e, f->scratch));
}

static void put_pass(struct flash *f, bool is_v, unsigned pass, unsigned from_half)
{
    const uint32_t key = pass * (THREADS / line_fours(f)), line = is_v ? v_line_of(key) : key;
    const uint32_t at = (is_v ? f->v_address : f->k_address) + line * f->pitch * element_bytes(f);
    gpu_group_store_raw(f->e, GPU_F32, f->four_halves / 2, from_half, gpu_argument_u16(f->e, (uint16_t)at),
                        gpu_h(f->e, is_v ? f->put_v : f->put_k));
}

/* Passes of K and V, as many at a time as work registers hold. */
static void load_blocks(struct flash *f)
{
    struct gpu_emit *e = f->e;
    const unsigned all = 2 * passes(f), at_once = 2 * WORK / f->four_halves;
    const bool cut = line_fours(f) * FOUR > f->a->depth;
    for (unsigned first = 0; first < all; first += at_once) {
        const unsigned now = all - first < at_once ? all - first : at_once;
        if (cut) {
            clear(e, f->work, now * f->four_halves / 2);
            gpu_if(e, "ult", gpu_r(e, f->column), gpu_int(e, f->a->depth));
        }
        for (unsigned i = 0; i < now; i++)
            load_pass(f, (first + i) % 2 ? f->v_base : f->k_base, (first + i) / 2, 2 * f->work + i * f->four_halves);
        if (cut)
            gpu_endif(e);
        gpu_wait(e, 0);
        if (first == 0)
            gpu_barrier(e); /* the block before has been used */
        if (cut)
            gpu_if(e, "ult", gpu_r(e, f->column), gpu_int(e, 16 * f->depths));
        for (unsigned i = 0; i < now; i++)
            put_pass(f, (first + i) % 2, (first + i) / 2, 2 * f->work + i * f->four_halves);
        if (cut)
            gpu_endif(e);
    }
    gpu_barrier(e);
}

/* ---- scores ---- */

static unsigned score(const struct flash *f, unsigned i, unsigned matrix)
{
    return f->scores + 8 * i + 2 * matrix; /* matrix = 2 c + q */
}

static const char *fragment(struct flash *f, unsigned half, unsigned q)
{
    return gpu_matrix_operand(f->e, f->a->type == GPU_F16, half + q * f->four_halves / 2);
}

static unsigned fragment_half(const struct flash *f, unsigned number)
{
    return 2 * f->fragments + number * f->four_halves;
}

/* Keys 4c .. 4c + 3 of element 4 (R / 2) + R % 2 + 2h + 16 depth; step = 2 depth + h. */
static void take_keys(struct flash *f, unsigned step)
{
    for (unsigned c = 0; c < 2; c++) {
        const uint32_t at = f->k_address + (4 * c * f->pitch + 16 * (step / 2) + 2 * (step % 2)) * element_bytes(f);
        const unsigned half = fragment_half(f, step % 2 * 2 + c);
        for (unsigned j = 0; j < FOUR; j++)
            gpu_group_load_raw(f->e, f->a->type, 1, half + j * f->four_halves / FOUR, gpu_argument_u16(f->e, (uint16_t)at),
                               gpu_h(f->e, f->take_k[j]));
    }
}

static void make_scores(struct flash *f)
{
    clear(f->e, f->scores, 8 * f->row_tiles);
    take_keys(f, 0);
    for (unsigned step = 0; step < 2 * f->depths; step++) {
        if (step + 1 < 2 * f->depths)
            take_keys(f, step + 1);
        for (unsigned i = 0; i < f->row_tiles; i++)
            for (unsigned m = 0; m < 4; m++) {
                const char *q = gpu_matrix_operand(f->e, f->a->type == GPU_F16, query_half(f, i, step / 2, step % 2));
                gpu_matrix_fmadd(f->e, score(f, i, m), q, fragment(f, fragment_half(f, step % 2 * 2 + m / 2), m % 2));
            }
    }
}

/* value stays where `place` < limit (signed), and is -infinity elsewhere. */
static void keep_below(struct flash *f, unsigned value, unsigned place, uint32_t limit)
{
    const char *never = gpu_argument_u32(f->e, gpu_float_bits(-INFINITY));
    gpu_emit(f->e, "icmpsel slt, r%u, r%u, %s, r%u, %s", value, place, gpu_argument_u32(f->e, limit), value, never);
}

/* Scores of keys that a query does not see become -infinity. Lane key: key + 8P + (place of the register). */
static void mask_scores(struct flash *f, unsigned i)
{
    struct gpu_emit *e = f->e;
    const bool cut = f->a->length % KEYS != 0;
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
static void new_maximum(struct flash *f, unsigned i, const char *scale)
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

static void weigh(struct flash *f, unsigned i)
{
    struct gpu_emit *e = f->e;
    const char *scale = gpu_argument_u32(e, gpu_float_bits((float)(1.4426950408889634 / sqrt((double)f->a->depth))));
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

/* step = matrix (c, q) and group of columns of V. */
static void take_values(struct flash *f, unsigned step)
{
    const unsigned matrix = step / f->depths, g = step % f->depths;
    const uint32_t line = 16 * (matrix / 2) + 8 * (matrix % 2);
    const uint32_t at = f->v_address + (line * f->pitch + group_column(f, g)) * element_bytes(f);
    gpu_group_load_raw(f->e, GPU_F32, f->four_halves / 2, fragment_half(f, step % SETS), gpu_argument_u16(f->e, (uint16_t)at),
                       gpu_h(f->e, f->take_v));
}

static void add_values(struct flash *f)
{
    const unsigned steps = 4 * f->depths;
    for (unsigned s = 0; s < SETS - 1; s++)
        take_values(f, s);
    for (unsigned s = 0; s < steps; s++) {
        if (s + SETS - 1 < steps)
            take_values(f, s + SETS - 1);
        for (unsigned i = 0; i < f->row_tiles; i++)
            for (unsigned q = 0; q < 2; q++)
                gpu_matrix_fmadd(f->e, f->sum_out + 4 * (f->depths * i + s % f->depths) + 2 * q,
                                 gpu_run(f->e, score(f, i, s / f->depths), 2), fragment(f, fragment_half(f, s % SETS), q));
    }
}

/* ---- the whole ---- */

static void all_keys(struct flash *f)
{
    struct gpu_emit *e = f->e;
    gpu_mov_imm(e, f->key, 0);
    gpu_do(e);
    load_blocks(f);
    make_scores(f);
    for (unsigned i = 0; i < f->row_tiles; i++) {
        if (f->a->causal || f->a->length % KEYS)
            mask_scores(f, i);
        weigh(f, i);
    }
    add_values(f);
    gpu_add_imm(e, f->key, f->key, KEYS);
    gpu_while(e, "ult", gpu_r(e, f->key), gpu_r(e, f->keys_end));
}

static void store_group(struct flash *f, unsigned i, unsigned g)
{
    struct gpu_emit *e = f->e;
    const unsigned value = f->sum_out + 4 * (f->depths * i + g);
    const bool cut = 16 * f->depths > f->a->depth;
    gpu_mad_imm(e, f->other, f->p, column_step(f), GPU_NO_REGISTER);
    gpu_add_imm(e, f->other, f->other, group_column(f, g));
    for (unsigned n = 0; n < FOUR; n++)
        gpu_emit(e, "fmul32 r%u, r%u, r%u", value + n, value + n, f->factor);
    gpu_narrow(e, f->a->type, FOUR, 2 * value, value, GPU_NO_REGISTER);
    if (cut)
        gpu_if(e, "ult", gpu_r(e, f->other), gpu_int(e, f->a->depth));
    gpu_emit(e, "iadd r%u, r%u, r%u", f->other, f->other, f->scratch);
    gpu_store_raw(e, 1, f->a->type, FOUR, 2 * value, f->out_base, gpu_r(e, f->other));
    if (cut)
        gpu_endif(e);
}

static void store_results(struct flash *f)
{
    struct gpu_emit *e = f->e;
    for (unsigned i = 0; i < f->row_tiles; i++) {
        gpu_lanes_reduce(e, "fadd", f->sum + i, GPU_MATRIX_ROW_LANES, f->scratch);
        gpu_emit(e, "rcp r%u, r%u", f->factor, f->sum + i);
        query_element(f, f->scratch, i);
        gpu_add_imm(e, f->other, f->row, 8 * i);
        gpu_if(e, "ult", gpu_r(e, f->other), gpu_int(e, f->a->length));
        for (unsigned g = 0; g < f->depths; g++)
            store_group(f, i, g);
        gpu_endif(e);
    }
}

bool gpu_attention_build(const struct gpu_attention *a, struct gpu_kernel *kernel, struct isa_error *error)
{
    char variant[32];
    struct flash f = {.a = a, .row_tiles = a->depth > 64 ? 1 : ROWS_MAX, .depths = (a->depth + 15) / 16};
    snprintf(variant, sizeof variant, "attention_flash_%s_%ux%u", gpu_type_name(a->type), (unsigned)queries(&f), KEYS);
    f.e = gpu_emit_begin(kernel, variant, error);
    f.four_halves = a->type == GPU_F32 ? 8 : 4;
    f.pitch = 16 * f.depths + (a->type == GPU_F32 ? 1 : 6);
    f.k_address = gpu_threadgroup_memory(f.e, KEYS * f.pitch * element_bytes(&f));
    f.v_address = gpu_threadgroup_memory(f.e, KEYS * f.pitch * element_bytes(&f));
    f.q_base = gpu_argument_buffer(f.e, a->q, 0);
    f.k_base = gpu_argument_buffer(f.e, a->k, 0);
    f.v_base = gpu_argument_buffer(f.e, a->v, 0);
    f.out_base = gpu_argument_buffer(f.e, a->out, 0);
    take_registers(&f);
    find_place(&f);
    load_queries(&f);
    clear(f.e, f.sum_out, 4 * f.row_tiles * f.depths);
    for (unsigned i = 0; i < f.row_tiles; i++) {
        gpu_mov_imm(f.e, f.largest + i, gpu_float_bits(-INFINITY));
        gpu_mov_imm(f.e, f.sum + i, 0);
    }
    all_keys(&f);
    store_results(&f);
    gpu_emit_grid(f.e, (a->length + queries(&f) - 1) / queries(&f) * THREADS, a->heads, a->batch, THREADS, 1, 1);
    return gpu_emit_end(f.e);
}
