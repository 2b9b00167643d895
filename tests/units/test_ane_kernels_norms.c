/* Softmax and normalisations of the Neural Engine library. */
#include "tests/units/ane_library_example.h"

/* Softmax goes through 2^x from a table, with (x - max) log2 e rounded to fp16: an error of e in that makes a factor 2^e; the
 * table is off by at most 2^-13 between its 32 knots a binade, powers and results are rounded to fp16, the reciprocal of the sum
 * too. */
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
                bound[i] =
                    log_too ? 4e-3 + 0x1p-10 * (fabs(shifted) + log(sum)) : softmax_bound(shifted, expected[i], (double)columns);
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

/* (x - mean) factor gamma + beta: the mean and the differences are rounded to fp16, the factor comes from a table (rsqrt: within
 * 2e-3, see the suite of element-wise functions), then come two or three roundings. */
static double norm_bound(double mean, double factor, double normalised, double gamma, double beta)
{
    return fabs(gamma) * (2.5e-3 * fabs(normalised) + factor * (example_ulp(mean) + 0x1p-11 * fabs(normalised / factor))) +
           2 * example_ulp(fabs(gamma * normalised) + fabs(beta));
}

/* Statistics of `count` elements. */
static void statistics(const double *x, size_t count, bool centred, double eps, double *mean, double *factor)
{
    double sum = 0, squares = 0;
    for (size_t i = 0; centred && i < count; i++)
        sum += x[i];
    *mean = sum / (double)count;
    for (size_t i = 0; i < count; i++)
        squares += (x[i] - *mean) * (x[i] - *mean);
    *factor = 1 / sqrt(squares / (double)count + eps);
}

static void check_rows(const char *kind, size_t rows, size_t columns, bool affine, bool channels, uint64_t seed)
{
    char text[80];
    struct ane_example x;
    const bool centred = kind[0] == 'l';
    snprintf(text, sizeof text, "%s:%zux%zu,affine=%d,channels=%d", kind, rows, columns, affine, channels);
    if (example_start(&x, text, NULL, seed)) {
        double *in = example_values(&x, "x"), *gamma = affine ? example_values(&x, "gamma") : NULL;
        double *beta = affine && centred ? example_values(&x, "beta") : NULL;
        double *expected = malloc(rows * columns * sizeof *expected), *bound = malloc(rows * columns * sizeof *bound);
        for (size_t r = 0; expected && bound && r < rows; r++) {
            double mean, factor, sizes = 0;
            statistics(in + r * columns, columns, centred, 1e-5, &mean, &factor);
            for (size_t c = 0; c < columns; c++)
                sizes += fabs(in[r * columns + c]) / (double)columns;
            for (size_t c = 0; c < columns; c++) {
                const double normal = (in[r * columns + c] - mean) * factor, g = gamma ? gamma[c] : 1, b = beta ? beta[c] : 0;
                expected[r * columns + c] = normal * g + b;
                bound[r * columns + c] = norm_bound(mean, factor, normal, g, b);
                if (channels) /* the mean's groups of four have 12 bits, and factors below 2^-14 are 0 */
                    bound[r * columns + c] += (centred ? g * factor * 6 * 0x1p-12 * sizes : 0) + (affine ? g * 0x1p-14 : 0);
            }
        }
        if (expected && bound)
            example_compare(&x, text, "out", expected, bound, 0);
        free(in), free(gamma), free(beta), free(expected), free(bound);
    }
    example_close(&x);
}

static void test_layernorm(void)
{
    check_rows("layernorm", 4, 768, true, false, 20);
    check_rows("layernorm", 33, 77, false, false, 21);
    check_rows("layernorm", 700, 1024, true, false, 22);
    check_rows("layernorm", 9001, 33, true, false, 23);
}

static void test_layernorm_over_channels(void)
{
    check_rows("layernorm", 40, 768, true, true, 26);
    check_rows("layernorm", 33, 77, false, true, 27);
    check_rows("layernorm", 1500, 384, true, true, 28);
    check_rows("rmsnorm", 700, 1024, true, true, 29);
    check_rows("rmsnorm", 3, 5, false, true, 30);
}

