/* Whether a function is in the form that the back end takes (ir.h says which). */
#include "isa/agx/compiler/ir_parts.h"

#define FAIL(...) return ir_verify_fail(f, v, error, __VA_ARGS__)

static bool is_scalar(const struct ir_type *type)
{
    if (type->kind == IR_INT)
        return type->bits == 1 || type->bits == 16 || type->bits == 32 || type->bits == 64;
    return type->kind == IR_POINTER || (type->kind == IR_FLOAT && type->bits < 64);
}

static bool is_vector(const struct ir_type *type)
{
    return type->kind == IR_VECTOR && is_scalar(type->element);
}

static bool is_matrix(const struct ir_value *v)
{
    return v->op == IR_BUILTIN && v->builtin == IR_B_MATRIX_FMA;
}

/* Vectors are made by loads, by chains of INSERTs that begin undefined, and by MATRIX_FMA. */
static bool may_be_vector(const struct ir_value *v)
{
    return v->op == IR_LOAD || v->op == IR_INSERT || v->op == IR_UNDEFINED || is_matrix(v);
}

static bool may_take_vector(const struct ir_value *v, unsigned operand)
{
    return operand == 0 ? v->op == IR_EXTRACT || v->op == IR_INSERT || v->op == IR_STORE || is_matrix(v) : is_matrix(v);
}

static bool verify_types(const struct ir_function *f, const struct ir_value *v, struct isa_error *error)
{
    if (v->type->kind != IR_VOID && !is_scalar(v->type) && !(is_vector(v->type) && may_be_vector(v)))
        FAIL("a result of this type is not lowered");
    for (unsigned i = 0; i < v->operands; i++) {
        const struct ir_type *const type = v->operand[i]->type;
        if (v->operand[i]->op == IR_FUNCTION)
            FAIL("uses a function as a value");
        if (is_scalar(type))
            continue;
        if (!is_vector(type) || !may_be_vector(v->operand[i]) || !may_take_vector(v, i))
            FAIL("operand %u of this type is not lowered", i);
    }
    return true;
}

static bool verify_space(const struct ir_function *f, const struct ir_value *v, const struct ir_type *pointer,
                         struct isa_error *error)
{
    if (pointer->space == IR_GENERIC)
        FAIL("the pointer is in address space %d", (int)pointer->space);
    return true;
}

static bool verify_gep(const struct ir_function *f, const struct ir_value *v, struct isa_error *error)
{
    if (v->operands != 2)
        FAIL("has %u indices instead of one", v->operands - 1);
    const struct ir_type *const index = v->operand[1]->type, *const held = v->held;
    if (index->kind != IR_INT || (index->bits != 32 && index->bits != 64))
        FAIL("the index is not of 32 or 64 bits");
    if (held->kind != IR_INT || (held->bits != 8 && held->bits != 16 && held->bits != 32 && held->bits != 64))
        FAIL("does not count elements of 1, 2, 4 or 8 bytes");
    return true;
}

static bool verify_index(const struct ir_function *f, const struct ir_value *v, struct isa_error *error)
{
    const struct ir_value *const index = v->operand[v->operands - 1];
    if (index->op != IR_CONSTANT || index->bits >= v->operand[0]->type->count)
        FAIL("the index is no constant within the vector");
    return true;
}

static bool verify_lowered(const struct ir_function *f, const struct ir_value *v, struct isa_error *error)
{
    if (!verify_types(f, v, error))
        return false;
    switch (v->op) {
    case IR_CALL: FAIL("calls %.60s", v->operand[0]->name ? v->operand[0]->name : "a function");
    case IR_LOAD: return verify_space(f, v, v->operand[0]->type, error);
    case IR_STORE: return verify_space(f, v, v->operand[1]->type, error);
    case IR_GEP: return verify_gep(f, v, error);
    case IR_EXTRACT:
    case IR_INSERT: return verify_index(f, v, error);
    case IR_BUILTIN:
        return (v->builtin != IR_B_ATOMIC && v->builtin != IR_B_ATOMIC_CMPXCHG) || verify_space(f, v, v->operand[0]->type, error);
    default: return true;
    }
}

bool ir_verify_lowered(const struct ir_function *f, struct isa_error *error)
{
    if (!ir_verify(f, error))
        return false;
    for (const struct ir_block *b = f->first; b; b = b->next)
        for (const struct ir_value *v = b->first; v; v = v->next)
            if (!verify_lowered(f, v, error))
                return false;
    return true;
}
