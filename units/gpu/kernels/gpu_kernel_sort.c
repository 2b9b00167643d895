/* sort: rows in ascending or descending order, by bitonic networks.
 *
 * Elements become keys, unsigned numbers in the same order (floats: the sign bit is flipped, negative ones are inverted; NaNs of
 * either sign lie at the ends). Blocks of up to BLOCK keys are sorted in threadgroup memory. Longer rows are merged: for each
 * size of sorted runs, first the distances of a block and more in device memory, up to FUSED of them per launch with 2^FUSED keys
 * in registers of a thread, then the shorter distances in threadgroup memory. Rows are padded with the largest key to a power of
 * two.
 */
#include "isa/array_count.h"
#include "units/gpu/kernels/gpu_kernel_family.h"

#include <stdio.h>

enum { ROWS, COLUMNS, DESCENDING };
enum { BLOCK = 4096, THREADS_MAX = 512, FUSED = 4, FUSED_THREADS = 128, COLUMNS_MAX = 1 << 20 };

static const struct kernel_parameter parameters[] = {
    {.name = "rows", .least = 1, .most = INT64_C(1) << 40, .required = true},
    {.name = "columns", .least = 1, .most = COLUMNS_MAX, .required = true},
    {.name = "descending", .least = 0, .most = 1},
    {.name = NULL},
};

struct sort {
    enum gpu_type type;
    uint32_t rows, columns, padded, block;
    bool descending;
    unsigned in, out, keys; /* keys: rows x padded, when a row takes more than one block */
};

/* A launch over blocks in threadgroup memory. */
struct block_step {
    const struct sort *s;
    struct gpu_emit *e;
    unsigned threads;
    unsigned thread, row, first;                     /* registers; first: column of the block's first key */
    unsigned stride, size, low, high, address, i, t; /* low, high: keys */
};

static uint32_t power_of_two(uint32_t least)
{
    uint32_t p = 2;
    while (p < least)
        p *= 2;
    return p;
}

/* ---- elements and keys ---- */

/* Turns float32 or integer bits in a register into a key, with one scratch register. */
static void to_key(struct gpu_emit *e, const struct sort *s, unsigned value, unsigned t)
{
    if (s->type == GPU_I32) {
        gpu_emit(e, "xor r%u, r%u, %s", value, value, gpu_int(e, 0x80000000));
    } else if (s->type != GPU_U32) {
        gpu_emit(e, "asr r%u, r%u, 31", t, value);
        gpu_emit(e, "or r%u, r%u, %s", t, t, gpu_int(e, 0x80000000));
        gpu_emit(e, "xor r%u, r%u, r%u", value, value, t);
    }
    if (s->descending)
        gpu_emit(e, "xor r%u, r%u, %s", value, value, gpu_int(e, UINT32_MAX));
}

static void from_key(struct gpu_emit *e, const struct sort *s, unsigned value, unsigned t)
{
    if (s->descending)
        gpu_emit(e, "xor r%u, r%u, %s", value, value, gpu_int(e, UINT32_MAX));
    if (s->type == GPU_I32) {
        gpu_emit(e, "xor r%u, r%u, %s", value, value, gpu_int(e, 0x80000000));
    } else if (s->type != GPU_U32) {
        gpu_emit(e, "xor r%u, r%u, %s", t, value, gpu_int(e, UINT32_MAX));
        gpu_emit(e, "asr r%u, r%u, 31", t, t);
        gpu_emit(e, "or r%u, r%u, %s", t, t, gpu_int(e, 0x80000000));
        gpu_emit(e, "xor r%u, r%u, r%u", value, value, t);
    }
}

/* ---- blocks ---- */

static void begin_block(struct block_step *b)
{
    struct gpu_emit *e = b->e;
    unsigned *const single[] = {&b->thread, &b->row,  &b->first,   &b->stride, &b->size,
                                &b->low,    &b->high, &b->address, &b->i,      &b->t};
    for (unsigned i = 0; i < ARRAY_COUNT(single); i++)
        *single[i] = gpu_register(e, 1);
    gpu_threadgroup_memory(e, 4 * b->s->block);
    gpu_emit(e, "get_sr r%u, sr%d", b->thread, GPU_SR_LOCAL_X);
    gpu_emit(e, "get_sr r%u, sr%d", b->first, GPU_SR_GROUP_X);
    gpu_emit(e, "get_sr r%u, sr%d", b->row, GPU_SR_GROUP_Y);
    gpu_mad_imm(e, b->first, b->first, b->s->block, GPU_NO_REGISTER);
}

