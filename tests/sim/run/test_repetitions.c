/* Repetitions of a workload: whether each starts with empty caches, and how many command buffers of the GPU they take. What is
 * repeated is deterministic, so sums are multiples of single runs.
 */
#include "isa/array_count.h"
#include "tests/sim/run_example.h"

#include <math.h>
#include <stdlib.h>

static struct chip_db *db;

static struct run_result run_of(const char *workload, const char *unit, struct run_request request)
{
    request.unit = unit;
    request.seed = 1;
    request.threads = 1;
    struct outcome o = run_on(db, "m1", workload, request);
    CHECK(o.ok, "%s: %s", workload, o.error.text);
    return o.result;
}

static bool same(double a, double b)
{
    return fabs(a - b) <= 1e-9 * fabs(b);
}

/* A core that has run a loop before predicts its branches better: that is no cache. */
static bool close_to(double a, double b, const char *unit)
{
    return fabs(a - b) <= (strcmp(unit, "cpu") == 0 ? 1e-3 : 1e-9) * fabs(b);
}

static void check_evicted(const char *workload, const char *unit, enum run_mode mode)
{
    const struct run_request plain = {.mode = mode, .repeat = 3}, one = {.mode = mode, .cold = true};
    const struct run_request evict = {.mode = mode, .cold = true, .evict = true, .repeat = 3};
    struct run_result a = run_of(workload, unit, one), b = run_of(workload, unit, evict), c = run_of(workload, unit, plain);
    CHECK(close_to(b.seconds, 3 * a.seconds, unit), "%s: %g s, not 3 x %g", workload, b.seconds, a.seconds);
    CHECK(close_to(b.joules, 3 * a.joules, unit), "%s: %g J, not 3 x %g", workload, b.joules, a.joules);
    CHECK(same(b.dram_bytes, 3 * a.dram_bytes), "%s: %g bytes, not 3 x %g", workload, b.dram_bytes, a.dram_bytes);
    CHECK(same(b.flops, 3 * a.flops), "%s: %g operations, not 3 x %g", workload, b.flops, a.flops);
    CHECK(b.dram_bytes > 1.5 * c.dram_bytes, "%s: warm repetitions move %g bytes", workload, c.dram_bytes);
    run_result_free(&a);
    run_result_free(&b);
    run_result_free(&c);
}

static void test_evicted(void)
{
    static const char *const cases[][2] = {
        {"gemm:192x192x192", "amx"}, {"gemv:300x500", "amx"},    {"stream-triad:512K", "cpu"}, {"gemm:200x256x128", "gpu"},
        {"gemm:100x128x64", "ane"},  {"softmax:500x600", "gpu"}, {"reduce:1x300000", "gpu"},
    };
    for (unsigned i = 0; i < ARRAY_COUNT(cases); i++) {
        check_evicted(cases[i][0], cases[i][1], RUN_FULL);
        if (strcmp(cases[i][1], "cpu") != 0) /* kernels of the CPU are timed while they execute */
            check_evicted(cases[i][0], cases[i][1], RUN_TIMING);
    }
}

/* Results are those of the last repetition, whatever is in the caches. */
static void test_results_stay(void)
{
    const struct run_request plain = {.repeat = 2}, evict = {.repeat = 2, .cold = true, .evict = true};
    static const char *const cases[][2] = {
        {"gemm:64x64x64", "amx"}, {"stream-triad:64K", "cpu"}, {"gemm:64x64x64", "gpu"}, {"gemm:64x64x64", "ane"}};
    for (unsigned i = 0; i < ARRAY_COUNT(cases); i++) {
        struct run_result a = run_of(cases[i][0], cases[i][1], plain), b = run_of(cases[i][0], cases[i][1], evict);
        CU_ASSERT_TRUE(a.checksum.count > 0 && a.checksum.count == b.checksum.count);
        for (size_t k = 0; k < a.checksum.count && k < b.checksum.count; k++)
            CU_ASSERT_EQUAL(a.checksum.item[k].fnv1a64, b.checksum.item[k].fnv1a64);
        run_result_free(&a);
        run_result_free(&b);
    }
}

