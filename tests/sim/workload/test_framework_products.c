/* Products of frameworks against sums in double precision, on shapes with edges, in each range of versions. */
#include "tests/sim/workload/framework_example.h"

static const char *const versions[] = {"mlx@0.0.7", "mlx@0.5", "mlx@0.12.2", "mlx@0.20", "mlx@0.25.2", "mlx@0.30.1"};
static const char *const chips[] = {"M1", "M1 Max", "M1 Ultra"};

struct product {
    unsigned m, n, k, batch, ta, tb;
    double alpha, beta;
};

static void check_product(const struct product *q, const char *kernels, const char *chip, const char *precision)
{
    struct example x;
    char text[160];
    const bool half = strcmp(precision, "f16") == 0;
    const double unit = half ? 0x1p-11 : 0x1p-24;
    const double sums = half && strcmp(kernels, "mfa") == 0 ? 0x1p-11 : 0x1p-24; /* whose sums of halves are halves */
    snprintf(text, sizeof text, "gemm:%ux%ux%u,batch=%u,ta=%u,tb=%u,alpha=%g,beta=%g", q->m, q->n, q->k, q->batch, q->ta, q->tb,
             q->alpha, q->beta);
    const size_t count = (size_t)q->m * q->n * q->batch;
    double *const expected = malloc(count * sizeof *expected), *const bound = malloc(count * sizeof *bound);
    if (run(&x, kernels, chip, text, precision) && expected && bound) {
        for (unsigned z = 0; z < q->batch; z++)
            for (unsigned i = 0; i < q->m; i++)
                for (unsigned j = 0; j < q->n; j++) {
                    const double *const a = x.before[0] + (size_t)z * q->m * q->k, *const b =
                                                                                       x.before[1] + (size_t)z * q->k * q->n;
                    const size_t at = ((size_t)z * q->m + i) * q->n + j;
                    double sum = 0, size = 0;
                    for (unsigned k = 0; k < q->k; k++) {
                        const double p = a[q->ta ? k * q->m + i : i * q->k + k] * b[q->tb ? j * q->k + k : k * q->n + j];
                        sum += p;
                        size += fabs(p);
                    }
                    expected[at] = q->alpha * sum + (q->beta > 0 ? q->beta * x.before[2][at] : 0);
                    bound[at] = (q->k + 8) * sums * (fabs(q->alpha) * size + 1) + 2 * unit * fabs(expected[at]) + unit;
                }
        close_to(&x, 2, expected, bound);
    }
    free(expected);
    free(bound);
    end(&x);
}

static void test_products(void)
{
    static const struct product products[] = {
        {70, 66, 37, 2, 0, 0, 1, 0},  {70, 66, 37, 1, 0, 1, 1, 0},  {33, 70, 50, 1, 1, 0, 1, 0},  {65, 40, 33, 1, 1, 1, 1, 0},
        {64, 64, 64, 1, 0, 0, 1, 0},  {40, 33, 300, 1, 0, 0, 1, 0}, {64, 8, 1160, 1, 0, 1, 1, 0}, {70, 66, 37, 1, 0, 1, 2, 0.5},
        {20, 30, 200, 1, 0, 0, 2, 1}, {1, 70, 130, 3, 0, 0, 1, 0},  {1, 70, 133, 1, 0, 1, 1, 0},  {90, 1, 50, 1, 0, 0, 1, 0},
        {6, 1, 777, 1, 0, 0, 1, 0},   {1, 3, 30, 1, 0, 0, 1, 0},    {3, 1, 30, 1, 0, 0, 1, 0},    {60, 1, 333, 1, 1, 0, 1, 0},
        {9, 1, 40, 1, 0, 0, 3, 2},    {1, 2100, 40, 1, 0, 0, 1, 0},
    };
    for (size_t v = 0; v < ARRAY_COUNT(versions); v++)
        for (size_t i = 0; i < ARRAY_COUNT(products); i++)
            check_product(&products[i], versions[v], chips[(v + i) % 3], i % 2 && v % 2 ? "f16" : "f32");
    const struct product large = {1030, 1025, 20, 1, 0, 1, 1, 0}; /* large enough for the largest tiles */
    for (size_t c = 0; c < 3; c++)
        check_product(&large, c ? "mlx@0.20" : "mlx@0.5", chips[c], "f16");
    check_product(&large, "mps", chips[0], "f32");
    const struct product narrow = {40, 20, 33, 3, 0, 1, 1, 0}; /* a result a thread, as all of a PyTorch's of early 2024 */
    check_product(&narrow, "mps@2.2.1", chips[0], "f16");
    for (size_t i = 0; i < ARRAY_COUNT(products); i++)
        check_product(&products[i], "mps@2.2.1", chips[i % 3], i % 2 ? "f16" : "f32");
}

