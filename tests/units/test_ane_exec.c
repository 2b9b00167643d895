/* The planar engine, operands in all places and formats, chains, threads; the edges of element-wise work as measured on M1
 * (sbryngelson/ane-guide, chapter 3).
 */
#include "tests/units/ane_exec_planar.h"

#include <math.h>

/* One element through the planar engine; y = NULL: one source. */
static double one(const struct ane_task *as, uint16_t x, const uint16_t *y)
{
    struct ane_example e;
    ane_example_open(&e);
    struct ane_task *t = planar(&e, 1, 1, 1);
    if (as) {
        *t = *as;
        ane_example_shape(t, 1, 1, 1, 1, 1, 1);
    }
    t->engine = ANE_ENGINE_PE;
    t->source = ane_example_dram(&e, BAR_IN, 1, 1, 1);
    t->result = ane_example_dram(&e, BAR_OUT, 1, 1, 1);
    ane_example_set_bits(&e, &t->source, 0, 0, 0, x);
    if (y) {
        t->second = ane_example_dram(&e, BAR_SECOND, 1, 1, 1);
        ane_example_set_bits(&e, &t->second, 0, 0, 0, *y);
    }
    ane_example_must_run(&e, 1);
    const double got = ane_example_get(&e, &t->result, 0, 0, 0);
    ane_example_close(&e);
    return got;
}

static const struct ane_task neutral = {.groups = 1, .pe_pre_scale = 1, .pe_scale = 1, .pe_final_scale = 1};

static struct ane_task with(enum ane_pe_op op)
{
    struct ane_task t = neutral;
    t.pe_op = op;
    return t;
}

static void test_edges(void)
{
    const uint16_t infinite = 0x7c00, minus_infinite = 0xfc00, zero = 0, one_half = 0x3c00, big = 0x7bff;
    struct ane_task add = with(ANE_PE_ADD), mul = with(ANE_PE_MUL), max = with(ANE_PE_MAX), scaled = neutral;
    CU_ASSERT_EQUAL(one(&add, 0x7e00, &zero), INFINITY); /* NaN, of either sign */
    CU_ASSERT_EQUAL(one(&add, 0xfe01, &zero), INFINITY);
    CU_ASSERT_EQUAL(one(&max, 0xfe01, &zero), INFINITY);
    CU_ASSERT_EQUAL(one(&add, infinite, &minus_infinite), 0);
    CU_ASSERT_EQUAL(one(&mul, infinite, &zero), 0);
    CU_ASSERT_FALSE(signbit(one(&mul, minus_infinite, &zero)));
    CU_ASSERT_FALSE(signbit(one(&add, 0x8000, &zero)));
    CU_ASSERT_EQUAL(one(&add, 0x0001, &zero), 0x1p-24); /* denormals pass */
    CU_ASSERT_EQUAL(one(&mul, 0x83ff, &one_half), -1023 * 0x1p-24);
    CU_ASSERT_EQUAL(one(&add, 40000, NULL), ane_half_value(40000));
    CU_ASSERT_EQUAL(one(&mul, big, &one_half), 65504); /* the whole range of fp16 */
    CU_ASSERT_EQUAL(one(&add, big, &big), INFINITY);
    scaled.pe_scale = (float)ane_half_value(0x398c); /* ln 2: the logarithm of 0 on M1 */
    CU_ASSERT_EQUAL(one(&scaled, minus_infinite, NULL), -45440);
}

/* ---- element by element ---- */

static double operation(const struct ane_task *t, double x, double y)
{
    x *= t->pe_pre_scale;
    y = t->pe_subtract_second ? -y : y;
    double value = t->pe_op == ANE_PE_ADD   ? x + y
                   : t->pe_op == ANE_PE_MUL ? x * y
                   : t->pe_op == ANE_PE_MAX ? fmax(x, y)
                                            : fmin(x, y);
    value = t->pe_absolute ? fabs(value) : value;
    value = t->pe_final_scale * (t->pe_scale * value + t->pe_bias);
    return t->pe_relu && value < 0 ? 0 : value;
}

static bool near(double got, double want, double steps)
{
    int exponent;
    frexp(want, &exponent);
    return fabs(got - want) <= steps * ldexp(1, (exponent < -13 ? -13 : exponent) - 11);
}

