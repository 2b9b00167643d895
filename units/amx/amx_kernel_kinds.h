/* The outer products of each kind of lanes, the pointwise rows, and the set that they form. A kernel file defines the vector
 * operations that amx_kernel_outer.h lists, includes this header and names its set with KERNEL_SET. */
#ifndef ORCHARD_UNITS_AMX_AMX_KERNEL_KINDS_H
#define ORCHARD_UNITS_AMX_AMX_KERNEL_KINDS_H

#include "units/amx/amx_kernel_prepare.h"

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
/* Two outer products in one instruction need 32-bit sums. Their low halves start from 0 and are added to Z at the end: x lane 4e
 * + part goes to Z row 2j + part % 2, 16-bit lane 2e + part / 2. */
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

/* Z is kept in f32 during a batch, as row pairs of a copy. Every step rounds to the short format, whose values f32 holds exactly.
 */
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
