/* Store gathering: stores that together write a whole line need not read it first. */
#ifndef ORCHARD_UNITS_MEM_GATHER_H
#define ORCHARD_UNITS_MEM_GATHER_H

#include <stdbool.h>
#include <stdint.h>

#define MEM_GATHER_HASHES 256

struct mem_gather_bytes {
    uint64_t mask[2]; /* written so far */
};

struct mem_gather {
    uint32_t count, held; /* entries, and how many of them are in use */
    uint64_t *tag;        /* by entry: line + 1, 0 = empty */
    uint64_t *used;       /* 0 = empty */
    struct mem_gather_bytes *bytes;
    uint64_t clock;
    uint16_t
        hashed[MEM_GATHER_HASHES]; /* counts of the lines held, by hash: a zero says without a search that a line is absent */
};

enum mem_gather_result { MEM_GATHER_PART, MEM_GATHER_FULL };

bool mem_gather_init(struct mem_gather *gather, uint32_t count);
void mem_gather_release(struct mem_gather *gather);
void mem_gather_clear(struct mem_gather *gather);
/* Adds a store of bytes [offset, offset+bytes) of a line. On FULL the entry is gone and the line complete. When another,
 * incomplete line had to give way, *displaced is its number, otherwise UINT64_MAX. */
enum mem_gather_result mem_gather_store(struct mem_gather *gather, uint64_t line, uint32_t offset, uint32_t bytes,
                                        uint64_t *displaced);
static inline uint32_t mem_gather_hash(uint64_t line)
{
    return (uint32_t)(line * UINT64_C(0x9E3779B97F4A7C15) >> 56) % MEM_GATHER_HASHES;
}

static inline bool mem_gather_has(const struct mem_gather *gather, uint64_t line)
{
    if (gather->held == 0 || gather->hashed[mem_gather_hash(line)] == 0)
        return false;
    for (uint32_t i = 0; i < gather->count; i++)
        if (gather->tag[i] == line + 1)
            return true;
    return false;
}

/* Removes an incomplete line that something else wants. False when it is not being gathered. */
bool mem_gather_take(struct mem_gather *gather, uint64_t line);

#endif
