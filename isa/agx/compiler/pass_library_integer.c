/* Library functions of integers and comparisons, lane by lane. */
#include "isa/agx/compiler/pass_library.h"

#define BUILD &l->b

static struct ir_value *integer_extreme(struct library_lane *l, bool largest, struct ir_value *x, struct ir_value *y)
{
    static const enum ir_builtin which[2][3] = {{IR_B_UMIN, IR_B_SMIN, IR_B_FMIN}, {IR_B_UMAX, IR_B_SMAX, IR_B_FMAX}};
    return build_b2(BUILD, which[largest][x->type->kind == IR_FLOAT ? 2 : l->is_signed], x, y);
}

static struct ir_value *integer_difference(struct library_lane *l)
{
    const enum ir_condition less = l->is_signed ? IR_SLT : IR_ULT;
    return build_select(BUILD, build_icmp(BUILD, less, l->x, l->y), build_2(BUILD, IR_SUB, l->y, l->x),
                        build_2(BUILD, IR_SUB, l->x, l->y));
}

/* (x + y) >> 1 without overflow; rounded up: (x | y) - ((x ^ y) >> 1). */
static struct ir_value *integer_half_sum(struct library_lane *l, bool up)
{
    struct ir_value *differ = build_2(BUILD, IR_XOR, l->x, l->y);
    struct ir_value *half = build_2n(BUILD, l->is_signed ? IR_ASHR : IR_LSHR, differ, 1);
    return up ? build_2(BUILD, IR_SUB, build_2(BUILD, IR_OR, l->x, l->y), half)
              : build_2(BUILD, IR_ADD, build_2(BUILD, IR_AND, l->x, l->y), half);
}

static struct ir_value *integer_upsample(struct library_lane *l)
{
    struct ir_value *high = build_resize(BUILD, l->x, l->type, l->is_signed), *low = build_resize(BUILD, l->y, l->type, false);
    return build_2(BUILD, IR_OR, build_2n(BUILD, IR_SHL, high, l->x->type->bits), low);
}

static struct ir_value *integer_bitselect(struct library_lane *l)
{
    const struct ir_type *type = l->x->type, *bits = ir_int(l->p->m, type->bits);
    struct ir_value *x = build_convert(BUILD, IR_BITCAST, l->x, bits), *y = build_convert(BUILD, IR_BITCAST, l->y, bits);
    struct ir_value *mask = build_convert(BUILD, IR_BITCAST, l->z, bits);
    struct ir_value *r = build_2(BUILD, IR_XOR, x, build_2(BUILD, IR_AND, build_2(BUILD, IR_XOR, x, y), mask));
    return build_convert(BUILD, IR_BITCAST, r, type);
}

/* Scalars: z is true when not zero; lanes: when its highest bit is set. */
static struct ir_value *integer_select(struct library_lane *l)
{
    return build_select(BUILD, build_icmpn(BUILD, l->is_vector ? IR_SLT : IR_NE, l->z, 0), l->y, l->x);
}

/* x * y + z in 128 bits, of which the high half says whether it fits. */
static struct ir_value *integer_mad_sat_long(struct library_lane *l)
{
    struct ir_value *product = build_2(BUILD, IR_MUL, l->x, l->y), *sum = build_2(BUILD, IR_ADD, product, l->z);
    struct ir_value *high = build_b2(BUILD, l->is_signed ? IR_B_MUL_HIGH_S : IR_B_MUL_HIGH_U, l->x, l->y);
    high = build_2(BUILD, IR_ADD, high, build_convert(BUILD, IR_ZEXT, build_icmp(BUILD, IR_ULT, sum, product), l->type));
    if (!l->is_signed)
        return build_select(BUILD, build_icmpn(BUILD, IR_NE, high, 0), build_like(BUILD, sum, UINT64_MAX), sum);
    high = build_2(BUILD, IR_ADD, high, build_2n(BUILD, IR_ASHR, l->z, 63));
    struct ir_value *limit = build_select(BUILD, build_icmpn(BUILD, IR_SLT, high, 0), build_like(BUILD, sum, UINT64_C(1) << 63),
                                          build_like(BUILD, sum, INT64_MAX));
    return build_select(BUILD, build_icmp(BUILD, IR_EQ, high, build_2n(BUILD, IR_ASHR, sum, 63)), sum, limit);
}

