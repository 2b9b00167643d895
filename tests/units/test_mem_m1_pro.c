/* The figures that krrishnarraj/clpeak measured on an M1 Pro (results/Apple/M1_Pro.xml), with its access patterns
 * (src/cpu/latency.cpp: nodes of 64 bytes in one random cycle; 256 MB for DRAM; one node per page for the TLB row). The
 * parameters of the example machine come from a few of these figures; that all of them fit is the test.
 */
#include "tests/support/suite.h"
#include "tests/units/mem_example.h"

#include <math.h>
#include <stdlib.h>

#define MIB  (UINT64_C(1) << 20)
#define NODE 64

struct rig {
    struct mem_system *system;
    struct mem_port *port;
};

static struct rig example_rig(void)
{
    struct mem_params params = example_mem();
    params.dram_policy.refresh = DRAM_REFRESH_STRICT;
    const struct mem_port_params port = example_p_port();
    struct rig r = {mem_system_create(&params), NULL};
    CU_ASSERT_PTR_NOT_NULL_FATAL(r.system);
    r.port = mem_port_open(r.system, &port, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(r.port);
    return r;
}

static uint32_t *random_order(uint32_t n)
{
    uint32_t *order = malloc(n * sizeof order[0]);
    uint64_t seed = n;
    for (uint32_t i = 0; order && i < n; i++)
        order[i] = i;
    for (uint32_t i = n - 1; order && i > 0; i--) {
        const uint32_t j = (uint32_t)(suite_random(&seed) % i), was = order[i];
        order[i] = order[j];
        order[j] = was;
    }
    return order;
}

static double hop(struct mem_port *port, double now, uint64_t addr)
{
    return mem_port_access(port, now, addr, 4, MEM_ACCESS_LOAD, 0x4000).ready_ns;
}

/* ns per hop over a set that fits some cache: one round to warm up, one to measure. */
static double cached_chase(uint64_t bytes)
{
    struct rig r = example_rig();
    const uint32_t n = (uint32_t)(bytes / NODE);
    uint32_t *order = random_order(n);
    CU_ASSERT_PTR_NOT_NULL_FATAL(order);
    double now = 0, start = 0;
    for (uint32_t i = 0; i < 2 * n; i++) {
        now = hop(r.port, now, (uint64_t)order[i % n] * NODE);
        start = i == n - 1 ? now : start;
    }
    free(order);
    mem_system_free(r.system);
    return (now - start) / n;
}

/* ns per hop of k cursors in one random cycle through 256 MB, caches and TLB warm. */
static double dram_chase(unsigned k)
{
    struct rig r = example_rig();
    const uint32_t n = 256 * MIB / NODE, warm = 400000, steps = 200000 / k;
    uint32_t *order = random_order(n);
    CU_ASSERT_PTR_NOT_NULL_FATAL(order);
    double now[32] = {0}, start = 0, end = 0;
    for (uint32_t i = 0; i < warm; i++)
        start = hop(r.port, start, (uint64_t)order[n - 1 - i] * NODE);
    for (unsigned c = 0; c < k; c++)
        now[c] = start;
    for (uint32_t s = 0; s < steps; s++)
        for (unsigned c = 0; c < k; c++) {
            now[c] = hop(r.port, now[c], (uint64_t)order[(uint64_t)c * (n / 2) / k + s] * NODE);
            end = now[c] > end ? now[c] : end;
        }
    free(order);
    mem_system_free(r.system);
    return (end - start) / (double)(steps * k);
}

static void check_rel(const char *what, double got, double measured, double tolerance)
{
    CHECK(fabs(got / measured - 1) <= tolerance, "%s: %.3f, measured %.3f: %+.1f%%", what, got, measured,
          100 * (got / measured - 1));
}

static void test_cached_latencies(void)
{
    check_rel("L1, 64 KB", cached_chase(64 * 1024), 1.2745, 0.03);
    check_rel("1 MB", cached_chase(MIB), 6.4, 0.02);
    check_rel("L2, 6 MB", cached_chase(6 * MIB), 6.7566, 0.02);
}

static void test_tlb_row(void)
{
    struct rig r = example_rig();
    const uint32_t pages = 16384;
    uint32_t *order = random_order(pages);
    CU_ASSERT_PTR_NOT_NULL_FATAL(order);
    double now = 0, start = 0;
    for (uint32_t i = 0; i < 2 * pages; i++) {
        const uint64_t page = order[i % pages];
        uint64_t seed = page;
        now = hop(r.port, now, page * MEM_PAGE_BYTES + suite_random(&seed) % 256 * NODE);
        start = i == pages - 1 ? now : start;
    }
    check_rel("cache hit and walk", (now - start) / pages, 16.04, 0.02);
    free(order);
    mem_system_free(r.system);
}

static void test_dram_chases(void)
{
    check_rel("DRAM", dram_chase(1), 119.26, 0.02);
    check_rel("8 chases", dram_chase(8), 15.9, 0.07);
    check_rel("32 chases", dram_chase(32), 4.51, 0.08);
}

static void test_linear_chase(void)
{
    struct rig r = example_rig();
    double now = 0, start = 0;
    const uint32_t n = 400000;
    for (uint32_t i = 0; i < 2 * n; i++) {
        now = hop(r.port, now, (uint64_t)i * NODE);
        start = i == n - 1 ? now : start;
    }
    check_rel("DRAM linear", (now - start) / n, 1.498, 0.05);
    mem_system_free(r.system);
}

/* libc's memcpy of large blocks, as a core with enough loads in flight sees it: bytes copied once. */
static void test_memcpy(void)
{
    struct rig r = example_rig();
    const uint64_t bytes = 64 * MIB;
    double t[32] = {0}, start = 0, end = 0;
    for (uint64_t i = 0; i < bytes / 64; i++) {
        double *here = &t[i % 32];
        const double there = mem_port_access(r.port, *here, 0x10000000 + 64 * i, 64, MEM_ACCESS_LOAD, 0x4000).ready_ns;
        *here = mem_port_access(r.port, there, 0x20004000 + 64 * i, 64, MEM_ACCESS_STORE_STREAM, 0x4004).ready_ns;
        end = *here > end ? *here : end;
        start = i == bytes / 128 ? end : start; /* the first half fills the caches with dirty lines */
    }
    check_rel("memcpy, one thread (ggml-org/whisper.cpp)", (double)bytes / 2 / (end - start), 44.8, 0.12);
    mem_system_free(r.system);
}

static const struct suite_test tests[] = {
    {"latencies of cached sets", test_cached_latencies},
    {"page walks", test_tlb_row},
    {"DRAM chases", test_dram_chases},
    {"linear chase", test_linear_chase},
    {"memcpy", test_memcpy},
};
SUITE_MAIN("mem_m1_pro", tests)
