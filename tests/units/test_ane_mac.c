/* The MAC engines: what was measured on M1 (sbryngelson/ane-guide, chapters 3 and 20), host paths among themselves, convolutions
 * and products of tensors of odd shapes against sums in double.
 */
#include "isa/array_count.h"
#include "tests/units/ane_exec_example.h"

#include <math.h>

/* ---- a product with a vector of ones ---- */

static double sum_of(const double *value, uint32_t count, const char *path)
{
    struct ane_example e;
    ane_example_open(&e);
    CU_ASSERT_TRUE(ane_core_use(e.core, path));
    struct ane_task *t = ane_example_task(&e);
    ane_example_shape(t, count, 1, 1, 1, 1, 1);
    t->ne_op = ANE_NE_CONVOLUTION;
    t->engines = 1;
    t->source = ane_example_dram(&e, BAR_IN, count, 1, 1);
    t->result = ane_example_dram(&e, BAR_OUT, 1, 1, 1);
    uint16_t *ones = malloc(count * sizeof *ones);
    for (uint32_t i = 0; i < count; i++) {
        ones[i] = ane_half_bits(1);
        ane_example_set_bits(&e, &t->source, i, 0, 0, ane_half_bits(value[i]));
    }
    ane_example_weights(&e, t, ones, NULL);
    ane_example_must_run(&e, 1);
    const double sum = ane_example_get(&e, &t->result, 0, 0, 0);
    free(ones);
    ane_example_close(&e);
    return sum;
}

static const char *const paths[] = {"reference", "portable", NULL};

static void test_small_beside_large(void)
{
    double value[1025] = {4096};
    for (int i = 1; i < 1025; i++)
        value[i] = 1;
    for (int p = 0; p < 3; p++)
        CU_ASSERT_EQUAL(sum_of(value, 1025, paths[p]), 5116);
    for (int i = 1; i < 1025; i++) /* and one of 8192 beside sixteen ones: those that share its group are lost */
        value[i] = i <= 19 && i >= 4 ? 1 : 0;
    value[0] = 8192;
    CU_ASSERT_EQUAL(sum_of(value, 1025, NULL), 8208);
}

/* Sixteen times large, minus large, one: sixteen ones are left below 4096, four from there on, in either order. */
static void test_cancellation(void)
{
    double value[2][48];
    for (double large = 1024; large <= 32752; large += large < 2048    ? 1
                                                       : large < 4096  ? 2
                                                       : large < 8192  ? 4
                                                       : large < 16384 ? 8
                                                                       : 16) {
        for (int i = 0; i < 16; i++)
            for (int order = 0; order < 2; order++) {
                value[order][3 * i] = large;
                value[order][3 * i + 1 + order] = -large;
                value[order][3 * i + 2 - order] = 1;
            }
        const double left = large < 4096 ? 16 : 4;
        for (int order = 0; order < 2; order++) {
            const double sum = sum_of(value[order], 48, NULL);
            CHECK(sum == left, "%g, order %d: %g", large, order, sum);
        }
    }
}

static void test_ones(void)
{
    double *value = malloc(16000 * sizeof *value);
    for (int i = 0; i < 16000; i++)
        value[i] = 1;
    for (int p = 0; p < 3; p++)
        CU_ASSERT_EQUAL(sum_of(value, 16000, paths[p]), 16000);
    free(value);
}

static void test_ties_to_even(void)
{
    const double to_even[] = {2048, 0, 0, 0, 1}, above[] = {2050, 0, 0, 0, 1}, half[] = {1024, 0, 0, 0, 0.5};
    CU_ASSERT_EQUAL(sum_of(to_even, 5, NULL), 2048);
    CU_ASSERT_EQUAL(sum_of(above, 5, NULL), 2052);
    CU_ASSERT_EQUAL(sum_of(half, 5, NULL), 1024);
}

static void test_overflow(void)
{
    const double fits[] = {32752}, reaches[] = {32768}, negative[] = {-20000, -20000};
    const double back[] = {30000, 0, 0, 0, 10000, 0, 0, 0, -30000}, near[] = {30000, 0, 0, 0, 2000, 0, 0, 0, -30000};
    CU_ASSERT_EQUAL(sum_of(fits, 1, NULL), 32752);
    for (int p = 0; p < 3; p++) {
        CU_ASSERT_EQUAL(sum_of(reaches, 1, paths[p]), INFINITY);
        CU_ASSERT_EQUAL(sum_of(negative, 2, paths[p]), -INFINITY);
        CU_ASSERT_EQUAL(sum_of(back, 9, paths[p]), INFINITY); /* a partial sum that overflowed stays */
        CU_ASSERT_EQUAL(sum_of(near, 9, paths[p]), 2000);
    }
}

