/* Convolutions of the Neural Engine library against sums of products in double. */
#include "isa/array_count.h"
#include "tests/units/ane_library_example.h"

struct shape {
    int n, c, h, w, k, r, s, stride, pad, groups, dilation, bias, relu, flat; /* flat: 1 = no rows of padding, 2 = no columns */
};

/* Reference and bound of one output element. */
static void element(const struct shape *v, const double *x, const double *weight, const double *bias, int n, int k, int y, int z,
                    double *value, double *bound)
{
    const int in = v->c / v->groups, first = k / (v->k / v->groups) * in;
    double sum = 0, sizes = 0;
    for (int c = 0; c < in; c++)
        for (int r = 0; r < v->r; r++)
            for (int s = 0; s < v->s; s++) {
                const int row = y * v->stride - (v->flat == 1 ? 0 : v->pad) + r * v->dilation,
                          column = z * v->stride - (v->flat == 2 ? 0 : v->pad) + s * v->dilation;
                if (row < 0 || column < 0 || row >= v->h || column >= v->w)
                    continue;
                const double p = example_mac(x[((n * v->c + first + c) * v->h + row) * v->w + column]) *
                                 example_mac(weight[((k * in + c) * v->r + r) * v->s + s]);
                sum += p;
                sizes += fabs(p);
            }
    sum += bias ? bias[k] : 0;
    *bound = example_sum_bound(sizes, sum);
    *value = v->relu && sum < 0 ? 0 : sum;
}

/* With integers every sum is exact: one product too few or too many is an error. */
static void check_values(const struct shape *v, const char *precision, uint64_t seed, bool integers)
{
    char text[200];
    struct ane_example x;
    snprintf(text, sizeof text,
             "conv2d:n=%d,c=%d,h=%d,w=%d,k=%d,r=%d,s=%d,stride=%d,pad=%d,groups=%d,dilation=%d,bias=%d,act=%s%s", v->n, v->c,
             v->h, v->w, v->k, v->r, v->s, v->stride, v->pad, v->groups, v->dilation, v->bias, v->relu ? "relu" : "none",
             v->flat == 1   ? ",flat=1"
             : v->flat == 2 ? ",tall=1"
                            : "");
    if (integers ? example_start_integers(&x, text, precision, ANE_H13, seed) : example_start(&x, text, precision, seed)) {
        const int oh = (v->h + (v->flat == 1 ? 0 : 2 * v->pad) - (v->r - 1) * v->dilation - 1) / v->stride + 1;
        const int ow = (v->w + (v->flat == 2 ? 0 : 2 * v->pad) - (v->s - 1) * v->dilation - 1) / v->stride + 1;
        const size_t count = (size_t)v->n * (size_t)v->k * (size_t)oh * (size_t)ow;
        double *in = example_values(&x, "x"), *weight = example_values(&x, "weights");
        double *bias = v->bias ? example_values(&x, "bias") : NULL;
        double *expected = malloc(count * sizeof *expected), *bound = malloc(count * sizeof *bound);
        for (size_t i = 0; expected && bound && i < count; i++) {
            const int z = (int)(i % (size_t)ow), y = (int)(i / (size_t)ow % (size_t)oh);
            const int plane = (int)(i / (size_t)ow / (size_t)oh);
            element(v, in, weight, bias, plane / v->k, plane % v->k, y, z, &expected[i], &bound[i]);
            CHECK(!integers || fabs(expected[i]) <= 2048, "%s: fp16 does not hold the sum %.0f", text, expected[i]);
            bound[i] = integers ? 0 : bound[i];
        }
        CU_ASSERT_EQUAL(example_count(example_tensor(&x, "out")), count);
        if (expected && bound)
            example_compare(&x, text, "out", expected, bound, 0);
        free(in), free(weight), free(bias), free(expected), free(bound);
    }
    example_close(&x);
}

static void check_conv(const struct shape *v, const char *precision, uint64_t seed)
{
    check_values(v, precision, seed, false);
}

static void test_shapes(void)
{
    static const struct shape shapes[] = {
        {1, 3, 8, 8, 4, 1, 1, 1, 0, 1, 1, 0, 0, 0},      {1, 5, 7, 9, 17, 3, 3, 1, 1, 1, 1, 1, 1, 0},
        {2, 4, 13, 11, 6, 3, 5, 2, 2, 1, 1, 1, 0, 0},    {1, 1, 33, 35, 1, 7, 7, 3, 3, 1, 1, 0, 1, 0},
        {1, 64, 14, 14, 70, 3, 3, 1, 1, 1, 1, 0, 0, 0},  {3, 2, 1, 1, 33, 1, 1, 1, 0, 1, 1, 1, 0, 0},
        {1, 1, 30, 50, 2, 29, 29, 1, 14, 1, 1, 0, 0, 0}, {1, 3, 40, 31, 8, 11, 11, 3, 2, 1, 1, 1, 1, 0},
    };
    for (size_t i = 0; i < ARRAY_COUNT(shapes); i++)
        check_conv(&shapes[i], NULL, i + 1);
}

