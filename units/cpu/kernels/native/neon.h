/* What the NEON kernels share. A kernel is a function of a list of arguments in memory, of the items that its thread works on,
 * and of the thread's number; rows of units/cpu/kernels say which arguments and items (routine.h). It needs no library and no
 * system: under orchard crew.c starts the threads, on a Mac native/bench_neon.c does.
 *
 * Sources are compiled once, or once for each type of elements: then ELEMENT_F32 or another is defined, and NAME(x) is x_f32.
 */
#ifndef ORCHARD_UNITS_CPU_KERNELS_NATIVE_NEON_H
#define ORCHARD_UNITS_CPU_KERNELS_NATIVE_NEON_H

#include <arm_neon.h>
#include <stdbool.h>
#include <stdint.h>

static inline int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* ---- sixteen-bit numbers as bits ---- */

static inline float32x4_t widen_bf16(uint16x4_t bits)
{
    return vreinterpretq_f32_u32(vshlq_n_u32(vmovl_u16(bits), 16));
}

/* To nearest, ties to even; a NaN stays one. */
static inline uint16x4_t narrow_bf16(float32x4_t x)
{
    const uint32x4_t bits = vreinterpretq_u32_f32(x);
    const uint32x4_t odd = vandq_u32(vshrq_n_u32(bits, 16), vdupq_n_u32(1));
    const uint32x4_t rounded = vaddq_u32(bits, vaddq_u32(odd, vdupq_n_u32(0x7fff)));
    const uint32x4_t nan = vorrq_u32(bits, vdupq_n_u32(0x400000));
    return vshrn_n_u32(vbslq_u32(vceqq_f32(x, x), rounded, nan), 16);
}

/* ---- elements of the type that the source is compiled for ---- */

#if defined ELEMENT_F32
#define NAME(x) x##_f32
typedef float element;
static inline float32x4_t load4(const element *at)
{
    return vld1q_f32(at);
}
static inline void store4(element *at, float32x4_t x)
{
    vst1q_f32(at, x);
}
#elif defined ELEMENT_F16
#define NAME(x) x##_f16
typedef __fp16 element;
static inline float32x4_t load4(const element *at)
{
    return vcvt_f32_f16(vld1_f16(at));
}
static inline void store4(element *at, float32x4_t x)
{
    vst1_f16(at, vcvt_f16_f32(x));
}
#elif defined ELEMENT_BF16
#define NAME(x) x##_bf16
typedef uint16_t element;
static inline float32x4_t load4(const element *at)
{
    return widen_bf16(vld1_u16(at));
}
static inline void store4(element *at, float32x4_t x)
{
    vst1_u16(at, narrow_bf16(x));
}
#endif

#ifdef NAME
#ifdef ELEMENT_BF16
static inline float load1(const element *at)
{
    return vgetq_lane_f32(widen_bf16(vdup_n_u16(*at)), 0);
}
static inline void store1(element *at, float x)
{
    *at = vget_lane_u16(narrow_bf16(vdupq_n_f32(x)), 0);
}
#else
static inline float load1(const element *at)
{
    return *at;
}
static inline void store1(element *at, float x)
{
    *at = (element)x;
}
#endif

/* The first `count` of four elements; the others are zero, or left alone. */
static inline float32x4_t load_part(const element *at, int64_t count)
{
    float part[4] = {0, 0, 0, 0};
    for (int64_t i = 0; i < count; i++)
        part[i] = load1(at + i);
    return vld1q_f32(part);
}

static inline void store_part(element *at, float32x4_t x, int64_t count)
{
    float part[4];
    vst1q_f32(part, x);
    for (int64_t i = 0; i < count; i++)
        store1(at + i, part[i]);
}
#endif

#endif
