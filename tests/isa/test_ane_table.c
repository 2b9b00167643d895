/* Activation tables: the library against the tables inside public programs and against the functions themselves. */
#include "isa/ane/ane_coefficients.h"
#include "isa/ane/ane_half.h"
#include "isa/array_count.h"
#include "tests/isa/ane_golden.h"

#include <math.h>
#include <string.h>

enum { TD_PITCH = 0x300, TD_CODE_BYTES = 0x280, NEXT = 0x1c, COEFFICIENT_EN = 0x34, COEFFICIENT_BASE = 0x74, MAC_CFG = 0x244 };

/* The first table that a descriptor of the program reads. */
static bool golden_table(const char *file, uint8_t table[2 * ANE_TABLE_HALVES])
{
    size_t size, td = 0;
    uint8_t *bytes = ane_golden_read(file, &size);
    bool found = false;
    if (!bytes)
        return false;
    size_t last = 0;
    while (ane_golden_word(bytes, last + NEXT))
        last = ane_golden_word(bytes, last + NEXT);
    for (td = 0; td <= last && !found; td += TD_PITCH) {
        found = (ane_golden_word(bytes, td + COEFFICIENT_EN) & 1) && (ane_golden_word(bytes, td + MAC_CFG) >> 16 & 3) == 2;
        if (found)
            memcpy(table, bytes + last + TD_CODE_BYTES + ane_golden_word(bytes, td + COEFFICIENT_BASE), 2 * ANE_TABLE_HALVES);
    }
    free(bytes);
    CHECK(found, "%s has a table", file);
    return found;
}

static int steps(uint16_t a, uint16_t b)
{
    const int x = a & 0x8000 ? -(a & 0x7fff) : a, y = b & 0x8000 ? -(b & 0x7fff) : b;
    return abs(x - y);
}

/* The number of halfwords that differ, and their largest difference in representable steps and in value. */
struct difference {
    unsigned count;
    int steps;
    double size;
};
static struct difference differ(const uint8_t *a, const uint8_t *b)
{
    struct difference d = {.count = 0};
    for (unsigned i = 0; i < ANE_TABLE_HALVES; i++) {
        const uint16_t x = (uint16_t)(a[2 * i] | a[2 * i + 1] << 8), y = (uint16_t)(b[2 * i] | b[2 * i + 1] << 8);
        if (x == y)
            continue;
        d.count++;
        d.steps = steps(x, y) > d.steps ? steps(x, y) : d.steps;
        d.size = fmax(d.size, fabs(ane_half_value(x) - ane_half_value(y)));
    }
    return d;
}

static const struct {
    const char *file, *name;
} public_tables[] = {
    {"eiln/activation_gelu.bin.gz", "gelu"},
    {"eiln/activation_hardtanh.bin.gz", "hardtanh"},
    {"eiln/activation_selu.bin.gz", "selu"},
    {"eiln/activation_softmax.bin.gz", "exp2"},
    {"eiln/binary_div.bin.gz", "reciprocal"},
    {"eiln/unary_exp.bin.gz", "exp2"},
    {"eiln/unary_exp2.bin.gz", "exp2"},
    {"eiln/unary_log2.bin.gz", "log2"},
    {"eiln/unary_sigmoid.bin.gz", "sigmoid_half"},
    {"eiln/unary_sqrt.bin.gz", "sqrt"},
    {"eiln/unary_tanh.bin.gz", "tanh"},
};
#define PUBLIC_TABLES (ARRAY_COUNT(public_tables))

static void test_public_tables_are_named(void)
{
    for (size_t i = 0; i < PUBLIC_TABLES; i++) {
        uint8_t bytes[2 * ANE_TABLE_HALVES], back[2 * ANE_TABLE_HALVES];
        struct ane_table table;
        struct isa_error error = {.text = ""};
        if (!golden_table(public_tables[i].file, bytes))
            continue;
        CHECK(ane_table_read(bytes, sizeof bytes, &table, &error), "%s: %s", public_tables[i].file, error.text);
        const char *name = ane_table_name(&table);
        CHECK(name && strcmp(name, public_tables[i].name) == 0, "%s: %s", public_tables[i].file, name ? name : "(none)");
        ane_table_write(&table, back);
        CHECK(memcmp(bytes, back, sizeof bytes) == 0, "%s: other bytes", public_tables[i].file);
    }
}

/* Apple's knots are the rounded function, except gelu's, which are a fit. */
static void test_made_tables_equal_the_public_ones(void)
{
    for (size_t i = 0; i < PUBLIC_TABLES; i++) {
        uint8_t bytes[2 * ANE_TABLE_HALVES], made[2 * ANE_TABLE_HALVES];
        struct ane_table table;
        if (!golden_table(public_tables[i].file, bytes))
            continue;
        CU_ASSERT(ane_table_make(public_tables[i].name, (double)NAN, &table));
        ane_table_write(&table, made);
        const struct difference d = differ(bytes, made);
        if (strcmp(public_tables[i].name, "gelu") == 0)
            CHECK(d.count <= 9 && d.size < 6.2e-5, "gelu: %u halfwords, %g", d.count, d.size);
        else
            CHECK(d.count == 0, "%s: %u halfwords differ by up to %d steps", public_tables[i].name, d.count, d.steps);
    }
}

