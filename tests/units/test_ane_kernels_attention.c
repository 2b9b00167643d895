/* Attention of the Neural Engine library against double. */
#include "isa/array_count.h"
#include "tests/units/ane_library_example.h"

struct shape {
    int b, h, s, d, causal, kvh, q;
};

/* One query: scores are rounded to fp16 (three roundings with a mask), softmax adds what test_ane_kernels_norms allows, the last
 * product its own. */
static void query(const struct shape *v, const double *q, const double *k, const double *values, int keys, double *expected,
                  double *bound)
{
    double score[2000], error[2000], most = -INFINITY, total = 0;
    for (int j = 0; j < keys; j++) {
        double sizes = 0;
        score[j] = 0;
        for (int t = 0; t < v->d; t++) {
            score[j] += example_mac(q[t]) * example_mac(k[j * v->d + t]) / sqrt(v->d);
            sizes += fabs(q[t] * k[j * v->d + t]) / sqrt(v->d);
        }
        error[j] = example_sum_bound(sizes, score[j]) + 0x1p-11 * fabs(score[j]);
        most = fmax(most, score[j]);
    }
    for (int j = 0; j < keys; j++)
        total += exp(score[j] - most);
    for (int t = 0; t < v->d; t++) {
        double sizes = 0;
        expected[t] = bound[t] = 0;
        for (int j = 0; j < keys; j++) {
            const double weight = exp(score[j] - most) / total, shifted = fabs(score[j] - most);
            const double off = weight * (2 * error[j] + 1.5 * example_ulp(1.4427 * shifted) + 6 * 0x1p-11) +
                               0x1p-14 / total; /* powers below are 0 */
            expected[t] += weight * values[j * v->d + t];
            sizes += weight * fabs(values[j * v->d + t]);
            bound[t] += off * fabs(values[j * v->d + t]);
        }
        bound[t] += example_sum_bound(sizes, expected[t]);
    }
}

static void check_attention(const struct shape *v, uint64_t seed)
{
    char text[120];
    struct ane_example x;
    const int kvh = v->kvh ? v->kvh : v->h, queries = v->q ? v->q : v->s;
    snprintf(text, sizeof text, "attention:b=%d,h=%d,s=%d,d=%d,causal=%d,kvh=%d,q=%d", v->b, v->h, v->s, v->d, v->causal, v->kvh,
             v->q);
    bool ok = example_build(&x, text, NULL, ANE_H13, seed);
    if (ok) {
        example_fill(&x);
        for (int i = 0; v->causal && i < queries * v->s; i++)
            example_put(&x, "mask", (uint64_t)i, i % v->s > v->s - queries + i / v->s ? -40000 : 0);
        ok = example_run(&x);
    }
    CHECK(ok, "%s: %s", text, x.error.text);
    if (ok) {
        const size_t count = (size_t)(v->b * v->h * queries * v->d);
        double *q = example_values(&x, "q"), *k = example_values(&x, "k"), *values = example_values(&x, "v");
        double *expected = malloc(count * sizeof *expected), *bound = malloc(count * sizeof *bound);
        for (int i = 0; expected && bound && i < v->b * v->h * queries; i++) {
            const int head = i / queries, row = i % queries, kv = head / v->h * kvh + head % v->h / (v->h / kvh);
            query(v, q + i * v->d, k + kv * v->s * v->d, values + kv * v->s * v->d, v->causal ? v->s - queries + row + 1 : v->s,
                  expected + i * v->d, bound + i * v->d);
        }
        if (expected && bound)
            example_compare(&x, text, "out", expected, bound, 0);
        free(q), free(k), free(values), free(expected), free(bound);
    }
    example_close(&x);
}

static void test_heads(void)
{
    static const struct shape shapes[] = {
        {1, 1, 16, 16, 0, 0, 0},  {2, 3, 33, 20, 0, 0, 0},  {1, 4, 64, 64, 0, 2, 0},
        {1, 1, 1500, 8, 0, 0, 0}, {1, 2, 300, 64, 0, 1, 1}, {1, 4, 700, 16, 0, 2, 0},
    };
    for (size_t i = 0; i < ARRAY_COUNT(shapes); i++)
        check_attention(&shapes[i], i + 1);
}

static void test_causal(void)
{
    static const struct shape shapes[] = {{1, 2, 40, 16, 1, 0, 0}, {1, 1, 1100, 4, 1, 0, 0}, {1, 2, 50, 8, 1, 1, 7}};
    for (size_t i = 0; i < ARRAY_COUNT(shapes); i++)
        check_attention(&shapes[i], i + 10);
}

static void test_refusals(void)
{
    example_refused("attention:h=1,s=20000,d=8", NULL, ANE_H13, "H13 has at most 16384");
}

static const struct suite_test tests[] = {
    {"heads, groups of heads, blocks of queries", test_heads},
    {"causal masks", test_causal},
    {"refusals name the limit", test_refusals},
};
SUITE_MAIN("ane_kernels_attention", tests)
