/* Compares: held by branches and selects, combined, or made 0 and 1. */
#include "isa/agx/agx_table.h"
#include "isa/agx/compiler/agx_select.h"

struct code {
    uint8_t code;
    bool swap, invert, known;
};

/* By ir_condition of ICMP. */
static const struct code integer_codes[] = {
    [IR_EQ] = {AGX_UEQ, false, false, true},  [IR_NE] = {AGX_UEQ, false, true, true},   [IR_UGT] = {AGX_UGT, false, false, true},
    [IR_UGE] = {AGX_ULT, false, true, true},  [IR_ULT] = {AGX_ULT, false, false, true}, [IR_ULE] = {AGX_UGT, false, true, true},
    [IR_SGT] = {AGX_SGT, false, false, true}, [IR_SGE] = {AGX_SLT, false, true, true},  [IR_SLT] = {AGX_SLT, false, false, true},
    [IR_SLE] = {AGX_SGT, false, true, true},
};
/* By ir_condition of FCMP; the unordered ones are inverted ordered ones. ONE, UEQ, ORD and UNO need two compares. */
static const struct code float_codes[] = {
    [IR_OEQ] = {AGX_FEQ, false, false, true},
    [IR_OGT] = {AGX_FGT, false, false, true},
    [IR_OGE] = {AGX_FGE, false, false, true},
    [IR_OLT] = {AGX_FLT, false, false, true},
    [IR_OLE] = {AGX_FLE, false, false, true},
    [IR_FUGT] = {AGX_FLE, false, true, true},
    [IR_FUGE] = {AGX_FLT, false, true, true},
    [IR_FULT] = {AGX_FGE, false, true, true},
    [IR_FULE] = {AGX_FGT, false, true, true},
    [IR_UNE] = {AGX_FEQ, false, true, true},
    [IR_TRUE] = {0},
};
const char *agx_condition_name(const struct agx_condition *condition, bool may_invert)
{
    return agx_condition_text(condition->is_float, condition->code | (may_invert && condition->invert ? 8U : 0U));
}

static struct agx_condition of_boolean(struct agx_compiler *c, const struct ir_value *v)
{
    return (struct agx_condition){.invert = true, .code = AGX_UEQ, .a = agx_exact(c, v), .b = agx_number(0, 16)};
}

static bool is_single(const struct ir_value *v)
{
    if (v->op == IR_ICMP)
        return agx_bits(v->operand[0]->type) < 64;
    if (v->op != IR_FCMP)
        return false;
    /* With one operand, or a number beside it, ordered means equal to itself. */
    const bool self = v->operand[0] == v->operand[1] || v->operand[1]->op == IR_CONSTANT;
    return float_codes[v->condition].known || ((v->condition == IR_ORD || v->condition == IR_UNO) && self);
}

static struct agx_condition of_float(struct agx_compiler *c, const struct ir_value *v)
{
    const unsigned bits = v->operand[0]->type->bits;
    const bool self = v->condition == IR_ORD || v->condition == IR_UNO;
    const struct code code = self ? (struct code){AGX_FEQ, false, v->condition == IR_UNO, true} : float_codes[v->condition];
    return (struct agx_condition){.is_float = true,
                                  .invert = code.invert,
                                  .code = code.code,
                                  .a = agx_float_source(c, v->operand[0], 32),
                                  .b = agx_float_source(c, self ? v->operand[0] : v->operand[1], bits)};
}

static struct agx_condition of_integer(struct agx_compiler *c, const struct ir_value *v)
{
    const struct code code = integer_codes[v->condition];
    /* Signed compares extend halves by their own sign, so that these must have been halves all along. */
    const bool is_signed = code.code >= AGX_SEQ;
    const struct agx_ref a = is_signed ? agx_exact(c, v->operand[0]) : agx_view(c, v->operand[0]);
    const struct agx_ref b = is_signed ? agx_exact(c, v->operand[1]) : agx_view(c, v->operand[1]);
    return (struct agx_condition){.invert = code.invert, .code = code.code, .a = a, .b = b};
}

static bool is_not(const struct ir_value *v)
{
    return v->op == IR_XOR && v->type->kind == IR_INT && v->type->bits == 1 && v->operand[1]->op == IR_CONSTANT &&
           v->operand[1]->bits & 1;
}

struct agx_condition agx_condition_of(struct agx_compiler *c, const struct ir_value *v)
{
    bool inverted = false;
    for (; is_not(v) || v->op == IR_FREEZE; v = v->operand[0])
        inverted = inverted != is_not(v);
    struct agx_condition condition = !is_single(v) ? of_boolean(c, v) : v->op == IR_FCMP ? of_float(c, v) : of_integer(c, v);
    condition.invert = condition.invert != inverted;
    return condition;
}

