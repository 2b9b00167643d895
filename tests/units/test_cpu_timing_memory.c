/* A core's timing on the memory system: latencies and rates as programs see them, and reasons for waiting. */
#include "tests/units/cpu_timing_rig.h"

#include <math.h>

#define NONE A64_DEP_NONE
#define MIB  (UINT64_C(1) << 20)

#define NONE A64_DEP_NONE
#define MIB  (UINT64_C(1) << 20)
static const double ghz = EXAMPLE_P_GHZ;

static void feed(struct rig *r, struct cpu_trace *trace)
{
    cpu_timing_feed(r->timing, trace);
    cpu_timing_advance(r->timing, 1e300);
    trace->blocks = trace->addresses = 0;
}

static void check_rel(const char *what, double got, double want, double tolerance)
{
    CHECK(fabs(got / want - 1) <= tolerance, "%s: %.4f, expected %.4f", what, got, want);
}

/* Cycles per load of one dependent chain through `bytes` in a scattered order, warm. */
static double chase_cycles(struct rig *r, uint64_t bytes, double stall_share[CPU_STALL_COUNT])
{
    struct example_block b;
    example_block_init(&b, 0, 0x4000);
    example_load(&b, A64_C_LOAD, 1, 1, 8);
    b.insn[0].rn = 2; /* an index: all four cycles of L1 */
    const uint64_t lines = bytes / 128;
    struct cpu_trace trace = {0};
    double start = 0, total = 0, before[CPU_STALL_COUNT] = {0}, after[CPU_STALL_COUNT];
    for (unsigned round = 0; round < 3; round++) {
        if (round == 2)
            cpu_timing_stalls(r->timing, before, &start);
        for (uint64_t i = 0; i < lines; i++) {
            const uint64_t address = 0x10000000 + i * 40503 % lines * 128;
            CU_ASSERT_TRUE_FATAL(example_trace_add(&trace, &b.block, &address));
        }
        feed(r, &trace);
    }
    cpu_timing_stalls(r->timing, after, &total);
    for (int i = 0; i < CPU_STALL_COUNT; i++)
        stall_share[i] = (after[i] - before[i]) / (total - start);
    example_trace_free(&trace);
    return (total - start) / (double)lines;
}

static void test_chases_and_their_reasons(void)
{
    double share[CPU_STALL_COUNT];
    struct mem_port_params port = example_plain_port();
    const struct cpu_params cpu = example_cpu();
    struct mem_params mem = example_mem();
    mem.tlb_entries_l1 = mem.tlb_entries_l2 = 0;
    struct rig r = rig_with(&cpu, &mem, &port);
    check_rel("L1", chase_cycles(&r, 64 * 1024, share), 4, 1e-6);
    CHECK(share[CPU_STALL_L1] > 0.999, "L1 %.3f", share[CPU_STALL_L1]);
    rig_free(&r);
    r = rig_with(&cpu, &mem, &port);
    check_rel("L2", chase_cycles(&r, 2 * MIB, share), 22, 1e-3); /* 21.8 cycles, seen at the next */
    CHECK(share[CPU_STALL_L2] > 0.999, "L2 %.3f", share[CPU_STALL_L2]);
    rig_free(&r);
    /* Small outer caches, so that a short run gets past them. */
    mem.cluster[0].l2.kib = 192;
    mem.slc.kib = 1536;
    r = rig_with(&cpu, &mem, &port);
    check_rel("SLC", chase_cycles(&r, MIB, share), ceil(21.8 + 35 * ghz), 0.15);
    CHECK(share[CPU_STALL_SLC] > 0.75, "SLC %.3f", share[CPU_STALL_SLC]);
    rig_free(&r);
    mem.slc.kib = 192;
    r = rig_with(&cpu, &mem, &port);
    /* Some of the scattered lines find a row that another one has opened a short while ago. */
    const double cycles = chase_cycles(&r, 2 * MIB, share);
    CHECK(cycles < 21.8 + (EXAMPLE_DRAM_NS + EXAMPLE_DRAM_WAIT) * ghz + 1 &&
              cycles > 21.8 + (EXAMPLE_DRAM_NS - EXAMPLE_DRAM_OPEN) * ghz,
          "DRAM %.1f", cycles);
    CHECK(share[CPU_STALL_DRAM] > 0.97, "DRAM %.3f", share[CPU_STALL_DRAM]);
    rig_free(&r);
}

