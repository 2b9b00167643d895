/* The memory system in time: latencies, overlap, bandwidth, sharing, in closed forms; then the figures of a real chip. */
#include "tests/support/suite.h"
#include "tests/units/mem_example.h"

#include <math.h>
#include <stdlib.h>

#define MIB (UINT64_C(1) << 20)

static const double l1_ns = 4 / EXAMPLE_P_GHZ, l2_ns = 21.8 / EXAMPLE_P_GHZ;

struct rig {
    struct mem_system *system;
    struct mem_port *port;
};

static struct rig rig_with(const struct mem_params *params, const struct mem_port_params *port)
{
    struct rig r = {mem_system_create(params), NULL};
    CU_ASSERT_PTR_NOT_NULL_FATAL(r.system);
    r.port = mem_port_open(r.system, port, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(r.port);
    return r;
}

static struct rig rig_plain(void)
{
    const struct mem_params params = example_mem();
    const struct mem_port_params port = example_plain_port();
    return rig_with(&params, &port);
}

static struct mem_reply load(struct mem_port *port, double now, uint64_t addr)
{
    return mem_port_access(port, now, addr, 8, MEM_ACCESS_LOAD, 0);
}

static void check_ns(const char *what, double got, double want)
{
    CHECK(fabs(got - want) < 1e-6, "%s: %.9f ns, expected %.9f", what, got, want);
}

static void check_dram(const char *what, double got, double want)
{
    CHECK(got > want - 1e-6 && got < want + EXAMPLE_DRAM_WAIT, "%s: %.3f ns, expected %.3f or little more", what, got, want);
}

static void test_latency_of_each_level(void)
{
    struct rig r = rig_plain();
    load(r.port, 0, 0x100000); /* the page's walk is over with */
    struct mem_reply reply = load(r.port, 1000, 0x100080);
    check_dram("DRAM", reply.ready_ns, 1000 + l2_ns + EXAMPLE_DRAM_NS);
    CU_ASSERT_EQUAL(reply.level, MEM_DRAM);
    reply = load(r.port, 2000, 0x1000c0);
    check_ns("L1", reply.ready_ns, 2000 + l1_ns);
    CU_ASSERT_EQUAL(reply.level, MEM_L1);
    for (uint64_t i = 1; i <= 8; i++) /* push it out of its L1 set: 128 sets apart */
        load(r.port, 3000 + 1000.0 * (double)i, 0x100080 + i * 128 * 128);
    reply = load(r.port, 20000, 0x100080);
    check_ns("L2", reply.ready_ns, 20000 + l2_ns);
    CU_ASSERT_EQUAL(reply.level, MEM_L2);
    for (uint64_t i = 1; i <= 12; i++) /* and of its L2 set: 8192 sets apart, L1 as well */
        load(r.port, 30000 + 1000.0 * (double)i, 0x100080 + i * 8192 * 128);
    load(r.port, 49000, 0x100000); /* keeps the page known */
    reply = load(r.port, 50000, 0x100080);
    check_ns("SLC", reply.ready_ns, 50000 + l2_ns + 35);
    CU_ASSERT_EQUAL(reply.level, MEM_SLC);
    mem_system_free(r.system);
}

static void test_line_in_flight_is_waited_for(void)
{
    struct rig r = rig_plain();
    load(r.port, 0, 0x100000);
    const double there = load(r.port, 1000, 0x100080).ready_ns;
    const struct mem_reply merged = load(r.port, 1010, 0x100088);
    check_ns("same line", merged.ready_ns, there);
    CU_ASSERT_EQUAL(merged.level, MEM_DRAM);
    check_ns("just before", load(r.port, there - l1_ns - 0.001, 0x100088).ready_ns, there);
    check_ns("just after", load(r.port, there + 0.001, 0x100088).ready_ns, there + 0.001 + l1_ns);
    mem_system_free(r.system);
}

static void test_page_walk(void)
{
    struct rig r = rig_plain();
    load(r.port, 0, 0x100000);
    check_dram("new page", load(r.port, 1000, 0x200000).ready_ns, 1000 + 9.3 + l2_ns + EXAMPLE_DRAM_NS);
    check_ns("known page, known line", load(r.port, 2000, 0x200000).ready_ns, 2000 + l1_ns);
    struct mem_counters counters;
    mem_port_counters(r.port, &counters);
    CU_ASSERT_EQUAL(counters.tlb_misses, 2);
    /* 200 pages overflow the first level (160) but not the second: no further walks. */
    for (int round = 0; round < 3; round++)
        for (uint64_t i = 0; i < 200; i++)
            load(r.port, 10000 + 200 * (double)i + 1e5 * round, 0x1000000 + i * MEM_PAGE_BYTES);
    mem_port_counters(r.port, &counters);
    CU_ASSERT_EQUAL(counters.tlb_misses, 202);
    mem_system_free(r.system);
}

static void test_second_level_tlb_costs_its_time(void)
{
    struct mem_params params = example_mem();
    params.tlb_entries_l1 = 16;
    params.tlb_l2_ns = 2.5;
    const struct mem_port_params port = example_plain_port();
    struct rig r = rig_with(&params, &port);
    /* Different lines of their pages, so that they do not meet in one L1 set. */
    for (uint64_t i = 0; i < 17; i++)
        load(r.port, 1000.0 * (double)i, 0x1000000 + i * (MEM_PAGE_BYTES + 128));
    check_ns("page 0 again", load(r.port, 50000, 0x1000000).ready_ns, 50000 + 2.5 + l1_ns);
    mem_system_free(r.system);
}

/* Pages come into the first level one at a time, whatever the second level knows. */
static void test_translations_one_at_a_time(void)
{
    const struct mem_params params = example_mem();
    struct mem_port_params port = example_plain_port();
    port.l1.kib = 0;
    port.tlb_refill_ns = 13.2;
    struct rig r = rig_with(&params, &port);
    for (uint64_t i = 0; i < 200; i++) /* into L2, and into both levels of the TLB, of which the first keeps 160 */
        load(r.port, 1000.0 * (double)i, 0x1000000 + i * (MEM_PAGE_BYTES + 128));
    double ready[4];
    for (uint64_t i = 0; i < 4; i++)
        ready[i] = load(r.port, 1e6, 0x1000000 + i * (MEM_PAGE_BYTES + 128)).ready_ns;
    check_ns("a page only the second level knows", ready[0], 1e6 + 13.2 + l2_ns);
    check_ns("the fourth waits for three", ready[3] - ready[0], 3 * 13.2);
    check_ns("now the first level knows it", load(r.port, 2e6, 0x1000000).ready_ns, 2e6 + l2_ns);
    mem_system_restart(r.system, 0);
    check_dram("a restart forgets the queue", load(r.port, 0, 0x2000000).ready_ns, 13.2 + l2_ns + EXAMPLE_DRAM_NS);
    mem_system_free(r.system);
}

/* A port may have a TLB of its own size. */
static void test_own_translations(void)
{
    const struct mem_params params = example_mem(); /* 160 entries */
    struct mem_port_params port = example_plain_port();
    port.l1.kib = 0;
    port.tlb_refill_ns = 13.2;
    port.tlb_entries = 320;
    struct rig r = rig_with(&params, &port);
    for (uint64_t i = 0; i < 200; i++)
        load(r.port, 1000.0 * (double)i, 0x1000000 + i * (MEM_PAGE_BYTES + 128));
    check_ns("still known", load(r.port, 1e6, 0x1000000).ready_ns, 1e6 + l2_ns);
    for (uint64_t i = 200; i < 600; i++)
        load(r.port, 1000.0 * (double)i, 0x1000000 + i * (MEM_PAGE_BYTES + 128));
    check_ns("no longer", load(r.port, 2e6, 0x1000000).ready_ns, 2e6 + 13.2 + l2_ns);
    mem_system_free(r.system);
}

/* Stores that are booked for later take no place of a load that goes now. */
static void test_queued_stores(void)
{
    const struct mem_params params = example_mem();
    struct mem_port_params port = example_plain_port();
    port.l1.kib = 0;
    port.outstanding = 4;
    struct rig r = rig_with(&params, &port);
    load(r.port, 0, 0x1000000);
    for (uint64_t i = 0; i < 8; i++)
        mem_port_access(r.port, 2000.0 + 10.0 * (double)i, 0x1000800 + 128 * i, 128, MEM_ACCESS_STORE, 0);
    check_ns("a load at once", load(r.port, 1000, 0x1000000).ready_ns, 1000 + l2_ns);
    mem_system_free(r.system);
}

/* Misses of one port in flight: the 27th waits for the first of 26. */
static void test_outstanding_misses(void)
{
    struct rig r = rig_plain();
    for (uint64_t i = 0; i < 2; i++)
        load(r.port, 0, 0x100000 + i * MEM_PAGE_BYTES);
    double first = 0, last_inside = 0;
    for (uint64_t i = 0; i < 26; i++) {
        const double t = load(r.port, 1000, 0x100080 + i * 128).ready_ns;
        first = i == 0 ? t : first;
        last_inside = t;
    }
    const double next = load(r.port, 1000, 0x100080 + 26 * 128).ready_ns;
    CHECK(last_inside < first + l2_ns + EXAMPLE_DRAM_NS - 1, "26 misses overlap: %.1f", last_inside);
    CHECK(next >= first + l2_ns + EXAMPLE_DRAM_NS - 1e-6, "the 27th starts after %.1f: %.1f", first, next);
    mem_system_free(r.system);
}

/* Reads `bytes` from `base` in 64-byte steps at most `ahead` at a time, and returns GB/s. */
static double stream(struct mem_port *port, double start, uint64_t base, uint64_t bytes, unsigned ahead, double *end)
{
    double window[64];
    for (unsigned i = 0; i < 64; i++)
        window[i] = start;
    double last = start;
    for (uint64_t i = 0; i < bytes / 64; i++) {
        const double t = mem_port_access(port, window[i % ahead], base + 64 * i, 64, MEM_ACCESS_LOAD, 0x4000).ready_ns;
        window[i % ahead] = t;
        last = t > last ? t : last;
    }
    *end = last;
    return (double)bytes / (last - start);
}

static void check_rel(const char *what, double got, double want, double tolerance)
{
    CHECK(fabs(got / want - 1) <= tolerance, "%s: %.3f, expected %.3f within %.1f%%", what, got, want, 100 * tolerance);
}

static void test_l2_path_limits_one_port(void)
{
    struct rig r = rig_plain();
    double end;
    stream(r.port, 0, 0x100000, 4 * MIB, 52, &end);
    mem_system_restart(r.system, end);
    check_rel("L2 one port", stream(r.port, end, 0x100000, 4 * MIB, 52, &end), 26.2 * EXAMPLE_P_GHZ, 0.01);
    mem_system_free(r.system);
}

static void test_whole_l2_is_shared(void)
{
    struct mem_params params = example_mem();
    params.cluster[0].l2.bytes_per_cycle = 32;
    const struct mem_port_params port = example_plain_port();
    struct rig r = rig_with(&params, &port);
    struct mem_port *second = mem_port_open(r.system, &port, NULL);
    double end_a, end_b;
    stream(r.port, 0, 0x100000, 2 * MIB, 52, &end_a);
    stream(second, end_a, 0x900000, 2 * MIB, 52, &end_b);
    mem_system_restart(r.system, end_b);
    /* Line by line in turn: both want 26.2 B/cycle, 32 are there. */
    double t[2][52] = {{0}};
    for (unsigned i = 0; i < 52; i++)
        t[0][i] = t[1][i] = end_b;
    const unsigned lines = 2 * MIB / 128;
    double last = 0;
    for (uint64_t i = 0; i < lines; i++) {
        double *a = &t[0][i % 26], *b = &t[1][i % 26];
        *a = load(r.port, *a, 0x100000 + i * 128).ready_ns;
        *b = load(second, *b, 0x900000 + i * 128).ready_ns;
        last = *b > last ? *b : last;
    }
    check_rel("two ports together", 2.0 * lines * 128 / (last - end_b), 32 * EXAMPLE_P_GHZ, 0.02);
    mem_system_free(r.system);
}

static void test_dram_and_fabric_limit_streams(void)
{
    struct mem_params params = example_mem();
    struct mem_port_params port = example_plain_port();
    port.outstanding = 0; /* as many as it likes */
    port.l2_bytes_per_cycle = 0;
    params.cluster[0].l2_outstanding = 0;
    params.tlb_entries_l1 = params.tlb_entries_l2 = 0;
    double end;
    struct rig r = rig_with(&params, &port);
    check_rel("64 half lines in flight", stream(r.port, 0, 0x10000000, 16 * MIB, 64, &end),
              128 * 32 / (l2_ns + EXAMPLE_DRAM_NS - 10), 0.1);
    mem_system_free(r.system);
    /* Prefetching deep enough, the cap of the port shows ... */
    port.prefetch = (struct mem_prefetch_params){.streams = 4, .degree = 8, .distance = 256, .train = 2, .l1_distance = 8};
    r = rig_with(&params, &port);
    check_rel("fabric port", stream(r.port, 0, 0x10000000, 16 * MIB, 64, &end), example_p_cluster().fabric_gbps, 0.02);
    mem_system_free(r.system);
    /* ... or what reads and writes have together, here of reads alone, or all CPU clusters of a die ... */
    params.cluster[0].fabric_both_gbps = 40;
    r = rig_with(&params, &port);
    check_rel("both directions", stream(r.port, 0, 0x10000000, 16 * MIB, 64, &end), 40, 0.02);
    mem_system_free(r.system);
    params.cluster[0].fabric_both_gbps = 0;
    params.cluster[0].cpu = true;
    params.cpu_fabric_gbps = 36;
    r = rig_with(&params, &port);
    check_rel("CPU clusters of a die", stream(r.port, 0, 0x10000000, 16 * MIB, 64, &end), 36, 0.02);
    mem_system_free(r.system);
    params.cpu_fabric_gbps = 0;
    /* ... and without one, that of DRAM. */
    params.cluster[0].fabric_gbps = 0;
    params.dram_peak_gbps = 68;
    r = rig_with(&params, &port);
    check_rel("DRAM", stream(r.port, 0, 0x10000000, 16 * MIB, 64, &end), 68, 0.03);
    mem_system_free(r.system);
}

/* Copies with full-line stores. Returns traffic, read and written, in GB/s; counts what DRAM saw. */
static double copy(struct rig *r, enum mem_access_kind kind, uint64_t bytes, struct activity *seen)
{
    double t[32] = {0}, last = 0;
    const uint64_t from = 0x10000000, to = 0x20004000; /* the two arrays do not meet in one L1 set */
    for (uint64_t i = 0; i < bytes / 64; i++) {
        const double here = t[i % 32];
        const double read = mem_port_access(r->port, here, from + 64 * i, 64, MEM_ACCESS_LOAD, 0x4000).ready_ns;
        t[i % 32] = mem_port_access(r->port, read, to + 64 * i, 64, kind, 0x4004).ready_ns;
        last = t[i % 32] > last ? t[i % 32] : last;
    }
    mem_system_take_activity(r->system, seen);
    return 2.0 * (double)bytes / last;
}

static void test_gathered_stores_need_no_fill(void)
{
    const struct mem_params params = example_mem();
    const struct mem_port_params port = example_p_port();
    const uint64_t bytes = 64 * MIB;
    struct activity plain = {{0}}, gathered = {{0}};
    struct rig r = rig_with(&params, &port);
    const double slow = copy(&r, MEM_ACCESS_STORE, bytes, &plain);
    mem_system_free(r.system);
    r = rig_with(&params, &port);
    const double fast = copy(&r, MEM_ACCESS_STORE_STREAM, bytes, &gathered);
    mem_system_free(r.system);
    check_rel("reads with fills", (double)plain.count[ACT_DRAM_READ_BYTES], 2.0 * (double)bytes, 0.01);
    check_rel("reads when gathered", (double)gathered.count[ACT_DRAM_READ_BYTES], (double)bytes, 0.01);
    /* What the caches still hold (SLC 24 MB, L2 12 MB, both arrays) was not written back. */
    CU_ASSERT_TRUE(gathered.count[ACT_DRAM_WRITE_BYTES] > bytes - 37 * MIB);
    CU_ASSERT_TRUE(gathered.count[ACT_DRAM_WRITE_BYTES] <= bytes);
    CHECK(fast > 1.1 * slow, "gathered %.1f, plain %.1f GB/s", fast, slow);
}

static void test_line_crossing_touches_two_lines(void)
{
    struct rig r = rig_plain();
    load(r.port, 0, 0x100000);
    mem_port_access(r.port, 1000, 0x10017c, 8, MEM_ACCESS_LOAD, 0);
    struct mem_counters counters;
    mem_port_counters(r.port, &counters);
    CU_ASSERT_EQUAL(counters.hits[MEM_DRAM], 3);
    check_ns("first half", load(r.port, 2000, 0x100170).ready_ns, 2000 + l1_ns);
    check_ns("second half", load(r.port, 2000, 0x100180).ready_ns, 2000 + l1_ns);
    struct activity activity = {{0}};
    mem_system_take_activity(r.system, &activity);
    CU_ASSERT_EQUAL(activity.count[ACT_DRAM_READ_BYTES], 3 * 128);
    CU_ASSERT_EQUAL(activity.count[ACT_L1D_READ_BYTES], 8 + 8 + 8 + 8);
    mem_system_free(r.system);
}

/* Columns of a matrix: rows of 16 KiB fall into one L1 set, padded by a line they spread. */
static uint64_t column_misses(uint64_t row_bytes)
{
    struct rig r = rig_plain();
    double now = 0;
    for (int round = 0; round < 4; round++)
        for (uint64_t i = 0; i < 16; i++)
            now = load(r.port, now, 0x1000000 + i * row_bytes).ready_ns;
    struct mem_counters counters;
    mem_port_counters(r.port, &counters);
    mem_system_free(r.system);
    return counters.misses[MEM_L1];
}

static void test_padding_avoids_set_conflicts(void)
{
    CU_ASSERT_EQUAL(column_misses(16384), 64);
    CU_ASSERT_EQUAL(column_misses(16384 + 128), 16);
}

/* One parameter moves the latencies that use it and no other. */
static void test_parameters_reach_only_their_level(void)
{
    enum { FIELDS = 4 };
    for (int field = 0; field < FIELDS; field++) {
        struct mem_params params = example_mem();
        struct mem_port_params port = example_plain_port();
        if (field == 0)
            port.l1.latency_cycles += 10;
        else if (field == 1)
            params.cluster[0].l2.latency_cycles += 10;
        else if (field == 2)
            params.slc_latency_ns += 10;
        else
            params.dram_latency_ns += 10;
        struct rig r = rig_with(&params, &port);
        load(r.port, 0, 0x100000);
        const double dram = load(r.port, 1000, 0x100080).ready_ns - 1000;
        const double l1 = load(r.port, 2000, 0x100080).ready_ns - 2000;
        for (uint64_t i = 1; i <= 8; i++)
            load(r.port, 3000 + 1000.0 * (double)i, 0x100080 + i * 128 * 128);
        const double l2 = load(r.port, 20000, 0x100080).ready_ns - 20000;
        const double plus = 10 / EXAMPLE_P_GHZ;
        check_ns("L1", l1, l1_ns + (field == 0 ? plus : 0));
        check_ns("L2", l2, l2_ns + (field == 1 ? plus : 0));
        check_dram("DRAM", dram, l2_ns + EXAMPLE_DRAM_NS + (field == 1 ? plus : field == 3 ? 10 : 0));
        mem_system_free(r.system);
    }
}

static void test_clock_scales_the_caches(void)
{
    struct rig r = rig_plain();
    load(r.port, 0, 0x100000);
    mem_system_set_clock(r.system, 0, EXAMPLE_P_GHZ / 2);
    check_ns("L1", load(r.port, 1000, 0x100000).ready_ns, 1000 + 2 * l1_ns);
    check_dram("DRAM", load(r.port, 2000, 0x100080).ready_ns, 2000 + 2 * l2_ns + EXAMPLE_DRAM_NS);
    mem_system_free(r.system);
}

static void test_restart_keeps_contents(void)
{
    struct rig r = rig_plain();
    load(r.port, 0, 0x100000);
    mem_system_restart(r.system, 5000);
    check_ns("hit after restart", load(r.port, 5000, 0x100000).ready_ns, 5000 + l1_ns);
    struct mem_counters counters;
    mem_system_counters(r.system, &counters);
    CU_ASSERT_EQUAL(counters.hits[MEM_L1], 1);
    CU_ASSERT_EQUAL(counters.misses[MEM_L1], 0);
    mem_system_flush(r.system);
    CU_ASSERT_EQUAL(load(r.port, 6000, 0x100000).level, MEM_DRAM);
    mem_system_free(r.system);
}

static void test_bad_parameters_are_refused(void)
{
    struct mem_params params = example_mem();
    params.dram_channels = 0;
    CU_ASSERT_PTR_NULL(mem_system_create(&params));
    params = example_mem();
    params.dies = 3;
    CU_ASSERT_PTR_NULL(mem_system_create(&params));
    params = example_mem();
    params.cluster[1].die = 1;
    CU_ASSERT_PTR_NULL(mem_system_create(&params));
    struct rig r = rig_plain();
    struct mem_port_params port = example_p_port();
    port.cluster = 3;
    CU_ASSERT_PTR_NULL(mem_port_open(r.system, &port, NULL));
    mem_system_free(r.system);
}

static const struct suite_test tests[] = {
    {"latency of each level", test_latency_of_each_level},
    {"a line in flight is waited for", test_line_in_flight_is_waited_for},
    {"page walks", test_page_walk},
    {"translations one at a time", test_translations_one_at_a_time},
    {"a TLB of a port's own", test_own_translations},
    {"queued stores", test_queued_stores},
    {"the second-level TLB costs its time", test_second_level_tlb_costs_its_time},
    {"misses in flight are limited", test_outstanding_misses},
    {"the path to L2 limits one port", test_l2_path_limits_one_port},
    {"the whole L2 is shared", test_whole_l2_is_shared},
    {"fabric and DRAM limit streams", test_dram_and_fabric_limit_streams},
    {"gathered stores need no fill", test_gathered_stores_need_no_fill},
    {"a line crossing touches two lines", test_line_crossing_touches_two_lines},
    {"padding avoids set conflicts", test_padding_avoids_set_conflicts},
    {"parameters reach only their level", test_parameters_reach_only_their_level},
    {"the clock scales the caches", test_clock_scales_the_caches},
    {"restart keeps contents", test_restart_keeps_contents},
    {"bad parameters are refused", test_bad_parameters_are_refused},
};
SUITE_MAIN("mem_timing", tests)
