/* The planar engine, operands in all places and formats, chains, faults, threads; the edges of element-wise work as measured on
 * M1 (sbryngelson/ane-guide, chapter 3).
 */
#include "isa/array_count.h"
#include "tests/units/ane_exec_example.h"

#include <math.h>

static struct ane_task *planar(struct ane_example *e, uint32_t channels, uint32_t height, uint32_t width)
{
    struct ane_task *t = ane_example_task(e);
    t->engine = ANE_ENGINE_PE;
    ane_example_shape(t, channels, height, width, channels, height, width);
    return t;
}

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

/* ---- faults ---- */

typedef void (*spoil)(struct ane_example *e, struct ane_task *t);

static void short_buffer(struct ane_example *e, struct ane_task *t)
{
    (void)t;
    e->request.bytes[BAR_IN] -= 64;
}
static void short_result(struct ane_example *e, struct ane_task *t)
{
    (void)t;
    e->request.bytes[BAR_OUT] = 64;
}
static void no_buffer(struct ane_example *e, struct ane_task *t)
{
    (void)e;
    t->source.bar = 9;
}
static void bad_register(struct ane_example *e, struct ane_task *t)
{
    (void)e;
    t->source.bar = 40;
}
static void past_tile_memory(struct ane_example *e, struct ane_task *t)
{
    (void)e;
    t->result = ane_example_operand(ANE_PLACE_L2, 0, EXAMPLE_L2 - 64, 2, 4, 32);
}
static void huge_strides(struct ane_example *e, struct ane_task *t)
{
    (void)e;
    t->source.plane = UINT32_MAX;
}
static void empty_ring(struct ane_example *e, struct ane_task *t)
{
    (void)e;
    t->source.place = ANE_PLACE_CHAIN;
}
static void no_result(struct ane_example *e, struct ane_task *t)
{
    (void)e;
    t->result.place = ANE_PLACE_NONE;
}
static void empty(struct ane_example *e, struct ane_task *t)
{
    (void)e;
    t->width_in = 0;
}
static void reshaped(struct ane_example *e, struct ane_task *t)
{
    (void)e;
    t->channels_out = 1;
}
static void odd_groups(struct ane_example *e, struct ane_task *t)
{
    (void)e;
    t->engine = ANE_ENGINE_NE;
    t->ne_op = ANE_NE_CONVOLUTION;
    t->groups = 3;
}
static void no_weights(struct ane_example *e, struct ane_task *t)
{
    (void)e;
    t->engine = ANE_ENGINE_NE;
    t->ne_op = ANE_NE_CONVOLUTION;
}
static void no_matrix(struct ane_example *e, struct ane_task *t)
{
    (void)e;
    t->engine = ANE_ENGINE_NE;
    t->ne_op = ANE_NE_MATMUL;
}
static void unmapped(struct ane_example *e, struct ane_task *t)
{
    (void)t;
    mem_space_unmap(e->space, e->request.address[BAR_IN], 16384);
}
static void read_only(struct ane_example *e, struct ane_task *t)
{
    (void)t;
    mem_space_protect(e->space, e->request.address[BAR_OUT], 16384, MEM_READ);
}
static void huge_image(struct ane_example *e, struct ane_task *t)
{
    no_weights(e, t);
    ane_example_buffer(e, BAR_OUT, 65536);
    t->stride_x = 3;
    t->stride_y = 3;
    t->width_out = t->height_out = 32767;
    t->result.row = t->result.plane = 0;
}

