/* Initial states of AMX golden vectors: random numbers (splitmix64) mapped to one of the kinds R, F16, ... GU32 that
 * the vector files name, and the hash they compare by. Format: tests/golden/amx/README.md.
 */
#ifndef ORCHARD_SIM_PROVE_CHECK_AMX_VECTOR_STATE_H
#define ORCHARD_SIM_PROVE_CHECK_AMX_VECTOR_STATE_H

#include "units/amx/amx_core.h"

enum { AMX_VECTOR_MEMORY_BYTES = 1024 };

struct amx_vector_state {
    struct amx_state registers;
    uint8_t memory[AMX_VECTOR_MEMORY_BYTES];
};

struct amx_vector_hashes {
    uint64_t x, y, z, memory;
};

/* False when there is no such kind of state. */
bool amx_vector_fill(const char *kind, uint64_t seed, struct amx_vector_state *state);
void amx_vector_hash(const struct amx_vector_state *state, struct amx_vector_hashes *hashes);

#endif
