/* The outer-product kernels, written once over a few host vector operations. A kernel file defines
 *
 *   vec, VEC_BYTES, VEC_GROUP           one host vector; how many accumulator vectors stay in registers
 *   vec_load, vec_store                 any alignment
 *   vec_broadcast32, vec_broadcast64    one lane from memory to all lanes
 *   vec_fma32, vec_fma64                x*y + z, one rounding; optional (HAVE_FMA_LANE) vec_fma32_lane, vec_fma64_lane,
 *                                       the same with y broadcast from memory
 *   vec_any_nan32, vec_any_nan64        non-zero when a lane of either vector is NaN
 *   vec_nan32, vec_nan64                NaN lanes become the default NaN
 *   vec_mul16, vec_add16, vec_madd16, vec_add32   modulo 2^16 / 2^32; madd16 = sums of products of 16-bit pairs;
 *                                       optional (HAVE_MADD_ADD) vec_madd_add32, madd16 and add32 with y from memory
 *   vec_fma_f16_32, vec_fma_bf16_32     optional (HAVE_...): x*y + z in f32 lanes rounded once to the short format
 *   vec_fma16, vec_fma16_lane, vec_any_nan16, vec_nan16   optional (HAVE_NATIVE_F16)
 *   WIDEN_F16, NARROW_F16               optional: f16 in the low half of 32-bit lanes to f32 and back (16 lanes)
 *
 * and includes this header. All functions are inlined, so every loop bound is a constant.
 *
 * Kinds with lanes that differ from Z's are rewritten first ("prepared") as outer products of the shape: Z row
 * j*parts + v += x part v * y lane j. Z positions: github corsix/amx RegisterFile.md.
 */
#ifndef ORCHARD_UNITS_AMX_AMX_KERNEL_OUTER_H
#define ORCHARD_UNITS_AMX_AMX_KERNEL_OUTER_H

#include "units/amx/amx_kernel_sets.h"

#include <stddef.h>
#include <string.h>

#define KERNEL_INLINE static inline __attribute__((always_inline))
#define ROW_VECS      (64 / VEC_BYTES)

typedef uint8_t z_row[64];

struct outer_shape {
    unsigned y_lanes, y_bytes; /* y lanes used, and the distance of two in memory */
    unsigned parts;            /* x vectors of 64 bytes, each with a Z row of its own */
    unsigned row_step;         /* Z rows from one y lane to the next */
};

/* z after one step with x and the y lane at `lane`. Where x parts share a y lane, the compiler spreads it once. */
typedef vec vec_step(vec x, const uint8_t *lane, vec z);
/* What the accumulator vectors need at the end of a batch. */
typedef void vec_finish(vec *acc, unsigned count);

KERNEL_INLINE void unchanged(vec *acc, unsigned count)
{
    (void)acc;
    (void)count;
}

/* NaNs are rare: whether there are any is tested for two vectors at a time (a comparison is unordered when either
 * side is NaN). */
#define DEFINE_FINISH(name, any_nan, to_default)                                                                                 \
    KERNEL_INLINE void name(vec *acc, unsigned count)                                                                            \
    {                                                                                                                            \
        unsigned any = 0;                                                                                                        \
        _Pragma("GCC unroll 8") for (unsigned k = 0; k < count; k += 2) any |= any_nan(acc[k], acc[k + 1]);                      \
        if (__builtin_expect(any == 0, 1))                                                                                       \
            return;                                                                                                              \
        _Pragma("GCC unroll 16") for (unsigned k = 0; k < count; k++) acc[k] = to_default(acc[k]);                               \
    }
DEFINE_FINISH(finish32, vec_any_nan32, vec_nan32)
DEFINE_FINISH(finish64, vec_any_nan64, vec_nan64)
#ifdef HAVE_NATIVE_F16
DEFINE_FINISH(finish16, vec_any_nan16, vec_nan16)
#endif

