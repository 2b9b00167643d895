/* SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014): the same numbers from the same
 * seed on every host.
 */
#ifndef ORCHARD_SIM_BASE_SPLITMIX64_H
#define ORCHARD_SIM_BASE_SPLITMIX64_H

#include <stdint.h>

#define SPLITMIX64_STEP UINT64_C(0x9E3779B97F4A7C15)

/* Number `index` of a seed, counted from 1. */
static inline uint64_t splitmix64_at(uint64_t seed, uint64_t index)
{
    uint64_t z = seed + index * SPLITMIX64_STEP;
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

static inline uint64_t splitmix64_next(uint64_t *state)
{
    const uint64_t number = splitmix64_at(*state, 1);
    *state += SPLITMIX64_STEP;
    return number;
}

#endif
