/* The rows of the table library. Shapes (mode, spacing, clamps) of those that public programs hold are theirs (eiln/ane kernels,
 * sigmoid: tinygrad ops/sigmoid.hwx); the others follow the same pattern and are marked as chosen. */
#include "isa/ane/ane_half.h"
#include "isa/ane/ane_table_functions.h"
#include "isa/array_count.h"

#define NONE       ((double)NAN)
#define ENDLESS    ((double)INFINITY)
#define LINE(s, i) ANE_EDGE_LINE, s, i
#define CHORD      ANE_EDGE_CHORD, 0, 0
#define NO_ALPHA   (double)NAN
#define NO_CHANGE  NULL, NULL

/* Klambauer et al., Self-Normalizing Neural Networks: alpha and lambda, in the digits that give the public table. */
static const double selu_alpha = 1.6733, selu_scale = 1.0507;

static double of_zero(double x, double alpha)
{
    (void)x, (void)alpha;
    return 0;
}

static double of_tanh(double x, double alpha)
{
    (void)alpha;
    return tanh(x);
}

static double of_sigmoid(double x, double alpha)
{
    (void)alpha;
    return 1 / (1 + exp(-x));
}

static double of_sigmoid_half(double x, double alpha)
{
    (void)alpha;
    return 0.5 * tanh(0.5 * x);
}

static double of_atan(double x, double alpha)
{
    (void)alpha;
    return atan(x);
}

static double of_atan_far(double x, double alpha)
{
    (void)alpha;
    return atan(x) - atan(2);
}

static double of_erf(double x, double alpha)
{
    (void)alpha;
    return erf(x);
}

static double of_softsign(double x, double alpha)
{
    (void)alpha;
    return x / (1 + fabs(x));
}

static double of_gelu(double x, double alpha)
{
    (void)alpha;
    return 0.5 * x * erfc(-x * sqrt(0.5));
}

static double of_silu(double x, double alpha)
{
    return x * of_sigmoid(x, alpha);
}

static double of_softplus(double x, double alpha)
{
    (void)alpha;
    return fmax(x, 0) + log1p(exp(-fabs(x)));
}

static double of_mish(double x, double alpha)
{
    return x * tanh(of_softplus(x, alpha));
}

/* Toward zero, to fp16. */
static double half_cut(double value)
{
    const uint16_t bits = ane_half_bits(value);
    return ane_half_value(fabs(ane_half_value(bits)) > fabs(value) ? (uint16_t)(bits - 1) : bits);
}

/* Cut as in selu, of which it is a part (a guess: no public program has elu). */
static double of_elu(double x, double alpha)
{
    return x > 0 ? x : half_cut(alpha * expm1(x));
}

/* Cut, then scaled by the rounded constant: this gives every knot of the public table. */
static double of_selu(double x, double alpha)
{
    (void)alpha;
    return ane_half_round(selu_scale) * half_cut(selu_alpha * expm1(x));
}

static double of_exp2(double x, double alpha)
{
    (void)alpha;
    return exp2(x);
}

static double of_log2(double x, double alpha)
{
    (void)alpha;
    return log2(x);
}

static double of_reciprocal(double x, double alpha)
{
    (void)alpha;
    return 1 / x;
}

static double of_sqrt(double x, double alpha)
{
    (void)alpha;
    return x < 0.5 ? 0 : sqrt(x); /* below the range that is looked up */
}

static double of_rsqrt(double x, double alpha)
{
    (void)alpha;
    return x < 0.5 ? 0 : 1 / sqrt(x);
}

/* ---- functions with a parameter ---- */

static void set_leak(double alpha, struct ane_table *table)
{
    table->left_slope = ane_half_bits(alpha);
}

static double find_leak(const struct ane_table *table)
{
    return ane_half_value(table->left_slope);
}

static void set_bound(double alpha, struct ane_table *table)
{
    table->high = table->above = ane_half_bits(alpha);
    table->low = table->below = ane_half_bits(-alpha);
}

static double find_bound(const struct ane_table *table)
{
    return ane_half_value(table->above);
}

static void set_hardsigmoid(double alpha, struct ane_table *table)
{
    table->left_slope = table->right_slope = ane_half_bits(alpha);
    table->low = ane_half_bits(-0.5 / alpha);
    table->high = ane_half_bits(0.5 / alpha);
}

static void set_elu(double alpha, struct ane_table *table)
{
    table->below = table->left_intercept = ane_half_bits(-alpha);
}

static double find_elu(const struct ane_table *table)
{
    return -ane_half_value(table->below);
}

