/* Element-wise functions of the Neural Engine library: arithmetic to 2 steps of fp16, functions from tables within the bound of
 * their interpolation. */
#include "isa/array_count.h"
#include "tests/units/ane_library_example.h"
#include "units/ane/kernels/ane_build.h"

typedef double (*function)(double x, double y);

static double of_add(double x, double y)
{
    return x + y;
}
static double of_sub(double x, double y)
{
    return x - y;
}
static double of_mul(double x, double y)
{
    return x * y;
}
static double of_div(double x, double y)
{
    return x / y;
}
static double of_max(double x, double y)
{
    return fmax(x, y);
}
static double of_min(double x, double y)
{
    return fmin(x, y);
}
static double of_relu(double x, double y)
{
    (void)y;
    return fmax(x, 0);
}
static double of_abs(double x, double y)
{
    (void)y;
    return fabs(x);
}
static double of_neg(double x, double y)
{
    (void)y;
    return -x;
}
static double of_square(double x, double y)
{
    (void)y;
    return x * x;
}
static double of_cube(double x, double y)
{
    (void)y;
    return x * x * x;
}
static double of_relu6(double x, double y)
{
    (void)y;
    return fmin(fmax(x, 0), 6);
}
static double of_leaky(double x, double y)
{
    (void)y;
    return x > 0 ? x : 0.01 * x;
}
static double of_hardtanh(double x, double y)
{
    (void)y;
    return fmin(fmax(x, -1), 1);
}
static double of_hard_sigmoid(double x, double y)
{
    (void)y;
    return fmin(fmax(x / 6 + 0.5, 0), 1);
}
static double of_hard_swish(double x, double y)
{
    return x * of_hard_sigmoid(x, y);
}
static double of_sign(double x, double y)
{
    (void)y;
    return (x > 0) - (x < 0);
}
static double of_trunc(double x, double y)
{
    (void)y;
    return trunc(x);
}
static double of_frac(double x, double y)
{
    (void)y;
    return x - trunc(x);
}
static double of_floor(double x, double y)
{
    (void)y;
    return floor(x);
}
static double of_ceil(double x, double y)
{
    (void)y;
    return ceil(x);
}
static double of_sigmoid(double x, double y)
{
    (void)y;
    return 1 / (1 + exp(-x));
}
static double of_silu(double x, double y)
{
    return x * of_sigmoid(x, y);
}
static double of_tanh(double x, double y)
{
    (void)y;
    return tanh(x);
}
static double of_gelu(double x, double y)
{
    (void)y;
    return 0.5 * x * erfc(-x * sqrt(0.5));
}
static double of_elu(double x, double y)
{
    (void)y;
    return x > 0 ? x : expm1(x);
}
static double of_selu(double x, double y)
{
    (void)y;
    return 1.0507009873554805 * (x > 0 ? x : 1.6732632423543772 * expm1(x));
}
static double of_softplus(double x, double y)
{
    (void)y;
    return log1p(exp(x));
}
static double of_softsign(double x, double y)
{
    (void)y;
    return x / (1 + fabs(x));
}
static double of_mish(double x, double y)
{
    return x * tanh(of_softplus(x, y));
}
static double of_erf(double x, double y)
{
    (void)y;
    return erf(x);
}
static double of_exp(double x, double y)
{
    (void)y;
    return exp(x);
}
static double of_exp2(double x, double y)
{
    (void)y;
    return exp2(x);
}
static double of_log(double x, double y)
{
    (void)y;
    return log(x);
}
static double of_log2(double x, double y)
{
    (void)y;
    return log2(x);
}
static double of_log10(double x, double y)
{
    (void)y;
    return log10(x);
}
static double of_sqrt(double x, double y)
{
    (void)y;
    return sqrt(x);
}
static double of_rsqrt(double x, double y)
{
    (void)y;
    return 1 / sqrt(x);
}
static double of_rcp(double x, double y)
{
    (void)y;
    return 1 / x;
}
static double of_pow(double x, double y)
{
    return pow(x, y);
}

/* absolute: largest error of the interpolation, (spacing^2 / 8) * |f''| and what tails add; relative: of functions whose table
 * covers a binade (mantissa/32 or /64 apart); ulps of the result on top. */
