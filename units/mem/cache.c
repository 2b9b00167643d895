#include "units/mem/cache.h"

#include <stdlib.h>
#include <string.h>

bool mem_cache_init(struct mem_cache *cache, uint64_t lines, uint32_t ways, bool scatter)
{
    memset(cache, 0, sizeof *cache);
    if (ways == 0 || ways > 64 || lines / ways == 0 || lines > UINT32_MAX / 2)
        return false;
    cache->sets = (uint32_t)(lines / ways);
    cache->ways = ways;
    /* A single set has mask 0, which the division by one set serves as well. */
    cache->set_mask = (cache->sets & (cache->sets - 1)) == 0 ? cache->sets - 1 : 0;
    cache->scatter = scatter;
    const size_t count = (size_t)cache->sets * ways;
    cache->tag = calloc(count, sizeof cache->tag[0]);
    cache->ready_ns = calloc(count, sizeof cache->ready_ns[0]);
    cache->stamp = calloc(count, sizeof cache->stamp[0]);
    cache->flags = calloc(count, sizeof cache->flags[0]);
    cache->recent = calloc(cache->sets, sizeof cache->recent[0]);
    if (cache->tag && cache->ready_ns && cache->stamp && cache->flags && cache->recent)
        return true;
    mem_cache_release(cache);
    return false;
}

void mem_cache_release(struct mem_cache *cache)
{
    free(cache->tag);
    free(cache->ready_ns);
    free(cache->stamp);
    free(cache->flags);
    free(cache->recent);
    memset(cache, 0, sizeof *cache);
}

void mem_cache_clear(struct mem_cache *cache)
{
    const size_t count = (size_t)cache->sets * cache->ways;
    if (count == 0)
        return;
    memset(cache->tag, 0, count * sizeof cache->tag[0]);
    memset(cache->stamp, 0, count * sizeof cache->stamp[0]);
    memset(cache->flags, 0, count * sizeof cache->flags[0]);
    memset(cache->recent, 0, cache->sets * sizeof cache->recent[0]);
    cache->used = 0;
}

void mem_cache_settle(struct mem_cache *cache, double now_ns)
{
    const size_t count = (size_t)cache->sets * cache->ways;
    for (size_t i = 0; i < count; i++)
        cache->ready_ns[i] = now_ns;
}

/* The first empty place, else the least recently used line: empty places have the oldest stamp of all, 0. */
static uint32_t victim_of(const struct mem_cache *cache, uint32_t base)
{
    const uint64_t *stamp = cache->stamp + base;
    uint32_t oldest = 0;
    uint64_t least = stamp[0];
    for (uint32_t i = 1; i < cache->ways; i++) {
        oldest = stamp[i] < least ? i : oldest;
        least = stamp[i] < least ? stamp[i] : least;
    }
    return base + oldest;
}

uint32_t mem_cache_insert(struct mem_cache *cache, uint64_t line, double ready_ns, uint8_t flags,
                          struct mem_victim *victim)
{
    const uint32_t set = mem_cache_set(cache, line), index = victim_of(cache, set * cache->ways);
    victim->valid = cache->tag[index] != 0;
    cache->used += !victim->valid;
    victim->line = cache->tag[index] - 1;
    victim->flags = cache->flags[index];
    cache->tag[index] = line + 1;
    cache->ready_ns[index] = ready_ns;
    cache->flags[index] = flags;
    mem_cache_touch_in(cache, set, index);
    return index;
}

uint8_t mem_cache_remove(struct mem_cache *cache, uint64_t line, bool *present)
{
    const uint32_t index = mem_cache_find(cache, line);
    if (present)
        *present = index != MEM_CACHE_NONE;
    if (index == MEM_CACHE_NONE)
        return 0;
    const uint8_t flags = cache->flags[index];
    cache->used--;
    cache->tag[index] = 0;
    cache->stamp[index] = 0;
    cache->flags[index] = 0;
    return flags;
}
