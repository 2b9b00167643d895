/* Activation tables on the executing side: every fp16 value through every mode, against the function in double, and the edges
 * that were measured on M1 (sbryngelson/ane-guide, chapter 3).
 */
#include "isa/array_count.h"
#include "tests/units/ane_exec_example.h"

#include <math.h>

enum { ROWS = 256, COLUMNS = 256 };

/* All fp16 values through (x + before) * scale and the table; result[bits]. */
static void run_all(const struct ane_table *table, float before, float scale, uint16_t *result, struct ane_exec_counts *counts)
{
    struct ane_example e;
    ane_example_open(&e);
    struct ane_task *t = ane_example_task(&e);
    ane_example_shape(t, 1, ROWS, COLUMNS, 1, ROWS, COLUMNS);
    t->ne_op = ANE_NE_ELEMENT;
    t->nonlinear = ANE_TABLE;
    t->acc_bias = before;
    t->post_scale = scale;
    t->source = ane_example_dram(&e, BAR_IN, 1, ROWS, COLUMNS);
    t->result = ane_example_dram(&e, BAR_OUT, 1, ROWS, COLUMNS);
    ane_example_table(&e, t, table);
    for (uint32_t i = 0; i < ROWS * COLUMNS; i++)
        ane_example_set_bits(&e, &t->source, 0, i / COLUMNS, i % COLUMNS, (uint16_t)i);
    ane_example_must_run(&e, 1);
    for (uint32_t i = 0; i < ROWS * COLUMNS; i++)
        result[i] = ane_example_bits(&e, &t->result, 0, i / COLUMNS, i % COLUMNS);
    *counts = e.counts;
    ane_example_close(&e);
}

static double ulp(double value)
{
    int exponent;
    frexp(value, &exponent);
    return ldexp(1, (exponent < -13 ? -13 : exponent) - 11);
}

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}
static double sigmoid_half(double x)
{
    return sigmoid(x) - 0.5;
}
static double gelu(double x)
{
    return 0.5 * x * erfc(-x * sqrt(0.5));
}
static double selu(double x)
{
    return x > 0 ? 1.0507009873554805 * x : 1.7580993408473766 * expm1(x);
}
static double relu6(double x)
{
    return fmin(fmax(x, 0), 6);
}
static double leaky(double x)
{
    return x > 0 ? x : 0.01 * x;
}
static double hardtanh(double x)
{
    return fmin(fmax(x, -1), 1);
}
static double sign(double x)
{
    return (x > 0) - (x < 0);
}
static double reciprocal(double x)
{
    return 1 / x;
}
static double rsqrt(double x)
{
    return 1 / sqrt(x);
}
static double fraction(double x)
{
    return x - trunc(x);
}

/* |got - want| <= absolute + ulps * step of fp16 at want. Straight lines between knots 2^-p apart are off by (2^-p)^2 / 8 times
 * the second derivative, knots by half a step of theirs, the result by half a step. */