static const struct row {
    const char *name;
    function reference;
    unsigned operands;
    double low, high; /* of the inputs */
    double absolute, relative, ulps;
} rows[] = {
    {"add", of_add, 2, -100, 100, 0, 0, 0.51},
    {"sub", of_sub, 2, -100, 100, 0, 0, 0.51},
    {"mul", of_mul, 2, -100, 100, 0, 0, 0.51},
    {"max", of_max, 2, -100, 100, 0, 0, 0},
    {"min", of_min, 2, -100, 100, 0, 0, 0},
    {"relu", of_relu, 1, -10, 10, 0, 0, 0},
    {"abs", of_abs, 1, -10, 10, 0, 0, 0},
    {"neg", of_neg, 1, -10, 10, 0, 0, 0},
    {"square", of_square, 1, -10, 10, 0, 0, 0.51},
    {"cube", of_cube, 1, -10, 10, 0, 0, 2},
    {"relu6", of_relu6, 1, -10, 10, 0, 0, 0},
    {"leaky_relu", of_leaky, 1, -10, 10, 0, 0x1p-11, 1},
    {"hardtanh", of_hardtanh, 1, -3, 3, 0, 0, 0},
    {"hard_sigmoid", of_hard_sigmoid, 1, -5, 5, 0x1p-10, 0, 1},
    {"hard_swish", of_hard_swish, 1, -5, 5, 0x1p-7, 0, 2},
    {"sign", of_sign, 1, -3, 3, 0, 0, 0},
    {"trunc", of_trunc, 1, -40, 40, 0, 0, 0},
    {"frac", of_frac, 1, -40, 40, 0, 0, 0.51},
    {"floor", of_floor, 1, -40, 40, 0, 0, 0},
    {"ceil", of_ceil, 1, -40, 40, 0, 0, 0},
    {"sigmoid", of_sigmoid, 1, -12, 12, 1.2e-3, 0, 1},
    {"silu", of_silu, 1, -12, 12, 5e-3, 1.2e-3, 2},
    {"tanh", of_tanh, 1, -6, 6, 2.2e-3, 0, 1},
    {"gelu", of_gelu, 1, -6, 6, 6e-3, 0, 1},
    {"gelu_tanh", of_gelu, 1, -6, 6, 6e-3, 0, 1},
    {"elu", of_elu, 1, -10, 10, 8e-3, 0, 1},
    {"selu", of_selu, 1, -10, 10, 1.4e-2, 0x1p-11, 1},
    {"softplus", of_softplus, 1, -10, 10, 1e-2, 0, 1},
    {"softsign", of_softsign, 1, -10, 10, 1.6e-2, 0, 1},
    {"mish", of_mish, 1, -8, 8, 1.6e-2, 0, 1},
    {"erf", of_erf, 1, -5, 5, 2.2e-3, 0, 1},
    {"exp", of_exp, 1, -8, 8, 0, 9e-3, 1},
    {"exp2", of_exp2, 1, -12, 12, 0, 1.3e-3, 1},
    {"log", of_log, 1, 0.01, 100, 2e-3, 0x1p-10, 1},
    {"log2", of_log2, 1, 0.01, 100, 3e-3, 0, 1},
    {"log10", of_log10, 1, 0.01, 100, 1e-3, 0x1p-10, 1},
    {"sqrt", of_sqrt, 1, 0.01, 1000, 0, 2e-3, 1},
    {"rsqrt", of_rsqrt, 1, 0.01, 1000, 0, 2e-3, 1},
    {"rcp", of_rcp, 1, 0.01, 1000, 0, 1e-3, 1},
    {"div", of_div, 2, 0.1, 100, 0, 1e-3, 2},
    {"pow", of_pow, 2, 0.5, 2, 0, 6e-3, 1},
};

static void fill(struct ane_example *x, const char *name, const struct row *row, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++)
        example_put(x, name, i, example_uniform(&x->seed, row->low, row->high));
}

static void check_row(const struct row *row, uint64_t count, const char *more, double number)
{
    char text[100];
    struct ane_example x;
    snprintf(text, sizeof text, "elementwise:%llu,op=%s%s", (unsigned long long)count, row->name, more);
    bool ok = example_build(&x, text, NULL, ANE_H13, count);
    const bool second = row->operands == 2 && number == 0;
    if (ok) {
        fill(&x, "a", row, count);
        if (second)
            fill(&x, "b", row, count);
        ok = example_run(&x);
    }
    CHECK(ok, "%s: %s", text, x.error.text);
    if (ok) {
        double *a = example_values(&x, "a"), *b = second ? example_values(&x, "b") : NULL;
        double *expected = malloc(count * sizeof *expected), *bound = malloc(count * sizeof *bound);
        for (uint64_t i = 0; expected && bound && i < count; i++) {
            expected[i] = row->reference(a[i], b ? b[i] : number);
            bound[i] = row->absolute + row->relative * fabs(expected[i]) + row->ulps * example_ulp(expected[i]);
        }
        if (expected && bound)
            example_compare(&x, text, "out", expected, bound, 0);
        free(a), free(b), free(expected), free(bound);
    }
    example_close(&x);
}

static void test_functions(void)
{
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
        check_row(&rows[i], 1777, "", 0);
}

/* Rows, channels and a rest. */
static void test_sizes(void)
{
    static const uint64_t counts[] = {1, 31, 32, 33, 100, 511, 512, 513, 1024, 16384, 16385, 65536, 99991, 1048576};
    for (size_t i = 0; i < ARRAY_COUNT(counts); i++) {
        check_row(&rows[0], counts[i], "", 0);
        check_row(&rows[20], counts[i], "", 0);
    }
}