/* y lanes [first, first+count) of every outer product of the batch, with their part of Z in registers. */
KERNEL_INLINE void outer_group(z_row *z, struct outer_shape s, unsigned first, unsigned count, const struct amx_batch *batch,
                               vec_step *step, vec_finish *finish)
{
    vec acc[VEC_GROUP];
    const unsigned vecs = s.parts * ROW_VECS; /* per y lane */
#pragma GCC unroll 16
    for (unsigned k = 0; k < count * vecs; k++)
        acc[k] = vec_load(z[(first + k / vecs) * s.row_step + k % vecs / ROW_VECS] + k % ROW_VECS * VEC_BYTES);
    ptrdiff_t x_at = 0, y_at = first * s.y_bytes;
    for (unsigned pass = batch->passes; pass > 0; pass--, x_at += batch->x_step, y_at += batch->y_step) {
        for (const struct amx_pair *pair = batch->pairs, *end = pair + batch->count; pair < end; pair++) {
            const uint8_t *x = pair->x + x_at, *y = pair->y + y_at;
            __asm__("" : "+r"(y)); /* one base: else gcc spreads y_at over an index per lane */
#pragma GCC unroll 16
            for (unsigned j = 0; j < count; j++) {
                const uint8_t *lane = y + j * s.y_bytes;
#pragma GCC unroll 16
                for (unsigned v = 0; v < vecs; v++)
                    acc[j * vecs + v] = step(vec_load(x + v * VEC_BYTES), lane, acc[j * vecs + v]);
            }
        }
    }
    finish(acc, count * vecs);
#pragma GCC unroll 16
    for (unsigned k = 0; k < count * vecs; k++)
        vec_store(z[(first + k / vecs) * s.row_step + k % vecs / ROW_VECS] + k % ROW_VECS * VEC_BYTES, acc[k]);
}

KERNEL_INLINE void outer_batch(z_row *z, struct outer_shape s, const struct amx_batch *batch, vec_step *step, vec_finish *finish)
{
    const unsigned fit = VEC_GROUP / (s.parts * ROW_VECS);
    const unsigned group = fit < s.y_lanes ? fit : s.y_lanes;
    for (unsigned first = 0; first < s.y_lanes; first += group)
        outer_group(z, s, first, group, batch, step, finish);
}

/* --- kinds that need no preparation --- */

KERNEL_INLINE vec fma32_step(vec x, const uint8_t *lane, vec z)
{
    return vec_fma32(x, vec_broadcast32(lane), z);
}

#ifndef HAVE_FMA_LANE
#define vec_fma32_lane fma32_step
KERNEL_INLINE vec vec_fma64_lane(vec x, const uint8_t *lane, vec z)
{
    return vec_fma64(x, vec_broadcast64(lane), z);
}
#endif

static void outer_f64(z_row *z, unsigned accumulator, const struct amx_batch *batch)
{
    const struct outer_shape shape = {8, 8, 1, 8};
    outer_batch(z + accumulator, shape, batch, vec_fma64_lane, finish64);
}

static void outer_f32(z_row *z, unsigned accumulator, const struct amx_batch *batch)
{
    const struct outer_shape shape = {16, 4, 1, 4};
    outer_batch(z + accumulator, shape, batch, vec_fma32_lane, finish32);
}

/* --- preparation --- */

typedef uint32_t u32x16 __attribute__((vector_size(64)));
typedef int32_t i32x16 __attribute__((vector_size(64)));
typedef float f32x16 __attribute__((vector_size(64)));
typedef int16_t i16x32 __attribute__((vector_size(64)));
typedef uint16_t u16x32 __attribute__((vector_size(64)));
typedef uint16_t u16x16 __attribute__((vector_size(32)));

#define PREPARED_CHUNK 32 /* entries prepared at a time: 12 KiB, so that L1 holds them */

struct prepared {
    u32x16 x[4];
    u32x16 y[2];
};

struct prepared_batch {
    struct prepared entry[PREPARED_CHUNK];
    struct amx_pair pairs[PREPARED_CHUNK];
    struct amx_batch batch;
};

typedef void prepare_fn(struct prepared *to, const uint8_t *x, const uint8_t *y, unsigned flags);

KERNEL_INLINE u32x16 load_u32x16(const uint8_t *from)
{
    u32x16 v;
    memcpy(&v, from, sizeof v);
    return v;
}

/* 16 lanes of 16 bits, zero-extended. */
KERNEL_INLINE u32x16 load_half(const uint8_t *from)
{
    u16x16 v;
    memcpy(&v, from, sizeof v);
    return __builtin_convertvector(v, u32x16);
}

#ifndef WIDEN_F16
/* Exponent and fraction moved into place have a value 2^112 too small, denormals included; NaN payloads are left,
 * because arithmetic follows. */
