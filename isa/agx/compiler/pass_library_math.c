/* Exponentials, logarithms, powers and roots of single precision in terms of what the hardware gives (EXP2, LOG2, RCP, RSQRT).
 * The bounds are those of the OpenCL C 3.0 specification, table 38; native_* and fast ones have none. */
#include "isa/agx/compiler/pass_library.h"

#define BUILD     &l->b
#define F(number) build_f32(BUILD, number)

/* 2 to the power of x * (high + low): the product's error goes into a factor. 2^t overflows and underflows by itself. */
static struct ir_value *exponential(struct library_lane *l, float high, float low)
{
    struct ir_value *t = build_2(BUILD, IR_FMUL, l->x, F(high));
    if (l->b.fast)
        return build_b1(BUILD, IR_B_EXP2, t);
    struct ir_value *rest = build_fma(BUILD, l->x, F(high), build_1(BUILD, IR_FNEG, t));
    rest = build_fma(BUILD, l->x, F(low), rest);
    rest = build_select(BUILD, build_fcmp(BUILD, IR_OLT, build_b1(BUILD, IR_B_FABS, l->x), F(256)), rest, F(0));
    return build_2(BUILD, IR_FMUL, build_b1(BUILD, IR_B_EXP2, t), build_fma(BUILD, rest, F(0x1.62e43p-1F), F(1)));
}

static struct ir_value *logarithm(struct library_lane *l, struct ir_value *x, float scale)
{
    return build_2(BUILD, IR_FMUL, build_b1(BUILD, IR_B_LOG2, x), F(scale));
}

/* log(1 + x) = log(u) + (x - (u - 1)) / u with u = 1 + x as rounded. */
static struct ir_value *logarithm_of_more(struct library_lane *l)
{
    struct ir_value *u = build_2(BUILD, IR_FADD, l->x, F(1));
    struct ir_value *rest = build_2(BUILD, IR_FSUB, l->x, build_2(BUILD, IR_FSUB, u, F(1)));
    struct ir_value *sum = build_fma(BUILD, rest, build_b1(BUILD, IR_B_RCP, u), logarithm(l, u, 0x1.62e43p-1F));
    /* Infinite and zero u have the logarithm alone. */
    struct ir_value *plain = build_fcmp(BUILD, IR_OEQ, build_2(BUILD, IR_FMUL, u, F(0)), F(0));
    struct ir_value *finite = build_2(BUILD, IR_AND, plain, build_fcmp(BUILD, IR_OGT, u, F(0)));
    return build_select(BUILD, finite, sum, logarithm(l, u, 0x1.62e43p-1F));
}

/* e^x - 1: near zero the series x + x^2/2 + ..., farther off the difference. */
static struct ir_value *exponential_less_one(struct library_lane *l)
{
    static const float series[] = {0x1.a01a02p-13F, 0x1.6c16c2p-10F, 0x1.111112p-7F, 0x1.555556p-5F, 0x1.555556p-3F, 0.5F};
    struct ir_value *sum = F(series[0]);
    for (unsigned i = 1; i < sizeof series / sizeof series[0]; i++)
        sum = build_fma(BUILD, sum, l->x, F(series[i]));
    sum = build_fma(BUILD, build_2(BUILD, IR_FMUL, l->x, l->x), sum, l->x);
    struct ir_value *far = build_2(BUILD, IR_FSUB, exponential(l, 0x1.715476p+0F, 0x1.4ae0cp-26F), F(1));
    return build_select(BUILD, build_fcmp(BUILD, IR_OLT, build_b1(BUILD, IR_B_FABS, l->x), F(0.5F)), sum, far);
}

/* ---- powers ---- */

struct pair {
    struct ir_value *high, *low; /* a number as the sum of two */
};

/* log2 of a positive normal number to about 2^-40 of it: its exponent, and for the significand m in [2/3, 4/3) the series of
 * s = (m - 1) / (m + 1): 2 / ln 2 * (s + s^3/3 + s^5/5 + ...), the first term in twice the precision. */
