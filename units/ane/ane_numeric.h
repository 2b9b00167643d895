/* Numbers of the Neural Engine: fp16 operands to float and results back, under the rules of struct ane_numeric.
 *
 * Exponent 31 is read as one more binade: infinity counts as 65536, and NaN (whatever its sign) as +65536. That one reading gives
 * what sbryngelson/ane-guide, chapter 3, measured on M1: a NaN behaves as +infinity, inf - inf and 0 * inf are +0, and log(0) is
 * -45440 = -65536 * 0.693359375 (the fp16 ln 2 by which the program scales the table's -infinity).
 */
#ifndef ORCHARD_UNITS_ANE_ANE_NUMERIC_H
#define ORCHARD_UNITS_ANE_ANE_NUMERIC_H

#include "isa/float_bits.h"
#include "units/ane/ane_exec.h"

#include <math.h>

#define ANE_INFINITY_VALUE 65536.0f
#define ANE_HALF_INFINITY  0x7c00u

/* Reads fp16 bits as IEEE defines them. */
static inline float ane_half_to_float(uint16_t bits)
{
    const uint32_t sign = (uint32_t)(bits & 0x8000u) << 16, rest = bits & 0x7fffu;
    if (rest >= ANE_HALF_INFINITY)
        return f32_of_bits(sign | 0x7f800000u | (rest & 0x3ffu) << 13);
    if (rest >= 0x400u)
        return f32_of_bits(sign | (rest + (112u << 10)) << 13);
    return f32_of_bits(sign | f32_bits((float)rest * 0x1p-24f));
}

/* Rounds to nearest, ties to even; there is one NaN. */
static inline uint16_t ane_float_to_half(float value)
{
    const uint32_t bits = f32_bits(value), size = bits & 0x7fffffffu;
    const uint16_t sign = (uint16_t)(bits >> 16 & 0x8000u);
    if (size > 0x7f800000u)
        return 0x7e00u;
    if (size >= 0x477ff000u) /* 65520 */
        return (uint16_t)(sign | ANE_HALF_INFINITY);
    if (size < 0x38800000u) { /* below 2^-14: steps of 2^-24 */
        const float steps = f32_of_bits(size) * 0x1p24f + 0x1p23f;
        return (uint16_t)(sign | (f32_bits(steps) & 0x7fffu));
    }
    return (uint16_t)(sign | ((size - (112u << 23) + 0xfffu + (size >> 13 & 1u)) >> 13));
}

/* The value that an operand of the planar engine, of a table or of an element-wise task counts as. */
static inline float ane_operand_value(const struct ane_numeric *rules, uint16_t bits)
{
    const uint16_t size = bits & 0x7fffu;
    if (rules->nan_to_infinity && size >= ANE_HALF_INFINITY)
        return bits & 0x8000u && size == ANE_HALF_INFINITY ? -ANE_INFINITY_VALUE : ANE_INFINITY_VALUE;
    return ane_half_to_float(bits);
}

/* The value that an operand of the MAC counts as: always a finite number. */
static inline float ane_mac_value(const struct ane_numeric *rules, uint16_t bits)
{
    const uint16_t size = bits & 0x7fffu;
    if (size >= ANE_HALF_INFINITY)
        return bits & 0x8000u && size == ANE_HALF_INFINITY ? -ANE_INFINITY_VALUE : ANE_INFINITY_VALUE;
    if (rules->mac_flush_denormals && size < 0x400u)
        return 0;
    return ane_half_to_float(bits);
}

/* Rounds a result for storing. */
static inline uint16_t ane_result_bits(const struct ane_numeric *rules, float value)
{
    if (rules->nan_to_infinity && value != value)
        return 0;
    const uint16_t bits = ane_float_to_half(value);
    return bits == 0x8000u && !rules->negative_zero ? 0 : bits;
}

/* A bias of 0 changes nothing, not even the sign of a zero. */
static inline float ane_addend(float bias)
{
    return bias != 0 ? bias : -0.0f;
}

#endif