/* Vector loads in order over a warm set: bytes per cycle. */
static double read_rate(struct rig *r, uint64_t bytes)
{
    struct example_block b;
    example_block_init(&b, 0, 0x4000);
    for (unsigned i = 0; i < 8; i++)
        example_load(&b, A64_C_LOAD_V, 32 + i, 0, 16);
    struct cpu_trace trace = {0};
    double start = 0, total = 0, stall[CPU_STALL_COUNT];
    for (unsigned round = 0; round < 3; round++) {
        if (round == 2)
            cpu_timing_stalls(r->timing, stall, &start);
        for (uint64_t at = 0; at < bytes; at += 128) {
            uint64_t address[8];
            for (unsigned i = 0; i < 8; i++)
                address[i] = 0x10000000 + at + 16 * i;
            CU_ASSERT_TRUE_FATAL(example_trace_add(&trace, &b.block, address));
        }
        feed(r, &trace);
    }
    cpu_timing_stalls(r->timing, stall, &total);
    example_trace_free(&trace);
    return (double)bytes / (total - start);
}

/* krrishnarraj/clpeak, M1 Pro: L1 150.75 GB/s, L2 84.5 GB/s by one thread. */
static void test_read_rates(void)
{
    struct rig r = example_rig();
    check_rel("L1", read_rate(&r, 64 * 1024), 48, 0.002);
    check_rel("L1, GB/s", read_rate(&r, 64 * 1024) * ghz, 150.75, 0.04);
    rig_free(&r);
    r = example_rig();
    check_rel("L2, GB/s", read_rate(&r, 6 * MIB) * ghz, 84.5, 0.03);
    rig_free(&r);
}

static void test_l1_width(void)
{
    struct cpu_params cpu = example_cpu();
    const struct mem_params mem = example_mem();
    struct mem_port_params port = example_p_port();
    port.l1.bytes_per_cycle = 24;
    struct rig r = rig_with(&cpu, &mem, &port);
    check_rel("half the width", read_rate(&r, 64 * 1024), 24, 0.002);
    rig_free(&r);
}

/* Bytes that a core loads and stores in a cycle while it copies within L1, so many at a time. */
static double copy_rate(unsigned each)
{
    enum { BYTES = 16 * 1024, ROUNDS = 4 };
    struct rig r = example_rig();
    struct example_block b;
    struct cpu_trace trace = {0};
    double start = 0, total = 0, stall[CPU_STALL_COUNT];
    example_block_init(&b, 0, 0x4000);
    for (unsigned i = 0; i < 8; i++) {
        example_load(&b, A64_C_LOAD_V, 32 + i, 0, each);
        example_store(&b, 32 + i, 1, each);
    }
    for (unsigned round = 0; round < ROUNDS; round++) {
        if (round + 1 == ROUNDS)
            cpu_timing_stalls(r.timing, stall, &start);
        for (uint64_t at = 0; at < BYTES; at += 8 * each) {
            uint64_t address[16];
            for (unsigned i = 0; i < 16; i++)
                address[i] = 0x10000000 + (i % 2 ? 4 * BYTES : 0) + at + each * (i / 2);
            CU_ASSERT_TRUE_FATAL(example_trace_add(&trace, &b.block, address));
        }
        feed(&r, &trace);
    }
    cpu_timing_stalls(r.timing, stall, &total);
    example_trace_free(&trace);
    rig_free(&r);
    return 2.0 * BYTES / (total - start);
}

