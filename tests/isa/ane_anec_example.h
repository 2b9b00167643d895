/* A raw stream of descriptors behind the header of a .anec file, as eiln/anecc writes it. */
#ifndef ORCHARD_TESTS_ISA_ANE_ANEC_EXAMPLE_H
#define ORCHARD_TESTS_ISA_ANE_ANEC_EXAMPLE_H

#include "isa/ane/ane_program.h"

#include <stdlib.h>
#include <string.h>

static inline void anec_put(uint8_t *at, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        at[i] = (uint8_t)(value >> 8 * i);
}

/* A file with one source and one destination, of `size` bytes, which are at least header + raw->size. The caller frees it; NULL
 * when memory ran out. */
static inline uint8_t *anec_make(const struct ane_program *raw, size_t header, size_t size)
{
    uint8_t *bytes = calloc(1, size);
    if (!bytes)
        return NULL;
    memcpy(bytes + header, raw->bytes, raw->size);
    anec_put(bytes, raw->size, 8);
    anec_put(bytes + 8, ANE_TD_BYTES, 4);
    anec_put(bytes + 12, raw->count, 4);
    anec_put(bytes + 16, raw->text_bytes, 8);
    anec_put(bytes + 24, raw->const_bytes, 8);
    anec_put(bytes + 32, 1, 4);
    anec_put(bytes + 36, 1, 4);
    return bytes;
}

#endif