static void check_planar(struct ane_task as, const char *path, unsigned threads, bool broadcast_first, bool broadcast_second)
{
    enum { C = 3, H = 40, W = 61 };
    uint64_t state = 21;
    struct ane_example e;
    ane_example_open(&e);
    CU_ASSERT_TRUE(ane_core_use(e.core, path));
    struct ane_task *t = planar(&e, C, H, W);
    const struct ane_task shape = *t;
    *t = as;
    t->engine = ANE_ENGINE_PE;
    ane_example_shape(t, C, H, W, C, H, W);
    t->id = shape.id;
    t->source = ane_example_dram(&e, BAR_IN, C, H, broadcast_first ? 1 : W);
    t->second = ane_example_dram(&e, BAR_SECOND, C, H, broadcast_second ? 1 : W);
    t->source.broadcast_width = broadcast_first;
    t->second.broadcast_width = broadcast_second;
    t->result = ane_example_dram(&e, BAR_OUT, C, H, W);
    ane_example_fill(&e, &t->source, C, H, broadcast_first ? 1 : W, 4, &state);
    ane_example_fill(&e, &t->second, C, H, broadcast_second ? 1 : W, 4, &state);
    ane_example_must_run(&e, threads);
    /* one operation is exact in float and rounded once; every scale and bias may add a rounding of float */
    const double steps = as.pe_scale == 1 && as.pe_bias == 0 && as.pe_final_scale == 1 ? 0.5 : 0.502;
    for (uint32_t c = 0; c < C; c++)
        for (uint32_t y = 0; y < H; y++)
            for (uint32_t x = 0; x < W; x++) {
                const double want = operation(t, ane_example_get(&e, &t->source, c, y, broadcast_first ? 0 : x),
                                              ane_example_get(&e, &t->second, c, y, broadcast_second ? 0 : x));
                const double got = ane_example_get(&e, &t->result, c, y, x);
                CHECK(near(got, want, steps) || fabs(got - want) < 1e-6 * (1 + fabs(as.pe_bias)), "op %d: %g, not %g",
                      (int)as.pe_op, got, want);
            }
    CU_ASSERT_EQUAL(e.counts.elements, C * H * W);
    CU_ASSERT_EQUAL(e.counts.result_bytes, 2 * C * H * W);
    ane_example_close(&e);
}

static void test_elements(void)
{
    for (int op = ANE_PE_ADD; op <= ANE_PE_MIN; op++) {
        struct ane_task t = with((enum ane_pe_op)op);
        check_planar(t, NULL, 1, false, false);
        check_planar(t, "reference", 3, false, true);
        check_planar(t, "portable", 2, true, false);
        t.pe_subtract_second = true;
        check_planar(t, NULL, 4, false, false);
        t.pe_pre_scale = -1;
        t.pe_scale = 1.5f;
        t.pe_bias = 0.25f;
        t.pe_final_scale = 0.7f;
        t.pe_absolute = op == ANE_PE_ADD;
        t.pe_relu = op == ANE_PE_MUL;
        check_planar(t, NULL, 1, true, true);
    }
}

/* ---- reductions and pooling ---- */

static void check_reduction(enum ane_pe_reduce kind, bool reciprocal, bool as_groups)
{
    enum { ROWS = 37, WIDTH = 75 };
    uint64_t state = 4;
    struct ane_example e;
    ane_example_open(&e);
    struct ane_task *t = planar(&e, 1, as_groups ? 1 : ROWS, WIDTH);
    t->pe_reduce = kind;
    t->pe_reciprocal = reciprocal;
    t->source = ane_example_dram(&e, BAR_IN, 1, ROWS, WIDTH);
    t->result = ane_example_operand(ANE_PLACE_L2, 0, 0x40, 1, ROWS, 1);
    if (as_groups) {
        t->groups = ROWS;
        t->source.group = t->source.row;
        t->result.group = t->result.row;
    }
    ane_example_fill(&e, &t->source, 1, ROWS, WIDTH, 1, &state);
    struct ane_task *copy = planar(&e, 1, ROWS, 1);
    copy->source = t->result;
    copy->result = ane_example_dram(&e, BAR_OUT, 1, ROWS, 1);
    ane_example_must_run(&e, 2);
    for (uint32_t y = 0; y < ROWS; y++) {
        double sum = 0, most = -INFINITY, size = 0;
        for (uint32_t x = 0; x < WIDTH; x++) {
            const double value = ane_example_get(&e, &t->source, 0, y, x);
            sum += value;
            size += fabs(value);
            most = fmax(most, value);
        }
        const double value = kind == ANE_REDUCE_SUM ? sum : most, want = reciprocal ? 1 / value : value;
        const double float_sum = (reciprocal ? 1 / (value * value) : 1) * size * WIDTH * 0x1p-24;
        const double got = ane_example_get(&e, &copy->result, 0, y, 0);
        CHECK(near(got, want, 0.51) || fabs(got - want) < float_sum, "row %u: %g, not %g", y, got, want);
    }
    ane_example_close(&e);
}

