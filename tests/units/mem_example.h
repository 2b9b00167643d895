/* A machine like the M1 Pro, for tests: the figures that krrishnarraj/clpeak measured there (results/Apple/M1_Pro.xml),
 * turned into parameters. The real chips are data of sim/chips; tests must not depend on them.
 */
#ifndef ORCHARD_TESTS_UNITS_MEM_EXAMPLE_H
#define ORCHARD_TESTS_UNITS_MEM_EXAMPLE_H

#include "tests/units/dram_example.h"
#include "units/mem/mem_space.h"
#include "units/mem/mem_timing.h"

/* L2 miss to data. An access finds its place on the clock of the channel, and among activates and bursts of others: */
#define EXAMPLE_DRAM_NS   103.0
#define EXAMPLE_DRAM_WAIT 8.0  /* at most so much later while the channel is nearly idle */
#define EXAMPLE_DRAM_OPEN 18.8 /* sooner when the row is open already: tRCD */

#define EXAMPLE_P_GHZ 3.228
#define EXAMPLE_E_GHZ 2.064

static inline struct mem_cluster_params example_p_cluster(void)
{
    return (struct mem_cluster_params){
        .l2 = {.kib = 12 * 1024, .ways = 12, .latency_cycles = 21.8, .bytes_per_cycle = 128},
        .clock_ghz = EXAMPLE_P_GHZ,
        .l2_outstanding = 192,
        .fabric_gbps = 48, /* ggml-org/whisper.cpp: memcpy by three threads */
    };
}

static inline struct mem_cluster_params example_e_cluster(void)
{
    return (struct mem_cluster_params){
        .l2 = {.kib = 4 * 1024, .ways = 16, .latency_cycles = 18, .bytes_per_cycle = 64},
        .clock_ghz = EXAMPLE_E_GHZ,
        .l2_outstanding = 64,
        .fabric_gbps = 48,
    };
}

static inline struct mem_params example_mem(void)
{
    return (struct mem_params){
        .slc = {.kib = 24 * 1024, .ways = 12},
        .slc_latency_ns = 35,
        .slc_gbps = 400,
        .dram_latency_ns = EXAMPLE_DRAM_NS,
        .dram_peak_gbps = 204.8,
        .dram_timing = example_dram(),
        .dram_policy = EXAMPLE_DRAM_POLICY,
        .dram_channels = 16,
        .dies = 1,
        .tlb_miss_ns = 9.3,
        .tlb_entries_l1 = 160,
        .tlb_entries_l2 = 3072,
        .cluster_count = 3,
        .cluster = {example_p_cluster(), example_p_cluster(), example_e_cluster()},
    };
}

/* A P core's data port in cluster 0. */
static inline struct mem_port_params example_p_port(void)
{
    return (struct mem_port_params){
        .l1 = {.kib = 128, .ways = 8, .latency_cycles = 4, .bytes_per_cycle = 48},
        .prefetch = {.streams = 16, .degree = 4, .distance = 38, .train = 3, .l1_distance = 38},
        .outstanding = 26,
        .l2_bytes_per_cycle = 26.2,
        .gather_lines = 8,
    };
}

/* An E core's, in cluster 2. Its figures are guesses that let ten cores together reach what clpeak saw. */
static inline struct mem_port_params example_e_port(void)
{
    struct mem_port_params p = example_p_port();
    p.cluster = 2;
    p.l1.kib = 64;
    p.l1.bytes_per_cycle = 32;
    p.prefetch.distance = p.prefetch.l1_distance = 38;
    p.outstanding = 12;
    p.l2_bytes_per_cycle = 16;
    return p;
}

/* Without prefetching: for closed forms. */
static inline struct mem_port_params example_plain_port(void)
{
    struct mem_port_params p = example_p_port();
    p.prefetch.streams = 0;
    return p;
}

#endif
