/* Reproducible start contents of buffers: "f32 seed 10", "f16c(9 bits) seed 16", "f32 seed 26, times 4", "1000*index".
 *
 * Numbers are SplitMix64 of the seed: value i (from 1) is the mix of seed + i * 0x9E3779B97F4A7C15. u32 is its upper half,
 * s8 its top byte, f32 its top 24 bits scaled to [-1, 1), f16c(b bits) its top b + 1 bits scaled to [-1, 1): exact in f16.
 */
#ifndef ORCHARD_SIM_WORKLOAD_GPU_ABI_GENERATOR_H
#define ORCHARD_SIM_WORKLOAD_GPU_ABI_GENERATOR_H

#include "sim/workload/element_type.h"

#include <stddef.h>

struct abi_generator {
    enum { ABI_GENERATE_F32, ABI_GENERATE_F16C, ABI_GENERATE_U32, ABI_GENERATE_S8, ABI_GENERATE_INDEX, ABI_GENERATE_VALUE } kind;
    uint64_t seed;
    unsigned bits; /* of f16c */
    double factor; /* multiplies every value; of VALUE it is the value */
};

/* False with *reason (a phrase) when the text is not a generator, or cannot fill elements of this type. */
bool abi_generator_parse(const char *text, enum element_type type, struct abi_generator *generator, const char **reason);
/* Writes `count` elements. */
void abi_generator_fill(const struct abi_generator *generator, enum element_type type, uint64_t count, uint8_t *to);

#endif
