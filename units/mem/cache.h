/* Tag arrays of one set-associative cache: which lines are present, when their data arrive, what state they are in.
 * True LRU. Also used for TLBs, whose "lines" are page numbers. No time passes here.
 */
#ifndef ORCHARD_UNITS_MEM_CACHE_H
#define ORCHARD_UNITS_MEM_CACHE_H

#include "units/mem/mem_space.h"

#include <stdbool.h>
#include <stdint.h>

#define MEM_LINE_SHIFT 7
_Static_assert(MEM_LINE_BYTES == 1 << MEM_LINE_SHIFT, "one line size everywhere");
#define MEM_LINES_PER_PAGE_SHIFT (MEM_PAGE_SHIFT - MEM_LINE_SHIFT)

#define MEM_CACHE_NONE UINT32_MAX

enum mem_line_flags {
    MEM_LINE_DIRTY = 1,
    MEM_LINE_PREFETCHED = 2, /* brought by a prefetch and not yet asked for */
    MEM_LINE_FROM_SHIFT = 4  /* bits 5..4: enum mem_level the line came from, for hits on lines in flight */
};

/* Parallel arrays, index = set * ways + way. A tag is the line number + 1, 0 = empty. */
struct mem_cache {
    uint32_t sets, ways;
    uint32_t set_mask; /* sets - 1 when that is a power of two, else 0 */
    bool scatter;      /* pages are spread over the sets by a hash (physically indexed, several interleaved parts) */
    uint64_t *tag;
    double *ready_ns;
    uint64_t *stamp;   /* last use, for LRU */
    uint8_t *flags;
    uint8_t *recent;   /* per set: the way used last */
    uint64_t clock;
    uint32_t used;     /* lines present */
};

/* False when memory is out or there is not a single full set. */
bool mem_cache_init(struct mem_cache *cache, uint64_t lines, uint32_t ways, bool scatter);
void mem_cache_release(struct mem_cache *cache);
void mem_cache_clear(struct mem_cache *cache);
/* All data are there by now_ns. */
void mem_cache_settle(struct mem_cache *cache, double now_ns);

/* A well-mixed number out of a page number: where the page goes. */
static inline uint64_t mem_page_hash(uint64_t page)
{
    uint64_t h = page * UINT64_C(0x9E3779B97F4A7C15);
    h ^= h >> 32;
    h *= UINT64_C(0xD6E8FEB86659FD93);
    return h ^ h >> 29;
}

static inline uint32_t mem_cache_set(const struct mem_cache *cache, uint64_t line)
{
    if (cache->scatter)
        line += mem_page_hash(line >> MEM_LINES_PER_PAGE_SHIFT);
    return (uint32_t)(cache->set_mask ? line & cache->set_mask : line % cache->sets);
}

/* Index of a line in its set, MEM_CACHE_NONE when absent. Does not touch. */
static inline uint32_t mem_cache_find_in(const struct mem_cache *cache, uint32_t set, uint64_t line)
{
    const uint32_t base = set * cache->ways;
    const uint32_t recent = base + cache->recent[set];
    if (cache->tag[recent] == line + 1)
        return recent;
    /* Without a way out of the loop the host has nothing to guess wrong. */
    uint32_t found = MEM_CACHE_NONE;
    for (uint32_t i = base; i < base + cache->ways; i++)
        found = cache->tag[i] == line + 1 ? i : found;
    return found;
}

static inline uint32_t mem_cache_find(const struct mem_cache *cache, uint64_t line)
{
    return mem_cache_find_in(cache, mem_cache_set(cache, line), line);
}

/* Makes a line the most recently used of its set. */
static inline void mem_cache_touch_in(struct mem_cache *cache, uint32_t set, uint32_t index)
{
    cache->recent[set] = (uint8_t)(index - set * cache->ways);
    cache->stamp[index] = ++cache->clock;
}

static inline void mem_cache_touch(struct mem_cache *cache, uint32_t index)
{
    mem_cache_touch_in(cache, index / cache->ways, index);
}

/* The same, cheaper: the most recent line of a set is the most recent already. */
static inline void mem_cache_touch_if_older(struct mem_cache *cache, uint32_t set, uint32_t index)
{
    const uint32_t way = index - set * cache->ways;
    if (cache->recent[set] == way)
        return;
    cache->recent[set] = (uint8_t)way;
    cache->stamp[index] = ++cache->clock;
}

struct mem_victim {
    bool valid;
    uint8_t flags;
    uint64_t line;
};

/* Puts an absent line in the place of an empty or the least recently used one, which is handed back. */
uint32_t mem_cache_insert(struct mem_cache *cache, uint64_t line, double ready_ns, uint8_t flags,
                          struct mem_victim *victim);
/* Takes a line out; its flags, 0 when it was not there. *present may be NULL. */
uint8_t mem_cache_remove(struct mem_cache *cache, uint64_t line, bool *present);

#endif
