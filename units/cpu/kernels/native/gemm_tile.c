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
#define EACH_ROW(X, ...)                                                                                                         \
    X(0, __VA_ARGS__)                                                                                                            \
    X(1, __VA_ARGS__)                                                                                                            \
    X(2, __VA_ARGS__)                                                                                                            \
    X(3, __VA_ARGS__) X(4, __VA_ARGS__) X(5, __VA_ARGS__) X(6, __VA_ARGS__) X(7, __VA_ARGS__)

/* A row of the tile in memory, whose vectors have so many elements, and none. */
#define LOAD(i, type, lanes)                                                                                                     \
    s##i##0 = vld1q_##type(tile + 3 * lanes * i), s##i##1 = vld1q_##type(tile + 3 * lanes * i + lanes),                          \
    s##i##2 = vld1q_##type(tile + 3 * lanes * i + 2 * lanes);
#define CLEAR(i, type) s##i##0 = s##i##1 = s##i##2 = vdupq_n_##type(0);
#define STORE(i, type, lanes)                                                                                                    \
    vst1q_##type(tile + 3 * lanes * i, s##i##0), vst1q_##type(tile + 3 * lanes * i + lanes, s##i##1),                            \
        vst1q_##type(tile + 3 * lanes * i + 2 * lanes, s##i##2);
#define BEGIN_SUMS(type, lanes)                                                                                                  \
    if (more) {                                                                                                                  \
        EACH_ROW(LOAD, type, lanes)                                                                                              \
    } else {                                                                                                                     \
        EACH_ROW(CLEAR, type)                                                                                                    \
    }
#define END_SUMS(type, lanes) EACH_ROW(STORE, type, lanes)

#define DOT(sum, b, a, lane) vdotq_laneq_s32(sum, b, a, lane)

void neon_tile_f32(int64_t k, const float *a, const float *b, float *tile, bool more)
{
    float32x4_t ROW(0), ROW(1), ROW(2), ROW(3), ROW(4), ROW(5), ROW(6), ROW(7);
    BEGIN_SUMS(f32, 4)
    for (; k > 0; k--) {
        const float32x4_t a0 = vld1q_f32(a), a1 = vld1q_f32(a + 4);
        const float32x4_t b0 = vld1q_f32(b), b1 = vld1q_f32(b + 4), b2 = vld1q_f32(b + 8);
        ADD_ROWS(vfmaq_laneq_f32)
        a += 8;
        b += 12;
    }
    END_SUMS(f32, 4)
}

void neon_tile_i8(int64_t k, const int8_t *a, const int8_t *b, int32_t *tile, bool more)
{
    int32x4_t ROW(0), ROW(1), ROW(2), ROW(3), ROW(4), ROW(5), ROW(6), ROW(7);
    BEGIN_SUMS(s32, 4)
    for (; k > 0; k--) {
        const int8x16_t a0 = vld1q_s8(a), a1 = vld1q_s8(a + 16);
        const int8x16_t b0 = vld1q_s8(b), b1 = vld1q_s8(b + 16), b2 = vld1q_s8(b + 32);
        ADD_ROWS(DOT)
        a += 32;
        b += 48;
    }
    END_SUMS(s32, 4)
}

void neon_tile_f64(int64_t k, const double *a, const double *b, double *tile, bool more)
{
    float64x2_t ROW(0), ROW(1), ROW(2), ROW(3), ROW(4), ROW(5), ROW(6), ROW(7);
    BEGIN_SUMS(f64, 2)
    for (; k > 0; k--) {
        const float64x2_t b0 = vld1q_f64(b), b1 = vld1q_f64(b + 2), b2 = vld1q_f64(b + 4);
        const float64x2_t a0 = vld1q_f64(a), a1 = vld1q_f64(a + 2);
        ADD_ROW(vfmaq_laneq_f64, 0, 0, a0)
        ADD_ROW(vfmaq_laneq_f64, 1, 1, a0)
        ADD_ROW(vfmaq_laneq_f64, 2, 0, a1)
        ADD_ROW(vfmaq_laneq_f64, 3, 1, a1)
        const float64x2_t a2 = vld1q_f64(a + 4), a3 = vld1q_f64(a + 6);
        ADD_ROW(vfmaq_laneq_f64, 4, 0, a2)
        ADD_ROW(vfmaq_laneq_f64, 5, 1, a2)
        ADD_ROW(vfmaq_laneq_f64, 6, 0, a3)
        ADD_ROW(vfmaq_laneq_f64, 7, 1, a3)
        a += 8;
        b += 6;
    }
    END_SUMS(f64, 2)
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
    BEGIN_SUMS(f16, 8)
    for (; k > 0; k--) {
        const float16x8_t a0 = vld1q_f16(a), b0 = vld1q_f16(b), b1 = vld1q_f16(b + 8), b2 = vld1q_f16(b + 16);
        HALF_ROW(0) HALF_ROW(1) HALF_ROW(2) HALF_ROW(3) HALF_ROW(4) HALF_ROW(5) HALF_ROW(6) HALF_ROW(7) a += 8;
        b += 24;
    }
    END_SUMS(f16, 8)
}
