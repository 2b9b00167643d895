/* 64-bit division: a loop that finds one bit of the quotient at a time. The quotient's bits come into the low end of what is
 * divided while its own leave at the high end; zeros at that end take no turns. */
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

/* Of numbers without sign. */
static struct ir_value *divide_loop(struct build *b, struct ir_value *x, struct ir_value *y, bool quotient)
{
    const struct ir_type *i32 = ir_int(b->m, 32);
    struct ir_value *zero = build_like(b, x, 0), *none = build_b1(b, IR_B_CLZ, x);
    struct ir_value *top = build_2(b, IR_SHL, x, build_2n(b, IR_AND, none, 63));
    struct ir_value *turns = build_2(b, IR_SUB, build_i32(b, 64), build_convert(b, IR_TRUNC, none, i32));
    struct build_loop l = build_loop_open(b, build_icmpn(b, IR_NE, x, 0));
    struct ir_value *left = build_loop_phi(&l, turns), *above = build_loop_phi(&l, zero), *now = build_loop_phi(&l, top);
    struct ir_value *next = now, *rest = above, *fewer = build_2n(&l.b, IR_SUB, left, 1);
    divide_step(&l.b, y, &next, &rest);
    build_loop_next(&l, left, fewer);
    build_loop_next(&l, above, rest);
    build_loop_next(&l, now, next);
    struct ir_value *r = build_loop_result(&l, zero, quotient ? next : rest);
    build_loop_close(&l, build_icmpn(&l.b, IR_NE, fewer, 0));
    return r;
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
    struct ir_value *r = divide_loop(&b, x, y, quotient);
    if (!is_signed)
        return r;
    return negated_if(&b, r, quotient ? build_2(&b, IR_XOR, negative_x, negative_y) : negative_x);
}
