/* The stride and stream detector of one port. It is told of misses and of first uses of prefetched lines, and answers with the
 * lines to fetch. What fetching them costs is up to the port.
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
};

struct mem_prefetcher {
    struct mem_prefetch_params params;
    struct mem_stream *stream;
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
