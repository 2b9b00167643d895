/* Tuning: the variants of kernels, what they compute, the set that is saved, and runs that use it. */
#include "isa/array_count.h"
#include "sim/chip/chip.h"
#include "sim/ask/tune/tune.h"
#include "tests/support/cli_binary.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct cli_home home = {.name = "tune", .options = "-q"};

static bool has(const struct tune_variant *v, size_t count, const char *workload)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(v[i].workload, workload) == 0)
            return true;
    return false;
}

static void test_variants_are_all_combinations(void)
{
    struct tune_variant v[64];
    CU_ASSERT_EQUAL(tune_variants("gemm:64x64x64", "gpu", v, 64), 5 * 6);
    CU_ASSERT_STRING_EQUAL(v[0].workload, "gemm:64x64x64");
    CU_ASSERT(has(v, 30, "gemm:64x64x64,tile=64x32,split=8") && has(v, 30, "gemm:64x64x64,split=16") &&
              has(v, 30, "gemm:64x64x64,tile=32x32"));
    CU_ASSERT_EQUAL(tune_variants("gemm:64x64x64,split=2", "gpu", v, 64), 5); /* the text fixes the split */
    CU_ASSERT(has(v, 5, "gemm:64x64x64,split=2,tile=64x64"));
    CU_ASSERT_EQUAL(tune_variants("softmax:8x8", "gpu", v, 64), 1);
    CU_ASSERT_EQUAL(tune_variants("softmax:8x8", "amx", v, 64), 0);
    CU_ASSERT_EQUAL(tune_variants("copy:1M", "cpu", v, 64), 5);
    CU_ASSERT_EQUAL(v[4].cores, 8);
}

/* Every variant of every kind of kernel computes what the library's own choice computes. */
static void test_variants_compute_the_same(void)
{
    static const struct {
        const char *workload, *unit, *precision;
    } requests[] = {
        {"gemm:70x50x300", "gpu", "f32"},
        {"gemm:64x96x256,beta=0.5", "gpu", "f16"},
        {"conv2d:c=5,h=13,w=11,k=9,pad=1", "gpu", "f32"},
        {"attention:h=2,s=40,d=32,causal=1", "gpu", "f32"},
        {"gemm:150x130x300,beta=1", "amx", "f32"},
        {"gemm:150x130x300", "amx", "f16"},
        {"gemm:90x100x200", "amx", "i8"},
        {"gemm:64x64x64", "ane", NULL},
    };
    struct orch_error error = {0};
    struct chip_db *db = chip_db_open(NULL, &error);
    struct tune_variant v[128];
    for (size_t i = 0; db && i < ARRAY_COUNT(requests); i++) {
        const struct tune_request q = {
            .chips = db, .chip = "m1", .workload = requests[i].workload, .precision = requests[i].precision, .seed = 3};
        const size_t count = tune_variants(q.workload, requests[i].unit, v, 128);
        CHECK(count > 1 && count <= 128, "%s: %zu", q.workload, count);
        for (size_t k = 1; k<count; k += count> 20 ? 7 : 1) {
            double difference = NAN;
            const bool ok = tune_difference(&q, requests[i].unit, &v[0], &v[k], &difference, &error);
            CHECK(ok && difference <= tune_tolerance(requests[i].unit, q.precision), "%s: %s %g", v[k].workload, error.text,
                  difference);
        }
    }
    chip_db_close(db);
}

static void test_a_different_result_is_noticed(void)
{
    struct orch_error error = {0};
    struct chip_db *db = chip_db_open(NULL, &error);
    const struct tune_request q = {.chips = db, .chip = "m1", .precision = "f32", .seed = 3};
    const struct tune_variant a = {.workload = "gemm:64x64x64"}, b = {.workload = "gemm:64x64x64,alpha=1.01"};
    double difference = 0;
    CU_ASSERT(db && tune_difference(&q, "gpu", &a, &b, &difference, &error));
    CU_ASSERT_DOUBLE_EQUAL(difference, 0.01, 1e-5);
    CU_ASSERT(db && tune_difference(&q, "amx", &a, &b, &difference, &error));
    CU_ASSERT(isinf(difference));
    chip_db_close(db);
}

static void test_blocks_of_amx_change_time_and_text(void)
{
    double seconds[2];
    static const char *const variants[] = {"", ",bm=32,bn=32,bk=64"};
    for (unsigned i = 0; i < 2; i++) {
        if (!cli_ask(&home, "run gemm:256x256x256%s --unit amx --mode timing --json", variants[i]))
            return;
        json_object *d = cli_document(&home.outcome);
        seconds[i] = document_number(d, "seconds");
        json_object_put(d);
    }
    CHECK(seconds[1] > 1.1 * seconds[0], "%g %g", seconds[0], seconds[1]); /* panels are packed again and again */
    if (cli_ask(&home, "run gemm:64x64x64,bk=0 --unit amx"))
        CU_ASSERT_EQUAL(home.outcome.code, 2);
}

