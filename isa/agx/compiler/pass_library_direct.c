/* Conversions to floating point that round to zero, up or down: to the nearest first, then a step where that went the wrong way.
 */
#include "isa/agx/compiler/pass_library.h"

/* The neighbour of x with a larger or smaller magnitude. */
static struct ir_value *step(struct build *b, struct ir_value *x, bool larger)
{
    struct ir_value *bits = build_convert(b, IR_BITCAST, x, ir_int(b->m, x->type->bits));
    return build_convert(b, IR_BITCAST, build_2n(b, larger ? IR_ADD : IR_SUB, bits, 1), x->type);
}

/* `high` and `low` say where x stands above and below what it was made from. */
static struct ir_value *corrected(struct build *b, struct ir_value *x, struct ir_value *high, struct ir_value *low,
                                  enum lower_rounding rounding)
{
    struct ir_value *bits = build_convert(b, IR_BITCAST, x, ir_int(b->m, x->type->bits));
    struct ir_value *negative = build_icmpn(b, IR_SLT, bits, 0), *smaller = step(b, x, false), *larger = step(b, x, true);
    if (rounding == LOWER_ROUND_ZERO)
        return build_select(b, build_select(b, negative, low, high), smaller, x);
    if (rounding == LOWER_ROUND_UP)
        return build_select(b, low, build_select(b, negative, smaller, larger), x);
    return build_select(b, high, build_select(b, negative, larger, smaller), x);
}

static struct ir_value *half_of_float(struct build *b, struct ir_value *x, enum lower_rounding rounding)
{
    struct ir_value *half = build_convert(b, IR_FPTRUNC, x, ir_float(b->m, 16));
    struct ir_value *again = build_convert(b, IR_FPEXT, half, x->type);
    return corrected(b, half, build_fcmp(b, IR_OGT, again, x), build_fcmp(b, IR_OLT, again, x), rounding);
}

static struct ir_value *float_of_integer(struct build *b, struct ir_value *x, enum lower_rounding rounding, bool is_signed)
{
    const struct ir_type *i64 = ir_int(b->m, 64);
    struct ir_value *f = build_any(b, is_signed ? IR_SITOFP : IR_UITOFP, ir_float(b->m, 32), &x, 1);
    if (x->type->bits <= 24)
        return f;
    struct ir_value *wide = build_resize(b, x, i64, is_signed);
    struct ir_value *again = build_any(b, is_signed ? IR_FPTOSI : IR_FPTOUI, i64, &f, 1);
    struct ir_value *high = build_icmp(b, is_signed ? IR_SGT : IR_UGT, again, wide);
    struct ir_value *low = build_icmp(b, is_signed ? IR_SLT : IR_ULT, again, wide);
    if (x->type->bits == 64) { /* the power of two behind the largest number is no number of 64 bits */
        struct ir_value *over = build_fcmp(b, IR_OGE, f, build_f32(b, is_signed ? 0x1p63F : 0x1p64F));
        high = build_2(b, IR_OR, high, over);
        low = build_2(b, IR_AND, low, build_not(b, over));
    }
    return corrected(b, f, high, low, rounding);
}

struct ir_value *lower_directed(struct build *b, struct ir_value *x, const struct ir_type *type, enum lower_rounding rounding,
                                bool is_signed)
{
    const bool from_float = x->type->kind == IR_FLOAT;
    struct ir_value *r = from_float ? x : float_of_integer(b, x, rounding, is_signed);
    if (type->bits < r->type->bits)
        return half_of_float(b, r, rounding);
    return build_convert(b, IR_FPEXT, r, type);
}
