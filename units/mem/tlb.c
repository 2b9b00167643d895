#include "units/mem/tlb.h"

#include <string.h>

/* The associativity of Apple's TLBs is not published. Sixteen ways keep conflicts rare, as in large out-of-order cores. This is a
 * guess that matters only to programs that walk pages in power-of-two strides. */
#define TLB_WAYS 16

static bool init_level(struct mem_tlb *tlb, int level, uint32_t entries)
{
    tlb->present[level] = entries > 0;
    const uint32_t ways = entries < TLB_WAYS ? entries : TLB_WAYS;
    return entries == 0 || mem_cache_init(&tlb->level[level], entries, ways, false);
}

bool mem_tlb_init(struct mem_tlb *tlb, uint32_t entries_l1, uint32_t entries_l2, double l2_ns, double walk_ns)
{
    memset(tlb, 0, sizeof *tlb);
    tlb->l2_ns = l2_ns;
    tlb->walk_ns = walk_ns;
    if (init_level(tlb, 0, entries_l1) && init_level(tlb, 1, entries_l2))
        return true;
    mem_tlb_release(tlb);
    return false;
}

void mem_tlb_release(struct mem_tlb *tlb)
{
    mem_cache_release(&tlb->level[0]);
    mem_cache_release(&tlb->level[1]);
}

void mem_tlb_clear(struct mem_tlb *tlb)
{
    mem_cache_clear(&tlb->level[0]);
    mem_cache_clear(&tlb->level[1]);
    memset(tlb->hint, 0, sizeof tlb->hint);
}

/* Looks a page up in one level and makes it present there. Returns true when it already was. */
static bool look_up(struct mem_tlb *tlb, int level, uint64_t page)
{
    struct mem_cache *cache = &tlb->level[level];
    const struct mem_entry entry = mem_cache_find(cache, page);
    if (entry.way) {
        mem_cache_touch(cache, &entry);
        return true;
    }
    struct mem_victim victim;
    mem_cache_insert(cache, page, 0.0, 0, &victim);
    if (level == 0 && victim.valid && mem_tlb_hint(tlb, victim.line))
        tlb->hint[mem_tlb_hint_slot(victim.line)] = 0;
    return false;
}

bool mem_tlb_first_level(struct mem_tlb *tlb, uint64_t page)
{
    if (!tlb->present[0])
        return !tlb->present[1];
    const struct mem_entry entry = mem_cache_find(&tlb->level[0], page);
    if (!entry.way)
        return false;
    mem_cache_touch(&tlb->level[0], &entry);
    tlb->hint[mem_tlb_hint_slot(page)] = page + 1;
    return true;
}

double mem_tlb_access(struct mem_tlb *tlb, uint64_t page)
{
    bool hit = mem_tlb_hint(tlb, page);
    double delay = 0.0;
    if (!hit && tlb->present[0]) {
        hit = look_up(tlb, 0, page);
        delay = hit ? 0.0 : tlb->l2_ns;
        tlb->hint[mem_tlb_hint_slot(page)] = page + 1;
    }
    if (hit)
        return 0.0;
    if (tlb->present[1])
        hit = look_up(tlb, 1, page);
    else
        hit = !tlb->present[0];
    if (hit)
        return delay;
    tlb->misses++;
    return delay + tlb->walk_ns;
}
