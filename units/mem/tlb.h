/* A port's two levels of address translation buffers, 16 KiB pages. */
#ifndef ORCHARD_UNITS_MEM_TLB_H
#define ORCHARD_UNITS_MEM_TLB_H

#include "units/mem/cache.h"

#define MEM_TLB_HINT_BITS 6
#define MEM_TLB_HINTS     (1 << MEM_TLB_HINT_BITS)

struct mem_tlb {
    struct mem_cache level[2];
    bool present[2];
    uint64_t hint[MEM_TLB_HINTS]; /* pages (+ 1) known to be in the first level: the quick check */
    double l2_ns, walk_ns;
    uint64_t misses; /* of the last level: page walks */
};

bool mem_tlb_init(struct mem_tlb *tlb, uint32_t entries_l1, uint32_t entries_l2, double l2_ns, double walk_ns);
void mem_tlb_release(struct mem_tlb *tlb);
void mem_tlb_clear(struct mem_tlb *tlb);
/* Translates a page. Returns the delay in ns, 0 when the first level knows the page. Without any level, translation is free. */
double mem_tlb_access(struct mem_tlb *tlb, uint64_t page);

/* Arrays begin at round addresses; a multiplication spreads their pages over the hints. */
static inline uint32_t mem_tlb_hint_slot(uint64_t page)
{
    return (uint32_t)(page * UINT64_C(0x9E3779B97F4A7C15) >> (64 - MEM_TLB_HINT_BITS));
}

/* True when the page is in the first level (or there is no translation); the page is then hinted as well. Changes nothing but its
 * age. */
bool mem_tlb_first_level(struct mem_tlb *tlb, uint64_t page);

/* True when the page is certainly in the first level. Hinted hits do not renew the page's age: a page that is always found
 * through the hint may be replaced and is then requested again. */
static inline bool mem_tlb_hint(const struct mem_tlb *tlb, uint64_t page)
{
    return tlb->hint[mem_tlb_hint_slot(page)] == page + 1;
}

#endif
