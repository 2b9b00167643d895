/* Floating-point operations on all lanes. Sums, products, quotients and roots of halves and of f32 are computed in double and
 * rounded again, which is the same as rounding once: 53 bits are at least 2 * 24 + 2 (S. A. Figueroa, When is double rounding
 * innocuous?, 1995). */
#include "isa/agx/compiler/ir_interpret_number.h"
#include "isa/agx/compiler/ir_interpret_parts.h"

#include <stddef.h>

#define EACH_LANE for (unsigned lane = 0; lane < LANES; lane++)

#define PURE(name)                                                                                                               \
    static void name(const struct step *step, uint64_t *restrict d, const uint64_t *restrict a, const uint64_t *restrict b,      \
                     const uint64_t *restrict c)

#define LEAST_NORMAL 0x1p-126

/* ---- f32 with subnormals flushed, as AGX does: what goes in, and what comes out, judged before it is rounded ---- */

static uint64_t flushed(uint64_t bits)
{
    return (bits & 0x7f800000) == 0 ? bits & 0x80000000 : bits;
}

/* The result `bits` of what in truth is at most half a step away from `exact`. */
static uint64_t flush_result(uint64_t bits, double exact)
{
    return fabs(exact) < LEAST_NORMAL ? bits & 0x80000000 : flushed(bits);
}

/* ---- two operands ---- */

enum float_op { OP_ADD, OP_SUB, OP_MUL, OP_DIV, OP_REM, OP_MIN, OP_MAX };

static inline double least(double x, double y)
{
    return isnan(x) ? y : isnan(y) || x < y ? x : y;
}

static inline double most(double x, double y)
{
    return isnan(x) ? y : isnan(y) || x > y ? x : y;
}

static inline double compute(enum float_op op, double x, double y)
{
    switch (op) {
    case OP_ADD: return x + y;
    case OP_SUB: return x - y;
    case OP_MUL: return x * y;
    case OP_DIV: return x / y;
    case OP_REM: return fmod(x, y);
    case OP_MIN: return least(x, y);
    default: return most(x, y);
    }
}

static inline void two_operands(enum float_op op, const struct step *step, uint64_t *restrict d, const uint64_t *restrict a,
                                const uint64_t *restrict b)
{
    const unsigned bits = step->bits;
    if (bits != 32) {
        EACH_LANE
        d[lane] = number_bits(compute(op, number_of(a[lane], bits), number_of(b[lane], bits)), bits);
    } else if (!step->flush || op == OP_MIN || op == OP_MAX) {
        EACH_LANE
        d[lane] = number_bits(compute(op, number_of(a[lane], 32), number_of(b[lane], 32)), 32);
    } else {
        EACH_LANE
        {
            const double exact = compute(op, number_of(flushed(a[lane]), 32), number_of(flushed(b[lane]), 32));
            d[lane] = flush_result(number_bits(exact, 32), exact);
        }
    }
}

#define TWO_OPERANDS(name, op)                                                                                                   \
    PURE(name)                                                                                                                   \
    {                                                                                                                            \
        (void)c;                                                                                                                 \
        two_operands(op, step, d, a, b);                                                                                         \
    }
TWO_OPERANDS(float_add, OP_ADD)
TWO_OPERANDS(float_sub, OP_SUB)
TWO_OPERANDS(float_mul, OP_MUL)
TWO_OPERANDS(float_div, OP_DIV)
TWO_OPERANDS(float_rem, OP_REM)
TWO_OPERANDS(float_min, OP_MIN)
TWO_OPERANDS(float_max, OP_MAX)

PURE(float_fma)
{
    const unsigned bits = step->bits;
    EACH_LANE
    {
        if (step->flush && bits == 32) {
            const uint64_t x = flushed(a[lane]), y = flushed(b[lane]), z = flushed(c[lane]);
            d[lane] = flush_result(fma_bits(x, y, z, 32), sum_to_odd(number_of(x, 32) * number_of(y, 32), number_of(z, 32)));
        } else {
            d[lane] = fma_bits(a[lane], b[lane], c[lane], bits);
        }
    }
}

/* ---- signs and comparisons ---- */

