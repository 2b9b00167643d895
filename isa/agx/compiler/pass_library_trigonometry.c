/* Circular and hyperbolic functions of single precision.
 *
 * Sine and cosine bring x to r in [-pi/4, pi/4] by subtracting a multiple n of pi/2 in three parts (Cody and Waite), the first
 * with its error, which keeps the bound of 4 units in the last place for |x| up to about 2^20; polynomials are the series of
 * both. */
#include "isa/agx/compiler/pass_library.h"

#define BUILD     &l->b
#define F(number) build_f32(BUILD, number)

static struct ir_value *series(struct library_lane *l, struct ir_value *x, const float *coefficient, unsigned count)
{
    struct ir_value *sum = F(coefficient[0]);
    for (unsigned i = 1; i < count; i++)
        sum = build_fma(BUILD, sum, x, F(coefficient[i]));
    return sum;
}
#define SERIES(x, c) series(l, x, c, sizeof(c) / sizeof((c)[0]))

/* As many quarter turns as the hardware takes them: in [0, 4). */
static struct ir_value *fast_sine(struct library_lane *l, float quarter)
{
    struct ir_value *turns = build_fma(BUILD, l->x, F(0x1.45f306p-3F), F(quarter / 4));
    turns = build_2(BUILD, IR_FSUB, turns, build_b1(BUILD, IR_B_FLOOR, turns));
    return build_b1(BUILD, IR_B_SINPI2, build_2(BUILD, IR_FMUL, turns, F(4)));
}

/* The sine (or cosine) of r plus n quarter turns, n a whole number as an i32. */
static struct ir_value *sine_of_rest(struct library_lane *l, struct ir_value *r, struct ir_value *r_low, struct ir_value *n)
{
    static const float sine[] = {0x1.71de3ap-19F, -0x1.a01a02p-13F, 0x1.111112p-7F, -0x1.555556p-3F};
    static const float cosine[] = {-0x1.27e4fcp-22F, 0x1.a01a02p-16F, -0x1.6c16c2p-10F, 0x1.555556p-5F, -0.5F};
    struct ir_value *square = build_2(BUILD, IR_FMUL, r, r);
    struct ir_value *s = build_fma(BUILD, build_2(BUILD, IR_FMUL, square, r), SERIES(square, sine), r_low);
    s = build_2(BUILD, IR_FADD, r, s);
    struct ir_value *c = build_fma(BUILD, square, SERIES(square, cosine), F(1));
    struct ir_value *odd = build_icmpn(BUILD, IR_NE, build_2n(BUILD, IR_AND, n, 1), 0);
    struct ir_value *back = build_icmpn(BUILD, IR_NE, build_2n(BUILD, IR_AND, n, 2), 0);
    struct ir_value *v = build_select(BUILD, odd, c, s);
    return build_select(BUILD, back, build_1(BUILD, IR_FNEG, v), v);
}

static struct ir_value *sine(struct library_lane *l, unsigned quarters)
{
    if (l->b.fast)
        return fast_sine(l, (float)quarters);
    const struct ir_type *i32 = ir_int(l->p->m, 32);
    struct ir_value *n = build_b1(BUILD, IR_B_RINT, build_2(BUILD, IR_FMUL, l->x, F(0x1.45f306p-1F)));
    struct ir_value *minus = build_1(BUILD, IR_FNEG, n);
    /* pi/2 = 0x1.921fb6p+0 - 0x1.777a5cp-25 - 0x1.ee59dap-50 */
    struct ir_value *product = build_2(BUILD, IR_FMUL, n, F(0x1.921fb6p+0F));
    struct ir_value *lost = build_fma(BUILD, minus, F(0x1.921fb6p+0F), product);
    struct ir_value *first = build_2(BUILD, IR_FSUB, l->x, product);
    struct ir_value *second = build_fma(BUILD, n, F(0x1.777a5cp-25F), lost);
    struct ir_value *r = build_2(BUILD, IR_FADD, first, second);
    struct ir_value *low = build_2(BUILD, IR_FSUB, second, build_2(BUILD, IR_FSUB, r, first));
    low = build_fma(BUILD, n, F(0x1.ee59dap-50F), low);
    struct ir_value *whole = build_any(BUILD, IR_FPTOSI, i32, &n, 1);
    struct ir_value *v = sine_of_rest(l, r, low, build_2n(BUILD, IR_ADD, whole, quarters));
    /* Infinities have none: x - x is then not a number. */
    struct ir_value *finite = build_fcmp(BUILD, IR_OLT, build_b1(BUILD, IR_B_FABS, l->x), F(__builtin_inff()));
    return build_select(BUILD, finite, v, build_2(BUILD, IR_FSUB, l->x, l->x));
}

