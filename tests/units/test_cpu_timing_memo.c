/* Remembering blocks changes nothing but speed: random programs, streams that miss and restarts, timed with and without it. */
#include "tests/units/cpu_timing_rig.h"

#define NONE A64_DEP_NONE
#define MIB  (UINT64_C(1) << 20)

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
    uint64_t blocks, remembered, at_once;
};

/* A block that is busy for a while with each word and now and then for longer, as when data are late. */
struct slow {
    double busy_ns;
    uint64_t words, at_once;
};

static double slow_send(void *context, double sent_ns, unsigned op, uint64_t operand)
{
    (void)op, (void)operand;
    struct slow *const s = context;
    s->busy_ns = (s->busy_ns > sent_ns ? s->busy_ns : sent_ns) + (++s->words % 6007 == 0 ? 9.1 : 0.7);
    return s->busy_ns - 5 > sent_ns ? s->busy_ns - 5 : sent_ns;
}

static uint32_t slow_send_words(void *context, const struct unit_words *words, uint64_t *answered)
{
    struct slow *const s = context;
    for (uint32_t i = 0; i < words->count; i++) {
        const uint64_t at = words->now + words->when[i];
        const double next_ns = slow_send(s, unit_ns_of(words->clock, at), words->op[i], words->operand[i]);
        const uint64_t next = unit_cycle_of(words->clock, next_ns);
        *answered = next > at ? next : at;
        if (*answered - at != words->answer[i])
            return i;
        s->at_once++;
    }
    return words->count;
}

static double slow_stores(void *context)
{
    return ((const struct slow *)context)->busy_ns + 20;
}

enum memo { PLACED, REMEMBERED, WORDS_AT_ONCE };

static struct outcome run_outcome(struct cpu_trace *trace, enum memo memo, double step_ns)
{
    struct rig r = example_rig();
    struct slow slow = {0};
    const struct cpu_amx_link link = {slow_send, slow_stores, &slow, NULL, memo == WORDS_AT_ONCE ? slow_send_words : NULL};
    cpu_timing_set_amx(r.timing, &link);
    cpu_timing_set_memo(r.timing, memo != PLACED);
    cpu_timing_feed(r.timing, trace);
    for (double limit = step_ns; cpu_timing_pending(r.timing); limit += step_ns)
        cpu_timing_advance(r.timing, limit);
    struct outcome o = {.now = cpu_timing_now(r.timing), .done = cpu_timing_done_at(r.timing)};
    cpu_timing_stalls(r.timing, o.stall, &o.total);
    mem_port_counters(r.port, &o.mem);
    mem_system_take_activity(r.system, &o.activity);
    cpu_timing_take_activity(r.timing, &o.activity);
    cpu_timing_memo_counters(r.timing, &o.blocks, &o.remembered);
    o.at_once = slow.at_once;
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
        const struct outcome placed = run_outcome(&trace, PLACED, 1e9);
        const struct outcome quick = run_outcome(&trace, i % 2 ? REMEMBERED : WORDS_AT_ONCE, 37.0 + 1000.0 * (i % 3));
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
    compare_programs(25, true, 0.1);
}

/* The inner loop of a product: AMX loads, outer products and, at its end, stores that the core then reads. */
static void amx_loop(struct example_block *b, uint32_t id, unsigned words, unsigned op)
{
    example_block_init(b, id, 0x4000 + id * 0x1000);
    for (unsigned i = 0; i < words; i++) {
        example_add(b, A64_C_INT, i % 8, i % 8, NONE);
        example_amx(b, op, i % 8);
    }
    example_add(b, A64_C_BRANCH_COND, NONE, 0, NONE);
}

static void product_trace(struct cpu_trace *trace, struct example_block block[3], unsigned tiles)
{
    for (unsigned tile = 0; tile < tiles; tile++) {
        for (unsigned k = 0; k < 200; k++) {
            uint64_t operand[EXAMPLE_INSNS] = {0};
            CU_ASSERT_TRUE_FATAL(example_trace_add(trace, &block[0].block, operand));
        }
        for (unsigned row = 0; row < 16; row++) {
            const uint64_t at = 0x1000000 + (uint64_t)(tile % 64 * 16 + row) * 64;
            const uint64_t stored[2] = {at, at + 0x100000}, loaded[1] = {at - (tile % 3) * 1024};
            CU_ASSERT_TRUE_FATAL(example_trace_add(trace, &block[1].block, stored));
            if (row % 4 == 3)
                CU_ASSERT_TRUE_FATAL(example_trace_add(trace, &block[2].block, loaded));
        }
    }
}

