/* Division and multiples, rounded up. They stand in the lowest room so that every room above may use them. */
#ifndef ORCHARD_ISA_ROUNDING_H
#define ORCHARD_ISA_ROUNDING_H

#include <stdint.h>

/* How many pieces of `size` hold `value`. */
static inline uint64_t divide_up(uint64_t value, uint64_t size)
{
    return (value + size - 1) / size;
}

/* The least multiple of `unit` that is not below `value`. */
static inline uint64_t round_up(uint64_t value, uint64_t unit)
{
    return divide_up(value, unit) * unit;
}

#endif
