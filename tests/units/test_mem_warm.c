/* Accesses at no time leave the caches as the same accesses leave them when they are simulated one by one. */
#include "tests/support/suite.h"
#include "tests/units/dram_example.h"
#include "units/mem/mem_space.h"
#include "units/mem/mem_timing.h"

#include <string.h>

enum { PORTS = 2, LINES = 6000, ACCESSES = 20000 };

struct machine {
    struct mem_system *system;
    struct mem_port *port[PORTS];
};

/* Two cores of a GPU: write-through L1 of 8 KiB, on each die an L2 of 64 KiB and an SLC of 512 KiB. */
static struct machine machine_open_lines(uint32_t dies, enum mem_die_policy policy, uint32_t fill_bytes, uint32_t scatter,
                                         uint32_t line_bytes)
{
    const struct mem_cluster_params cluster = {.l2 = {.kib = 64, .ways = 8, .latency_cycles = 20},
                                               .clock_ghz = 1,
                                               .l2_outstanding = 64,
                                               .l2_scatter = scatter,
                                               .l2_line_bytes = line_bytes};
    const struct mem_params params = {.slc = {.kib = 512, .ways = 16},
                                      .slc_latency_ns = 30,
                                      .slc_gbps = 100,
                                      .dram_latency_ns = 100,
                                      .dram_peak_gbps = 100,
                                      .dram_timing = example_dram(),
                                      .dram_policy = EXAMPLE_DRAM_POLICY,
                                      .dram_channels = 4,
                                      .dies = dies,
                                      .die_policy = policy,
                                      .die_link_gbps = 50,
                                      .die_link_latency_ns = 20,
                                      .tlb_miss_ns = 100,
                                      .tlb_entries_l1 = 16,
                                      .tlb_entries_l2 = 64,
                                      .tlb_l2_ns = 5,
                                      .cluster_count = dies,
                                      .cluster = {cluster, cluster}};
    struct mem_params placed = params;
    placed.cluster[1].die = 1;
    struct mem_port_params port = {.l1 = {.kib = 8, .ways = 4, .latency_cycles = 5},
                                   .prefetch = {.train = 1},
                                   .outstanding = 64,
                                   .gather_lines = 8,
                                   .gather_plain = true,
                                   .fill_bytes = fill_bytes,
                                   .write_through = true};
    struct machine m = {.system = mem_system_create(&placed)};
    for (uint32_t i = 0; m.system && i < PORTS; i++) {
        port.cluster = i % dies;
        m.port[i] = mem_port_open(m.system, &port, NULL);
    }
    return m;
}

static struct machine machine_open(uint32_t dies, enum mem_die_policy policy, uint32_t fill_bytes, uint32_t scatter)
{
    return machine_open_lines(dies, policy, fill_bytes, scatter, 0);
}

struct access {
    unsigned port;
    uint64_t address;
    uint32_t bytes;
    enum mem_access_kind kind;
};

/* Loads and stores of lines and halves, and atomics: near one another for a while, then elsewhere. */
static struct access next_access(uint64_t *state)
{
    const uint64_t r = suite_random(state), place = *state >> 40 & 7 ? 200 : LINES;
    struct access a = {.port = r & 1, .address = (1000 + (r >> 8) % place) * MEM_ACCESS_BYTES_MAX / 2, .bytes = 128};
    static const enum mem_access_kind kinds[] = {MEM_ACCESS_LOAD, MEM_ACCESS_LOAD, MEM_ACCESS_STORE, MEM_ACCESS_FETCH};
    a.kind = kinds[r >> 2 & 3];
    if (a.kind != MEM_ACCESS_FETCH && (r >> 4 & 1)) {
        a.address += r >> 5 & 1 ? 64 : 0;
        a.bytes = 64;
    }
    return a;
}

/* The same, with loads of quarters. */
static struct access next_quarter(uint64_t *state)
{
    struct access a = next_access(state);
    const uint64_t r = suite_random(state);
    if (a.kind == MEM_ACCESS_LOAD && (r & 3))
        a = (struct access){.port = a.port, .address = a.address + (r >> 2 & 1) * 32, .bytes = 32, .kind = a.kind};
    return a;
}

