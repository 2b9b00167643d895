/* Library functions of whole vectors, and those with a second result behind a pointer. */
#include "isa/agx/compiler/pass_library.h"

#define BUILD &w->b

static unsigned lanes_of(const struct ir_value *v)
{
    return v->type->kind == IR_VECTOR ? (unsigned)v->type->count : 1;
}

static struct ir_value *lane_of(struct library_whole *w, struct ir_value *v, unsigned lane)
{
    return v->type->kind == IR_VECTOR ? build_extract(BUILD, v, lane) : v;
}

static struct ir_value *dot(struct library_whole *w, struct ir_value *x, struct ir_value *y)
{
    struct ir_value *sum = build_2(BUILD, IR_FMUL, lane_of(w, x, 0), lane_of(w, y, 0));
    for (unsigned i = 1; i < lanes_of(x); i++)
        sum = build_fma(BUILD, lane_of(w, x, i), lane_of(w, y, i), sum);
    return sum;
}

static struct ir_value *single(struct library_whole *w, struct ir_value *x)
{
    return build_convert(BUILD, IR_FPEXT, x, build_shape(BUILD, x->type, ir_float(w->p->m, 32)));
}

static struct ir_value *back(struct library_whole *w, struct ir_value *x)
{
    const struct ir_type *type = w->v->type->kind == IR_VECTOR ? w->v->type->element : w->v->type;
    return x->type == type ? x : build_convert(BUILD, IR_FPTRUNC, x, type);
}

/* The largest size brought near one by a power of two keeps squares in range. */
static struct ir_value *length(struct library_whole *w, struct ir_value *x, bool fast)
{
    if (fast)
        return build_b1(BUILD, IR_B_SQRT, dot(w, x, x));
    const struct ir_type *i32 = ir_int(w->p->m, 32), *f32 = ir_float(w->p->m, 32);
    struct ir_value *large = build_b1(BUILD, IR_B_FABS, lane_of(w, x, 0));
    for (unsigned i = 1; i < lanes_of(x); i++)
        large = build_b2(BUILD, IR_B_FMAX, large, build_b1(BUILD, IR_B_FABS, lane_of(w, x, i)));
    struct ir_value *e = build_2n(BUILD, IR_AND, build_convert(BUILD, IR_BITCAST, large, i32), 0x7f800000);
    e = build_b2(BUILD, IR_B_UMIN, build_b2(BUILD, IR_B_UMAX, e, build_i32(BUILD, 0x01000000)), build_i32(BUILD, 0x7e000000));
    struct ir_value *up = build_convert(BUILD, IR_BITCAST, e, f32);
    struct ir_value *down = build_convert(BUILD, IR_BITCAST, build_2(BUILD, IR_SUB, build_i32(BUILD, 0x7f000000), e), f32);
    struct ir_value *sum = NULL;
    for (unsigned i = 0; i < lanes_of(x); i++) {
        struct ir_value *one = build_2(BUILD, IR_FMUL, lane_of(w, x, i), down);
        sum = sum ? build_fma(BUILD, one, one, sum) : build_2(BUILD, IR_FMUL, one, one);
    }
    return build_2(BUILD, IR_FMUL, build_b1(BUILD, IR_B_SQRT, sum), up);
}

static struct ir_value *normalize(struct library_whole *w, struct ir_value *x, bool fast)
{
    struct ir_value *size = length(w, x, fast), *lane[16];
    struct ir_value *none = build_fcmp(BUILD, IR_OEQ, size, build_f32(BUILD, 0));
    for (unsigned i = 0; i < lanes_of(x); i++) {
        struct ir_value *one = lane_of(w, x, i);
        struct ir_value *part =
            fast ? build_2(BUILD, IR_FMUL, one, build_b1(BUILD, IR_B_RCP, size)) : build_2(BUILD, IR_FDIV, one, size);
        lane[i] = back(w, build_select(BUILD, none, one, part));
    }
    return w->v->type->kind == IR_VECTOR ? build_vector(BUILD, lane, lanes_of(x)) : lane[0];
}

static struct ir_value *cross(struct library_whole *w, struct ir_value *x, struct ir_value *y)
{
    struct ir_value *lane[4];
    for (unsigned i = 0; i < 3; i++) {
        const unsigned j = (i + 1) % 3, k = (i + 2) % 3;
        struct ir_value *minus = build_2(BUILD, IR_FMUL, lane_of(w, x, k), lane_of(w, y, j));
        lane[i] = build_fma(BUILD, lane_of(w, x, j), lane_of(w, y, k), build_1(BUILD, IR_FNEG, minus));
    }
    lane[3] = build_float_like(BUILD, lane[0], 0);
    return build_vector(BUILD, lane, lanes_of(x));
}

/* Whether the highest bit of any, or of all lanes is set. */
static struct ir_value *truth(struct library_whole *w, struct ir_value *x, bool all)
{
    struct ir_value *bits = lane_of(w, x, 0);
    for (unsigned i = 1; i < lanes_of(x); i++)
        bits = build_2(BUILD, all ? IR_AND : IR_OR, bits, lane_of(w, x, i));
    return build_resize(BUILD, build_icmpn(BUILD, IR_SLT, bits, 0), w->v->type, false);
}

static struct ir_value *shuffle(struct library_whole *w, unsigned sources)
{
    struct ir_value *mask = w->operand[sources], *lane[16];
    const unsigned lanes = lanes_of(w->operand[0]);
    for (unsigned i = 0; i < lanes_of(mask); i++) {
        struct ir_value *which = build_2n(BUILD, IR_AND, lane_of(w, mask, i), (uint64_t)lanes * sources - 1);
        lane[i] = lane_of(w, w->operand[0], 0);
        for (unsigned k = 1; k < lanes * sources; k++)
            lane[i] =
                build_select(BUILD, build_icmpn(BUILD, IR_EQ, which, k), lane_of(w, w->operand[k / lanes], k % lanes), lane[i]);
    }
    return build_vector(BUILD, lane, lanes_of(mask));
}

