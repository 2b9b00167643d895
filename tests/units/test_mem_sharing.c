/* Several requesters: shared bandwidth, coherence, AMX ports, clusterless ports, two dies. */
#include "tests/support/suite.h"
#include "tests/units/mem_example.h"

#include <math.h>

#define MIB (UINT64_C(1) << 20)
static const double l1_ns = 4 / EXAMPLE_P_GHZ, l2_ns = 21.8 / EXAMPLE_P_GHZ;

static struct mem_port *open_port(struct mem_system *system, uint32_t cluster)
{
    struct mem_port_params params = example_plain_port();
    params.cluster = cluster;
    struct mem_port *port = mem_port_open(system, &params, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(port);
    return port;
}

static struct mem_system *example_system(void)
{
    const struct mem_params params = example_mem();
    struct mem_system *system = mem_system_create(&params);
    CU_ASSERT_PTR_NOT_NULL_FATAL(system);
    return system;
}

static struct mem_reply load(struct mem_port *port, double now, uint64_t addr)
{
    return mem_port_access(port, now, addr, 8, MEM_ACCESS_LOAD, 0);
}

static struct mem_reply store(struct mem_port *port, double now, uint64_t addr)
{
    return mem_port_access(port, now, addr, 8, MEM_ACCESS_STORE, 0);
}

/* `count` streams of clusterless ports in turn, `window` lines in flight each; GB/s of all. */
static double run_streams(struct mem_port *const *port, unsigned count, unsigned window, unsigned lines)
{
    double t[4][64] = {{0}}, last = 0;
    for (uint64_t i = 0; i < lines; i++)
        for (unsigned p = 0; p < count; p++) {
            double *slot = &t[p][i % window];
            *slot = mem_port_access(port[p], *slot, (p + 1) * 0x10000000 + i * 128, 128, MEM_ACCESS_LOAD, 0).ready_ns;
            last = *slot > last ? *slot : last;
        }
    return 128.0 * lines * count / last;
}

static void test_requesters_share_dram(void)
{
    struct mem_params params = example_mem();
    params.dram_peak_gbps = 100;
    params.tlb_entries_l1 = params.tlb_entries_l2 = 0;
    const struct mem_port_params gpu = {.cluster = MEM_NO_CLUSTER};
    double together[3] = {0};
    for (unsigned count = 1; count <= 2; count++) {
        struct mem_system *system = mem_system_create(&params);
        CU_ASSERT_PTR_NOT_NULL_FATAL(system);
        struct mem_port *port[2] = {mem_port_open(system, &gpu, NULL), mem_port_open(system, &gpu, NULL)};
        together[count] = run_streams(port, count, 64, 50000);
        mem_system_free(system);
    }
    CHECK(fabs(together[1] / (64 * 128 / EXAMPLE_DRAM_NS) - 1) < 0.03, "one by latency: %.1f", together[1]);
    CHECK(together[2] > 97 && together[2] < 100.1, "two by DRAM: %.1f", together[2]);
}

static void test_clusterless_port(void)
{
    struct mem_system *system = example_system();
    const struct mem_port_params gpu = {.cluster = MEM_NO_CLUSTER, .fabric_gbps = 32};
    struct mem_port *port = mem_port_open(system, &gpu, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(port);
    load(port, 0, 0x100000);
    struct mem_reply reply = load(port, 1000, 0x100080);
    CHECK(fabs(reply.ready_ns - 1000 - EXAMPLE_DRAM_NS) < EXAMPLE_DRAM_WAIT, "%f", reply.ready_ns);
    CU_ASSERT_EQUAL(reply.level, MEM_DRAM);
    reply = load(port, 2000, 0x100080);
    CHECK(fabs(reply.ready_ns - 2035) < 1e-6, "%f", reply.ready_ns);
    CU_ASSERT_EQUAL(reply.level, MEM_SLC);
    reply = load(port, 2000, 0x100000); /* its own link: 128 bytes at 32 GB/s later */
    CHECK(fabs(reply.ready_ns - 2039) < 1e-6, "%f", reply.ready_ns);
    mem_system_free(system);
}

static void test_cpu_data_reach_the_gpu_through_memory(void)
{
    struct mem_system *system = example_system();
    struct mem_port *cpu = open_port(system, 0);
    const struct mem_port_params gpu = {.cluster = MEM_NO_CLUSTER};
    struct mem_port *port = mem_port_open(system, &gpu, NULL);
    store(cpu, 0, 0x100000);
    CU_ASSERT_EQUAL(load(port, 1000, 0x100000).level, MEM_SLC);
    struct mem_counters counters;
    mem_system_counters(system, &counters);
    CU_ASSERT_EQUAL(counters.writebacks[MEM_L1], 1);
    CU_ASSERT_EQUAL(counters.writebacks[MEM_L2], 1);
    mem_system_free(system);
}

static void test_dirty_line_of_a_neighbour(void)
{
    struct mem_system *system = example_system();
    struct mem_port *a = open_port(system, 0), *b = open_port(system, 0), *far = open_port(system, 1);
    load(b, 0, 0x100000); /* pages known */
    load(far, 0, 0x100000);
    store(a, 1000, 0x100080);
    CU_ASSERT_EQUAL(load(b, 2000, 0x100080).level, MEM_L2);
    store(a, 3000, 0x100100);
    CU_ASSERT_EQUAL(load(far, 4000, 0x100100).level, MEM_SLC);
    mem_system_free(system);
}

static void test_stores_invalidate_other_copies(void)
{
    struct mem_system *system = example_system();
    struct mem_port *a = open_port(system, 0), *b = open_port(system, 0), *far = open_port(system, 1);
    load(a, 0, 0x100000);
    load(b, 1000, 0x100000);
    load(far, 2000, 0x100000);
    CU_ASSERT_EQUAL(load(b, 3000, 0x100000).level, MEM_L1);
    store(a, 4000, 0x100000);
    CU_ASSERT_EQUAL(load(b, 5000, 0x100000).level, MEM_L2);
    CU_ASSERT_TRUE(load(far, 6000, 0x100000).level >= MEM_SLC);
    CU_ASSERT_EQUAL(store(a, 7000, 0x100000).level, MEM_L1);
    mem_system_free(system);
}

static void test_amx_port(void)
{
    struct mem_system *system = example_system();
    struct mem_port *core = open_port(system, 0);
    const struct mem_port_params params = {.cluster = 0, .outstanding = 16, .gather_lines = 4, .gather_plain = true};
    struct mem_port *amx = mem_port_open(system, &params, core);
    CU_ASSERT_PTR_NOT_NULL_FATAL(amx);
    load(core, 0, 0x100000);
    mem_port_access(amx, 1000, 0x100000, 64, MEM_ACCESS_LOAD, 0);
    struct mem_reply reply = mem_port_access(amx, 2000, 0x100000, 64, MEM_ACCESS_LOAD, 0);
    CHECK(fabs(reply.ready_ns - 2000 - l1_ns) < 1e-6 && reply.level == MEM_L1, "from the core's L1: %f", reply.ready_ns);
    load(amx, 3000, 0x100080);
    reply = mem_port_access(amx, 4000, 0x100080, 128, MEM_ACCESS_LOAD, 0);
    CHECK(fabs(reply.ready_ns - 4000 - l2_ns) < 1e-6 && reply.level == MEM_L2, "not kept in L1: %f", reply.ready_ns);
    /* Two halves of a fresh line: one line into L2, nothing read. */
    struct activity before = {{0}}, after = {{0}};
    mem_system_take_activity(system, &before);
    mem_port_access(amx, 5000, 0x100100, 64, MEM_ACCESS_STORE, 0);
    mem_port_access(amx, 5001, 0x100140, 64, MEM_ACCESS_STORE, 0);
    mem_system_take_activity(system, &after);
    CU_ASSERT_EQUAL(after.count[ACT_DRAM_READ_BYTES], 0);
    CU_ASSERT_EQUAL(after.count[ACT_L2_WRITE_BYTES], 128);
    CU_ASSERT_EQUAL(load(core, 6000, 0x100100).level, MEM_L2);
    /* A store over a line that the core has in L1 takes it away. */
    mem_port_access(amx, 7000, 0x100000, 128, MEM_ACCESS_STORE, 0);
    CU_ASSERT_EQUAL(load(core, 8000, 0x100000).level, MEM_L2);
    mem_system_free(system);
}

static struct mem_params two_dies(enum mem_die_policy policy)
{
    struct mem_params params = example_mem();
    params.dies = 2;
    params.die_policy = policy;
    params.cluster[1].die = 1;
    params.die_link_gbps = 1000;
    params.die_link_latency_ns = 25;
    params.tlb_entries_l1 = params.tlb_entries_l2 = 0;
    return params;
}

static void test_first_touch_decides_the_die(void)
{
    const struct mem_params params = two_dies(MEM_DIE_FIRST_TOUCH);
    struct mem_system *system = mem_system_create(&params);
    CU_ASSERT_PTR_NOT_NULL_FATAL(system);
    struct mem_port *near = open_port(system, 0), *far = open_port(system, 1);
    for (uint64_t page = 0; page < 3000; page++)
        load(near, 200.0 * (double)page, page * MEM_PAGE_BYTES);
    for (uint64_t page = 0; page < 3000; page += 500) {
        const double now = 1e6 + 200.0 * (double)page;
        const double local = load(near, now, page * MEM_PAGE_BYTES + 128).ready_ns - now;
        const double remote = load(far, now + 1e6, page * MEM_PAGE_BYTES + 256).ready_ns - now - 1e6;
        CHECK(fabs(remote - local - 25) < 1e-6, "page %lu: local %.3f, remote %.3f", (unsigned long)page, local, remote);
    }
    mem_system_free(system);
}

static void test_interleaving_spreads_over_dies(void)
{
    const struct mem_params params = two_dies(MEM_DIE_INTERLEAVE);
    struct mem_system *system = mem_system_create(&params);
    CU_ASSERT_PTR_NOT_NULL_FATAL(system);
    struct mem_port *port = open_port(system, 0);
    unsigned remote = 0;
    for (uint64_t page = 0; page < 1000; page++) {
        const double now = 200.0 * (double)page;
        const double ns = load(port, now, page * MEM_PAGE_BYTES).ready_ns - now;
        const double dram = ns - l2_ns - EXAMPLE_DRAM_NS;
        CHECK(dram > -EXAMPLE_DRAM_OPEN && dram < 25 + EXAMPLE_DRAM_WAIT, "page %lu: %f", (unsigned long)page, ns);
        remote += dram > 12;
    }
    CHECK(remote > 430 && remote < 570, "%u of 1000 pages are remote", remote);
    mem_system_free(system);
}

/* All pages on one die: the other die's requester crosses the link with every line; counted by requester, die and direction. */
static void test_one_home_and_its_traffic(void)
{
    struct mem_params params = two_dies(MEM_DIE_ONE);
    params.home_die = 1;
    struct mem_system *system = mem_system_create(&params);
    struct mem_counters c;
    CU_ASSERT_PTR_NOT_NULL_FATAL(system);
    struct mem_port *far = open_port(system, 0), *near = open_port(system, 1);
    for (uint64_t page = 0; page < 100; page++) {
        const double now = 1000.0 * (double)page;
        const double remote = load(far, now, page * MEM_PAGE_BYTES).ready_ns - now;
        const double local = load(near, now + 500, (page + 1000) * MEM_PAGE_BYTES).ready_ns - now - 500;
        CHECK(fabs(remote - local - 25) < 1e-6, "page %lu: remote %.3f, local %.3f", (unsigned long)page, remote, local);
    }
    mem_system_counters(system, &c);
    CU_ASSERT_EQUAL(c.traffic.requester[0][MEM_FLOW_FABRIC_READ], 12800);
    CU_ASSERT_EQUAL(c.traffic.requester[0][MEM_FLOW_REMOTE], 12800);
    CU_ASSERT_EQUAL(c.traffic.requester[0][MEM_FLOW_DRAM_READ], 12800);
    CU_ASSERT_EQUAL(c.traffic.requester[1][MEM_FLOW_FABRIC_READ], 12800);
    CU_ASSERT_EQUAL(c.traffic.requester[1][MEM_FLOW_REMOTE], 0);
    CU_ASSERT_EQUAL(c.traffic.die[0][MEM_DIE_DRAM_READ], 0);
    CU_ASSERT_EQUAL(c.traffic.die[1][MEM_DIE_DRAM_READ], 25600);
    CU_ASSERT_EQUAL(c.traffic.die[1][MEM_DIE_LINK], 12800);
    CU_ASSERT_EQUAL(c.traffic.die[0][MEM_DIE_LINK], 0);
    mem_system_restart(system, 0);
    mem_system_counters(system, &c);
    CU_ASSERT_EQUAL(c.traffic.requester[0][MEM_FLOW_FABRIC_READ] + c.traffic.requester[0][MEM_FLOW_L2], 0);
    mem_system_free(system);
}

/* Half the bytes from and to DRAM: counted as moved, and a stream that DRAM limits takes half the time. */
static void test_compression_moves_less(void)
{
    double end[2];
    for (int on = 0; on < 2; on++) {
        struct mem_params params = example_mem();
        params.dram_peak_gbps = 10;
        struct mem_system *system = mem_system_create(&params);
        struct activity activity = {{0}};
        CU_ASSERT_PTR_NOT_NULL_FATAL(system);
        const struct mem_port_params at_fabric = {.cluster = MEM_NO_CLUSTER, .outstanding = 256};
        struct mem_port *port = mem_port_open(system, &at_fabric, NULL);
        mem_system_set_compression(system, on ? 0.5 : 1);
        end[on] = 0;
        for (uint64_t line = 0; line < 4000; line++)
            end[on] = fmax(end[on], load(port, 0, line * 128).ready_ns);
        mem_system_take_activity(system, &activity);
        CU_ASSERT_EQUAL(activity.count[ACT_DRAM_READ_BYTES], (uint64_t)4000 * (on ? 64 : 128));
        mem_system_free(system);
    }
    CHECK(end[1] / end[0] > 0.49 && end[1] / end[0] < 0.53, "%g ns, %g with compression", end[0], end[1]);
}

static void test_die_link_limits_remote_streams(void)
{
    struct mem_params params = two_dies(MEM_DIE_FIRST_TOUCH);
    params.die_link_gbps = 20;
    struct mem_system *system = mem_system_create(&params);
    CU_ASSERT_PTR_NOT_NULL_FATAL(system);
    const struct mem_port_params here = {.cluster = MEM_NO_CLUSTER, .die = 0}, there = {.cluster = MEM_NO_CLUSTER, .die = 1};
    struct mem_port *local = mem_port_open(system, &here, NULL), *remote = mem_port_open(system, &there, NULL);
    for (uint64_t page = 0; page < 400; page++)
        load(local, 0, 0x10000000 + page * MEM_PAGE_BYTES);
    mem_system_restart(system, 0);
    mem_system_flush(system);
    const double slow = run_streams(&remote, 1, 64, 50000);
    CHECK(fabs(slow / 20 - 1) < 0.02, "%.2f GB/s over a link of 20", slow);
    mem_system_free(system);
}

static const struct suite_test tests[] = {
    {"requesters share DRAM", test_requesters_share_dram},
    {"a clusterless port enters at the fabric", test_clusterless_port},
    {"CPU data reach the GPU through memory", test_cpu_data_reach_the_gpu_through_memory},
    {"a neighbour's dirty line is one level down", test_dirty_line_of_a_neighbour},
    {"stores invalidate other copies", test_stores_invalidate_other_copies},
    {"an AMX port looks into its core's L1", test_amx_port},
    {"first touch decides the die", test_first_touch_decides_the_die},
    {"interleaving spreads over dies", test_interleaving_spreads_over_dies},
    {"one home for all pages, and its traffic", test_one_home_and_its_traffic},
    {"compression moves less", test_compression_moves_less},
    {"the die link limits remote streams", test_die_link_limits_remote_streams},
};
SUITE_MAIN("mem_sharing", tests)
