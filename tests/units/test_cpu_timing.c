/* A core's timing without caches: widths, ports, latencies and queues in closed forms, and its interface. */
#include "tests/units/cpu_timing_example.h"

#define NONE A64_DEP_NONE

/* `count` instructions of a class on registers first.. , each on its own when `chain` is 0, else on `chain` accumulators. */
static double per_cycle(const struct cpu_params *params, enum a64_class cls, unsigned chain)
{
    struct example_block b;
    example_block_init(&b, 0, 0x4000);
    for (unsigned i = 0; i < 48; i++) {
        const unsigned reg = chain ? 32 + i % chain : NONE;
        example_add(&b, cls, reg, reg, NONE);
    }
    const struct result r = run(params, &b.block, 2000, NULL);
    return (double)r.instructions / r.cycles;
}

static void test_dispatch_width(void)
{
    struct cpu_params p = example_cpu();
    check_near("eight", per_cycle(&p, A64_C_NOP, 0), 8, 0.001);
    p.dispatch_width = 3;
    check_near("three", per_cycle(&p, A64_C_NOP, 0), 3, 0.001);
}

static void test_ports(void)
{
    struct cpu_params p = example_cpu();
    check_near("int", per_cycle(&p, A64_C_INT, 0), 6, 0.001);
    check_near("mul", per_cycle(&p, A64_C_MUL, 0), 2, 0.001);
    check_near("div", per_cycle(&p, A64_C_DIV, 0), 0.5, 0.001);
    check_near("fma", per_cycle(&p, A64_C_FP_FMA, 0), 4, 0.001);
    check_near("sqrt", per_cycle(&p, A64_C_FP_SQRT, 0), 0.5, 0.001);
    p.port_count[CPU_PORTS_MUL] = 1;
    check_near("mul, one port", per_cycle(&p, A64_C_MUL, 0), 1, 0.001);
    check_near("int does not care", per_cycle(&p, A64_C_INT, 0), 6, 0.001);
}

static void test_special_ports_are_part_of_the_others(void)
{
    const struct cpu_params p = example_cpu();
    struct example_block b;
    example_block_init(&b, 0, 0x4000);
    for (unsigned i = 0; i < 40; i++)
        example_add(&b, i % 4 == 0 ? A64_C_MUL : A64_C_INT, NONE, NONE, NONE);
    const struct result r = run(&p, &b.block, 2000, NULL);
    check_near("multiplies and adds", (double)r.instructions / r.cycles, 6, 0.001);
    check_near("ports are the reason", r.stall[CPU_STALL_PORTS], r.cycles, 0.01);
}

static void test_fma_accumulators(void)
{
    const struct cpu_params p = example_cpu();
    for (unsigned n = 1; n <= 24; n++) {
        char what[32];
        snprintf(what, sizeof what, "%u accumulators", n);
        /* 48 instructions over n: only divisors go round evenly. */
        if (48 % n == 0)
            check_near(what, per_cycle(&p, A64_C_FP_FMA, n), n / 4.0 < 4 ? n / 4.0 : 4, 0.002);
    }
}

/* A result is ready after its latency and not one cycle before. */
static void test_latency_is_exact(void)
{
    struct cpu_params p = example_cpu();
    for (unsigned latency = 1; latency <= 12; latency++) {
        p.cls[A64_C_FP_FMA].latency_cycles = latency;
        struct example_block b;
        example_block_init(&b, 0, 0x4000);
        example_add(&b, A64_C_FP_FMA, 32, NONE, NONE);
        example_add(&b, A64_C_FP_FMA, 33, NONE, NONE);
        const double together = run(&p, &b.block, 1, NULL).cycles;
        b.insn[1].src[0] = 32;
        const double one_after_the_other = run(&p, &b.block, 1, NULL).cycles;
        CHECK(together == latency && one_after_the_other == 2.0 * latency, "%u: %.0f and %.0f", latency, together,
              one_after_the_other);
    }
}

static void test_flags_and_several_results(void)
{
    const struct cpu_params p = example_cpu();
    struct example_block b;
    example_block_init(&b, 0, 0x4000);
    struct a64_insn *first = example_add(&b, A64_C_MUL, 1, NONE, NONE);
    first->dst[1] = A64_DEP_FLAGS;
    first->dst[2] = 5;
    example_add(&b, A64_C_INT, 2, A64_DEP_FLAGS, NONE);
    CU_ASSERT_EQUAL(run(&p, &b.block, 1, NULL).cycles, 4);
    b.insn[1].src[0] = 7;
    b.insn[1].src[3] = 5;
    CU_ASSERT_EQUAL(run(&p, &b.block, 1, NULL).cycles, 4);
    b.insn[1].src[3] = 6;
    CU_ASSERT_EQUAL(run(&p, &b.block, 1, NULL).cycles, 3);
}

