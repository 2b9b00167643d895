/* A core's timing without caches: branches and AMX words, in closed forms. */
#include "tests/units/cpu_timing_example.h"

/* ---- branches ---- */

struct branchy {
    struct example_block head, left, right;
};

/* head ends with a branch to left or falls through to right; both fall into head again. */
static void make_branchy(struct branchy *b)
{
    example_block_init(&b->head, 0, 0x4000);
    for (unsigned i = 0; i < 7; i++)
        example_add(&b->head, A64_C_NOP, NONE, NONE, NONE);
    example_add(&b->head, A64_C_BRANCH_COND, NONE, NONE, NONE);
    example_block_init(&b->right, 1, 0x4020);
    example_block_init(&b->left, 2, 0x8000);
    for (unsigned i = 0; i < 8; i++) {
        example_add(&b->left, A64_C_NOP, NONE, NONE, NONE);
        example_add(&b->right, A64_C_NOP, NONE, NONE, NONE);
    }
}

static struct result run_branchy(const struct cpu_params *p, bool (*taken)(unsigned i, uint64_t *seed), unsigned times)
{
    struct branchy b;
    make_branchy(&b);
    struct cpu_timing *timing = cpu_timing_create(p, NULL, 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(timing);
    struct cpu_trace trace = {0};
    uint64_t seed = 77;
    for (unsigned i = 0; i < times; i++) {
        CU_ASSERT_TRUE_FATAL(example_trace_add(&trace, &b.head.block, NULL));
        CU_ASSERT_TRUE_FATAL(example_trace_add(&trace, taken(i, &seed) ? &b.left.block : &b.right.block, NULL));
    }
    cpu_timing_feed(timing, &trace);
    cpu_timing_advance(timing, 1e300);
    const struct result r = result_of(timing);
    cpu_timing_free(timing);
    example_trace_free(&trace);
    return r;
}

static bool never(unsigned i, uint64_t *seed)
{
    (void)i, (void)seed;
    return false;
}

static bool coin(unsigned i, uint64_t *seed)
{
    (void)i;
    return suite_random(seed) & 1;
}

static bool every_tenth(unsigned i, uint64_t *seed)
{
    (void)seed;
    return i % 10 == 0;
}

static void test_mispredicted_branches(void)
{
    struct cpu_params p = example_cpu();
    const struct result straight = run_branchy(&p, never, 10000);
    check_near("predicted", straight.cycles, 20000, 0.005);
    CHECK(straight.mispredicts < 5, "%lu", (unsigned long)straight.mispredicts);
    const struct result random = run_branchy(&p, coin, 10000);
    CHECK(random.mispredicts > 4500 && random.mispredicts < 5500, "%lu", (unsigned long)random.mispredicts);
    /* The branch issues in the last dispatch cycle of its block, where the next block would have begun one cycle later. */
    check_near("each costs", (random.cycles - straight.cycles) / (double)(random.mispredicts - straight.mispredicts), 17 - 1,
               0.002);
    check_near("and is counted", random.stall[CPU_STALL_BRANCH], 16.0 * (double)random.mispredicts, 0.001);
    p.mispredict_cycles = 30;
    const struct result slower = run_branchy(&p, coin, 10000);
    check_near("parameter", slower.cycles - random.cycles, 13.0 * (double)random.mispredicts, 0.001);
}

static void test_patterns_are_learned(void)
{
    const struct cpu_params p = example_cpu();
    const struct result r = run_branchy(&p, every_tenth, 20000);
    CHECK(r.mispredicts < 200, "%lu of 20000", (unsigned long)r.mispredicts);
}

/* Calls from two places: the stack knows where to return to, a last-target table would not. */
static void test_returns(void)
{
    const struct cpu_params p = example_cpu();
    struct example_block call_a, call_b, function;
    example_block_init(&call_a, 0, 0x4000);
    example_add(&call_a, A64_C_BRANCH, 30, NONE, NONE);
    example_block_init(&call_b, 1, 0x4004);
    example_add(&call_b, A64_C_BRANCH, 30, NONE, NONE);
    example_block_init(&function, 2, 0x9000);
    example_add(&function, A64_C_BRANCH_INDIRECT, NONE, 30, NONE)->word = UINT32_C(0xd65f03c0); /* ret */
    struct example_block back;
    example_block_init(&back, 3, 0x4008);
    example_add(&back, A64_C_BRANCH, NONE, NONE, NONE);
    struct cpu_trace trace = {0};
    for (unsigned i = 0; i < 3000; i++) {
        example_trace_add(&trace, &call_a.block, NULL);
        example_trace_add(&trace, &function.block, NULL);
        example_trace_add(&trace, &call_b.block, NULL);
        example_trace_add(&trace, &function.block, NULL);
        example_trace_add(&trace, &back.block, NULL);
    }
    struct cpu_timing *timing = cpu_timing_create(&p, NULL, 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(timing);
    cpu_timing_feed(timing, &trace);
    cpu_timing_advance(timing, 1e300);
    const struct result r = result_of(timing);
    CU_ASSERT_EQUAL(r.mispredicts, 0);
    CU_ASSERT_EQUAL(r.branches, 5 * 3000 - 1);
    cpu_timing_free(timing);
    example_trace_free(&trace);
}

static void test_taken_branches_per_cycle(void)
{
    struct cpu_params p = example_cpu();
    struct example_block b;
    example_block_init(&b, 0, 0x4000);
    example_add(&b, A64_C_NOP, NONE, NONE, NONE);
    example_add(&b, A64_C_BRANCH, NONE, NONE, NONE);
    check_near("one", run(&p, &b.block, 10000, NULL).cycles, 10000, 0.001);
    p.taken_branches_per_cycle = 2;
    check_near("two", run(&p, &b.block, 10000, NULL).cycles, 5000, 0.001);
}

/* ---- AMX ---- */

struct amx_log {
    double cycle_ns, per_send_ns, next_ns, first_ns, last_ns, stores_done_ns;
    unsigned sent;
    uint64_t operand;
};

static double amx_send(void *context, double sent_ns, unsigned op, uint64_t operand)
{
    struct amx_log *log = context;
    (void)op;
    log->first_ns = log->sent++ ? log->first_ns : sent_ns;
    CHECK(sent_ns >= log->last_ns, "sent at %f after %f", sent_ns, log->last_ns);
    log->last_ns = sent_ns;
    log->operand = operand;
    log->next_ns = (log->next_ns > sent_ns ? log->next_ns : sent_ns) + log->per_send_ns;
    return log->next_ns;
}

static double amx_stores_done(void *context)
{
    return ((const struct amx_log *)context)->stores_done_ns;
}

static struct result run_amx(const struct cpu_params *p, const struct cpu_block *block, unsigned times, const uint64_t *address,
                             struct amx_log *log)
{
    struct cpu_timing *timing = cpu_timing_create(p, NULL, 0);
    CU_ASSERT_PTR_NOT_NULL_FATAL(timing);
    const struct cpu_amx_link link = {amx_send, amx_stores_done, log, NULL, NULL};
    cpu_timing_set_amx(timing, &link);
    struct cpu_trace trace = {0};
    for (unsigned i = 0; i < times; i++)
        CU_ASSERT_TRUE_FATAL(example_trace_add(&trace, block, address));
    cpu_timing_feed(timing, &trace);
    cpu_timing_advance(timing, 1e300);
    const struct result r = result_of(timing);
    cpu_timing_free(timing);
    example_trace_free(&trace);
    return r;
}

static void test_amx_issue(void)
{
    struct cpu_params p = example_cpu();
    struct example_block b;
    static const uint64_t operand[48] = {[47] = 0x1234};
    example_block_init(&b, 0, 0x4000);
    for (unsigned i = 0; i < 48; i++)
        example_amx(&b, 12, 0);
    struct amx_log log = {0};
    struct result r = run_amx(&p, &b.block, 1000, operand, &log);
    check_near("two per cycle", r.cycles, 24000, 0.001);
    CU_ASSERT_EQUAL(log.sent, 48000);
    CU_ASSERT_EQUAL(log.operand, 0x1234);
    p.amx_issue_per_cycle = 1;
    log = (struct amx_log){0};
    check_near("one per cycle", run_amx(&p, &b.block, 1000, operand, &log).cycles, 48000, 0.001);
    log = (struct amx_log){.per_send_ns = 5 / EXAMPLE_P_GHZ};
    r = run_amx(&p, &b.block, 1000, operand, &log);
    check_near("back-pressure", r.cycles, 5.0 * 48000, 0.001);
    check_near("is the reason", r.stall[CPU_STALL_AMX], r.cycles, 0.001);
}

static void test_loads_wait_for_amx_stores(void)
{
    const struct cpu_params p = example_cpu();
    struct example_block b;
    example_block_init(&b, 0, 0x4000);
    example_amx(&b, 5, 0); /* stz */
    example_load(&b, A64_C_LOAD, 1, 2, 8);
    const uint64_t same[2] = {0x10000, 0x10020}, other[2] = {0x10000, 0x10080}, pair[2] = {0x10000 | UINT64_C(1) << 62, 0x10078};
    struct amx_log log = {.stores_done_ns = 100 / EXAMPLE_P_GHZ};
    const struct result waits = run_amx(&p, &b.block, 1, same, &log);
    CU_ASSERT_EQUAL(waits.cycles, 104);
    check_near("reason", waits.stall[CPU_STALL_AMX], 104, 1e-9);
    CU_ASSERT_EQUAL(run_amx(&p, &b.block, 1, pair, &log).cycles, 104);
    CU_ASSERT_EQUAL(run_amx(&p, &b.block, 1, other, &log).cycles, 4);
    b.insn[0].imm = 4; /* ldz: nothing to wait for */
    CU_ASSERT_EQUAL(run_amx(&p, &b.block, 1, same, &log).cycles, 4);
}

/* After DSB nothing goes on before AMX stores are visible; after the store barrier of another kind, or without a store, it does.
 */
static void test_barriers_wait_for_amx_stores(void)
{
    const struct cpu_params p = example_cpu();
    struct example_block b;
    const uint64_t address[1] = {0x10000};
    const struct amx_log fresh = {.stores_done_ns = 100 / EXAMPLE_P_GHZ};
    struct amx_log log = fresh;
    example_block_init(&b, 0, 0x4000);
    example_amx(&b, 5, 0); /* stz */
    example_add(&b, A64_C_BARRIER, A64_DEP_NONE, A64_DEP_NONE, A64_DEP_NONE);
    example_add(&b, A64_C_INT, 0, A64_DEP_NONE, A64_DEP_NONE);
    b.insn[1].form = A64_DSB;
    const struct result waits = run_amx(&p, &b.block, 1, address, &log);
    CU_ASSERT_EQUAL(waits.cycles, 101);
    check_near("reason", waits.stall[CPU_STALL_AMX], 100, 1e-9);
    /* Again and again, remembered or not: only the first store is not visible yet. */
    log = fresh;
    const double again = run_amx(&p, &b.block, 50, address, &log).cycles;
    CHECK(again >= 101 && again < 200, "%f", again);
    b.insn[1].form = A64_DMB;
    log = fresh;
    CU_ASSERT_TRUE(run_amx(&p, &b.block, 1, address, &log).cycles < 20);
    b.insn[1].form = A64_DSB;
    b.insn[0].imm = 4; /* ldz */
    log = fresh;
    CU_ASSERT_TRUE(run_amx(&p, &b.block, 1, address, &log).cycles < 20);
}

static const struct suite_test tests[] = {
    {"mispredicted branches", test_mispredicted_branches},
    {"patterns are learned", test_patterns_are_learned},
    {"returns", test_returns},
    {"taken branches per cycle", test_taken_branches_per_cycle},
    {"AMX issue and back-pressure", test_amx_issue},
    {"loads wait for AMX stores", test_loads_wait_for_amx_stores},
    {"barriers wait for AMX stores", test_barriers_wait_for_amx_stores},
};
SUITE_MAIN("cpu_timing_branches", tests)
