/* Activates and the command bus of a DRAM channel: where commands find room. For dram_channel.c only; inlined there, because
 * every access comes through here. */
#ifndef ORCHARD_UNITS_MEM_DRAM_COMMANDS_H
#define ORCHARD_UNITS_MEM_DRAM_COMMANDS_H

#include "units/mem/dram_channel.h"

#include <limits.h>

/* LPDDR5: the first half of an activate comes at most so many clocks before the second (JESD209-5: tAAD). */
#define ACTIVATE_APART 8

/* Columns take every other clock of the command bus when data flow without a gap; what is between is left for the rest. */
static inline int64_t find_command(const struct dram_channel *c, int64_t from)
{
    const int64_t first = dram_slots_find(&c->commands, from);
    if (first & 1 || !dram_slots_free(&c->commands, first + 1))
        return first;
    return first + 1;
}

/* The first half of an activate whose second half comes at `second`; LLONG_MIN when there is no room. */
static inline int64_t find_first_half(const struct dram_channel *c, int64_t second)
{
    const int64_t from = second - ACTIVATE_APART;
    const int shift = (int)(from & 63);
    uint64_t taken = dram_slots_word(&c->commands, from >> 6) >> shift;
    if (shift + ACTIVATE_APART > 64)
        taken |= dram_slots_word(&c->commands, (from >> 6) + 1) << (64 - shift);
    const uint64_t open = ~taken & ((1u << ACTIVATE_APART) - 1), odd = open & (from & 1 ? 0x55 : 0xaa), of = odd ? odd : open;
    return of ? from + 63 - __builtin_clzll(of) : LLONG_MIN;
}

/* Requests that come in a crowd are packed best when all slots lie on one grid. A lone one need not wait for the grid: it takes
 * all slots that it touches, if they and their neighbours are free. */
static inline bool alone(const struct dram_slots *slots, int64_t first, int count)
{
    for (int i = -1; i <= count; i++)
        if (!dram_slots_free(slots, first + i))
            return false;
    return true;
}

/* Room for both halves of an activate on the command bus. */
static inline bool take_activate_commands(struct dram_channel *c, int64_t at)
{
    if (!c->t.command_bus)
        return true;
    const int64_t first = dram_slots_free(&c->commands, at) ? find_first_half(c, at) : LLONG_MIN;
    if (first == LLONG_MIN)
        return false;
    dram_slots_take(&c->commands, first);
    dram_slots_take(&c->commands, at);
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
    dram_slots_take(&c->commands, at);
    return at;
}

/* Room on the command bus for the columns of a run that begins at `command`. */
static inline bool commands_free(const struct dram_channel *c, int64_t command, int bursts)
{
    for (int i = 0; c->t.command_bus && i < bursts; i++)
        if (!dram_slots_free(&c->commands, command + (int64_t)i * c->t.burst))
            return false;
    return true;
}

static inline void take_command(struct dram_channel *c, int64_t command)
{
    if (c->t.command_bus)
        dram_slots_take(&c->commands, command);
}

#endif