static const struct ane_table_function functions[] = {
    /* as in public programs */
    {"relu",
     "max(x, 0)",
     ANE_TABLE_CENTRED,
     ANE_TABLE_TAILS,
     ANE_KNOTS_NONE,
     of_zero,
     NO_ALPHA,
     {0, 0, LINE(1, 0)},
     {ENDLESS, ENDLESS, LINE(1, 0)},
     NO_CHANGE},
    {"relu6",
     "min(max(x, 0), 6)",
     ANE_TABLE_CENTRED,
     ANE_TABLE_TAILS,
     ANE_KNOTS_NONE,
     of_zero,
     NO_ALPHA,
     {0, 0, LINE(1, 0)},
     {6, 6, LINE(1, 0)},
     NO_CHANGE},
    {"leaky_relu",
     "x, alpha * x below 0",
     ANE_TABLE_CENTRED,
     ANE_TABLE_TAILS,
     ANE_KNOTS_NONE,
     of_zero,
     0.01,
     {-ENDLESS, -ENDLESS, LINE(0.01, 0)},
     {ENDLESS, ENDLESS, LINE(1, 0)},
     set_leak,
     find_leak},
    {"hardtanh",
     "x between -alpha and alpha",
     ANE_TABLE_CENTRED,
     ANE_TABLE_TAILS,
     ANE_KNOTS_NONE,
     of_zero,
     1,
     {-1, -1, LINE(1, 0)},
     {1, 1, LINE(1, 0)},
     set_bound,
     find_bound},
    {"step",
     "1 above 0, else 0",
     ANE_TABLE_CENTRED,
     ANE_TABLE_TAILS,
     ANE_KNOTS_NONE,
     of_zero,
     NO_ALPHA,
     {-0x1p-24, 0, LINE(0, 0)},
     {0x1p-24, 1, LINE(0, 1)},
     NO_CHANGE},
    {"sign",
     "-1, 0, 1",
     ANE_TABLE_ODD,
     ANE_TABLE_TAILS,
     ANE_KNOTS_NONE,
     of_zero,
     NO_ALPHA,
     {0, 0, LINE(0, 0)},
     {1, 1, LINE(0, 1)},
     NO_CHANGE},
    {"selu",
     "scaled exponential linear unit",
     ANE_TABLE_RIGHT,
     2,
     ANE_KNOTS_SAMPLED,
     of_selu,
     NO_ALPHA,
     {-8, -1.7580993408473766, LINE(0, -1.7580993408473766)},
     {ENDLESS, ENDLESS, LINE(1.0507009873554805, 0)},
     NO_CHANGE},
    {"gelu",
     "x * normal distribution(x)",
     ANE_TABLE_CENTRED,
     2,
     ANE_KNOTS_FITTED,
     of_gelu,
     NO_ALPHA,
     {-4.3984375, 0, LINE(0, 0)},
     {ENDLESS, ENDLESS, LINE(1, 0)},
     NO_CHANGE},
    {"sigmoid",
     "1 / (1 + e^-x)",
     ANE_TABLE_CENTRED,
     1,
     ANE_KNOTS_SAMPLED,
     of_sigmoid,
     NO_ALPHA,
     {-9.9375, 0, CHORD},
     {8.3203125, 1, CHORD},
     NO_CHANGE},
    {"sigmoid_half",
     "sigmoid - 0.5",
     ANE_TABLE_ODD,
     2,
     ANE_KNOTS_SAMPLED,
     of_sigmoid_half,
     NO_ALPHA,
     {-1, 0, LINE(0, 0)},
     {10, 0.5, CHORD},
     NO_CHANGE},
    {"tanh", "", ANE_TABLE_ODD, 3, ANE_KNOTS_SAMPLED, of_tanh, NO_ALPHA, {0, 0, LINE(0, 0)}, {4, 1, LINE(0, 1)}, NO_CHANGE},
    {"atan",
     "up to |x| = 2, constant beyond",
     ANE_TABLE_ODD,
     4,
     ANE_KNOTS_SAMPLED,
     of_atan,
     NO_ALPHA,
     {0, 0, LINE(1, 0)},
     {2, NONE, LINE(0, 1.1071487177940904)},
     NO_CHANGE},
    /* The intercept of the public table is the last knot itself (0.448), not the line's value at 0. */
    {"atan_far",
     "atan - atan 2 beyond |x| = 2, else 0",
     ANE_TABLE_ODD,
     -1,
     ANE_KNOTS_SAMPLED,
     of_atan_far,
     NO_ALPHA,
     {2, 0, LINE(0, 0)},
     {2000, NONE, LINE(7.808208465576172e-06, 0.447998046875)},
     NO_CHANGE},
    {"exp2",
     "2^x",
     ANE_TABLE_EXP2,
     5,
     ANE_KNOTS_MANTISSA,
     of_exp2,
     NO_ALPHA,
     {-25, 0, LINE(0, 0)},
     {16, ENDLESS, LINE(0, 0)},
     NO_CHANGE},
    {"log2",
     "",
     ANE_TABLE_LOG2,
     6,
     ANE_KNOTS_MANTISSA,
     of_log2,
     NO_ALPHA,
     {0, -ENDLESS, LINE(0, 0)},
     {ENDLESS, 0, LINE(0, 0)},
     NO_CHANGE},
    {"reciprocal",
     "1 / x",
     ANE_TABLE_RECIPROCAL,
     6,
     ANE_KNOTS_MANTISSA,
     of_reciprocal,
     NO_ALPHA,
     {0, ENDLESS, LINE(0, 0)},
     {ENDLESS, 0, LINE(0, 0)},
     NO_CHANGE},
    {"sqrt",
     "",
     ANE_TABLE_SQRT,
     4,
     ANE_KNOTS_MANTISSA,
     of_sqrt,
     NO_ALPHA,
     {0, 0, LINE(0, 0)},
     {ENDLESS, ENDLESS, LINE(0, 0)},
     NO_CHANGE},
    {"rsqrt",
     "1 / sqrt(x)",
     ANE_TABLE_RSQRT,
     4,
     ANE_KNOTS_MANTISSA,
     of_rsqrt,
     NO_ALPHA,
     {0, ENDLESS, LINE(0, 0)},
     {ENDLESS, 0, LINE(0, 0)},
     NO_CHANGE},
    /* Bits 0x60 of the mode: odd, so the integer part is that toward zero; either reading gives ceil.bin its result. */
    {"fraction",
     "x - trunc(x)",
     ANE_TABLE_FRACTION,
     0,
     ANE_KNOTS_MANTISSA,
     of_zero,
     NO_ALPHA,
     {-ENDLESS, 0, LINE(0, 0)},
     {ENDLESS, 0, LINE(0, 0)},
     NO_CHANGE},
    {"integer",
     "trunc(x)",
     ANE_TABLE_INTEGER,
     5,
     ANE_KNOTS_MANTISSA,
     of_zero,
     NO_ALPHA,
     {-ENDLESS, -ENDLESS, LINE(0, 0)},
     {ENDLESS, ENDLESS, LINE(0, 0)},
     NO_CHANGE},
    /* chosen: in no public program; spacing and tails for the smallest error overall */
    {"elu",
     "x, alpha * (e^x - 1) below 0",
     ANE_TABLE_RIGHT,
     2,
     ANE_KNOTS_SAMPLED,
     of_elu,
     1,
     {-8, -1, LINE(0, -1)},
     {ENDLESS, ENDLESS, LINE(1, 0)},
     set_elu,
     find_elu},
    {"hardsigmoid",
     "alpha * x + 0.5 between 0 and 1",
     ANE_TABLE_CENTRED,
     ANE_TABLE_TAILS,
     ANE_KNOTS_NONE,
     of_zero,
     0.2,
     {-2.5, 0, LINE(0.2, 0.5)},
     {2.5, 1, LINE(0.2, 0.5)},
     set_hardsigmoid,
     find_leak},
    {"silu",
     "x * sigmoid(x)",
     ANE_TABLE_CENTRED,
     1,
     ANE_KNOTS_FITTED,
     of_silu,
     NO_ALPHA,
     {-9.9375, 0, CHORD},
     {ENDLESS, ENDLESS, LINE(1, 0)},
     NO_CHANGE},
    {"softplus",
     "log(1 + e^x)",
     ANE_TABLE_CENTRED,
     1,
     ANE_KNOTS_FITTED,
     of_softplus,
     NO_ALPHA,
     {-9.9375, 0, CHORD},
     {ENDLESS, ENDLESS, LINE(1, 0)},
     NO_CHANGE},
    {"mish",
     "x * tanh(softplus(x))",
     ANE_TABLE_CENTRED,
     2,
     ANE_KNOTS_FITTED,
     of_mish,
     NO_ALPHA,
     {-6.75, 0, CHORD},
     {ENDLESS, ENDLESS, LINE(1, 0)},
     NO_CHANGE},
    {"softsign",
     "x / (1 + |x|)",
     ANE_TABLE_ODD,
     2,
     ANE_KNOTS_FITTED,
     of_softsign,
     NO_ALPHA,
     {0, 0, LINE(0, 0)},
     {32, 0.98, CHORD},
     NO_CHANGE},
    {"erf",
     "error function",
     ANE_TABLE_ODD,
     3,
     ANE_KNOTS_SAMPLED,
     of_erf,
     NO_ALPHA,
     {0, 0, LINE(0, 0)},
     {4, 1, LINE(0, 1)},
     NO_CHANGE},
};

const struct ane_table_function *ane_table_function_at(size_t index)
{
    return index < ARRAY_COUNT(functions) ? &functions[index] : NULL;
}