static struct pair logarithm_pair(struct library_lane *l, struct ir_value *x)
{
    const struct ir_type *i32 = ir_int(l->p->m, 32), *f32 = ir_float(l->p->m, 32);
    struct ir_value *bits = build_convert(BUILD, IR_BITCAST, x, i32);
    struct ir_value *shifted = build_2n(BUILD, IR_SUB, bits, 0x3f2aaaab); /* 2/3 */
    struct ir_value *exponent = build_2n(BUILD, IR_ASHR, shifted, 23);
    struct ir_value *m = build_2(BUILD, IR_SUB, bits, build_2n(BUILD, IR_SHL, exponent, 23));
    struct ir_value *f = build_2(BUILD, IR_FSUB, build_convert(BUILD, IR_BITCAST, m, f32), F(1));
    struct ir_value *d = build_2(BUILD, IR_FADD, f, F(2)), *d_low = build_2(BUILD, IR_FSUB, f, build_2(BUILD, IR_FSUB, d, F(2)));
    struct ir_value *r = build_b1(BUILD, IR_B_RCP, d), *s = build_2(BUILD, IR_FMUL, f, r), *minus = build_1(BUILD, IR_FNEG, s);
    struct ir_value *rest = build_fma(BUILD, minus, d_low, build_fma(BUILD, minus, d, f));
    struct ir_value *s_low = build_2(BUILD, IR_FMUL, rest, r), *square = build_2(BUILD, IR_FMUL, s, s);
    /* 2 / ln 2 over 11, 9, 7, 5 and 3 */
    static const float series[] = {0x1.0c9a84p-2F, 0x1.484b14p-2F, 0x1.a61762p-2F, 0x1.2776c6p-1F, 0x1.ec709ep-1F};
    struct ir_value *sum = F(series[0]);
    for (unsigned i = 1; i < sizeof series / sizeof series[0]; i++)
        sum = build_fma(BUILD, sum, square, F(series[i]));
    sum = build_2(BUILD, IR_FMUL, sum, build_2(BUILD, IR_FMUL, square, s));
    /* 2 / ln 2 = 0x1.715476p+1 + 0x1.4ae0cp-25 */
    struct ir_value *high = build_2(BUILD, IR_FMUL, s, F(0x1.715476p+1F));
    struct ir_value *low = build_fma(BUILD, s, F(0x1.715476p+1F), build_1(BUILD, IR_FNEG, high));
    low = build_fma(BUILD, s_low, F(0x1.715476p+1F), build_fma(BUILD, s, F(0x1.4ae0cp-25F), low));
    low = build_2(BUILD, IR_FADD, low, sum);
    /* The exponent is zero or larger than the rest. */
    struct ir_value *e = build_any(BUILD, IR_SITOFP, f32, &exponent, 1), *whole = build_2(BUILD, IR_FADD, e, high);
    struct ir_value *lost = build_2(BUILD, IR_FSUB, high, build_2(BUILD, IR_FSUB, whole, e));
    low = build_2(BUILD, IR_FADD, lost, low);
    struct ir_value *sum_high = build_2(BUILD, IR_FADD, whole, low);
    return (struct pair){sum_high, build_2(BUILD, IR_FSUB, low, build_2(BUILD, IR_FSUB, sum_high, whole))};
}

static struct ir_value *power_of_size(struct library_lane *l, struct ir_value *size, struct ir_value *y)
{
    const struct pair log = logarithm_pair(l, size);
    struct ir_value *p = build_2(BUILD, IR_FMUL, log.high, y);
    struct ir_value *rest = build_fma(BUILD, log.high, y, build_1(BUILD, IR_FNEG, p));
    rest = build_fma(BUILD, log.low, y, rest);
    struct ir_value *usual = build_fcmp(BUILD, IR_OLT, build_b1(BUILD, IR_B_FABS, p), F(256));
    rest = build_select(BUILD, usual, rest, F(0));
    return build_2(BUILD, IR_FMUL, build_b1(BUILD, IR_B_EXP2, p), build_fma(BUILD, rest, F(0x1.62e43p-1F), F(1)));
}

