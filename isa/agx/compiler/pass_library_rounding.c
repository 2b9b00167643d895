/* Library functions of rounding, signs and simple mixtures, lane by lane; they work on half and single precision alike. */
#include "isa/agx/compiler/pass_library.h"

#define BUILD     &l->b
#define N(number) build_float_like(BUILD, l->x, number)

static struct ir_value *bits_of(struct library_lane *l, struct ir_value *x)
{
    return build_convert(BUILD, IR_BITCAST, x, ir_int(l->p->m, x->type->bits));
}

static struct ir_value *copy_sign(struct library_lane *l, struct ir_value *size, struct ir_value *sign)
{
    const uint64_t mask = UINT64_C(1) << (size->type->bits - 1);
    struct ir_value *low = build_2n(BUILD, IR_AND, bits_of(l, size), mask - 1),
                    *high = build_2n(BUILD, IR_AND, bits_of(l, sign), mask);
    return build_convert(BUILD, IR_BITCAST, build_2(BUILD, IR_OR, low, high), size->type);
}

/* Halves go away from zero: the whole part, and one more where what was cut off is at least a half. */
static struct ir_value *round_away(struct library_lane *l)
{
    struct ir_value *size = build_b1(BUILD, IR_B_FABS, l->x), *whole = build_b1(BUILD, IR_B_TRUNCATE, size);
    struct ir_value *more = build_fcmp(BUILD, IR_OGE, build_2(BUILD, IR_FSUB, size, whole), N(0.5));
    whole = build_select(BUILD, more, build_2(BUILD, IR_FADD, whole, N(1)), whole);
    return copy_sign(l, whole, l->x);
}

static struct ir_value *sign_of(struct library_lane *l)
{
    struct ir_value *one = copy_sign(l, N(1), l->x);
    struct ir_value *r = build_select(BUILD, build_fcmp(BUILD, IR_OEQ, l->x, N(0)), l->x, one);
    return build_select(BUILD, build_fcmp(BUILD, IR_UNO, l->x, l->x), N(0), r);
}

static struct ir_value *smooth_step(struct library_lane *l)
{
    /* edges x and y, the number is z */
    struct ir_value *t = build_2(BUILD, IR_FDIV, build_2(BUILD, IR_FSUB, l->z, l->x), build_2(BUILD, IR_FSUB, l->y, l->x));
    t = build_b2(BUILD, IR_B_FMIN, build_b2(BUILD, IR_B_FMAX, t, N(0)), N(1));
    return build_2(BUILD, IR_FMUL, build_2(BUILD, IR_FMUL, t, t), build_fma(BUILD, t, N(-2), N(3)));
}

static struct ir_value *by_size(struct library_lane *l, bool larger)
{
    struct ir_value *x = build_b1(BUILD, IR_B_FABS, l->x), *y = build_b1(BUILD, IR_B_FABS, l->y);
    struct ir_value *first = build_fcmp(BUILD, larger ? IR_OGT : IR_OLT, x, y),
                    *second = build_fcmp(BUILD, larger ? IR_OGT : IR_OLT, y, x);
    struct ir_value *other = build_b2(BUILD, larger ? IR_B_FMAX : IR_B_FMIN, l->x, l->y);
    return build_select(BUILD, first, l->x, build_select(BUILD, second, l->y, other));
}

static struct ir_value *positive_difference(struct library_lane *l)
{
    struct ir_value *r = build_select(BUILD, build_fcmp(BUILD, IR_OLE, l->x, l->y), N(0), build_2(BUILD, IR_FSUB, l->x, l->y));
    return r;
}

/* The power of two in three factors: each of them is a normal number. */
static struct ir_value *times_power(struct library_lane *l)
{
    const struct ir_type *i32 = ir_int(l->p->m, 32), *f32 = ir_float(l->p->m, 32);
    struct ir_value *n = build_resize(BUILD, l->y, i32, true);
    n = build_b2(BUILD, IR_B_SMIN, build_b2(BUILD, IR_B_SMAX, n, build_i32(BUILD, (uint32_t)-300)), build_i32(BUILD, 300));
    struct ir_value *r = build_convert(BUILD, IR_FPEXT, l->x, f32);
    struct ir_value *third = build_2n(BUILD, IR_ASHR, build_2(BUILD, IR_ADD, n, build_i32(BUILD, 0)), 2), *left = n;
    for (unsigned i = 0; i < 4; i++) {
        struct ir_value *part = i < 3 ? third : left;
        struct ir_value *bits = build_2n(BUILD, IR_SHL, build_2n(BUILD, IR_ADD, part, 127), 23);
        r = build_2(BUILD, IR_FMUL, r, build_convert(BUILD, IR_BITCAST, bits, f32));
        left = i < 3 ? build_2(BUILD, IR_SUB, left, third) : left;
    }
    return build_convert(BUILD, IR_FPTRUNC, r, l->x->type);
}