static void compare_contents(uint32_t fill_bytes, uint32_t line_bytes)
{
    struct machine timed = machine_open_lines(1, MEM_DIE_INTERLEAVE, fill_bytes, 0, line_bytes);
    struct machine warmed = machine_open_lines(1, MEM_DIE_INTERLEAVE, fill_bytes, 0, line_bytes);
    uint64_t state = 7, seen[MEM_LEVEL_COUNT] = {0};
    unsigned differ = 0;
    if (!timed.port[PORTS - 1] || !warmed.port[PORTS - 1]) {
        CU_FAIL_FATAL("no machine");
        return;
    }
    for (int i = 0; i < ACCESSES; i++) {
        const struct access a = fill_bytes == 32 ? next_quarter(&state) : next_access(&state);
        mem_port_access(timed.port[a.port], 1000.0 * i, a.address, a.bytes, a.kind, 0);
        mem_port_warm(warmed.port[a.port], 1000.0 * i, a.address, a.bytes, a.kind);
    }
    for (int line = 0; line < LINES; line++) {
        const uint64_t address = (1000 + (uint64_t)line) * 128;
        const unsigned port = line & 1;
        const double now = 1000.0 * (ACCESSES + line);
        const struct mem_reply a = mem_port_access(timed.port[port], now, address, 128, MEM_ACCESS_LOAD, 0);
        const struct mem_reply b = mem_port_access(warmed.port[port], now, address, 128, MEM_ACCESS_LOAD, 0);
        seen[a.level]++;
        differ += a.level != b.level;
    }
    CHECK(differ == 0, "%u of %d lines", differ, LINES);
    for (int level = 0; level < MEM_LEVEL_COUNT; level++)
        CHECK(seen[level] > 0, "no line was found at level %d", level);
    mem_system_free(timed.system);
    mem_system_free(warmed.system);
}

static void test_same_contents(void)
{
    compare_contents(128, 128);
    compare_contents(64, 128);
    compare_contents(64, 64);
    compare_contents(32, 64);
}

static enum mem_level load(struct machine *m, double now_ns, uint64_t address, uint32_t bytes)
{
    return mem_port_access(m->port[0], now_ns, address, bytes, MEM_ACCESS_LOAD, 0).level;
}

/* A miss of half a line brings in that half; what is read of it on the way is counted. */
static void test_halves(void)
{
    struct machine m = machine_open(1, MEM_DIE_INTERLEAVE, 64, 0);
    struct mem_counters counted;
    CU_ASSERT_EQUAL(load(&m, 1000, 4096, 4), MEM_DRAM);
    CU_ASSERT_EQUAL(load(&m, 2000, 4096 + 60, 4), MEM_L1);
    CU_ASSERT_EQUAL(load(&m, 3000, 4096 + 64, 4), MEM_SLC);
    CU_ASSERT_EQUAL(load(&m, 4000, 4096 + 32, 64), MEM_L1);
    CU_ASSERT_EQUAL(load(&m, 5000, 8192 + 32, 64), MEM_DRAM);
    CU_ASSERT_EQUAL(load(&m, 6000, 8192, 128), MEM_L1);
    mem_system_counters(m.system, &counted);
    CU_ASSERT_EQUAL(counted.traffic.requester[0][MEM_FLOW_FABRIC_READ], 64 + 64 + 128);
    CU_ASSERT_EQUAL(counted.traffic.requester[0][MEM_FLOW_DRAM_READ], 2 * 128);
    mem_system_free(m.system);
}

/* With quarters, the L1 brings in no more than is asked for, and L2 halves. What comes over its port is what was asked for. */
static void test_quarters(void)
{
    struct machine m = machine_open(1, MEM_DIE_INTERLEAVE, 32, 0);
    struct mem_counters counted;
    CU_ASSERT_EQUAL(load(&m, 1000, 4096, 4), MEM_DRAM);
    CU_ASSERT_EQUAL(load(&m, 2000, 4096 + 28, 4), MEM_L1);
    CU_ASSERT_EQUAL(load(&m, 3000, 4096 + 32, 4), MEM_L2);
    CU_ASSERT_EQUAL(load(&m, 4000, 4096, 64), MEM_L1);
    CU_ASSERT_EQUAL(load(&m, 5000, 4096 + 92, 8), MEM_SLC);
    CU_ASSERT_EQUAL(load(&m, 6000, 4096 + 64, 64), MEM_L1);
    CU_ASSERT_EQUAL(load(&m, 7000, 8192 + 32, 64), MEM_DRAM);
    CU_ASSERT_EQUAL(load(&m, 8000, 8192 + 32, 64), MEM_L1);
    CU_ASSERT_EQUAL(load(&m, 9000, 8192, 4), MEM_L2);
    CU_ASSERT_EQUAL(load(&m, 10000, 8192 + 96, 4), MEM_L2);
    mem_system_counters(m.system, &counted);
    CU_ASSERT_EQUAL(counted.traffic.requester[0][MEM_FLOW_FABRIC_READ], 64 + 64 + 128);
    mem_system_free(m.system);
}

