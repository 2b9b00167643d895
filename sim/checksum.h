/* FNV-1a, 64 bits (Fowler, Noll, Vo): how outputs of programs are compared. */
#ifndef ORCHARD_SIM_CHECKSUM_H
#define ORCHARD_SIM_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t checksum_fnv1a64(const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    return hash;
}

#endif
