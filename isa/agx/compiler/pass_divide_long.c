/* 64-bit division: one bit of the quotient at a time, unrolled. The quotient's bits come into the low end of what is divided
 * while its own leave at the high end. */
#include "isa/agx/compiler/pass_divide.h"

static struct ir_value *negated_if(struct build *b, struct ir_value *x, struct ir_value *negative)
{
    return build_select(b, negative, build_2(b, IR_SUB, build_like(b, x, 0), x), x);
}

static void divide_step(struct build *b, struct ir_value *y, struct ir_value **x, struct ir_value **rest)
{
    struct ir_value *carry = build_icmpn(b, IR_SLT, *rest, 0);
    struct ir_value *top = build_2n(b, IR_LSHR, *x, 63);
    struct ir_value *r = build_2(b, IR_OR, build_2n(b, IR_SHL, *rest, 1), top);
    struct ir_value *fits = build_2(b, IR_OR, carry, build_icmp(b, IR_UGE, r, y));
    *rest = build_select(b, fits, build_2(b, IR_SUB, r, y), r);
    *x = build_2(b, IR_OR, build_2n(b, IR_SHL, *x, 1), build_convert(b, IR_ZEXT, fits, (*x)->type));
}

struct ir_value *divide_long(struct pass *p, struct ir_value *v)
{
    struct build b = build_at(p, v);
    struct ir_value *x = v->operand[0], *y = v->operand[1];
    const bool is_signed = v->op == IR_SDIV || v->op == IR_SREM, quotient = v->op == IR_UDIV || v->op == IR_SDIV;
    struct ir_value *negative_x = NULL, *negative_y = NULL;
    if (is_signed) {
        negative_x = build_icmpn(&b, IR_SLT, x, 0);
        negative_y = build_icmpn(&b, IR_SLT, y, 0);
        x = negated_if(&b, x, negative_x);
        y = negated_if(&b, y, negative_y);
    }
    struct ir_value *rest = build_like(&b, x, 0);
    for (unsigned i = 0; i < 64; i++)
        divide_step(&b, y, &x, &rest);
    struct ir_value *r = quotient ? x : rest;
    if (!is_signed)
        return r;
    return negated_if(&b, r, quotient ? build_2(&b, IR_XOR, negative_x, negative_y) : negative_x);
}
