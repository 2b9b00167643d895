#include "tests/opencl/opencl_compare.h"

#include "isa/array_count.h"
#include "sim/base/checksum.h"

#include <math.h>
#include <string.h>

enum { OPERANDS = 3 };

static double sinpi(double x)
{
    const double turn = fmod(x, 2);
    return turn == 0 || fabs(turn) == 1 ? copysign(0, x) : sin(M_PI * turn);
}

static double cospi(double x)
{
    const double turn = fmod(fabs(x), 2);
    return turn == 0.5 || turn == 1.5 ? 0 : cos(M_PI * turn);
}

static double tanpi(double x)
{
    return sinpi(x) / cospi(x);
}

static double acospi(double x)
{
    return acos(x) / M_PI;
}

static double asinpi(double x)
{
    return asin(x) / M_PI;
}

static double atanpi(double x)
{
    return atan(x) / M_PI;
}

static double atan2pi(double y, double x)
{
    return atan2(y, x) / M_PI;
}

static double rsqrt(double x)
{
    return 1 / sqrt(x);
}

static double powr(double x, double y)
{
    return x < 0 || (x == 0 && y == 0) || (isinf(x) && y == 0) || (x == 1 && isinf(y)) ? NAN : pow(x, y);
}

static double divide(double x, double y)
{
    return x / y;
}

static double recip(double x)
{
    return 1 / x;
}

static double exp10_(double x)
{
    return pow(10, x);
}

static const struct {
    const char *name;
    double (*one)(double);
    double (*two)(double, double);
    double (*three)(double, double, double);
} functions[] = {
    {"acos", acos, 0, 0},         {"acosh", acosh, 0, 0},   {"acospi", acospi, 0, 0},   {"asin", asin, 0, 0},
    {"asinh", asinh, 0, 0},       {"asinpi", asinpi, 0, 0}, {"atan", atan, 0, 0},       {"atanh", atanh, 0, 0},
    {"atanpi", atanpi, 0, 0},     {"cbrt", cbrt, 0, 0},     {"ceil", ceil, 0, 0},       {"cos", cos, 0, 0},
    {"cosh", cosh, 0, 0},         {"cospi", cospi, 0, 0},   {"erf", erf, 0, 0},         {"erfc", erfc, 0, 0},
    {"exp", exp, 0, 0},           {"exp2", exp2, 0, 0},     {"exp10", exp10_, 0, 0},    {"expm1", expm1, 0, 0},
    {"fabs", fabs, 0, 0},         {"floor", floor, 0, 0},   {"lgamma", lgamma, 0, 0},   {"log", log, 0, 0},
    {"log2", log2, 0, 0},         {"log10", log10, 0, 0},   {"log1p", log1p, 0, 0},     {"logb", logb, 0, 0},
    {"rint", rint, 0, 0},         {"round", round, 0, 0},   {"rsqrt", rsqrt, 0, 0},     {"sin", sin, 0, 0},
    {"sinh", sinh, 0, 0},         {"sinpi", sinpi, 0, 0},   {"sqrt", sqrt, 0, 0},       {"tan", tan, 0, 0},
    {"tanh", tanh, 0, 0},         {"tanpi", tanpi, 0, 0},   {"tgamma", tgamma, 0, 0},   {"trunc", trunc, 0, 0},
    {"recip", recip, 0, 0},       {"atan2", 0, atan2, 0},   {"atan2pi", 0, atan2pi, 0}, {"divide", 0, divide, 0},
    {"fdim", 0, fdim, 0},         {"fmax", 0, fmax, 0},     {"fmin", 0, fmin, 0},       {"fmod", 0, fmod, 0},
    {"hypot", 0, hypot, 0},       {"pow", 0, pow, 0},       {"powr", 0, powr, 0},       {"remainder", 0, remainder, 0},
    {"copysign", 0, copysign, 0}, {"fma", 0, 0, fma},
};

static long function_of(const char *name)
{
    for (size_t i = 0; i < ARRAY_COUNT(functions); i++)
        if (strcmp(functions[i].name, name) == 0)
            return (long)i;
    return -1;
}

bool opencl_has_reference(const struct opencl_case *c)
{
    return c->reference[0] && function_of(c->reference) >= 0;
}

/* ---- distances ---- */

/* A unit in the last place of the type at x. */
static double unit_at(enum opencl_type type, double x)
{
    const int digits = type == OPENCL_HALF ? 10 : 23, least = type == OPENCL_HALF ? -14 : -126;
    const int exponent = x == 0 || !isfinite(x) ? least : ilogb(x);
    return ldexp(1, (exponent < least ? least : exponent) - digits);
}

