/* Lines on their way to a cache: miss registers hold them until their data arrive, and only then they take a place in the cache.
 *
 * An access to such a line does not go out again: it joins the register's list and takes its bytes when they pass. This is what
 * makes a cache non-blocking (Kroft, "Lockup-free instruction fetch/prefetch cache organization", ISCA 1981). Without the
 * registers a cache of 64 lines in front of 192 misses would give a line's place away before its data are there.
 */
#ifndef ORCHARD_UNITS_MEM_MEM_FLIGHT_H
#define ORCHARD_UNITS_MEM_MEM_FLIGHT_H

#include "units/mem/cache.h"

#include <stdbool.h>
#include <stdint.h>

#define MEM_FLIGHT_WAYS       4
#define MEM_FLIGHT_LINE_SHIFT 6
#define MEM_FLIGHT_PART_SHIFT 2

/* A line's register; what it says is not cleared when the line has landed. */
struct mem_flight_line {
    uint64_t key; /* line + 1; below it the quarters that come, and where their data come from (enum mem_level); 0 = none */
    double ready_ns;
};

struct mem_flight_set {
    struct mem_flight_line way[MEM_FLIGHT_WAYS];
};

struct mem_flight {
    uint32_t sets; /* a power of two; 0 = there are no registers, lines take their places at once */
    struct mem_flight_set *set;
    void *room;
    /* Those that have not landed, in the order of their arrival, in a ring. */
    struct mem_flight_line *queue;
    uint32_t first, count, mask;
};

bool mem_flight_init(struct mem_flight *flight, bool wanted);
void mem_flight_release(struct mem_flight *flight);
/* Nothing is on its way. */
void mem_flight_clear(struct mem_flight *flight);
/* When the full ring makes room for it, the first line lands early. */
void mem_flight_add(struct mem_flight *flight, struct mem_cache *cache, uint64_t line, unsigned quarters, double ready_ns,
                    unsigned level);
/* Gives those lines places in the cache whose data have arrived. */
void mem_flight_land_more(struct mem_flight *flight, struct mem_cache *cache, double now_ns);

/* How many of the lines that are on their way arrive after one time and up to another. */
uint32_t mem_flight_between(const struct mem_flight *flight, double after_ns, double until_ns);

static inline void mem_flight_land(struct mem_flight *flight, struct mem_cache *cache, double now_ns)
{
    if (flight->count && flight->queue[flight->first].ready_ns <= now_ns)
        mem_flight_land_more(flight, cache, now_ns);
}

static inline uint32_t mem_flight_set(const struct mem_flight *flight, uint64_t line)
{
    return (uint32_t)(line ^ line >> 12) & (flight->sets - 1);
}

static inline unsigned mem_flight_quarters(const struct mem_flight_line *coming)
{
    return coming->key >> MEM_FLIGHT_PART_SHIFT & MEM_LINE_QUARTERS;
}

/* The line's register if these quarters of it arrive after now_ns, otherwise NULL. */
static inline const struct mem_flight_line *mem_flight_find(const struct mem_flight *flight, uint64_t line, unsigned quarters,
                                                            double now_ns)
{
    if (flight->count == 0)
        return NULL;
    const struct mem_flight_line *const way = flight->set[mem_flight_set(flight, line)].way;
    for (unsigned w = 0; w < MEM_FLIGHT_WAYS; w++)
        if (way[w].key >> MEM_FLIGHT_LINE_SHIFT == line + 1 && way[w].ready_ns > now_ns &&
            !(quarters & ~mem_flight_quarters(&way[w])))
            return &way[w];
    return NULL;
}

#endif
