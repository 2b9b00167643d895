/* Numbers of the Apple GPU as bits: float32 with flushed denormals, float16 with denormals, one default NaN.
 *
 * Correct whether or not the host flushes denormals itself. Rules: dougallj/applegpu fma.py; the flush also in Mesa (Honeykrisp
 * advertises flush for float32 and preserve for float16).
 */
#ifndef ORCHARD_UNITS_GPU_GPU_EXEC_NUMERIC_H
#define ORCHARD_UNITS_GPU_GPU_EXEC_NUMERIC_H

#include "isa/float_bits.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#define GPU_NAN32        UINT32_C(0x7fc00000)
#define GPU_NAN16        UINT16_C(0x7e00)
#define GPU_SIGN32       UINT32_C(0x80000000)
#define GPU_INF32        UINT32_C(0x7f800000)
#define GPU_MIN_NORMAL32 UINT32_C(0x00800000)
#define GPU_ONE32        UINT32_C(0x3f800000)

static inline bool gpu_is_nan32(uint32_t bits)
{
    return (bits & ~GPU_SIGN32) > GPU_INF32;
}

/* Turns a denormal into a zero of its sign. */
static inline uint32_t gpu_flush32(uint32_t bits)
{
    return (bits & GPU_INF32) == 0 ? bits & GPU_SIGN32 : bits;
}

/* True when |a*b + c|, not rounded, lies below 2^-126. Needed only when the rounded result is the smallest normal number. */
static inline bool gpu_below_normal(uint32_t a, uint32_t b, uint32_t c)
{
    const double product = (double)f32_of_bits(a) * (double)f32_of_bits(b), add = (double)f32_of_bits(c);
    const double sum = product + add, part = sum - product;
    const double error = (product - (sum - part)) + (add - part); /* sum + error is exact (two-sum) */
    const double smallest = 0x1p-126;
    return fabs(sum) < smallest || (fabs(sum) == smallest && error != 0 && (error < 0) == (sum > 0));
}

/* Applies what a host float32 result of a*b + c still needs. */
static inline uint32_t gpu_finish32(uint32_t result, uint32_t a, uint32_t b, uint32_t c)
{
    if (gpu_is_nan32(result))
        return GPU_NAN32;
    result = gpu_flush32(result);
    if ((result & ~GPU_SIGN32) == GPU_MIN_NORMAL32 && gpu_below_normal(a, b, c))
        return result & GPU_SIGN32;
    return result;
}

/* a*b + c rounded once; the sources have been flushed. */
static inline uint32_t gpu_fma32(uint32_t a, uint32_t b, uint32_t c)
{
    return gpu_finish32(f32_bits(fmaf(f32_of_bits(a), f32_of_bits(b), f32_of_bits(c))), a, b, c);
}

static inline uint32_t gpu_add32(uint32_t a, uint32_t b)
{
    return gpu_finish32(f32_bits(f32_of_bits(a) + f32_of_bits(b)), a, GPU_ONE32, b);
}

static inline uint32_t gpu_mul32(uint32_t a, uint32_t b)
{
    return gpu_finish32(f32_bits(f32_of_bits(a) * f32_of_bits(b)), a, b, GPU_SIGN32);
}

/* Rounds a double, taken as exact, to float16 once: to nearest even, or toward zero. */
static inline uint16_t gpu_half_from_double(double value, bool to_zero)
{
    const uint64_t bits = f64_bits(value), magnitude = bits & (UINT64_MAX >> 1);
    const uint16_t sign = (uint16_t)(bits >> 63 << 15);
    if (magnitude > UINT64_C(0x7ff0000000000000))
        return GPU_NAN16;
    if (magnitude == UINT64_C(0x7ff0000000000000))
        return (uint16_t)(sign | 0x7c00);
    const int exponent = (int)(magnitude >> 52) - 1023;
    if (exponent < -25)
        return sign;
    const uint64_t fraction = (magnitude & ((UINT64_C(1) << 52) - 1)) | UINT64_C(1) << 52;
    const int shift = exponent >= -14 ? 42 : 42 - 14 - exponent;
    const uint64_t rest = fraction & ((UINT64_C(1) << shift) - 1), middle = UINT64_C(1) << (shift - 1);
    uint64_t kept = fraction >> shift;
    if (!to_zero && (rest > middle || (rest == middle && (kept & 1))))
        kept++;
    if (exponent >= -14)
        kept += (uint64_t)(exponent + 14) << 10;
    if (kept >= 0x7c00)
        kept = to_zero ? 0x7bff : 0x7c00;
    return (uint16_t)(sign | kept);
}

