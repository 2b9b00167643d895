/* The L2 of a CPU cluster. */
#include "units/mem/mem_internal.h"

bool mem_cluster_init(struct mem_cluster *cluster, struct mem_system *system, const struct mem_cluster_params *params)
{
    cluster->system = system;
    cluster->params = *params;
    if (params->die >= system->params.dies || params->clock_ghz <= 0.0)
        return false;
    mem_link_init(&cluster->l2_link, 0.0);
    mem_link_init(&cluster->store_path, 0.0);
    mem_fabric_port_init(&cluster->fabric, params->fabric_gbps, params->fabric_both_gbps, params->die,
                         (uint32_t)(cluster - system->cluster));
    cluster->fabric.cpu = params->cpu;
    mem_cluster_set_clock(cluster, params->clock_ghz);
    const uint64_t lines = (uint64_t)params->l2.kib * 1024 / MEM_LINE_BYTES;
    bool (*const init)(struct mem_cache *, uint64_t, uint32_t, bool) =
        params->l2_line_bytes == MEM_HALF_BYTES ? mem_cache_init_in_halves : mem_cache_init;
    if (!mem_slots_init(&cluster->misses, params->l2_outstanding) ||
        !init(&cluster->l2, lines, params->l2.ways, params->l2_scatter))
        return false;
    cluster->l2.clean_unnamed = true;
    return true;
}

void mem_cluster_release(struct mem_cluster *cluster)
{
    mem_slots_release(&cluster->misses);
    mem_cache_release(&cluster->l2);
    mem_later_free(cluster->later);
    cluster->later = NULL;
}

void mem_cluster_set_clock(struct mem_cluster *cluster, double clock_ghz)
{
    cluster->params.clock_ghz = clock_ghz;
    cluster->l2_latency_ns = cluster->params.l2.latency_cycles / clock_ghz;
    mem_link_set_rate(&cluster->l2_link, cluster->params.l2.bytes_per_cycle * clock_ghz);
    mem_link_set_rate(&cluster->store_path, cluster->params.store_bytes_per_cycle * clock_ghz);
}

void mem_cluster_set_busy(struct mem_cluster *cluster, uint32_t cores)
{
    cluster->stores_share = cores > 1 && cluster->params.store_bytes_per_cycle > 0.0;
}

/* Sends a dirty line to the memory side as soon as a buffer is free. Returns when the line has left the L2. */
static double write_back(struct mem_cluster *cluster, double now_ns, uint64_t line)
{
    const double start = mem_place(cluster->system, &cluster->misses, now_ns);
    const double taken = mem_side_write(cluster->system, &cluster->fabric, start, line, MEM_LINE_BYTES);
    mem_hold(cluster->system, &cluster->misses, taken);
    cluster->writebacks++;
    cluster->l2_read_bytes += MEM_LINE_BYTES;
    if (taken > cluster->written_ns)
        cluster->written_ns = taken;
    return start;
}

double mem_port_written_ns(const struct mem_port *port)
{
    return port->cluster ? port->cluster->written_ns : 0.0;
}

bool mem_l2_notes(struct mem_cluster *cluster)
{
    if (!cluster->later)
        cluster->later = mem_later_create(&cluster->l2);
    cluster->l2.clean_unnamed = !cluster->later; /* what is known of a page ends when any of its lines leaves */
    return cluster->later;
}

void mem_l2_learn(struct mem_cluster *cluster, uint64_t page, double now_ns)
{
    if (mem_l2_notes(cluster))
        mem_later_knows(cluster->later, &cluster->l2, page, 0, MEM_PAGE_LINES, now_ns);
}

void mem_l2_insert(struct mem_cluster *cluster, uint32_t set, uint64_t line, double ready_ns, uint8_t flags,
                   struct mem_victim *victim)
{
    mem_later_catch_up(cluster->later, &cluster->l2, set);
    mem_cache_insert_in(&cluster->l2, set, line, ready_ns, flags, victim);
    if (cluster->later && victim->valid)
        mem_later_lose(cluster->later, victim->line);
}