/* sin(pi x): halves of x are quarter turns, taken off exactly. */
static struct ir_value *sine_of_pi(struct library_lane *l, unsigned quarters)
{
    struct ir_value *turns = build_2(BUILD, IR_FMUL, l->x, F(0.5F));
    struct ir_value *part = build_2(BUILD, IR_FSUB, turns, build_b1(BUILD, IR_B_RINT, turns)); /* of a turn, in [-1/2, 1/2] */
    struct ir_value *four = build_2(BUILD, IR_FMUL, part, F(4)), *n = build_b1(BUILD, IR_B_RINT, four);
    struct ir_value *rest = build_2(BUILD, IR_FSUB, four, n);
    struct ir_value *r = build_2(BUILD, IR_FMUL, rest, F(0x1.921fb6p+0F));
    struct ir_value *low = build_fma(BUILD, rest, F(0x1.921fb6p+0F), build_1(BUILD, IR_FNEG, r));
    low = build_fma(BUILD, rest, F(-0x1.777a5cp-25F), low);
    struct ir_value *whole = build_any(BUILD, IR_FPTOSI, ir_int(l->p->m, 32), &n, 1);
    return sine_of_rest(l, r, low, build_2n(BUILD, IR_ADD, whole, quarters));
}

static struct ir_value *quotient(struct library_lane *l, struct ir_value *x, struct ir_value *y)
{
    return l->b.fast ? build_2(BUILD, IR_FMUL, x, build_b1(BUILD, IR_B_RCP, y)) : build_2(BUILD, IR_FDIV, x, y);
}

/* ---- inverses ---- */

/* atan of 0 <= t <= 1: above tan(pi/8) it is pi/4 + atan((t - 1) / (t + 1)). */
static struct ir_value *arc_tangent_of_part(struct library_lane *l, struct ir_value *t)
{
    struct ir_value *far = build_fcmp(BUILD, IR_OGT, t, F(0x1.a82798p-2F));
    struct ir_value *near = quotient(l, build_2(BUILD, IR_FSUB, t, F(1)), build_2(BUILD, IR_FADD, t, F(1)));
    struct ir_value *u = build_select(BUILD, far, near, t), *square = build_2(BUILD, IR_FMUL, u, u);
    static const float coefficient[] = {0x1.3b13b2p-4F,  -0x1.745d18p-4F, 0x1.c71c72p-4F,
                                        -0x1.24924ap-3F, 0x1.99999ap-3F,  -0x1.555556p-2F};
    struct ir_value *r = build_fma(BUILD, build_2(BUILD, IR_FMUL, square, u), SERIES(square, coefficient), u);
    return build_2(BUILD, IR_FADD, r, build_select(BUILD, far, F(0x1.921fb6p-1F), F(0)));
}