/* Zero and infinity to the power of y, where y is not zero. */
static struct ir_value *power_of_extreme(struct library_lane *l, struct ir_value *size, struct ir_value *y)
{
    struct ir_value *grows = build_icmp(BUILD, IR_EQ, build_fcmp(BUILD, IR_OGT, size, F(1)), build_fcmp(BUILD, IR_OGT, y, F(0)));
    return build_select(BUILD, grows, F(__builtin_inff()), F(0));
}

/* With the special cases of C's pow; `odd` and `whole` say what y is. Subnormal x counts as zero, as the hardware has it. */
static struct ir_value *power(struct library_lane *l, struct ir_value *y, struct ir_value *odd, struct ir_value *whole)
{
    struct ir_value *x = l->x, *size = build_b1(BUILD, IR_B_FABS, x);
    struct ir_value *r = power_of_size(l, size, y);
    struct ir_value *extreme = build_2(BUILD, IR_OR, build_fcmp(BUILD, IR_OLT, size, F(0x1p-126F)),
                                       build_fcmp(BUILD, IR_OEQ, size, F(__builtin_inff())));
    r = build_select(BUILD, extreme, power_of_extreme(l, size, y), r);
    struct ir_value *negative = build_icmpn(BUILD, IR_SLT, build_convert(BUILD, IR_BITCAST, x, ir_int(l->p->m, 32)), 0);
    r = build_select(BUILD, build_2(BUILD, IR_AND, negative, odd), build_1(BUILD, IR_FNEG, r), r);
    struct ir_value *none = build_2(BUILD, IR_AND, build_fcmp(BUILD, IR_OLT, x, F(0)), build_not(BUILD, whole));
    none = build_2(BUILD, IR_AND, none, build_fcmp(BUILD, IR_OLT, size, F(__builtin_inff())));
    none = build_2(BUILD, IR_OR, none, build_fcmp(BUILD, IR_UNO, x, y));
    r = build_select(BUILD, none, F(__builtin_nanf("")), r);
    struct ir_value *minus = build_fcmp(BUILD, IR_OEQ, x, F(-1)),
                    *endless = build_fcmp(BUILD, IR_OEQ, build_b1(BUILD, IR_B_FABS, y), F(__builtin_inff()));
    struct ir_value *one = build_2(BUILD, IR_OR, build_fcmp(BUILD, IR_OEQ, x, F(1)), build_fcmp(BUILD, IR_OEQ, y, F(0)));
    one = build_2(BUILD, IR_OR, one, build_2(BUILD, IR_AND, minus, endless));
    return build_select(BUILD, one, F(1), r);
}

static struct ir_value *power_of_float(struct library_lane *l)
{
    struct ir_value *half = build_2(BUILD, IR_FMUL, l->y, F(0.5F));
    struct ir_value *whole = build_fcmp(BUILD, IR_OEQ, build_b1(BUILD, IR_B_TRUNCATE, l->y), l->y);
    struct ir_value *odd = build_2(BUILD, IR_AND, whole, build_fcmp(BUILD, IR_UNE, build_b1(BUILD, IR_B_TRUNCATE, half), half));
    return power(l, l->y, odd, whole);
}

