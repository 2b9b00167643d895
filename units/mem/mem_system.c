/* Wiring of one chip's memory: clusters, dies and ports, their clocks, counters and activity. */
#include "units/mem/mem_internal.h"

#include <stdlib.h>
#include <string.h>

struct mem_system *mem_system_create(const struct mem_params *params)
{
    struct mem_system *system = calloc(1, sizeof *system);
    if (!system)
        return NULL;
    system->params = *params;
    system->moved_share = 1;
    bool ok = params->cluster_count <= MEM_CLUSTERS_MAX && mem_side_init(system);
    for (uint32_t i = 0; ok && i < params->cluster_count; i++)
        ok = mem_cluster_init(&system->cluster[i], system, &params->cluster[i]);
    if (ok)
        return system;
    mem_system_free(system);
    return NULL;
}

static void free_port(struct mem_port *port)
{
    mem_cache_release(&port->l1);
    mem_tlb_release(&port->tlb);
    mem_slots_release(&port->misses);
    mem_flight_release(&port->flight);
    mem_slots_release(&port->writes);
    mem_prefetch_release(&port->prefetcher);
    mem_gather_release(&port->gather);
    free(port);
}

void mem_system_free(struct mem_system *system)
{
    if (!system)
        return;
    for (uint32_t i = 0; i < system->port_count; i++)
        free_port(system->port[i]);
    for (uint32_t i = 0; i < MEM_CLUSTERS_MAX; i++)
        mem_cluster_release(&system->cluster[i]);
    mem_side_release(system);
    free(system);
}

static void set_port_clock(struct mem_port *port)
{
    const double ghz = port->cluster ? port->cluster->params.clock_ghz : port->params.clock_ghz;
    const double l2_gbps = port->params.l2_bytes_per_cycle * ghz;
    port->l1_latency_ns = ghz > 0.0 ? port->params.l1.latency_cycles / ghz : 0.0;
    mem_link_set_rate(&port->l2_read, l2_gbps);
    mem_link_set_rate(&port->l2_write, l2_gbps);
}

static bool init_port(struct mem_port *port)
{
    const struct mem_port_params *p = &port->params;
    const struct mem_params *s = &port->system->params;
    port->has_l1 = p->l1.kib > 0;
    port->coherent_l1 = port->has_l1 && !p->write_through;
    mem_link_init(&port->l2_read, 0.0);
    mem_link_init(&port->l2_write, 0.0);
    mem_fabric_port_init(&port->fabric, p->fabric_gbps, 0, p->die, MEM_REQUESTERS - 1);
    set_port_clock(port);
    if (port->has_l1 && !mem_cache_init(&port->l1, (uint64_t)p->l1.kib * 1024 / MEM_LINE_BYTES, p->l1.ways, false))
        return false;
    port->l1.clean_unnamed = !port->coherent_l1;
    const uint32_t tlb_entries = p->tlb_entries ? p->tlb_entries : s->tlb_entries_l1;
    return mem_flight_init(&port->flight, port->has_l1 && !port->coherent_l1) &&
           mem_tlb_init(&port->tlb, tlb_entries, s->tlb_entries_l2, s->tlb_l2_ns, s->tlb_miss_ns) &&
           mem_slots_init(&port->misses, p->outstanding) && mem_slots_init(&port->writes, port->has_l1 ? 0 : p->outstanding) &&
           mem_prefetch_init(&port->prefetcher, &p->prefetch) && mem_gather_init(&port->gather, p->gather_lines);
}

bool mem_port_share_l1(struct mem_port *port, double kib)
{
    const uint32_t ways = port->params.l1.ways, least = port->params.l1.kib;
    const uint64_t lines = (uint64_t)(kib > least ? kib : least) * 1024 / MEM_LINE_BYTES;
    if (!port->has_l1 || port->l1.sets == lines / ways)
        return true;
    mem_cache_release(&port->l1);
    port->has_l1 = mem_cache_init(&port->l1, lines, ways, false);
    port->l1.clean_unnamed = !port->coherent_l1;
    return port->has_l1;
}

static bool valid_place(const struct mem_system *system, const struct mem_port_params *params)
{
    if (params->cluster == MEM_NO_CLUSTER)
        return params->die < system->params.dies && (params->l1.kib == 0 || params->clock_ghz > 0.0);
    return params->cluster < system->params.cluster_count;
}

struct mem_port *mem_port_open(struct mem_system *system, const struct mem_port_params *params, struct mem_port *shares)
{
    if (system->port_count == MEM_PORTS_MAX || !valid_place(system, params))
        return NULL;
    struct mem_port *port = calloc(1, sizeof *port);
    if (!port)
        return NULL;
    port->system = system;
    port->params = *params;
    port->cluster = params->cluster == MEM_NO_CLUSTER ? NULL : &system->cluster[params->cluster];
    port->shares = shares && shares->has_l1 ? shares : NULL;
    if (!init_port(port)) {
        free_port(port);
        return NULL;
    }
    system->port[system->port_count++] = port;
    return port;
}

