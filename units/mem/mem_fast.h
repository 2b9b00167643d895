/* The cheapest way through a port, inlined: an access to one line that is in L1 and settled, in a page that the TLB knows. It
 * takes the L1 latency and changes nothing but ages and counts. Everything else goes to mem_port_access, which tries this way
 * first, so that both leave the same state. A caller that has tried it goes on to mem_port_access_beyond.
 */
#ifndef ORCHARD_UNITS_MEM_MEM_FAST_H
#define ORCHARD_UNITS_MEM_MEM_FAST_H

#include "units/mem/mem_internal.h"

/* True when the access is done: its data arrive after the L1 latency. A store needs the line dirty already (owned). */
static inline bool mem_port_l1_hit(struct mem_port *port, double now_ns, uint64_t addr, uint32_t bytes, bool store)
{
    const uint64_t line = addr >> MEM_LINE_SHIFT;
    if ((addr + bytes - 1) >> MEM_LINE_SHIFT != line || !port->has_l1)
        return false;
    const uint64_t page = addr >> MEM_PAGE_SHIFT;
    if (!mem_tlb_hint(&port->tlb, page) && !mem_tlb_first_level(&port->tlb, page))
        return false;
    struct mem_cache *l1 = &port->l1;
    const uint32_t set = mem_cache_set(l1, line);
    const struct mem_entry entry = mem_cache_find_near(l1, set, line, mem_cache_latest(l1, set));
    if (!entry.way || mem_cache_ready_ns(l1, &entry) > now_ns)
        return false;
    const uint8_t flags = *entry.flags;
    if ((flags & MEM_LINE_PREFETCHED) || (store && !(flags & MEM_LINE_DIRTY)))
        return false;
    mem_cache_touch(l1, &entry);
    port->counters.hits[MEM_L1]++;
    if (store)
        port->l1_write_bytes += bytes;
    else
        port->l1_read_bytes += bytes;
    return true;
}

/* mem_port_access for fetches, and after mem_port_l1_hit returned false for the same arguments. */
struct mem_reply mem_port_access_beyond(struct mem_port *port, double now_ns, uint64_t addr, uint32_t bytes,
                                        enum mem_access_kind kind, uint64_t pc);

#endif
