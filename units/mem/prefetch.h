/* The stride and stream detector of one port. It is told of misses and of first uses of prefetched lines, and answers with the
 * lines to fetch. What fetching them costs is up to the port.
 *
 * Two things are watched. A stream follows equal steps of one instruction. Lines in a row that were asked for lately, whoever
 * asked, start a stream as well, so that instructions that take turns over an array - the rows of a matrix, several at a time -
 * are followed where each of them only makes short runs; a trusted stream serves every demand within its reach. That Apple's
 * prefetchers match maps of the lines that were asked for in a region, and chain the regions of a stream, is the subject of
 * patent US 9,015,422 (Access map-pattern match based prefetch unit for a processor, Apple, 2015); sizes and thresholds are not
 * known.
 */
#ifndef ORCHARD_UNITS_MEM_PREFETCH_H
#define ORCHARD_UNITS_MEM_PREFETCH_H

#include "units/mem/mem_timing.h"

struct mem_stream {
    uint64_t pc;       /* the instruction that started it, 0 = unknown */
    uint64_t last;     /* line of the last demand */
    uint64_t used;     /* age for replacement; 0 = empty */
    int64_t stride;    /* lines */
    int64_t far, near; /* strides from `last` that have already been requested: into L2, into L1 */
    uint32_t matches;  /* equal deltas seen in a row */
    uint32_t step;     /* strides that the last demand moved it on, at least 1 */
};

/* How many of the latest demands are remembered one by one, for each stream that can be followed. A guess: sixteen streams make
 * enough for eight short runs side by side, while a chase at random through an L1 hardly ever makes a run among so few. */
#define MEM_PREFETCH_RECENT 2

/* What most questions about sixteen streams need, side by side, so that the host compares four at once. Low bits only: a stream
 * that seems to fit is looked at. */
#define MEM_STREAM_KEYS 16
struct mem_stream_keys {
    uint64_t age[MEM_STREAM_KEYS];  /* when it was used last, and its number below: the least one is the oldest stream */
    uint32_t next[MEM_STREAM_KEYS]; /* the line that a stream expects */
    uint32_t last[MEM_STREAM_KEYS]; /* the line of its last demand */
    uint32_t pc[MEM_STREAM_KEYS];   /* of those that can be taken for another demand */
    uint32_t trusted;               /* bit: follows neighbouring lines and is trusted */
};

struct mem_prefetcher {
    struct mem_prefetch_params params;
    struct mem_stream *stream;
    struct mem_stream_keys *keys; /* of sixteen streams each */
    uint32_t *recent;             /* ring of the latest demands: the low bits of line + 1, 0 = none */
    uint32_t recent_count;
    uint16_t recent_low[256]; /* how many of them have these low bits: most questions end here */
    bool unnamed;             /* some stream may have been started by an instruction that is not known */
    uint64_t clock;
};

/* Lines to fetch: last + stride * (first .. first + count - 1), for the two targets. */
struct mem_prefetch_orders {
    uint64_t base;
    int64_t stride;
    int64_t far_first, near_first;
    uint32_t far_count, near_count;
};

bool mem_prefetch_init(struct mem_prefetcher *prefetcher, const struct mem_prefetch_params *params);
void mem_prefetch_release(struct mem_prefetcher *prefetcher);
void mem_prefetch_clear(struct mem_prefetcher *prefetcher);

/* Reports a demand for `line`. Returns false when there is nothing to fetch. Orders that the port cannot serve are returned with
 * mem_prefetch_refuse and given again at the next demand. */
bool mem_prefetch_observe(struct mem_prefetcher *prefetcher, uint64_t line, uint64_t pc, struct mem_prefetch_orders *orders,
                          uint32_t *stream);
void mem_prefetch_refuse(struct mem_prefetcher *prefetcher, uint32_t stream, uint32_t far_left);

#endif