/* Four cores stream faster than one. A run without the set is as before, one with it is the best variant. */
static void test_a_run_uses_the_set_only_by_name(void)
{
    static const char kernel[] = "stream-add:512K --unit cpu --chip m1";
    double best = 0;
    if (!cli_ask(&home, "tune %s --save mine --json", kernel))
        return;
    json_object *d = cli_document(&home.outcome);
    best = document_number(d, "/best/seconds");
    CU_ASSERT(best < 0.8 * document_number(d, "/default/seconds"));
    CU_ASSERT(document_number(d, "/best/cores") > 1);
    CU_ASSERT_STRING_EQUAL(document_text(d, "saved_as"), "mine");
    const double usual = document_number(d, "/default/seconds");
    json_object_put(d);
    if (cli_ask(&home, "run %s --json", kernel)) {
        d = cli_document(&home.outcome);
        CU_ASSERT_DOUBLE_EQUAL(document_number(d, "seconds"), usual, 1e-12);
        CU_ASSERT_PTR_NULL(strstr(home.outcome.out, "tuned mine"));
        json_object_put(d);
    }
    if (cli_ask(&home, "run %s --fitted mine --json", kernel)) {
        d = cli_document(&home.outcome);
        CU_ASSERT_DOUBLE_EQUAL(document_number(d, "seconds"), best, 1e-12);
        CU_ASSERT_PTR_NOT_NULL(strstr(home.outcome.out, "tuned mine "));
        json_object_put(d);
    }
    if (cli_ask(&home, "run stream-add:256K --unit cpu --chip m1 --fitted mine"))
        CU_ASSERT_EQUAL(home.outcome.code, 0); /* the set has no entry for this shape */
    if (cli_ask(&home, "run %s --fitted mime", kernel))
        CHECK(home.outcome.code == 2 && strstr(home.outcome.err, "did you mean mine?"), "%s", home.outcome.err);
}

/* A sweep with the set has the best variant's time. An unknown set is reported. */
static void test_sweeps_use_the_set_by_name(void)
{
    if (!cli_ask(&home, "tune stream-add:512K --unit cpu --chip m1 --save mine --json"))
        return;
    json_object *d = cli_document(&home.outcome);
    char best[32];
    snprintf(best, sizeof best, "\"seconds\":%.6g", document_number(d, "/best/seconds"));
    best[strcspn(best, "e")] = 0; /* only the first digits */
    json_object_put(d);
    if (cli_ask(&home, "sweep stream-add:512K --unit cpu --chip m1 --fitted mine -L cpu_p.dispatch_width=8 --exact --json"))
        CHECK(home.outcome.code == 0 && strstr(home.outcome.out, best), "%s: %s%s", best, home.outcome.out, home.outcome.err);
    if (cli_ask(&home, "sweep stream-add:512K --unit cpu --chip m1 -L fitted=mine,nobody --exact"))
        CHECK(strstr(home.outcome.out, "no fitted set 'nobody'") || strstr(home.outcome.err, "no fitted set 'nobody'"), "%s%s",
              home.outcome.out, home.outcome.err);
    if (cli_ask(&home, "sweep stream-add:512K --unit cpu --chip m1 --fitted mime -L cpu_p.dispatch_width=8"))
        CHECK(home.outcome.code == 2 && strstr(home.outcome.err, "did you mean mine?"), "%s", home.outcome.err);
}

static void test_a_second_shape_joins_the_set(void)
{
    if (!cli_ask(&home, "tune gemm:64x64x64 --unit ane --save both") ||
        !cli_ask(&home, "tune gemm:128x64x64 --unit ane --save both") ||
        !cli_ask(&home, "tune gemm:64x64x64 --unit ane --save both"))
        return;
    CHECK(home.outcome.code == 0 && strstr(home.outcome.out, "Saved as both"), "%s%s", home.outcome.out, home.outcome.err);
    if (cli_ask(&home, "db export fitted_set --format jsonl"))
        CHECK(strstr(home.outcome.out, "gemm:128x64x64") && strstr(home.outcome.out, "gemm:64x64x64"), "%s", home.outcome.out);
}

static void test_wrong_use_is_reported(void)
{
    static const struct {
        const char *arguments, *said;
    } wrong[] = {
        {"tune", "a kernel is missing"},
        {"tune gemm:1x1x1 gemm:2x2x2", "one kernel"},
        {"tune gemn:64x64x64", "no library has the kernel"},
        {"tune gemm:64x64", "gemm"},
        {"tune gemm:64x64x64 --unit npu", "npu"},
        {"tune softmax:8x8 --unit amx", "no library of amx"},
        {"tune gemm:64x64x64 --unit gpu --max 5", "more than --max 5"},
        {"tune gemm:64x64x64 --goal joule", "did you mean joules?"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(wrong); i++)
        if (cli_ask(&home, "%s", wrong[i].arguments))
            CHECK(home.outcome.code == 2 && strstr(home.outcome.err, wrong[i].said), "%s: %d %s", wrong[i].arguments,
                  home.outcome.code, home.outcome.err);
    CU_ASSERT(cli_home_remove(&home));
}

static const struct suite_test tests[] = {
    {"variants are all combinations", test_variants_are_all_combinations},
    {"variants compute the same", test_variants_compute_the_same},
    {"a different result is noticed", test_a_different_result_is_noticed},
    {"AMX block sizes change the time and the text", test_blocks_of_amx_change_time_and_text},
    {"a run uses the set only by name", test_a_run_uses_the_set_only_by_name},
    {"sweeps use the set by name", test_sweeps_use_the_set_by_name},
    {"a second shape joins the set", test_a_second_shape_joins_the_set},
    {"wrong use is reported", test_wrong_use_is_reported},
};
SUITE_MAIN("tune", tests)
