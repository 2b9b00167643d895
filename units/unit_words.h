/* Words that a core sends to its coprocessor one after another, as it did before: when each leaves, and what the answer was. And
 * the clock of a core, which tells the time of a cycle.
 */
#ifndef ORCHARD_UNITS_UNIT_WORDS_H
#define ORCHARD_UNITS_UNIT_WORDS_H

#include <stdbool.h>
#include <stdint.h>

struct unit_clock {
    double base_ns, ns_per_cycle; /* time of a cycle: base_ns + (cycle - base_cycle) * ns_per_cycle */
    double cycles_per_ns;
    uint64_t base_cycle;
};

static inline double unit_ns_of(const struct unit_clock *clock, uint64_t cycle)
{
    return clock->base_ns + (double)(int64_t)(cycle - clock->base_cycle) * clock->ns_per_cycle;
}

#define UNIT_CYCLE_ROUNDING 1e-3 /* of a cycle counts as rounding */

/* The first cycle at or after a time. */
static inline uint64_t unit_cycle_of(const struct unit_clock *clock, double ns)
{
    const double cycles = (ns - clock->base_ns) / clock->ns_per_cycle - UNIT_CYCLE_ROUNDING;
    if (cycles <= 0.0)
        return clock->base_cycle;
    const int64_t whole = (int64_t)cycles;
    return clock->base_cycle + (uint64_t)whole + ((double)whole < cycles);
}

/* Whether that is this cycle, without a division; false also where rounding could decide. */
static inline bool unit_is_surely_in(const struct unit_clock *clock, double ns, uint64_t cycle)
{
    const double doubt = 1e-5,
                 early = (double)(int64_t)(cycle - clock->base_cycle) - (ns - clock->base_ns) * clock->cycles_per_ns;
    return early > doubt - UNIT_CYCLE_ROUNDING && early < 1 - UNIT_CYCLE_ROUNDING - doubt && ns - clock->base_ns < 1e8;
}

struct unit_words {
    const struct unit_clock *clock;
    uint64_t now; /* a cycle */
    const uint8_t *op;
    const uint64_t *operand;
    const uint32_t *when;   /* cycles from `now` on after which each leaves */
    const uint32_t *answer; /* cycles from then on after which the next one might leave */
    uint32_t count;
};

#endif
