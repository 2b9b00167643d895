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
    unsigned y_lanes, y_bytes; /* y lanes used, and their distance in memory */
    unsigned parts;            /* x vectors of 64 bytes, each with a Z row of its own */
    unsigned row_step;         /* Z rows from one y lane to the next */
};

/* Returns z after one step with x and the y lane at `lane`. Where x parts share a y lane, the compiler broadcasts it once. */
typedef vec vec_step(vec x, const uint8_t *lane, vec z);
/* What is done to the accumulator vectors at the end of a batch. */
typedef void vec_finish(vec *acc, unsigned count);

KERNEL_INLINE void unchanged(vec *acc, unsigned count)
{
    (void)acc;
    (void)count;
}

/* NaNs are rare: two vectors at a time are tested for any (a comparison is unordered when either side is NaN). */
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

/* Applies the y lanes [first, first+count) of every outer product of the batch, with their part of Z in registers. */
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
            __asm__("" : "+r"(y)); /* one base: otherwise gcc keeps an index per lane for y_at */
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

#endif