void mem_system_set_clock(struct mem_system *system, uint32_t cluster, double clock_ghz)
{
    if (cluster >= system->params.cluster_count || clock_ghz <= 0.0)
        return;
    mem_cluster_set_clock(&system->cluster[cluster], clock_ghz);
    for (uint32_t i = 0; i < system->port_count; i++)
        if (system->port[i]->cluster == &system->cluster[cluster])
            set_port_clock(system->port[i]);
}

void mem_system_set_busy(struct mem_system *system, uint32_t cluster, uint32_t cores)
{
    if (cluster < system->params.cluster_count)
        mem_cluster_set_busy(&system->cluster[cluster], cores);
}

static void add_counters(struct mem_counters *into, const struct mem_counters *from)
{
    for (int l = 0; l < MEM_LEVEL_COUNT; l++) {
        into->hits[l] += from->hits[l];
        into->misses[l] += from->misses[l];
        into->writebacks[l] += from->writebacks[l];
    }
    into->prefetch_issued += from->prefetch_issued;
    into->prefetch_used += from->prefetch_used;
    into->prefetch_late += from->prefetch_late;
    into->prefetch_evicted_unused += from->prefetch_evicted_unused;
    into->demand_evicted_by_prefetch += from->demand_evicted_by_prefetch;
    into->tlb_misses += from->tlb_misses;
}

void mem_system_counters(const struct mem_system *system, struct mem_counters *out)
{
    memset(out, 0, sizeof *out);
    for (uint32_t i = 0; i < system->port_count; i++) {
        struct mem_counters port;
        mem_port_counters(system->port[i], &port);
        add_counters(out, &port);
    }
    for (uint32_t i = 0; i < system->params.cluster_count; i++)
        out->writebacks[MEM_L2] += system->cluster[i].writebacks;
    for (uint32_t i = 0; i < system->params.dies; i++)
        out->writebacks[MEM_SLC] += system->die[i].writebacks;
    out->traffic = system->traffic;
    for (uint32_t i = 0; i < system->params.cluster_count; i++) /* whose activity has not been taken yet */
        out->traffic.requester[i][MEM_FLOW_L2] += system->cluster[i].l2_read_bytes + system->cluster[i].l2_write_bytes;
}

void mem_timed_counts_get(const struct mem_counters *c, double counts[MEM_TIMED_COUNTS])
{
    double *to = counts;
    for (int l = 0; l < MEM_LEVEL_COUNT; l++)
        *to++ = (double)c->hits[l];
    for (int l = 0; l < MEM_LEVEL_COUNT; l++)
        *to++ = (double)c->misses[l];
    *to++ = (double)c->prefetch_used;
    *to++ = (double)c->prefetch_late;
    *to++ = (double)c->prefetch_evicted_unused;
    *to++ = (double)c->demand_evicted_by_prefetch;
    *to = (double)c->gathered;
}

static uint64_t whole(double count)
{
    return count > 0 ? (uint64_t)(count + 0.5) : 0;
}

void mem_timed_counts_set(struct mem_counters *c, const double counts[MEM_TIMED_COUNTS])
{
    const double *from = counts;
    for (int l = 0; l < MEM_LEVEL_COUNT; l++)
        c->hits[l] = whole(*from++);
    for (int l = 0; l < MEM_LEVEL_COUNT; l++)
        c->misses[l] = whole(*from++);
    c->prefetch_used = whole(*from++);
    c->prefetch_late = whole(*from++);
    c->prefetch_evicted_unused = whole(*from++);
    c->demand_evicted_by_prefetch = whole(*from++);
    c->gathered = whole(*from);
}

void mem_system_set_compression(struct mem_system *system, double share)
{
    system->moved_share = share > 0 && share < 1 ? share : 1;
}

static uint64_t scaled(uint64_t count, double factor)
{
    return factor == 1 ? count : (uint64_t)((double)count * factor + 0.5);
}

void mem_traffic_add(struct mem_traffic *into, const struct mem_traffic *from, double factor)
{
    for (int r = 0; r < MEM_REQUESTERS; r++)
        for (int f = 0; f < MEM_FLOW_COUNT; f++)
            into->requester[r][f] += scaled(from->requester[r][f], factor);
    for (int d = 0; d < MEM_DIES_MAX; d++)
        for (int f = 0; f < MEM_DIE_FLOW_COUNT; f++)
            into->die[d][f] += scaled(from->die[d][f], factor);
}

static void add_port_activity(const struct mem_port *port, struct activity *into)
{
    if (port->coherent_l1) { /* the GPU counts its own */
        into->count[ACT_L1D_READ_BYTES] += port->l1_read_bytes;
        into->count[ACT_L1D_WRITE_BYTES] += port->l1_write_bytes;
    }
}

static void take_port_activity(struct mem_port *port, struct activity *into)
{
    add_port_activity(port, into);
    port->l1_read_bytes = port->l1_write_bytes = 0;
}

