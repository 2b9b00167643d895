/* Products of the AMX library that several cores share, executed on the block of each generation: against double precision within
 * (k + 3) u sum |a b|; odd sizes, transposed operands, batches, factors; the same bytes however many threads there are, which are
 * those of the product of one core. */
#include "isa/array_count.h"
#include "tests/sim/cpu_library_example.h"

static const char *const types[] = {"f32", "f64"};

static void test_sizes(void)
{
    static const char *const workloads[] = {"gemm:1x1x1",
                                            "gemm:3x5x7",
                                            "gemm:33x31x17",
                                            "gemm:64x64x64",
                                            "gemm:100x20x1000",
                                            "gemm:20x200x40",
                                            "gemm:97x65x33,ta=1",
                                            "gemm:65x97x33,tb=1",
                                            "gemm:70x40x50,ta=1,tb=1",
                                            "gemm:5x7x9,batch=11",
                                            "gemm:40x70x9,batch=3",
                                            "gemm:1x300x64,batch=2,tb=1",
                                            "gemm:66x34x40,alpha=-0.5,beta=2"};
    amx_all(workloads, ARRAY_COUNT(workloads), types, ARRAY_COUNT(types));
}

static void test_threads(void)
{
    static const char *const workloads[] = {"gemm:130x40x64", "gemm:8x400x64,beta=1", "gemm:33x33x33,batch=5",
                                            "gemm:300x70x1100"}; /* the last in blocks of k */
    for (size_t i = 0; i < ARRAY_COUNT(workloads); i++) {
        uint64_t first = 0;
        for (unsigned threads = 1; threads <= 8; threads++) {
            struct neon_example x = {.seed = 3, .amx = true};
            const bool ok = neon_compare(&x, workloads[i], "f32", threads);
            first = threads == 1 && ok ? neon_checksum(&x) : first;
            CHECK(ok && neon_checksum(&x) == first, "%s: other bytes on %u threads", workloads[i], threads);
            neon_close(&x);
        }
    }
}

/* Both products, both biases and the function between them; the same bytes however many threads there are. */
static void test_feedforward(void)
{
    static const char *const workloads[] = {"feedforward:1x1x1",
                                            "feedforward:3x5x7,act=relu",
                                            "feedforward:17x33x65",
                                            "feedforward:40x64x256,act=silu",
                                            "feedforward:5x100x31,act=gelu_tanh",
                                            "feedforward:65x31x97,act=tanh",
                                            "feedforward:2x7x130,act=sigmoid"};
    uint64_t first = 0;
    amx_all(workloads, ARRAY_COUNT(workloads), types, 1);
    for (unsigned threads = 1; threads <= 8; threads++) {
        struct neon_example x = {.seed = 3, .amx = true};
        const bool ok = neon_compare(&x, "feedforward:70x40x90", "f32", threads);
        first = threads == 1 && ok ? neon_checksum(&x) : first;
        CHECK(ok && neon_checksum(&x) == first, "other bytes on %u threads", threads);
        neon_close(&x);
    }
    amx_refused("feedforward:8x8", NULL, "f");
    amx_refused("feedforward:8x8x8", "f16", "f32");
    amx_refused("feedforward:8x8x8,act=gelo", NULL, "gelu");
}

/* Whole numbers: every byte is the one. */
static void test_quantised(void)
{
    static const char *const workloads[] = {"qgemm:1x1x1",
                                            "qgemm:3x5x7",
                                            "qgemm:33x31x17,zero=5",
                                            "qgemm:64x64x64,zero=-128,act=relu",
                                            "qgemm:100x20x1000",
                                            "qgemm:17x200x40,zero=127",
                                            "qgemm:20x67x33,act=relu"};
    static const char *const bytes[] = {"i8"};
    struct neon_example x = {.seed = 5, .amx = true};
    struct routine_difference d = {.wrong = 0};
    amx_all(workloads, ARRAY_COUNT(workloads), bytes, ARRAY_COUNT(bytes));
    if (neon_run(&x, "qgemm:9x40x30", "i8", 1)) {
        int8_t *const c = (int8_t *)neon_bytes(&x, routine_result(&x.library.work));
        unsigned ends = 0;
        for (int i = 0; i < 9 * 40; i++)
            ends += c[i] == -128 || c[i] == 127;
        CHECK(ends > 3 && ends < 9 * 40 / 4, "%u results are limited", ends);
        x.before[3][7] *= 1.05; /* the scale of column 7 */
        CHECK(routine_compare(&x.library.request, &x.library.work, (const double *const *)x.before, (const uint8_t *)c, &d) &&
                  d.wrong >= 4 && d.wrong <= 9 && d.at % 40 == 7,
              "%llu wrong, the worst at %llu", (unsigned long long)d.wrong, (unsigned long long)d.at);
    }
    neon_close(&x);
}

static void test_quantised_refusals(void)
{
    amx_refused("qgemm:8x8x8", "f32", "i8");
    amx_refused("qgemm:8x8x8,zero=128", NULL, "zero");
    amx_refused("qgemm:8x8x100000", NULL, "k");
}

/* The sums are the block's: one product too many is found. */
static void test_comparison_can_fail(void)
{
    struct neon_example x = {.seed = 5, .amx = true};
    struct routine_difference d = {.wrong = 0};
    const bool ran = neon_run(&x, "gemm:50x40x30", "f32", 2);
    CHECK(ran, "%s", x.error.text);
    if (ran) {
        x.before[0][7 * 30 + 4] += 0.5; /* row 7 of a */
        CHECK(routine_compare(&x.library.request, &x.library.work, (const double *const *)x.before,
                              neon_bytes(&x, routine_result(&x.library.work)), &d) &&
                  d.wrong >= 35 && d.wrong <= 40 && d.at >= 7 * 40 && d.at < 8 * 40,
              "%llu wrong, the worst at %llu", (unsigned long long)d.wrong, (unsigned long long)d.at);
    }
    neon_close(&x);
}

static const struct suite_test tests[] = {
    {"feed-forward blocks", test_feedforward},        {"sizes, generations and three threads", test_sizes},
    {"threads do not change bytes", test_threads},    {"the comparison can fail", test_comparison_can_fail},
    {"signed bytes are requantised", test_quantised}, {"refusals of signed bytes", test_quantised_refusals},
};
SUITE_MAIN("amx products", tests)
