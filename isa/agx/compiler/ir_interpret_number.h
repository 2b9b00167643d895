/* Floats of 16, 32 and 64 bits as doubles, and results rounded once. */
#ifndef ORCHARD_ISA_AGX_COMPILER_IR_INTERPRET_NUMBER_H
#define ORCHARD_ISA_AGX_COMPILER_IR_INTERPRET_NUMBER_H

#include "isa/float_bits.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

static inline double number_of_half(uint64_t bits)
{
    const uint64_t sign = (bits & 0x8000) << 48, exponent = bits >> 10 & 31, fraction = bits & 0x3ff;
    if (exponent == 31)
        return f64_of_bits(sign | UINT64_C(0x7ff) << 52 | fraction << 42);
    if (!exponent) {
        const double size = (double)fraction * 0x1p-24;
        return sign ? -size : size;
    }
    return f64_of_bits(sign | (exponent + 1008) << 52 | fraction << 42);
}

/* Rounds to nearest, ties to even. */
static inline uint64_t half_of_number(double value)
{
    const uint64_t bits = f64_bits(value), size = bits & (UINT64_MAX >> 1), sign = bits >> 63 << 15;
    if (size > UINT64_C(0x7ff) << 52)
        return 0x7e00;
    if (size >= UINT64_C(0x40effe0000000000)) /* 65520, half way to 2^16 */
        return sign | 0x7c00;
    if (size < UINT64_C(0x3f10000000000000)) { /* 2^-14: steps of 2^-24; the sum rounds at its last place */
        const double stepped = fabs(value) + 0x1p28;
        return sign | (f64_bits(stepped) & 0x7ff);
    }
    const uint64_t rest = size & ((UINT64_C(1) << 42) - 1), middle = UINT64_C(1) << 41;
    uint64_t kept = size >> 42;
    if (rest > middle || (rest == middle && (kept & 1)))
        kept++;
    return sign | (kept - (UINT64_C(1008) << 10));
}

static inline double number_of(uint64_t bits, unsigned width)
{
    return width == 32 ? (double)f32_of_bits((uint32_t)bits) : width == 64 ? f64_of_bits(bits) : number_of_half(bits);
}

/* Every NaN becomes the one with the least payload, as AGX does. */
static inline uint64_t number_bits(double value, unsigned width)
{
    if (isnan(value))
        return width == 32 ? 0x7fc00000 : width == 64 ? UINT64_C(0x7ff8000000000000) : 0x7e00;
    return width == 32 ? f32_bits((float)value) : width == 64 ? f64_bits(value) : half_of_number(value);
}

/* The sum rounded to odd: its last bit says that the exact one is not a double, so that rounding it again to 50 bits or fewer
 * rounds once (S. Boldo and G. Melquiond, Emulation of FMA and correctly rounded sums, 2008). */
static inline double sum_to_odd(double a, double b)
{
    const double sum = a + b;
    if (!isfinite(sum))
        return sum;
    const double part = sum - a, error = (a - (sum - part)) + (b - part);
    const uint64_t bits = f64_bits(sum);
    if (error == 0 || (bits & 1))
        return sum;
    return f64_of_bits((error > 0) == (sum > 0) ? bits + 1 : bits - 1);
}

/* a * b + c rounded once. For halves double is enough: their product of 22 bits is exact in it, and their sum is unless its first
 * and last bits are 53 places or more apart. Then either the product is at least 2^28, so that the result is infinite, or c is
 * more than 2^31 times the product, which changes no half of that size. */
static inline uint64_t fma_bits(uint64_t a, uint64_t b, uint64_t c, unsigned width)
{
    if (width == 32)
        return number_bits((double)fmaf(f32_of_bits((uint32_t)a), f32_of_bits((uint32_t)b), f32_of_bits((uint32_t)c)), 32);
    if (width == 64)
        return number_bits(fma(f64_of_bits(a), f64_of_bits(b), f64_of_bits(c)), 64);
    return half_of_number(number_of_half(a) * number_of_half(b) + number_of_half(c));
}

#endif