/* Halves of twice as many lines as the L2 has room for are in it together, where its ways hold halves, and not otherwise; of
 * whole lines there is room for as many either way. */
static void test_half_lines_of_l2(void)
{
    enum { ROOM = 64 * 1024 / 128, FIRST = 1 << 20 };
    for (unsigned c = 0; c < 4; c++) {
        const uint32_t line_bytes = c & 1 ? 64 : 128, bytes = c & 2 ? 128 : 4, lines = c & 2 ? ROOM : 2 * ROOM;
        struct machine m = machine_open_lines(1, MEM_DIE_INTERLEAVE, 64, 0, line_bytes);
        unsigned found = 0;
        for (unsigned turn = 0; turn < 2; turn++)
            for (uint32_t i = 0; i < lines; i++)
                found += load(&m, 1000.0 * (turn * lines + i), FIRST + i * 128, bytes) == MEM_L2 && turn;
        const unsigned wanted = c & 2 || line_bytes == 64 ? lines : 0;
        CHECK(found == wanted, "lines of %u, loads of %u bytes: %u of %u found in L2", line_bytes, bytes, found, lines);
        mem_system_free(m.system);
    }
}

/* A line of which a part is written reaches L2 without being read; what nobody wrote is read when it is wanted. */
static void test_parts_of_lines(void)
{
    struct machine m = machine_open(1, MEM_DIE_INTERLEAVE, 64, 0);
    struct mem_counters counted;
    for (unsigned i = 0; i < 9; i++) /* one more than are gathered */
        mem_port_access(m.port[0], 100.0 * i, 4096 + 128 * i, 32, MEM_ACCESS_STORE, 0);
    mem_system_counters(m.system, &counted);
    CU_ASSERT_EQUAL(counted.traffic.requester[0][MEM_FLOW_FABRIC_READ], 0);
    CU_ASSERT_EQUAL(load(&m, 10000, 4096 + 96, 4), MEM_DRAM);
    mem_system_counters(m.system, &counted);
    CU_ASSERT_EQUAL(counted.traffic.requester[0][MEM_FLOW_FABRIC_READ], 64);
    mem_system_free(m.system);
}

/* What it tells: where lines came into. Nothing is counted. */
static void test_levels(void)
{
    struct machine m = machine_open(1, MEM_DIE_INTERLEAVE, 128, 0);
    struct mem_counters counters;
    struct activity activity = {{0}};
    CU_ASSERT_EQUAL(mem_port_warm(m.port[0], 0, 4096, 128, MEM_ACCESS_LOAD), MEM_DRAM);
    CU_ASSERT_EQUAL(mem_port_warm(m.port[0], 0, 4096, 128, MEM_ACCESS_LOAD), MEM_L1);
    CU_ASSERT_EQUAL(mem_port_warm(m.port[1], 0, 4096, 128, MEM_ACCESS_LOAD), MEM_L2);
    CU_ASSERT_EQUAL(mem_port_warm(m.port[1], 0, 8192, 128, MEM_ACCESS_STORE), MEM_SLC);
    CU_ASSERT_EQUAL(mem_port_warm(m.port[1], 0, 8192, 128, MEM_ACCESS_STORE), MEM_L2);
    mem_system_counters(m.system, &counters);
    mem_system_take_activity(m.system, &activity);
    CU_ASSERT_EQUAL(counters.tlb_misses, 0);
    CU_ASSERT_EQUAL(counters.hits[MEM_DRAM] + counters.misses[MEM_L1], 0);
    CU_ASSERT_EQUAL(activity.count[ACT_DRAM_READ_BYTES], 0);
    mem_system_free(m.system);
}

/* The host may be told of any line at any time, by any core: times, levels and traffic stay the same, and no page finds a home.
 */
