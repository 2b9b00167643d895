/* Weight formats of the Neural Engine library: what banks hold, how much room they take, results of int8 on generations with and
 * without it, parsing of requests. */
#include "isa/array_count.h"
#include "tests/units/ane_library_example.h"

struct outcome {
    double *out, *x, *weight;         /* of the user: as generated */
    size_t count, weights, different; /* different values among the weights in the banks */
    double zeros;                     /* their share */
    size_t coefficient_bytes;
    bool native; /* 8 bits in the banks */
};

static int by_value(const void *a, const void *b)
{
    uint16_t x, y;
    memcpy(&x, a, sizeof x);
    memcpy(&y, b, sizeof y);
    return (x > y) - (x < y);
}

/* Reads the banks of the first descriptor back. */
static void look_at_banks(const struct ane_example *x, struct outcome *o)
{
    const struct ane_program *p = &x->program;
    struct ane_weights w = {0};
    struct isa_error error = {.text = ""};
    const bool ok = ane_weights_unpack(&p->task[0], p->bytes + p->const_offset, p->const_bytes, &w, &error);
    CHECK(ok, "banks: %s", error.text);
    if (!ok)
        return;
    const size_t count = w.per_channel * w.channels;
    o->zeros = 1 - (double)w.nonzero / (double)count;
    o->native = p->task[0].kernel_format == ANE_KERNEL_I8;
    o->coefficient_bytes = p->const_bytes;
    qsort(w.weight, count, sizeof *w.weight, by_value);
    o->different = 1;
    for (size_t i = 1; i < count; i++)
        o->different += w.weight[i] != w.weight[i - 1];
    ane_weights_free(&w);
}

static struct outcome run(const char *workload, const char *precision, enum ane_generation generation)
{
    struct ane_example x;
    struct outcome o = {.count = 0};
    bool ok = example_build(&x, workload, precision, generation, 7);
    if (ok) {
        example_fill(&x);
        ok = example_run(&x);
    }
    CHECK(ok, "%s %s: %s", workload, precision, x.error.text);
    if (ok) {
        look_at_banks(&x, &o);
        o.out = example_values(&x, "out");
        o.x = example_values(&x, "x");
        o.weight = example_values(&x, "weights");
        o.count = example_count(example_tensor(&x, "out"));
        o.weights = example_count(example_tensor(&x, "weights"));
    }
    example_close(&x);
    return o;
}

static void release(struct outcome *o)
{
    free(o->out);
    free(o->x);
    free(o->weight);
}

/* Largest difference of two results relative to the largest result. */
static double difference(const struct outcome *a, const struct outcome *b)
{
    double most = 0, size = 0;
    for (size_t i = 0; i < a->count && i < b->count; i++) {
        most = fmax(most, fabs(a->out[i] - b->out[i]));
        size = fmax(size, fabs(a->out[i]));
    }
    return most / size;
}

static const char workload[] = "conv2d:c=64,h=9,w=11,k=48,r=3,s=3,pad=1,bias=1";

static void test_int8(void)
{
    struct outcome folded = run(workload, "i8", ANE_H13), native = run(workload, "i8", ANE_H14),
                   plain = run(workload, "f16", ANE_H13);
    CU_ASSERT(!folded.native && native.native);
    CHECK(difference(&folded, &native) == 0, "folded and native int8 differ by %g", difference(&folded, &native));
    CHECK(folded.different <= 255, "%zu different weights", folded.different);
    CHECK(native.coefficient_bytes < 0.55 * (double)folded.coefficient_bytes, "%zu bytes native, %zu folded",
          native.coefficient_bytes, folded.coefficient_bytes);
    const double off = difference(&plain, &folded);
    CHECK(off > 0 && off < 0.02, "int8 changes results by %g of the largest", off); /* 2^-7 of a weight, averaged over 576 */
    release(&folded), release(&native), release(&plain);
}

