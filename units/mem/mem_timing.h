/* The memory system as a timing model: caches, prefetchers, SLC, DRAM, without data values.
 *
 * A mem_system belongs to one chip. Requesters (CPU cores, AMX blocks, GPU cores) open a port, and an access on a port
 * returns when its data arrive. Time at this boundary is nanoseconds (double). Caches and links remember when they are
 * busy, so requesters that run at the same simulated time slow each other down. Calls must come in roughly rising time;
 * the engine interleaves cores by simulated time.
 *
 * Addresses are physical for timing: space number in bits 63..48, simulated address below.
 *
 * Shape (README.md says why): L1 per core and L2 per cluster are write-back and write-allocate; L2 neither includes nor
 * excludes L1. The SLC sits at the memory side of the fabric and is filled by reads and write-backs of every requester.
 * L1 and L2 lines are kept coherent between ports by write-invalidate.
 *
 * A zero in a field marked "0 = ..." is a usable default, so a structure filled field by field may leave it out.
 */
#ifndef ORCHARD_UNITS_MEM_MEM_TIMING_H
#define ORCHARD_UNITS_MEM_MEM_TIMING_H

#include "power/activity.h"
#include "units/mem/dram_standard.h"
#include "units/mem/mem_params.inc"
#include "units/unit_params.h"

#include <stdbool.h>
#include <stdint.h>

enum mem_level { MEM_L1, MEM_L2, MEM_SLC, MEM_DRAM, MEM_LEVEL_COUNT };
/* STORE_STREAM: a store with a no-reuse hint (STNP). Its lines are gathered; see mem_port_params.gather_lines. */
enum mem_access_kind { MEM_ACCESS_LOAD, MEM_ACCESS_STORE, MEM_ACCESS_FETCH, MEM_ACCESS_STORE_STREAM };

/* Which die's SLC and DRAM own an address of a two-die chip. */
enum mem_die_policy {
    MEM_DIE_INTERLEAVE,  /* pages alternate by a hash of their number */
    MEM_DIE_FIRST_TOUCH, /* the die of the requester that touches a page first */
    MEM_DIE_ONE          /* all on mem_params.home_die */
};

#define MEM_CLUSTERS_MAX     8
#define MEM_NO_CLUSTER       UINT32_MAX /* a port that enters at the fabric: GPU, Neural Engine */
#define MEM_ACCESS_BYTES_MAX 256

struct mem_cache_params {
    uint32_t kib;           /* capacity, KiB; 0 = absent */
    uint32_t ways;          /* associativity */
    double latency_cycles;  /* load-to-use, in the clock of its owner */
    double bytes_per_cycle; /* bandwidth per requester port (L1) or for the whole cache (L2); 0 = no limit */
};

struct mem_prefetch_params {
    uint32_t streams;     /* concurrent streams tracked per port; 0 = off */
    uint32_t degree;      /* lines fetched per trigger */
    uint32_t distance;    /* lines ahead of the demand stream at most */
    uint32_t train;       /* matching deltas before a stream is trusted */
    uint32_t l1_distance; /* of these, so many next lines go on from L2 into L1; 0 = into L2 only */
};

/* A CPU cluster, whose cores share its L2, or the GPU's L2 of one die. */
struct mem_cluster_params {
    struct mem_cache_params l2;
    double clock_ghz; /* clock of L2 and of the cores' L1 */
    uint32_t die;     /* which die the cluster sits on */
    bool cpu;         /* of CPU cores */
    /* Members that are parameters: see mem_params.inc. */
    MEM_CORE_PARAMS(PARAM_NONE, PARAM_NONE, PARAM_NONE, PARAM_MEMBER)
    MEM_GPU_PARAMS(PARAM_NONE, PARAM_MEMBER, PARAM_NONE)
};

struct mem_params {
    struct mem_cache_params slc; /* whole SLC of one die; its latency in ns and its rate are members of their own */
    MEM_SHARED_PARAMS(PARAM_MEMBER, PARAM_MEMBER, PARAM_NONE, PARAM_NONE)
    MEM_DRAM_PARAMS(PARAM_MEMBER, PARAM_NONE)
    struct dram_timing dram_timing; /* of the standard */
    struct dram_policy dram_policy;
    double dram_peak_gbps;  /* per die */
    uint32_t dram_channels; /* per die */
    uint32_t dies;
    enum mem_die_policy die_policy;
    uint32_t home_die; /* MEM_DIE_ONE */
    uint32_t cluster_count;
    struct mem_cluster_params cluster[MEM_CLUSTERS_MAX];
};