static void test_special_operands(void)
{
    const double tiny[] = {0x1p-15, 0x1p-15}, smallest[] = {0x1p-14}, nan[] = {NAN}, infinite[] = {-INFINITY}, zero[] = {-0.0};
    CU_ASSERT_EQUAL(sum_of(tiny, 2, NULL), 0); /* H13 flushes denormal operands */
    CU_ASSERT_EQUAL(sum_of(smallest, 1, NULL), 0x1p-14);
    CU_ASSERT_EQUAL(sum_of(nan, 1, NULL), INFINITY);
    CU_ASSERT_EQUAL(sum_of(infinite, 1, NULL), -INFINITY);
    CU_ASSERT_FALSE(signbit(sum_of(zero, 1, NULL)));
}

/* ---- convolutions ---- */

struct conv {
    uint32_t channels_in, height_in, width_in, channels_out, kernel_height, kernel_width, stride_y, stride_x, pad_top, pad_left;
    uint32_t pad_bottom, pad_right, groups, step;
    bool bias, relu, depthwise;
    enum ane_kernel_format format;
    uint32_t palette_bits;
    bool sparse;
};

static const struct conv convs[] = {
    {3, 7, 9, 5, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, .bias = true},
    {16, 13, 33, 17, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, .relu = true},
    {5, 12, 11, 19, 5, 3, 2, 3, 2, 1, 2, 1, 1, 1, .bias = true, .relu = true},
    {6, 9, 40, 10, 3, 3, 1, 2, 1, 1, 0, 1, 2, 1, .bias = true},
    {12, 10, 10, 12, 3, 3, 1, 1, 1, 1, 1, 1, 12, 1, .bias = false},
    {7, 8, 35, 7, 5, 5, 2, 2, 2, 2, 2, 2, 1, 1, .depthwise = true, .bias = true},
    {4, 5, 7, 6, 4, 4, 1, 1, 2, 2, 2, 2, 1, 2, .bias = true},
    {64, 1, 1, 40, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, .bias = true},
    {65, 2, 3, 70, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, .bias = false},
    {8, 6, 6, 16, 29, 29, 1, 1, 14, 14, 14, 14, 1, 1, .bias = false},
    {32, 9, 9, 16, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, .format = ANE_KERNEL_I8},
    {32, 9, 9, 16, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, .palette_bits = 4, .bias = true},
    {32, 9, 9, 16, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, .sparse = true},
};

static uint32_t out_size(uint32_t in, uint32_t before, uint32_t after, uint32_t kernel, uint32_t stride, uint32_t step)
{
    return ((in - 1) * step + 1 + before + after - kernel) / stride + 1;
}

static uint16_t *make_weights(const struct conv *c, size_t count, size_t taps, uint64_t *state)
{
    uint16_t *weight = malloc(count * sizeof *weight);
    for (size_t i = 0; i < count; i++) {
        double value = ane_example_random(state, 1 / sqrt((double)taps));
        if (c->format == ANE_KERNEL_I8)
            value = (double)(suite_random(state) % 255) - 127;
        else if (c->palette_bits)
            value = ldexp((double)(suite_random(state) % 16) - 7, -4);
        else if (c->sparse && suite_random(state) % 3)
            value = 0;
        weight[i] = ane_half_bits(value);
    }
    return weight;
}

