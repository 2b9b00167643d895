/* fp16 values of fields, tables and weights: bits to double (exact) and back (to nearest, ties to even). */
#ifndef ORCHARD_ISA_ANE_HALF_H
#define ORCHARD_ISA_ANE_HALF_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

static inline double ane_half_value(uint16_t bits)
{
    const unsigned exponent = bits >> 10 & 31u, fraction = bits & 1023u;
    double value;
    if (exponent == 31)
        value = fraction ? (double)NAN : (double)INFINITY;
    else
        value = exponent ? ldexp(1024 + fraction, (int)exponent - 25) : ldexp(fraction, -24);
    return bits & 0x8000 ? -value : value;
}

static inline uint16_t ane_half_bits(double value)
{
    const uint16_t sign = signbit(value) ? 0x8000 : 0;
    const double size = fabs(value);
    if (isnan(value))
        return (uint16_t)(sign | 0x7e00);
    if (size >= 65520) /* half a step above the largest */
        return (uint16_t)(sign | 0x7c00);
    int exponent;
    frexp(size, &exponent); /* size = 0.1xxx * 2^exponent */
    if (exponent < -13 || size == 0)
        exponent = -13; /* denormals step by 2^-24 */
    const double steps = nearbyint(ldexp(size, 11 - exponent)); /* 1024..2048, less for denormals */
    return (uint16_t)(sign | ((uint16_t)(exponent + 13) * 1024u + (uint16_t)steps));
}

/* The nearest fp16 value. */
static inline double ane_half_round(double value)
{
    return ane_half_value(ane_half_bits(value));
}

#endif
