#include "units/mem/mem_flight.h"

#include <stdlib.h>
#include <string.h>

/* Lines that may be asked for before the first of them lands: all simdgroups of a core with a few scattered loads each. */
#define FLIGHT_LINES 2048
#define HOST_LINE    64

_Static_assert(sizeof(struct mem_flight_set) == HOST_LINE, "a set is a line of the host");

bool mem_flight_init(struct mem_flight *flight, bool wanted)
{
    memset(flight, 0, sizeof *flight);
    if (!wanted)
        return true;
    flight->sets = FLIGHT_LINES / MEM_FLIGHT_WAYS;
    flight->room = calloc((size_t)flight->sets * sizeof *flight->set + HOST_LINE, 1);
    flight->queue = calloc(FLIGHT_LINES, sizeof *flight->queue);
    flight->mask = FLIGHT_LINES - 1;
    if (!flight->room || !flight->queue) {
        mem_flight_release(flight);
        return false;
    }
    flight->set = (void *)((char *)flight->room + (HOST_LINE - (uintptr_t)flight->room % HOST_LINE));
    return true;
}

void mem_flight_release(struct mem_flight *flight)
{
    free(flight->room);
    free(flight->queue);
    memset(flight, 0, sizeof *flight);
}

void mem_flight_clear(struct mem_flight *flight)
{
    if (flight->sets)
        memset(flight->set, 0, flight->sets * sizeof *flight->set);
    flight->first = flight->count = 0;
}

/* A line may have been asked for twice, if its register was needed for another one meanwhile, or part after part. */
static void land_first(struct mem_flight *flight, struct mem_cache *cache)
{
    const struct mem_flight_line *const first = &flight->queue[flight->first];
    const uint64_t line = (first->key >> MEM_FLIGHT_LINE_SHIFT) - 1;
    const unsigned quarters = mem_flight_quarters(first);
    const struct mem_entry entry = mem_cache_find(cache, line);
    struct mem_victim unused;
    if (entry.way) {
        *entry.flags &= (uint8_t)~mem_line_without_quarters(~quarters);
        mem_cache_touch(cache, &entry);
    } else {
        const uint8_t from = (uint8_t)((first->key & 3) << MEM_LINE_FROM_SHIFT);
        mem_cache_insert(cache, line, first->ready_ns, (uint8_t)(from | mem_line_without_quarters(quarters)), &unused);
    }
    flight->first = (flight->first + 1) & flight->mask;
    flight->count--;
}

void mem_flight_land_more(struct mem_flight *flight, struct mem_cache *cache, double now_ns)
{
    while (flight->count && flight->queue[flight->first].ready_ns <= now_ns)
        land_first(flight, cache);
}

/* The number of lines that arrive up to a time. */
static uint32_t arrived(const struct mem_flight *flight, double until_ns)
{
    uint32_t low = 0, high = flight->count;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (flight->queue[(flight->first + middle) & flight->mask].ready_ns <= until_ns)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

uint32_t mem_flight_between(const struct mem_flight *flight, double after_ns, double until_ns)
{
    return arrived(flight, until_ns) - arrived(flight, after_ns);
}

static void note(struct mem_flight_set *set, const struct mem_flight_line *added)
{
    unsigned oldest = 0;
    for (unsigned w = 1; w < MEM_FLIGHT_WAYS; w++)
        if (set->way[w].ready_ns < set->way[oldest].ready_ns)
            oldest = w;
    set->way[oldest] = *added;
}

void mem_flight_add(struct mem_flight *flight, struct mem_cache *cache, uint64_t line, unsigned quarters, double ready_ns,
                    unsigned level)
{
    const struct mem_flight_line added = {(line + 1) << MEM_FLIGHT_LINE_SHIFT | quarters << MEM_FLIGHT_PART_SHIFT | level,
                                          ready_ns};
    note(&flight->set[mem_flight_set(flight, line)], &added);
    if (flight->count > flight->mask)
        land_first(flight, cache);
    uint32_t at = flight->count++;
    for (; at > 0; at--) { /* most arrive after all others */
        const struct mem_flight_line *const before = &flight->queue[(flight->first + at - 1) & flight->mask];
        if (before->ready_ns <= ready_ns)
            break;
        flight->queue[(flight->first + at) & flight->mask] = *before;
    }
    flight->queue[(flight->first + at) & flight->mask] = added;
}
