/* Products of the NEON library, executed: against sums in double precision, within the bounds of units/routines; odd sizes, edges
 * of tiles and blocks, all layouts; the same bytes however many threads share the work. */
#include "isa/array_count.h"
#include "tests/sim/cpu_library_example.h"

static const char *const floats[] = {"f32", "f16", "bf16", "f64"};
static const char *const all[] = {"f32", "f16", "bf16", "f64", "i8"};

static void test_sizes(void)
{
    static const char *const workloads[] = {"gemm:1x1x1",     "gemm:2x3x7",    "gemm:7x17x33",   "gemm:8x12x4",
                                            "gemm:9x13x5",    "gemm:17x33x65", "gemm:64x12x256", "gemm:65x25x257",
                                            "gemm:3x100x600", "gemm:100x3x31", "gemm:33x7x1",    "gemm:72x24x128,batch=3"};
    neon_all(workloads, ARRAY_COUNT(workloads), all, ARRAY_COUNT(all));
}

static void test_layouts(void)
{
    static const char *const workloads[] = {"gemm:17x29x37,ta=1", "gemm:17x29x37,tb=1", "gemm:65x31x259,ta=1,tb=1,batch=2",
                                            "gemm:8x12x33,tb=1", "gemm:16x24x8,ta=1"};
    neon_all(workloads, ARRAY_COUNT(workloads), all, ARRAY_COUNT(all));
}

static void test_factors(void)
{
    static const char *const workloads[] = {"gemm:19x21x23,alpha=0.5", "gemm:19x21x23,alpha=-1.25,beta=0.75",
                                            "gemm:33x14x300,beta=1,batch=2"};
    static const char *const whole[] = {"gemm:19x21x23,beta=1", "gemm:33x14x300,beta=1,ta=1"};
    static const char *const i8[] = {"i8"};
    neon_all(workloads, ARRAY_COUNT(workloads), floats, ARRAY_COUNT(floats));
    neon_all(whole, ARRAY_COUNT(whole), i8, 1);
}

/* Sums in half precision: each is rounded to 11 bits. */
static void test_half_sums(void)
{
    static const char *const workloads[] = {"gemm:1x1x1,acc=f16",
                                            "gemm:8x24x16,acc=f16",
                                            "gemm:7x17x33,acc=f16",
                                            "gemm:65x25x257,acc=f16",
                                            "gemm:33x47x100,ta=1,acc=f16",
                                            "gemm:17x50x65,tb=1,acc=f16",
                                            "gemm:9x31x40,batch=2,alpha=0.5,beta=0.25,acc=f16"};
    static const char *const f16[] = {"f16"};
    neon_all(workloads, ARRAY_COUNT(workloads), f16, 1);
    neon_refused("gemm:8x8x8,acc=f16", "f32", "go with elements in f16");
}

static void test_dots(void)
{
    static const char *const workloads[] = {"gemm:1x1x1,tb=1,algo=dots", "gemm:17x33x65,tb=1,algo=dots",
                                            "gemm:16x16x64,tb=1,algo=dots", "gemm:5x40x257,tb=1,batch=3,algo=dots",
                                            "gemm:33x7x31,tb=1,alpha=0.5,beta=-2,algo=dots"};
    static const char *const halves[] = {"gemm:17x33x65,tb=1,acc=f16,algo=dots", "gemm:3x5x31,tb=1,acc=f16,algo=dots"};
    static const char *const types[] = {"f32", "bf16"}, *const f16[] = {"f16"};
    neon_all(workloads, ARRAY_COUNT(workloads), types, ARRAY_COUNT(types));
    neon_all(halves, ARRAY_COUNT(halves), f16, 1);
    neon_refused("gemm:8x8x8,tb=1,algo=dots", "i8", "no other types");
    neon_refused("gemm:8x8x8,tb=1,algo=dots", "f16", "acc=f16");
    neon_refused("gemm:8x8x8,algo=dots", "f32", "tb=1");
}

