/* Little-endian numbers in files. Callers check that there is room. */
#ifndef ORCHARD_ISA_ANE_ANE_BYTES_H
#define ORCHARD_ISA_ANE_ANE_BYTES_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t ane_get16(const uint8_t *at)
{
    return (uint16_t)(at[0] | at[1] << 8);
}

static inline uint32_t ane_get32(const uint8_t *at)
{
    return (uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static inline uint64_t ane_get64(const uint8_t *at)
{
    return ane_get32(at) | (uint64_t)ane_get32(at + 4) << 32;
}

static inline void ane_put16(uint8_t *at, uint16_t value)
{
    at[0] = (uint8_t)value;
    at[1] = (uint8_t)(value >> 8);
}

static inline void ane_put32(uint8_t *at, uint32_t value)
{
    ane_put16(at, (uint16_t)value);
    ane_put16(at + 2, (uint16_t)(value >> 16));
}

static inline void ane_put64(uint8_t *at, uint64_t value)
{
    ane_put32(at, (uint32_t)value);
    ane_put32(at + 4, (uint32_t)(value >> 32));
}

/* Into memory that is zero: pages of zeros, as coefficients without values are, stay without memory of their own. */
static inline void ane_copy_sparse(uint8_t *to, const uint8_t *from, size_t bytes)
{
    enum { PAGE = 4096 };
    static const uint8_t zeros[PAGE];
    for (size_t at = 0; at < bytes; at += PAGE) {
        const size_t some = bytes - at < PAGE ? bytes - at : PAGE;
        if (memcmp(from + at, zeros, some) != 0)
            memcpy(to + at, from + at, some);
    }
}

/* Zeros; pages that are zero stay as they are. */
static inline void ane_clear_sparse(uint8_t *to, size_t bytes)
{
    enum { PAGE = 4096 };
    static const uint8_t zeros[PAGE];
    for (size_t at = 0; at < bytes; at += PAGE) {
        const size_t some = bytes - at < PAGE ? bytes - at : PAGE;
        if (memcmp(to + at, zeros, some) != 0)
            memset(to + at, 0, some);
    }
}

#endif