static void test_groups(void)
{
    static const struct shape shapes[] = {
        {1, 8, 6, 7, 12, 3, 3, 1, 1, 4, 1, 1, 0, 0},    {2, 32, 9, 9, 32, 3, 3, 1, 1, 32, 1, 1, 1, 0},
        {1, 17, 10, 5, 17, 5, 5, 2, 2, 17, 1, 0, 0, 0}, {1, 6, 5, 5, 12, 3, 3, 1, 1, 6, 1, 0, 0, 0},
        {1, 64, 3, 3, 64, 1, 1, 1, 0, 2, 1, 0, 0, 0},
    };
    for (size_t i = 0; i < ARRAY_COUNT(shapes); i++)
        check_conv(&shapes[i], NULL, i + 100);
}

static void test_dilation(void)
{
    static const struct shape shapes[] = {
        {1, 3, 15, 17, 5, 3, 3, 1, 2, 1, 2, 0, 0, 0},
        {1, 4, 40, 40, 4, 3, 3, 1, 12, 1, 12, 1, 0, 0},
        {1, 4, 20, 20, 4, 3, 2, 2, 4, 4, 4, 0, 0, 0},
    };
    for (size_t i = 0; i < ARRAY_COUNT(shapes); i++)
        check_conv(&shapes[i], NULL, i + 200);
}

/* Over one row, padded left and right alone, as speech networks have them; padded in the other direction alone. */
static void test_flat(void)
{
    static const struct shape shapes[] = {
        {1, 5, 1, 30, 7, 1, 3, 1, 1, 1, 1, 1, 0, 1},
        {2, 4, 1, 41, 6, 1, 3, 2, 1, 1, 1, 1, 1, 1},
        {1, 6, 5, 20, 6, 1, 5, 1, 2, 6, 1, 0, 0, 1},
        {1, 5, 17, 17, 7, 7, 1, 1, 3, 1, 1, 1, 1, 2}, /* above and below alone, as half of a 7 x 7 */
        {2, 4, 12, 9, 6, 3, 2, 2, 1, 1, 1, 0, 0, 2},
    };
    for (size_t i = 0; i < ARRAY_COUNT(shapes); i++)
        check_conv(&shapes[i], NULL, i + 700);
}

/* Strides beyond three: patches. */
static void test_patches(void)
{
    static const struct shape shapes[] = {
        {1, 3, 32, 48, 10, 16, 16, 16, 0, 1, 1, 1, 0, 0},
        {2, 3, 17, 22, 5, 4, 4, 4, 0, 1, 1, 1, 1, 0},
        {1, 5, 40, 39, 7, 5, 11, 12, 0, 1, 1, 0, 0, 0},
    };
    for (size_t i = 0; i < ARRAY_COUNT(shapes); i++)
        check_conv(&shapes[i], NULL, i + 500);
}

/* An activation with a table comes behind: its argument has the bound of the sum, the table that of test_ane_kernels_elementwise.
 */
static void test_activation(void)
{
    const struct shape v = {2, 5, 9, 10, 7, 3, 3, 1, 1, 1, 1, 1, 0, 0};
    struct ane_example x;
    if (example_start(&x, "conv2d:n=2,c=5,h=9,w=10,k=7,pad=1,bias=1,act=silu", NULL, 400)) {
        double *in = example_values(&x, "x"), *weight = example_values(&x, "weights"), *bias = example_values(&x, "bias");
        double expected[2 * 7 * 9 * 10], bound[2 * 7 * 9 * 10];
        for (int i = 0; i < 2 * 7 * 9 * 10; i++) {
            double sum;
            element(&v, in, weight, bias, i / 630, i / 90 % 7, i / 10 % 9, i % 10, &sum, &bound[i]);
            expected[i] = sum / (1 + exp(-sum));
            bound[i] = 1.1 * bound[i] + 1.5e-3 * fabs(sum) + 2 * example_ulp(expected[i]); /* |silu'| < 1.1 */
        }
        example_compare(&x, "conv2d with silu", "out", expected, bound, 0);
        free(in), free(weight), free(bias);
    }
    example_close(&x);
}

