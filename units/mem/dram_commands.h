/* Activates and the command bus of a DRAM channel: where commands find room. For dram_channel.c only; inlined there, because
 * every access comes through here. */
#ifndef ORCHARD_UNITS_MEM_DRAM_COMMANDS_H
#define ORCHARD_UNITS_MEM_DRAM_COMMANDS_H

#include "units/mem/dram_channel.h"

#include <limits.h>

/* LPDDR5: the first half of an activate comes at most so many clocks before the second (JESD209-5: tAAD). */
#define ACTIVATE_APART 8

/* Columns take every other clock of the command bus when data flow without a gap, so its even and its odd clocks are kept apart;
 * what is between the columns is left for the rest. */
static inline struct dram_slots *clocks_like(struct dram_channel *c, int64_t clock)
{
    return &c->commands[clock & 1];
}

static inline int64_t find_command(const struct dram_channel *c, int64_t from)
{
    const int64_t even = 2 * dram_slots_find(&c->commands[0], (from + 1) >> 1);
    const int64_t odd = 2 * dram_slots_find(&c->commands[1], from >> 1) + 1;
    return odd <= even + 1 ? odd : even;
}

/* The last free clock of a parity, of so many that end before `end` (counted in clocks of that parity); LLONG_MIN without one. */
static inline int64_t find_last(const struct dram_slots *clocks, int64_t end, int count)
{
    const uint64_t open = ~dram_slots_bits(clocks, end - count, count) & ((1u << count) - 1);
    return open ? end - count + 63 - __builtin_clzll(open) : LLONG_MIN;
}

/* The first half of an activate whose second half comes at `second`; LLONG_MIN when there is no room. */
static inline int64_t find_first_half(const struct dram_channel *c, int64_t second)
{
    const int64_t odd = find_last(&c->commands[1], second >> 1, ACTIVATE_APART / 2);
    if (odd != LLONG_MIN)
        return 2 * odd + 1;
    const int64_t even = find_last(&c->commands[0], (second + 1) >> 1, ACTIVATE_APART / 2);
    return even != LLONG_MIN ? 2 * even : LLONG_MIN;
}

static inline void take_command(struct dram_channel *c, int64_t command)
{
    if (c->t.command_bus)
        dram_slots_take(clocks_like(c, command), command >> 1);
}

/* Requests that come in a crowd are packed best when all slots lie on one grid. A lone one need not wait for the grid: it takes
 * all slots that it touches, if they and their neighbours are free. */
static inline bool alone(const struct dram_slots *slots, int64_t first, int count)
{
    return dram_slots_bits(slots, first - 1, count + 2) == 0;
}

/* Room for both halves of an activate on the command bus. */
static inline bool take_activate_commands(struct dram_channel *c, int64_t at)
{
    if (!c->t.command_bus)
        return true;
    const int64_t first = dram_slots_free(clocks_like(c, at), at >> 1) ? find_first_half(c, at) : LLONG_MIN;
    if (first == LLONG_MIN)
        return false;
    take_command(c, first);
    take_command(c, at);
    return true;
}

/* Divides by few bits where few are enough, which is most of the time: hosts take half as long. */
static inline int64_t quotient(int64_t clocks, int by)
{
    return (uint64_t)clocks <= UINT32_MAX ? (int64_t)((uint32_t)clocks / (uint32_t)by) : clocks / by;
}

/* Activates have slots of tRRD; with a command bus they lie on its odd clocks, between the columns. */
static inline int64_t place_activate(struct dram_channel *c, int64_t from, bool soon)
{
    const int spacing = c->t.activate_spacing, phase = c->t.command_bus ? 1 : 0;
    int64_t slot = quotient(from - phase, spacing);
    c->counts.activates++;
    if (slot * spacing + phase != from) {
        if (soon && alone(&c->activates, slot, 2) && take_activate_commands(c, from)) {
            dram_slots_take(&c->activates, slot);
            dram_slots_take(&c->activates, slot + 1);
            return from;
        }
        slot++;
    }
    for (;; slot++) {
        slot = dram_slots_find(&c->activates, slot);
        if (take_activate_commands(c, slot * spacing + phase))
            break;
    }
    dram_slots_take(&c->activates, slot);
    return slot * spacing + phase;
}

static inline int64_t place_precharge(struct dram_channel *c, int64_t from)
{
    if (!c->t.command_bus)
        return from;
    const int64_t at = find_command(c, from);
    take_command(c, at);
    return at;
}

/* With a command bus a burst takes two clocks: the columns of a run are neighbours among the clocks of their parity. */
static inline bool commands_free(const struct dram_channel *c, int64_t command, int bursts)
{
    return !c->t.command_bus || dram_slots_bits(&c->commands[command & 1], command >> 1, bursts) == 0;
}

static inline void take_columns(struct dram_channel *c, int64_t command, uint64_t bits)
{
    if (c->t.command_bus)
        dram_slots_take_run(clocks_like(c, command), command >> 1, bits);
}

/* Of 64 slots of the data bus from one on, whose column would come at `command`: those that are taken, and those whose column
 * finds its clock taken. */
static inline uint64_t taken_from(const struct dram_channel *c, int64_t slot, int64_t command)
{
    const uint64_t data = dram_slots_bits(&c->data, slot, 64);
    return c->t.command_bus ? data | dram_slots_bits(&c->commands[command & 1], command >> 1, 64) : data;
}

#endif
