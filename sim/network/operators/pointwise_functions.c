#include "sim/network/operators/pointwise_functions.h"

#include <math.h>
#include <stdbool.h>

#define P(n) parameter[n]
#define REAL(name, expression)                                                                                                   \
    void net_real_##name(const double *const *in, double *out, size_t count, const double *parameter)                            \
    {                                                                                                                            \
        (void)parameter;                                                                                                         \
        for (size_t i = 0; i < count; i++) {                                                                                     \
            const double a = in[0][i];                                                                                           \
            out[i] = (expression);                                                                                               \
        }                                                                                                                        \
    }
#define REAL2(name, expression)                                                                                                  \
    void net_real_##name(const double *const *in, double *out, size_t count, const double *parameter)                            \
    {                                                                                                                            \
        (void)parameter;                                                                                                         \
        for (size_t i = 0; i < count; i++) {                                                                                     \
            const double a = in[0][i], b = in[1][i];                                                                             \
            out[i] = (expression);                                                                                               \
        }                                                                                                                        \
    }
#define REAL3(name, expression)                                                                                                  \
    void net_real_##name(const double *const *in, double *out, size_t count, const double *parameter)                            \
    {                                                                                                                            \
        (void)parameter;                                                                                                         \
        for (size_t i = 0; i < count; i++) {                                                                                     \
            const double a = in[0][i], b = in[1][i], c = in[2][i];                                                               \
            out[i] = (expression);                                                                                               \
        }                                                                                                                        \
    }

static double gelu(double x, bool by_tanh)
{
    const double inner = 0.79788456080286535588 * (x + 0.044715 * x * x * x); /* sqrt(2 / pi) */
    return by_tanh ? 0.5 * x * (1 + tanh(inner)) : 0.5 * x * (1 + erf(x * 0.70710678118654752440));
}

static double softplus(double x)
{
    return fmax(x, 0) + log1p(exp(-fabs(x)));
}

static double hard_sigmoid(double x, double alpha, double beta)
{
    return fmax(0, fmin(1, alpha * x + beta));
}

