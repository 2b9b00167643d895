/* Functions of elements in double precision, and how far float32 code may be from them. */
#include "units/routines/operations.h"

#include <math.h>

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

static double softplus(double x)
{
    return fmax(x, 0) + log1p(exp(-fabs(x)));
}

static double of_one(enum kernel_function function, double x, double alpha)
{
    switch (function) {
    case KERNEL_RELU: return fmax(x, 0);
    case KERNEL_RELU6: return fmin(fmax(x, 0), 6);
    case KERNEL_LEAKY_RELU: return x > 0 ? x : x * (double)(alpha != 0 ? (float)alpha : 0.01F);
    case KERNEL_GELU: return x * erfc(-x * 0.70710678118654752) / 2;
    case KERNEL_GELU_TANH: return x * sigmoid(2 * 0.79788456080286536 * (x + 0.044715 * x * x * x));
    case KERNEL_SILU: return x * sigmoid(x);
    case KERNEL_SIGMOID: return sigmoid(x);
    case KERNEL_TANH: return tanh(x);
    case KERNEL_ELU: return x > 0 ? x : (alpha != 0 ? (double)(float)alpha : 1) * expm1(x);
    case KERNEL_SELU: return 1.0507009873554805 * (x > 0 ? x : 1.6732632423543773 * expm1(x));
    case KERNEL_SOFTPLUS: return softplus(x);
    case KERNEL_SOFTSIGN: return x / (1 + fabs(x));
    case KERNEL_MISH: return x * tanh(softplus(x));
    case KERNEL_HARD_SIGMOID: return fmin(fmax(x + 3, 0), 6) / 6;
    case KERNEL_HARD_SWISH: return x * fmin(fmax(x + 3, 0), 6) / 6;
    case KERNEL_EXP: return exp(x);
    case KERNEL_EXP2: return exp2(x);
    case KERNEL_LOG: return log(x);
    case KERNEL_LOG2: return log2(x);
    case KERNEL_SQRT: return sqrt(x);
    case KERNEL_RSQRT: return 1 / sqrt(x);
    case KERNEL_RCP: return 1 / x;
    case KERNEL_ABS: return fabs(x);
    case KERNEL_NEG: return -x;
    case KERNEL_SQUARE: return x * x;
    case KERNEL_ERF: return erf(x);
    case KERNEL_SIN: return sin(x);
    case KERNEL_COS: return cos(x);
    case KERNEL_FLOOR: return floor(x);
    case KERNEL_CEIL: return ceil(x);
    case KERNEL_ROUND: return rint(x);
    default: return trunc(x);
    }
}

double function_value(enum kernel_function function, double x, double y, double alpha)
{
    switch (function) {
    case KERNEL_ADD: return x + y;
    case KERNEL_SUB: return x - y;
    case KERNEL_MUL: return x * y;
    case KERNEL_DIV: return x / y;
    case KERNEL_MAX: return fmax(x, y);
    case KERNEL_MIN: return fmin(x, y);
    case KERNEL_POW: return pow(x, y);
    default: return of_one(function, x, alpha);
    }
}

/* The larger of two differences, with a margin for bent functions. */
double function_carried(enum kernel_function f, double x, double y, double alpha, double value, double error)
{
    const double above = fabs(function_value(f, x + error, y, alpha) - value);
    const double below = fabs(function_value(f, x - error, y, alpha) - value);
    return error > 0 ? 1.01 * fmax(above, below) : 0;
}

/* Units of 2^-24 of |f|, of |x|, and of 1. ORDER: enum kernel_function. */
static const struct bound {
    double relative, argument, absolute;
} bounds[KERNEL_FUNCTIONS] = {
    [KERNEL_RELU] = {0, 0, 0},    [KERNEL_RELU6] = {0, 0, 0},        [KERNEL_LEAKY_RELU] = {1, 0, 0},
    [KERNEL_GELU] = {0, 8, 0},    [KERNEL_GELU_TANH] = {0, 8, 0},    [KERNEL_SILU] = {8, 0, 0},
    [KERNEL_SIGMOID] = {8, 0, 0}, [KERNEL_TANH] = {8, 0, 0},         [KERNEL_ELU] = {8, 0, 0},
    [KERNEL_SELU] = {8, 0, 0},    [KERNEL_SOFTPLUS] = {8, 0, 0},     [KERNEL_SOFTSIGN] = {3, 0, 0},
    [KERNEL_MISH] = {8, 0, 0},    [KERNEL_HARD_SIGMOID] = {3, 0, 3}, [KERNEL_HARD_SWISH] = {3, 3, 0},
    [KERNEL_EXP] = {3, 0, 0},     [KERNEL_EXP2] = {3, 0, 0},         [KERNEL_LOG] = {4, 0, 0},
    [KERNEL_LOG2] = {4, 0, 0},    [KERNEL_SQRT] = {1, 0, 0},         [KERNEL_RSQRT] = {3, 0, 0},
    [KERNEL_RCP] = {1, 0, 0},     [KERNEL_ABS] = {0, 0, 0},          [KERNEL_NEG] = {0, 0, 0},
    [KERNEL_SQUARE] = {1, 0, 0},  [KERNEL_ERF] = {0, 0, 8},          [KERNEL_SIN] = {0, 0, 8},
    [KERNEL_COS] = {0, 0, 8},     [KERNEL_FLOOR] = {0, 0, 0},        [KERNEL_CEIL] = {0, 0, 0},
    [KERNEL_ROUND] = {0, 0, 0},   [KERNEL_TRUNC] = {0, 0, 0},        [KERNEL_ADD] = {1, 0, 0},
    [KERNEL_SUB] = {1, 0, 0},     [KERNEL_MUL] = {1, 0, 0},          [KERNEL_DIV] = {1, 0, 0},
    [KERNEL_MAX] = {0, 0, 0},     [KERNEL_MIN] = {0, 0, 0},          [KERNEL_POW] = {8, 0, 0},
};

double function_error(enum kernel_function function, double x, double y, double value)
{
    const struct bound *const b = &bounds[function];
    const double more = function == KERNEL_POW && x > 0 ? 8 * fabs(y * log2(x)) : 0;
    return 0x1p-24 * ((b->relative + more) * fabs(value) + b->argument * fabs(x) + b->absolute) + 0x1p-126;
}
