/* FNV-1a with 64 bits (Fowler, Noll, Vo): outputs of programs are compared by this checksum. */
#ifndef ORCHARD_SIM_BASE_CHECKSUM_H
#define ORCHARD_SIM_BASE_CHECKSUM_H

#include <stddef.h>
#include <stdint.h>

#define CHECKSUM_START UINT64_C(0xcbf29ce484222325)

/* Continues an earlier hash, CHECKSUM_START for the first part. Parts added in order give the hash of the whole. */
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