static void test_reductions(void)
{
    check_reduction(ANE_REDUCE_SUM, false, true);
    check_reduction(ANE_REDUCE_SUM, true, true);
    check_reduction(ANE_REDUCE_MAX, false, true);
    check_reduction(ANE_REDUCE_MAX, false, false);
    check_reduction(ANE_REDUCE_SUM, false, false);
}

static void check_pool(enum ane_pe_reduce kind, uint32_t kernel, uint32_t stride, uint32_t pad)
{
    enum { C = 3, H = 13, W = 18 };
    uint64_t state = 6;
    struct ane_example e;
    ane_example_open(&e);
    const uint32_t height = (H + 2 * pad - kernel) / stride + 1, width = (W + 2 * pad - kernel) / stride + 1;
    struct ane_task *t = planar(&e, C, H, W);
    t->height_out = height;
    t->width_out = width;
    t->pe_reduce = kind;
    t->kernel_width = t->kernel_height = kernel;
    t->stride_x = t->stride_y = stride;
    t->pad_left = t->pad_top = pad;
    t->source = ane_example_dram(&e, BAR_IN, C, H, W);
    t->result = ane_example_dram(&e, BAR_OUT, C, height, width);
    ane_example_fill(&e, &t->source, C, H, W, 1, &state);
    ane_example_must_run(&e, 2);
    for (uint32_t c = 0; c < C; c++)
        for (uint32_t y = 0; y < height; y++)
            for (uint32_t x = 0; x < width; x++) {
                double sum = 0, most = -INFINITY, least = INFINITY;
                for (uint32_t i = 0; i < kernel * kernel; i++) {
                    const int row = (int)(y * stride + i / kernel) - (int)pad, column = (int)(x * stride + i % kernel) - (int)pad;
                    if (row < 0 || column < 0 || row >= H || column >= W)
                        continue;
                    const double value = ane_example_get(&e, &t->source, c, (uint32_t)row, (uint32_t)column);
                    sum += value;
                    most = fmax(most, value);
                    least = fmin(least, value);
                }
                const double want = kind == ANE_POOL_MAX ? most : kind == ANE_POOL_MIN ? least : sum / (kernel * kernel);
                const double got = ane_example_get(&e, &t->result, c, y, x);
                CHECK(near(got, want, 0.51) || fabs(got - want) < 1e-6, "%u %u %u: %g, not %g", c, y, x, got, want);
            }
    ane_example_close(&e);
}

static void test_pooling(void)
{
    for (int kind = ANE_POOL_AVERAGE; kind <= ANE_POOL_MIN; kind++) {
        check_pool((enum ane_pe_reduce)kind, 2, 2, 0);
        check_pool((enum ane_pe_reduce)kind, 3, 2, 1);
        check_pool((enum ane_pe_reduce)kind, 5, 1, 2);
    }
}

/* ---- places and formats ---- */

/* DRAM -> L2 -> ring -> ring -> DRAM, other strides each time. */
static void test_places(void)
{
    enum { C = 5, H = 7, W = 19 };
    uint64_t state = 8;
    struct ane_example e;
    ane_example_open(&e);
    const struct ane_operand ring = {.place = ANE_PLACE_CHAIN, .format = ANE_F16, .base = 0xa020, .interleave = 1};
    const struct ane_operand in = ane_example_dram(&e, BAR_IN, C, H, W), out = ane_example_dram(&e, BAR_OUT, C, H, W);
    ane_example_fill(&e, &in, C, H, W, 4, &state);
    struct ane_operand wide = ane_example_operand(ANE_PLACE_L2, 0, EXAMPLE_L2 - 0x8000, C, H, W);
    wide.row += 16;
    wide.plane = wide.row * H + 32;
    for (int i = 0; i < 4; i++) {
        struct ane_task *t = planar(&e, C, H, W);
        t->pe_bias = 1;
        t->source = i == 0 ? in : i == 1 ? wide : ring;
        t->result = i == 0 ? wide : i == 3 ? out : ring;
    }
    ane_example_must_run(&e, 1);
    for (uint32_t c = 0; c < C; c++)
        for (uint32_t y = 0; y < H; y++)
            for (uint32_t x = 0; x < W; x++) {
                double want = ane_example_get(&e, &in, c, y, x);
                for (int i = 0; i < 4; i++)
                    want = ane_half_round(want + 1);
                CU_ASSERT_EQUAL(ane_example_get(&e, &out, c, y, x), want);
            }
    CU_ASSERT_EQUAL(e.counts.source_bytes, 2 * C * H * W); /* tile memory is not memory traffic */
    ane_example_close(&e);
}