/* Calls `element` for every key of the block that belongs to this thread, with its number within the block in register i. */
static void each_key(struct block_step *b, void (*element)(struct block_step *b))
{
    for (unsigned i = 0; i < b->s->block; i += b->threads) {
        gpu_add_imm(b->e, b->i, b->thread, i);
        gpu_shl(b->e, b->address, b->i, 2);
        element(b);
    }
}

static void store_key(struct block_step *b)
{
    gpu_group_store_raw(b->e, GPU_F32, 1, 2 * b->low, gpu_h(b->e, 2 * b->address), "0");
}

static void read_element(struct block_step *b)
{
    const struct sort *s = b->s;
    struct gpu_emit *e = b->e;
    gpu_emit(e, "iadd r%u, r%u, r%u", b->i, b->i, b->first);
    gpu_mov_imm(e, b->low, UINT32_MAX);
    gpu_if(e, "ult", gpu_r(e, b->i), gpu_int(e, s->columns));
    gpu_mad_imm(e, b->i, b->row, s->columns, b->i);
    gpu_load_element(e, 0, s->type, b->low, gpu_argument_buffer(e, s->in, 0), gpu_r(e, b->i));
    to_key(e, s, b->low, b->t);
    gpu_endif(e);
    store_key(b);
}

static void write_element(struct block_step *b)
{
    const struct sort *s = b->s;
    struct gpu_emit *e = b->e;
    gpu_group_load_raw(e, GPU_F32, 1, 2 * b->low, gpu_h(e, 2 * b->address), "0");
    gpu_emit(e, "iadd r%u, r%u, r%u", b->i, b->i, b->first);
    gpu_if(e, "ult", gpu_r(e, b->i), gpu_int(e, s->columns));
    gpu_mad_imm(e, b->i, b->row, s->columns, b->i);
    from_key(e, s, b->low, b->t);
    gpu_store_element(e, 1, s->type, b->low, gpu_argument_buffer(e, s->out, 0), gpu_r(e, b->i));
    gpu_endif(e);
}

static void key_index(struct block_step *b)
{
    gpu_emit(b->e, "iadd r%u, r%u, r%u", b->i, b->i, b->first);
    gpu_mad_imm(b->e, b->i, b->row, b->s->padded, b->i);
}

static void read_key(struct block_step *b)
{
    key_index(b);
    gpu_load_raw(b->e, 0, GPU_U32, 1, 2 * b->low, gpu_argument_buffer(b->e, b->s->keys, 0), gpu_r(b->e, b->i));
    gpu_wait(b->e, 0);
    store_key(b);
}

static void write_key(struct block_step *b)
{
    gpu_group_load_raw(b->e, GPU_F32, 1, 2 * b->low, gpu_h(b->e, 2 * b->address), "0");
    key_index(b);
    gpu_store_raw(b->e, 1, GPU_U32, 1, 2 * b->low, gpu_argument_buffer(b->e, b->s->keys, 0), gpu_r(b->e, b->i));
}

/* Puts low and high in order, or in reverse order where `up` is 0. */
static void exchange(struct gpu_emit *e, unsigned low, unsigned high, unsigned up, unsigned t)
{
    const unsigned u = gpu_register(e, 1);
    gpu_emit(e, "icmpsel ult, r%u, r%u, r%u, r%u, r%u", t, low, high, low, high);
    gpu_emit(e, "icmpsel ult, r%u, r%u, r%u, r%u, r%u", u, low, high, high, low);
    gpu_emit(e, "icmpsel ueq, r%u, r%u, 0, r%u, r%u", low, up, u, t);
    gpu_emit(e, "icmpsel ueq, r%u, r%u, 0, r%u, r%u", high, up, t, u);
    gpu_register_free(e, u, 1);
}