bool mem_l2_make_room(struct mem_cluster *cluster, uint32_t set, unsigned halves, struct mem_victim *victim)
{
    if (cluster->l2.half_room == 0)
        return false;
    mem_later_catch_up(cluster->later, &cluster->l2, set);
    const bool left = mem_cache_make_room(&cluster->l2, set, halves, victim);
    if (left && cluster->later)
        mem_later_lose(cluster->later, victim->line);
    return left;
}

void mem_l2_remove(struct mem_cluster *cluster, uint64_t line)
{
    mem_later_catch_up(cluster->later, &cluster->l2, mem_cache_set(&cluster->l2, line));
    mem_cache_remove(&cluster->l2, line, NULL);
    if (cluster->later)
        mem_later_lose(cluster->later, line);
}

/* Makes room for so many halves in a cache whose ways hold halves. Returns when it is free. */
static double make_room(struct mem_port *port, double now_ns, uint32_t set, unsigned halves)
{
    struct mem_cluster *cluster = port->cluster;
    struct mem_victim victim;
    double free_ns = now_ns;
    while (mem_l2_make_room(cluster, set, halves, &victim)) {
        mem_port_count_evicted(port, &victim, false);
        if (victim.flags & MEM_LINE_DIRTY)
            free_ns = write_back(cluster, free_ns, victim.line);
    }
    return free_ns;
}

/* Inserts a line into L2. Returns when its place became free. */
static double fill(struct mem_port *port, double now_ns, uint32_t set, uint64_t line, double ready_ns, uint8_t flags)
{
    struct mem_cluster *cluster = port->cluster;
    struct mem_victim victim;
    const double room_ns = make_room(port, now_ns, set, mem_line_takes(flags));
    mem_l2_insert(cluster, set, line, ready_ns, flags, &victim);
    cluster->l2_write_bytes +=
        flags & MEM_LINE_DIRTY ? MEM_LINE_BYTES : mem_halves_bytes(MEM_LINE_WHOLE & ~mem_line_lacks(flags, MEM_LINE_WHOLE));
    mem_port_count_evicted(port, &victim, (flags & MEM_LINE_PREFETCHED) != 0);
    return victim.valid && (victim.flags & MEM_LINE_DIRTY) ? write_back(cluster, room_ns, victim.line) : room_ns;
}

/* Reads halves of a line from the memory side. */
static struct mem_reply read_side(struct mem_port *port, double now_ns, uint64_t line, unsigned halves)
{
    struct mem_cluster *cluster = port->cluster;
    if (cluster->system->params.cluster_count > 1)
        mem_coherence_clean_l2s(port, now_ns, line);
    const double start = mem_place(cluster->system, &cluster->misses, now_ns);
    struct mem_reply reply = mem_side_read(cluster->system, &cluster->fabric, start, line, mem_halves_bytes(halves));
    reply.ready_ns += mem_wait(cluster->system, cluster->params.fabric_latency_ns);
    mem_hold(cluster->system, &cluster->misses, reply.ready_ns);
    return reply;
}

/* Reads halves of an absent line from the memory side into L2. No other L1 holds it dirty. */
static struct mem_reply miss(struct mem_port *port, double now_ns, uint32_t set, uint64_t line, unsigned halves, uint8_t flags)
{
    mem_cache_expect_insert(&port->cluster->l2, set);
    struct mem_reply reply = read_side(port, now_ns, line, halves);
    const uint8_t from = (uint8_t)((uint8_t)reply.level << MEM_LINE_FROM_SHIFT);
    const double place = fill(port, now_ns, set, line, reply.ready_ns, (uint8_t)(flags | from | mem_line_without(halves)));
    if (place > reply.ready_ns)
        reply.ready_ns = place;
    return reply;
}