/* krrishnarraj/clpeak, M1 Pro: one thread copies within L1 at 148.6 GB/s, as many bytes as it reads (150.75), although four
 * accesses a cycle are issued: loads and stores share the width. Narrow ones are as many as there are ports. */
static void test_copies_share_the_width_of_l1(void)
{
    check_rel("copies of 16 bytes", copy_rate(16), 48, 0.02);
    check_rel("copies of 16 bytes, GB/s", copy_rate(16) * ghz, 148.6, 0.05);
    check_rel("copies of 8 bytes", copy_rate(8), 32, 0.02);
}

static double write_cycles(struct rig *r, uint64_t bytes, unsigned rounds)
{
    struct example_block b;
    example_block_init(&b, 0, 0x4000);
    for (unsigned i = 0; i < 8; i++)
        example_store(&b, 1, 0, 16);
    struct cpu_trace trace = {0};
    double start = 0, total = 0, stall[CPU_STALL_COUNT];
    for (unsigned round = 0; round < rounds; round++) {
        if (round + 1 == rounds)
            cpu_timing_stalls(r->timing, stall, &start);
        for (uint64_t at = 0; at < bytes; at += 128) {
            uint64_t address[8];
            for (unsigned i = 0; i < 8; i++)
                address[i] = 0x10000000 + at + 16 * i;
            CU_ASSERT_TRUE_FATAL(example_trace_add(&trace, &b.block, address));
        }
        feed(r, &trace);
    }
    cpu_timing_stalls(r->timing, stall, &total);
    example_trace_free(&trace);
    return total - start;
}

/* clpeak: L1 write 95.9 GB/s by one thread; two 16-byte stores per cycle make 103. */
static void test_write_rates(void)
{
    struct rig r = example_rig();
    check_rel("L1, GB/s", 32 * 1024 * ghz / write_cycles(&r, 32 * 1024, 3), 95.9, 0.08);
    rig_free(&r);
    /* Past all caches, stores cannot go faster than lines leave: the fabric port, 48 GB/s, read and written. */
    r = example_rig();
    const double gbps = 48 * (double)MIB * ghz / write_cycles(&r, 48 * MIB, 2);
    CHECK(gbps < 48.5 && gbps > 30, "memory set at %.1f GB/s", gbps);
    rig_free(&r);
}

