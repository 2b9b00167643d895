#include "units/cpu/kernels/native/gemm_tile.h"

#include <arm_neon.h>

/* One row of sums, and what a step of k adds to it; lane n of ai has the row's number. */
#define ROW(i) s##i##0, s##i##1, s##i##2
#define ADD_ROW(fma, i, n, a)                                                                                                    \
    s##i##0 = fma(s##i##0, b0, a, n);                                                                                            \
    s##i##1 = fma(s##i##1, b1, a, n);                                                                                            \
    s##i##2 = fma(s##i##2, b2, a, n);
#define ADD_ROWS(fma)                                                                                                            \
    ADD_ROW(fma, 0, 0, a0)                                                                                                       \
    ADD_ROW(fma, 1, 1, a0)                                                                                                       \
    ADD_ROW(fma, 2, 2, a0)                                                                                                       \
    ADD_ROW(fma, 3, 3, a0) ADD_ROW(fma, 4, 0, a1) ADD_ROW(fma, 5, 1, a1) ADD_ROW(fma, 6, 2, a1) ADD_ROW(fma, 7, 3, a1)
#define EACH_ROW(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7)

#define DOT(sum, b, a, lane) vdotq_laneq_s32(sum, b, a, lane)

void neon_tile_f32(int64_t k, const float *a, const float *b, float *tile, bool more)
{
    float32x4_t ROW(0), ROW(1), ROW(2), ROW(3), ROW(4), ROW(5), ROW(6), ROW(7);
    if (more) {
#define LOAD(i)                                                                                                                  \
    s##i##0 = vld1q_f32(tile + 12 * i), s##i##1 = vld1q_f32(tile + 12 * i + 4), s##i##2 = vld1q_f32(tile + 12 * i + 8);
        EACH_ROW(LOAD)
#undef LOAD
    } else {
#define CLEAR(i) s##i##0 = s##i##1 = s##i##2 = vdupq_n_f32(0);
        EACH_ROW(CLEAR)
#undef CLEAR
    }
    for (; k > 0; k--) {
        const float32x4_t a0 = vld1q_f32(a), a1 = vld1q_f32(a + 4);
        const float32x4_t b0 = vld1q_f32(b), b1 = vld1q_f32(b + 4), b2 = vld1q_f32(b + 8);
        ADD_ROWS(vfmaq_laneq_f32)
        a += 8;
        b += 12;
    }
#define STORE(i) vst1q_f32(tile + 12 * i, s##i##0), vst1q_f32(tile + 12 * i + 4, s##i##1), vst1q_f32(tile + 12 * i + 8, s##i##2);
    EACH_ROW(STORE)
#undef STORE
}

void neon_tile_i8(int64_t k, const int8_t *a, const int8_t *b, int32_t *tile, bool more)
{
    int32x4_t ROW(0), ROW(1), ROW(2), ROW(3), ROW(4), ROW(5), ROW(6), ROW(7);
    if (more) {
#define LOAD(i)                                                                                                                  \
    s##i##0 = vld1q_s32(tile + 12 * i), s##i##1 = vld1q_s32(tile + 12 * i + 4), s##i##2 = vld1q_s32(tile + 12 * i + 8);
        EACH_ROW(LOAD)
#undef LOAD
    } else {
#define CLEAR(i) s##i##0 = s##i##1 = s##i##2 = vdupq_n_s32(0);
        EACH_ROW(CLEAR)
#undef CLEAR
    }
    for (; k > 0; k--) {
        const int8x16_t a0 = vld1q_s8(a), a1 = vld1q_s8(a + 16);
        const int8x16_t b0 = vld1q_s8(b), b1 = vld1q_s8(b + 16), b2 = vld1q_s8(b + 32);
        ADD_ROWS(DOT)
        a += 32;
        b += 48;
    }
#define STORE(i) vst1q_s32(tile + 12 * i, s##i##0), vst1q_s32(tile + 12 * i + 4, s##i##1), vst1q_s32(tile + 12 * i + 8, s##i##2);
    EACH_ROW(STORE)
#undef STORE
}

/* Compilers would copy the number to a vector first, and run out of registers. Elements of halves are in the lower 16 registers.
 */
#define HALF_FMA(sum, b, a, lane) __asm__("fmla %0.8h, %1.8h, %2.h[" #lane "]" : "+w"(sum) : "w"(b), "x"(a))
#define HALF_ROW(i)                                                                                                              \
    HALF_FMA(s##i##0, b0, a0, i);                                                                                                \
    HALF_FMA(s##i##1, b1, a0, i);                                                                                                \
    HALF_FMA(s##i##2, b2, a0, i);

void neon_tile_f16(int64_t k, const float16_t *a, const float16_t *b, float16_t *tile, bool more)
{
    float16x8_t ROW(0), ROW(1), ROW(2), ROW(3), ROW(4), ROW(5), ROW(6), ROW(7);
    if (more) {
#define LOAD(i)                                                                                                                  \
    s##i##0 = vld1q_f16(tile + 24 * i), s##i##1 = vld1q_f16(tile + 24 * i + 8), s##i##2 = vld1q_f16(tile + 24 * i + 16);
        EACH_ROW(LOAD)
#undef LOAD
    } else {
#define CLEAR(i) s##i##0 = s##i##1 = s##i##2 = vdupq_n_f16(0);
        EACH_ROW(CLEAR)
#undef CLEAR
    }
    for (; k > 0; k--) {
        const float16x8_t a0 = vld1q_f16(a), b0 = vld1q_f16(b), b1 = vld1q_f16(b + 8), b2 = vld1q_f16(b + 16);
        HALF_ROW(0) HALF_ROW(1) HALF_ROW(2) HALF_ROW(3) HALF_ROW(4) HALF_ROW(5) HALF_ROW(6) HALF_ROW(7) a += 8;
        b += 24;
    }
#define STORE(i) vst1q_f16(tile + 24 * i, s##i##0), vst1q_f16(tile + 24 * i + 8, s##i##1), vst1q_f16(tile + 24 * i + 16, s##i##2);
    EACH_ROW(STORE)
#undef STORE
}