/* a && b also comes as a select. */
static bool is_both(const struct ir_value *v, bool inverted, const struct ir_value **a, const struct ir_value **b)
{
    if (v->op == (inverted ? IR_OR : IR_AND)) {
        *a = v->operand[0];
        *b = v->operand[1];
        return true;
    }
    const struct ir_value *const fixed = v->op == IR_SELECT ? v->operand[inverted ? 1 : 2] : NULL;
    if (!fixed || fixed->op != IR_CONSTANT || (fixed->bits & 1) != inverted)
        return false;
    *a = v->operand[0];
    *b = v->operand[inverted ? 2 : 1];
    return true;
}

unsigned agx_conjunction(struct agx_compiler *c, const struct ir_value *v, bool inverted, struct agx_condition *out,
                         unsigned room)
{
    const struct ir_value *a, *b;
    for (; is_not(v) || v->op == IR_FREEZE; v = v->operand[0])
        inverted = inverted != is_not(v);
    if (room > 1 && agx_note_of(c, v)->uses == 1 && is_both(v, inverted, &a, &b)) {
        const unsigned used = agx_conjunction(c, a, inverted, out, room - 1);
        return used + agx_conjunction(c, b, inverted, out + used, room - used);
    }
    *out = agx_condition_of(c, v);
    out->invert = out->invert != inverted;
    return 1;
}

void agx_emit_select(struct agx_compiler *c, const struct agx_condition *condition, struct agx_ref to, struct agx_ref yes,
                     struct agx_ref no)
{
    const char *const format = agx_text(c, "%s %s, %%d, %%0, %%1, %%2, %%3", condition->is_float ? "fcmpsel" : "icmpsel",
                                        agx_condition_name(condition, false));
    if (condition->invert)
        AGX_EMIT(c, format, to, condition->a, condition->b, no, yes);
    else
        AGX_EMIT(c, format, to, condition->a, condition->b, yes, no);
}

/* Ordered and different, and its like: one compare decides unless it fails, then the other does. */
static void select_two_compares(struct agx_compiler *c, const struct ir_value *v)
{
    const bool inverted = v->condition == IR_UEQ || v->condition == IR_UNO;
    const bool self = v->condition == IR_ORD || v->condition == IR_UNO;
    const unsigned bits = v->operand[0]->type->bits;
    const struct agx_ref a = agx_float_source(c, v->operand[0], bits), b = agx_float_source(c, v->operand[1], bits);
    const struct agx_ref first = agx_new(c, 16, 1), yes = agx_number(!inverted, 16), no = agx_number(inverted, 16);
    struct agx_condition test = {.is_float = true, .code = self ? AGX_FEQ : AGX_FLT, .a = a, .b = self ? a : b};
    agx_emit_select(c, &test, first, yes, no);
    test.code = self ? AGX_FEQ : AGX_FGT;
    test.a = self ? b : a;
    test.b = b;
    if (self)
        agx_emit_select(c, &test, agx_to(c, v), first, no);
    else
        agx_emit_select(c, &test, agx_to(c, v), yes, first);
}

void agx_select_compare(struct agx_compiler *c, const struct ir_value *v)
{
    if (v->op == IR_FCMP && (v->condition == IR_TRUE || v->condition == IR_FALSE)) {
        agx_emit_copy(c, agx_to(c, v), agx_number(v->condition == IR_TRUE, 16));
    } else if (is_single(v)) {
        const struct agx_condition condition = agx_condition_of(c, v);
        agx_emit_select(c, &condition, agx_to(c, v), agx_number(1, 16), agx_number(0, 16));
    } else if (v->op == IR_ICMP) {
        agx_select_wide_compare(c, v);
    } else {
        select_two_compares(c, v);
    }
}

bool agx_select_boolean(struct agx_compiler *c, const struct ir_value *v)
{
    const struct ir_value *a, *b;
    if (v->type->kind != IR_INT || v->type->bits != 1 || v->op == IR_PHI)
        return false;
    if (is_not(v)) {
        const struct agx_condition condition = agx_condition_of(c, v);
        agx_emit_select(c, &condition, agx_to(c, v), agx_number(1, 16), agx_number(0, 16));
        return true;
    }
    for (unsigned inverted = 0; inverted < 2; inverted++)
        if (is_both(v, inverted, &a, &b)) { /* the compare that can be held goes second */
            if (v->op != IR_SELECT && !is_single(b)) {
                const struct ir_value *const other = a;
                a = b;
                b = other;
            }
            const struct agx_condition condition = agx_condition_of(c, b);
            const struct agx_ref first = agx_exact(c, a), fixed = agx_number(inverted, 16);
            agx_emit_select(c, &condition, agx_to(c, v), inverted ? fixed : first, inverted ? first : fixed);
            return true;
        }
    if (v->op != IR_XOR)
        return false;
    AGX_EMIT(c, "xor %d, %0, %1", agx_to(c, v), agx_exact(c, v->operand[0]), agx_exact(c, v->operand[1]));
    return true;
}