static void test_several_micro_operations(void)
{
    struct cpu_params p = example_cpu();
    p.cls[A64_C_INT].uops = 3;
    check_near("three each", per_cycle(&p, A64_C_INT, 0), 2, 0.001);
    p.cls[A64_C_INT].uops = 12; /* more than a cycle dispatches: a cycle each */
    p.port_count[CPU_PORTS_INT] = 12;
    check_near("twelve each", per_cycle(&p, A64_C_INT, 0), 1, 0.001);
}

/* One slow instruction every eight: the window holds reorder_window / 8 of them. */
static void test_reorder_window(void)
{
    struct cpu_params p = example_cpu();
    p.cls[A64_C_DIV] = (struct cpu_class_params){400, 1, 1, CPU_PORTS_DIV};
    struct example_block b;
    example_block_init(&b, 0, 0x4000);
    example_add(&b, A64_C_DIV, 1, NONE, NONE);
    for (unsigned i = 0; i < 7; i++)
        example_add(&b, A64_C_NOP, NONE, NONE, NONE);
    const unsigned windows[] = {16, 64, 160};
    for (unsigned i = 0; i < 3; i++) {
        p.reorder_window = windows[i];
        const struct result r = run(&p, &b.block, 4000, NULL);
        check_near("cycles per slow one", r.cycles / 4000, 400.0 / (windows[i] / 8.0), 0.03);
    }
}

static void test_load_and_store_ports(void)
{
    struct cpu_params p = example_cpu();
    static const uint64_t address[48] = {0};
    uint64_t apart[48];
    for (unsigned i = 0; i < 48; i++)
        apart[i] = 64 * i;
    struct example_block loads, stores, both;
    example_block_init(&loads, 0, 0x4000);
    example_block_init(&stores, 1, 0x5000);
    example_block_init(&both, 2, 0x6000);
    for (unsigned i = 0; i < 48; i++) {
        example_load(&loads, A64_C_LOAD, NONE, 0, 8);
        example_store(&stores, 1, 0, 8);
        if (i % 2)
            example_store(&both, 1, 0, 8);
        else
            example_load(&both, A64_C_LOAD, NONE, 0, 8);
    }
    check_near("loads", 48.0 * 2000 / run(&p, &loads.block, 2000, address).cycles, 3, 0.001);
    check_near("stores", 48.0 * 2000 / run(&p, &stores.block, 2000, address).cycles, 2, 0.001);
    check_near("both", 48.0 * 2000 / run(&p, &both.block, 2000, apart).cycles, 4, 0.002);
    p.memory_ports = 3;
    check_near("both, three ports", 48.0 * 2000 / run(&p, &both.block, 2000, apart).cycles, 3, 0.002);
}

static void test_pointer_chase(void)
{
    const struct cpu_params p = example_cpu();
    const uint64_t address = 0x1000;
    struct example_block b;
    example_block_init(&b, 0, 0x4000);
    example_load(&b, A64_C_LOAD, 1, 1, 8);
    check_near("base register", run(&p, &b.block, 5000, &address).cycles / 5000, 3, 0.001);
    b.insn[0].rn = 2; /* the loaded value is the index */
    check_near("index register", run(&p, &b.block, 5000, &address).cycles / 5000, 4, 0.001);
    example_add(&b, A64_C_INT, 1, 1, NONE);
    check_near("through an add", run(&p, &b.block, 5000, &address).cycles / 5000, 5, 0.001);
    example_block_init(&b, 0, 0x4000);
    example_load(&b, A64_C_LOAD_V, 33, 0, 16);
    b.insn[0].src[2] = 33;
    check_near("vector load", run(&p, &b.block, 5000, &address).cycles / 5000, 9, 0.001);
}

static void test_writeback_does_not_wait_for_the_load(void)
{
    const struct cpu_params p = example_cpu();
    const uint64_t address = 0x1000;
    struct example_block b;
    example_block_init(&b, 0, 0x4000);
    example_load(&b, A64_C_LOAD, 1, 0, 8);
    b.insn[0].flags |= A64_INSN_WRITEBACK;
    b.insn[0].dst[1] = 0;
    check_near("post-index", run(&p, &b.block, 5000, &address).cycles / 5000, 1, 0.001);
}