/* How the engine reads a table, in double precision. */
static double interpolate(const struct ane_table *t, double x, double first)
{
    const double step = ldexp(1, -t->spacing_log2), place = (x - first) / step;
    if (place < 0)
        return ane_half_value(t->left_slope) * x + ane_half_value(t->left_intercept);
    if (place >= 32)
        return ane_half_value(t->right_slope) * x + ane_half_value(t->right_intercept);
    const unsigned k = (unsigned)place;
    return ane_half_value(t->knot[k]) + (place - k) * (ane_half_value(t->knot[k + 1]) - ane_half_value(t->knot[k]));
}

static double lookup(const struct ane_table *t, double x)
{
    const bool odd = t->mode == ANE_TABLE_ODD, tails = t->spacing_log2 == 0x40;
    const double size = odd ? fabs(x) : x;
    double y;
    if (size <= ane_half_value(t->low))
        y = ane_half_value(t->below);
    else if (size >= ane_half_value(t->high))
        y = ane_half_value(t->above);
    else if (tails)
        y = size <= 0 ? ane_half_value(t->left_slope) * size + ane_half_value(t->left_intercept)
                      : ane_half_value(t->right_slope) * size + ane_half_value(t->right_intercept);
    else
        y = interpolate(t, size, odd ? 0 : ldexp(t->mode == ANE_TABLE_RIGHT ? -32 : -16, -t->spacing_log2));
    return odd && x < 0 ? -y : y;
}

static double t_gelu(double x)
{
    return 0.5 * x * (1 + erf(x * sqrt(0.5)));
}
static double t_sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}
static double t_half(double x)
{
    return t_sigmoid(x) - 0.5;
}
static double t_silu(double x)
{
    return x * t_sigmoid(x);
}
static double t_softplus(double x)
{
    return x > 30 ? x : log(1 + exp(x));
}
static double t_mish(double x)
{
    return x * tanh(t_softplus(x));
}
static double t_softsign(double x)
{
    return x / (1 + fabs(x));
}
static double t_elu(double x)
{
    return x > 0 ? x : exp(x) - 1;
}
static double t_selu(double x)
{
    return 1.0507009873554805 * (x > 0 ? x : 1.6732632423543772 * (exp(x) - 1));
}
static double t_relu(double x)
{
    return x > 0 ? x : 0;
}
static double t_relu6(double x)
{
    return fmin(t_relu(x), 6);
}
static double t_leaky(double x)
{
    return x > 0 ? x : 0.01 * x;
}
static double t_hardtanh(double x)
{
    return fmax(-1, fmin(1, x));
}
static double t_hardsigmoid(double x)
{
    return fmax(0, fmin(1, 0.2 * x + 0.5));
}
static double t_sign(double x)
{
    return (x > 0) - (x < 0);
}
static double t_step(double x)
{
    return x > 0;
}
static double t_atan2(double x)
{
    return fmax(-atan(2), fmin(atan(2), atan(x)));
}
static double t_far(double x)
{
    return fabs(x) <= 2 ? 0 : copysign(atan(fabs(x)) - atan(2), x);
}

/* The largest error over [-40, 40] that interpolation between knots allows: absolute, plus 2^-10 of the value for rounding. */
static const struct {
    const char *name;
    double (*function)(double x);
    double allowed;
} errors[] = {
    {"relu", t_relu, 0},
    {"relu6", t_relu6, 0},
    {"leaky_relu", t_leaky, 0},
    {"hardtanh", t_hardtanh, 0},
    {"hardsigmoid", t_hardsigmoid, 1e-3},
    {"sign", t_sign, 0},
    {"step", t_step, 0},
    {"gelu", t_gelu, 6.1e-3},
    {"sigmoid", t_sigmoid, 4e-3},
    {"sigmoid_half", t_half, 1.2e-3},
    {"tanh", tanh, 2.5e-3},
    {"erf", erf, 3e-3},
    {"atan", t_atan2, 7e-4},
    {"atan_far", t_far, 0.05},
    {"selu", t_selu, 2.5e-2},
    {"elu", t_elu, 1.2e-2},
    {"silu", t_silu, 1.5e-2},
    {"softplus", t_softplus, 7.4e-3},
    {"mish", t_mish, 2e-2},
    {"softsign", t_softsign, 2.6e-2},
};