static void test_palettes(void)
{
    struct outcome four = run(workload, "i4", ANE_H13), eight = run(workload, "p8", ANE_H13),
                   plain = run(workload, "f16", ANE_H13);
    CHECK(four.different <= 16 && four.different > 8, "%zu values in a palette of 16", four.different);
    CHECK(eight.different <= 256 && eight.different > 128, "%zu values in a palette of 256", eight.different);
    CHECK((double)four.coefficient_bytes < 0.3 * (double)plain.coefficient_bytes, "%zu bytes of %zu", four.coefficient_bytes,
          plain.coefficient_bytes);
    CHECK((double)eight.coefficient_bytes < 0.7 * (double)plain.coefficient_bytes, "%zu bytes of %zu", eight.coefficient_bytes,
          plain.coefficient_bytes);
    struct outcome two = run(workload, "p2", ANE_H13), six = run(workload, "p6", ANE_H13);
    CHECK(two.different <= 4 && six.different <= 64 && six.different > 32, "%zu and %zu values in palettes of 4 and 64",
          two.different, six.different);
    CHECK(two.coefficient_bytes < four.coefficient_bytes && four.coefficient_bytes < six.coefficient_bytes &&
              six.coefficient_bytes < eight.coefficient_bytes,
          "bytes: %zu, %zu, %zu, %zu", two.coefficient_bytes, four.coefficient_bytes, six.coefficient_bytes,
          eight.coefficient_bytes);
    release(&two), release(&six);
    const double coarse = difference(&plain, &four), fine = difference(&plain, &eight);
    CHECK(fine < coarse && coarse < 0.12 && fine > 0, "palettes change results by %g and %g", coarse, fine);
    release(&four), release(&eight), release(&plain);
}

static void test_sparse(void)
{
    struct outcome sparse = run(workload, "sparse", ANE_H13), plain = run(workload, "f16", ANE_H13);
    CHECK(fabs(sparse.zeros - 0.5) < 0.01, "%g of the weights pruned", sparse.zeros);
    /* Half the values; 32 channels in pairs and 16 alone, whose places have four mask bits each in small source mode. */
    CHECK((double)sparse.coefficient_bytes < (0.5 + 2.0 / 16 * 2 / 3 + 4.0 / 16 / 3 + 0.01) * (double)plain.coefficient_bytes,
          "%zu bytes of %zu", sparse.coefficient_bytes, plain.coefficient_bytes);
    release(&sparse), release(&plain);
}

/* What one descriptor may stream: 16 MB; more output channels go into further descriptors. */
static void test_large(void)
{
    struct ane_example x;
    const bool ok = example_build(&x, "gemm:1x2500x4096,weights=b", NULL, ANE_H13, 1);
    CHECK(ok, "%s", x.error.text);
    if (ok) {
        CU_ASSERT_EQUAL(x.program.count, 2);
        CU_ASSERT_EQUAL(x.program.task[0].channels_out + x.program.task[1].channels_out, 2500);
        CU_ASSERT_EQUAL(x.program.task[0].channels_out, 2048);
    }
    example_close(&x);
}

/* Builds with weights of 1e-5 at most, nearly all of which are fp16 denormals, and a bias of ordinary size. */
static bool build_small(struct ane_example *x, const char *small)
{
    *x = (struct ane_example){.request.limits = example_limits(ANE_H13), .seed = 11};
    if (!ane_kernel_parse(small, "f16", &x->request, &x->error) || !ane_kernel_build(&x->request, &x->kernel, &x->error))
        return false;
    example_constants(x);
    const uint64_t weights = example_count(example_tensor(x, "b"));
    for (uint64_t i = 0; i < weights; i++)
        x->constant[0][i] *= 3e-5f;
    ane_kernel_free(&x->kernel);
    return ane_kernel_build(&x->request, &x->kernel, &x->error) && example_round_trip(x) && example_place_buffers(x);
}