/* Pair p of a distance: i = 2 p - p mod stride, and i + stride. Runs of `size` alternate in direction over the whole row. */
static void exchange_pair(struct block_step *b, unsigned pair)
{
    struct gpu_emit *e = b->e;
    const unsigned up = gpu_register(e, 1), other = gpu_register(e, 1);
    gpu_add_imm(e, b->i, b->thread, pair);
    gpu_add_imm(e, b->t, b->stride, -1);
    gpu_emit(e, "and r%u, r%u, r%u", b->t, b->i, b->t);
    gpu_emit(e, "isub r%u, r%u, r%u", b->i, b->i, b->t);
    gpu_emit(e, "iadd r%u, r%u, r%u, lsl 1", b->i, b->t, b->i);
    gpu_shl(e, b->address, b->i, 2);
    gpu_emit(e, "iadd r%u, r%u, r%u, lsl 2", other, b->address, b->stride);
    gpu_group_load_raw(e, GPU_F32, 1, 2 * b->low, gpu_h(e, 2 * b->address), "0");
    gpu_group_load_raw(e, GPU_F32, 1, 2 * b->high, gpu_h(e, 2 * other), "0");
    gpu_emit(e, "iadd r%u, r%u, r%u", b->i, b->i, b->first);
    gpu_emit(e, "and r%u, r%u, r%u", up, b->i, b->size);
    gpu_emit(e, "icmpsel ueq, r%u, r%u, 0, 1, 0", up, up);
    exchange(e, b->low, b->high, up, b->t);
    gpu_group_store_raw(e, GPU_F32, 1, 2 * b->low, gpu_h(e, 2 * b->address), "0");
    gpu_group_store_raw(e, GPU_F32, 1, 2 * b->high, gpu_h(e, 2 * other), "0");
    gpu_register_free(e, up, 1);
    gpu_register_free(e, other, 1);
}

/* Merges all distances from `stride` down to 1. */
static void merge_distances(struct block_step *b)
{
    struct gpu_emit *e = b->e;
    gpu_do(e);
    gpu_barrier(e);
    for (unsigned pair = 0; pair < b->s->block / 2; pair += b->threads)
        exchange_pair(b, pair);
    gpu_shr(e, b->stride, b->stride, 1);
    gpu_while(e, "nueq", gpu_r(e, b->stride), "0");
}

static struct block_step open_block(const struct sort *s, const char *name, struct gpu_kernel *kernel, struct isa_error *error)
{
    struct block_step b = {.s = s, .threads = s->block / 2 < THREADS_MAX ? s->block / 2 : THREADS_MAX};
    char variant[32];
    snprintf(variant, sizeof variant, "sort_%s_%s_%u", name, gpu_type_name(s->type), (unsigned)s->block);
    b.e = gpu_emit_begin(kernel, variant, error);
    begin_block(&b);
    return b;
}

static bool close_block(struct block_step *b, bool last)
{
    gpu_barrier(b->e);
    each_key(b, last ? write_element : write_key);
    gpu_emit_grid(b->e, b->s->padded / b->s->block * b->threads, b->s->rows, 1, b->threads, 1, 1);
    return gpu_emit_end(b->e);
}

/* Sorts every block by itself, alternately ascending and descending. */
static bool build_sorted_blocks(const struct sort *s, struct gpu_kernel *kernel, struct isa_error *error)
{
    struct block_step b = open_block(s, "blocks", kernel, error);
    each_key(&b, read_element);
    gpu_mov_imm(b.e, b.size, 2);
    gpu_do(b.e);
    gpu_shr(b.e, b.stride, b.size, 1);
    merge_distances(&b);
    gpu_shl(b.e, b.size, b.size, 1);
    gpu_while(b.e, "ulte", gpu_r(b.e, b.size), gpu_int(b.e, s->block));
    return close_block(&b, s->padded == s->block);
}

static bool build_merge_in_blocks(const struct sort *s, uint32_t size, struct gpu_kernel *kernel, struct isa_error *error)
{
    struct block_step b = open_block(s, "merge", kernel, error);
    each_key(&b, read_key);
    gpu_mov_imm(b.e, b.size, size);
    gpu_mov_imm(b.e, b.stride, s->block / 2);
    merge_distances(&b);
    return close_block(&b, size == s->padded);
}

/* ---- distances beyond a block ---- */

