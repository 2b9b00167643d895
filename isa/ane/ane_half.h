/* The fp16 values of fields, tables and weights: bits to double, which is exact, and back, to nearest with ties to even. */
#ifndef ORCHARD_ISA_ANE_ANE_HALF_H
#define ORCHARD_ISA_ANE_ANE_HALF_H

#include "isa/float_bits.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* The exponents of double and fp16 begin at -1023 and -15; their fractions have 52 and 10 bits. */
#define ANE_HALF_DROPPED 42
#define ANE_HALF_REBIAS  ((UINT64_C(1023) - 15) << 10)

static inline double ane_half_value(uint16_t bits)
{
    const uint64_t sign = (uint64_t)(bits & 0x8000u) << 48, rest = bits & 0x7fffu;
    uint64_t wide;
    if (rest < 0x400) /* denormals step by 2^-24 */
        wide = f64_bits((double)rest * 0x1p-24);
    else
        wide = rest < 0x7c00 ? (rest + ANE_HALF_REBIAS) << ANE_HALF_DROPPED
                             : UINT64_C(0x7ff) << 52 | (rest & 1023) << ANE_HALF_DROPPED;
    return f64_of_bits(wide | sign);
}

static inline uint16_t ane_half_bits(double value)
{
    uint64_t wide = f64_bits(value);
    const uint16_t sign = (uint16_t)(wide >> 48 & 0x8000u);
    const double size = fabs(value);
    if (isnan(value))
        return (uint16_t)(sign | 0x7e00);
    if (size >= 65520) /* half a step above the largest */
        return (uint16_t)(sign | 0x7c00);
    if (size < 0x1p-14)
        return (uint16_t)(sign | (uint16_t)nearbyint(size * 0x1p24));
    wide &= INT64_MAX;
    wide += (UINT64_C(1) << (ANE_HALF_DROPPED - 1)) - 1 + (wide >> ANE_HALF_DROPPED & 1); /* ties to even */
    return (uint16_t)(sign | (uint16_t)((wide >> ANE_HALF_DROPPED) - ANE_HALF_REBIAS));
}

/* The nearest fp16 value. */
static inline double ane_half_round(double value)
{
    return ane_half_value(ane_half_bits(value));
}

#endif
