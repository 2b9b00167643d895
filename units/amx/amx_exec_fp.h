/* Floating point as AMX does it: rounding to nearest even, denormals honoured, fused products; every NaN that arithmetic produces
 * is the default NaN. Values are raw bits. Facts: github corsix/amx (fma.md, vecfp.md and its model).
 *
 * In practice all functions take the format as a constant, and they are inlined, so that a loop over lanes is specialised for
 * each format.
 */
#ifndef ORCHARD_UNITS_AMX_AMX_EXEC_FP_H
#define ORCHARD_UNITS_AMX_AMX_EXEC_FP_H

#include "isa/float_bits.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

enum amx_fp { AMX_FP_F16, AMX_FP_BF16, AMX_FP_F32, AMX_FP_F64 };

#define AMX_FP_INLINE static inline __attribute__((always_inline))

AMX_FP_INLINE unsigned amx_fp_bytes(enum amx_fp format)
{
    return format == AMX_FP_F64 ? 8 : format == AMX_FP_F32 ? 4 : 2;
}

AMX_FP_INLINE uint64_t amx_fp_sign(enum amx_fp format)
{
    return UINT64_C(1) << (8 * amx_fp_bytes(format) - 1);
}

AMX_FP_INLINE uint64_t amx_fp_infinity(enum amx_fp format)
{
    switch (format) {
    case AMX_FP_F16: return 0x7c00;
    case AMX_FP_BF16: return 0x7f80;
    case AMX_FP_F32: return 0x7f800000;
    default: return UINT64_C(0x7ff0000000000000);
    }
}

/* Infinity with the highest fraction bit set. */
AMX_FP_INLINE uint64_t amx_fp_default_nan(enum amx_fp format)
{
    switch (format) {
    case AMX_FP_F16: return 0x7e00;
    case AMX_FP_BF16: return 0x7fc0;
    case AMX_FP_F32: return 0x7fc00000;
    default: return UINT64_C(0x7ff8000000000000);
    }
}

AMX_FP_INLINE uint64_t amx_fp_one(enum amx_fp format)
{
    switch (format) {
    case AMX_FP_F16: return 0x3c00;
    case AMX_FP_BF16: return 0x3f80;
    case AMX_FP_F32: return 0x3f800000;
    default: return UINT64_C(0x3ff0000000000000);
    }
}

AMX_FP_INLINE bool amx_fp_is_nan(enum amx_fp format, uint64_t bits)
{
    return (bits & (amx_fp_sign(format) - 1)) > amx_fp_infinity(format);
}

/* Widens f16 or bf16 to f32, exactly; a NaN becomes the default NaN. */
AMX_FP_INLINE uint32_t amx_fp_widen(enum amx_fp format, uint16_t bits)
{
    if (format == AMX_FP_BF16)
        return amx_fp_is_nan(format, bits) ? 0x7fc00000 : (uint32_t)bits << 16;
    const uint32_t sign = (uint32_t)(bits & 0x8000) << 16;
    const uint32_t rest = bits & 0x7fff;
    if (rest > 0x7c00)
        return 0x7fc00000;
    if (rest == 0x7c00)
        return sign | 0x7f800000;
    if (rest < 0x0400) /* a denormal is `rest` units of 2^-24 */
        return sign | f32_bits((float)rest * 0x1p-24f);
    return sign | ((rest << 13) + (UINT32_C(112) << 23));
}

/* Rounds a double to f16 or bf16, to nearest even, once. Adding 2^52 units of the last place that the result can hold leaves the
 * rounded count of such units in the low bits of the sum. */
AMX_FP_INLINE uint16_t amx_fp_round(enum amx_fp format, double value)
{
    const unsigned fraction_bits = format == AMX_FP_F16 ? 10 : 7;
    const int lowest = format == AMX_FP_F16 ? -14 : -126; /* exponent of the smallest normal number */
    const uint64_t bits = f64_bits(value);
    const uint64_t magnitude = bits & INT64_MAX;
    const uint16_t sign = (uint16_t)(bits >> 48 & 0x8000);
    if (magnitude > amx_fp_infinity(AMX_FP_F64))
        return (uint16_t)amx_fp_default_nan(format);
    int exponent = (int)(magnitude >> 52) - 1023;
    if (exponent < lowest)
        exponent = lowest;
    if (exponent > 127)
        return (uint16_t)(sign | amx_fp_infinity(format));
    const uint64_t anchor = (uint64_t)(exponent - (int)fraction_bits + 52 + 1023) << 52;
    const double sum = f64_of_bits(magnitude) + f64_of_bits(anchor);
    const uint64_t units = f64_bits(sum) - anchor;
    const uint64_t result = ((uint64_t)(exponent - lowest) << fraction_bits) + units;
    return (uint16_t)(sign | (result < amx_fp_infinity(format) ? result : amx_fp_infinity(format)));
}

