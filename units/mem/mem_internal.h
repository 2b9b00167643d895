/* The parts of a memory system, for the files of this folder and for the inlined L1-hit path (mem_fast.h).
 *
 * Layers, nearest first: port (mem_port.c: TLB, L1, miss registers, gathering, prefetch) -> cluster (cluster.c: L2) ->
 * memory side (mem_side.c: fabric, SLC, DRAM). coherence.c sits beside them.
 */
#ifndef ORCHARD_UNITS_MEM_MEM_INTERNAL_H
#define ORCHARD_UNITS_MEM_MEM_INTERNAL_H

#include "units/mem/cache.h"
#include "units/mem/dram.h"
#include "units/mem/fabric.h"
#include "units/mem/gather.h"
#include "units/mem/mem_flight.h"
#include "units/mem/mem_later.h"
#include "units/mem/mem_queue.h"
#include "units/mem/mem_timing.h"
#include "units/mem/prefetch.h"
#include "units/mem/tlb.h"

#define MEM_PORTS_MAX 256

struct mem_port {
    struct mem_system *system;
    struct mem_cluster *cluster; /* NULL: enters at the fabric */
    struct mem_port *shares;     /* the core's port whose L1 is looked into first */
    struct mem_port_params params;
    bool has_l1;
    bool coherent_l1; /* the L1 may hold dirty lines and is told of others' stores */
    struct mem_cache l1;
    double l1_latency_ns;
    struct mem_tlb tlb;
    double tlb_free_ns; /* ports with tlb_refill_ns: when the last refill ends */
    struct mem_slots misses;
    struct mem_flight flight;          /* on their way to an L1 that is not coherent */
    struct mem_slots writes;           /* ports without L1: stores under way, which do not take the places of loads */
    struct mem_link l2_read, l2_write; /* this port's own path to L2 */
    struct mem_fabric_port fabric;     /* ports without a cluster */
    struct mem_prefetcher prefetcher;
    struct mem_gather gather;
    struct mem_counters counters;
    uint64_t l1_read_bytes, l1_write_bytes; /* since activity was last taken */
};

struct mem_cluster {
    struct mem_system *system;
    struct mem_cluster_params params;
    struct mem_cache l2;
    struct mem_later *later; /* touches of L2 that are noted and not made yet; NULL: none so far */
    double l2_latency_ns;
    struct mem_link l2_link;    /* the whole cache */
    struct mem_link store_path; /* what cores that are busy together share for their stores */
    bool stores_share;          /* several are, and the path has a limit */
    struct mem_slots misses;    /* reads and write-backs in flight to the fabric */
    struct mem_fabric_port fabric;
    uint64_t writebacks;
    double written_ns;                      /* the memory side has what was written back so far */
    uint64_t l2_read_bytes, l2_write_bytes; /* since activity was last taken */
    /* Which of the latest reads and prefetches, newest in bit 0, were not in L2. Used only to predict host accesses. */
    uint32_t missed, prefetched;
};

struct mem_die {
    bool has_slc;
    struct mem_cache slc;
    struct mem_link *slc_slice; /* one per DRAM channel, in front of its lines */
    struct mem_dram dram;
    uint64_t writebacks;
};

#define MEM_MISSED_LATELY 0xfu /* of mem_cluster.missed */

/* Number of L1s that hold a line, by a hash of the line: zero means that none does. Saves looking into every L1. */
#define MEM_HOLDERS 65536

struct mem_system {
    struct mem_params params;
    uint32_t port_count, l1_count;
    struct mem_port *port[MEM_PORTS_MAX];
    struct mem_cluster cluster[MEM_CLUSTERS_MAX];
    struct mem_die die[MEM_DIES_MAX];
    struct mem_fabric fabric;
    struct activity activity;
    struct mem_traffic traffic; /* since the last restart */
    double moved_share;         /* share of each byte that moves between SLC and DRAM, for compression */
    bool stopped;               /* accesses take no time: links, places and DRAM are left alone (mem_port_stop) */
    uint64_t held;              /* lines in all of them: without any, nobody looks into the table, which is large */
    uint16_t holders[MEM_HOLDERS];
};

/* What a miss of so many bytes from such a place in a line brings in. */
static inline unsigned mem_port_quarters(const struct mem_port *port, uint32_t offset, uint32_t bytes)
{
    const uint32_t unit = port->params.fill_bytes;
    if (unit != MEM_HALF_BYTES && unit != MEM_QUARTER_BYTES)
        return MEM_LINE_QUARTERS;
    const uint32_t from = offset / unit * (unit / MEM_QUARTER_BYTES);
    const uint32_t to = ((offset + bytes - 1) / unit + 1) * (unit / MEM_QUARTER_BYTES);
    return (1u << to) - (1u << from);
}

static inline uint32_t mem_holder_slot(uint64_t line)
{
    return (uint32_t)((line ^ line >> 16 ^ line >> 41) % MEM_HOLDERS);
}

/* Whether more coherent L1s than so many may have a line. */
static inline bool mem_held_by_more(const struct mem_system *system, uint64_t line, unsigned than)
{
    return system->held > 0 && system->holders[mem_holder_slot(line)] > than;
}

/* Links, places and latencies, unless time stands still. */
static inline double mem_pass(const struct mem_system *system, struct mem_link *link, double now_ns, uint32_t bytes)
{
    return system->stopped ? now_ns : mem_link_take(link, now_ns, bytes);
}

static inline double mem_place(const struct mem_system *system, const struct mem_slots *slots, double now_ns)
{
    return system->stopped ? now_ns : mem_slots_ready(slots, now_ns);
}

