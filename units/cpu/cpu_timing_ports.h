/* Places of port groups in cycles: for cpu_timing_board.c, whose innermost step this is. A row of the calendar counts, for a
 * cycle, the places of each group that are taken; a whole row is looked at at once.
 */
#ifndef ORCHARD_UNITS_CPU_CPU_TIMING_PORTS_H
#define ORCHARD_UNITS_CPU_CPU_TIMING_PORTS_H

#include "units/cpu/cpu_timing_internal.h"

typedef uint8_t cpu_row __attribute__((vector_size(CPU_CALENDAR_GROUPS)));
_Static_assert(sizeof(cpu_row) == 2 * sizeof(uint64_t), "a row is looked at as two halves");

static inline cpu_row cpu_row_of(const uint8_t counts[CPU_CALENDAR_GROUPS])
{
    cpu_row row;
    __builtin_memcpy(&row, counts, sizeof row);
    return row;
}

/* Whether any of the groups has no place left. groups: 1 for each of them. */
static inline bool cpu_row_full(cpu_row row, cpu_row capacity, cpu_row groups)
{
    const cpu_row full = (cpu_row)(row >= capacity) & groups;
    uint64_t half[2];
    __builtin_memcpy(half, &full, sizeof half);
    return (half[0] | half[1]) != 0;
}

static inline bool cpu_group_full(const struct cpu_timing *t, unsigned group, uint64_t cycle)
{
    return t->board.calendar[cycle % CPU_CALENDAR][group] >= t->capacity[group];
}

/* Whether a place of a group stays free for the further cycles that it is held. */
static inline bool cpu_group_holds(const struct cpu_timing *t, unsigned group, unsigned hold, uint64_t cycle)
{
    for (unsigned i = 1; i < hold; i++)
        if (cpu_group_full(t, group, cycle + i))
            return false;
    return true;
}

/* Where a cycle that has just been filled was the first one that had a place, the search for a free one may begin later. */
static inline void cpu_group_open_later(const struct cpu_timing *t, struct cpu_board *b, unsigned group, uint64_t cycle)
{
    if (!cpu_group_full(t, group, cycle) || (cycle > b->open[group] && cycle > b->now))
        return;
    uint64_t at = cycle + 1;
    while (at < b->calendar_far && cpu_group_full(t, group, at))
        at++;
    b->open[group] = at;
}

/* Takes a place of a group and of its parents in the first cycle from `from` on that has one, and returns that cycle. */
static inline uint64_t cpu_port_take(const struct cpu_timing *t, struct cpu_board *b, unsigned group, unsigned hold,
                                     uint64_t from)
{
    const cpu_row capacity = cpu_row_of(t->capacity), chain = cpu_row_of(t->chain[group]);
    const uint64_t horizon = b->now + CPU_CALENDAR - hold;
    uint64_t c = from;
    for (unsigned g = group; g != CPU_GROUP_NONE; g = t->parent[g])
        c = b->open[g] > c ? b->open[g] : c;
    while (c <= horizon &&
           (cpu_row_full(cpu_row_of(b->calendar[c % CPU_CALENDAR]), capacity, chain) || !cpu_group_holds(t, group, hold, c)))
        c++;
    if (c > horizon)
        return c;
    b->calendar_far = c + hold > b->calendar_far ? c + hold : b->calendar_far;
    for (unsigned i = 1; i < hold; i++)
        b->calendar[(c + i) % CPU_CALENDAR][group]++;
    const cpu_row taken = cpu_row_of(b->calendar[c % CPU_CALENDAR]) + chain;
    __builtin_memcpy(b->calendar[c % CPU_CALENDAR], &taken, sizeof taken);
    if (!cpu_row_full(taken, capacity, chain))
        return c;
    for (unsigned g = group; g != CPU_GROUP_NONE; g = t->parent[g])
        cpu_group_open_later(t, b, g, c);
    return c;
}

#endif