struct function {
    const char *name;
    double (*value)(double x);
    double low, high; /* where it is compared */
    double absolute, ulps;
    double measured; /* the guide's worst absolute error on M1, 0 = none */
};
static const struct function functions[] = {
    {"relu6", relu6, -65504, 65504, 0, 0.5, 0},
    {"hardtanh", hardtanh, -65504, 65504, 0, 0.5, 0},
    {"sign", sign, -65504, 65504, 0, 0, 0},
    {"leaky_relu", leaky, -65504, 65504, 0, 1.5, 0}, /* the slope is an fp16 number as well */
    {"exp2", exp2, -24, 15.99, 0, 1.1, 0},   /* (1/32)^2 / 8 * ln(2)^2 = 0.06 of a step of 2^-10; denormals: half a step */
    {"log2", log2, 0, 65504, 0x1p-10, 1, 0}, /* (1/64)^2 / 8 * 4 / ln 2 = 1.8e-4, knots 2.5e-4; absolute, near x = 1 */
    {"reciprocal", reciprocal, 0x1p-15, 65504, 0, 1.3, 0}, /* (1/64)^2 / 8 * 16 = 4.9e-4 of 2^-9 at m = 1/2 */
    {"reciprocal", reciprocal, -65504, -0x1p-15, 0, 1.3, 0},
    {"sqrt", sqrt, 0, 65504, 0, 1.3, 0},                         /* (1/16)^2 / 8 * 0.71 = 3.5e-4 of 2^-11 at m = 1/2 */
    {"rsqrt", rsqrt, 0, 65504, 0, 2.1, 0},                       /* (1/16)^2 / 8 * 4.2 = 2.1e-3 of 2^-10 at m = 1/2 */
    {"tanh", tanh, -65504, 65504, 1.7e-3, 0.5, 0.0017},          /* (1/8)^2 / 8 * 0.77 = 1.5e-3; guide: 0.0017 */
    {"sigmoid_half", sigmoid_half, -65504, 65504, 9e-4, 0.5, 0}, /* (1/4)^2 / 8 * 0.096 = 7.5e-4 */
    {"sigmoid", sigmoid, -65504, 65504, 3.4e-3, 0.5, 0.0034},    /* (1/2)^2 / 8 * 0.096 = 3e-3; guide: 0.0034 */
    {"gelu", gelu, -65504, 65504, 6.3e-3, 0.5, 0.0059},          /* (1/4)^2 / 8 * 0.8 = 6.2e-3; guide: 0.0059 */
    {"selu", selu, -65504, 60000, 0.0146, 1, 0},                 /* (1/4)^2 / 8 * 1.76 = 0.0137 below 0, above a slope of fp16 */
};

static void compare(const struct function *f, const uint16_t *result)
{
    double worst = 0, off = 0;
    for (uint32_t bits = 0; bits < ROWS * COLUMNS; bits++) {
        const double x = ane_half_value((uint16_t)bits);
        if (!(x > f->low) || !(x < f->high))
            continue;
        const double want = f->value(x), got = ane_half_value(result[bits]);
        const double rest = fabs(got - want) - f->absolute, ulps = rest > 0 ? rest / ulp(want) : 0;
        worst = ulps > worst ? ulps : worst;
        off = fmax(off, fabs(got - want));
        if (!(rest <= f->ulps * ulp(want))) {
            CHECK(0, "%s(%.9g) = %.9g, not %.9g", f->name, x, got, want);
            return;
        }
    }
    CHECK(worst <= f->ulps, "%s: %g", f->name, worst);
    CHECK(f->measured == 0 || fabs(off / f->measured - 1) < 0.05, "%s: off by %g, measured %g", f->name, off, f->measured);
}

static void test_functions(void)
{
    static uint16_t result[ROWS * COLUMNS];
    for (size_t i = 0; i < ARRAY_COUNT(functions); i++) {
        struct ane_table table;
        struct ane_exec_counts counts;
        CU_ASSERT_TRUE_FATAL(ane_table_make(functions[i].name, NAN, &table));
        run_all(&table, 0, 1, result, &counts);
        compare(&functions[i], result);
        CU_ASSERT_EQUAL(counts.table_lookups, ROWS * COLUMNS);
        CU_ASSERT_TRUE(counts.table_clamped > 0 && counts.table_clamped < ROWS * COLUMNS);
    }
}

