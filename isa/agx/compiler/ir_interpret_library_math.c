/* OpenCL's functions on scalars that are no builtin of the target: computed in double and rounded to their type. */
#include "isa/agx/compiler/ir_interpret_library.h"
#include "isa/agx/compiler/ir_interpret_number.h"

#define EACH_LANE for (unsigned lane = 0; lane < LANES; lane++)

/* ---- floating point ---- */

static double nearest(double x, double y, bool larger)
{
    if (isnan(x) || isnan(y))
        return isnan(x) ? y : x;
    return larger ? (x > y ? x : y) : (x < y ? x : y);
}

static double by_size(double x, double y, bool larger)
{
    if (fabs(x) == fabs(y) || isnan(x) || isnan(y))
        return nearest(x, y, larger);
    return (fabs(x) > fabs(y)) == larger ? x : y;
}

static double trigonometric(enum ir_expansion f, double x, double y)
{
    switch (f) {
    case IR_X_ACOS: return acos(x);
    case IR_X_ACOSH: return acosh(x);
    case IR_X_ACOSPI: return acos(x) / M_PI;
    case IR_X_ASIN: return asin(x);
    case IR_X_ASINH: return asinh(x);
    case IR_X_ASINPI: return asin(x) / M_PI;
    case IR_X_ATAN: return atan(x);
    case IR_X_ATAN2: return atan2(x, y);
    case IR_X_ATAN2PI: return atan2(x, y) / M_PI;
    case IR_X_ATANH: return atanh(x);
    case IR_X_ATANPI: return atan(x) / M_PI;
    case IR_X_COS:
    case IR_X_NATIVE_COS: return cos(x);
    case IR_X_COSH: return cosh(x);
    case IR_X_COSPI: return cos(M_PI * fmod(x, 2));
    case IR_X_SIN:
    case IR_X_NATIVE_SIN: return sin(x);
    case IR_X_SINH: return sinh(x);
    case IR_X_SINPI: return sin(M_PI * fmod(x, 2));
    case IR_X_TAN:
    case IR_X_NATIVE_TAN: return tan(x);
    case IR_X_TANH: return tanh(x);
    default: return tan(M_PI * fmod(x, 1)); /* TANPI */
    }
}

/* As OpenCL defines powr: the power by way of logarithms. */
static double power_of_positive(double x, double y)
{
    const bool unclear = (y == 0 && (x == 0 || isinf(x))) || (x == 1 && isinf(y));
    return x < 0 || isnan(x) || isnan(y) || unclear ? NAN : pow(fabs(x), y);
}

static double exponential(enum ir_expansion f, double x, double y)
{
    switch (f) {
    case IR_X_CBRT: return cbrt(x);
    case IR_X_EXP:
    case IR_X_NATIVE_EXP: return exp(x);
    case IR_X_EXP10:
    case IR_X_NATIVE_EXP10: return pow(10, x);
    case IR_X_EXP2: return exp2(x);
    case IR_X_EXPM1: return expm1(x);
    case IR_X_HYPOT: return hypot(x, y);
    case IR_X_LOG:
    case IR_X_NATIVE_LOG: return log(x);
    case IR_X_LOG10:
    case IR_X_NATIVE_LOG10: return log10(x);
    case IR_X_LOG1P: return log1p(x);
    case IR_X_LOG2: return log2(x);
    case IR_X_LOGB: return logb(x);
    case IR_X_POW: return pow(x, y);
    case IR_X_POWR:
    case IR_X_NATIVE_POWR: return power_of_positive(x, y);
    case IR_X_RSQRT: return 1 / sqrt(x);
    default: return sqrt(x);
    }
}

static double smooth_step(double from, double to, double x)
{
    const double t = fmin(fmax((x - from) / (to - from), 0), 1);
    return t * t * (3 - 2 * t);
}

static double plain(enum ir_expansion f, double x, double y, double z)
{
    switch (f) {
    case IR_X_ABS: return fabs(x);
    case IR_X_CLAMP: return nearest(nearest(x, y, true), z, false);
    case IR_X_COPYSIGN: return copysign(x, y);
    case IR_X_DEGREES: return x * (180 / M_PI);
    case IR_X_RADIANS: return x * (M_PI / 180);
    case IR_X_FDIM: return fdim(x, y);
    case IR_X_FMOD: return fmod(x, y);
    case IR_X_MAXMAG: return by_size(x, y, true);
    case IR_X_MINMAG: return by_size(x, y, false);
    case IR_X_MIX: return x + (y - x) * z;
    case IR_X_NATIVE_DIVIDE: return x / y;
    case IR_X_REMAINDER: return remainder(x, y);
    case IR_X_ROUND: return round(x);
    case IR_X_SIGN: return isnan(x) ? 0 : x > 0 ? 1 : x < 0 ? -1 : x;
    case IR_X_SMOOTHSTEP: return smooth_step(x, y, z);
    case IR_X_STEP: return y < x ? 0 : 1;
    default: return exponential(f, x, y);
    }
}