static double off_by(enum opencl_type type, double expected, double got, double absolute)
{
    const double least = type == OPENCL_HALF ? 0 : 0x1p-125, most = type == OPENCL_HALF ? 65504 : 0x1.fffffep127;
    if ((isnan(expected) && isnan(got)) || expected == got)
        return 0;
    if (fabs(expected) < least && fabs(got) < least) /* too small to be normal, or one rounding from it */
        return 0;
    if (isnan(expected) || isnan(got))
        return INFINITY;
    if (fabs(expected) > most && isinf(got) && signbit(expected) == signbit(got))
        return 0;
    if (isinf(expected) || isinf(got)) /* the largest number is one unit from infinity */
        return fabs(expected) >= most * 0.99999 && fabs(got) >= most * 0.99999 && signbit(expected) == signbit(got) ? 1
                                                                                                                    : INFINITY;
    return fabs(expected - got) <= absolute ? 0 : fabs(expected - got) / unit_at(type, expected);
}

static void worse(struct opencl_off *worst, const struct opencl_off *one)
{
    if (one->units > worst->units)
        *worst = *one;
}

double opencl_value(enum opencl_type type, const uint8_t *at)
{
    uint64_t n = 0;
    const unsigned unused = 64 - 8 * (unsigned)opencl_type_bytes(type);
    if (type >= OPENCL_HALF)
        return opencl_number(type, at);
    memcpy(&n, at, opencl_type_bytes(type));
    return type % 2 ? (double)n : (double)((int64_t)(n << unused) >> unused);
}

static bool written(const struct opencl_arg *a)
{
    return a->use == OPENCL_OUT || a->use == OPENCL_IO;
}

struct opencl_off opencl_compare(const struct opencl_case *c, const struct opencl_result *expected,
                                 const struct opencl_result *got)
{
    struct opencl_off worst = {.units = 0};
    for (unsigned i = 0; i < c->args; i++) {
        const struct opencl_arg *const a = &c->arg[i];
        const size_t size = opencl_type_bytes(a->type);
        for (size_t e = 0; a->start && e < a->count; e++) {
            const uint8_t *const p = expected->out[i] + e * size, *const q = got->out[i] + e * size;
            struct opencl_off one = {INFINITY, i, e, opencl_value(a->type, p), opencl_value(a->type, q)};
            if (opencl_bits(a->type, p) == opencl_bits(a->type, q))
                continue;
            if (a->type >= OPENCL_HALF && (c->ulp > 0 || c->absolute > 0))
                one.units = off_by(a->type, one.expected, one.got, c->absolute);
            worse(&worst, &one);
        }
    }
    return worst;
}

struct opencl_off opencl_compare_exact(const struct opencl_case *c, const struct opencl_result *got)
{
    struct opencl_off worst = {.units = 0};
    const long f = function_of(c->reference);
    const enum opencl_type type = c->arg[0].type;
    for (size_t e = 0; f >= 0 && e < c->arg[0].count; e++) {
        double x[OPERANDS] = {0};
        for (unsigned k = 0; k < OPERANDS && k + 1 < c->args; k++)
            if (c->arg[k + 1].use == OPENCL_IN)
                x[k] = opencl_number(c->arg[k + 1].type, c->arg[k + 1].start + e * opencl_type_bytes(c->arg[k + 1].type));
        const double exact = functions[f].one   ? functions[f].one(x[0])
                             : functions[f].two ? functions[f].two(x[0], x[1])
                                                : functions[f].three(x[0], x[1], x[2]);
        struct opencl_off one = {0, 0, e, exact, opencl_number(type, got->out[0] + e * opencl_type_bytes(type))};
        one.units = off_by(type, exact, one.got, c->absolute);
        worse(&worst, &one);
    }
    return worst;
}

uint64_t opencl_hash(const struct opencl_case *c, const struct opencl_result *result)
{
    uint64_t hash = CHECKSUM_START;
    for (unsigned i = 0; i < c->args; i++)
        for (size_t e = 0; written(&c->arg[i]) && e < c->arg[i].count; e++) {
            const uint64_t bits = opencl_bits(c->arg[i].type, result->out[i] + e * opencl_type_bytes(c->arg[i].type));
            hash = checksum_add(hash, &bits, sizeof bits);
        }
    return hash;
}