/* Distances far, far / 2, ... (`count` of them): a thread has the 2^count keys that they connect, `near` apart. */
static bool build_far(const struct sort *s, uint32_t size, uint32_t far, unsigned count, struct gpu_kernel *kernel,
                      struct isa_error *error)
{
    const unsigned keys = 1U << count;
    const uint32_t near = far >> (count - 1);
    char variant[32];
    snprintf(variant, sizeof variant, "sort_far_%s_%u", gpu_type_name(s->type), keys);
    struct gpu_emit *e = gpu_emit_begin(kernel, variant, error);
    const struct gpu_base base = gpu_argument_buffer(e, s->keys, 0);
    const unsigned thread = gpu_register(e, 1), first = gpu_register(e, 1), at = gpu_register(e, 1), up = gpu_register(e, 1);
    const unsigned t = gpu_register(e, 1), value = gpu_register(e, keys);
    gpu_emit(e, "get_sr r%u, sr%d", thread, GPU_SR_GRID_X);
    gpu_divide_imm(e, first, at, thread, near);
    gpu_mad_imm(e, first, first, near * keys, at);
    gpu_and_imm(e, up, first, size);
    gpu_emit(e, "icmpsel ueq, r%u, r%u, 0, 1, 0", up, up);
    gpu_emit(e, "get_sr r%u, sr%d", at, GPU_SR_GROUP_Y);
    gpu_mad_imm(e, first, at, s->padded, first);
    gpu_mov(e, at, first);
    for (unsigned i = 0; i < keys; i++) {
        gpu_load_raw(e, 0, GPU_U32, 1, 2 * (value + i), base, gpu_r(e, at));
        gpu_add_imm(e, at, at, near);
    }
    gpu_wait(e, 0);
    for (unsigned distance = keys / 2; distance > 0; distance /= 2)
        for (unsigned i = 0; i < keys; i++)
            if (!(i & distance))
                exchange(e, value + i, value + i + distance, up, t);
    for (unsigned i = 0; i < keys; i++) {
        gpu_store_raw(e, 1, GPU_U32, 1, 2 * (value + i), base, gpu_r(e, first));
        gpu_add_imm(e, first, first, near);
    }
    gpu_emit_grid(e, s->padded / keys, s->rows, 1, FUSED_THREADS, 1, 1);
    return gpu_emit_end(e);
}

/* Merges sorted runs of size / 2 into runs of `size`. */
static bool build_merge(const struct sort *s, uint32_t size, struct gpu_kernel *kernel, struct isa_error *error)
{
    uint32_t far = size / 2;
    while (far >= s->block) {
        unsigned count = 1;
        while (count < FUSED && far >> count >= s->block)
            count++;
        if (!build_far(s, size, far, count, kernel, error))
            return false;
        far >>= count;
    }
    return build_merge_in_blocks(s, size, kernel, error);
}

static bool build(const struct gpu_kernel_request *q, struct gpu_kernel *kernel, struct isa_error *error)
{
    struct sort s = {.type = q->type,
                     .rows = (uint32_t)q->value[ROWS],
                     .columns = (uint32_t)q->value[COLUMNS],
                     .descending = q->value[DESCENDING]};
    const uint64_t count = (uint64_t)s.rows * s.columns;
    s.padded = power_of_two(s.columns);
    s.block = s.padded < BLOCK ? s.padded : BLOCK;
    if ((uint64_t)q->value[ROWS] > (uint64_t)GPU_KERNEL_ELEMENTS_MAX / s.padded)
        return kernel_refuse(error, "sort: more than 2^31 - 1 elements");
    const bool whole = q->type >= GPU_I32;
    const double low = q->type == GPU_U32 ? 0 : whole ? -1e6 : -4, high = whole ? 1e6 : 4;
    s.in = gpu_kernel_add_buffer(kernel, "x", q->type, count, GPU_BUFFER_INPUT, low, high);
    s.out = gpu_kernel_add_buffer(kernel, "out", q->type, count, GPU_BUFFER_OUTPUT, 0, 0);
    if (s.padded > s.block)
        s.keys = gpu_kernel_add_buffer(kernel, "keys", GPU_U32, (uint64_t)s.rows * s.padded, GPU_BUFFER_SCRATCH, 0, 0);
    kernel->min_bytes = 2 * (double)gpu_type_bytes(q->type, count);
    bool ok = build_sorted_blocks(&s, kernel, error);
    for (uint32_t size = 2 * s.block; ok && size <= s.padded; size *= 2)
        ok = build_merge(&s, size, kernel, error);
    return ok;
}

static const struct gpu_kernel_info rows[] = {
    {"sort", "RxC[,descending=0|1]", "f32 f16 bf16 i32 u32",
     "each row of C elements in order, by bitonic networks; NaN at the ends", 2, parameters, build},
};
const struct gpu_kernel_family gpu_family_sort = {rows, ARRAY_COUNT(rows)};
