/* The 8-bit float immediates: sign in bit 7, exponent in bits 4..6, fraction in bits 0..3. With exponent 0 the value is
 * fraction / 64, otherwise (16 + fraction) * 2^(exponent - 7); so they are 0, 1/64 .. 15/64, and 0.25 .. 31.
 * Source: dougallj/applegpu. */
#ifndef ORCHARD_ISA_AGX_AGX_MINIFLOAT_H
#define ORCHARD_ISA_AGX_AGX_MINIFLOAT_H

#include "isa/float_bits.h"

#include <stdbool.h>
#include <stdint.h>

static inline float agx_minifloat_value(uint8_t bits)
{
    const unsigned exponent = bits >> 4 & 7, fraction = bits & 15;
    const float size = (float)(exponent ? (16 + fraction) << (exponent - 1) : fraction) / 64.0f;
    return bits & 128 ? -size : size;
}

/* The bits of the float32 of the same value. */
static inline uint32_t agx_minifloat_bits(uint8_t bits)
{
    return f32_bits(agx_minifloat_value(bits));
}

/* Finds the minifloat of exactly this value, including the sign of zero; false when there is none. */
static inline bool agx_minifloat_find(float value, uint8_t *bits)
{
    const uint32_t word = f32_bits(value);
    for (unsigned i = 0; i < 256; i++)
        if (agx_minifloat_bits((uint8_t)i) == word) {
            *bits = (uint8_t)i;
            return true;
        }
    return false;
}

#endif