/* b in blocks, a rounded to bytes: exact but for that. */
static void test_blocks(void)
{
    static const char *const workloads[] = {"gemm:1x1x32,tb=1", "gemm:17x33x64,tb=1", "gemm:5x40x256,tb=1,batch=3",
                                            "gemm:33x7x96,tb=1,alpha=0.5,beta=-2"};
    static const char *const types[] = {"q4_0", "q8_0"};
    neon_all(workloads, ARRAY_COUNT(workloads), types, ARRAY_COUNT(types));
    neon_refused("gemm:8x8x32", "q8_0", "tb=1");
    neon_refused("gemm:8x8x48,tb=1", "q4_0", "whole blocks of 32");
    neon_refused("gemm:8x8x32,tb=1,acc=f16", "q4_0", "f16");
}

/* Two rows of each at a time, by products of byte matrices, on a core that has them; M1's has not. */
static void test_pairs(void)
{
    static const char *const workloads[] = {"gemm:2x2x32,tb=1,algo=pairs", "gemm:18x34x64,tb=1,algo=pairs",
                                            "gemm:6x40x256,tb=1,batch=3,algo=pairs",
                                            "gemm:34x6x96,tb=1,alpha=0.5,beta=-2,algo=pairs"};
    for (size_t i = 0; i < 2 * ARRAY_COUNT(workloads); i++) {
        struct neon_example x = {.seed = 7 + i, .gen = AMX_GEN_M2};
        neon_compare(&x, workloads[i / 2], i % 2 ? "q4_0" : "q8_0", 1);
        neon_close(&x);
    }
    struct neon_example m1 = {.seed = 7};
    CU_ASSERT_FALSE(neon_run(&m1, workloads[0], "q8_0", 1));
    CHECK(strstr(m1.error.text, "I8MM") != NULL, "%s", m1.error.text);
    neon_close(&m1);
    neon_refused("gemm:3x8x32,tb=1,algo=pairs", "q8_0", "must be even");
    neon_refused("gemm:8x8x32,tb=1,algo=pairs", "f32", "blocks of small integers");
}

/* Threads share rows, or columns where there are few rows; more threads than parts leave some without work. */
static void test_threads(void)
{
    static const char *const workloads[] = {"gemm:5x300x40", "gemm:200x5x40", "gemm:7x7x7", "gemm:9x9x9,batch=5"};
    for (size_t i = 0; i < ARRAY_COUNT(workloads); i++) {
        uint64_t first = 0;
        for (unsigned threads = 1; threads <= 8; threads++) {
            struct neon_example x = {.seed = 3};
            const bool ok = neon_compare(&x, workloads[i], "f32", threads);
            first = threads == 1 && ok ? neon_checksum(&x) : first;
            CHECK(ok && neon_checksum(&x) == first, "%s: other bytes on %u threads", workloads[i], threads);
            neon_close(&x);
        }
    }
}

/* A kernel that would return its input, or the product of something else, must not pass: the reference of other inputs differs.
 */
static void test_comparison_can_fail(void)
{
    struct neon_example x = {.seed = 5};
    struct routine_difference d = {.wrong = 0};
    const bool ran = neon_run(&x, "gemm:9x10x11", "f32", 1);
    CHECK(ran, "%s", x.error.text);
    if (ran) {
        const unsigned c = routine_result(&x.library.work);
        uint8_t *const at = neon_bytes(&x, c);
        if (at)
            at[2] ^= 0x40; /* of the first element's fraction */
        CHECK(routine_compare(&x.library.request, &x.library.work, (const double *const *)x.before, at, &d) && d.wrong == 1 &&
                  d.at == 0,
              "%llu wrong", (unsigned long long)d.wrong);
    }
    neon_close(&x);
}

static void test_refusals(void)
{
    neon_refused("gemm:8x8", NULL, "k is missing");
    neon_refused("gemm:8x8x8,tile=4", NULL, "no option 'tile'");
    neon_refused("gemm:8x8x8", "i16", "f32 f16 bf16 f64 i8");
    neon_refused("gemm:8x8x8,alpha=2", "i8", "alpha=1");
    neon_refused("gemm:1000000000x1000000000x1000", NULL, "2^42");
}

static const struct suite_test tests[] = {
    {"sizes", test_sizes},
    {"layouts", test_layouts},
    {"alpha and beta", test_factors},
    {"sums in half precision", test_half_sums},
    {"dot products", test_dots},
    {"weights in blocks", test_blocks},
    {"weights in pairs of rows", test_pairs},
    {"threads do not change bytes", test_threads},
    {"the comparison can fail", test_comparison_can_fail},
    {"refusals", test_refusals},
};
SUITE_MAIN("neon gemm", tests)