/* Bytes per cycle that two cores store to their L1s, each to its own 16 KiB. */
static double write_together(uint32_t busy, double store_bytes_per_cycle)
{
    const struct cpu_params cpu = example_cpu();
    struct mem_params mem = example_mem();
    mem.cluster[0].store_bytes_per_cycle = store_bytes_per_cycle;
    const struct mem_port_params port = example_plain_port();
    struct rig r = rig_with(&cpu, &mem, &port);
    struct cpu_timing *const other = cpu_timing_create(&cpu, mem_port_open(r.system, &port, NULL), 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(other);
    mem_system_set_busy(r.system, 0, busy);
    struct example_block b;
    example_block_init(&b, 0, 0x4000);
    for (unsigned i = 0; i < 8; i++)
        example_store(&b, A64_DEP_V0 + i, 0, 16);
    struct cpu_trace trace[2] = {{0}, {0}};
    for (uint64_t at = 0; at < 16 * 1024; at += 128)
        for (unsigned core = 0; core < 2; core++) {
            uint64_t address[8];
            for (unsigned i = 0; i < 8; i++)
                address[i] = 0x10000000 + core * 0x1000000 + at + 16 * i;
            CU_ASSERT_TRUE_FATAL(example_trace_add(&trace[core], &b.block, address));
        }
    double start = 0, done = 0;
    for (unsigned round = 0; round < 3; round++) { /* the first ones bring the lines into L1 */
        start = done;
        cpu_timing_restart(r.timing, start);
        cpu_timing_restart(other, start);
        cpu_timing_feed(r.timing, &trace[0]);
        cpu_timing_feed(other, &trace[1]);
        for (double limit = start; cpu_timing_pending(r.timing) || cpu_timing_pending(other); limit += 20) {
            cpu_timing_advance(r.timing, limit);
            cpu_timing_advance(other, limit);
        }
        done = fmax(cpu_timing_done_at(r.timing), cpu_timing_done_at(other));
    }
    cpu_timing_free(other);
    rig_free(&r);
    example_trace_free(&trace[0]);
    example_trace_free(&trace[1]);
    return 2 * 16 * 1024 / (done - start) / ghz;
}

static void test_cores_share_the_path_of_stores(void)
{
    check_rel("as many as each core can", write_together(2, 0), 64, 0.05);
    check_rel("as many as all together may", write_together(2, 32), 32, 0.05);
    check_rel("a narrower path", write_together(2, 16), 16, 0.05);
    check_rel("a core by itself does not look at it", write_together(1, 32), 64, 0.05);
}

/* ---- remembered or not ---- */

/* Two cores of one cluster, interleaved in small steps, share a narrow L2. */
static void test_cores_interleave(void)
{
    const struct cpu_params cpu = example_cpu();
    struct mem_params mem = example_mem();
    mem.cluster[0].l2.bytes_per_cycle = 26;
    const struct mem_port_params port = example_plain_port();
    double alone = 0, together = 0;
    for (unsigned cores = 1; cores <= 2; cores++) {
        struct rig r = rig_with(&cpu, &mem, &port);
        struct mem_port *second_port = mem_port_open(r.system, &port, NULL);
        struct cpu_timing *second = cpu_timing_create(&cpu, second_port, 0);
        CU_ASSERT_PTR_NOT_NULL_FATAL(second);
        struct example_block b;
        example_block_init(&b, 0, 0x4000);
        for (unsigned i = 0; i < 8; i++)
            example_load(&b, A64_C_LOAD_V, 32 + i, 0, 16);
        struct cpu_trace trace[2] = {{0}, {0}};
        for (unsigned round = 0; round < 2; round++)
            for (uint64_t at = 0; at < MIB; at += 128)
                for (unsigned core = 0; core < 2; core++) {
                    uint64_t address[8];
                    for (unsigned i = 0; i < 8; i++)
                        address[i] = 0x10000000 + core * 0x1000000 + at + 16 * i;
                    CU_ASSERT_TRUE_FATAL(example_trace_add(&trace[core], &b.block, address));
                }
        for (unsigned round = 0; round < 2; round++) { /* the first one warms the L2 */
            const double start = cpu_timing_done_at(r.timing) > cpu_timing_done_at(second) ? cpu_timing_done_at(r.timing)
                                                                                           : cpu_timing_done_at(second);
            cpu_timing_restart(r.timing, start);
            cpu_timing_restart(second, start);
            cpu_timing_feed(r.timing, &trace[0]);
            if (cores == 2)
                cpu_timing_feed(second, &trace[1]);
            for (double limit = start; cpu_timing_pending(r.timing) || cpu_timing_pending(second); limit += 20) {
                cpu_timing_advance(r.timing, limit);
                cpu_timing_advance(second, limit);
            }
            const double first = cpu_timing_done_at(r.timing) - start, last = cpu_timing_done_at(second) - start;
            *(cores == 1 ? &alone : &together) = first > last ? first : last;
            CHECK(cores == 1 || fabs(first / last - 1) < 0.15, "fair: %.0f and %.0f ns", first, last);
        }
        cpu_timing_free(second);
        rig_free(&r);
        example_trace_free(&trace[0]);
        example_trace_free(&trace[1]);
    }
    check_rel("half the rate each", together / alone, 2, 0.05);
}

static const struct suite_test tests[] = {
    {"chases and their reasons", test_chases_and_their_reasons},
    {"read rates", test_read_rates},
    {"the width of the L1", test_l1_width},
    {"copies share the width of the L1", test_copies_share_the_width_of_l1},
    {"write rates", test_write_rates},
    {"cores interleave", test_cores_interleave},
    {"cores share the path of their stores", test_cores_share_the_path_of_stores},
};
SUITE_MAIN("cpu_timing_memory", tests)