static void told_or_not(uint32_t dies, enum mem_die_policy policy)
{
    struct machine told = machine_open(dies, policy, 64, 0), untold = machine_open(dies, policy, 64, 0);
    struct mem_counters with, without;
    uint64_t state = 11, other = 13;
    unsigned differ = 0;
    if (!told.port[PORTS - 1] || !untold.port[PORTS - 1]) {
        CU_FAIL_FATAL("no machine");
        return;
    }
    for (int i = 0; i < ACCESSES; i++) {
        const struct access a = next_access(&state), far = next_access(&other);
        mem_port_expect(told.port[far.port], far.address);
        mem_port_expect_soon(told.port[1 - a.port], a.address);
        const struct mem_reply x = mem_port_access(told.port[a.port], 20.0 * i, a.address, a.bytes, a.kind, 0);
        const struct mem_reply y = mem_port_access(untold.port[a.port], 20.0 * i, a.address, a.bytes, a.kind, 0);
        differ += x.ready_ns != y.ready_ns || x.level != y.level;
    }
    mem_system_counters(told.system, &with);
    mem_system_counters(untold.system, &without);
    CHECK(differ == 0, "%u dies, policy %d: %u of %d accesses differ", dies, (int)policy, differ, ACCESSES);
    CU_ASSERT_EQUAL(memcmp(&with, &without, sizeof with), 0);
    mem_system_free(told.system);
    mem_system_free(untold.system);
}

static void test_told_host(void)
{
    told_or_not(1, MEM_DIE_INTERLEAVE);
    told_or_not(2, MEM_DIE_INTERLEAVE);
    told_or_not(2, MEM_DIE_FIRST_TOUCH);
    told_or_not(2, MEM_DIE_ONE);
}

/* Every fourth line of eight pages, half of what the L2 holds: how many of them it has when they are read again. */
static unsigned kept_of_every_fourth(uint32_t scatter)
{
    enum { PAGES = 8, FIRST_PAGE = 40 };
    struct machine m = machine_open(1, MEM_DIE_INTERLEAVE, 128, scatter);
    unsigned kept = 0;
    for (unsigned turn = 0; m.port[0] && turn < 2; turn++)
        for (unsigned line = 0; line < PAGES * MEM_PAGE_BYTES / MEM_LINE_BYTES; line += 4) {
            const uint64_t address = (uint64_t)FIRST_PAGE * MEM_PAGE_BYTES + (uint64_t)line * MEM_LINE_BYTES;
            const enum mem_level level = load(&m, 1000.0 * (1 + line + turn * 4096), address, 128);
            kept += turn == 1 && (level == MEM_L1 || level == MEM_L2);
        }
    mem_system_free(m.system);
    return kept;
}

/* Chosen by the address alone, a quarter of the sets takes them all and none stays; a hash spreads them. */
static void test_scatter(void)
{
    const unsigned plain = kept_of_every_fourth(0), spread = kept_of_every_fourth(1);
    CHECK(plain == 0, "%u of 256 lines", plain);
    CHECK(spread >= 192, "%u of 256 lines", spread);
}

/* The caches in front are not told: the SLC has the line, then the L2, and at last the L1. */
static void test_farther_caches(void)
{
    struct machine m = machine_open(1, MEM_DIE_INTERLEAVE, 32, 1);
    const uint64_t address = UINT64_C(40) << 20;
    enum mem_level level[6] = {MEM_L1};
    for (unsigned i = 0; m.port[0] && i < 2; i++) {
        level[i] = mem_port_warm_side(m.port[0], 0, address, 64, MEM_ACCESS_LOAD);
        mem_port_expect_side(m.port[0], address);
    }
    for (unsigned i = 2; m.port[0] && i < 4; i++)
        level[i] = mem_port_warm_shared(m.port[0], 0, address, 64, MEM_ACCESS_LOAD);
    for (unsigned i = 4; m.port[0] && i < 6; i++)
        level[i] = mem_port_warm(m.port[0], 0, address, 64, MEM_ACCESS_LOAD);
    CHECK(level[0] == MEM_DRAM && level[1] == MEM_SLC, "SLC: %d, %d", level[0], level[1]);
    CHECK(level[2] == MEM_SLC && level[3] == MEM_L2, "L2: %d, %d", level[2], level[3]);
    CHECK(level[4] == MEM_L2 && level[5] == MEM_L1, "L1: %d, %d", level[4], level[5]);
    mem_system_free(m.system);
}

static const struct suite_test tests[] = {
    {"reaches farther caches alone", test_farther_caches},
    {"leaves the caches as simulated accesses do", test_same_contents},
    {"brings in halves of lines", test_halves},
    {"passes quarters of lines on", test_quarters},
    {"gives halves of lines the room of halves", test_half_lines_of_l2},
    {"takes parts of lines without reading them", test_parts_of_lines},
    {"tells how far lines came, counts nothing", test_levels},
    {"a hash spreads every fourth line over the L2", test_scatter},
    {"is the same whether the host is told of lines or not", test_told_host},
};
SUITE_MAIN("mem_warm", tests)
