/* Prefetching: what it trains on, what it fetches, what its counters say, when it hurts. */
#include "isa/array_count.h"
#include "tests/support/suite.h"
#include "tests/units/mem_example.h"

#include <math.h>

#define L2_NS (21.8 / EXAMPLE_P_GHZ)

struct rig {
    struct mem_system *system;
    struct mem_port *port;
};

static struct rig rig_with(struct mem_prefetch_params prefetch, uint32_t l1_kib)
{
    const struct mem_params params = example_mem();
    struct mem_port_params port = example_p_port();
    port.prefetch = prefetch;
    port.l1.kib = l1_kib;
    struct rig r = {mem_system_create(&params), NULL};
    CU_ASSERT_PTR_NOT_NULL_FATAL(r.system);
    r.port = mem_port_open(r.system, &port, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(r.port);
    return r;
}

static struct mem_reply load(struct rig *r, double now, uint64_t line, uint64_t pc)
{
    return mem_port_access(r->port, now, 0x1000000 + line * 128, 8, MEM_ACCESS_LOAD, pc);
}

static struct mem_counters counters(const struct rig *r)
{
    struct mem_counters c;
    mem_port_counters(r->port, &c);
    return c;
}

static const struct mem_prefetch_params four_ahead = {.streams = 4, .degree = 2, .distance = 4, .train = 2, .l1_distance = 4};

static void test_trains_on_equal_steps(void)
{
    struct rig r = rig_with(four_ahead, 128);
    load(&r, 0, 0, 0x40);
    load(&r, 1000, 1, 0x40); /* a step */
    load(&r, 2000, 2, 0x40); /* once more */
    CU_ASSERT_EQUAL(counters(&r).prefetch_issued, 0);
    load(&r, 3000, 3, 0x40); /* twice: trusted, two lines at a time */
    CU_ASSERT_EQUAL(counters(&r).prefetch_issued, 2);
    load(&r, 4000, 4, 0x40); /* two more, now four ahead after one step: lines 5..8 */
    CU_ASSERT_EQUAL(counters(&r).prefetch_issued, 4);
    CU_ASSERT_EQUAL(counters(&r).prefetch_used, 1);
    load(&r, 5000, 5, 0x40);
    CU_ASSERT_EQUAL(counters(&r).prefetch_issued, 6);
    load(&r, 6000, 6, 0x40); /* full distance: one line per step from here on */
    CU_ASSERT_EQUAL(counters(&r).prefetch_issued, 7);
    load(&r, 7000, 7, 0x40);
    CU_ASSERT_EQUAL(counters(&r).prefetch_issued, 8);
    CU_ASSERT_EQUAL(counters(&r).prefetch_used, 4);
    CU_ASSERT_EQUAL(counters(&r).prefetch_late, 0);
    CU_ASSERT_EQUAL(load(&r, 8000, 8, 0x40).level, MEM_L1);
    mem_system_free(r.system);
}

static void test_late_prefetches_still_help(void)
{
    struct rig r = rig_with(four_ahead, 128);
    for (uint64_t i = 0; i < 4; i++)
        load(&r, 1000.0 * (double)i, i, 0x40);
    const struct mem_reply late = load(&r, 3050, 4, 0x40);
    CU_ASSERT_EQUAL(counters(&r).prefetch_late, 1);
    CU_ASSERT_EQUAL(late.level, MEM_DRAM);
    /* Fetched at once, behind the line that was asked for: 128 bytes at 48 GB/s. */
    CHECK(fabs(late.ready_ns - (3000 + L2_NS + EXAMPLE_DRAM_NS + 128 / 48.0)) < EXAMPLE_DRAM_WAIT, "arrives when fetched: %.3f",
          late.ready_ns - 3000);
    mem_system_free(r.system);
}

static void test_strides_and_directions(void)
{
    const int64_t strides[] = {1, -1, 3, -7, 40};
    for (size_t i = 0; i < ARRAY_COUNT(strides); i++) {
        struct rig r = rig_with(four_ahead, 128);
        for (int64_t k = 0; k < 12; k++)
            load(&r, 1000.0 * (double)k, (uint64_t)(10000 + k * strides[i]), 0x40);
        CHECK(load(&r, 20000, (uint64_t)(10000 + 12 * strides[i]), 0x40).level == MEM_L1, "stride %ld", (long)strides[i]);
        CHECK(counters(&r).prefetch_used == 9, "stride %ld used %lu", (long)strides[i],
              (unsigned long)counters(&r).prefetch_used);
        mem_system_free(r.system);
    }
}

static void test_streams_interleave(void)
{
    struct rig r = rig_with(four_ahead, 128);
    for (uint64_t k = 0; k < 32; k++)
        for (uint64_t s = 0; s < 4; s++)
            load(&r, 1000.0 * (double)k + 200.0 * (double)s, s * 5000 + k, 0x40 + 4 * s);
    CU_ASSERT_EQUAL(counters(&r).hits[MEM_DRAM], 4 * 4);
    /* A fifth stream is one too many: least recently used replacement forgets each before its next step. */
    struct rig five = rig_with(four_ahead, 128);
    for (uint64_t k = 0; k < 32; k++)
        for (uint64_t s = 0; s < 5; s++)
            load(&five, 1000.0 * (double)k + 180.0 * (double)s, s * 5000 + k, 0x40 + 4 * s);
    CU_ASSERT_EQUAL(counters(&five).prefetch_issued, 0);
    mem_system_free(r.system);
    mem_system_free(five.system);
}

/* Four instructions take turns over a matrix, a row each, as products with a vector do: each only makes runs as short as a row,
 * but together they read an array from end to end. Only its first lines come from DRAM without having been fetched ahead. */
static void test_short_rows_are_one_stream(void)
{
    const struct mem_prefetch_params p = {.streams = 16, .degree = 4, .distance = 38, .train = 3, .l1_distance = 38};
    for (uint64_t row = 1; row <= 16; row *= 2) {
        struct rig r = rig_with(p, 128);
        double now = 0;
        for (uint64_t group = 0; group < 100; group++)
            for (uint64_t line = 0; line < row; line++)
                for (uint64_t i = 0; i < 4; i++, now += 200)
                    load(&r, now, (4 * group + i) * row + line, 0x40 + 4 * i);
        const struct mem_counters c = counters(&r);
        CHECK(c.hits[MEM_DRAM] <= 30, "rows of %lu lines: %lu from DRAM", (unsigned long)row, (unsigned long)c.hits[MEM_DRAM]);
        CHECK(c.prefetch_used >= 360 * row, "rows of %lu lines: %lu used", (unsigned long)row, (unsigned long)c.prefetch_used);
        mem_system_free(r.system);
    }
}

/* Four rows of 32 lines side by side, eight lines of each at a time, as a matrix is transposed piece by piece: the first row's
 * stream reaches the next row, whose demands move it a whole row on. It then orders what is due for all the lines it passed, and
 * runs as far ahead as before, so that few lines are asked of DRAM by demands. */
static void test_a_stream_that_is_moved_on_keeps_its_distance(void)
{
    const struct mem_prefetch_params p = {.streams = 16, .degree = 4, .distance = 38, .train = 3, .l1_distance = 38};
    struct rig r = rig_with(p, 128);
    double now = 0;
    for (uint64_t group = 0; group < 24; group++)
        for (uint64_t piece = 0; piece < 4; piece++)
            for (uint64_t line = 0; line < 8; line++)
                for (uint64_t i = 0; i < 4; i++, now += 200)
                    load(&r, now, 32 * (4 * group + i) + 8 * piece + line, 0x40 + 4 * i);
    const struct mem_counters c = counters(&r);
    CHECK(c.hits[MEM_DRAM] <= 96, "%lu of 3072 lines from DRAM", (unsigned long)c.hits[MEM_DRAM]);
    mem_system_free(r.system);
}

/* A chase through an L1 in no order makes no runs: nothing beyond it comes in and displaces it. */
static void test_chases_in_l1_fetch_nothing(void)
{
    const struct mem_prefetch_params p = {.streams = 16, .degree = 4, .distance = 38, .train = 3, .l1_distance = 38};
    struct rig r = rig_with(p, 128);
    uint64_t order[1024] = {0}, seed = 5;
    for (uint64_t i = 0; i < ARRAY_COUNT(order); i++) {
        const uint64_t j = suite_random(&seed) % (i + 1);
        order[i] = order[j];
        order[j] = i;
    }
    for (uint64_t i = 0; i < 3 * ARRAY_COUNT(order); i++)
        load(&r, 200.0 * (double)i, order[i % ARRAY_COUNT(order)], 0x40);
    CHECK(counters(&r).prefetch_issued == 0, "%lu", (unsigned long)counters(&r).prefetch_issued);
    mem_system_free(r.system);
}

static void test_random_accesses_fetch_nothing(void)
{
    struct rig r = rig_with(four_ahead, 128);
    uint64_t seed = 3;
    for (int i = 0; i < 5000; i++)
        load(&r, 200.0 * i, suite_random(&seed) % 1000000, 0);
    CHECK(counters(&r).prefetch_issued < 10, "%lu", (unsigned long)counters(&r).prefetch_issued);
    mem_system_free(r.system);
}

/* Short runs end before the fetched lines are used; in a small cache they push others out and go unused. */
static void test_pollution_is_counted(void)
{
    const struct mem_prefetch_params eager = {.streams = 4, .degree = 16, .distance = 16, .train = 2, .l1_distance = 16};
    struct rig r = rig_with(eager, 8); /* 64 lines */
    double now = 0;
    for (uint64_t run = 0; run < 40; run++)
        for (uint64_t k = 0; k < 4; k++)
            now = load(&r, now + 1000, run * 1001 + k, 0x40 + 4 * run).ready_ns;
    const struct mem_counters c = counters(&r);
    CU_ASSERT_EQUAL(c.prefetch_used, 0);
    CU_ASSERT_EQUAL(c.prefetch_issued, 40 * 16);
    CHECK(c.prefetch_evicted_unused >= 40 * 16 - 64 && c.prefetch_evicted_unused <= 40 * 16, "%lu unused",
          (unsigned long)c.prefetch_evicted_unused);
    CU_ASSERT_TRUE(c.demand_evicted_by_prefetch > 0);
    mem_system_free(r.system);
}

/* A dependent chain over lines in order: without prefetching the whole latency. With it, 16 lines are on their way when
 * one is asked for, so 17 steps take one latency. */
static double chain_ns(uint32_t streams)
{
    const struct mem_prefetch_params p = {.streams = streams, .degree = 4, .distance = 16, .train = 2, .l1_distance = 16};
    struct rig r = rig_with(p, 128);
    double now = 0, start = 0;
    for (uint64_t i = 0; i < 20000; i++) {
        now = load(&r, now, i, 0x40).ready_ns;
        if (i == 1000)
            start = now;
    }
    mem_system_free(r.system);
    return (now - start) / 18999;
}

static void test_distance_over_latency(void)
{
    const double walk = 9.3 / 128; /* a page has 128 lines */
    const double none = chain_ns(0), some = chain_ns(8);
    CHECK(fabs(none - (L2_NS + EXAMPLE_DRAM_NS + walk)) < EXAMPLE_DRAM_WAIT, "without: %.3f ns", none);
    CHECK(fabs(some / ((L2_NS + EXAMPLE_DRAM_NS) / 17) - 1) < 0.08, "with: %.3f ns, expected %.3f", some,
          (L2_NS + EXAMPLE_DRAM_NS) / 17);
}

static const struct suite_test tests[] = {
    {"trains on equal steps", test_trains_on_equal_steps},
    {"late prefetches still help", test_late_prefetches_still_help},
    {"strides and directions", test_strides_and_directions},
    {"streams interleave", test_streams_interleave},
    {"short rows are one stream", test_short_rows_are_one_stream},
    {"a stream that is moved on keeps its distance", test_a_stream_that_is_moved_on_keeps_its_distance},
    {"chases in L1 fetch nothing", test_chases_in_l1_fetch_nothing},
    {"random accesses fetch nothing", test_random_accesses_fetch_nothing},
    {"pollution is counted", test_pollution_is_counted},
    {"a chain goes at latency over distance + 1", test_distance_over_latency},
};
SUITE_MAIN("mem_prefetch", tests)
