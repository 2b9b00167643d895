/* Places of port groups in cycles: for cpu_timing_board.c, whose innermost step this is. A row of the calendar counts, for a
 * cycle, the places of each group that are taken; a whole row is looked at at once.
 */
#ifndef ORCHARD_UNITS_CPU_CPU_TIMING_PORTS_H
#define ORCHARD_UNITS_CPU_CPU_TIMING_PORTS_H

#include "units/cpu/cpu_timing_internal.h"

#ifdef __SSE2__
#include <emmintrin.h>
#endif

typedef uint8_t cpu_row __attribute__((vector_size(CPU_CALENDAR_GROUPS)));
_Static_assert(sizeof(cpu_row) == 2 * sizeof(uint64_t), "a row is looked at as two halves");

static inline cpu_row cpu_row_of(const uint8_t counts[CPU_CALENDAR_GROUPS])
{
    cpu_row row;
    __builtin_memcpy(&row, counts, sizeof row);
    return row;
}

static inline bool cpu_row_any(cpu_row row)
{
#ifdef __SSE2__
    return _mm_movemask_epi8(_mm_cmpeq_epi8((__m128i)row, _mm_setzero_si128())) != 0xffff;
#else
    uint64_t half[2];
    __builtin_memcpy(half, &row, sizeof half);
    return (half[0] | half[1]) != 0;
#endif
}

/* Whether any group lacks the places that are needed of it. */
static inline bool cpu_row_lacks(cpu_row row, cpu_row capacity, cpu_row need)
{
#ifdef __SSE2__
    return cpu_row_any((cpu_row)_mm_subs_epu8((__m128i)(row + need), (__m128i)capacity));
#else
    return cpu_row_any((cpu_row)(row + need > capacity));
#endif
}

/* Whether any group of which places were needed has none left. */
static inline bool cpu_row_full(cpu_row row, cpu_row capacity, cpu_row need)
{
    return cpu_row_any((cpu_row)(row >= capacity) & need);
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

/* Takes a place of a group and of its parents, and so many parts of the L1's width, in the first cycle from `from` on that has
 * them, and returns that cycle. */
static inline uint64_t cpu_port_take(const struct cpu_timing *t, struct cpu_board *b, unsigned group, unsigned hold,
                                     unsigned l1_parts, uint64_t from)
{
    const cpu_row capacity = cpu_row_of(t->capacity), need = cpu_row_of(t->chain[group]) + cpu_row_of(t->l1_row[l1_parts]);
    const uint64_t horizon = b->now + CPU_CALENDAR - hold;
    uint64_t c = l1_parts && b->open[CPU_GROUP_L1] > from ? b->open[CPU_GROUP_L1] : from;
    for (unsigned g = group; g != CPU_GROUP_NONE; g = t->parent[g])
        c = b->open[g] > c ? b->open[g] : c;
    while (c <= horizon &&
           (cpu_row_lacks(cpu_row_of(b->calendar[c % CPU_CALENDAR]), capacity, need) || !cpu_group_holds(t, group, hold, c)))
        c++;
    if (c > horizon)
        return c;
    b->calendar_far = c + hold > b->calendar_far ? c + hold : b->calendar_far;
    for (unsigned i = 1; i < hold; i++)
        b->calendar[(c + i) % CPU_CALENDAR][group]++;
    const cpu_row taken = cpu_row_of(b->calendar[c % CPU_CALENDAR]) + need;
    __builtin_memcpy(b->calendar[c % CPU_CALENDAR], &taken, sizeof taken);
    if (!cpu_row_full(taken, capacity, need))
        return c;
    if (l1_parts)
        cpu_group_open_later(t, b, CPU_GROUP_L1, c);
    for (unsigned g = group; g != CPU_GROUP_NONE; g = t->parent[g])
        cpu_group_open_later(t, b, g, c);
    return c;
}

#endif
