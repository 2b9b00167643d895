/* Accesses that are not simulated one by one leave the caches as if they had been: the same lines come and go, in no time. */
#include "units/mem/mem_internal.h"

static enum mem_level farther(enum mem_level a, enum mem_level b)
{
    return a > b ? a : b;
}

/* Reads or writes a line at the memory side. Returns where it was. These functions return the farthest level that was new to some
 * line. */
static enum mem_level warm_side(struct mem_system *system, uint32_t from_die, double now_ns, uint64_t line, uint8_t flags)
{
    struct mem_die *die = &system->die[mem_fabric_home(&system->fabric, line, from_die)];
    struct mem_victim victim;
    if (!die->has_slc)
        return MEM_DRAM;
    const uint32_t set = mem_cache_set(&die->slc, line);
    const struct mem_entry entry = mem_cache_find_in(&die->slc, set, line);
    if (!entry.way) {
        mem_cache_insert_in(&die->slc, set, line, now_ns, flags, &victim);
        return MEM_DRAM;
    }
    mem_cache_touch(&die->slc, &entry);
    *entry.flags |= flags;
    return MEM_SLC;
}

/* Room for so many halves, in a cache whose ways hold halves. */
static enum mem_level warm_room(struct mem_cluster *cluster, double now_ns, uint32_t set, unsigned halves, enum mem_level level)
{
    struct mem_victim victim;
    while (mem_l2_make_room(cluster, set, halves, &victim))
        if (victim.flags & MEM_LINE_DIRTY)
            level = farther(level, warm_side(cluster->system, cluster->params.die, now_ns, victim.line, MEM_LINE_DIRTY));
    return level;
}

/* The same in L2, which has these halves afterwards, and reads what it lacks of them unless they are written. */
static enum mem_level warm_l2(struct mem_port *port, double now_ns, uint64_t line, unsigned halves, uint8_t flags, bool written)
{
    struct mem_cluster *cluster = port->cluster;
    const uint32_t die = cluster->params.die;
    const uint32_t set = mem_cache_set(&cluster->l2, line);
    const struct mem_entry entry = mem_cache_find_in(&cluster->l2, set, line);
    struct mem_victim victim;
    enum mem_level level = MEM_SLC;
    if (entry.way) {
        mem_l2_touch(cluster, set, &entry);
        const bool lacks = mem_line_lacks(*entry.flags, halves);
        const uint8_t has = (uint8_t)((*entry.flags & ~(halves << MEM_LINE_HALF_SHIFT)) | flags);
        level = lacks && !written ? warm_side(cluster->system, die, now_ns, line, 0) : MEM_L2;
        level = warm_room(cluster, now_ns, set, mem_line_grows(*entry.flags, has), level);
        *entry.flags = has;
        return level;
    }
    if (!written)
        level = warm_side(cluster->system, die, now_ns, line, 0);
    level = warm_room(cluster, now_ns, set, mem_line_takes((uint8_t)(flags | mem_line_without(halves))), level);
    mem_l2_insert(cluster, set, line, now_ns, (uint8_t)(flags | mem_line_without(halves)), &victim);
    if (victim.valid && (victim.flags & MEM_LINE_DIRTY))
        level = farther(level, warm_side(cluster->system, die, now_ns, victim.line, MEM_LINE_DIRTY));
    return level;
}

/* With `quick`, the page's translation is at hand, and an L1 hit ends the access. Otherwise stores under way go first. */
static enum mem_level warm_load(struct mem_port *port, double now_ns, uint64_t line, unsigned quarters, bool keep, bool quick)
{
    struct mem_victim unused;
    enum mem_level level = MEM_L1;
    const struct mem_entry entry = keep && port->has_l1 ? mem_cache_find(&port->l1, line) : (struct mem_entry){0};
    const unsigned lacks = entry.way ? mem_line_lacks_quarters(*entry.flags, quarters) : quarters;
    if ((lacks || !quick) && port->gather.held && mem_gather_take(&port->gather, line))
        level = warm_l2(port, now_ns, line, 0, MEM_LINE_DIRTY, true);
    if (entry.way)
        mem_cache_touch(&port->l1, &entry);
    if (!lacks)
        return level;
    level = farther(level, warm_l2(port, now_ns, line, mem_halves_of(quarters), 0, false));
    if (entry.way)
        *entry.flags &= (uint8_t)~mem_line_without_quarters(~lacks);
    else if (keep && port->has_l1)
        mem_cache_insert(&port->l1, line, now_ns, mem_line_without_quarters(quarters), &unused);
    return level;
}