/* a + b with the last bit of an inexact sum forced to odd, so that one more rounding to a shorter format is correct. */
AMX_FP_INLINE double amx_add_to_odd(double a, double b)
{
    const double sum = a + b;
    const double b_part = sum - a;
    const double lost = (a - (sum - b_part)) + (b - b_part);
    uint64_t bits = f64_bits(sum);
    if (lost == 0 || lost != lost || (bits & 1))
        return sum;
    bits += ((lost > 0) == (sum > 0)) ? 1 : UINT64_MAX;
    return f64_of_bits(bits);
}

AMX_FP_INLINE double amx_fp_to_double(enum amx_fp format, uint64_t bits)
{
    return (double)f32_of_bits(amx_fp_widen(format, (uint16_t)bits));
}

/* x*y + z with one rounding. */
AMX_FP_INLINE uint64_t amx_fp_fma(enum amx_fp format, uint64_t x, uint64_t y, uint64_t z)
{
    if (format == AMX_FP_F64) {
        const double r = fma(f64_of_bits(x), f64_of_bits(y), f64_of_bits(z));
        return r != r ? amx_fp_default_nan(format) : f64_bits(r);
    }
    if (format == AMX_FP_F32) {
        const float r = fmaf(f32_of_bits((uint32_t)x), f32_of_bits((uint32_t)y), f32_of_bits((uint32_t)z));
        return r != r ? amx_fp_default_nan(format) : f32_bits(r);
    }
    const double product = amx_fp_to_double(format, x) * amx_fp_to_double(format, y); /* exact */
    const double addend = amx_fp_to_double(format, z);
    /* f16: where the f64 sum is inexact, what it loses cannot decide the f16 rounding. bf16 needs the odd bit. */
    return amx_fp_round(format, format == AMX_FP_F16 ? product + addend : amx_add_to_odd(product, addend));
}

/* x <= 0; false for NaN. */
AMX_FP_INLINE bool amx_fp_not_positive(enum amx_fp format, uint64_t x)
{
    return !amx_fp_is_nan(format, x) && ((x & amx_fp_sign(format)) != 0 || x == 0);
}

/* Total order of everything except NaN, with -0 below +0. */
AMX_FP_INLINE bool amx_fp_below(enum amx_fp format, uint64_t a, uint64_t b)
{
    const uint64_t sign = amx_fp_sign(format);
    const uint64_t a_key = (a & sign) ? ~a & (2 * sign - 1) : a | sign;
    const uint64_t b_key = (b & sign) ? ~b & (2 * sign - 1) : b | sign;
    return a_key < b_key;
}

AMX_FP_INLINE uint64_t amx_fp_min(enum amx_fp format, uint64_t a, uint64_t b)
{
    if (amx_fp_is_nan(format, a) || amx_fp_is_nan(format, b))
        return amx_fp_default_nan(format);
    return amx_fp_below(format, a, b) ? a : b;
}

AMX_FP_INLINE uint64_t amx_fp_max(enum amx_fp format, uint64_t a, uint64_t b)
{
    if (amx_fp_is_nan(format, a) || amx_fp_is_nan(format, b))
        return amx_fp_default_nan(format);
    return amx_fp_below(format, a, b) ? b : a;
}

/* a > b as numbers: false with NaN, +0 equals -0. */
AMX_FP_INLINE bool amx_fp_greater(enum amx_fp format, uint64_t a, uint64_t b)
{
    const uint64_t rest = amx_fp_sign(format) - 1;
    if (amx_fp_is_nan(format, a) || amx_fp_is_nan(format, b) || ((a | b) & rest) == 0)
        return false;
    return amx_fp_below(format, b, a);
}

#endif