static void test_store_forwarding(void)
{
    struct cpu_params p = example_cpu();
    const uint64_t same[2] = {0x1000, 0x1000}, part[2] = {0x1000, 0x1004}, other[2] = {0x1000, 0x1010};
    struct example_block b;
    example_block_init(&b, 0, 0x4000);
    example_store(&b, 1, 2, 8);
    example_load(&b, A64_C_LOAD, 1, 2, 8);
    /* Data one cycle after issue, then the forward. */
    check_near("through memory", run(&p, &b.block, 5000, same).cycles / 5000, 1 + 4, 0.002);
    p.store_forward_cycles = 7;
    check_near("slower forward", run(&p, &b.block, 5000, same).cycles / 5000, 1 + 7, 0.002);
    /* Nothing to wait for: two stores per cycle are the limit. */
    check_near("another address", run(&p, &b.block, 5000, other).cycles / 5000, 0.5, 0.002);
    /* Half of it elsewhere: issue + 1 retires and writes, visible after one more, and a load from L1. */
    check_near("partly covered", run(&p, &b.block, 5000, part).cycles / 5000, 1 + 1 + 4, 0.002);
}

/* A sum that goes through one place, or through two in turn. */
static void test_store_renaming(void)
{
    struct cpu_params p = example_cpu();
    const uint64_t one[4] = {0x1000, 0x1000, 0x1000, 0x1000}, two[4] = {0x1000, 0x1008, 0x1008, 0x1000};
    struct example_block b;
    example_block_init(&b, 0, 0x4000);
    for (unsigned trip = 0; trip < 2; trip++) {
        example_load(&b, A64_C_LOAD, 1, 2, 8);
        example_add(&b, A64_C_INT, 1, 1, NONE);
        example_store(&b, 1, 2, 8);
    }
    p.store_forward_cycles = 2;
    check_near("forwarded", run(&p, &b.block, 5000, one).cycles / 10000, 1 + 1 + 2, 0.002);
    p.store_rename = true;
    check_near("renamed", run(&p, &b.block, 5000, one).cycles / 10000, 1, 0.002);
    check_near("two places in turn", run(&p, &b.block, 5000, two).cycles / 10000, 1 + 1 + 2, 0.002);
}

/* ---- the interface ---- */