/* The MAC takes denormal factors for 0; weights that would be lost are lifted, and results are as if none had been. */
static void test_small_weights(void)
{
    enum { LINES = 5, OUT = 32, DEPTH = 64 };
    static const char small[] = "gemm:5x32x64,bias=1,weights=b";
    struct ane_example x;
    bool ok = build_small(&x, small);
    if (ok) {
        example_fill(&x);
        for (uint64_t k = 0; k < DEPTH; k++)
            for (uint64_t m = 0; m < LINES; m++)
                example_put(&x, "a", m * DEPTH + k, 1000 + (double)(k % 7) * 64);
        ok = example_run(&x);
    }
    CHECK(ok, "%s", x.error.text);
    double expected[LINES * OUT], bound[LINES * OUT];
    double *const a = ok ? example_values(&x, "a") : NULL;
    for (size_t m = 0; ok && m < LINES; m++)
        for (size_t n = 0; n < OUT; n++) {
            double sum = ane_half_round((double)x.constant[1][n]), sizes = fabs(sum);
            for (size_t k = 0; k < DEPTH; k++) {
                sum += a[m * DEPTH + k] * (double)x.constant[0][k * OUT + n];
                sizes += fabs(a[m * DEPTH + k] * (double)x.constant[0][k * OUT + n]);
            }
            expected[m * OUT + n] = sum;
            bound[m * OUT + n] = 0x1p-11 * sizes + example_sum_bound(sizes, sum); /* weights are rounded as well */
        }
    if (ok)
        example_compare(&x, workload, "out", expected, bound, 0);
    free(a);
    example_close(&x);
}

static void check_text(const char *text, const char *precision, const char *phrase)
{
    struct ane_kernel_request request = {.limits = example_limits(ANE_H13)};
    struct isa_error error = {.text = ""};
    const bool ok = ane_kernel_parse(text, precision, &request, &error);
    CHECK(!ok && strstr(error.text, phrase) && error.offset == 0, "%s: %s", text, ok ? "accepted" : error.text);
}

static void test_texts(void)
{
    check_text("gem:4x4x4", NULL, "did you mean gemm");
    check_text("conv2d:c=3,h=4,w=4,k=2,strid=2", NULL, "did you mean stride");
    check_text("gemm:4x4", NULL, "k is missing");
    check_text("elementwise:4,op=sigmoi", NULL, "did you mean sigmoid");
    check_text("gemm:4x4x4", "f64", "no precision 'f64'");
    check_text("softmax:0x5", NULL, "from 1");
}

/* Every kernel has a canonical text that reads back to the same request. */
static void test_canonical(void)
{
    static const char *const texts[] = {
        "conv2d:c=3,h=4,w=5,k=2,stride=2,act=relu",
        "gemm:4x5x6,batch=2,weights=b",
        "elementwise:100,op=add+relu+tanh,alpha=0.25",
        "softmax:4x5,log=1",
        "groupnorm:c=8,h=2,w=2,groups=2,eps=0.001",
        "pool:c=1,h=4,w=4,op=avg",
        "attention:h=2,s=16,d=8,causal=1",
    };
    for (size_t i = 0; i < ARRAY_COUNT(texts); i++) {
        struct ane_kernel_request request = {.limits = example_limits(ANE_H13)};
        struct isa_error error = {.text = ""};
        char first[300], second[300];
        CHECK(ane_kernel_parse(texts[i], NULL, &request, &error), "%s: %s", texts[i], error.text);
        ane_kernel_describe(&request, first, sizeof first);
        CHECK(ane_kernel_parse(first, NULL, &request, &error), "%s: %s", first, error.text);
        ane_kernel_describe(&request, second, sizeof second);
        CU_ASSERT_STRING_EQUAL(first, second);
    }
}

static const struct suite_test tests[] = {
    {"int8 folded and native", test_int8},
    {"palettes", test_palettes},
    {"sparse", test_sparse},
    {"more coefficients than a descriptor streams", test_large},
    {"weights below the normal numbers", test_small_weights},
    {"mistyped requests", test_texts},
    {"canonical texts", test_canonical},
};
SUITE_MAIN("ane_kernels_weights", tests)
