#include "sim/workload/distinct.h"

#include "units/cpu/cpu_random.h"

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        const uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* Steps of a width that has no divisor in common with the range meet each number of it once. */
void distinct_fill(enum element_type type, uint64_t count, double low, double high, uint64_t seed, uint8_t *to)
{
    const uint64_t range = high > low + 1 ? (uint64_t)(high - low) : 1;
    uint64_t at = cpu_random(&seed) % range, step = cpu_random(&seed) % range;
    while (common_divisor(step, range) != 1)
        step = (step + 1) % range;
    for (uint64_t i = 0; i < count; i++) {
        element_write(type, low + (double)at, to + i * element_type_bytes(type));
        at = (at + step) % range;
    }
}