/* Products are 1, 2 or 4 with a sign. All ways of the library: groups, strides, dilation, patches, strips of columns, parts of
 * the channels, palettes. */
static void test_every_product(void)
{
    static const struct {
        struct shape shape;
        const char *precision;
    } cases[] = {
        {{1, 3, 8, 8, 4, 1, 1, 1, 0, 1, 1, 0, 0, 0}, NULL},       {{2, 5, 7, 9, 17, 3, 3, 1, 1, 1, 1, 1, 0, 0}, NULL},
        {{2, 4, 13, 11, 6, 3, 5, 2, 2, 1, 1, 1, 0, 0}, NULL},     {{1, 1, 33, 35, 1, 7, 7, 3, 3, 1, 1, 0, 1, 0}, NULL},
        {{1, 259, 14, 14, 70, 3, 3, 1, 1, 1, 1, 0, 0, 0}, NULL},  {{1, 1, 30, 50, 2, 29, 29, 1, 14, 1, 1, 0, 0, 0}, NULL},
        {{1, 8, 6, 7, 12, 3, 3, 1, 1, 4, 1, 1, 0, 0}, NULL},      {{1, 17, 10, 5, 17, 5, 5, 2, 2, 17, 1, 0, 0, 0}, NULL},
        {{1, 4, 20, 20, 4, 3, 2, 2, 4, 4, 4, 0, 0, 0}, NULL},     {{1, 5, 40, 39, 7, 5, 11, 12, 0, 1, 1, 0, 0, 0}, NULL},
        {{1, 400, 3, 1001, 2, 3, 3, 1, 1, 1, 1, 1, 0, 0}, NULL},  {{1, 300, 5, 1030, 3, 5, 5, 2, 2, 1, 1, 0, 1, 0}, NULL},
        {{1, 1000, 2, 530, 20, 2, 2, 3, 0, 1, 1, 0, 0, 0}, NULL}, {{1, 3, 2, 700, 3000, 1, 1, 1, 0, 1, 1, 0, 0, 0}, NULL},
        {{1, 64, 14, 14, 70, 3, 3, 1, 1, 1, 1, 0, 0, 0}, "i4"},   {{1, 30, 9, 8, 33, 3, 3, 2, 1, 3, 1, 0, 0, 0}, "p2"},
        {{1, 2050, 2, 3, 40, 1, 1, 1, 0, 1, 1, 0, 0, 0}, "p6"},   {{1, 7, 11, 6, 9, 5, 3, 1, 2, 1, 1, 1, 0, 0}, "p8"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++)
        check_values(&cases[i].shape, cases[i].precision, i + 600, true);
}

/* Rows beyond the tile memory: strips of columns, right to left, and parts of the channels. */
static void test_strips(void)
{
    static const struct shape shapes[] = {
        {1, 400, 3, 1001, 2, 3, 3, 1, 1, 1, 1, 1, 0, 0},
        {1, 300, 5, 1030, 3, 5, 5, 2, 2, 1, 1, 0, 1, 0},
        {1, 1000, 2, 530, 20, 2, 2, 3, 0, 1, 1, 0, 0, 0},
        {1, 3, 2, 700, 3000, 1, 1, 1, 0, 1, 1, 0, 0, 0},
    };
    for (size_t i = 0; i < ARRAY_COUNT(shapes); i++)
        check_conv(&shapes[i], NULL, i + 300);
}

/* A stack built for a tile memory of so many bytes; its results. */
static double *stack_within(const char *text, uint32_t l2_bytes, struct ane_example *x)
{
    struct ane_limits limits = example_limits(ANE_H13);
    limits.l2_bytes = l2_bytes;
    bool ok = example_build_within(x, text, NULL, &limits, 77);
    if (ok) {
        example_fill(x);
        ok = example_run(x);
    }
    CHECK(ok, "%s in %u bytes: %s", text, (unsigned)l2_bytes, x->error.text);
    return ok ? example_values(x, "out") : NULL;
}

/* Images of 96 and 64 KiB. Where they lie between layers, and in which tiles they pass, changes no bit: two of them fill the
 * smaller tile memory, in the least they go through the scratch buffer, a long row in several. */
static void test_places(void)
{
    static const struct {
        const char *text;
        uint32_t image;
    } stacks[] = {{"conv-stack:layers=5,c=48,h=1,w=1024,r=1,s=1", 96 << 10},
                  {"conv-stack:layers=4,c=32,h=32,w=32,act=relu", 64 << 10}};
    for (size_t i = 0; i < ARRAY_COUNT(stacks); i++) {
        const uint32_t sizes[] = {2u << 20, 2 * stacks[i].image, 2 * stacks[i].image - 16};
        double *first = NULL;
        for (size_t k = 0; k < ARRAY_COUNT(sizes); k++) {
            struct ane_example x;
            double *out = stack_within(stacks[i].text, sizes[k], &x);
            const uint64_t count = out ? example_count(example_tensor(&x, "out")) : 0;
            for (size_t t = 0; out && t + 1 < x.program.count; t++)
                CHECK(x.program.task[t].result.place == (k < 2 ? ANE_PLACE_L2 : ANE_PLACE_DRAM), "%s: image behind layer %zu",
                      stacks[i].text, t);
            CHECK(!out || k < 2 || x.program.task[1].tile_height < x.program.task[1].height_out, "%s: one tile", stacks[i].text);
            CHECK(!out || !first || memcmp(first, out, count * sizeof *out) == 0, "%s: other results in %u bytes", stacks[i].text,
                  (unsigned)sizes[k]);
            if (!first)
                first = out;
            else
                free(out);
            example_close(&x);
        }
        free(first);
    }
}

/* Layers with the same weights are layers that were given the same weights, and have them in the program once. */
static void test_same_weights(void)
{
    enum { TAPS = 33 * 33, COUNT = 33 * 5 * 6 };
    struct ane_example one, each = {.request.limits = example_limits(ANE_H13), .seed = 78};
    float *weight = malloc(3 * TAPS * sizeof *weight);
    if (weight && example_start(&one, "conv-stack:layers=3,c=33,h=5,w=6,r=1,s=1,same=1", NULL, 77)) {
        for (unsigned i = 0; i < 3 * TAPS; i++)
            weight[i] = one.constant[0][i % TAPS];
        each.request.constant[0] = weight;
        const bool built = ane_kernel_parse("conv-stack:layers=3,c=33,h=5,w=6,r=1,s=1", NULL, &each.request, &each.error) &&
                           ane_kernel_build(&each.request, &each.kernel, &each.error) && example_round_trip(&each) &&
                           example_place_buffers(&each);
        CHECK(built, "three layers: %s", each.error.text);
        double *x = example_values(&one, "x"), *expected = example_values(&one, "out");
        for (unsigned i = 0; built && i < COUNT; i++)
            example_put(&each, "x", i, x[i]);
        CHECK(built && example_run(&each), "%s", each.error.text);
        example_compare(&each, "three layers with the same weights", "out", expected, NULL, 0);
        CU_ASSERT_EQUAL(one.program.task[0].bank[0].base, one.program.task[2].bank[0].base);
        CU_ASSERT_EQUAL(one.program.const_bytes, each.program.const_bytes);
        free(x), free(expected);
    }
    free(weight);
    example_close(&one);
    example_close(&each);
}

static void test_refusals(void)
{
    example_refused("conv2d:c=1,h=64,w=64,k=1,r=31,s=31", NULL, ANE_H13, "kernel 31x31: H13 convolves at most 29x29");
    example_refused("conv2d:c=70000,h=1,w=1,k=1,r=1,s=1", NULL, ANE_H13, "70000 channels: H13 has at most 65536");
    example_refused("conv2d:c=1,h=1,w=50,k=2,r=1,s=29,pad=14", NULL, ANE_H13, "begin beyond the image");
    example_refused("conv2d:c=16384,h=40,w=40,k=1,r=29,s=29", NULL, ANE_H13, "29 rows of 32 elements in 16384 channels");
    example_refused("conv2d:c=1,h=99,w=99,k=1,r=7,s=7,stride=7", NULL, ANE_H13, "at most 3");
    example_refused("conv2d:c=1,h=20000,w=4,k=1", NULL, ANE_H13, "H13 has at most 16384");
}

static const struct suite_test tests[] = {
    {"shapes, strides, padding, images, bias, relu", test_shapes},
    {"padding in one direction alone", test_flat},
    {"groups and depthwise", test_groups},
    {"dilation", test_dilation},
    {"patches", test_patches},
    {"activation behind", test_activation},
    {"small integers: not one product is missing", test_every_product},
    {"strips of columns", test_strips},
    {"places between layers", test_places},
    {"layers with the same weights", test_same_weights},
    {"refusals name the limit", test_refusals},
};
SUITE_MAIN("ane_kernels_conv", tests)