KERNEL_INLINE u32x16 widen_f16(u32x16 h)
{
    const f32x16 scaled = (f32x16)((h & 0x7fff) << 13) * 0x1p112f;
    const u32x16 special = (u32x16)((h & 0x7c00) == 0x7c00) & 0x7f800000;
    return (u32x16)scaled | special | (h & 0x8000) << 16;
}
#define WIDEN_F16 widen_f16
#endif

#ifndef NARROW_F16
/* The way back for f32 lanes that hold f16 values and no NaN but the default one. */
KERNEL_INLINE u32x16 narrow_f16(u32x16 v)
{
    const u32x16 magnitude = v & 0x7fffffff;
    const u32x16 finite = (u32x16)((f32x16)magnitude * 0x1p-112f) >> 13;
    const u32x16 special = 0x7c00 | (magnitude >> 13 & 0x200);
    const u32x16 is_special = (u32x16)(magnitude >= 0x7f800000);
    return (finite & ~is_special) | (special & is_special) | (v >> 16 & 0x8000);
}
#define NARROW_F16 narrow_f16
#endif

KERNEL_INLINE void prepare_f16_f32(struct prepared *to, const uint8_t *x, const uint8_t *y, unsigned flags)
{
    (void)flags;
    const u32x16 lanes = load_u32x16(x);
    to->x[0] = WIDEN_F16(lanes & 0xffff);
    to->x[1] = WIDEN_F16(lanes >> 16);
    to->y[0] = WIDEN_F16(load_half(y));
    to->y[1] = WIDEN_F16(load_half(y + 32));
}

KERNEL_INLINE void prepare_bf16_f32(struct prepared *to, const uint8_t *x, const uint8_t *y, unsigned flags)
{
    (void)flags;
    const u32x16 lanes = load_u32x16(x);
    to->x[0] = lanes << 16;
    to->x[1] = lanes & 0xffff0000;
    to->y[0] = load_half(y) << 16;
    to->y[1] = load_half(y + 32) << 16;
}

/* 16-bit lanes of one operand of mac16 or matint: as they are, or their signed low bytes. */
KERNEL_INLINE u32x16 lanes16(const uint8_t *from, unsigned low_byte)
{
    const u32x16 v = load_u32x16(from);
    return low_byte ? (u32x16)((i16x32)((u16x32)v << 8) >> 8) : v;
}

/* y lanes twice in 32 bits, so that a 32-bit broadcast, which costs no shuffle, spreads them. */
KERNEL_INLINE void prepare_i16(struct prepared *to, const uint8_t *x, const uint8_t *y, unsigned flags)
{
    to->x[0] = lanes16(x, flags & AMX_X_LOW_BYTE);
    const u32x16 y_lanes = lanes16(y, flags & AMX_Y_LOW_BYTE);
    to->y[0] = load_half((const uint8_t *)&y_lanes) * 0x10001;
    to->y[1] = load_half((const uint8_t *)&y_lanes + 32) * 0x10001;
}

/* Byte `part` (0 or 1) of every 16-bit lane, extended to the lane. */
KERNEL_INLINE u32x16 bytes_of_pairs(u32x16 v, unsigned part, unsigned is_signed)
{
    const u16x32 up = part ? (u16x32)v & 0xff00 : (u16x32)v << 8;
    return is_signed ? (u32x16)((i16x32)up >> 8) : (u32x16)(up >> 8);
}

KERNEL_INLINE void prepare_i8_i16(struct prepared *to, const uint8_t *x, const uint8_t *y, unsigned flags)
{
    const u32x16 lanes = load_u32x16(x);
    to->x[0] = bytes_of_pairs(lanes, 0, flags & AMX_X_SIGNED);
    to->x[1] = bytes_of_pairs(lanes, 1, flags & AMX_X_SIGNED);
    const u32x16 y_lanes = bytes_of_pairs(load_u32x16(y), 0, flags & AMX_Y_SIGNED);
    to->y[0] = load_half((const uint8_t *)&y_lanes) * 0x10001;
    to->y[1] = load_half((const uint8_t *)&y_lanes + 32) * 0x10001;
}

/* Lanes for madd16, one outer product in the low halves; a second one is merged into the high halves. */
KERNEL_INLINE void prepare_i16_i32(struct prepared *to, const uint8_t *x, const uint8_t *y, unsigned flags)
{
    const u32x16 lanes = lanes16(x, flags & AMX_X_LOW_BYTE);
    to->x[0] = lanes & 0xffff;
    to->x[1] = lanes >> 16;
    const u32x16 y_lanes = lanes16(y, flags & AMX_Y_LOW_BYTE);
    to->y[0] = load_half((const uint8_t *)&y_lanes);
    to->y[1] = load_half((const uint8_t *)&y_lanes + 32);
}