static void test_work_by_amount(void)
{
    const struct cpu_params p = example_cpu();
    struct cpu_timing *timing = cpu_timing_create(&p, NULL, 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(timing);
    cpu_timing_work(timing, 8000);
    struct result r = result_of(timing);
    CU_ASSERT_EQUAL(r.cycles, 1000);
    CU_ASSERT_EQUAL(r.instructions, 8000);
    for (unsigned i = 0; i < 16; i++)
        cpu_timing_work(timing, 1);
    CU_ASSERT_EQUAL(result_of(timing).cycles, 1002);
    cpu_timing_free(timing);
}

static void test_advance_stops_at_the_limit(void)
{
    const struct cpu_params p = example_cpu();
    struct example_block b;
    example_block_init(&b, 0, 0x4000);
    for (unsigned i = 0; i < 8; i++)
        example_add(&b, A64_C_NOP, NONE, NONE, NONE);
    struct cpu_trace trace = {0};
    for (unsigned i = 0; i < 1000; i++)
        CU_ASSERT_TRUE_FATAL(example_trace_add(&trace, &b.block, NULL));
    struct cpu_timing *timing = cpu_timing_create(&p, NULL, 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(timing);
    cpu_timing_restart(timing, 500);
    CU_ASSERT_EQUAL(cpu_timing_now(timing), 500);
    cpu_timing_feed(timing, &trace);
    for (double limit = 510; cpu_timing_pending(timing); limit += 10) {
        cpu_timing_advance(timing, limit);
        const double now = cpu_timing_now(timing);
        CHECK(!cpu_timing_pending(timing) || (now > limit && now < limit + 1), "at %f of %f", now, limit);
    }
    CHECK(fabs(cpu_timing_done_at(timing) - 500 - 999 / EXAMPLE_P_GHZ) < 1, "%f", cpu_timing_done_at(timing));
    cpu_timing_free(timing);
    example_trace_free(&trace);
}

static void test_clock_change(void)
{
    const struct cpu_params p = example_cpu();
    struct cpu_timing *timing = cpu_timing_create(&p, NULL, 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(timing);
    cpu_timing_work(timing, 8 * 1000);
    const double half = cpu_timing_now(timing);
    cpu_timing_set_clock(timing, 1.0);
    CHECK(fabs(cpu_timing_now(timing) - half) < 1e-9, "time goes on");
    cpu_timing_work(timing, 8 * 1000);
    CHECK(fabs(cpu_timing_now(timing) - half - 1000) < 1e-6, "%f", cpu_timing_now(timing) - half);
    cpu_timing_free(timing);
}

static void test_cut_blocks_and_activity(void)
{
    const struct cpu_params p = example_cpu();
    struct example_block b;
    example_block_init(&b, 0, 0x4000);
    struct a64_insn *fma = example_add(&b, A64_C_FP_FMA, 32, 33, 34);
    fma->word = UINT32_C(0x4e20cc00); /* fmla v.4s */
    fma->q = 1;
    fma->size = 2;
    example_load(&b, A64_C_LOAD, 1, 2, 8);
    example_store(&b, 1, 2, 8);
    example_add(&b, A64_C_BRANCH, NONE, NONE, NONE);
    const uint64_t address[2] = {0x1000, 0x2000};
    struct cpu_trace trace = {0};
    for (unsigned i = 0; i < 10; i++)
        CU_ASSERT_TRUE_FATAL(example_trace_add(&trace, &b.block, address));
    trace.last_count = 2;
    struct cpu_timing *timing = cpu_timing_create(&p, NULL, 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(timing);
    cpu_timing_feed(timing, &trace);
    cpu_timing_advance(timing, 1e300);
    CU_ASSERT_EQUAL(cpu_timing_instructions(timing), 38);
    struct activity a = {{0}};
    cpu_timing_take_activity(timing, &a);
    CU_ASSERT_EQUAL(a.count[ACT_CPU_INSTRUCTIONS], 38);
    CU_ASSERT_EQUAL(a.count[ACT_CPU_FP_LANE_OPS], 40);
    CU_ASSERT_EQUAL(a.count[ACT_CPU_LOADS], 10);
    CU_ASSERT_EQUAL(a.count[ACT_CPU_STORES], 9);
    CU_ASSERT_EQUAL(a.count[ACT_CPU_BRANCHES], 9);
    struct activity again = {{0}};
    cpu_timing_take_activity(timing, &again);
    for (int i = 0; i < ACT_COUNT; i++)
        CU_ASSERT_EQUAL(again.count[i], 0);
    cpu_timing_free(timing);
    example_trace_free(&trace);
}

static void test_bad_parameters_are_refused(void)
{
    struct cpu_params p = example_cpu();
    p.dispatch_width = 0;
    CU_ASSERT_PTR_NULL(cpu_timing_create(&p, NULL, 0));
    p = example_cpu();
    p.clock_ghz = 0;
    CU_ASSERT_PTR_NULL(cpu_timing_create(&p, NULL, 0));
    CU_ASSERT_STRING_EQUAL(cpu_stall_name(CPU_STALL_DRAM), "dram");
    CU_ASSERT_PTR_NULL(cpu_stall_name(CPU_STALL_COUNT));
}

static const struct suite_test tests[] = {
    {"dispatch width", test_dispatch_width},
    {"ports", test_ports},
    {"special ports are part of the others", test_special_ports_are_part_of_the_others},
    {"n accumulators: n/4 up to 4 per cycle", test_fma_accumulators},
    {"latencies are exact", test_latency_is_exact},
    {"flags and several results", test_flags_and_several_results},
    {"several micro-operations", test_several_micro_operations},
    {"reorder window", test_reorder_window},
    {"load and store ports", test_load_and_store_ports},
    {"pointer chase", test_pointer_chase},
    {"write-back does not wait for the load", test_writeback_does_not_wait_for_the_load},
    {"store forwarding", test_store_forwarding},
    {"loads that only rename", test_store_renaming},
    {"work by amount", test_work_by_amount},
    {"advance stops at the limit", test_advance_stops_at_the_limit},
    {"clock change", test_clock_change},
    {"cut blocks and activity", test_cut_blocks_and_activity},
    {"bad parameters are refused", test_bad_parameters_are_refused},
};
SUITE_MAIN("cpu_timing", tests)
