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
    gather->bytes = calloc(count, sizeof gather->bytes[0]);
    gather->link = calloc(count + 1, sizeof gather->link[0]);
    for (uint32_t i = 0; gather->link && i <= count; i++) {
        gather->link[i].older = (uint16_t)(i > 0 ? i - 1 : count);
        gather->link[i].newer = (uint16_t)(i < count ? i + 1 : 0);
    }
    return gather->tag && gather->bytes && gather->link;
}

void mem_gather_release(struct mem_gather *gather)
{
    free(gather->tag);
    free(gather->bytes);
    free(gather->link);
    memset(gather, 0, sizeof *gather);
}

/* Moves an entry to the place in the order of use behind another one. */
static void move_behind(struct mem_gather *gather, uint32_t entry, uint32_t older)
{
    struct mem_gather_link *const link = gather->link;
    if (entry == older)
        return;
    link[link[entry].older].newer = link[entry].newer;
    link[link[entry].newer].older = link[entry].older;
    link[entry].older = (uint16_t)older;
    link[entry].newer = link[older].newer;
    link[link[older].newer].older = (uint16_t)entry;
    link[older].newer = (uint16_t)entry;
}

/* The entry becomes the first to be given away. */
static void remove_entry(struct mem_gather *gather, uint32_t entry)
{
    uint16_t *at = &gather->first[mem_gather_hash(gather->tag[entry] - 1)];
    while (*at != entry + 1)
        at = &gather->link[*at - 1].next;
    *at = gather->link[entry].next;
    gather->held--;
    gather->tag[entry] = 0;
    gather->bytes[entry] = (struct mem_gather_bytes){{0}};
    move_behind(gather, entry, gather->count);
}

void mem_gather_clear(struct mem_gather *gather)
{
    for (uint32_t i = 0; i < gather->count; i++)
        if (gather->tag[i])
            remove_entry(gather, i);
}

/* Gives a line the entry that was unused for longest; empty entries are the oldest. */
static uint32_t replace(struct mem_gather *gather, uint64_t line, uint64_t *displaced)
{
    const uint32_t oldest = gather->link[gather->count].newer;
    uint16_t *const first = &gather->first[mem_gather_hash(line)];
    if (gather->tag[oldest]) {
        *displaced = gather->tag[oldest] - 1;
        remove_entry(gather, oldest);
    }
    gather->held++;
    gather->link[oldest].next = *first;
    *first = (uint16_t)(oldest + 1);
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
    const uint32_t found = mem_gather_find(gather, line);
    const uint32_t i = found ? found - 1 : replace(gather, line, displaced);
    uint64_t *const mask = gather->bytes[i].mask;
    set_bytes(mask, offset, bytes);
    move_behind(gather, i, gather->link[gather->count].older);
    if ((mask[0] & mask[1]) != UINT64_MAX)
        return MEM_GATHER_PART;
    remove_entry(gather, i);
    return MEM_GATHER_FULL;
}

bool mem_gather_take(struct mem_gather *gather, uint64_t line)
{
    const uint32_t found = gather->held ? mem_gather_find(gather, line) : 0;
    if (found)
        remove_entry(gather, found - 1);
    return found > 0;
}