/* As OpenCL defines powr, by way of logarithms: of no negative number, and unclear where those are. */
static struct ir_value *power_of_positive(struct library_lane *l)
{
    struct ir_value *size = build_b1(BUILD, IR_B_FABS, l->x), *none = F(__builtin_nanf(""));
    struct ir_value *end = build_2(BUILD, IR_OR, build_fcmp(BUILD, IR_OLT, size, F(0x1p-126F)),
                                   build_fcmp(BUILD, IR_OEQ, size, F(__builtin_inff())));
    struct ir_value *zero = build_fcmp(BUILD, IR_OEQ, l->y, F(0));
    struct ir_value *r = build_select(BUILD, end, power_of_extreme(l, size, l->y), power_of_size(l, size, l->y));
    r = build_select(BUILD, zero, build_select(BUILD, end, none, F(1)), r);
    struct ir_value *one = build_fcmp(BUILD, IR_OEQ, l->x, F(1));
    struct ir_value *endless = build_fcmp(BUILD, IR_OEQ, build_b1(BUILD, IR_B_FABS, l->y), F(__builtin_inff()));
    struct ir_value *unclear =
        build_2(BUILD, IR_OR, build_fcmp(BUILD, IR_UNO, l->x, l->y), build_fcmp(BUILD, IR_OLT, l->x, F(0)));
    return build_select(BUILD, build_2(BUILD, IR_OR, unclear, build_2(BUILD, IR_AND, one, endless)), none, r);
}

/* x to the power of an integer, or of its reciprocal for roots. */
static struct ir_value *power_of_integer(struct library_lane *l, bool root)
{
    struct ir_value *n = build_resize(BUILD, l->y, ir_int(l->p->m, 32), true);
    struct ir_value *odd = build_icmpn(BUILD, IR_NE, build_2n(BUILD, IR_AND, n, 1), 0),
                    *always = build_bits(BUILD, ir_int(l->p->m, 1), 1);
    struct ir_value *y = build_any(BUILD, IR_SITOFP, ir_float(l->p->m, 32), &n, 1);
    if (!root)
        return power(l, y, odd, always);
    struct ir_value *r = power(l, build_b1(BUILD, IR_B_RCP, y), odd, odd);
    return build_select(BUILD, build_icmpn(BUILD, IR_EQ, n, 0), F(__builtin_nanf("")), r);
}

/* ---- roots ---- */

/* One step of Newton's method on x * rsqrt(x), which the hardware gives to a few units in the last place. */
static struct ir_value *square_root(struct library_lane *l, struct ir_value *x)
{
    return build_b1(BUILD, IR_B_SQRT, x);
}

/* The larger times sqrt(1 + (smaller / larger)^2) overflows only where the result does. */
static struct ir_value *hypotenuse(struct library_lane *l)
{
    struct ir_value *x = build_b1(BUILD, IR_B_FABS, l->x), *y = build_b1(BUILD, IR_B_FABS, l->y);
    struct ir_value *large = build_b2(BUILD, IR_B_FMAX, x, y), *small = build_b2(BUILD, IR_B_FMIN, x, y);
    /* A power of two near the larger brings both into range. */
    const struct ir_type *i32 = ir_int(l->p->m, 32), *f32 = ir_float(l->p->m, 32);
    struct ir_value *e = build_2n(BUILD, IR_AND, build_convert(BUILD, IR_BITCAST, large, i32), 0x7f800000);
    e = build_b2(BUILD, IR_B_UMIN, build_b2(BUILD, IR_B_UMAX, e, build_i32(BUILD, 0x01000000)), build_i32(BUILD, 0x7e000000));
    struct ir_value *up = build_convert(BUILD, IR_BITCAST, e, f32);
    struct ir_value *down = build_convert(BUILD, IR_BITCAST, build_2(BUILD, IR_SUB, build_i32(BUILD, 0x7f000000), e), f32);
    struct ir_value *a = build_2(BUILD, IR_FMUL, large, down), *c = build_2(BUILD, IR_FMUL, small, down);
    struct ir_value *sum = build_fma(BUILD, a, a, build_2(BUILD, IR_FMUL, c, c));
    struct ir_value *r = build_2(BUILD, IR_FMUL, square_root(l, sum), up);
    r = build_select(BUILD, build_fcmp(BUILD, IR_UNO, x, y), F(__builtin_nanf("")), r);
    r = build_select(BUILD, build_fcmp(BUILD, IR_OEQ, large, F(__builtin_inff())), large, r);
    return r;
}