static inline uint32_t gpu_float_from_half(uint16_t half)
{
    const uint32_t sign = (uint32_t)(half & 0x8000) << 16, exponent = half >> 10 & 31, fraction = half & 0x3ff;
    if (exponent == 31)
        return sign | GPU_INF32 | fraction << 13;
    if (exponent)
        return sign | (exponent + 112) << 23 | fraction << 13;
    if (!fraction)
        return sign;
    const int up = __builtin_clz(fraction) - 21; /* places to the hidden bit */
    return sign | (uint32_t)(113 - up) << 23 | (fraction << (13 + up) & 0x7fffff);
}

/* The second rounding, for float32 results with half destinations. */
static inline uint16_t gpu_half_from_float(uint32_t bits)
{
    return gpu_half_from_double((double)f32_of_bits(bits), false);
}

/* a*b + c of halves, rounded once to half. */
static inline uint16_t gpu_fma16(uint16_t a, uint16_t b, uint16_t c)
{
    const double product = (double)f32_of_bits(gpu_float_from_half(a)) * (double)f32_of_bits(gpu_float_from_half(b));
    const double add = (double)f32_of_bits(gpu_float_from_half(c)), sum = product + add;
    if (!isfinite(sum))
        return gpu_half_from_double(sum, false);
    const double part = sum - product, error = (product - (sum - part)) + (add - part);
    const uint64_t bits = f64_bits(sum);
    if (error == 0 || (bits & 1))
        return gpu_half_from_double(sum, false);
    /* Rounded to odd, the sum shows on which side of a middle the exact value lies. */
    return gpu_half_from_double(f64_of_bits((error > 0) == (sum > 0) ? bits + 1 : bits - 1), false);
}

static inline uint16_t gpu_add16(uint16_t a, uint16_t b)
{
    return gpu_half_from_double((double)f32_of_bits(gpu_float_from_half(a)) + (double)f32_of_bits(gpu_float_from_half(b)), false);
}

static inline uint16_t gpu_mul16(uint16_t a, uint16_t b)
{
    return gpu_half_from_double((double)f32_of_bits(gpu_float_from_half(a)) * (double)f32_of_bits(gpu_float_from_half(b)), false);
}

/* Clamps to [0, 1]; NaN, negative values and -0 give +0. */
static inline uint32_t gpu_saturate32(uint32_t bits)
{
    if (gpu_is_nan32(bits) || (bits & GPU_SIGN32))
        return 0;
    return bits > GPU_ONE32 ? GPU_ONE32 : bits;
}

static inline uint16_t gpu_saturate16(uint16_t bits)
{
    if ((bits & 0x7fff) > 0x7c00 || (bits & 0x8000))
        return 0;
    return bits > 0x3c00 ? 0x3c00 : bits;
}

/* Rounds a double to float32 once, under the flush rule: toward zero or to nearest even. */
static inline uint32_t gpu_float_from_double(double value, bool to_zero)
{
    if (isnan(value))
        return GPU_NAN32;
    if (fabs(value) < 0x1p-126)
        return signbit(value) ? GPU_SIGN32 : 0;
    const uint32_t bits = f32_bits((float)value);
    if (to_zero && isfinite(value) && fabs((double)f32_of_bits(bits)) > fabs(value))
        return bits - 1; /* one step toward zero, also from infinity to the largest number */
    return bits;
}

#endif