struct mem_port_params {
    struct mem_cache_params l1; /* kib 0: the port enters at the cluster's L2 (AMX) */
    struct mem_prefetch_params prefetch;
    MEM_CORE_PARAMS(PARAM_MEMBER, PARAM_MEMBER, PARAM_MEMBER, PARAM_NONE)
    MEM_GPU_PARAMS(PARAM_MEMBER, PARAM_NONE, PARAM_NONE)
    uint32_t cluster;   /* or MEM_NO_CLUSTER */
    double clock_ghz;   /* MEM_NO_CLUSTER with an L1: the clock of that L1 */
    double fabric_gbps; /* MEM_NO_CLUSTER: cap of the port's own fabric link; 0 = no limit */
    uint32_t die;       /* MEM_NO_CLUSTER: the die the requester sits on */
    bool write_through; /* L1 of a GPU core: stores go on to L2 and allocate nothing, so no line is ever dirty; not
                         * kept coherent with stores of others (mem_port_forget) */
};

/* The bandwidth of a die's DRAM for one long stream of which `write_share` (0..1) is written, in GB/s: found by running it. For
 * models that move streams as a whole. NaN when memory is out. */
double mem_dram_stream_gbps(const struct mem_params *params, double write_share);

struct mem_system;
struct mem_port;

/* NULL when memory is out or the parameters describe no machine (no DRAM channel, more than two dies, no ways ...). */
struct mem_system *mem_system_create(const struct mem_params *params);
void mem_system_free(struct mem_system *system);

/* Opens a port, which the system owns and frees. NULL as above. `shares` (may be NULL) is the port of a core whose L1 this port
 * looks into first, as AMX loads do. */
struct mem_port *mem_port_open(struct mem_system *system, const struct mem_port_params *params, struct mem_port *shares);

struct mem_reply {
    double ready_ns;      /* loads: data usable; stores: accepted */
    enum mem_level level; /* farthest level touched */
};

/* Performs one access of 1..MEM_ACCESS_BYTES_MAX bytes (split into lines inside). `pc` trains the prefetcher (0 = none). */
struct mem_reply mem_port_access(struct mem_port *port, double now_ns, uint64_t addr, uint32_t bytes, enum mem_access_kind kind,
                                 uint64_t pc);

/* Leaves the TLB, L1, L2 and SLC as if the access had been made, in no time and uncounted: for accesses that are not simulated
 * one by one. Works on the port of a GPU core, others ignore it; caches off the way (coherence) are left as they are. Returns the
 * level beyond the farthest cache that received a line: MEM_L1 = none, MEM_SLC = the L2 did, MEM_DRAM = the SLC did, too. */
enum mem_level mem_port_warm(struct mem_port *port, double now_ns, uint64_t addr, uint32_t bytes, enum mem_access_kind kind);
/* The same for accesses so long ago that nothing of them is left in the TLB and in the L1, which stay as they are. */
enum mem_level mem_port_warm_shared(struct mem_port *port, double now_ns, uint64_t addr, uint32_t bytes,
                                    enum mem_access_kind kind);
/* The same where nothing is left in the L2 either: reaches the SLC alone. Once in some 4,000 times a line that is not there is
 * taken to be. */
enum mem_level mem_port_warm_side(struct mem_port *port, double now_ns, uint64_t addr, uint32_t bytes, enum mem_access_kind kind);

/* Tells the host which memory an access through the port will need, later again that it is near, and then what the lines need
 * that make room for it: changes nothing in the model. Pays where accesses miss L2 (mem_port_misses_l2).
 */
void mem_port_expect(const struct mem_port *port, uint64_t addr);
void mem_port_expect_side(const struct mem_port *port, uint64_t addr); /* in the SLC alone */
void mem_port_expect_soon(const struct mem_port *port, uint64_t addr);
void mem_port_expect_victims(const struct mem_port *port, uint64_t addr);

/* Lets time stand still for the whole system, or go on: accesses at one and the same moment, through any port, change caches,
 * TLBs, prefetchers and counters as usual, but take no time and occupy nothing. For stretches of programs that are not timed.
 * Returns whether it stood still before. */
bool mem_port_stop(struct mem_port *port, bool stopped);
/* To be called when time has gone on: what the port's prefetcher fetched ahead while time stood still is on its way only now. If
 * it were there already, a program that waits for DRAM would find more than DRAM can deliver. */
void mem_port_resume(struct mem_port *port, double now_ns);

/* Empties the port's own L1, which must hold nothing dirty (write_through), as a GPU does before a launch. */
void mem_port_forget(struct mem_port *port);

/* The L1 lies in a memory that others use as well: from now on it has so many KiB, or what it was opened with if that is more,
 * and holds nothing. Only for an L1 that was told to forget. False when memory is out. */