/* ceil of eiln/ane: the whole part, and 1 when there is a fraction above 0. */
static void test_parts(void)
{
    static uint16_t whole[ROWS * COLUMNS], part[ROWS * COLUMNS], more[ROWS * COLUMNS];
    struct ane_table table = {.low = 0xfc00, .high = 0x7c00, .mode = ANE_TABLE_FRACTION}, step;
    struct ane_exec_counts counts;
    run_all(&table, 0, 1, part, &counts);
    table = (struct ane_table){
        .low = 0xfc00, .high = 0x7c00, .below = 0xfc00, .above = 0x7c00, .spacing_log2 = 5, .mode = ANE_TABLE_INTEGER};
    run_all(&table, 0, 1, whole, &counts);
    CU_ASSERT_TRUE_FATAL(ane_table_make("step", NAN, &step));
    run_all(&step, 0, 1, more, &counts);
    for (uint32_t bits = 0; bits < ROWS * COLUMNS; bits++) {
        const double x = ane_half_value((uint16_t)bits);
        if (!isfinite(x))
            continue;
        if (ane_half_value(part[bits]) != fraction(x) || ane_half_value(whole[bits]) != trunc(x) ||
            ane_half_value(whole[bits]) + ane_half_value(more[part[bits]]) != ceil(x)) {
            CHECK(0, "%g: %g and %g", x, ane_half_value(whole[bits]), ane_half_value(part[bits]));
            return;
        }
    }
}

static double at(const char *name, uint16_t bits)
{
    static uint16_t result[ROWS * COLUMNS];
    struct ane_table table;
    struct ane_exec_counts counts;
    CU_ASSERT_TRUE_FATAL(ane_table_make(name, NAN, &table));
    run_all(&table, 0, 1, result, &counts);
    return ane_half_value(result[bits]);
}

static void test_edges(void)
{
    enum { ZERO = 0, MINUS_ZERO = 0x8000, MINUS_ONE = 0xbc00, INFINITE = 0x7c00, MINUS_INFINITE = 0xfc00, NOT_A_NUMBER = 0xfe01 };
    CU_ASSERT_EQUAL(at("log2", ZERO), -INFINITY);
    CU_ASSERT_EQUAL(at("log2", MINUS_ONE), 0);
    CU_ASSERT_EQUAL(at("sqrt", MINUS_ONE), 0);
    CU_ASSERT_EQUAL(at("rsqrt", MINUS_ONE), 0);
    CU_ASSERT_EQUAL(at("rsqrt", MINUS_ZERO), INFINITY);
    CU_ASSERT_EQUAL(at("sqrt", MINUS_ZERO), 0);
    CU_ASSERT_EQUAL(at("reciprocal", MINUS_ZERO), INFINITY);
    CU_ASSERT_EQUAL(at("reciprocal", INFINITE), 0);
    CU_ASSERT_EQUAL(at("exp2", NOT_A_NUMBER), INFINITY); /* a NaN counts as +infinity */
    CU_ASSERT_EQUAL(at("exp2", MINUS_INFINITE), 0);
    CU_ASSERT_EQUAL(at("tanh", NOT_A_NUMBER), 1);
    CU_ASSERT_EQUAL(at("sqrt", NOT_A_NUMBER), INFINITY);
    CU_ASSERT_EQUAL(at("tanh", MINUS_INFINITE), -1);
    CU_ASSERT_FALSE(signbit(at("tanh", MINUS_ZERO)));
    CU_ASSERT_FALSE(signbit(at("leaky_relu", MINUS_ZERO)));
}

/* (x + 1e-4) before the reciprocal, as in inv of eiln/ane; log2 e before exp2, as in exp: infinite from ln 65504 = 11.09 on. */
static void test_before_the_table(void)
{
    static uint16_t result[ROWS * COLUMNS];
    struct ane_table table;
    struct ane_exec_counts counts;
    CU_ASSERT_TRUE_FATAL(ane_table_make("reciprocal", NAN, &table));
    run_all(&table, (float)ane_half_value(0x068e), 1, result, &counts);
    CU_ASSERT_DOUBLE_EQUAL(ane_half_value(result[0]), 1 / ane_half_value(0x068e), 10);
    CU_ASSERT_EQUAL(ane_half_value(result[0x3c00]), 1);
    CU_ASSERT_TRUE_FATAL(ane_table_make("exp2", NAN, &table));
    run_all(&table, 0, (float)ane_half_value(0x3dc5), result, &counts);
    CU_ASSERT_EQUAL(ane_half_value(result[0]), 1);
    CU_ASSERT_EQUAL(ane_half_value(result[ane_half_bits(11.109375)]), INFINITY);
    CU_ASSERT_TRUE(isfinite(ane_half_value(result[ane_half_bits(11.078125)])));
    /* log2 e as an fp16 number is 2.1e-4 too small: for |x| <= 1 that and the interpolation stay within two steps */
    compare(&(struct function){"exp", exp, -1, 1, 0, 2, 0}, result);
}