/* Reads what a line in L2 lacks. The whole line counts as arrived when these halves do. */
static struct mem_reply complete(struct mem_port *port, double now_ns, uint32_t set, const struct mem_entry *entry, uint64_t line,
                                 unsigned halves)
{
    struct mem_cluster *cluster = port->cluster;
    const struct mem_reply reply = read_side(port, now_ns, line, halves);
    const uint8_t flags = (uint8_t)(*entry->flags & ~(halves << MEM_LINE_HALF_SHIFT));
    make_room(port, now_ns, set, mem_line_grows(*entry->flags, flags));
    *entry->flags = flags;
    mem_cache_arrives(&cluster->l2, entry, reply.ready_ns);
    cluster->l2_write_bytes += mem_halves_bytes(halves);
    return reply;
}

struct mem_reply mem_cluster_read(struct mem_port *port, double now_ns, uint64_t line, unsigned quarters, bool *was_prefetched)
{
    struct mem_cluster *cluster = port->cluster;
    const unsigned halves = mem_halves_of(quarters);
    const uint32_t set = mem_cache_set(&cluster->l2, line), bytes = mem_quarters_bytes(quarters);
    double t = mem_pass(cluster->system, &port->l2_read, now_ns, bytes);
    t = mem_pass(cluster->system, &cluster->l2_link, t, bytes) + mem_wait(cluster->system, cluster->l2_latency_ns);
    *was_prefetched = false;
    mem_coherence_read(port, now_ns, line);
    const struct mem_entry entry = mem_cache_find_in(&cluster->l2, set, line);
    cluster->missed = cluster->missed << 1 | (!entry.way);
    if (!entry.way)
        return miss(port, t, set, line, halves, 0);
    mem_l2_touch(cluster, set, &entry);
    cluster->l2_read_bytes += bytes;
    uint8_t *state = entry.flags;
    const uint8_t flags = *state;
    if (mem_line_lacks(flags, halves))
        return complete(port, t, set, &entry, line, mem_line_lacks(flags, halves));
    *state = (uint8_t)(flags & ~MEM_LINE_PREFETCHED);
    *was_prefetched = (flags & MEM_LINE_PREFETCHED) != 0;
    const double arrival = mem_cache_ready_ns(&cluster->l2, &entry);
    if (arrival > t)
        return (struct mem_reply){arrival, (enum mem_level)(flags >> MEM_LINE_FROM_SHIFT)};
    return (struct mem_reply){t, MEM_L2};
}

double mem_cluster_write(struct mem_port *port, double now_ns, uint64_t line, bool whole)
{
    struct mem_cluster *cluster = port->cluster;
    const uint32_t set = mem_cache_set(&cluster->l2, line);
    double t = mem_pass(cluster->system, &port->l2_write, now_ns, MEM_LINE_BYTES);
    t = mem_pass(cluster->system, &cluster->l2_link, t, MEM_LINE_BYTES);
    const struct mem_entry entry = mem_cache_find_in(&cluster->l2, set, line);
    if (!entry.way)
        return fill(port, t, set, line, t, (uint8_t)(MEM_LINE_DIRTY | mem_line_without(whole ? MEM_LINE_WHOLE : 0)));
    mem_l2_touch(cluster, set, &entry);
    const uint8_t flags = (uint8_t)((*entry.flags | MEM_LINE_DIRTY) & ~(whole ? mem_line_without(0) : 0));
    const double room_ns = make_room(port, t, set, mem_line_grows(*entry.flags, flags));
    *entry.flags = flags;
    cluster->l2_write_bytes += MEM_LINE_BYTES;
    return room_ns;
}

bool mem_cluster_prefetch(struct mem_port *port, double now_ns, uint64_t line, bool *issued)
{
    struct mem_cluster *cluster = port->cluster;
    const uint32_t set = mem_cache_set(&cluster->l2, line);
    *issued = false;
    mem_coherence_read(port, now_ns, line);
    const bool present = mem_cache_find_in(&cluster->l2, set, line).way;
    cluster->prefetched = cluster->prefetched << 1 | !present;
    if (present)
        return true;
    if (mem_place(cluster->system, &cluster->misses, now_ns) > now_ns)
        return false;
    miss(port, now_ns + mem_wait(cluster->system, cluster->l2_latency_ns), set, line, MEM_LINE_WHOLE, MEM_LINE_PREFETCHED);
    *issued = true;
    return true;
}