PURE(float_negate)
{
    (void)b, (void)c;
    const uint64_t sign = UINT64_C(1) << (step->bits - 1);
    EACH_LANE
    d[lane] = a[lane] ^ sign;
}

PURE(float_absolute)
{
    (void)b, (void)c;
    const uint64_t size = step->mask >> 1;
    EACH_LANE
    d[lane] = a[lane] & size;
}

static bool compare(unsigned condition, double x, double y)
{
    const bool unordered = isnan(x) || isnan(y);
    switch (condition) {
    case IR_FALSE: return false;
    case IR_OEQ: return x == y;
    case IR_OGT: return x > y;
    case IR_OGE: return x >= y;
    case IR_OLT: return x < y;
    case IR_OLE: return x <= y;
    case IR_ONE: return x < y || x > y;
    case IR_ORD: return !unordered;
    case IR_UNO: return unordered;
    case IR_UEQ: return unordered || x == y;
    case IR_FUGT: return unordered || x > y;
    case IR_FUGE: return unordered || x >= y;
    case IR_FULT: return unordered || x < y;
    case IR_FULE: return unordered || x <= y;
    case IR_UNE: return x != y;
    default: return true;
    }
}

PURE(float_compare)
{
    (void)c;
    const unsigned from = step->from;
    EACH_LANE
    d[lane] = compare(step->which, number_of(a[lane], from), number_of(b[lane], from));
}

/* ---- conversions ---- */

PURE(float_convert)
{
    (void)b, (void)c;
    EACH_LANE
    {
        const double value = number_of(a[lane], step->from);
        const uint64_t bits = number_bits(value, step->bits);
        d[lane] = step->flush && step->bits == 32 ? flush_result(bits, value) : bits;
    }
}

/* Out of range gives the nearest number that there is, NaN gives 0. */
PURE(float_to_unsigned)
{
    (void)b, (void)c;
    const double limit = ldexp(1, step->bits);
    EACH_LANE
    {
        const double x = number_of(a[lane], step->from);
        d[lane] = x >= limit ? step->mask : x >= 1 ? (uint64_t)x : 0;
    }
}

PURE(float_to_signed)
{
    (void)b, (void)c;
    const double limit = ldexp(1, step->bits - 1);
    const uint64_t top = step->mask >> 1;
    EACH_LANE
    {
        const double x = number_of(a[lane], step->from);
        d[lane] = (isnan(x) ? 0 : x >= limit ? top : x < -limit ? top + 1 : (uint64_t)(int64_t)x) & step->mask;
    }
}

/* Integers of 64 bits are rounded once: to f32 at once, to half over double, where all that half holds is exact. */
PURE(float_of_unsigned)
{
    (void)b, (void)c;
    EACH_LANE
    d[lane] = step->bits == 32 ? f32_bits((float)a[lane]) : number_bits((double)a[lane], step->bits);
}

PURE(float_of_signed)
{
    (void)b, (void)c;
    EACH_LANE
    {
        const int64_t x = sign_extended(a[lane], step->from);
        d[lane] = step->bits == 32 ? f32_bits((float)x) : number_bits((double)x, step->bits);
    }
}

/* ---- functions ---- */

enum float_function {
    FN_FLOOR,
    FN_CEIL,
    FN_TRUNCATE,
    FN_RINT,
    FN_EXP2,
    FN_LOG2,
    FN_RCP,
    FN_RSQRT,
    FN_SQRT,
    FN_SINPI2,
    FN_SATURATE
};

/* Sine of so many quarter turns; what is left of whole quarters is exact. */
static double sine_of_quarters(double x)
{
    const double within = fmod(x, 4), quarter = rint(within), angle = (within - quarter) * M_PI_2;
    if (!isfinite(x))
        return NAN;
    switch ((int)quarter & 3) {
    case 0: return sin(angle);
    case 1: return cos(angle);
    case 2: return -sin(angle);
    default: return -cos(angle);
    }
}

static double plain_function(enum float_function f, double x)
{
    switch (f) {
    case FN_FLOOR: return floor(x);
    case FN_CEIL: return ceil(x);
    case FN_TRUNCATE: return trunc(x);
    case FN_RINT: return rint(x);
    case FN_EXP2: return exp2(x);
    case FN_LOG2: return log2(x);
    case FN_RCP: return 1 / x;
    case FN_RSQRT: return 1 / sqrt(x);
    case FN_SQRT: return sqrt(x);
    case FN_SINPI2: return sine_of_quarters(x);
    default: return x > 0 ? x < 1 ? x : 1 : 0;
    }
}