/* One command buffer: its costs come once, and the work stays as long as it is. */
static void test_one_buffer(void)
{
    static const char *const cases[] = {"gemm:200x256x128", "reduce:1x300000", "gemv:4096x4096"};
    for (unsigned i = 0; i < ARRAY_COUNT(cases); i++) {
        const struct run_request once = {.mode = RUN_TIMING}, each = {.mode = RUN_TIMING, .repeat = 5};
        const struct run_request one = {.mode = RUN_TIMING, .repeat = 5, .one_buffer = true};
        struct run_result a = run_of(cases[i], "gpu", once), b = run_of(cases[i], "gpu", each), c = run_of(cases[i], "gpu", one);
        CU_ASSERT_TRUE(same(b.overhead_seconds, 5 * a.overhead_seconds));
        CU_ASSERT_TRUE(same(c.overhead_seconds, a.overhead_seconds));
        CU_ASSERT_TRUE(same(c.device_seconds, b.device_seconds));
        CU_ASSERT_TRUE(same(b.seconds - c.seconds, 4 * a.overhead_seconds));
        CU_ASSERT_TRUE(c.joules < b.joules && c.flops == b.flops);
        run_result_free(&a);
        run_result_free(&b);
        run_result_free(&c);
    }
}

static void test_refused(void)
{
    const struct run_request request = {.unit = "amx", .one_buffer = true};
    struct outcome o = run_on(db, "m1", "gemm:64x64x64", request);
    CU_ASSERT_TRUE(!o.ok && o.error.exit_code == ORCH_USAGE && strstr(o.error.text, "command buffers") != NULL);
    run_result_free(&o.result);
}

/* What decides the answer is part of what finds an equal run; usual values leave it as it always was. */
static void test_options_of_the_event(void)
{
    struct orch_error error = {0};
    struct chip *chip = chip_open(db, "m1", NULL, &error);
    const struct run_request requests[] = {
        {.chip = chip, .workload = "gemm:64x64x64", .unit = "gpu", .repeat = 2},
        {.chip = chip, .workload = "gemm:64x64x64", .unit = "gpu", .repeat = 2, .one_buffer = true},
        {.chip = chip, .workload = "gemm:64x64x64", .unit = "gpu", .repeat = 2, .cold = true},
        {.chip = chip, .workload = "gemm:64x64x64", .unit = "gpu", .repeat = 2, .cold = true, .evict = true},
    };
    char *text[ARRAY_COUNT(requests)] = {0};
    for (unsigned i = 0; i < ARRAY_COUNT(requests); i++) {
        struct run *run = run_prepare(&requests[i], &error);
        CHECK(run != NULL, "%s", error.text);
        text[i] = run ? strdup(run_begin_event(run)->options) : NULL;
        run_free(run);
        for (unsigned k = 0; k < i; k++)
            CU_ASSERT_TRUE(text[k] && text[i] && strcmp(text[k], text[i]) != 0);
    }
    CU_ASSERT_TRUE(text[0] && !strstr(text[0], "buffers") && !strstr(text[0], "evict"));
    for (unsigned i = 0; i < ARRAY_COUNT(requests); i++)
        free(text[i]);
    chip_close(chip);
}

static const struct suite_test tests[] = {
    {"evicted repetitions are cold runs", test_evicted},
    {"results do not depend on what is in the caches", test_results_stay},
    {"one command buffer for all repetitions", test_one_buffer},
    {"only the GPU has command buffers", test_refused},
    {"both options decide the answer", test_options_of_the_event},
};

int main(void)
{
    return example_chips_run("repetitions", tests, ARRAY_COUNT(tests), &db);
}