static void test_numbers(void)
{
    check_row(&rows[0], 1000, ",number=2.5", 2.5);
    check_row(&rows[1], 1000, ",number=0.375", 0.375);
    check_row(&rows[2], 1000, ",number=-3", -3);
    check_row(&rows[3], 1000, ",number=7.5", 7.5);
    check_row(&rows[3], 1000, ",number=-20", -20);
    check_row(&rows[4], 1000, ",number=0.125", 0.125);
    check_row(&rows[4], 1000, ",number=-31", -31);
}

static double of_add_relu(double x, double y)
{
    return fmax(x + y, 0);
}
static double of_mul_tanh_abs(double x, double y)
{
    return fabs(tanh(x * y));
}

static void test_chains(void)
{
    const struct row add_relu = {"add+relu", of_add_relu, 2, -10, 10, 0, 0, 0.51};
    const struct row longer = {"mul+tanh+abs", of_mul_tanh_abs, 2, -2, 2, 4e-3, 0, 1};
    check_row(&add_relu, 5000, "", 0);
    check_row(&longer, 5000, "", 0);
    check_row(&longer, 700001, "", 0); /* beyond tile memory: some rows at a time */
}

/* What lies between functions has room in tile memory, however long the arrays are: nothing of it passes through the scratch
 * buffer. */
static void test_long_chains_stay_in_tile_memory(void)
{
    struct ane_example x;
    const bool ok = example_build(&x, "elementwise:704512,op=silu+mul", NULL, ANE_H13, 2 * 704512);
    CHECK(ok, "%s", x.error.text);
    for (size_t i = 0; ok && i < x.kernel.program.count; i++) {
        const struct ane_task *const task = &x.kernel.program.task[i];
        CHECK(task->result.place != ANE_PLACE_DRAM || task->result.bar == ANE_BAR_OUTPUT, "task %zu writes to buffer %u", i,
              (unsigned)task->result.bar);
    }
    example_close(&x);
}

/* The second array begins again after `period` elements, of the row's own and of tile memory's beyond. */
static void check_period(const struct row *row, uint64_t count, uint64_t period)
{
    char text[100];
    struct ane_example x;
    snprintf(text, sizeof text, "elementwise:%llu,op=%s,period=%llu", (unsigned long long)count, row->name,
             (unsigned long long)period);
    bool ok = example_build(&x, text, NULL, ANE_H13, count + period);
    if (ok) {
        fill(&x, "a", row, count);
        fill(&x, "b", row, period);
        ok = example_run(&x);
    }
    CHECK(ok, "%s: %s", text, x.error.text);
    double *const a = ok ? example_values(&x, "a") : NULL, *const b = ok ? example_values(&x, "b") : NULL;
    double *const expected = malloc(count * sizeof *expected), *const bound = malloc(count * sizeof *bound);
    for (uint64_t i = 0; a && b && expected && bound && i < count; i++) {
        expected[i] = row->reference(a[i], b[i % period]);
        bound[i] = row->absolute + row->ulps * example_ulp(expected[i]);
    }
    if (a && b && expected && bound)
        example_compare(&x, text, "out", expected, bound, 0);
    free(a), free(b), free(expected), free(bound);
    example_close(&x);
}

static void test_periods(void)
{
    static const struct {
        uint64_t count, period;
    } sizes[] = {{64, 32}, {6144, 96}, {49152, 2048}, {3 * 160, 160}, {700 * 1056, 1056}, {1000, 1000}, {4 << 18, 1 << 18}};
    const struct row add_relu = {"add+relu", of_add_relu, 2, -10, 10, 0, 0, 0.51};
    const struct row longer = {"mul+tanh+abs", of_mul_tanh_abs, 2, -2, 2, 4e-3, 0, 1};
    for (size_t i = 0; i < ARRAY_COUNT(sizes); i++) {
        check_period(&rows[0], sizes[i].count, sizes[i].period);
        check_period(&rows[2], sizes[i].count, sizes[i].period);
    }
    check_period(&add_relu, 6144, 96);
    check_period(&longer, 4 << 18, 1 << 18); /* some rows at a time */
}

static void test_refusals(void)
{
    example_refused("elementwise:10,op=sin", NULL, ANE_H13, "H13 has none");
}

static const struct suite_test tests[] = {
    {"functions", test_functions},
    {"sizes", test_sizes},
    {"a number as second operand", test_numbers},
    {"chains", test_chains},
    {"long chains stay in tile memory", test_long_chains_stay_in_tile_memory},
    {"periods", test_periods},
    {"refusals name the limit", test_refusals},
};
SUITE_MAIN("ane_kernels_elementwise", tests)