static long double long_function(enum float_function f, long double x)
{
    return f == FN_EXP2 ? exp2l(x) : f == FN_LOG2 ? log2l(x) : 1 / sqrtl(x);
}

/* Rounded as the exact result would be, as far as 64 bits of it tell: where the double is too near the middle of two results,
 * the longer format decides. */
static uint64_t rounded_function(enum float_function f, double x, unsigned bits)
{
    const double y = plain_function(f, x);
    if (bits == 64 || !(f == FN_EXP2 || f == FN_LOG2 || f == FN_RSQRT))
        return number_bits(y, bits);
    const uint64_t low = number_bits(y * (1 - 0x1p-50), bits), high = number_bits(y * (1 + 0x1p-50), bits);
    if (low == high)
        return low;
    const long double longer = long_function(f, (long double)x);
    const double near = (double)longer;
    return number_bits(sum_to_odd(near, (double)(longer - (long double)near)), bits);
}

static inline void one_operand(enum float_function f, const struct step *step, uint64_t *restrict d, const uint64_t *restrict a)
{
    const unsigned bits = step->bits;
    const bool flush = step->flush && bits == 32;
    EACH_LANE
    {
        const double x = number_of(flush ? flushed(a[lane]) : a[lane], bits);
        const uint64_t out = rounded_function(f, x, bits);
        d[lane] = flush ? flushed(out) : out;
    }
}

#define ONE_OPERAND(name, f)                                                                                                     \
    PURE(name)                                                                                                                   \
    {                                                                                                                            \
        (void)b, (void)c;                                                                                                        \
        one_operand(f, step, d, a);                                                                                              \
    }
ONE_OPERAND(float_floor, FN_FLOOR)
ONE_OPERAND(float_ceil, FN_CEIL)
ONE_OPERAND(float_truncate, FN_TRUNCATE)
ONE_OPERAND(float_rint, FN_RINT)
ONE_OPERAND(float_exp2, FN_EXP2)
ONE_OPERAND(float_log2, FN_LOG2)
ONE_OPERAND(float_rcp, FN_RCP)
ONE_OPERAND(float_rsqrt, FN_RSQRT)
ONE_OPERAND(float_sqrt, FN_SQRT)
ONE_OPERAND(float_sinpi2, FN_SINPI2)
ONE_OPERAND(float_saturate, FN_SATURATE)

pure_function *float_pure_of_op(unsigned op)
{
    switch (op) {
    case IR_FADD: return float_add;
    case IR_FSUB: return float_sub;
    case IR_FMUL: return float_mul;
    case IR_FDIV: return float_div;
    case IR_FREM: return float_rem;
    case IR_FNEG: return float_negate;
    case IR_FMA: return float_fma;
    case IR_FCMP: return float_compare;
    case IR_FPTRUNC:
    case IR_FPEXT: return float_convert;
    case IR_FPTOUI: return float_to_unsigned;
    case IR_FPTOSI: return float_to_signed;
    case IR_UITOFP: return float_of_unsigned;
    case IR_SITOFP: return float_of_signed;
    default: return NULL;
    }
}

pure_function *float_pure_of_builtin(unsigned builtin)
{
    switch (builtin) {
    case IR_B_FABS: return float_absolute;
    case IR_B_FMIN: return float_min;
    case IR_B_FMAX: return float_max;
    case IR_B_FLOOR: return float_floor;
    case IR_B_CEIL: return float_ceil;
    case IR_B_TRUNCATE: return float_truncate;
    case IR_B_RINT: return float_rint;
    case IR_B_EXP2: return float_exp2;
    case IR_B_LOG2: return float_log2;
    case IR_B_RCP: return float_rcp;
    case IR_B_RSQRT: return float_rsqrt;
    case IR_B_SQRT: return float_sqrt;
    case IR_B_SINPI2: return float_sinpi2;
    case IR_B_SATURATE: return float_saturate;
    default: return NULL;
    }
}