/* The angle of the point (x, y), both as sizes, in the first quadrant. */
static struct ir_value *angle_of_sizes(struct library_lane *l, struct ir_value *x, struct ir_value *y)
{
    struct ir_value *large = build_b2(BUILD, IR_B_FMAX, x, y), *small = build_b2(BUILD, IR_B_FMIN, x, y);
    struct ir_value *endless = build_fcmp(BUILD, IR_OEQ, small, F(__builtin_inff()));
    struct ir_value *none = build_fcmp(BUILD, IR_OEQ, large, F(0));
    struct ir_value *t = quotient(l, small, large);
    t = build_select(BUILD, none, F(0), build_select(BUILD, endless, F(1), t));
    struct ir_value *a = arc_tangent_of_part(l, t);
    return build_select(BUILD, build_fcmp(BUILD, IR_OGT, y, x), build_2(BUILD, IR_FSUB, F(0x1.921fb6p+0F), a), a);
}

static struct ir_value *with_sign(struct library_lane *l, struct ir_value *size, struct ir_value *sign)
{
    struct library_lane one = *l;
    one.x = size;
    one.y = sign;
    return lower_rounding(&one, IR_X_COPYSIGN);
}

static struct ir_value *arc_tangent(struct library_lane *l)
{
    struct ir_value *r = with_sign(l, angle_of_sizes(l, F(1), build_b1(BUILD, IR_B_FABS, l->x)), l->x);
    return build_select(BUILD, build_fcmp(BUILD, IR_UNO, l->x, l->x), l->x, r);
}

/* atan2(y, x): l->x is y. */
static struct ir_value *arc_tangent_of_two(struct library_lane *l)
{
    struct ir_value *y = l->x, *x = l->y;
    struct ir_value *a = angle_of_sizes(l, build_b1(BUILD, IR_B_FABS, x), build_b1(BUILD, IR_B_FABS, y));
    struct ir_value *left = build_icmpn(BUILD, IR_SLT, build_convert(BUILD, IR_BITCAST, x, ir_int(l->p->m, 32)), 0);
    a = build_select(BUILD, left, build_2(BUILD, IR_FSUB, F(0x1.921fb6p+1F), a), a);
    struct ir_value *none = build_fcmp(BUILD, IR_UNO, x, y);
    return build_select(BUILD, none, build_2(BUILD, IR_FADD, x, y), with_sign(l, a, y));
}

/* asin t = t + t^3 P(t^2) up to a half (P of Moshier's Cephes library); beyond, asin x = pi/2 - 2 asin(sqrt((1 - x) / 2)). */
static struct ir_value *arc_sine(struct library_lane *l, bool cosine)
{
    static const float coefficient[] = {4.2163199048e-2F, 2.4181311049e-2F, 4.5470025998e-2F, 7.4953002686e-2F, 1.6666752422e-1F};
    struct ir_value *size = build_b1(BUILD, IR_B_FABS, l->x), *far = build_fcmp(BUILD, IR_OGT, size, F(0.5F));
    struct ir_value *half = build_fma(BUILD, size, F(-0.5F), F(0.5F));
    struct ir_value *square = build_select(BUILD, far, half, build_2(BUILD, IR_FMUL, size, size));
    struct ir_value *t = build_select(BUILD, far, build_b1(BUILD, IR_B_SQRT, half), size);
    struct ir_value *p = build_fma(BUILD, build_2(BUILD, IR_FMUL, square, t), SERIES(square, coefficient), t);
    if (!cosine)
        return with_sign(l, build_select(BUILD, far, build_fma(BUILD, p, F(-2), F(0x1.921fb6p+0F)), p), l->x);
    struct ir_value *near = build_2(BUILD, IR_FSUB, F(0x1.921fb6p+0F), with_sign(l, p, l->x)),
                    *twice = build_2(BUILD, IR_FADD, p, p);
    struct ir_value *left = build_fcmp(BUILD, IR_OLT, l->x, F(0));
    twice = build_select(BUILD, left, build_2(BUILD, IR_FSUB, F(0x1.921fb6p+1F), twice), twice);
    return build_select(BUILD, far, twice, near);
}

/* ---- hyperbolic ---- */

static struct ir_value *math_of(struct library_lane *l, struct ir_value *x, enum ir_expansion code)
{
    struct library_lane one = *l;
    one.x = x;
    return lower_math(&one, code);
}