/* Large tensors go through a map of all values, small ones do not: the same bits. */
static void test_map(void)
{
    struct ane_example e;
    struct ane_table table;
    uint64_t state = 11;
    ane_example_open(&e);
    CU_ASSERT_TRUE_FATAL(ane_table_make("gelu", NAN, &table));
    struct ane_task *t = ane_example_task(&e);
    ane_example_shape(t, 1, 512, 512, 1, 512, 512);
    t->ne_op = ANE_NE_ELEMENT;
    t->nonlinear = ANE_TABLE;
    t->post_scale = 1.5f;
    t->input_relu = true;
    t->source = ane_example_dram(&e, BAR_IN, 1, 512, 512);
    t->result = ane_example_dram(&e, BAR_OUT, 1, 512, 512);
    ane_example_table(&e, t, &table);
    for (uint32_t i = 0; i < 512 * 512; i++)
        ane_example_set_bits(&e, &t->source, 0, i / 512, i % 512, (uint16_t)suite_random(&state));
    ane_example_must_run(&e, 3);
    const uint64_t clamped = e.counts.table_clamped;
    struct ane_task *small = ane_example_task(&e);
    *small = *t;
    small->height_in = small->height_out = 100;
    small->result = ane_example_dram(&e, BAR_SECOND, 1, 100, 512);
    e.counts = (struct ane_exec_counts){0};
    ane_example_must_run(&e, 2);
    CU_ASSERT_EQUAL(e.counts.tasks, 2);
    CU_ASSERT_TRUE(e.counts.table_clamped > clamped);
    for (uint32_t i = 0; i < 100 * 512; i++)
        if (ane_example_bits(&e, &t->result, 0, i / 512, i % 512) != ane_example_bits(&e, &small->result, 0, i / 512, i % 512)) {
            CHECK(0, "element %u", i);
            break;
        }
    ane_example_close(&e);
}

static void test_unknown(void)
{
    struct ane_example e;
    struct ane_table table = {.mode = 0x65};
    ane_example_open(&e);
    struct ane_task *t = ane_example_task(&e);
    ane_example_shape(t, 1, 1, 1, 1, 1, 1);
    t->ne_op = ANE_NE_ELEMENT;
    t->nonlinear = ANE_TABLE;
    t->source = ane_example_dram(&e, BAR_IN, 1, 1, 1);
    t->result = ane_example_dram(&e, BAR_OUT, 1, 1, 1);
    CU_ASSERT_FALSE(ane_example_run(&e, 1));
    CU_ASSERT_EQUAL(e.fault.kind, UNIT_FAULT_UNMODELLED); /* no bank at all */
    ane_example_table(&e, t, &table);
    CU_ASSERT_FALSE(ane_example_run(&e, 1));
    CU_ASSERT_EQUAL(e.fault.kind, UNIT_FAULT_UNMODELLED);
    t->bank[0].base = 1 << 20;
    CU_ASSERT_FALSE(ane_example_run(&e, 1));
    CU_ASSERT_EQUAL(e.fault.kind, UNIT_FAULT_UNMAPPED);
    ane_example_close(&e);
}

static const struct suite_test tests[] = {
    {"functions", test_functions},   {"whole part, fraction, step", test_parts},
    {"edges", test_edges},           {"before the table", test_before_the_table},
    {"map of all values", test_map}, {"unknown tables", test_unknown},
};
SUITE_MAIN("ane lut", tests)