static struct ir_value *exponent_of(struct library_lane *l, bool as_integer)
{
    const struct ir_type *i32 = ir_int(l->p->m, 32), *f32 = ir_float(l->p->m, 32);
    struct ir_value *x = build_convert(BUILD, IR_FPEXT, build_b1(BUILD, IR_B_FABS, l->x), f32);
    struct ir_value *field = build_2n(BUILD, IR_LSHR, build_convert(BUILD, IR_BITCAST, x, i32), 23);
    struct ir_value *n = build_2n(BUILD, IR_SUB, field, 127);
    struct ir_value *zero = build_icmpn(BUILD, IR_EQ, field, 0), *endless = build_icmpn(BUILD, IR_EQ, field, 255);
    if (as_integer)
        return build_select(BUILD, zero, build_i32(BUILD, INT32_MIN),
                            build_select(BUILD, endless, build_i32(BUILD, INT32_MAX), n));
    struct ir_value *r = build_select(BUILD, endless, x, build_any(BUILD, IR_SITOFP, f32, &n, 1));
    r = build_select(BUILD, zero, build_f32(BUILD, -__builtin_inff()), r);
    return build_convert(BUILD, IR_FPTRUNC, r, l->x->type);
}

/* The next number up or down is the next pattern of bits, counted from zero in both directions. */
static struct ir_value *next_after(struct library_lane *l)
{
    const unsigned bits = l->x->type->bits;
    const uint64_t sign = UINT64_C(1) << (bits - 1);
    struct ir_value *x = bits_of(l, l->x);
    struct ir_value *negative = build_icmpn(BUILD, IR_SLT, x, 0);
    struct ir_value *up = build_fcmp(BUILD, IR_OGT, l->y, l->x);
    struct ir_value *away = build_2(BUILD, IR_XOR, negative, up);
    struct ir_value *next =
        build_2(BUILD, IR_ADD, x, build_select(BUILD, away, build_like(BUILD, x, 1), build_like(BUILD, x, UINT64_MAX)));
    struct ir_value *least = build_2n(BUILD, IR_OR, build_2n(BUILD, IR_AND, bits_of(l, l->y), sign), 1);
    next = build_select(BUILD, build_fcmp(BUILD, IR_OEQ, l->x, N(0)), least, next);
    struct ir_value *r = build_convert(BUILD, IR_BITCAST, next, l->x->type);
    r = build_select(BUILD, build_fcmp(BUILD, IR_OEQ, l->x, l->y), l->y, r);
    return build_select(BUILD, build_fcmp(BUILD, IR_UNO, l->x, l->y), build_2(BUILD, IR_FADD, l->x, l->y), r);
}

struct ir_value *lower_rounding(struct library_lane *l, enum ir_expansion code)
{
    switch (code) {
    case IR_X_ROUND: return round_away(l);
    case IR_X_COPYSIGN: return copy_sign(l, l->x, l->y);
    case IR_X_SIGN: return sign_of(l);
    case IR_X_STEP: return build_select(BUILD, build_fcmp(BUILD, IR_OLT, l->y, l->x), N(0), N(1));
    case IR_X_SMOOTHSTEP: return smooth_step(l);
    case IR_X_MIX: return build_fma(BUILD, build_2(BUILD, IR_FSUB, l->y, l->x), l->z, l->x);
    case IR_X_DEGREES: return build_2(BUILD, IR_FMUL, l->x, N(57.29577951308232));
    case IR_X_RADIANS: return build_2(BUILD, IR_FMUL, l->x, N(0.017453292519943295));
    case IR_X_MAXMAG: return by_size(l, true);
    case IR_X_MINMAG: return by_size(l, false);
    case IR_X_FDIM: return positive_difference(l);
    case IR_X_LDEXP: return times_power(l);
    case IR_X_ILOGB: return exponent_of(l, true);
    case IR_X_LOGB: return exponent_of(l, false);
    case IR_X_NEXTAFTER: return next_after(l);
    case IR_X_NAN: return build_bits(BUILD, l->type, l->type->bits == 16 ? 0x7e00 : 0x7fc00000);
    default: return NULL;
    }
}
