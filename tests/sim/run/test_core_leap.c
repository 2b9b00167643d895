/* Which passes of loops are leapt over, on a made-up trace whose every block has a known time: what is not skipped is told to
 * take that time, and the sum with what stands for leaps must be the time of all blocks. */
#include "sim/workload/cpu/core_leap.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdlib.h>

enum { HEAD, BODY, OTHER, BLOCKS, TRACE = 20000 };

static struct cpu_block blocks[BLOCKS] = {[HEAD] = {.pc = 0x1000, .count = 100, .id = HEAD},
                                          [BODY] = {.pc = 0x2000, .count = 900, .id = BODY},
                                          [OTHER] = {.pc = 0x3000, .count = 500, .id = OTHER}};

struct made {
    const struct cpu_block *block[TRACE];
    double ns[TRACE];
    uint32_t count;
};

static void put(struct made *m, int block, double ns)
{
    m->ns[m->count] = ns;
    m->block[m->count++] = &blocks[block];
}

struct went {
    double true_ns, told_ns, skipped, others_skipped, all;
};

static struct went go(struct made *m)
{
    struct core_leap *const l = core_leap_create();
    struct cpu_trace trace = {.block = m->block, .blocks = m->count, .last_count = m->block[m->count - 1]->count};
    struct core_reading shown = {.ns = 0};
    struct went w = {0};
    CU_ASSERT_PTR_NOT_NULL_FATAL(l);
    for (uint32_t from = 0, to; from < m->count; from = to) {
        to = core_leap_next(l, &trace, from, from == 0);
        for (uint32_t i = from; i < to; i++) {
            const bool skips = core_leap_skips(l);
            w.true_ns += m->ns[i];
            w.all += m->block[i]->count;
            w.skipped += skips ? m->block[i]->count : 0;
            w.others_skipped += skips && m->block[i]->id == OTHER;
            shown.ns += skips ? 0 : m->ns[i];
        }
        if (to < m->count)
            core_leap_arrive(l, &trace, to, &shown);
    }
    core_leap_stop(l, &shown);
    CHECK(core_leap_work(l) == w.skipped, "%g instructions, %g skipped", core_leap_work(l), w.skipped);
    w.told_ns = shown.ns + core_leap_extra(l)->ns;
    core_leap_free(l);
    return w;
}

static struct made *made(void)
{
    struct made *const m = calloc(1, sizeof *m);
    CU_ASSERT_PTR_NOT_NULL_FATAL(m);
    return m;
}

static void test_steady(void)
{
    struct made *const m = made();
    for (int pass = 0; pass < 2000; pass++) {
        put(m, HEAD, 10);
        put(m, BODY, 90);
    }
    const struct went w = go(m);
    CHECK(w.skipped > 0.6 * w.all, "%g of %g", w.skipped, w.all);
    CHECK(fabs(w.told_ns / w.true_ns - 1) < 1e-9, "%g of %g ns", w.told_ns, w.true_ns);
    free(m);
}

/* Between two runs of the loop lies other work, which a leap must not reach. */
static void test_ends(void)
{
    struct made *const m = made();
    for (int run = 0; run < 20; run++) {
        for (int pass = 0; pass < 200; pass++) {
            put(m, HEAD, 10);
            put(m, BODY, 90);
        }
        for (int i = 0; i < 37; i++)
            put(m, OTHER, 400);
    }
    const struct went w = go(m);
    CHECK(w.skipped > 0.3 * w.all, "%g of %g", w.skipped, w.all);
    CU_ASSERT_EQUAL(w.others_skipped, 0);
    CHECK(fabs(w.told_ns / w.true_ns - 1) < 1e-3, "%g of %g ns", w.told_ns, w.true_ns);
    free(m);
}

static void test_slows_down(void)
{
    struct made *const m = made();
    for (int pass = 0; pass < 4000; pass++) {
        put(m, HEAD, 10 + pass / 400.0);
        put(m, BODY, 90 + 9 * pass / 400.0);
    }
    const struct went w = go(m);
    CHECK(w.skipped > 0.5 * w.all, "%g of %g", w.skipped, w.all);
    CHECK(fabs(w.told_ns / w.true_ns - 1) < 0.005, "%g of %g ns", w.told_ns, w.true_ns);
    free(m);
}

/* Each pass takes another time than the one before: nothing is steady. */
static void test_unsteady(void)
{
    struct made *const m = made();
    double pace = 1;
    for (int pass = 0; pass < 300; pass++) {
        pace *= 1.05;
        for (int i = 0; i < 6; i++) {
            put(m, HEAD, 10 * pace);
            put(m, BODY, 90 * pace);
        }
    }
    const struct went w = go(m);
    CU_ASSERT_EQUAL(w.skipped, 0);
    CU_ASSERT_DOUBLE_EQUAL(w.told_ns / w.true_ns, 1, 1e-9);
    free(m);
}

static const struct suite_test tests[] = {
    {"steady loops are leapt over and last as long", test_steady},
    {"leaps end where a loop ends", test_ends},
    {"loops that slow down evenly last as long", test_slows_down},
    {"loops of which no two passes are alike are timed", test_unsteady},
};
SUITE_MAIN("core_leap", tests)