static void test_faults(void)
{
    static const struct {
        spoil how;
        enum unit_fault_kind kind;
        const char *text;
    } rows[] = {
        {short_buffer, UNIT_FAULT_UNMAPPED, "first source: bytes 0 to 512 of a buffer of 448 (base register 5)"},
        {short_result, UNIT_FAULT_UNMAPPED, "result: bytes"},
        {no_buffer, UNIT_FAULT_UNMAPPED, "no buffer for base register 9"},
        {bad_register, UNIT_FAULT_UNMAPPED, "no buffer for base register 40"},
        {past_tile_memory, UNIT_FAULT_UNMAPPED, "of 2097152 bytes of tile memory"},
        {huge_strides, UNIT_FAULT_UNMAPPED, "first source: bytes 0 to 4294967551"},
        {empty_ring, UNIT_FAULT_UNMAPPED, "no task before this one fills the ring"},
        {no_result, UNIT_FAULT_UNMODELLED, "result: none"},
        {empty, UNIT_FAULT_UNMODELLED, "an empty tensor"},
        {reshaped, UNIT_FAULT_UNMODELLED, "from 2x4x32 to 1x4x32 without pooling"},
        {odd_groups, UNIT_FAULT_UNMODELLED, "2 channels to 2 in 3 groups"},
        {no_weights, UNIT_FAULT_UNMAPPED, "coefficients"},
        {no_matrix, UNIT_FAULT_UNMODELLED, "product of tensors"},
        {unmapped, UNIT_FAULT_UNMAPPED, "memory that is not mapped"},
        {read_only, UNIT_FAULT_PERMISSION, "memory that must not be written"},
        {huge_image, UNIT_FAULT_UNMODELLED, "an image of"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct ane_example e;
        size_t offset[2] = {0, 0x300};
        ane_example_open(&e);
        struct ane_task *first = planar(&e, 2, 4, 32), *t = planar(&e, 2, 4, 32);
        t->source = first->source = ane_example_dram(&e, BAR_IN, 2, 4, 32);
        t->result = first->result = ane_example_dram(&e, BAR_OUT, 2, 4, 32);
        e.program.td_offset = offset;
        rows[i].how(&e, t);
        const bool whole =
            rows[i].how == short_buffer || rows[i].how == short_result || rows[i].how == unmapped || rows[i].how == read_only;
        CU_ASSERT_FALSE(ane_example_run(&e, 1));
        CU_ASSERT_EQUAL(e.fault.kind, rows[i].kind);
        CU_ASSERT_EQUAL(e.fault.pc, whole ? 0 : 0x300);
        CHECK(strstr(e.fault.text, rows[i].text) && strstr(e.fault.text, whole ? "task 0, " : "task 1, "), "%zu: %s", i,
              e.fault.text);
        ane_example_close(&e);
    }
}

static void cropped_ring(struct ane_example *e, struct ane_task *t)
{
    e->task[0].result.place = t->source.place = ANE_PLACE_CHAIN;
    t->pixel_offset = 1;
}

static void test_cropped_ring(void)
{
    struct ane_example e;
    ane_example_open(&e);
    struct ane_task *first = planar(&e, 2, 4, 32), *t = planar(&e, 2, 4, 32);
    t->source = first->source = ane_example_dram(&e, BAR_IN, 2, 4, 32);
    t->result = first->result = ane_example_dram(&e, BAR_OUT, 2, 4, 32);
    cropped_ring(&e, t);
    CU_ASSERT_FALSE(ane_example_run(&e, 1));
    CU_ASSERT_EQUAL(e.fault.kind, UNIT_FAULT_UNMODELLED);
    ane_example_close(&e);
}

/* ---- rules as parameters ---- */

static uint16_t with_rules(const struct ane_numeric *rules, const char *path, bool mac, uint16_t x, uint16_t y, uint16_t offset)
{
    struct ane_example e;
    ane_example_open(&e);
    ane_core_free(e.core);
    e.core = ane_core_create(rules, EXAMPLE_L2);
    CU_ASSERT_TRUE(ane_core_use(e.core, path));
    struct ane_task *t = planar(&e, mac ? 2 : 1, 1, 1);
    t->source = ane_example_dram(&e, BAR_IN, 2, 1, 2);
    t->second = ane_example_dram(&e, BAR_SECOND, 1, 1, 2);
    t->result = ane_example_dram(&e, BAR_OUT, 1, 1, 1);
    t->pixel_offset = offset;
    ane_example_set_bits(&e, &t->source, 0, 0, offset, x);
    ane_example_set_bits(&e, &t->second, 0, 0, 0, y);
    if (mac) { /* x * 1 + y * 1 */
        t->engine = ANE_ENGINE_NE;
        t->ne_op = ANE_NE_MATMUL;
        t->channels_out = 1;
        ane_example_set_bits(&e, &t->source, 1, 0, 0, y);
        for (uint32_t i = 0; i < 2; i++)
            ane_example_set_bits(&e, &t->second, 0, 0, i, 0x3c00);
    }
    ane_example_must_run(&e, 1);
    const uint16_t bits = ane_example_bits(&e, &t->result, 0, 0, 0);
    ane_example_close(&e);
    return bits;
}

static void test_rules(void)
{
    static const char *const paths[] = {"reference", "portable", NULL};
    const struct ane_numeric m1 = *ane_numeric_default();
    for (int p = 0; p < 3; p++) {
        struct ane_numeric rules = m1;
        CU_ASSERT_EQUAL(with_rules(&m1, paths[p], true, 0x0200, 0x0200, 0), 0);
        rules.mac_flush_denormals = 0; /* as M5 */
        CU_ASSERT_EQUAL(with_rules(&rules, paths[p], true, 0x0200, 0x0200, 0), 0x0400);
        rules = m1;
        rules.mac_overflow = 1024;
        CU_ASSERT_EQUAL(with_rules(&rules, paths[p], true, ane_half_bits(1000), ane_half_bits(23), 0), ane_half_bits(1023));
        CU_ASSERT_EQUAL(with_rules(&rules, paths[p], true, ane_half_bits(1000), ane_half_bits(24), 0), 0x7c00);
        rules.mac_overflow = INFINITY;
        CU_ASSERT_EQUAL(with_rules(&rules, paths[p], true, ane_half_bits(40000), ane_half_bits(20000), 0), ane_half_bits(60000));
        rules = m1;
        rules.nan_to_infinity = 0;
        CU_ASSERT_EQUAL(with_rules(&rules, paths[p], false, 0x7c01, 0, 0), 0x7e00);
        CU_ASSERT_EQUAL(with_rules(&rules, paths[p], false, 0x7c00, 0xfc00, 0), 0x7e00);
        CU_ASSERT_EQUAL(with_rules(&rules, paths[p], false, 0x7c00, 0x3c00, 0), 0x7c00);
        rules = m1;
        CU_ASSERT_EQUAL(with_rules(&rules, paths[p], false, 0x8000, 0x8000, 0), 0);
        rules.negative_zero = 1;
        CU_ASSERT_EQUAL(with_rules(&rules, paths[p], false, 0x8000, 0x8000, 0), 0x8000);
        rules.width_crop_gain = 1; /* as H15 */
        CU_ASSERT_EQUAL(with_rules(&rules, paths[p], false, ane_half_bits(5000), 0, 1), ane_half_bits(5000));
        CU_ASSERT_EQUAL(with_rules(&m1, paths[p], false, ane_half_bits(5000), 0, 1), 0x7c00);
    }
}

/* A result that lies over its own source, shifted: rows in order, whatever the threads. */
static void test_overlap(void)
{
    enum { H = 80, W = 64 };
    uint16_t first[H * W];
    for (unsigned threads = 1; threads < 6; threads += 2) {
        struct ane_example e;
        uint64_t state = 3;
        ane_example_open(&e);
        struct ane_task *t = planar(&e, 1, H, W);
        ane_example_buffer(&e, BAR_IN, (H + 1) * 2 * W);
        t->source = t->result = ane_example_operand(ANE_PLACE_DRAM, BAR_IN, 0, 1, H, W);
        t->result.base = t->source.row;
        t->pe_bias = 0.5f;
        ane_example_fill(&e, &t->source, 1, H, W, 4, &state);
        ane_example_must_run(&e, threads);
        for (uint32_t i = 0; i < H * W; i++) {
            const uint16_t bits = ane_example_bits(&e, &t->result, 0, i / W, i % W);
            CU_ASSERT_TRUE(threads == 1 || bits == first[i]);
            first[i] = bits;
        }
        ane_example_close(&e);
    }
}

static void test_paths(void)
{
    struct ane_core *core = ane_core_create(NULL, 4096);
    CU_ASSERT_PTR_NOT_NULL_FATAL(core);
    CU_ASSERT_TRUE(ane_core_use(core, NULL));
    CU_ASSERT_TRUE(ane_core_use(core, "portable"));
    CU_ASSERT_TRUE(ane_core_use(core, "reference"));
    CU_ASSERT_FALSE(ane_core_use(core, "sse"));
    ane_core_free(core);
    ane_core_free(NULL);
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
    {"faults", test_faults},
    {"crop of a ring", test_cropped_ring},
    {"rules as parameters", test_rules},
    {"overlapping tensors", test_overlap},
    {"names of paths", test_paths},
};
SUITE_MAIN("ane exec", tests)
