/* The cheapest ways through a port, inlined: an access to one line that is in L1 and settled, in a page that the TLB knows, takes
 * the L1 latency and changes nothing but ages and counts; a load of a port without an L1 finds its line in L2. Everything else
 * goes to mem_port_access, which tries these ways first, so that all leave the same state. A caller that has tried it goes on to
 * mem_port_access_beyond.
 */
#ifndef ORCHARD_UNITS_MEM_MEM_FAST_H
#define ORCHARD_UNITS_MEM_MEM_FAST_H

#include "units/mem/mem_internal.h"

/* Whether one of the latest accesses that reached L2 did not find its line there. */
static inline bool mem_port_misses_l2(const struct mem_port *port)
{
    return port->cluster && port->cluster->missed & MEM_MISSED_LATELY;
}

/* Counts a hit that changes nothing else. */
static inline void mem_port_count_l1_hit(struct mem_port *port, uint32_t bytes, bool store)
{
    port->counters.hits[MEM_L1]++;
    if (store)
        port->l1_write_bytes += bytes;
    else
        port->l1_read_bytes += bytes;
}

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
    mem_port_count_l1_hit(port, bytes, store);
    return true;
}

/* The same, asked after it returned false, for a line whose data are on their way into L1 because of an earlier access: the copy
 * loops of kernels touch such a line several times. */
static inline bool mem_port_l1_coming(struct mem_port *port, double now_ns, uint64_t addr, uint32_t bytes, bool store,
                                      struct mem_reply *reply)
{
    const uint64_t line = addr >> MEM_LINE_SHIFT;
    if (!port->coherent_l1 || (addr + bytes - 1) >> MEM_LINE_SHIFT != line || !mem_tlb_hint(&port->tlb, addr >> MEM_PAGE_SHIFT) ||
        mem_gather_has(&port->gather, line))
        return false;
    const struct mem_entry entry = mem_cache_find(&port->l1, line);
    if (!entry.way)
        return false;
    const uint8_t flags = *entry.flags;
    if ((flags & MEM_LINE_PREFETCHED) || (store && !(flags & MEM_LINE_DIRTY)))
        return false;
    const double arrival = mem_cache_ready_ns(&port->l1, &entry), hit = now_ns + port->l1_latency_ns;
    const enum mem_level level = arrival > hit ? (enum mem_level)(flags >> MEM_LINE_FROM_SHIFT) : MEM_L1;
    mem_cache_touch(&port->l1, &entry);
    port->counters.hits[level]++;
    for (enum mem_level l = MEM_L1; l < level; l++)
        port->counters.misses[l]++;
    if (store)
        port->l1_write_bytes += bytes;
    else
        port->l1_read_bytes += bytes;
    *reply = (struct mem_reply){store ? now_ns : arrival > hit ? arrival : hit, store ? MEM_L1 : level};
    return true;
}

/* True when the line of an address is in L1 and, for stores, dirty. Changes nothing. */
static inline bool mem_port_l1_has(const struct mem_port *port, uint64_t addr, bool store)
{
    const struct mem_entry entry = port->has_l1 ? mem_cache_find(&port->l1, addr >> MEM_LINE_SHIFT) : (struct mem_entry){0};
    return entry.way && (!store || (*entry.flags & MEM_LINE_DIRTY));
}

#define MEM_LEARN_AT     4 /* the line of a page at which the others are looked for: whoever loads it runs over them */
#define MEM_EXPECT_LINES 8 /* how far ahead the host is told which sets come next */

/* The way of a line that is in L2, to a port without an L1. */
static inline struct mem_reply mem_port_l2_pass(struct mem_port *port, double now_ns)
{
    struct mem_cluster *const cluster = port->cluster;
    double t = now_ns;
    if (!port->system->stopped) {
        t = mem_link_take(&port->l2_read, mem_slots_ready(&port->misses, now_ns), MEM_LINE_BYTES);
        t = mem_link_take(&cluster->l2_link, t, MEM_LINE_BYTES) + cluster->l2_latency_ns;
        mem_slots_take(&port->misses, t);
    }
    cluster->l2_read_bytes += MEM_LINE_BYTES;
    port->counters.hits[MEM_L2]++;
    return (struct mem_reply){t, MEM_L2};
}

/* The most frequent load of a port without an L1 of its own, without detours: the TLB knows the page, no L1 has the line,
 * nobody gathers it, and L2 holds it with its data. Otherwise returns false and changes nothing but the page's age, once. */
static inline bool mem_port_l2_hit(struct mem_port *port, double now_ns, uint64_t line, struct mem_reply *reply)
{
    struct mem_cluster *cluster = port->cluster;
    const uint64_t page = line >> MEM_LINES_PER_PAGE_SHIFT;
    if (port->has_l1 || !cluster || mem_held_by_more(port->system, line, 0) || mem_gather_has(&port->gather, line) ||
        (!mem_tlb_hint(&port->tlb, page) && !mem_tlb_first_level(&port->tlb, page)))
        return false;
    struct mem_cache *l2 = &cluster->l2;
    const uint32_t set = mem_cache_set(l2, line);
    if (cluster->later && mem_later_has(cluster->later, line, now_ns)) {
        mem_later_touch_line(cluster->later, l2, set, line);
        *reply = mem_port_l2_pass(port, now_ns);
        return true;
    }
    const struct mem_entry entry = mem_cache_find_in(l2, set, line);
    /* Such loads run over arrays whose lines came into L2 one after another: they lie in the same way of the next sets. */
    mem_cache_expect_near(l2, mem_cache_set(l2, line + MEM_EXPECT_LINES), entry.number);
    if (!entry.way || mem_cache_ready_ns(l2, &entry) > now_ns || (*entry.flags & MEM_LINE_PREFETCHED))
        return false;
    if (line % MEM_PAGE_LINES == MEM_LEARN_AT)
        mem_l2_learn(cluster, page, now_ns);
    mem_l2_touch(cluster, set, &entry);
    *reply = mem_port_l2_pass(port, now_ns);
    return true;
}

/* mem_port_access for fetches, and after mem_port_l1_hit returned false for the same arguments. */
struct mem_reply mem_port_access_beyond(struct mem_port *port, double now_ns, uint64_t addr, uint32_t bytes,
                                        enum mem_access_kind kind, uint64_t pc);

#endif