/* The product saturates before the sum does only in one direction, so the sum is done in twice the width. */
static struct ir_value *integer_mad_sat(struct library_lane *l)
{
    const unsigned bits = l->type->bits;
    if (bits > 32)
        return integer_mad_sat_long(l);
    const struct ir_type *wide = ir_int(l->p->m, 64);
    struct ir_value *x = build_resize(BUILD, l->x, wide, l->is_signed), *y = build_resize(BUILD, l->y, wide, l->is_signed);
    struct ir_value *sum = build_2(BUILD, IR_ADD, build_2(BUILD, IR_MUL, x, y), build_resize(BUILD, l->z, wide, l->is_signed));
    const uint64_t most = l->is_signed ? (UINT64_C(1) << (bits - 1)) - 1 : (UINT64_C(1) << bits) - 1;
    struct ir_value *high = build_like(BUILD, sum, most), *low = build_like(BUILD, sum, l->is_signed ? ~most : 0);
    sum = build_select(BUILD, build_icmp(BUILD, l->is_signed ? IR_SGT : IR_UGT, sum, high), high, sum);
    if (l->is_signed)
        sum = build_select(BUILD, build_icmp(BUILD, IR_SLT, sum, low), low, sum);
    return build_convert(BUILD, IR_TRUNC, sum, l->type);
}

struct ir_value *lower_integer(struct library_lane *l, enum ir_expansion code)
{
    const enum ir_builtin high = l->is_signed ? IR_B_MUL_HIGH_S : IR_B_MUL_HIGH_U;
    switch (code) {
    case IR_X_ABS:
        return l->is_signed ? build_b2(BUILD, IR_B_SMAX, l->x, build_2(BUILD, IR_SUB, build_like(BUILD, l->x, 0), l->x)) : l->x;
    case IR_X_ABS_DIFF: return integer_difference(l);
    case IR_X_CLAMP: return integer_extreme(l, false, integer_extreme(l, true, l->x, l->y), l->z);
    case IR_X_MAD24: return build_2(BUILD, IR_ADD, build_2(BUILD, IR_MUL, l->x, l->y), l->z);
    case IR_X_MAD_HI: return build_2(BUILD, IR_ADD, build_b2(BUILD, high, l->x, l->y), l->z);
    case IR_X_MAD_SAT: return integer_mad_sat(l);
    case IR_X_HADD: return integer_half_sum(l, false);
    case IR_X_RHADD: return integer_half_sum(l, true);
    case IR_X_ROTATE: return build_b3(BUILD, IR_B_FUNNEL_LEFT, l->x, l->x, l->y);
    case IR_X_UPSAMPLE: return integer_upsample(l);
    case IR_X_BITSELECT: return integer_bitselect(l);
    case IR_X_SELECT: return integer_select(l);
    default: return NULL;
    }
}

/* Comparisons give 1 for scalars and -1 in lanes. */
static struct ir_value *relation_result(struct library_lane *l, struct ir_value *is)
{
    return build_resize(BUILD, is, l->type, l->is_vector);
}

static struct ir_value *relation_class(struct library_lane *l, enum ir_expansion code)
{
    const bool half = l->x->type->bits == 16;
    const uint64_t infinity = half ? 0x7c00 : 0x7f800000, least = half ? 0x0400 : 0x00800000;
    const unsigned sign = half ? 15 : 31;
    struct ir_value *bits = build_convert(BUILD, IR_BITCAST, l->x, ir_int(l->p->m, sign + 1));
    struct ir_value *size = build_2n(BUILD, IR_AND, bits, (UINT64_C(1) << sign) - 1);
    switch (code) {
    case IR_X_ISFINITE: return build_icmpn(BUILD, IR_ULT, size, infinity);
    case IR_X_ISINF: return build_icmpn(BUILD, IR_EQ, size, infinity);
    case IR_X_ISNORMAL: return build_icmpn(BUILD, IR_ULT, build_2n(BUILD, IR_SUB, size, least), infinity - least);
    case IR_X_SIGNBIT: return build_icmpn(BUILD, IR_NE, build_2n(BUILD, IR_LSHR, bits, sign), 0);
    default: return NULL;
    }
}

struct ir_value *lower_relation(struct library_lane *l, enum ir_expansion code)
{
    enum ir_condition c;
    switch (code) {
    case IR_X_ISFINITE:
    case IR_X_ISINF:
    case IR_X_ISNORMAL:
    case IR_X_SIGNBIT: return relation_result(l, relation_class(l, code));
    case IR_X_ISNAN: return relation_result(l, build_fcmp(BUILD, IR_UNO, l->x, l->x));
    case IR_X_ISEQUAL: c = IR_OEQ; break;
    case IR_X_ISNOTEQUAL: c = IR_UNE; break;
    case IR_X_ISGREATER: c = IR_OGT; break;
    case IR_X_ISGREATEREQUAL: c = IR_OGE; break;
    case IR_X_ISLESS: c = IR_OLT; break;
    case IR_X_ISLESSEQUAL: c = IR_OLE; break;
    case IR_X_ISLESSGREATER: c = IR_ONE; break;
    case IR_X_ISORDERED: c = IR_ORD; break;
    case IR_X_ISUNORDERED: c = IR_UNO; break;
    default: return NULL;
    }
    return relation_result(l, build_fcmp(BUILD, c, l->x, l->y));
}