static void test_rmsnorm(void)
{
    check_rows("rmsnorm", 5, 2048, true, false, 24);
    check_rows("rmsnorm", 100, 63, false, false, 25);
}

static void check_groups(size_t n, size_t c, size_t h, size_t w, size_t groups, uint64_t seed)
{
    char text[100];
    struct ane_example x;
    const size_t plane = h * w, each = c / groups * plane;
    snprintf(text, sizeof text, "groupnorm:n=%zu,c=%zu,h=%zu,w=%zu,groups=%zu", n, c, h, w, groups);
    if (example_start(&x, text, NULL, seed)) {
        double *in = example_values(&x, "x"), *gamma = example_values(&x, "gamma"), *beta = example_values(&x, "beta");
        double *expected = malloc(n * c * plane * sizeof *expected), *bound = malloc(n * c * plane * sizeof *bound);
        for (size_t g = 0; expected && bound && g < n * groups; g++) {
            double mean, factor, sizes = 0;
            statistics(in + g * each, each, true, 1e-5, &mean, &factor);
            for (size_t i = 0; i < each; i++)
                sizes += fabs(in[g * each + i]) / (double)each;
            for (size_t i = g * each; i < (g + 1) * each; i++) {
                const size_t channel = i / plane % c;
                const double normal = (in[i] - mean) * factor;
                expected[i] = normal * gamma[channel] + beta[channel];
                /* the group's mean goes through the MAC's adder of 12 bits, its share is rounded to fp16 */
                bound[i] = norm_bound(mean, factor, normal, gamma[channel], beta[channel]) +
                           fabs(gamma[channel]) * 5e-3 * (sizes * factor + fabs(normal));
            }
        }
        if (expected && bound)
            example_compare(&x, text, "out", expected, bound, 0);
        free(in), free(gamma), free(beta), free(expected), free(bound);
    }
    example_close(&x);
}

static void test_groupnorm(void)
{
    check_groups(1, 8, 7, 9, 2, 30);
    check_groups(2, 32, 14, 14, 32, 31);
    check_groups(1, 3, 256, 128, 1, 32); /* planes of two rows */
    check_groups(1, 64, 5, 5, 4, 33);
    check_groups(1, 32, 18, 8192, 32, 34);  /* rows of a quarter of the tile memory */
    check_groups(1, 256, 1152, 32, 16, 35); /* 36 rows, more than a kernel is high, and more in all than one reduction has */
}

static void test_batchnorm(void)
{
    const size_t n = 2, c = 19, plane = 11 * 13;
    struct ane_example x;
    if (example_start(&x, "batchnorm:n=2,c=19,h=11,w=13", NULL, 40)) {
        double *in = example_values(&x, "x"), *gamma = example_values(&x, "gamma"), *beta = example_values(&x, "beta");
        double *mean = example_values(&x, "mean"), *variance = example_values(&x, "variance");
        double expected[2 * 19 * 11 * 13], bound[2 * 19 * 11 * 13];
        for (size_t i = 0; i < n * c * plane; i++) {
            const size_t k = i / plane % c;
            const double factor = gamma[k] / sqrt(variance[k] + 1e-5), summand = beta[k] - mean[k] * factor;
            expected[i] = in[i] * factor + summand;
            bound[i] =
                0x1p-11 * (fabs(in[i] * factor) + fabs(summand)) + 3 * 0x1p-11 * fabs(in[i] * factor) + example_ulp(expected[i]);
        }
        example_compare(&x, "batchnorm", "out", expected, bound, 0);
        free(in), free(gamma), free(beta), free(mean), free(variance);
    }
    example_close(&x);
}

static void test_refusals(void)
{
    example_refused("softmax:2x16385", NULL, ANE_H13, "H13 has at most 16384 elements along the width");
}

static const struct suite_test tests[] = {
    {"softmax", test_softmax},     {"logarithm of softmax", test_log_softmax},
    {"layernorm", test_layernorm}, {"layernorm over channels", test_layernorm_over_channels},
    {"rmsnorm", test_rmsnorm},     {"groupnorm", test_groupnorm},
    {"batchnorm", test_batchnorm}, {"refusals name the limit", test_refusals},
};
SUITE_MAIN("ane_kernels_norms", tests)
