/* What a port does with the orders of its prefetcher. */
#include "units/mem/mem_internal.h"

/* How many orders ahead the host is told of a set, of the way in it, and of what a dirty line in that way will need. Each
 * distance leaves the host's memory enough time, at some 50 ns per order. */
#define EXPECT_SET    9
#define EXPECT_WAY    6
#define EXPECT_VICTIM 3

/* The line that an insertion will displace, provided that it then goes to the memory side. */
static void expect_victim(const struct mem_system *system, const struct mem_cache *l2, uint32_t set)
{
    const uint32_t last = mem_cache_last(l2, set);
    if (mem_cache_header(l2, set)->flags[last] & MEM_LINE_DIRTY)
        mem_side_expect(system, mem_cache_ways(l2, set)[last].tag - 1);
}

/* Tells the host which sets the coming orders will need. */
static void expect_far(const struct mem_port *port, const struct mem_prefetch_orders *orders)
{
    const struct mem_system *system = port->system;
    const struct mem_cache *l2 = &port->cluster->l2;
    const bool beyond = port->cluster->prefetched & MEM_MISSED_LATELY;
    const uint64_t stride = (uint64_t)orders->stride;
    /* Nobody has told of the first orders of a stream. */
    for (uint32_t i = 1; i < EXPECT_SET + orders->far_count && orders->far_first == 1; i++) {
        mem_cache_expect(l2, mem_cache_set(l2, orders->base + stride * i));
        if (beyond)
            mem_side_expect(system, orders->base + stride * i);
    }
    for (uint32_t i = 0; i < orders->far_count; i++) {
        const uint64_t line = orders->base + stride * ((uint64_t)orders->far_first + i);
        mem_cache_expect(l2, mem_cache_set(l2, line + stride * EXPECT_SET));
        if (!beyond)
            continue;
        mem_side_expect(system, line + stride * EXPECT_SET);
        mem_cache_expect_line(l2, mem_cache_set(l2, line + stride * EXPECT_WAY), line + stride * EXPECT_WAY);
        mem_side_expect_soon(system, line + stride * EXPECT_WAY);
        expect_victim(system, l2, mem_cache_set(l2, line + stride * EXPECT_VICTIM));
    }
}

/* Fetches from beyond into L2. Returns how many orders had to be left because the cluster's miss registers were full. */
static uint32_t fetch_far(struct mem_port *port, double now_ns, const struct mem_prefetch_orders *orders)
{
    for (uint32_t i = 0; i < orders->far_count; i++) {
        const uint64_t line = orders->base + (uint64_t)(orders->stride * (orders->far_first + i));
        bool issued = false;
        if (port->has_l1 && mem_cache_find(&port->l1, line).way)
            continue;
        if (!mem_cluster_prefetch(port, now_ns, line, &issued))
            return orders->far_count - i;
        port->counters.prefetch_issued += issued;
    }
    return 0;
}

/* Fetches from L2 into L1. The line stays marked as prefetched until somebody uses it. */
static void fetch_near(struct mem_port *port, double now_ns, uint64_t line)
{
    if (mem_cache_find(&port->l1, line).way || !mem_cache_find(&port->cluster->l2, line).way)
        return;
    bool was_prefetched;
    const struct mem_reply reply = mem_cluster_read(port, now_ns, line, MEM_LINE_QUARTERS, &was_prefetched);
    port->counters.prefetch_issued += !was_prefetched;
    mem_port_l1_fill(port, now_ns, line, reply.ready_ns,
                     (uint8_t)(MEM_LINE_PREFETCHED | (uint8_t)reply.level << MEM_LINE_FROM_SHIFT));
}

void mem_port_prefetch(struct mem_port *port, double now_ns, uint64_t line, uint64_t pc)
{
    struct mem_prefetch_orders orders;
    uint32_t stream;
    if (!port->cluster || !mem_prefetch_observe(&port->prefetcher, line, pc, &orders, &stream))
        return;
    expect_far(port, &orders);
    const uint32_t left = fetch_far(port, now_ns, &orders);
    if (port->has_l1)
        for (uint32_t i = 0; i < orders.near_count; i++)
            fetch_near(port, now_ns, orders.base + (uint64_t)(orders.stride * (orders.near_first + i)));
    if (left)
        mem_prefetch_refuse(&port->prefetcher, stream, left);
}

/* Sets the time at which the data of a line are there. */
static void arrive(struct mem_cache *cache, const struct mem_entry *entry, double ready_ns)
{
    if (entry->header->settled == cache->settled)
        entry->way->ready_ns = ready_ns;
}

static void send_for(struct mem_port *port, double now_ns, uint64_t line)
{
    struct mem_cluster *cluster = port->cluster;
    const struct mem_entry far = mem_cache_find(&cluster->l2, line);
    const struct mem_entry near = port->has_l1 ? mem_cache_find(&port->l1, line) : (struct mem_entry){0};
    const uint8_t unused = (uint8_t)((far.way ? *far.flags : 0) | (near.way ? *near.flags : 0));
    const enum mem_level level = far.way ? (enum mem_level)(*far.flags >> MEM_LINE_FROM_SHIFT) : MEM_L1;
    if (!(unused & MEM_LINE_PREFETCHED) || level <= MEM_L2)
        return;
    const double start = mem_slots_ready(&cluster->misses, now_ns);
    const double ready =
        mem_side_again(cluster->system, &cluster->fabric, start, line, level) + cluster->params.fabric_latency_ns;
    mem_slots_take(&cluster->misses, ready);
    arrive(&cluster->l2, &far, ready);
    if (cluster->later)
        mem_later_lose(cluster->later, line);
    if (near.way)
        arrive(&port->l1, &near, ready);
}

void mem_port_resume(struct mem_port *port, double now_ns)
{
    const struct mem_prefetcher *const p = &port->prefetcher;
    for (int64_t ahead = 1; port->cluster && ahead <= p->params.distance; ahead++)
        for (uint32_t i = 0; i < p->params.streams; i++)
            if (p->stream[i].used && ahead <= p->stream[i].far)
                send_for(port, now_ns, p->stream[i].last + (uint64_t)(p->stream[i].stride * ahead));
}