KERNEL_INLINE u32x16 byte_of_words(u32x16 v, unsigned part, unsigned is_signed)
{
    const u32x16 up = v << (24 - 8 * part);
    return (is_signed ? (u32x16)((i32x16)up >> 24) : up >> 24) & 0xffff;
}

/* The same four parts of x; of y every other byte. */
KERNEL_INLINE void prepare_i8_i16_wide(struct prepared *to, const uint8_t *x, const uint8_t *y, unsigned flags)
{
    const u32x16 lanes = load_u32x16(x);
#pragma GCC unroll 4
    for (unsigned part = 0; part < 4; part++)
        to->x[part] = byte_of_words(lanes, part, flags & AMX_X_SIGNED);
    const u32x16 y_lanes = bytes_of_pairs(load_u32x16(y), 0, flags & AMX_Y_SIGNED);
    to->y[0] = load_half((const uint8_t *)&y_lanes);
    to->y[1] = load_half((const uint8_t *)&y_lanes + 32);
}

KERNEL_INLINE void prepare_i8_i32(struct prepared *to, const uint8_t *x, const uint8_t *y, unsigned flags)
{
    const u32x16 lanes = load_u32x16(x);
#pragma GCC unroll 4
    for (unsigned part = 0; part < 4; part++)
        to->x[part] = byte_of_words(lanes, part, flags & AMX_X_SIGNED);
    to->y[0] = byte_of_words(load_u32x16(y), 0, flags & AMX_Y_SIGNED);
}

/* The pairs of a batch, one after another over all passes. */
struct pair_walk {
    const struct amx_batch *batch;
    unsigned left, n;
    ptrdiff_t x_at, y_at;
};

KERNEL_INLINE struct amx_pair next_pair(struct pair_walk *walk)
{
    const struct amx_batch *batch = walk->batch;
    const struct amx_pair pair = {batch->pairs[walk->n].x + walk->x_at, batch->pairs[walk->n].y + walk->y_at};
    if (++walk->n == batch->count) {
        walk->n = 0;
        walk->x_at += batch->x_step;
        walk->y_at += batch->y_step;
    }
    walk->left--;
    return pair;
}

/* Prepares the next outer products, `merge` (1 or 2) into each of up to PREPARED_CHUNK entries. */
KERNEL_INLINE void prepare_chunk(struct prepared_batch *to, struct outer_shape shape, struct pair_walk *walk, unsigned merge,
                                 prepare_fn *prepare)
{
    const unsigned most = PREPARED_CHUNK * merge, flags = walk->batch->flags;
    const unsigned count = walk->left < most ? walk->left : most;
    const unsigned entries = (count + merge - 1) / merge;
    for (unsigned n = 0; n < entries; n++) {
        const struct amx_pair pair = next_pair(walk);
        struct prepared *entry = &to->entry[n];
        prepare(entry, pair.x, pair.y, flags);
        if (merge == 2 && n * 2 + 1 < count) {
            const struct amx_pair merged = next_pair(walk);
            struct prepared second;
            prepare(&second, merged.x, merged.y, flags);
#pragma GCC unroll 4
            for (unsigned v = 0; v < shape.parts; v++)
                entry->x[v] |= second.x[v] << 16;
#pragma GCC unroll 2
            for (unsigned h = 0; h < shape.y_lanes / 16; h++)
                entry->y[h] |= second.y[h] << 16;
        }
        to->pairs[n] = (struct amx_pair){(const uint8_t *)entry->x, (const uint8_t *)entry->y};
    }
    to->batch = (struct amx_batch){.pairs = to->pairs, .count = entries, .passes = 1};
}

KERNEL_INLINE void outer_prepared(z_row *z, struct outer_shape shape, const struct amx_batch *batch, unsigned merge,
                                  prepare_fn *prepare, vec_step *step, vec_finish *finish)
{
    struct prepared_batch chunk;
    struct pair_walk walk = {.batch = batch, .left = batch->count * batch->passes};
    while (walk.left > 0) {
        prepare_chunk(&chunk, shape, &walk, merge, prepare);
        outer_batch(z, shape, &chunk.batch, step, finish);
    }
}

/* --- kinds with preparation --- */

