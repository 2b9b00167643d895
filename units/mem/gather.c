#include "units/mem/gather.h"

#include <stdlib.h>
#include <string.h>

bool mem_gather_init(struct mem_gather *gather, uint32_t count)
{
    memset(gather, 0, sizeof *gather);
    if (count == 0)
        return true;
    gather->count = count;
    gather->tag = calloc(count, sizeof gather->tag[0]);
    gather->used = calloc(count, sizeof gather->used[0]);
    gather->bytes = calloc(count, sizeof gather->bytes[0]);
    return gather->tag && gather->used && gather->bytes;
}

void mem_gather_release(struct mem_gather *gather)
{
    free(gather->tag);
    free(gather->used);
    free(gather->bytes);
    memset(gather, 0, sizeof *gather);
}

static void remove_entry(struct mem_gather *gather, uint32_t i)
{
    gather->hashed[mem_gather_hash(gather->tag[i] - 1)]--;
    gather->held--;
    gather->tag[i] = gather->used[i] = 0;
    gather->bytes[i] = (struct mem_gather_bytes){{0}};
}

void mem_gather_clear(struct mem_gather *gather)
{
    for (uint32_t i = 0; i < gather->count; i++)
        if (gather->tag[i])
            remove_entry(gather, i);
}

/* Returns the entry of a line, or `count` when there is none. */
static uint32_t find(const struct mem_gather *gather, uint64_t line)
{
    uint32_t i = 0;
    if (gather->hashed[mem_gather_hash(line)] == 0)
        return gather->count;
    while (i < gather->count && gather->tag[i] != line + 1)
        i++;
    return i;
}

/* Gives a line the entry that was unused for longest; empty entries go first. */
static uint32_t replace(struct mem_gather *gather, uint64_t line, uint64_t *displaced)
{
    uint32_t oldest = 0;
    for (uint32_t i = 1; i < gather->count; i++)
        oldest = gather->used[i] < gather->used[oldest] ? i : oldest;
    if (gather->tag[oldest]) {
        *displaced = gather->tag[oldest] - 1;
        remove_entry(gather, oldest);
    }
    gather->held++;
    gather->hashed[mem_gather_hash(line)]++;
    gather->tag[oldest] = line + 1;
    return oldest;
}

static void set_bytes(uint64_t mask[2], uint32_t offset, uint32_t bytes)
{
    for (uint32_t half = 0; half < 2; half++) {
        const uint32_t low = 64 * half, high = low + 64;
        const uint32_t from = offset > low ? offset : low;
        const uint32_t to = offset + bytes < high ? offset + bytes : high;
        if (from < to)
            mask[half] |= (UINT64_MAX >> (64 - (to - from))) << (from - low);
    }
}

enum mem_gather_result mem_gather_store(struct mem_gather *gather, uint64_t line, uint32_t offset, uint32_t bytes,
                                        uint64_t *displaced)
{
    *displaced = UINT64_MAX;
    uint32_t i = find(gather, line);
    if (i == gather->count)
        i = replace(gather, line, displaced);
    uint64_t *mask = gather->bytes[i].mask;
    set_bytes(mask, offset, bytes);
    gather->used[i] = ++gather->clock;
    if ((mask[0] & mask[1]) != UINT64_MAX)
        return MEM_GATHER_PART;
    remove_entry(gather, i);
    return MEM_GATHER_FULL;
}

bool mem_gather_take(struct mem_gather *gather, uint64_t line)
{
    const uint32_t i = gather->held ? find(gather, line) : gather->count;
    if (i == gather->count)
        return false;
    remove_entry(gather, i);
    return true;
}
