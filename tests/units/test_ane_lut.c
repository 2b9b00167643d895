/* Activation tables on the executing side: every fp16 value through every mode, against the function in double, and the edges that
 * were measured on M1 (sbryngelson/ane-guide, chapter 3).
 */
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

static double sigmoid(double x) { return 1 / (1 + exp(-x)); }
static double sigmoid_half(double x) { return sigmoid(x) - 0.5; }
static double gelu(double x) { return 0.5 * x * erfc(-x * sqrt(0.5)); }
static double selu(double x) { return x > 0 ? 1.0507009873554805 * x : 1.7580993408473766 * expm1(x); }
static double relu6(double x) { return fmin(fmax(x, 0), 6); }
static double leaky(double x) { return x > 0 ? x : 0.01 * x; }
static double hardtanh(double x) { return fmin(fmax(x, -1), 1); }
static double sign(double x) { return (x > 0) - (x < 0); }
static double reciprocal(double x) { return 1 / x; }
static double rsqrt(double x) { return 1 / sqrt(x); }
static double fraction(double x) { return x - trunc(x); }

/* |got - want| <= absolute + ulps * step of fp16 at want. Straight lines between knots 2^-p apart are off by (2^-p)^2 / 8 times the
 * second derivative, knots by half a step of theirs, the result by half a step. */
struct function {
    const char *name;
    double (*value)(double x);
    double low, high; /* where it is compared */
    double absolute, ulps;
};
static const struct function functions[] = {
    {"relu6", relu6, -65504, 65504, 0, 0.5},
    {"hardtanh", hardtanh, -65504, 65504, 0, 0.5},
    {"sign", sign, -65504, 65504, 0, 0},
    {"leaky_relu", leaky, -65504, 65504, 0, 1.5},          /* the slope is an fp16 number as well */
    {"exp2", exp2, -24, 15.99, 0, 1.2},                    /* (1/32)^2 / 8 * ln(2)^2 = 0.06 of a step of 2^-10; denormals: half a step */
    {"log2", log2, 0, 65504, 0x1p-10, 1},                  /* (1/64)^2 / 8 * 4 / ln 2 = 1.8e-4, knots 2.5e-4; absolute, near x = 1 */
    {"reciprocal", reciprocal, 0x1p-15, 65504, 0, 1.9},    /* (1/64)^2 / 8 * 16 = 4.9e-4 of 2^-9 at m = 1/2 */
    {"reciprocal", reciprocal, -65504, -0x1p-15, 0, 1.9},
    {"sqrt", sqrt, 0, 65504, 0, 1.9},                      /* (1/16)^2 / 8 * 0.71 = 3.5e-4 of 2^-11 at m = 1/2 */
    {"rsqrt", rsqrt, 0, 65504, 0, 3.2},                    /* (1/16)^2 / 8 * 4.2 = 2.1e-3 of 2^-10 at m = 1/2 */
    {"tanh", tanh, -65504, 65504, 1.9e-3, 0.5},            /* (1/8)^2 / 8 * 0.77 = 1.5e-3; guide: 0.0017 */
    {"sigmoid_half", sigmoid_half, -65504, 65504, 9e-4, 0.5}, /* (1/4)^2 / 8 * 0.096 = 7.5e-4 */
    {"sigmoid", sigmoid, -65504, 65504, 3.4e-3, 0.5},      /* (1/2)^2 / 8 * 0.096 = 3e-3; guide: 0.0034 */
    {"gelu", gelu, -65504, 65504, 5.9e-3, 0.5},            /* guide: 0.0059 */
    {"selu", selu, -65504, 65504, 0.0146, 0.6},            /* (1/4)^2 / 8 * 1.76 = 0.0137 */
};

static void compare(const struct function *f, const uint16_t *result, double scale)
{
    double worst = 0;
    for (uint32_t bits = 0; bits < ROWS * COLUMNS; bits++) {
        const double x = ane_half_value((uint16_t)bits);
        if (!(x * scale > f->low) || !(x * scale < f->high))
            continue;
        const double want = f->value(x * scale), got = ane_half_value(result[bits]);
        const double rest = fabs(got - want) - f->absolute, ulps = rest > 0 ? rest / ulp(want) : 0;
        worst = ulps > worst ? ulps : worst;
        if (!(rest <= f->ulps * ulp(want))) {
            CHECK(0, "%s(%.9g) = %.9g, not %.9g", f->name, x, got, want);
            return;
        }
    }
    CHECK(worst <= f->ulps, "%s: %g", f->name, worst);
    if (getenv("ANE_LUT_SHOW")) printf("%s worst %g ulps beyond %g\n", f->name, worst, f->absolute);
}

static void test_functions(void)
{
    static uint16_t result[ROWS * COLUMNS];
    for (size_t i = 0; i < sizeof functions / sizeof functions[0]; i++) {
        struct ane_table table;
        struct ane_exec_counts counts;
        CU_ASSERT_TRUE_FATAL(ane_table_make(functions[i].name, NAN, &table));
        run_all(&table, 0, 1, result, &counts);
        compare(&functions[i], result, 1);
        CU_ASSERT_EQUAL(counts.table_lookups, ROWS * COLUMNS);
        CU_ASSERT_TRUE(counts.table_clamped > 0 && counts.table_clamped < ROWS * COLUMNS);
    }
}

static const struct suite_test tests[] = {{"functions", test_functions}};
SUITE_MAIN("ane lut", tests)