static bool is_trigonometric(enum ir_expansion f)
{
    return (f >= IR_X_ACOS && f <= IR_X_ATANPI) || (f >= IR_X_COS && f <= IR_X_COSPI) || f == IR_X_NATIVE_COS ||
           f == IR_X_NATIVE_SIN || f == IR_X_NATIVE_TAN || (f >= IR_X_SIN && f <= IR_X_SINPI) ||
           (f >= IR_X_TAN && f <= IR_X_TANPI);
}

/* The next number of the same width towards another. */
static uint64_t next_after(uint64_t x, uint64_t y, unsigned bits)
{
    const double from = number_of(x, bits), to = number_of(y, bits);
    const uint64_t sign = UINT64_C(1) << (bits - 1);
    if (isnan(from) || isnan(to))
        return number_bits(NAN, bits);
    if (from == to)
        return y;
    if (from == 0)
        return (y & sign) | 1;
    return (from < to) == !(x & sign) ? x + 1 : x - 1;
}

static bool relation(enum ir_expansion f, double x, double y, bool negative, bool normal, bool *known)
{
    const bool ordered = !isnan(x) && !isnan(y);
    *known = true;
    switch (f) {
    case IR_X_ISEQUAL: return x == y;
    case IR_X_ISFINITE: return isfinite(x);
    case IR_X_ISGREATER: return ordered && x > y;
    case IR_X_ISGREATEREQUAL: return ordered && x >= y;
    case IR_X_ISINF: return isinf(x);
    case IR_X_ISLESS: return ordered && x < y;
    case IR_X_ISLESSEQUAL: return ordered && x <= y;
    case IR_X_ISLESSGREATER: return ordered && x != y;
    case IR_X_ISNAN: return isnan(x);
    case IR_X_ISNORMAL: return normal;
    case IR_X_ISNOTEQUAL: return !(x == y);
    case IR_X_ISORDERED: return ordered;
    case IR_X_ISUNORDERED: return !ordered;
    case IR_X_SIGNBIT: return negative;
    default: *known = false; return false;
    }
}

static uint64_t expand_float(const struct step *step, uint64_t a, uint64_t b, uint64_t c)
{
    const enum ir_expansion f = (enum ir_expansion)step->which;
    const unsigned bits = step->from;
    const double x = number_of(a, bits), y = number_of(b, bits), z = number_of(c, bits);
    const double least_normal = bits == 32 ? 0x1p-126 : bits == 16 ? 0x1p-14 : 0x1p-1022;
    bool known;
    const bool holds = relation(f, x, y, a >> (bits - 1) & 1, isfinite(x) && fabs(x) >= least_normal, &known);
    if (known)
        return holds ? (step->list & LIBRARY_VECTOR ? step->mask : 1) : 0;
    const double number = (double)(int32_t)b;
    switch (f) {
    case IR_X_BITSELECT: return (a & ~c) | (b & c);
    case IR_X_ILOGB:
        return (uint64_t)(int64_t)(x == 0 ? INT32_MIN : isnan(x) || isinf(x) ? INT32_MAX : (int)logb(x)) & step->mask;
    case IR_X_LDEXP: return number_bits(ldexp(x, (int32_t)b), bits);
    case IR_X_NEXTAFTER: return next_after(a, b, bits);
    case IR_X_POWN: return number_bits(pow(x, number), bits);
    case IR_X_ROOTN: return number_bits(x < 0 && (b & 1) ? -pow(-x, 1 / number) : number == 0 ? NAN : pow(x, 1 / number), bits);
    default: return number_bits(is_trigonometric(f) ? trigonometric(f, x, y) : plain(f, x, y, z), bits);
    }
}

void pure_expand_float(const struct step *step, uint64_t *restrict d, const uint64_t *restrict a, const uint64_t *restrict b,
                       const uint64_t *restrict c)
{
    EACH_LANE
    d[lane] = expand_float(step, a[lane], b[lane], c[lane]);
}

/* ---- parts of a number ---- */

/* Above the whole number below it, but less than one. */
static double fraction_of(double x, unsigned bits)
{
    const double most = bits == 32 ? 0x1.fffffep-1 : bits == 16 ? 0x1.ffcp-1 : 0x1.fffffffffffffp-1, part = x - floor(x);
    return isinf(x) ? 0 : part > most ? most : part;
}

/* What is behind the point, with the sign of the number. */
static double rest_of(double x, unsigned bits)
{
    double whole;
    (void)bits;
    return modf(x, &whole);
}