/* Sum of one output in double; *size = sum of the sizes of its products. */
static double conv_sum(const struct ane_example *e, const struct conv *c, const uint16_t *weight, uint32_t k, uint32_t y,
                       uint32_t x, double *size)
{
    const struct ane_operand *in = &e->task[0].source;
    const uint32_t groups = c->depthwise ? c->channels_in : c->groups, each = c->channels_in / groups,
                   group = k / (c->channels_out / groups);
    double sum = 0;
    *size = 0;
    for (uint32_t i = 0; i < each; i++)
        for (uint32_t dy = 0; dy < c->kernel_height; dy++)
            for (uint32_t dx = 0; dx < c->kernel_width; dx++) {
                const int64_t row = (int64_t)y * c->stride_y + dy - c->pad_top,
                              column = (int64_t)x * c->stride_x + dx - c->pad_left;
                if (row < 0 || column < 0 || row % c->step || column % c->step)
                    continue;
                if (row / c->step >= c->height_in || column / c->step >= c->width_in)
                    continue;
                const double w = ane_half_value(weight[((k * each + i) * c->kernel_height + dy) * c->kernel_width + dx]);
                const double product =
                    w * ane_example_get(e, in, group * each + i, (uint32_t)(row / c->step), (uint32_t)(column / c->step));
                sum += product;
                *size += fabs(product);
            }
    return sum;
}

/* The adder of a group keeps 12 bits: each of three additions is off by at most two halves of 2^-11 of its larger operand, which
 * is at most the sum of the group's sizes; float and fp16 round once. */
static double bound(double sum, double size)
{
    return size * (3.1 * 0x1p-11 + 0x1p-20) + ldexp(fabs(sum), -11) + 0x1p-25;
}

static void conv_task(struct ane_example *e, const struct conv *c, uint64_t *state)
{
    struct ane_task *t = ane_example_task(e);
    const uint32_t height = out_size(c->height_in, c->pad_top, c->pad_bottom, c->kernel_height, c->stride_y, c->step);
    const uint32_t width = out_size(c->width_in, c->pad_left, c->pad_right, c->kernel_width, c->stride_x, c->step);
    ane_example_shape(t, c->channels_in, c->height_in, c->width_in, c->channels_out, height, width);
    t->kernel_height = c->kernel_height;
    t->kernel_width = c->kernel_width;
    t->stride_x = c->stride_x;
    t->stride_y = c->stride_y;
    t->pad_left = c->pad_left;
    t->pad_top = c->pad_top;
    t->step_x = t->step_y = c->step;
    t->groups = c->groups;
    t->depthwise = c->depthwise;
    t->nonlinear = c->relu ? ANE_RELU : ANE_LINEAR;
    t->kernel_format = c->format || c->palette_bits || c->sparse ? c->format : ANE_KERNEL_F16;
    if (c->palette_bits || c->sparse)
        t->kernel_format = ANE_KERNEL_F16;
    t->palette_bits = c->palette_bits;
    t->sparse = c->sparse;
    t->bias = c->bias;
    t->engines = 16;
    t->source = ane_example_dram(e, BAR_IN, c->channels_in, c->height_in, c->width_in);
    t->result = ane_example_dram(e, BAR_OUT, c->channels_out, height, width);
    t->source.group = t->source.plane * (c->channels_in / c->groups);
    t->result.group = t->result.plane * (c->channels_out / c->groups);
    ane_example_fill(e, &t->source, c->channels_in, c->height_in, c->width_in, 2, state);
}

static void check_conv(const struct conv *c, const char *path, unsigned threads, uint64_t *digest)
{
    uint64_t state = 1;
    struct ane_example e;
    ane_example_open(&e);
    CU_ASSERT_TRUE(ane_core_use(e.core, path));
    conv_task(&e, c, &state);
    struct ane_task *t = &e.task[0];
    const size_t taps = (size_t)c->channels_in / (c->depthwise ? c->channels_in : c->groups) * c->kernel_height * c->kernel_width;
    uint16_t *weight = make_weights(c, taps * c->channels_out, taps, &state), *bias = malloc(c->channels_out * sizeof *bias);
    for (uint32_t i = 0; i < c->channels_out; i++)
        bias[i] = ane_half_bits(ane_example_random(&state, 1));
    ane_example_weights(&e, t, weight, c->bias ? bias : NULL);
    ane_example_must_run(&e, threads);
    *digest = 0;
    for (uint32_t k = 0; k < c->channels_out; k++)
        for (uint32_t y = 0; y < t->height_out; y++)
            for (uint32_t x = 0; x < t->width_out; x++) {
                double size;
                double want = conv_sum(&e, c, weight, k, y, x, &size) + (c->bias ? ane_half_value(bias[k]) : 0);
                const double limit = bound(want, size), got = ane_example_get(&e, &t->result, k, y, x);
                want = c->relu && want < 0 ? 0 : want;
                CHECK(fabs(got - want) <= limit, "convolution %d, %u %u %u: %g, not %g", (int)(c - convs), k, y, x, got, want);
                *digest = *digest * 31 + ane_example_bits(&e, &t->result, k, y, x);
            }
    CU_ASSERT_EQUAL(e.counts.macs, (uint64_t)taps * c->channels_out * t->height_out * t->width_out);
    free(weight);
    free(bias);
    ane_example_close(&e);
}