/* Blocks by size and family; rows, columns and k that end within a block, and results of less than one. */
static void test_products_mfa(void)
{
    static const struct product products[] = {
        {96, 144, 48, 1, 0, 1, 1, 1},  {70, 66, 37, 2, 0, 0, 1, 0},   {70, 67, 37, 1, 0, 1, 1, 1},   {33, 70, 50, 1, 1, 0, 1, 0},
        {65, 40, 33, 1, 1, 1, 1, 0},   {20, 30, 10, 3, 0, 1, 1, 0},   {5, 90, 61, 1, 1, 0, 1, 0},    {40, 3, 100, 1, 0, 0, 1, 1},
        {500, 505, 30, 1, 0, 0, 1, 0}, {501, 490, 29, 1, 0, 1, 1, 1}, {490, 503, 27, 1, 1, 1, 1, 0},
    };
    for (size_t i = 0; i < ARRAY_COUNT(products); i++)
        for (unsigned late = 0; late < 2; late++) {
            check_product(&products[i], "mfa", late ? "M3" : "M1", "f32");
            check_product(&products[i], "mfa", late ? "M3" : "M1", "f16");
        }
}

/* c times a product less a number of the row, which passes through threadgroup memory; edges and k as above. */
static void check_gate(unsigned m, unsigned n, unsigned k, unsigned batch, const char *chip, const char *precision)
{
    struct example x;
    char text[96];
    const double unit = strcmp(precision, "f16") == 0 ? 0x1p-11 : 0x1p-24;
    snprintf(text, sizeof text, "gemm:%ux%ux%u,batch=%u,tb=1,gate=1", m, n, k, batch);
    const size_t count = (size_t)m * n * batch;
    double *const expected = malloc(count * sizeof *expected), *const bound = malloc(count * sizeof *bound);
    if (run(&x, "mfa", chip, text, precision) && expected && bound) {
        for (size_t at = 0; at < count; at++) {
            const size_t row = at / n, z = row / m, column = at % n;
            double sum = -x.before[3][row], size = fabs(sum);
            for (unsigned i = 0; i < k; i++) {
                const double p = x.before[0][row * k + i] * x.before[1][(z * n + column) * k + i];
                sum += p;
                size += fabs(p);
            }
            expected[at] = x.before[2][at] * sum;
            bound[at] = (k + 8) * 0x1p-24 * (size * fabs(x.before[2][at]) + 1) + 2 * unit * fabs(expected[at]) + unit;
        }
        close_to(&x, 2, expected, bound);
    }
    free(expected);
    free(bound);
    end(&x);
}

static void test_gates_mfa(void)
{
    for (unsigned which = 0; which < 4; which++) {
        const char *const chip = which & 1 ? "M3" : "M1", *const precision = which & 2 ? "f16" : "f32";
        check_gate(96, 144, 48, 1, chip, precision);
        check_gate(70, 67, 37, 2, chip, precision);
        check_gate(100, 97, 54, 1, chip, precision);
        check_gate(501, 490, 28, 1, chip, precision);
    }
}

static const struct suite_test tests[] = {{"gates of metal-flash-attention", test_gates_mfa},
                                          {"products", test_products},
                                          {"products of metal-flash-attention", test_products_mfa}};
SUITE_MAIN("framework_products", tests)