static double significand_of(double x, unsigned bits)
{
    int exponent;
    (void)bits;
    return frexp(x, &exponent);
}

#define PART(name, function)                                                                                                     \
    void name(const struct step *step, uint64_t *restrict d, const uint64_t *restrict a, const uint64_t *restrict b,             \
              const uint64_t *restrict c)                                                                                        \
    {                                                                                                                            \
        (void)b, (void)c;                                                                                                        \
        EACH_LANE                                                                                                                \
        d[lane] = number_bits(function(number_of(a[lane], step->from), step->from), step->bits);                                 \
    }
PART(pure_fraction, fraction_of)
PART(pure_rest, rest_of)
PART(pure_significand, significand_of)

void pure_exponent(const struct step *step, uint64_t *restrict d, const uint64_t *restrict a, const uint64_t *restrict b,
                   const uint64_t *restrict c)
{
    (void)b, (void)c;
    EACH_LANE
    {
        int exponent = 0;
        const double x = number_of(a[lane], step->from);
        if (isfinite(x))
            (void)frexp(x, &exponent);
        d[lane] = (uint64_t)exponent & step->mask;
    }
}

/* ---- integers ---- */

static __int128 widened(uint64_t x, unsigned bits, bool is_signed)
{
    return is_signed ? (__int128)sign_extended(x, bits) : (__int128)x;
}

static __int128 held_within(__int128 value, unsigned bits, bool is_signed)
{
    const __int128 top = is_signed ? (__int128)(mask_of(bits) >> 1) : (__int128)mask_of(bits), bottom = is_signed ? -top - 1 : 0;
    return value < bottom ? bottom : value > top ? top : value;
}

static __int128 product_and_sum(__int128 x, __int128 y, __int128 z)
{
    __int128 product;
    if (__builtin_mul_overflow(x, y, &product) || __builtin_add_overflow(product, z, &product))
        return (__int128)1 << 126; /* of numbers without sign: beyond all that 64 bits hold */
    return product;
}

static uint64_t expand_integer(const struct step *step, uint64_t a, uint64_t b, uint64_t c)
{
    const unsigned bits = step->from;
    const bool is_signed = step->list & LIBRARY_SIGNED;
    const __int128 x = widened(a, bits, is_signed), y = widened(b, bits, is_signed), z = widened(c, bits, is_signed);
    const unsigned turn = (unsigned)(b % bits);
    switch ((enum ir_expansion)step->which) {
    case IR_X_ABS: return (uint64_t)(x < 0 ? -x : x);
    case IR_X_ABS_DIFF: return (uint64_t)(x > y ? x - y : y - x);
    case IR_X_BITSELECT: return (a & ~c) | (b & c);
    case IR_X_CLAMP: return x < y ? b : x > z ? c : a;
    case IR_X_HADD: return (uint64_t)((x + y) >> 1);
    case IR_X_RHADD: return (uint64_t)((x + y + 1) >> 1);
    case IR_X_MAD24: return a * b + c;
    case IR_X_MAD_HI: return (uint64_t)((is_signed ? x * y >> bits : (__int128)((unsigned __int128)a * b >> bits)) + z);
    case IR_X_MAD_SAT: return (uint64_t)held_within(product_and_sum(x, y, z), bits, is_signed);
    case IR_X_ROTATE: return turn ? a << turn | a >> (bits - turn) : a;
    case IR_X_UPSAMPLE: return a << bits | b;
    default: return number_bits(NAN, step->bits); /* NAN */
    }
}

void pure_expand_integer(const struct step *step, uint64_t *restrict d, const uint64_t *restrict a, const uint64_t *restrict b,
                         const uint64_t *restrict c)
{
    EACH_LANE
    d[lane] = expand_integer(step, a[lane], b[lane], c[lane]) & step->mask;
}

/* Conversions of integers to the nearest that the other type holds. */
void pure_saturate_integer(const struct step *step, uint64_t *restrict d, const uint64_t *restrict a, const uint64_t *restrict b,
                           const uint64_t *restrict c)
{
    (void)b, (void)c;
    EACH_LANE
    d[lane] = (uint64_t)held_within(widened(a[lane], step->from, step->list & LIBRARY_SIGNED), step->bits,
                                    step->list & LIBRARY_TO_SIGNED) &
              step->mask;
}

/* OpenCL's select on scalars takes any number but 0. */
void pure_select_nonzero(const struct step *step, uint64_t *restrict d, const uint64_t *restrict a, const uint64_t *restrict b,
                         const uint64_t *restrict c)
{
    (void)step;
    EACH_LANE
    d[lane] = a[lane] ? b[lane] : c[lane];
}