/* ---- two results ---- */

static struct ir_value *one_fraction(struct library_lane *l, unsigned code)
{
    /* fract: x - floor(x), but less than one; modf: x - trunc(x) with the sign of x. */
    struct build *b = &l->b;
    if (code == IR_S_FRACT) {
        struct ir_value *part = build_2(b, IR_FSUB, l->x, build_b1(b, IR_B_FLOOR, l->x));
        const double most = l->x->type->bits == 16 ? 0x1.ffcp-1 : 0x1.fffffep-1;
        part =
            build_select(b, build_fcmp(b, IR_OGT, part, build_float_like(b, l->x, most)), build_float_like(b, l->x, most), part);
        struct ir_value *size = build_b1(b, IR_B_FABS, l->x);
        return build_select(b, build_fcmp(b, IR_OEQ, size, build_float_like(b, l->x, __builtin_inf())),
                            build_float_like(b, l->x, 0), part);
    }
    struct ir_value *part = build_2(b, IR_FSUB, l->x, build_b1(b, IR_B_TRUNCATE, l->x));
    struct ir_value *endless = build_fcmp(b, IR_OEQ, build_b1(b, IR_B_FABS, l->x), build_float_like(b, l->x, __builtin_inf()));
    struct library_lane sign = *l;
    sign.y = l->x;
    sign.x = build_select(b, endless, build_float_like(b, l->x, 0), part);
    return lower_rounding(&sign, IR_X_COPYSIGN);
}

static struct ir_value *one_builtin(struct library_lane *l, unsigned code)
{
    return build_b1(&l->b, (enum ir_builtin)code, l->x);
}

static struct ir_value *one_math(struct library_lane *l, unsigned code)
{
    struct library_lane wide = *l;
    wide.x = build_convert(&l->b, IR_FPEXT, l->x, ir_float(l->p->m, 32));
    return build_convert(&l->b, IR_FPTRUNC, lower_trigonometry(&wide, (enum ir_expansion)code), l->type);
}

/* frexp: a number in [1/2, 1) and its exponent; zero, infinities and not-a-numbers stay. */
static struct ir_value *one_frexp(struct library_lane *l, unsigned exponent)
{
    struct build *b = &l->b;
    const struct ir_type *i32 = ir_int(l->p->m, 32), *f32 = ir_float(l->p->m, 32);
    struct ir_value *x = build_convert(b, IR_FPEXT, l->x, f32), *bits = build_convert(b, IR_BITCAST, x, i32);
    struct ir_value *field = build_2n(b, IR_AND, build_2n(b, IR_LSHR, bits, 23), 255);
    struct ir_value *usual = build_icmpn(b, IR_ULT, build_2n(b, IR_SUB, field, 1), 254);
    if (exponent)
        return build_select(b, usual, build_2n(b, IR_SUB, field, 126), build_i32(b, 0));
    struct ir_value *small = build_2n(b, IR_OR, build_2n(b, IR_AND, bits, 0x807fffff), 0x3f000000);
    struct ir_value *r = build_select(b, usual, build_convert(b, IR_BITCAST, small, f32), x);
    return build_convert(b, IR_FPTRUNC, r, l->x->type);
}

static struct ir_value *two_results(struct library_whole *w, enum ir_special code)
{
    const struct ir_type *type = w->v->type;
    struct ir_value *first, *second;
    if (code == IR_S_SINCOS) {
        first = lower_lanes(w, type, false, one_math, IR_X_SIN);
        second = lower_lanes(w, type, false, one_math, IR_X_COS);
    } else if (code == IR_S_FREXP) {
        first = lower_lanes(w, type, false, one_frexp, 0);
        second = lower_lanes(w, build_shape(BUILD, type, ir_int(w->p->m, 32)), false, one_frexp, 1);
    } else {
        first = lower_lanes(w, type, false, one_fraction, code);
        second = lower_lanes(w, type, false, one_builtin, code == IR_S_FRACT ? IR_B_FLOOR : IR_B_TRUNCATE);
    }
    build_store(BUILD, second, w->operand[1], 0);
    return first;
}

struct ir_value *lower_geometry(struct library_whole *w, enum ir_special code)
{
    struct ir_value *x = w->operands ? w->operand[0] : NULL;
    switch (code) {
    case IR_S_DOT: return back(w, dot(w, single(w, x), single(w, w->operand[1])));
    case IR_S_LENGTH:
    case IR_S_FAST_LENGTH: return back(w, length(w, single(w, x), code == IR_S_FAST_LENGTH));
    case IR_S_DISTANCE:
    case IR_S_FAST_DISTANCE: {
        struct ir_value *apart = build_2(BUILD, IR_FSUB, single(w, x), single(w, w->operand[1]));
        return back(w, length(w, apart, code == IR_S_FAST_DISTANCE));
    }
    case IR_S_NORMALIZE:
    case IR_S_FAST_NORMALIZE: return normalize(w, single(w, x), code == IR_S_FAST_NORMALIZE);
    case IR_S_CROSS: return cross(w, x, w->operand[1]);
    case IR_S_ANY: return truth(w, x, false);
    case IR_S_ALL: return truth(w, x, true);
    case IR_S_SHUFFLE: return shuffle(w, 1);
    case IR_S_SHUFFLE2: return shuffle(w, 2);
    case IR_S_FRACT:
    case IR_S_MODF:
    case IR_S_FREXP:
    case IR_S_SINCOS: return two_results(w, code);
    default: return NULL;
    }
}
