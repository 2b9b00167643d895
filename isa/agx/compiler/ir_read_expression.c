/* Constant expressions. Those that say nothing new are folded; within a function others become instructions. Outside, where no
 * instruction can stand, they are refused. */
#include "isa/agx/compiler/ir_read_parts.h"

#include "isa/array_count.h"

static const enum ir_op expressions[] = {
    IR_GEP,    IR_BITCAST, IR_SPACECAST, IR_PTRTOINT, IR_INTTOPTR, IR_TRUNC,  IR_ZEXT,    IR_SEXT,   IR_FPTRUNC, IR_FPEXT,
    IR_FPTOUI, IR_FPTOSI,  IR_UITOFP,    IR_SITOFP,   IR_ADD,      IR_SUB,    IR_MUL,     IR_SHL,    IR_LSHR,    IR_ASHR,
    IR_AND,    IR_OR,      IR_XOR,       IR_ICMP,     IR_FCMP,     IR_SELECT, IR_EXTRACT, IR_INSERT,
};

static bool all_zero(const struct ir_reader *r, size_t from)
{
    for (size_t i = from; i < r->operands; i++)
        if (r->operand[i]->op != IR_CONSTANT || r->operand[i]->bits)
            return false;
    return true;
}

/* What is given without an instruction: NULL when there is nothing of the kind. */
static struct ir_value *folded(struct ir_reader *r, enum ir_op op, const struct ir_type *type, size_t from)
{
    struct ir_value *const first = r->operand[from];
    const bool pointers = first->type->kind == IR_POINTER && type->kind == IR_POINTER;
    if (op == IR_GEP)
        return first->type == type && all_zero(r, from + 1) ? first : NULL;
    if ((op == IR_BITCAST || op == IR_SPACECAST) && (first->type == type || (pointers && r->loose)))
        return first;
    if ((op == IR_INTTOPTR || op == IR_PTRTOINT) && first->op == IR_CONSTANT && first->type->kind != IR_VECTOR)
        return ir_constant(r->m, type, first->bits);
    if (op == IR_SPACECAST && first->op == IR_CONSTANT && first->bits == 0)
        return ir_constant(r->m, type, 0);
    return NULL;
}

static bool is_conversion(enum ir_op op)
{
    return ir_op_kind(op) == IR_KIND_CONVERT;
}

static const struct ir_type *result_type(struct ir_reader *r, enum ir_op op, const struct ir_type *wanted, size_t from)
{
    const size_t count = r->operands - from;
    const size_t least = op == IR_GEP || is_conversion(op) ? 1 : op == IR_SELECT || op == IR_INSERT ? 3 : 2;
    if (count < least || (count > least && op != IR_GEP))
        return ir_read_fail(r, "a constant expression has %zu operands", count), NULL;
    switch (op) {
    case IR_GEP: return ir_gep_type(r, from);
    case IR_ICMP:
    case IR_FCMP: return ir_truth_type(r, r->operand[from]->type);
    case IR_SELECT: return r->operand[from + 1]->type;
    case IR_EXTRACT: return r->operand[from]->type->kind == IR_VECTOR ? r->operand[from]->type->element : wanted;
    default: return is_conversion(op) ? wanted : r->operand[from]->type;
    }
}

/* Behind the operation and its flags: (TYPE A, TYPE B), (TYPE A to TYPE), (TYPE, TYPE A, ...) */
static struct ir_value *read_expression(struct ir_reader *r, enum ir_op op, const struct ir_type *wanted)
{
    const struct ir_type *held = NULL;
    const size_t from = r->operands;
    const struct ir_flags_read flags = ir_read_flags(r);
    uint8_t condition = 0;
    if (((op == IR_ICMP || op == IR_FCMP) && !ir_read_condition(r, op == IR_FCMP, &condition)) || !ir_want_sign(r, '('))
        return NULL;
    if (op == IR_GEP && (!(held = ir_read_type(r)) || !ir_want_sign(r, ',')))
        return NULL;
    do {
        (void)ir_take(r, "inrange");
        if (!ir_push_typed(r))
            return NULL;
    } while (ir_take_sign(r, ','));
    if (is_conversion(op)) {
        if (!ir_want(r, "to"))
            return NULL;
        const struct ir_type *const to = ir_read_type(r);
        if (!to)
            return NULL;
        if (to != wanted)
            return ir_read_fail(r, "a constant expression gives another type"), NULL;
    }
    const struct ir_type *const type = result_type(r, op, wanted, from);
    if (!type || !ir_want_sign(r, ')'))
        return NULL;
    if (type != wanted && !(r->loose && type->kind == wanted->kind))
        return ir_read_fail(r, "a constant expression gives another type"), NULL;
    struct ir_value *const same = folded(r, op, type, from);
    if (same) {
        r->operands = from;
        return same;
    }
    if (!r->f)
        return ir_read_fail(r, "a computed constant (%s) in an initial value is not supported", ir_op_name(op)), NULL;
    struct ir_value *const v = ir_put(r, op, type, from);
    if (v) {
        v->held = held;
        v->condition = condition;
        v->exact = flags.exact && ir_op_kind(op) == IR_KIND_BINARY;
    }
    return v;
}

struct ir_value *ir_read_expression(struct ir_reader *r, const struct ir_type *type)
{
    for (unsigned i = 0; i < ARRAY_COUNT(expressions); i++)
        if (ir_take(r, ir_op_name(expressions[i])))
            return read_expression(r, expressions[i], type);
    return ir_read_fail(r, "the constant is not supported, or does not fit its type"), NULL;
}