static const struct outer_shape half_rows = {32, 4, 1, 2};  /* 16-bit lanes, 16-bit Z, one of two accumulators */
static const struct outer_shape row_pairs = {32, 4, 2, 2};  /* Z lanes twice as wide as X lanes: all of Z */
static const struct outer_shape row_fours = {16, 4, 4, 4};  /* four times as wide */
static const struct outer_shape wide_fours = {32, 4, 4, 4}; /* the same for 32 y lanes, in a copy of Z twice its size */

static void outer_f16_f32(z_row *z, unsigned accumulator, const struct amx_batch *batch)
{
    (void)accumulator;
    outer_prepared(z, row_pairs, batch, 1, prepare_f16_f32, fma32_step, finish32);
}

static void outer_bf16_f32(z_row *z, unsigned accumulator, const struct amx_batch *batch)
{
    (void)accumulator;
    outer_prepared(z, row_pairs, batch, 1, prepare_bf16_f32, fma32_step, finish32);
}

KERNEL_INLINE vec mul_add16(vec x, const uint8_t *lane, vec z)
{
    return vec_add16(z, vec_mul16(x, vec_broadcast32(lane)));
}

#ifndef HAVE_MADD_ADD
KERNEL_INLINE vec vec_madd_add32(vec x, const uint8_t *lane, vec z)
{
    return vec_add32(z, vec_madd16(x, vec_broadcast32(lane)));
}
#endif

static void outer_i16(z_row *z, unsigned accumulator, const struct amx_batch *batch)
{
    outer_prepared(z + accumulator, half_rows, batch, 1, prepare_i16, mul_add16, unchanged);
}

#ifdef HAVE_MADD_ADD
/* Two outer products in one instruction need 32-bit sums. Their low halves start from 0 and are added to Z at the end:
 * x lane 4e + part goes to Z row 2j + part % 2, 16-bit lane 2e + part / 2. */
static void outer_i8_i16(z_row *z, unsigned accumulator, const struct amx_batch *batch)
{
    (void)accumulator;
    u32x16 wide[32][4];
    memset(wide, 0, sizeof wide);
    outer_prepared((z_row *)wide, wide_fours, batch, 2, prepare_i8_i16_wide, vec_madd_add32, unchanged);
    for (unsigned r = 0; r < 64; r++) {
        const u32x16 low = wide[r / 2][r % 2], high = wide[r / 2][r % 2 + 2];
        const u16x32 row = (u16x32)load_u32x16(z[r]) + (u16x32)((low & 0xffff) | high << 16);
        memcpy(z[r], &row, sizeof row);
    }
}
#else
static void outer_i8_i16(z_row *z, unsigned accumulator, const struct amx_batch *batch)
{
    (void)accumulator;
    outer_prepared(z, row_pairs, batch, 1, prepare_i8_i16, mul_add16, unchanged);
}
#endif

static void outer_i16_i32(z_row *z, unsigned accumulator, const struct amx_batch *batch)
{
    (void)accumulator;
    outer_prepared(z, row_pairs, batch, 2, prepare_i16_i32, vec_madd_add32, unchanged);
}

static void outer_i8_i32(z_row *z, unsigned accumulator, const struct amx_batch *batch)
{
    (void)accumulator;
    outer_prepared(z, row_fours, batch, 2, prepare_i8_i32, vec_madd_add32, unchanged);
}

/* --- 16-bit floating point --- */

#ifdef HAVE_NATIVE_F16
static void outer_f16(z_row *z, unsigned accumulator, const struct amx_batch *batch)
{
    const struct outer_shape shape = {32, 2, 1, 2};
    outer_batch(z + accumulator, shape, batch, vec_fma16_lane, finish16);
}
#endif

#if defined(HAVE_FMA_F16_32) || defined(HAVE_FMA_BF16_32)
typedef void unpack_fn(u32x16 *even, u32x16 *odd, u32x16 row);
typedef u32x16 pack_fn(u32x16 even, u32x16 odd);

/* Z is kept in f32 during a batch, as row pairs of a copy: every step rounds to the short format, whose values f32
 * holds exactly. */
