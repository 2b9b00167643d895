/* A core's timing on the memory system: latencies and rates as programs see them, reasons for waiting, and that
 * remembering blocks changes nothing but speed. */
#include "tests/support/suite.h"
#include "tests/units/cpu_example.h"

#include <math.h>

#define NONE A64_DEP_NONE
#define MIB  (UINT64_C(1) << 20)
static const double ghz = EXAMPLE_P_GHZ;

struct rig {
    struct mem_system *system;
    struct mem_port *port;
    struct cpu_timing *timing;
};

static struct rig rig_with(const struct cpu_params *cpu, const struct mem_params *mem, const struct mem_port_params *port)
{
    struct rig r = {.system = mem_system_create(mem)};
    CU_ASSERT_PTR_NOT_NULL_FATAL(r.system);
    r.port = mem_port_open(r.system, port, NULL);
    CU_ASSERT_PTR_NOT_NULL_FATAL(r.port);
    r.timing = cpu_timing_create(cpu, r.port, 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(r.timing);
    return r;
}

static struct rig example_rig(void)
{
    const struct cpu_params cpu = example_cpu();
    const struct mem_params mem = example_mem();
    const struct mem_port_params port = example_p_port();
    return rig_with(&cpu, &mem, &port);
}

static void rig_free(struct rig *r)
{
    cpu_timing_free(r->timing);
    mem_system_free(r->system);
}

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
    check_rel("DRAM", chase_cycles(&r, 2 * MIB, share), ceil(21.8 + 109 * ghz), 0.02);
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

/* ---- remembered or not ---- */

enum { BLOCKS = 12 };

struct program {
    struct example_block block[BLOCKS];
};

static unsigned pick(uint64_t *seed, unsigned n)
{
    return (unsigned)(suite_random(seed) % n);
}

static void random_block(struct example_block *b, uint32_t id, uint64_t *seed, bool amx)
{
    static const uint8_t classes[] = {A64_C_INT,    A64_C_INT,    A64_C_MUL,     A64_C_DIV,
                                      A64_C_FP_FMA, A64_C_FP_FMA, A64_C_FP_SQRT, A64_C_NOP};
    example_block_init(b, id, 0x4000 + id * 0x1000);
    const unsigned count = 1 + pick(seed, 14);
    for (unsigned i = 0; i < count; i++) {
        const unsigned what = pick(seed, 10), a = pick(seed, 8), c = pick(seed, 8);
        if (what < 2)
            example_load(b, pick(seed, 3) ? A64_C_LOAD : A64_C_LOAD_V, pick(seed, 2) ? a : 32 + a, c, 1u << pick(seed, 5));
        else if (what < 4)
            example_store(b, a, c, 1u << pick(seed, 5));
        else if (what == 4 && amx)
            example_amx(b, pick(seed, 2) ? 5 : 12, a);
        else {
            const unsigned v = pick(seed, 2) ? 32 : 0;
            example_add(b, (enum a64_class)classes[pick(seed, sizeof classes)], v + a, v + c, v + pick(seed, 8));
        }
    }
    if (pick(seed, 4))
        example_add(b, pick(seed, 5) ? A64_C_BRANCH_COND : A64_C_BRANCH_INDIRECT, NONE, pick(seed, 8), NONE);
}

static void random_program(struct program *p, uint64_t *seed, bool amx)
{
    for (uint32_t i = 0; i < BLOCKS; i++)
        random_block(&p->block[i], i, seed, amx);
}

/* Loops of a few blocks with addresses that stride, repeat or scatter. */
static void random_trace(const struct program *p, struct cpu_trace *trace, uint64_t *seed, unsigned want)
{
    while (trace->blocks < want) {
        unsigned body[4];
        const unsigned length = 1 + pick(seed, 4), times = 1 + pick(seed, pick(seed, 4) ? 400 : 5000), spread = pick(seed, 8);
        const uint64_t base = 0x1000000 + (uint64_t)pick(seed, 8) * 0x40000 + pick(seed, 64);
        const unsigned step = pick(seed, 3) * 16;
        for (unsigned i = 0; i < length; i++)
            body[i] = pick(seed, BLOCKS);
        for (unsigned t = 0; t < times; t++)
            for (unsigned i = 0; i < length; i++) {
                uint64_t address[EXAMPLE_INSNS];
                for (unsigned a = 0; a < EXAMPLE_INSNS; a++)
                    address[a] = base + a * 1040 + t * step + (spread == 0 ? pick(seed, 1 << 22) : 0);
                CU_ASSERT_TRUE_FATAL(example_trace_add(trace, &p->block[body[i]].block, address));
            }
    }
}

struct outcome {
    double now, done, total, stall[CPU_STALL_COUNT];
    struct mem_counters mem;
    struct activity activity;
    uint64_t blocks, remembered;
};

static double slow_send(void *context, double sent_ns, unsigned op, uint64_t operand)
{
    (void)op, (void)operand;
    double *busy = context;
    *busy = (*busy > sent_ns ? *busy : sent_ns) + 0.7;
    return *busy - 5 > sent_ns ? *busy - 5 : sent_ns;
}

static double slow_stores(void *context)
{
    return *(const double *)context + 20;
}

static struct outcome run_outcome(struct cpu_trace *trace, bool memo, double step_ns)
{
    struct rig r = example_rig();
    double busy = 0;
    const struct cpu_amx_link link = {slow_send, slow_stores, &busy};
    cpu_timing_set_amx(r.timing, &link);
    cpu_timing_set_memo(r.timing, memo);
    cpu_timing_feed(r.timing, trace);
    for (double limit = step_ns; cpu_timing_pending(r.timing); limit += step_ns)
        cpu_timing_advance(r.timing, limit);
    struct outcome o = {.now = cpu_timing_now(r.timing), .done = cpu_timing_done_at(r.timing)};
    cpu_timing_stalls(r.timing, o.stall, &o.total);
    mem_port_counters(r.port, &o.mem);
    mem_system_take_activity(r.system, &o.activity);
    cpu_timing_take_activity(r.timing, &o.activity);
    cpu_timing_memo_counters(r.timing, &o.blocks, &o.remembered);
    rig_free(&r);
    return o;
}

static void check_same(const struct outcome *a, const struct outcome *b, unsigned program)
{
    double sum = 0;
    CHECK(a->now == b->now && a->done == b->done && a->total == b->total, "program %u: %.0f and %.0f cycles", program, a->total,
          b->total);
    for (int i = 0; i < CPU_STALL_COUNT; i++) {
        CHECK(a->stall[i] == b->stall[i], "program %u: %s %.0f and %.0f", program, cpu_stall_name((enum cpu_stall)i), a->stall[i],
              b->stall[i]);
        sum += a->stall[i];
    }
    CHECK(sum == a->total, "program %u: stalls %.0f of %.0f", program, sum, a->total);
    CHECK(memcmp(&a->mem, &b->mem, sizeof a->mem) == 0, "program %u: counters of the port", program);
    for (int i = 0; i < ACT_COUNT; i++)
        CHECK(a->activity.count[i] == b->activity.count[i], "program %u: %s", program, activity_name((enum activity_event)i));
}

static void compare_programs(unsigned programs, bool amx, double least_remembered)
{
    uint64_t seed = amx ? 11 : 4, blocks = 0, remembered = 0;
    for (unsigned i = 0; i < programs; i++) {
        struct program p;
        struct cpu_trace trace = {0};
        random_program(&p, &seed, amx);
        random_trace(&p, &trace, &seed, 20000);
        const struct outcome placed = run_outcome(&trace, false, 1e9);
        const struct outcome quick = run_outcome(&trace, true, 37.0 + 1000.0 * (i % 3));
        check_same(&placed, &quick, i);
        CU_ASSERT_EQUAL(placed.remembered, 0);
        blocks += quick.blocks;
        remembered += quick.remembered;
        example_trace_free(&trace);
    }
    CHECK((double)remembered > least_remembered * (double)blocks, "only %.1f%% remembered",
          100.0 * (double)remembered / (double)blocks);
}

static void test_remembering_changes_nothing(void)
{
    compare_programs(60, false, 0.1);
}

static void test_remembering_beside_amx_changes_nothing(void)
{
    compare_programs(25, true, 0.02);
}

/* A loop that streams through a set: what misses L1 repeats as well. */
static void stream_trace(struct cpu_trace *trace, struct example_block *b, uint64_t set_bytes, unsigned turns)
{
    for (unsigned i = 0; i < turns; i++) {
        const uint64_t at = (uint64_t)i * 64 % set_bytes;
        const uint64_t address[4] = {0x1000000 + at, 0x1000020 + at, 0x5004000 + at, 0x5004020 + at};
        CU_ASSERT_TRUE_FATAL(example_trace_add(trace, &b->block, address));
    }
}

static void copy_loop(struct example_block *b, uint32_t id)
{
    example_block_init(b, id, 0x4000);
    example_load(b, A64_C_LOAD_V, 32, 0, 32);
    example_load(b, A64_C_LOAD_V, 33, 0, 32);
    example_store(b, 32, 1, 32);
    example_store(b, 33, 1, 32);
    example_add(b, A64_C_INT, 0, 0, A64_DEP_NONE);
    example_add(b, A64_C_BRANCH_COND, NONE, 0, NONE);
}

static void test_misses_are_remembered(void)
{
    const uint64_t sets[] = {64 << 10, 2 * MIB, 64 * MIB};
    for (unsigned i = 0; i < 3; i++) {
        struct example_block b;
        struct cpu_trace trace = {0};
        copy_loop(&b, 0);
        stream_trace(&trace, &b, sets[i], 60000);
        const struct outcome placed = run_outcome(&trace, false, 1e9), quick = run_outcome(&trace, true, 333.0);
        check_same(&placed, &quick, i);
        CHECK((double)quick.remembered > 0.8 * (double)quick.blocks, "set %u: only %.1f%% remembered", i,
              100.0 * (double)quick.remembered / (double)quick.blocks);
        example_trace_free(&trace);
    }
}

/* Start again with the same blocks, then with others of the same numbers; then hand the first ones back under another
 * clock. As if nothing had been remembered. */
static void again_and_other_blocks(bool memo, uint64_t *seed, double now[6])
{
    struct program one, other;
    random_program(&one, seed, false);
    random_program(&other, seed, false);
    struct cpu_trace trace[2] = {{0}, {0}};
    random_trace(&one, &trace[0], seed, 5000);
    random_trace(&other, &trace[1], seed, 5000);
    struct rig r = example_rig();
    cpu_timing_set_memo(r.timing, memo);
    for (unsigned i = 0; i < 6; i++) {
        if (i < 4)
            cpu_timing_restart(r.timing, cpu_timing_done_at(r.timing));
        else
            cpu_timing_forget_blocks(r.timing);
        if (i == 3)
            cpu_timing_set_clock(r.timing, 2.0);
        cpu_timing_feed(r.timing, &trace[i == 2 || i == 5]);
        cpu_timing_advance(r.timing, 1e300);
        now[i] = cpu_timing_done_at(r.timing);
    }
    uint64_t blocks, remembered;
    cpu_timing_memo_counters(r.timing, &blocks, &remembered);
    CU_ASSERT_EQUAL(remembered > 0, memo);
    rig_free(&r);
    example_trace_free(&trace[0]);
    example_trace_free(&trace[1]);
}

static void test_remembering_over_restarts(void)
{
    for (uint64_t program = 1; program <= 12; program++) {
        double placed[6], quick[6];
        uint64_t seed = program, same_seed = program;
        again_and_other_blocks(false, &seed, placed);
        again_and_other_blocks(true, &same_seed, quick);
        for (unsigned i = 0; i < 6; i++)
            CHECK(placed[i] == quick[i], "program %u, run %u: %.3f and %.3f ns", (unsigned)program, i, placed[i], quick[i]);
    }
}

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
    {"write rates", test_write_rates},
    {"remembering blocks changes nothing", test_remembering_changes_nothing},
    {"remembering beside AMX changes nothing", test_remembering_beside_amx_changes_nothing},
    {"blocks that miss are remembered", test_misses_are_remembered},
    {"remembering over restarts changes nothing", test_remembering_over_restarts},
    {"cores interleave", test_cores_interleave},
};
SUITE_MAIN("cpu_timing_memory", tests)