static void test_convolutions(void)
{
    for (size_t i = 0; i < ARRAY_COUNT(convs); i++) {
        uint64_t first, next;
        check_conv(&convs[i], "reference", 1, &first);
        check_conv(&convs[i], "portable", 1, &next);
        CHECK(first == next, "portable differs in convolution %zu", i);
        check_conv(&convs[i], NULL, 1, &next);
        CHECK(first == next, "the best path differs in convolution %zu", i);
        check_conv(&convs[i], NULL, 5, &next);
        CHECK(first == next, "threads matter in convolution %zu", i);
    }
}

/* ---- host paths on operands of all sizes ---- */

static uint64_t digest_of(const char *path, uint32_t group, uint32_t bits, bool large)
{
    uint64_t state = 7, digest = 0;
    struct ane_numeric rules = *ane_numeric_default();
    struct ane_example e;
    ane_example_open(&e);
    rules.mac_group = group;
    rules.mac_group_bits = bits;
    ane_core_free(e.core);
    e.core = ane_core_create(&rules, EXAMPLE_L2);
    if (!ane_core_use(e.core, path)) {
        ane_example_close(&e);
        return 0;
    }
    struct ane_task *t = ane_example_task(&e);
    ane_example_shape(t, 53, 1, 45, 50, 1, 45);
    t->source = ane_example_dram(&e, BAR_IN, 53, 1, 45);
    t->result = ane_example_dram(&e, BAR_OUT, 50, 1, 45);
    for (uint32_t c = 0; c < 53; c++)
        for (uint32_t x = 0; x < 45; x++)
            ane_example_set_bits(&e, &t->source, c, 0, x, (uint16_t)(suite_random(&state) & (large ? 0xffff : 0xb7ff)));
    uint16_t weight[53 * 50];
    for (size_t i = 0; i < ARRAY_COUNT(weight); i++)
        weight[i] = (uint16_t)(suite_random(&state) & 0xb3ff);
    ane_example_weights(&e, t, weight, NULL);
    ane_example_must_run(&e, 1);
    for (uint32_t c = 0; c < 50; c++)
        for (uint32_t x = 0; x < 45; x++)
            digest = digest * 31 + ane_example_bits(&e, &t->result, c, 0, x);
    ane_example_close(&e);
    return digest;
}

static void test_paths(void)
{
    static const uint32_t groups[][2] = {{4, 12}, {4, 11}, {4, 20}, {8, 12}, {3, 14}, {1, 12}, {0, 0}};
    for (size_t i = 0; i < ARRAY_COUNT(groups); i++)
        for (int large = 0; large < 2; large++) {
            const uint64_t want = digest_of("reference", groups[i][0], groups[i][1], large);
            CU_ASSERT_EQUAL(digest_of("portable", groups[i][0], groups[i][1], large), want);
            CU_ASSERT_EQUAL(digest_of(NULL, groups[i][0], groups[i][1], large), want);
        }
    CU_ASSERT_NOT_EQUAL(digest_of(NULL, 4, 12, false), digest_of(NULL, 4, 11, false));
    CU_ASSERT_NOT_EQUAL(digest_of(NULL, 4, 12, false), digest_of(NULL, 1, 12, false));
}

/* The guide finds about 0.02 percent between fp16 convolutions and float. One rounding to fp16 alone makes 0.021; an adder that
 * rounds on its grid 0.029 in all, one that drops bits by size 0.043, one that drops them downwards 1.3. */