KERNEL_INLINE void outer_rounded(z_row *z, unsigned accumulator, const struct amx_batch *batch, prepare_fn *prepare,
                                 unpack_fn *unpack, vec_step *step, pack_fn *pack)
{
    u32x16 wide[64];
    for (unsigned j = 0; j < 32; j++)
        unpack(&wide[2 * j], &wide[2 * j + 1], load_u32x16(z[2 * j + accumulator]));
    outer_prepared((z_row *)wide, row_pairs, batch, 1, prepare, step, finish32);
    for (unsigned j = 0; j < 32; j++) {
        const u32x16 row = pack(wide[2 * j], wide[2 * j + 1]);
        memcpy(z[2 * j + accumulator], &row, sizeof row);
    }
}
#endif

#ifdef HAVE_FMA_BF16_32
KERNEL_INLINE void unpack_bf16(u32x16 *even, u32x16 *odd, u32x16 row)
{
    *even = row << 16;
    *odd = row & 0xffff0000;
}

KERNEL_INLINE u32x16 pack_bf16(u32x16 even, u32x16 odd)
{
    return even >> 16 | (odd & 0xffff0000);
}

KERNEL_INLINE vec fma_bf16_step(vec x, const uint8_t *lane, vec z)
{
    return vec_fma_bf16_32(x, vec_broadcast32(lane), z);
}

static void outer_bf16(z_row *z, unsigned accumulator, const struct amx_batch *batch)
{
    outer_rounded(z, accumulator, batch, prepare_bf16_f32, unpack_bf16, fma_bf16_step, pack_bf16);
}
#endif

#if defined(HAVE_FMA_F16_32) && !defined(HAVE_NATIVE_F16)
KERNEL_INLINE void unpack_f16(u32x16 *even, u32x16 *odd, u32x16 row)
{
    *even = WIDEN_F16(row & 0xffff);
    *odd = WIDEN_F16(row >> 16);
}

KERNEL_INLINE u32x16 pack_f16(u32x16 even, u32x16 odd)
{
    return NARROW_F16(even) | NARROW_F16(odd) << 16;
}

KERNEL_INLINE vec fma_f16_step(vec x, const uint8_t *lane, vec z)
{
    return vec_fma_f16_32(x, vec_broadcast32(lane), z);
}

static void outer_f16(z_row *z, unsigned accumulator, const struct amx_batch *batch)
{
    outer_rounded(z, accumulator, batch, prepare_f16_f32, unpack_f16, fma_f16_step, pack_f16);
}
#endif

/* --- pointwise --- */

#define DEFINE_ROW(name, fma, to_default)                                                                                        \
    static void name(uint8_t *z, const uint8_t *x, const uint8_t *y)                                                             \
    {                                                                                                                            \
        for (unsigned b = 0; b < 64; b += VEC_BYTES)                                                                             \
            vec_store(z + b, to_default(fma(vec_load(x + b), vec_load(y + b), vec_load(z + b))));                                \
    }
DEFINE_ROW(row_f64, vec_fma64, vec_nan64)
DEFINE_ROW(row_f32, vec_fma32, vec_nan32)
#ifdef HAVE_NATIVE_F16
DEFINE_ROW(row_f16, vec_fma16, vec_nan16)
#define ROW_F16 row_f16
#else
#define ROW_F16 NULL
#endif

#if defined(HAVE_NATIVE_F16) || defined(HAVE_FMA_F16_32)
#define KERNEL_F16 outer_f16
#else
#define KERNEL_F16 NULL
#endif
#ifdef HAVE_FMA_BF16_32
#define KERNEL_BF16 outer_bf16
#else
#define KERNEL_BF16 NULL
#endif

#define KERNEL_SET(set_name, set_dispatch)                                                                                       \
    {                                                                                                                            \
        .name = set_name, .dispatch = set_dispatch,                                                                              \
        .row = {[AMX_OUTER_F64] = row_f64, [AMX_OUTER_F32] = row_f32, [AMX_OUTER_F16] = ROW_F16},                                \
        .outer = {                                                                                                               \
            [AMX_OUTER_F64] = outer_f64,         [AMX_OUTER_F32] = outer_f32,         [AMX_OUTER_F16] = KERNEL_F16,              \
            [AMX_OUTER_F16_F32] = outer_f16_f32, [AMX_OUTER_BF16] = KERNEL_BF16,      [AMX_OUTER_BF16_F32] = outer_bf16_f32,     \
            [AMX_OUTER_I16] = outer_i16,         [AMX_OUTER_I16_I32] = outer_i16_i32, [AMX_OUTER_I8_I16] = outer_i8_i16,         \
            [AMX_OUTER_I8_I32] = outer_i8_i32},                                                                                  \
    }

#endif
