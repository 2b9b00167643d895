/* Softmax and normalisations of the Neural Engine library. */
#include "tests/units/ane_library_example.h"

/* Softmax goes through 2^x from a table, with (x - max) log2 e rounded to fp16: an error of e in that makes a factor 2^e; the table is
 * off by at most 2^-13 between its 32 knots a binade, powers and results are rounded to fp16, the reciprocal of the sum too. */
static double softmax_bound(double shifted, double result, double columns)
{
    const double exponent = fabs(shifted) * 1.4427;
    return result * (0.6932 * 1.5 * example_ulp(exponent) + 0x1p-12 + 4 * 0x1p-11) + 0x1p-24 * (1 + columns * result);
}

static void check_softmax(size_t rows, size_t columns, int log_too, uint64_t seed)
{
    char text[80];
    struct ane_example x;
    snprintf(text, sizeof text, "softmax:%zux%zu,log=%d", rows, columns, log_too);
    if (example_start(&x, text, NULL, seed)) {
        double *in = example_values(&x, "x");
        double *expected = malloc(rows * columns * sizeof *expected), *bound = malloc(rows * columns * sizeof *bound);
        for (size_t r = 0; expected && bound && r < rows; r++) {
            double most = -INFINITY, sum = 0;
            for (size_t c = 0; c < columns; c++)
                most = fmax(most, in[r * columns + c]);
            for (size_t c = 0; c < columns; c++)
                sum += exp(in[r * columns + c] - most);
            for (size_t c = 0; c < columns; c++) {
                const size_t i = r * columns + c;
                const double shifted = in[i] - most;
                expected[i] = log_too ? shifted - log(sum) : exp(shifted) / sum;
                bound[i] = log_too ? 4e-3 + 0x1p-10 * (fabs(shifted) + log(sum)) : softmax_bound(shifted, expected[i], (double)columns);
            }
        }
        if (expected && bound)
            example_compare(&x, text, "out", expected, bound, 0);
        free(in), free(expected), free(bound);
    }
    example_close(&x);
}

static void test_softmax(void)
{
    check_softmax(1, 1, 0, 1);
    check_softmax(128, 1000, 0, 2);
    check_softmax(3, 77, 0, 3);
    check_softmax(20011, 9, 0, 4);
    check_softmax(5, 16384, 0, 5);
    check_softmax(1200, 500, 0, 6);
}

static void test_log_softmax(void)
{
    check_softmax(128, 100, 1, 7);
    check_softmax(3, 1777, 1, 8);
}

static void test_refusals(void)
{
    example_refused("softmax:2x16385", NULL, ANE_H13, "H13 has at most 16384 elements along the width");
}

static const struct suite_test tests[] = {
    {"softmax", test_softmax},
    {"logarithm of softmax", test_log_softmax},
    {"refusals name the limit", test_refusals},
};
SUITE_MAIN("ane_kernels_norms", tests)