void mem_system_take_cluster_activity(struct mem_system *system, uint32_t number, struct activity *into)
{
    if (number >= system->params.cluster_count)
        return;
    struct mem_cluster *cluster = &system->cluster[number];
    for (uint32_t i = 0; i < system->port_count; i++)
        if (system->port[i]->cluster == cluster)
            take_port_activity(system->port[i], into);
    into->count[ACT_L2_READ_BYTES] += cluster->l2_read_bytes;
    into->count[ACT_L2_WRITE_BYTES] += cluster->l2_write_bytes;
    system->traffic.requester[number][MEM_FLOW_L2] += cluster->l2_read_bytes + cluster->l2_write_bytes;
    cluster->l2_read_bytes = cluster->l2_write_bytes = 0;
}

void mem_system_take_activity(struct mem_system *system, struct activity *into)
{
    for (uint32_t i = 0; i < system->params.cluster_count; i++)
        mem_system_take_cluster_activity(system, i, into);
    struct dram_counts dram = {0};
    for (uint32_t i = 0; i < system->params.dies; i++)
        mem_dram_take_counts(&system->die[i].dram, &dram);
    system->activity.count[ACT_DRAM_ACTIVATES] += dram.activates;
    system->activity.count[ACT_DRAM_REFRESHES] += dram.refreshes;
    activity_add(into, &system->activity);
    memset(&system->activity, 0, sizeof system->activity);
}

void mem_system_activity(const struct mem_system *system, struct activity *into)
{
    struct dram_counts dram = {0};
    for (uint32_t i = 0; i < system->params.cluster_count; i++) {
        into->count[ACT_L2_READ_BYTES] += system->cluster[i].l2_read_bytes;
        into->count[ACT_L2_WRITE_BYTES] += system->cluster[i].l2_write_bytes;
    }
    for (uint32_t i = 0; i < system->port_count; i++)
        add_port_activity(system->port[i], into);
    for (uint32_t i = 0; i < system->params.dies; i++)
        mem_dram_counts(&system->die[i].dram, &dram);
    activity_add(into, &system->activity);
    into->count[ACT_DRAM_ACTIVATES] += dram.activates;
    into->count[ACT_DRAM_REFRESHES] += dram.refreshes;
}

static void restart_port(struct mem_port *port, double now_ns)
{
    mem_cache_settle(&port->l1, now_ns);
    mem_slots_restart(&port->misses, now_ns);
    mem_flight_clear(&port->flight);
    mem_slots_restart(&port->writes, now_ns);
    mem_link_restart(&port->l2_read, now_ns);
    mem_link_restart(&port->l2_write, now_ns);
    mem_fabric_port_restart(&port->fabric, now_ns);
    memset(&port->counters, 0, sizeof port->counters);
    port->tlb.misses = 0;
    port->tlb_free_ns = now_ns;
    port->l1_read_bytes = port->l1_write_bytes = 0;
}

static void restart_cluster(struct mem_cluster *cluster, double now_ns)
{
    mem_cache_settle(&cluster->l2, now_ns);
    mem_later_unlearn(cluster->later); /* what is known holds from a time on */
    mem_link_restart(&cluster->l2_link, now_ns);
    mem_link_restart(&cluster->store_path, now_ns);
    mem_slots_restart(&cluster->misses, now_ns);
    mem_fabric_port_restart(&cluster->fabric, now_ns);
    cluster->writebacks = 0;
    cluster->written_ns = now_ns;
    cluster->l2_read_bytes = cluster->l2_write_bytes = 0;
}

void mem_system_restart(struct mem_system *system, double now_ns)
{
    for (uint32_t i = 0; i < system->port_count; i++)
        restart_port(system->port[i], now_ns);
    for (uint32_t i = 0; i < system->params.cluster_count; i++)
        restart_cluster(&system->cluster[i], now_ns);
    for (uint32_t i = 0; i < system->params.dies; i++) {
        struct mem_die *die = &system->die[i];
        mem_cache_settle(&die->slc, now_ns);
        for (uint32_t c = 0; c < die->dram.channels; c++)
            mem_link_restart(&die->slc_slice[c], now_ns);
        mem_dram_restart(&die->dram, now_ns);
        die->writebacks = 0;
    }
    mem_fabric_restart(&system->fabric, now_ns);
    memset(&system->activity, 0, sizeof system->activity);
    memset(&system->traffic, 0, sizeof system->traffic);
}

void mem_system_flush(struct mem_system *system)
{
    for (uint32_t i = 0; i < system->port_count; i++) {
        struct mem_port *port = system->port[i];
        mem_cache_clear(&port->l1);
        mem_tlb_clear(&port->tlb);
        mem_prefetch_clear(&port->prefetcher);
        mem_gather_clear(&port->gather);
    }
    for (uint32_t i = 0; i < system->params.cluster_count; i++) {
        mem_cache_clear(&system->cluster[i].l2);
        mem_later_clear(system->cluster[i].later);
    }
    for (uint32_t i = 0; i < system->params.dies; i++)
        mem_cache_clear(&system->die[i].slc);
    system->held = 0;
    memset(system->holders, 0, sizeof system->holders);
}