static void test_formats(void)
{
    struct ane_example e;
    ane_example_open(&e);
    struct ane_task *t = planar(&e, 1, 1, 6);
    uint8_t *in = ane_example_buffer(&e, BAR_IN, 64), *out = ane_example_buffer(&e, BAR_OUT, 64);
    t->source =
        (struct ane_operand){.place = ANE_PLACE_DRAM, .format = ANE_I8, .bar = BAR_IN, .row = 64, .plane = 64, .interleave = 1};
    t->result = t->source;
    t->result.bar = BAR_OUT;
    t->result.format = ANE_U8;
    t->pe_scale = 2.5f;
    memcpy(in, (int8_t[]){-3, 0, 1, 3, 127, -128}, 6);
    ane_example_must_run(&e, 1);
    CU_ASSERT_TRUE(memcmp(out, (uint8_t[]){0, 0, 2, 8, 255, 0}, 6) == 0); /* 2.5 and 7.5 to even */
    t->source.format = ANE_U8;
    t->result.format = ANE_I8;
    t->pe_scale = -1;
    ane_example_must_run(&e, 1);
    CU_ASSERT_TRUE(memcmp(out, (int8_t[]){-128, 0, -1, -3, -127, -128}, 6) == 0);
    ane_example_close(&e);
}

/* Channels side by side, and strides of 0 that repeat. */
static void test_interleave(void)
{
    struct ane_example e;
    ane_example_open(&e);
    struct ane_task *t = planar(&e, 4, 2, 3);
    uint8_t *in = ane_example_buffer(&e, BAR_IN, 256);
    for (uint16_t i = 0; i < 128; i++) {
        const uint16_t bits = ane_half_bits(i);
        memcpy(in + 2 * i, &bits, 2);
    }
    t->source =
        (struct ane_operand){.place = ANE_PLACE_DRAM, .format = ANE_F16, .bar = BAR_IN, .row = 0, .plane = 128, .interleave = 2};
    t->result = ane_example_dram(&e, BAR_OUT, 4, 2, 3);
    ane_example_must_run(&e, 1);
    for (uint32_t c = 0; c < 4; c++)
        for (uint32_t y = 0; y < 2; y++)
            for (uint32_t x = 0; x < 3; x++)
                CU_ASSERT_EQUAL(ane_example_get(&e, &t->result, c, y, x), 64 * (c / 2) + 2 * x + c % 2);
    ane_example_close(&e);
}

/* A crop of the width with an offset has a gain of 16: exact up to 4094, infinite from 4096 on; without offset nothing happens.
 */
static void test_crop(void)
{
    for (uint16_t offset = 0; offset < 2; offset++) {
        struct ane_example e;
        ane_example_open(&e);
        struct ane_task *t = planar(&e, 1, 1, 4);
        t->source = ane_example_dram(&e, BAR_IN, 1, 1, 8);
        t->result = ane_example_dram(&e, BAR_OUT, 1, 1, 4);
        t->pixel_offset = offset;
        for (uint32_t x = 0; x < 8; x++)
            ane_example_set_bits(&e, &t->source, 0, 0, x,
                                 ane_half_bits(x == 1   ? 4094
                                               : x == 2 ? 4096
                                               : x == 3 ? -5000
                                               : x == 4 ? 0.3
                                                        : 7));
        ane_example_must_run(&e, 1);
        const double want[2][4] = {{7, 4094, 4096, -5000}, {4094, INFINITY, -INFINITY, ane_half_round(0.3)}};
        for (uint32_t x = 0; x < 4; x++)
            CU_ASSERT_EQUAL(ane_example_get(&e, &t->result, 0, 0, x), want[offset][x]);
        ane_example_close(&e);
    }
}

static const struct suite_test tests[] = {
    {"edges of element-wise work", test_edges},
    {"element by element", test_elements},
    {"reductions of rows", test_reductions},
    {"pooling", test_pooling},
    {"L2 and rings", test_places},
    {"8-bit formats", test_formats},
    {"interleaved channels", test_interleave},
    {"gain of a crop", test_crop},
};
SUITE_MAIN("ane exec", tests)