static struct ir_value *cube_root(struct library_lane *l)
{
    struct ir_value *size = build_b1(BUILD, IR_B_FABS, l->x);
    /* Small numbers are made larger by 2^60, so that the remainder of the cube is no subnormal. */
    struct ir_value *small = build_fcmp(BUILD, IR_OLT, size, F(0x1p-60F));
    size = build_2(BUILD, IR_FMUL, size, build_select(BUILD, small, F(0x1p+60F), F(1)));
    struct ir_value *r = build_b1(BUILD, IR_B_EXP2, build_2(BUILD, IR_FMUL, build_b1(BUILD, IR_B_LOG2, size), F(0x1.555556p-2F)));
    /* r - (r^3 - x) / (3 r^2), the cube with its error */
    struct ir_value *square = build_2(BUILD, IR_FMUL, r, r), *lost = build_fma(BUILD, r, r, build_1(BUILD, IR_FNEG, square));
    struct ir_value *off = build_fma(BUILD, square, r, build_1(BUILD, IR_FNEG, size));
    off = build_fma(BUILD, lost, r, off);
    struct ir_value *by = build_2(BUILD, IR_FMUL, build_b1(BUILD, IR_B_RCP, square), F(-0x1.555556p-2F));
    struct ir_value *better = build_fma(BUILD, off, by, r);
    better = build_2(BUILD, IR_FMUL, better, build_select(BUILD, small, F(0x1p-20F), F(1)));
    struct ir_value *usual =
        build_2(BUILD, IR_AND, build_fcmp(BUILD, IR_OGT, size, F(0)), build_fcmp(BUILD, IR_OLT, size, F(__builtin_inff())));
    struct library_lane sign = *l;
    sign.x = build_select(BUILD, usual, better, size);
    sign.y = l->x;
    return lower_rounding(&sign, IR_X_COPYSIGN);
}

struct ir_value *lower_math(struct library_lane *l, enum ir_expansion code)
{
    const bool fast = l->b.fast;
    l->b.fast = fast || code == IR_X_NATIVE_EXP || code == IR_X_NATIVE_EXP10 || code == IR_X_NATIVE_POWR;
    switch (code) {
    case IR_X_NATIVE_EXP:
    case IR_X_EXP: return exponential(l, 0x1.715476p+0F, 0x1.4ae0cp-26F);
    case IR_X_NATIVE_EXP10:
    case IR_X_EXP10: return exponential(l, 0x1.a934fp+1F, 0x1.2f346ep-24F);
    case IR_X_EXP2: return build_b1(BUILD, IR_B_EXP2, l->x);
    case IR_X_EXPM1: return exponential_less_one(l);
    case IR_X_NATIVE_LOG:
    case IR_X_LOG: return logarithm(l, l->x, 0x1.62e43p-1F);
    case IR_X_NATIVE_LOG10:
    case IR_X_LOG10: return logarithm(l, l->x, 0x1.344136p-2F);
    case IR_X_LOG2: return build_b1(BUILD, IR_B_LOG2, l->x);
    case IR_X_LOG1P: return logarithm_of_more(l);
    case IR_X_POW: return power_of_float(l);
    case IR_X_NATIVE_POWR: return build_b1(BUILD, IR_B_EXP2, build_2(BUILD, IR_FMUL, l->y, build_b1(BUILD, IR_B_LOG2, l->x)));
    case IR_X_POWR: return power_of_positive(l);
    case IR_X_POWN: return power_of_integer(l, false);
    case IR_X_ROOTN: return power_of_integer(l, true);
    case IR_X_SQRT: return square_root(l, l->x);
    case IR_X_RSQRT: return build_b1(BUILD, IR_B_RSQRT, l->x);
    case IR_X_CBRT: return cube_root(l);
    case IR_X_HYPOT: return hypotenuse(l);
    case IR_X_NATIVE_DIVIDE: return build_2(BUILD, IR_FMUL, l->x, build_b1(BUILD, IR_B_RCP, l->y));
    default: l->b.fast = fast; return NULL;
    }
}