/* A block loads from a line and then stores to it through AMX. When a later load of the block gets a new answer, the block is
 * placed after all, and its first load must not wait for the store behind it. */
static void test_stores_behind_loads(void)
{
    struct example_block b;
    struct cpu_trace trace = {0};
    uint64_t seed = 5;
    example_block_init(&b, 0, 0x4000);
    example_load(&b, A64_C_LOAD, 6, 6, 8); /* in the chain that decides the time */
    example_amx(&b, 5, 6);
    example_load(&b, A64_C_LOAD, 4, 5, 8);
    for (unsigned i = 0; i < 4; i++)
        example_add(&b, A64_C_DIV, 6, 6, NONE);
    example_add(&b, A64_C_BRANCH_COND, NONE, 1, NONE);
    for (unsigned i = 0; i < 20000; i++) {
        const uint64_t at = 0x1000000 + (uint64_t)(i % 400) * 128; /* by then other stores have taken its mark */
        const uint64_t address[3] = {at, at, 0x2000000 + (i % 600 < 590 ? 0 : (uint64_t)pick(&seed, 1 << 22))};
        CU_ASSERT_TRUE_FATAL(example_trace_add(&trace, &b.block, address));
    }
    const struct outcome placed = run_outcome(&trace, PLACED, 1e9), quick = run_outcome(&trace, WORDS_AT_ONCE, 500.0);
    check_same(&placed, &quick, 0);
    CHECK(quick.remembered > 1000, "remembered %g of %g", (double)quick.remembered, (double)quick.blocks);
    example_trace_free(&trace);
}

static void test_amx_words_are_remembered(void)
{
    struct example_block block[3];
    struct cpu_trace trace = {0};
    amx_loop(&block[0], 0, 20, 12);
    amx_loop(&block[1], 1, 2, 5);
    example_block_init(&block[2], 2, 0x8000);
    example_load(&block[2], A64_C_LOAD, 1, 2, 8);
    example_add(&block[2], A64_C_INT, 3, 1, NONE);
    product_trace(&trace, block, 300);
    const struct outcome placed = run_outcome(&trace, PLACED, 1e9);
    for (enum memo memo = REMEMBERED; memo <= WORDS_AT_ONCE; memo++) {
        const struct outcome quick = run_outcome(&trace, memo, 500.0);
        check_same(&placed, &quick, memo);
        CHECK((double)quick.remembered > 0.5 * (double)quick.blocks, "only %.1f%% remembered",
              100.0 * (double)quick.remembered / (double)quick.blocks);
        CHECK(memo == REMEMBERED || quick.at_once > 300 * 200 * 20 / 2, "%.0f words at once", (double)quick.at_once);
    }
    example_trace_free(&trace);
}

/* A loop that streams through a set: what misses L1 repeats as well. What comes from DRAM repeats less: how long it takes hangs
 * on the channel's clock, open rows and refresh, and blocks that find no answer they know put off remembering for longer and
 * longer, into the time when the set has come into L2. */
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
    static const struct {
        uint64_t bytes;
        double remembered;
    } sets[] = {{64 << 10, 0.8}, {2 * MIB, 0.1}, {64 * MIB, 0.3}};
    for (unsigned i = 0; i < 3; i++) {
        struct example_block b;
        struct cpu_trace trace = {0};
        copy_loop(&b, 0);
        stream_trace(&trace, &b, sets[i].bytes, 60000);
        const struct outcome placed = run_outcome(&trace, PLACED, 1e9), quick = run_outcome(&trace, REMEMBERED, 333.0);
        check_same(&placed, &quick, i);
        CHECK((double)quick.remembered > sets[i].remembered * (double)quick.blocks, "set %u: only %.1f%% remembered", i,
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

static const struct suite_test tests[] = {
    {"remembering blocks changes nothing", test_remembering_changes_nothing},
    {"remembering beside AMX changes nothing", test_remembering_beside_amx_changes_nothing},
    {"loads do not wait for AMX stores behind them", test_stores_behind_loads},
    {"blocks with AMX words are remembered", test_amx_words_are_remembered},
    {"blocks that miss are remembered", test_misses_are_remembered},
    {"remembering over restarts changes nothing", test_remembering_over_restarts},
};
SUITE_MAIN("cpu_timing_memo", tests)