/* Of floored division, as Python has it, unless the remainder of C is asked for. */
static double modulo(double a, double b, bool as_c)
{
    const double rest = fmod(a, b);
    return !as_c && rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

REAL(identity, a);
REAL(abs, fabs(a));
REAL(acos, acos(a));
REAL(acosh, acosh(a));
REAL(asin, asin(a));
REAL(asinh, asinh(a));
REAL(atan, atan(a));
REAL(atanh, atanh(a));
REAL(ceil, ceil(a));
REAL(cos, cos(a));
REAL(cosh, cosh(a));
REAL(elu, a < 0 ? P(0) * expm1(a) : a);
REAL(erf, erf(a));
REAL(exp, exp(a));
REAL(floor, floor(a));
REAL(gelu, gelu(a, P(0) != 0));
REAL(hard_sigmoid, hard_sigmoid(a, P(0), P(1)));
REAL(hard_swish, a *hard_sigmoid(a, 1.0 / 6, 0.5));
REAL(is_inf, isinf(a) && (a > 0 ? P(1) : P(0)) != 0);
REAL(is_nan, isnan(a));
REAL(leaky_relu, a < 0 ? P(0) * a : a);
REAL(log, log(a));
REAL(mish, a *tanh(softplus(a)));
REAL(neg, -a);
REAL(reciprocal, 1 / a);
REAL(relu, a < 0 ? 0 : a);
REAL(round, nearbyint(a));
REAL(selu, P(1) * (a < 0 ? P(0) * expm1(a) : a));
REAL(celu, fmax(0, a) + fmin(0, P(0) * expm1(a / P(0))));
REAL(shrink, a<-P(0) ? a + P(1) : a> P(0) ? a - P(1) : 0);
REAL(sigmoid, 1 / (1 + exp(-a)));
REAL(sign, isnan(a) ? a : (a > 0) - (a < 0));
REAL(sin, sin(a));
REAL(sinh, sinh(a));
REAL(softplus, softplus(a));
REAL(softsign, a / (1 + fabs(a)));
REAL(sqrt, sqrt(a));
REAL(swish, a / (1 + exp(-P(0) * a)));
REAL(tan, tan(a));
REAL(tanh, tanh(a));
REAL(thresholded_relu, a > P(0) ? a : 0);
REAL2(add, a + b);
REAL2(sub, a - b);
REAL2(mul, a *b);
REAL2(div, a / b);
REAL2(mod, modulo(a, b, P(0) != 0));
REAL2(pow, pow(a, b));
REAL2(prelu, a < 0 ? a * b : a);
REAL2(max, isnan(a) || a > b ? a : b);
REAL2(min, isnan(a) || a < b ? a : b);
REAL2(equal, a == b);
REAL2(greater, a > b);
REAL2(greater_equal, a >= b);
REAL2(less, a < b);
REAL2(less_equal, a <= b);
REAL3(where, a != 0 ? b : c);
REAL3(clip, a<b ? (b > c ? c : b) : a> c ? c : a);

#define INTEGER(prefix, name, expression)                                                                                        \
    void net_##prefix##_##name(const int64_t *const *in, int64_t *out, size_t count, const double *parameter)                    \
    {                                                                                                                            \
        (void)parameter;                                                                                                         \
        for (size_t i = 0; i < count; i++) {                                                                                     \
            const int64_t a = in[0][i];                                                                                          \
            out[i] = (int64_t)(expression);                                                                                      \
        }                                                                                                                        \
    }
#define INTEGER2(prefix, name, expression)                                                                                       \
    void net_##prefix##_##name(const int64_t *const *in, int64_t *out, size_t count, const double *parameter)                    \
    {                                                                                                                            \
        (void)parameter;                                                                                                         \
        for (size_t i = 0; i < count; i++) {                                                                                     \
            const int64_t a = in[0][i], b = in[1][i];                                                                            \
            out[i] = (int64_t)(expression);                                                                                      \
        }                                                                                                                        \
    }
#define INTEGER3(prefix, name, expression)                                                                                       \
    void net_##prefix##_##name(const int64_t *const *in, int64_t *out, size_t count, const double *parameter)                    \
    {                                                                                                                            \
        (void)parameter;                                                                                                         \
        for (size_t i = 0; i < count; i++) {                                                                                     \
            const int64_t a = in[0][i], b = in[1][i], c = in[2][i];                                                              \
            out[i] = (int64_t)(expression);                                                                                      \
        }                                                                                                                        \
    }
#define U(x) ((uint64_t)(x))

/* Divisions by zero give zero: hardware decides, and no network means one. */
static int64_t divide(int64_t a, int64_t b)
{
    return b == 0 ? 0 : b == -1 ? (int64_t)-U(a) : a / b;
}

static int64_t remainder_of(int64_t a, int64_t b, bool as_c)
{
    const int64_t rest = b == 0 || b == -1 ? 0 : a % b;
    return !as_c && rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

static uint64_t power(uint64_t base, int64_t exponent)
{
    uint64_t result = 1;
    if (exponent < 0)
        return base == 1 ? 1 : base == U(-1) ? (exponent & 1 ? U(-1) : 1) : 0;
    for (; exponent; exponent >>= 1, base *= base)
        if (exponent & 1)
            result *= base;
    return result;
}

static uint64_t shift(uint64_t a, uint64_t by, bool left)
{
    return by > 63 ? 0 : left ? a << by : a >> by;
}

INTEGER(integer, identity, a);
INTEGER(integer, abs, a < 0 ? -U(a) : U(a));
INTEGER(integer, neg, -U(a));
INTEGER(integer, sign, (a > 0) - (a < 0));
INTEGER(integer, relu, a < 0 ? 0 : a);
INTEGER(integer, not, !a);
INTEGER(integer, bit_not, ~a);
INTEGER2(integer, add, U(a) + U(b));
INTEGER2(integer, sub, U(a) - U(b));
INTEGER2(integer, mul, U(a) * U(b));
INTEGER2(integer, div, divide(a, b));
INTEGER2(integer, mod, remainder_of(a, b, P(0) != 0));
INTEGER2(integer, pow, power(U(a), b));
INTEGER2(integer, max, a > b ? a : b);
INTEGER2(integer, min, a < b ? a : b);
INTEGER2(integer, and, a &&b);
INTEGER2(integer, or, a || b);
INTEGER2(integer, xor, !a != !b);
INTEGER2(integer, bit_and, a &b);
INTEGER2(integer, bit_or, a | b);
INTEGER2(integer, bit_xor, a ^ b);
INTEGER2(integer, shift, shift(U(a), U(b), P(0) != 0));
INTEGER2(integer, equal, a == b);
INTEGER2(integer, greater, a > b);
INTEGER2(integer, greater_equal, a >= b);
INTEGER2(integer, less, a < b);
INTEGER2(integer, less_equal, a <= b);
INTEGER2(integer, prelu, a < 0 ? U(a) * U(b) : U(a));
INTEGER3(integer, where, a ? b : c);
INTEGER3(integer, clip, a<b ? (b > c ? c : b) : a> c ? c : a);
INTEGER2(wide, div, b ? U(a) / U(b) : 0);
INTEGER2(wide, mod, b ? U(a) % U(b) : 0);
INTEGER2(wide, max, U(a) > U(b) ? a : b);
INTEGER2(wide, min, U(a) < U(b) ? a : b);
INTEGER2(wide, greater, U(a) > U(b));
INTEGER2(wide, greater_equal, U(a) >= U(b));
INTEGER2(wide, less, U(a) < U(b));
INTEGER2(wide, less_equal, U(a) <= U(b));
INTEGER3(wide, clip, U(a) < U(b) ? (U(b) > U(c) ? c : b) : U(a) > U(c) ? c : a);