bool mem_port_share_l1(struct mem_port *port, double kib);
/* Sets the clock of a cluster and its cores' L1 (DVFS); latencies in cycles and widths in bytes per cycle follow it. */
void mem_system_set_clock(struct mem_system *system, uint32_t cluster, double clock_ghz);
/* How many cores of a cluster are busy at the same time; until told, one. */
void mem_system_set_busy(struct mem_system *system, uint32_t cluster, uint32_t cores);
/* Sets lossless compression: the share of every byte from and to DRAM that is moved (0..1; 1 = uncompressed). */
void mem_system_set_compression(struct mem_system *system, double share);
/* The latency of an L1 hit in ns, and the width of the L1 (bytes per cycle, 0 = no limit): for cpu_timing.h, whose load and store
 * ports enforce the width. mem_port_access does not. */
double mem_port_l1_latency_ns(const struct mem_port *port);
double mem_port_l1_width(const struct mem_port *port);
/* When the memory side has the lines that the port's L2 has written back so far; 0 for ports without an L2. */
double mem_port_written_ns(const struct mem_port *port);

/* Bytes by requester: CPU clusters and GPU L2s by number, then everyone without a cluster. */
#define MEM_REQUESTERS (MEM_CLUSTERS_MAX + 1)
enum mem_flow {
    MEM_FLOW_L2,          /* read from and written to the cluster's L2 */
    MEM_FLOW_FABRIC_READ, /* through the requester's fabric port, from the memory side */
    MEM_FLOW_FABRIC_WRITE,
    MEM_FLOW_REMOTE,    /* the part of these that crossed to or from the other die */
    MEM_FLOW_DRAM_READ, /* moved on behalf of the requester, write-backs of the SLC included */
    MEM_FLOW_DRAM_WRITE,
    MEM_FLOW_COUNT
};
/* Bytes by die. */
enum mem_die_flow {
    MEM_DIE_SLC, /* through the die's SLC */
    MEM_DIE_DRAM_READ,
    MEM_DIE_DRAM_WRITE,
    MEM_DIE_LINK, /* data leaving the die over the link */
    MEM_DIE_FLOW_COUNT
};
#define MEM_DIES_MAX 2
struct mem_traffic {
    uint64_t requester[MEM_REQUESTERS][MEM_FLOW_COUNT];
    uint64_t die[MEM_DIES_MAX][MEM_DIE_FLOW_COUNT];
};
/* *into += factor times *from. */
void mem_traffic_add(struct mem_traffic *into, const struct mem_traffic *from, double factor);

/* Counters since creation or the last restart. A level's hits are the accesses whose farthest level it was. */
struct mem_counters {
    uint64_t hits[MEM_LEVEL_COUNT], misses[MEM_LEVEL_COUNT];
    uint64_t prefetch_issued, prefetch_used, prefetch_late, prefetch_evicted_unused, demand_evicted_by_prefetch;
    uint64_t gathered; /* lines of stores whose other bytes had to be read */
    uint64_t tlb_misses, writebacks[MEM_LEVEL_COUNT];
    struct mem_traffic traffic; /* of the whole system only */
};
void mem_port_counters(const struct mem_port *port, struct mem_counters *out);
void mem_system_counters(const struct mem_system *system, struct mem_counters *out);

/* Counts that depend on when data arrive, and are therefore not right while time stands still. The first MEM_LEVEL_COUNT are the
 * hits by level; one tells how many lines were used that had been fetched ahead, one what stores had to read. */
#define MEM_TIMED_COUNTS     (2 * MEM_LEVEL_COUNT + 5)
#define MEM_TIMED_GATHERED   (2 * MEM_LEVEL_COUNT + 4)
#define MEM_TIMED_PREFETCHED (2 * MEM_LEVEL_COUNT)
void mem_timed_counts_get(const struct mem_counters *counters, double counts[MEM_TIMED_COUNTS]);
void mem_timed_counts_set(struct mem_counters *counters, const double counts[MEM_TIMED_COUNTS]);

/* Adds the traffic since the last call to `into` (L1D_*, L2_*, SLC_*, DRAM_*). */
void mem_system_take_activity(struct mem_system *system, struct activity *into);
/* The same without beginning anew: nobody's later answer hangs on whether this was asked. */
void mem_system_activity(const struct mem_system *system, struct activity *into);
/* Adds only the part of it in one cluster's caches (L1D_*, L2_*). */
void mem_system_take_cluster_activity(struct mem_system *system, uint32_t cluster, struct activity *into);

/* Keeps cache contents, sets every clock to `now_ns` and clears counters: the border between warm-up and run. */
void mem_system_restart(struct mem_system *system, double now_ns);
void mem_system_flush(struct mem_system *system); /* empties all caches and TLBs */

#endif