/* The L1 gathers parts of lines without looking at what L2 holds. */
static enum mem_level warm_store(struct mem_port *port, double now_ns, uint64_t line, uint32_t offset, uint32_t bytes)
{
    const bool whole = bytes == MEM_LINE_BYTES, gathers = port->gather.count > 0 && port->params.gather_plain;
    uint64_t displaced = UINT64_MAX;
    enum mem_level level = MEM_L1;
    if (whole)
        mem_gather_take(&port->gather, line);
    if (whole || !gathers)
        level = warm_l2(port, now_ns, line, MEM_LINE_WHOLE, MEM_LINE_DIRTY, whole);
    else if (mem_gather_store(&port->gather, line, offset, bytes, &displaced) == MEM_GATHER_FULL)
        level = warm_l2(port, now_ns, line, MEM_LINE_WHOLE, MEM_LINE_DIRTY, true);
    return displaced == UINT64_MAX ? level : farther(level, warm_l2(port, now_ns, displaced, 0, MEM_LINE_DIRTY, true));
}

/* Tells whether the page's translation is at hand, and brings it there otherwise. */
static bool warm_tlb(struct mem_port *port, uint64_t page)
{
    const bool quick = mem_tlb_hint(&port->tlb, page) || mem_tlb_first_level(&port->tlb, page);
    if (!quick)
        mem_tlb_access(&port->tlb, page);
    return quick;
}

/* Works on the access line by line. With `core`, the TLB and the L1 take part. */
static inline enum mem_level warm(struct mem_port *port, double now_ns, uint64_t addr, uint32_t bytes, enum mem_access_kind kind,
                                  bool core)
{
    const uint64_t end = addr + bytes, misses = port->tlb.misses;
    const bool loads = kind == MEM_ACCESS_LOAD || kind == MEM_ACCESS_FETCH;
    enum mem_level level = MEM_L1;
    if (!port->cluster || !port->params.write_through)
        return level;
    for (uint64_t at = addr; at < end;) {
        const uint32_t offset = (uint32_t)(at % MEM_LINE_BYTES), room = MEM_LINE_BYTES - offset;
        const uint32_t take = end - at < room ? (uint32_t)(end - at) : room;
        const uint64_t line = at >> MEM_LINE_SHIFT;
        const bool quick = core && warm_tlb(port, line >> MEM_LINES_PER_PAGE_SHIFT);
        const enum mem_level its =
            loads ? warm_load(port, now_ns, line, mem_port_quarters(port, offset, take), core && kind == MEM_ACCESS_LOAD, quick)
                  : warm_store(port, now_ns, line, offset, take);
        level = farther(level, its);
        at += take;
    }
    port->tlb.misses = misses;
    return level;
}

enum mem_level mem_port_warm(struct mem_port *port, double now_ns, uint64_t addr, uint32_t bytes, enum mem_access_kind kind)
{
    return warm(port, now_ns, addr, bytes, kind, true);
}

enum mem_level mem_port_warm_shared(struct mem_port *port, double now_ns, uint64_t addr, uint32_t bytes,
                                    enum mem_access_kind kind)
{
    return warm(port, now_ns, addr, bytes, kind, false);
}

/* The same as warm_side at the price of one host cache line: that one way alone has the line's key is proof enough that the line
 * is there (one in 4,000 that are not would pass for such). */
static enum mem_level warm_side_quickly(struct mem_system *system, uint32_t from_die, double now_ns, uint64_t line, uint8_t flags)
{
    struct mem_die *die = &system->die[mem_fabric_home(&system->fabric, line, from_die)];
    struct mem_victim victim;
    if (!die->has_slc)
        return MEM_DRAM;
    const uint32_t set = mem_cache_set(&die->slc, line);
    const struct mem_entry entry = mem_cache_find_sure(&die->slc, set, line);
    if (!entry.way) {
        mem_cache_insert_in(&die->slc, set, line, now_ns, flags, &victim);
        return MEM_DRAM;
    }
    mem_cache_touch(&die->slc, &entry);
    *entry.flags |= flags;
    return MEM_SLC;
}

enum mem_level mem_port_warm_side(struct mem_port *port, double now_ns, uint64_t addr, uint32_t bytes, enum mem_access_kind kind)
{
    const uint64_t last = (addr + bytes - 1) >> MEM_LINE_SHIFT;
    enum mem_level level = MEM_L1;
    if (!port->cluster || !port->params.write_through)
        return level;
    for (uint64_t line = addr >> MEM_LINE_SHIFT; line <= last; line++)
        level = farther(level, warm_side_quickly(port->cluster->system, port->cluster->params.die, now_ns, line,
                                                 kind == MEM_ACCESS_STORE ? MEM_LINE_DIRTY : 0));
    return level;
}
