/* Matrix products of the Neural Engine library against sums of products in double. */
#include "tests/units/ane_library_example.h"

/* out[b][i][j] = sum a[b][i][k] b[b][k][j] (+ bias[j]) */
static void check_values(const char *text, const char *precision, size_t batch, size_t m, size_t n, size_t k, uint64_t seed,
                         bool integers)
{
    struct ane_example x;
    if (integers ? example_start_integers(&x, text, precision, ANE_H13, seed) : example_start(&x, text, precision, seed)) {
        const bool has_bias = strstr(text, "bias=1") != NULL, relu = strstr(text, "relu") != NULL;
        double *a = example_values(&x, "a"), *b = example_values(&x, "b"), *bias = has_bias ? example_values(&x, "bias") : NULL;
        double *expected = calloc(batch * m * n, sizeof *expected), *bound = calloc(batch * m * n, sizeof *bound);
        for (size_t i = 0; expected && bound && i < batch * m * n; i++) {
            const size_t p = i / m / n, row = i / n % m, column = i % n;
            double sum = 0, sizes = 0;
            for (size_t d = 0; d < k; d++) {
                const double product = example_mac(a[(p * m + row) * k + d]) * example_mac(b[(p * k + d) * n + column]);
                sum += product;
                sizes += fabs(product);
            }
            sum += bias ? bias[column] : 0;
            CHECK(!integers || fabs(sum) <= 2048, "%s: fp16 does not hold the sum %.0f", text, sum);
            bound[i] = integers ? 0 : example_sum_bound(sizes, sum);
            expected[i] = relu && sum < 0 ? 0 : sum;
        }
        if (expected && bound)
            example_compare(&x, text, "out", expected, bound, 0);
        free(a), free(b), free(bias), free(expected), free(bound);
    }
    example_close(&x);
}

static void check_product(const char *text, const char *precision, size_t batch, size_t m, size_t n, size_t k, uint64_t seed)
{
    check_values(text, precision, batch, m, n, k, seed, false);
}

/* Sums of products of small integers are exact: one product too few or too many is an error. */
static void test_every_product(void)
{
    check_values("gemm:33x17x70", NULL, 1, 33, 17, 70, 20, true);
    check_values("gemm:5x200x31,weights=a,batch=3", NULL, 3, 5, 200, 31, 21, true);
    check_values("gemm:1001x2x2000,weights=b", NULL, 1, 1001, 2, 2000, 22, true);
    check_values("gemm:20011x3x5,weights=b", NULL, 1, 20011, 3, 5, 23, true);
    check_values("gemm:40x70x4100,weights=b,bias=1", NULL, 1, 40, 70, 4100, 24, true);
    check_values("matmul:31x77x130", NULL, 1, 31, 77, 130, 25, true);
    check_values("matmul:3x5x7,batch=4", NULL, 4, 3, 5, 7, 26, true);
}

static void test_gemm(void)
{
    check_product("gemm:64x64x64", NULL, 1, 64, 64, 64, 1);
    check_product("gemm:1x1x1", NULL, 1, 1, 1, 1, 2);
    check_product("gemm:33x17x70", NULL, 1, 33, 17, 70, 3);
    check_product("gemm:33x17x70,weights=b,bias=1,act=relu", NULL, 1, 33, 17, 70, 4);
    check_product("gemm:5x200x31,weights=a,batch=3", NULL, 3, 5, 200, 31, 5);
    check_product("gemm:7x9x2000,batch=2,weights=b", NULL, 2, 7, 9, 2000, 6);
}

/* More pixels than fit a row of tiles: rows and a rest. */
static void test_folded(void)
{
    check_product("gemm:20011x3x5,weights=b", NULL, 1, 20011, 3, 5, 7);
    check_product("gemm:1001x2x2000,weights=b", NULL, 1, 1001, 2, 2000, 8);
}

static void check_variant(const char *text, unsigned descriptors)
{
    struct ane_example x;
    if (example_start(&x, text, NULL, 1))
        CHECK(x.kernel.program.count == descriptors, "%s: %zu descriptors", text, x.kernel.program.count);
    example_close(&x);
}

/* Operands beyond the tile memory: blocks of pixels stay there, output channels come part by part, a function behind each; and
 * pixels that stay for all of the weights, which are more than a descriptor may stream. */
static void test_blocks(void)
{
    check_values("gemm:120x9000x72,weights=b,bias=1", NULL, 1, 120, 9000, 72, 30, true);
    check_variant("gemm:120x9000x72,weights=b,bias=1", 1 + 5);
    check_variant("gemm:120x9000x72,weights=b,bias=1,act=gelu", 1 + 2 * 5);
    check_variant("gemm:64x768x11008,weights=b", 1 + 2);
}

/* More output channels than a descriptor names. */
static void test_many_channels(void)
{
    check_product("gemm:2x70001x3,weights=b,bias=1", NULL, 1, 2, 70001, 3, 14);
}

static void test_gemv(void)
{
    struct ane_example x;
    if (example_start(&x, "gemv:77x129,bias=1", NULL, 9)) {
        double *a = example_values(&x, "a"), *in = example_values(&x, "x"), *bias = example_values(&x, "bias");
        double expected[77], bound[77];
        for (size_t i = 0; i < 77; i++) {
            double sizes = 0;
            expected[i] = bias[i];
            for (size_t k = 0; k < 129; k++) {
                const double product = example_mac(a[i * 129 + k]) * example_mac(in[k]);
                expected[i] += product;
                sizes += fabs(product);
            }
            bound[i] = example_sum_bound(sizes, expected[i]);
        }
        example_compare(&x, "gemv", "out", expected, bound, 0);
        free(a), free(in), free(bias);
    }
    example_close(&x);
}

static void test_matmul(void)
{
    check_product("matmul:64x64x64", NULL, 1, 64, 64, 64, 10);
    check_product("matmul:3x5x7,batch=4", NULL, 4, 3, 5, 7, 11);
    check_product("matmul:31x77x130", NULL, 1, 31, 77, 130, 12);
    check_product("matmul:4x3001x300", NULL, 1, 4, 3001, 300, 13);
}

static void test_refusals(void)
{
    example_refused("gemm:4x4x70000", NULL, ANE_H13, "a product over 70000: H13 has at most 65536");
    example_refused("gemm:32x4x65536,weights=b", NULL, ANE_H13, "do not fit the 2097152 bytes of tile memory");
}

static const struct suite_test tests[] = {
    {"small integers: not one product is missing", test_every_product},
    {"gemm with constant a or b", test_gemm},
    {"pixels in rows and a rest", test_folded},
    {"blocks", test_blocks},
    {"more channels than a descriptor has", test_many_channels},
    {"gemv", test_gemv},
    {"matmul of two inputs", test_matmul},
    {"refusals name the limit", test_refusals},
};
SUITE_MAIN("ane_kernels_gemm", tests)