static void test_tables_follow_their_functions(void)
{
    for (size_t i = 0; i < ARRAY_COUNT(errors); i++) {
        struct ane_table table;
        double worst = 0, at = 0;
        CU_ASSERT(ane_table_make(errors[i].name, (double)NAN, &table));
        for (int n = -40960; n <= 40960; n++) {
            const double x = n / 1024.0, y = errors[i].function(x), error = fabs(lookup(&table, x) - y) - 0x1p-10 * fabs(y);
            if (error > worst) {
                worst = error;
                at = x;
            }
        }
        CHECK(worst <= errors[i].allowed, "%s: %g at %g", errors[i].name, worst, at);
        const char *name = ane_table_name(&table);
        CHECK(name && strcmp(name, errors[i].name) == 0, "%s is named %s", errors[i].name, name ? name : "(none)");
    }
}

static void test_mantissa_tables(void)
{
    struct ane_table exp2_table, log2_table, reciprocal, root, rsqrt;
    CU_ASSERT(ane_table_make("exp2", 0, &exp2_table) && ane_table_make("log2", 0, &log2_table));
    CU_ASSERT(ane_table_make("reciprocal", 0, &reciprocal) && ane_table_make("sqrt", 0, &root) &&
              ane_table_make("rsqrt", 0, &rsqrt));
    for (unsigned k = 0; k < ANE_TABLE_KNOTS; k++) {
        const double mantissa = 0.5 + k / 64.0, two_octaves = k / 16.0;
        CU_ASSERT_EQUAL(exp2_table.knot[k], ane_half_bits(pow(2, k / 32.0)));
        CU_ASSERT_EQUAL(log2_table.knot[k], ane_half_bits(log(mantissa) / log(2)));
        CU_ASSERT_EQUAL(reciprocal.knot[k], ane_half_bits(1 / mantissa));
        CU_ASSERT_EQUAL(root.knot[k], k < 8 ? 0 : ane_half_bits(sqrt(two_octaves)));
        CU_ASSERT_EQUAL(rsqrt.knot[k], k < 8 ? 0 : ane_half_bits(pow(two_octaves, -0.5)));
    }
}

static void test_parameters(void)
{
    static const struct {
        const char *name;
        double alpha;
    } with[] = {{"leaky_relu", 0.25}, {"hardtanh", 3}, {"elu", 0.5}, {"hardsigmoid", 0.125}};
    struct ane_table table;
    for (size_t i = 0; i < ARRAY_COUNT(with); i++) {
        CU_ASSERT(ane_table_make(with[i].name, with[i].alpha, &table));
        const char *name = ane_table_name(&table);
        CHECK(name && strcmp(name, with[i].name) == 0, "%s is named %s", with[i].name, name ? name : "(none)");
        CHECK(ane_table_alpha(&table) == with[i].alpha, "%s: alpha %g", with[i].name, ane_table_alpha(&table));
    }
    CU_ASSERT(ane_table_make("tanh", 0, &table) && isnan(ane_table_alpha(&table)));
    CU_ASSERT(!ane_table_make("tan", 0, &table));
}

static void test_every_table_knows_its_name(void)
{
    const char *text = NULL, *name;
    size_t count = 0;
    for (; (name = ane_table_at(count, &text)); count++) {
        uint8_t bytes[2 * ANE_TABLE_HALVES];
        struct ane_table table, back;
        struct isa_error error;
        CU_ASSERT(ane_table_make(name, (double)NAN, &table));
        const char *found = ane_table_name(&table);
        CHECK(found && strcmp(found, name) == 0, "%s is named %s", name, found ? found : "(none)");
        ane_table_write(&table, bytes);
        CU_ASSERT(ane_table_read(bytes, sizeof bytes, &back, &error) && memcmp(&back, &table, sizeof back) == 0);
    }
    CU_ASSERT(count > 20);
}

static void test_spoilt_tables(void)
{
    uint8_t bytes[2 * ANE_TABLE_HALVES];
    struct ane_table table;
    struct isa_error error = {.text = ""};
    CU_ASSERT(ane_table_make("tanh", 0, &table));
    table.knot[9] = (uint16_t)(table.knot[9] + 8);
    CU_ASSERT_PTR_NULL(ane_table_name(&table));
    table.mode = 7;
    ane_table_write(&table, bytes);
    CU_ASSERT(!ane_table_read(bytes, sizeof bytes, &table, &error) && strstr(error.text, "mode 0x7"));
    CU_ASSERT(!ane_table_read(bytes, 127, &table, &error) && strstr(error.text, "127"));
}

static const struct suite_test tests[] = {
    {"tables of public programs are named and written back", test_public_tables_are_named},
    {"made tables have Apple's halfwords", test_made_tables_equal_the_public_ones},
    {"tables follow their functions", test_tables_follow_their_functions},
    {"tables of mantissas hold the function", test_mantissa_tables},
    {"parameters are kept and found", test_parameters},
    {"every table knows its name", test_every_table_knows_its_name},
    {"spoilt tables are refused or have no name", test_spoilt_tables},
};
SUITE_MAIN("ane_table", tests)