static inline void mem_hold(const struct mem_system *system, struct mem_slots *slots, double until_ns)
{
    if (!system->stopped)
        mem_slots_take(slots, until_ns);
}

static inline double mem_wait(const struct mem_system *system, double ns)
{
    return system->stopped ? 0.0 : ns;
}

/* mem_side.c: reads and writes of one line at the memory side. */
struct mem_reply mem_side_read(struct mem_system *system, struct mem_fabric_port *port, double now_ns, uint64_t line,
                               uint32_t bytes);
/* Returns when the write was accepted. */
double mem_side_write(struct mem_system *system, struct mem_fabric_port *port, double now_ns, uint64_t line, uint32_t bytes);
/* When a line that is accounted for, and was found at `level`, arrives if it is requested now. */
double mem_side_again(struct mem_system *system, struct mem_fabric_port *port, double now_ns, uint64_t line,
                      enum mem_level level);
/* Tells the host that a line will be requested, and later again that this is near. */
void mem_side_expect(const struct mem_system *system, uint64_t line);
void mem_side_expect_soon(const struct mem_system *system, uint64_t line);
bool mem_side_init(struct mem_system *system);
void mem_side_release(struct mem_system *system);

/* When a store of a core may go on, as far as the other cores of its cluster let it. */
static inline double mem_port_store_turn(struct mem_port *port, double now_ns, uint32_t bytes)
{
    struct mem_cluster *const cluster = port->cluster;
    return cluster && cluster->stores_share && !port->system->stopped ? mem_link_take(&cluster->store_path, now_ns, bytes)
                                                                      : now_ns;
}

/* cluster.c. `path` is the requester's link to L2, or NULL for the L2's own prefetches. */
struct mem_reply mem_cluster_read(struct mem_port *port, double now_ns, uint64_t line, unsigned quarters, bool *was_prefetched);
/* Takes a line from an L1 or a store: it is present and dirty afterwards. Of one that was absent and is not written as a whole,
 * L2 knows by byte what there is, and reads the rest when that is wanted. Returns when the write was accepted. */
double mem_cluster_write(struct mem_port *port, double now_ns, uint64_t line, bool whole);
/* Brings a line into L2 ahead of demand. False when no miss register is free. */
bool mem_cluster_prefetch(struct mem_port *port, double now_ns, uint64_t line, bool *issued);
bool mem_cluster_init(struct mem_cluster *cluster, struct mem_system *system, const struct mem_cluster_params *params);
void mem_cluster_release(struct mem_cluster *cluster);
/* The contents of an L2 change only through these functions, and its order only through them and mem_l2_touch. */
void mem_l2_insert(struct mem_cluster *cluster, uint32_t set, uint64_t line, double ready_ns, uint8_t flags,
                   struct mem_victim *victim);
/* Whether a set lacks room for so many more halves of lines. If so, a line leaves it. Only where ways hold halves. */
bool mem_l2_make_room(struct mem_cluster *cluster, uint32_t set, unsigned halves, struct mem_victim *victim);
/* False when the cluster cannot keep notes of touches. */
bool mem_l2_notes(struct mem_cluster *cluster);
/* Looks at a page over which loads run, so that those of its other lines find them quickly. */
void mem_l2_learn(struct mem_cluster *cluster, uint64_t page, double now_ns);
void mem_l2_remove(struct mem_cluster *cluster, uint64_t line);
static inline void mem_l2_touch(struct mem_cluster *cluster, uint32_t set, const struct mem_entry *entry)
{
    mem_later_catch_up(cluster->later, &cluster->l2, set);
    mem_cache_touch(&cluster->l2, entry);
}
void mem_cluster_set_clock(struct mem_cluster *cluster, double clock_ghz);
void mem_cluster_set_busy(struct mem_cluster *cluster, uint32_t cores);

/* coherence.c. Called before a port reads a line beyond its L1: dirty copies in other L1s go down to their L2. */
void mem_coherence_clean_l1s(struct mem_port *port, double now_ns, uint64_t line);
static inline void mem_coherence_read(struct mem_port *port, double now_ns, uint64_t line)
{
    if (mem_held_by_more(port->system, line, 0))
        mem_coherence_clean_l1s(port, now_ns, line);
}
/* Called next, when the port's own L2 has no copy: dirty lines of other clusters go down to the memory side. */
void mem_coherence_clean_l2s(struct mem_port *port, double now_ns, uint64_t line);
/* Called before a port writes a line that it did not own: all other copies are dropped. `own` says that its coherent L1 has a
 * copy. */
void mem_coherence_write(struct mem_port *port, uint64_t line, bool own);

/* mem_port.c. The contents of an L1 change only through these functions, which keep the holder counts. */
double mem_port_l1_fill(struct mem_port *port, double now_ns, uint64_t line, double ready_ns, uint8_t flags);
uint8_t mem_port_l1_drop(struct mem_port *port, uint64_t line, bool *present);
/* mem_expect.c. Tells the host which memory the way of a line down will need, and, with `keep`, its place in L1. */
void mem_port_expect_miss(const struct mem_port *port, uint64_t line, bool keep);
/* prefetch_port.c. Called on a demand miss or the first use of a prefetched line. */
void mem_port_prefetch(struct mem_port *port, double now_ns, uint64_t line, uint64_t pc);
/* Counts a prefetched line that was used. */
static inline void mem_port_count_used(struct mem_port *port, double ready_ns, double needed_ns)
{
    port->counters.prefetch_used++;
    if (ready_ns > needed_ns)
        port->counters.prefetch_late++;
}
/* Counts an evicted line: a prefetch that nobody used. */
void mem_port_count_evicted(struct mem_port *port, const struct mem_victim *victim, bool by_prefetch);

#endif
