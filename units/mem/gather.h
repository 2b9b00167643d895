/* Store gathering: stores that together write a whole line need not read it first. */
#ifndef ORCHARD_UNITS_MEM_GATHER_H
#define ORCHARD_UNITS_MEM_GATHER_H

#include <stdbool.h>
#include <stdint.h>

#define MEM_GATHER_HASHES 256

struct mem_gather_bytes {
    uint64_t mask[2]; /* written so far */
};

/* Where an entry stands in the order of use, which is a ring through one more link behind the last entry, and the next entry of
 * the same hash (+ 1, 0 = none). */
struct mem_gather_link {
    uint16_t older, newer, next;
};

struct mem_gather {
    uint32_t count, held; /* entries, and how many of them are in use */
    uint64_t *tag;        /* by entry: line + 1, 0 = empty */
    struct mem_gather_bytes *bytes;
    struct mem_gather_link *link;
    uint16_t first[MEM_GATHER_HASHES]; /* by hash of the line: an entry + 1, 0 = none */
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

/* The entry of a line + 1, 0 when it has none. */
static inline uint32_t mem_gather_find(const struct mem_gather *gather, uint64_t line)
{
    uint32_t entry = gather->first[mem_gather_hash(line)];
    while (entry && gather->tag[entry - 1] != line + 1)
        entry = gather->link[entry - 1].next;
    return entry;
}

static inline bool mem_gather_has(const struct mem_gather *gather, uint64_t line)
{
    return gather->held > 0 && mem_gather_find(gather, line) > 0;
}

/* Removes an incomplete line that something else wants. False when it is not being gathered. */
bool mem_gather_take(struct mem_gather *gather, uint64_t line);

#endif
