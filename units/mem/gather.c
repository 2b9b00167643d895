#include "units/mem/gather.h"

#include <stdlib.h>
#include <string.h>

bool mem_gather_init(struct mem_gather *gather, uint32_t count)
{
    memset(gather, 0, sizeof *gather);
    gather->count = count;
    gather->entry = count ? calloc(count, sizeof gather->entry[0]) : NULL;
    return count == 0 || gather->entry;
}

void mem_gather_release(struct mem_gather *gather)
{
    free(gather->entry);
    memset(gather, 0, sizeof *gather);
}

void mem_gather_clear(struct mem_gather *gather)
{
    if (gather->count)
        memset(gather->entry, 0, gather->count * sizeof gather->entry[0]);
    gather->held = 0;
}

static struct mem_gather_entry *find(struct mem_gather *gather, uint64_t line)
{
    for (uint32_t i = 0; i < gather->count; i++)
        if (gather->entry[i].tag == line + 1)
            return &gather->entry[i];
    return NULL;
}

static struct mem_gather_entry *replace(struct mem_gather *gather, uint64_t line, uint64_t *displaced)
{
    struct mem_gather_entry *oldest = gather->entry;
    for (uint32_t i = 1; i < gather->count; i++)
        if (gather->entry[i].used < oldest->used)
            oldest = &gather->entry[i];
    gather->held += oldest->tag == 0;
    *displaced = oldest->tag - 1; /* of an empty entry: UINT64_MAX */
    *oldest = (struct mem_gather_entry){.tag = line + 1};
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
    struct mem_gather_entry *entry = find(gather, line);
    if (!entry)
        entry = replace(gather, line, displaced);
    set_bytes(entry->mask, offset, bytes);
    entry->used = ++gather->clock;
    if ((entry->mask[0] & entry->mask[1]) != UINT64_MAX)
        return MEM_GATHER_PART;
    *entry = (struct mem_gather_entry){0};
    gather->held--;
    return MEM_GATHER_FULL;
}

bool mem_gather_take(struct mem_gather *gather, uint64_t line)
{
    struct mem_gather_entry *entry = gather->held ? find(gather, line) : NULL;
    if (!entry)
        return false;
    *entry = (struct mem_gather_entry){0};
    gather->held--;
    return true;
}
