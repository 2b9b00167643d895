/* FNV-1a, 64 bits (Fowler, Noll, Vo): how outputs of programs are compared. */
#ifndef ORCHARD_SIM_BASE_CHECKSUM_H
#define ORCHARD_SIM_BASE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

#define CHECKSUM_START UINT64_C(0xcbf29ce484222325)

/* Goes on from an earlier hash (CHECKSUM_START at first): parts in order give the hash of the whole. */
static inline uint64_t checksum_add(uint64_t hash, const void *bytes, size_t size)
{
    const uint8_t *at = bytes;
    for (size_t i = 0; i < size; i++)
        hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static inline uint64_t checksum_fnv1a64(const void *bytes, size_t size)
{
    return checksum_add(CHECKSUM_START, bytes, size);
}

#endif
