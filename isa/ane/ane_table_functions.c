/* The functions of the library of activation tables, whose rows stand in ane_functions.inc. */
#include "isa/ane/ane_half.h"
#include "isa/ane/ane_table_functions.h"
#include "isa/array_count.h"

#define NONE       ((double)NAN)
#define ENDLESS    ((double)INFINITY)
#define LINE(s, i) ANE_EDGE_LINE, s, i
#define CHORD      ANE_EDGE_CHORD, 0, 0
#define NO_ALPHA   (double)NAN
#define TAILS      ANE_TABLE_TAILS
#define NO_CHANGE  NULL, NULL

/* alpha and lambda of Klambauer et al., Self-Normalizing Neural Networks, in the digits that give the public table. */
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

/* Rounds to fp16 toward zero. */
static double half_cut(double value)
{
    const uint16_t bits = ane_half_bits(value);
    return ane_half_value(fabs(ane_half_value(bits)) > fabs(value) ? (uint16_t)(bits - 1) : bits);
}

/* Rounded as in selu, of which it is a part. This is a guess: no public program has elu. */
static double of_elu(double x, double alpha)
{
    return x > 0 ? x : half_cut(alpha * expm1(x));
}

/* Rounded toward zero, then scaled by the rounded constant; this gives every knot of the public table. */
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
#define ANE_FUNCTION(name, text, mode, spacing, kind, function, ...)                                                             \
    {name, text, ANE_TABLE_##mode, spacing, ANE_KNOTS_##kind, of_##function, __VA_ARGS__},
#include "isa/ane/ane_functions.inc"
#undef ANE_FUNCTION
};

const struct ane_table_function *ane_table_function_at(size_t index)
{
    return index < ARRAY_COUNT(functions) ? &functions[index] : NULL;
}