static struct ir_value *hyperbolic(struct library_lane *l, enum ir_expansion code)
{
    struct ir_value *size = build_b1(BUILD, IR_B_FABS, l->x);
    if (code == IR_X_TANH) {
        /* expm1(2x) / (expm1(2x) + 2), and one from 10 on */
        struct ir_value *twice = build_2(BUILD, IR_FMUL, build_b2(BUILD, IR_B_FMIN, size, F(10)), F(2));
        struct ir_value *e = math_of(l, twice, IR_X_EXPM1);
        struct ir_value *r = quotient(l, e, build_2(BUILD, IR_FADD, e, F(2)));
        return build_select(BUILD, build_fcmp(BUILD, IR_UNO, l->x, l->x), l->x, with_sign(l, r, l->x));
    }
    /* e^(|x| / 2) twice: e^|x| may overflow where half of it does not. */
    struct ir_value *half = math_of(l, build_2(BUILD, IR_FMUL, size, F(0.5F)), IR_X_EXP);
    struct ir_value *huge = build_2(BUILD, IR_FMUL, build_2(BUILD, IR_FMUL, half, F(0.5F)), half);
    struct ir_value *far = build_fcmp(BUILD, IR_OGT, size, F(20));
    struct ir_value *e = math_of(l, size, code == IR_X_COSH ? IR_X_EXP : IR_X_EXPM1);
    struct ir_value *r;
    if (code == IR_X_COSH) {
        r = build_fma(BUILD, e, F(0.5F), build_2(BUILD, IR_FMUL, build_b1(BUILD, IR_B_RCP, e), F(0.5F)));
        return build_select(BUILD, far, huge, r);
    }
    /* (e + e / (e + 1)) / 2 with e = expm1 |x| */
    r = build_2(BUILD, IR_FADD, e, quotient(l, e, build_2(BUILD, IR_FADD, e, F(1))));
    return with_sign(l, build_select(BUILD, far, huge, build_2(BUILD, IR_FMUL, r, F(0.5F))), l->x);
}

static struct ir_value *over_pi(struct library_lane *l, struct ir_value *x)
{
    return build_2(BUILD, IR_FMUL, x, F(0x1.45f306p-2F));
}

struct ir_value *lower_trigonometry(struct library_lane *l, enum ir_expansion code)
{
    const bool fast = l->b.fast;
    l->b.fast = fast || code == IR_X_NATIVE_SIN || code == IR_X_NATIVE_COS || code == IR_X_NATIVE_TAN;
    switch (code) {
    case IR_X_NATIVE_SIN:
    case IR_X_SIN: return sine(l, 0);
    case IR_X_NATIVE_COS:
    case IR_X_COS: return sine(l, 1);
    case IR_X_NATIVE_TAN:
    case IR_X_TAN: return quotient(l, sine(l, 0), sine(l, 1));
    case IR_X_SINPI: return sine_of_pi(l, 0);
    case IR_X_COSPI: return sine_of_pi(l, 1);
    case IR_X_TANPI: return quotient(l, sine_of_pi(l, 0), sine_of_pi(l, 1));
    case IR_X_ATAN: return arc_tangent(l);
    case IR_X_ATAN2: return arc_tangent_of_two(l);
    case IR_X_ASIN: return arc_sine(l, false);
    case IR_X_ACOS: return arc_sine(l, true);
    case IR_X_ATANPI: return over_pi(l, arc_tangent(l));
    case IR_X_ATAN2PI: return over_pi(l, arc_tangent_of_two(l));
    case IR_X_ASINPI: return over_pi(l, arc_sine(l, false));
    case IR_X_ACOSPI: return over_pi(l, arc_sine(l, true));
    case IR_X_SINH:
    case IR_X_COSH:
    case IR_X_TANH: return hyperbolic(l, code);
    default: l->b.fast = fast; return NULL;
    }
}