static void test_relative_error(void)
{
    const struct conv c = {256, 6, 32, 32, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1, .bias = false};
    uint64_t state = 3;
    struct ane_example e;
    ane_example_open(&e);
    conv_task(&e, &c, &state);
    struct ane_task *t = &e.task[0];
    uint16_t *weight = make_weights(&c, 256 * 9 * 32, 64, &state); /* large enough that hardly any is denormal */
    ane_example_weights(&e, t, weight, NULL);
    ane_example_must_run(&e, 2);
    double error = 0, power = 0;
    for (uint32_t k = 0; k < 32; k++)
        for (uint32_t x = 0; x < 32; x++) {
            double size;
            const double want = conv_sum(&e, &c, weight, k, 3, x, &size), got = ane_example_get(&e, &t->result, k, 3, x);
            error += (got - want) * (got - want);
            power += want * want;
        }
    CHECK(sqrt(error / power) < 3.2e-4, "relative error %g", sqrt(error / power));
    free(weight);
    ane_example_close(&e);
}

/* ---- products of tensors ---- */

static void check_matmul(uint32_t k, uint32_t n, uint32_t m, uint32_t groups, enum ane_place place)
{
    uint64_t state = 5;
    struct ane_example e;
    ane_example_open(&e);
    struct ane_task *t = ane_example_task(&e);
    ane_example_shape(t, k * groups, 1, n, m * groups, 1, n);
    t->ne_op = ANE_NE_MATMUL;
    t->groups = groups;
    t->post_scale = 0.5f;
    t->source = ane_example_dram(&e, BAR_IN, k * groups, 1, n);
    t->second = ane_example_dram(&e, BAR_SECOND, m * groups, 1, k);
    t->result = ane_example_dram(&e, BAR_OUT, m * groups, 1, n);
    ane_example_fill(&e, &t->source, k * groups, 1, n, 1, &state);
    ane_example_fill(&e, &t->second, m * groups, 1, k, 1, &state);
    const struct ane_operand matrix = t->second;
    if (place == ANE_PLACE_L2) { /* the matrix passes through tile memory first */
        e.task[1] = e.task[0];
        ane_example_shape(t, m * groups, 1, k, m * groups, 1, k);
        *t = (struct ane_task){.engine = ANE_ENGINE_PE,
                               .channels_in = m * groups,
                               .channels_out = m * groups,
                               .height_in = 1,
                               .height_out = 1,
                               .width_in = k,
                               .width_out = k,
                               .groups = 1,
                               .pe_pre_scale = 1,
                               .pe_scale = 1,
                               .pe_final_scale = 1,
                               .source = matrix,
                               .result = ane_example_operand(ANE_PLACE_L2, 0, 4096, m * groups, 1, k)};
        e.program.count = 2;
        t = &e.task[1];
        t->second = e.task[0].result;
    }
    ane_example_must_run(&e, 2);
    for (uint32_t row = 0; row < m * groups; row++)
        for (uint32_t x = 0; x < n; x++) {
            double sum = 0, size = 0;
            for (uint32_t i = 0; i < k; i++) {
                const double product =
                    ane_example_get(&e, &matrix, row, 0, i) * ane_example_get(&e, &t->source, row / m * k + i, 0, x);
                sum += product;
                size += fabs(product);
            }
            const double got = ane_example_get(&e, &t->result, row, 0, x);
            CHECK(fabs(got - sum / 2) <= bound(sum, size) / 2 + 0x1p-24, "%ux%ux%u at %u %u: %g, not %g", m, k, n, row, x, got,
                  sum / 2);
        }
    ane_example_close(&e);
}

static void test_products(void)
{
    check_matmul(17, 33, 9, 1, ANE_PLACE_DRAM);
    check_matmul(64, 5, 77, 1, ANE_PLACE_DRAM);
    check_matmul(31, 40, 31, 3, ANE_PLACE_DRAM);
    check_matmul(48, 20, 13, 2, ANE_PLACE_L2);
    check_matmul(1, 1, 1, 1, ANE_PLACE_DRAM);
}

static const struct suite_test tests[] = {
    {"ones beside a large value", test_small_beside_large},
    {"cancelling triples", test_cancellation},
    {"16000 ones", test_ones},
    {"ties to even", test_ties_to_even},
    {"overflow at 32768, partial sums too", test_overflow},
    {"denormal, infinite, NaN operands", test_special_operands},
    {"convolutions of odd shapes", test_convolutions},
    {"host paths and other groups", test_paths},
    {"relative error", test_relative_error},
    {"products of two tensors", test_products},
};
SUITE_MAIN("ane mac", tests)
