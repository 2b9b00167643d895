/* Whether the operands of one instruction, and their types, are what its operation takes. */
#include "isa/agx/compiler/ir_parts.h"

#define FAIL(...) return ir_verify_fail(f, v, error, __VA_ARGS__)

/* The type of the lanes of a vector; of anything else the type itself. */
static const struct ir_type *lane(const struct ir_type *type)
{
    return type->kind == IR_VECTOR ? type->element : type;
}

static uint64_t lanes(const struct ir_type *type)
{
    return type->kind == IR_VECTOR ? type->count : 0;
}

static bool is(const struct ir_type *type, enum ir_kind kind)
{
    return lane(type)->kind == kind;
}

static bool is_first_class(const struct ir_type *type)
{
    return type->kind != IR_VOID && type->kind != IR_LABEL && type->kind != IR_METADATA;
}

static bool verify_count(const struct ir_function *f, const struct ir_value *v, unsigned count, struct isa_error *error)
{
    if (v->operands != count)
        FAIL("has %u operands instead of %u", v->operands, count);
    return true;
}

static bool verify_arithmetic(const struct ir_function *f, const struct ir_value *v, struct isa_error *error)
{
    const unsigned count = v->op == IR_FMA ? 3 : v->op == IR_FNEG || v->op == IR_FREEZE ? 1 : 2;
    if (!verify_count(f, v, count, error))
        return false;
    for (unsigned i = 0; i < count; i++)
        if (v->operand[i]->type != v->type)
            FAIL("operand %u is of another type than the result", i);
    const bool real = v->op == IR_FMA || (v->op >= IR_FADD && v->op <= IR_FNEG);
    if (v->op != IR_FREEZE && !is(v->type, real ? IR_FLOAT : IR_INT))
        FAIL("computes with %s", real ? "floats only" : "integers only");
    return true;
}

static bool verify_compare(const struct ir_function *f, const struct ir_value *v, struct isa_error *error)
{
    if (!verify_count(f, v, 2, error))
        return false;
    const struct ir_type *const type = v->operand[0]->type;
    if (v->operand[1]->type != type)
        FAIL("compares two types");
    if (v->op == IR_FCMP ? !is(type, IR_FLOAT) : !is(type, IR_INT) && !is(type, IR_POINTER))
        FAIL("does not compare this type");
    if (v->op == IR_FCMP ? v->condition < IR_FALSE || v->condition > IR_TRUE : v->condition > IR_SLE)
        FAIL("does not know condition %u", v->condition);
    if (!is(v->type, IR_INT) || lane(v->type)->bits != 1 || lanes(v->type) != lanes(type))
        FAIL("does not give i1");
    return true;
}

struct conversion {
    uint16_t op;
    enum ir_kind from, to;
    int size; /* of the result against that of the operand: -1 less, 1 more, 0 any */
};
static const struct conversion conversions[] = {
    {IR_TRUNC, IR_INT, IR_INT, -1},       {IR_ZEXT, IR_INT, IR_INT, 1},         {IR_SEXT, IR_INT, IR_INT, 1},
    {IR_FPTRUNC, IR_FLOAT, IR_FLOAT, -1}, {IR_FPEXT, IR_FLOAT, IR_FLOAT, 1},    {IR_FPTOUI, IR_FLOAT, IR_INT, 0},
    {IR_FPTOSI, IR_FLOAT, IR_INT, 0},     {IR_UITOFP, IR_INT, IR_FLOAT, 0},     {IR_SITOFP, IR_INT, IR_FLOAT, 0},
    {IR_PTRTOINT, IR_POINTER, IR_INT, 0}, {IR_INTTOPTR, IR_INT, IR_POINTER, 0}, {IR_SPACECAST, IR_POINTER, IR_POINTER, 0},
};

static uint64_t bits_of(const struct ir_type *type)
{
    return type->kind == IR_VECTOR ? type->count * type->element->bits : type->bits;
}

static bool verify_convert(const struct ir_function *f, const struct ir_value *v, struct isa_error *error)
{
    if (!verify_count(f, v, 1, error))
        return false;
    const struct ir_type *const from = v->operand[0]->type;
    if (v->op == IR_BITCAST) {
        if (!bits_of(from) || bits_of(from) != bits_of(v->type) || is(from, IR_POINTER) != is(v->type, IR_POINTER))
            FAIL("the types differ in size");
        return true;
    }
    const struct conversion *known = conversions;
    while (known->op != v->op)
        known++;
    if (!is(from, known->from) || !is(v->type, known->to) || lanes(from) != lanes(v->type))
        FAIL("does not convert between these types");
    const unsigned before = lane(from)->bits, after = lane(v->type)->bits;
    if ((known->size < 0 && after >= before) || (known->size > 0 && after <= before))
        FAIL("does not convert %u to %u bits", before, after);
    return true;
}

/* The type that `list` leads to within an aggregate; NULL when it leads nowhere. */
static const struct ir_type *listed(const struct ir_value *v)
{
    const struct ir_type *type = v->operand[0]->type;
    for (unsigned i = 0; i < v->lists; i++) {
        if ((type->kind != IR_STRUCT && type->kind != IR_ARRAY) || v->list[i] >= type->count)
            return NULL;
        type = type->kind == IR_STRUCT ? type->member[v->list[i]] : type->element;
    }
    return v->lists ? type : NULL;
}

static bool verify_parts(const struct ir_function *f, const struct ir_value *v, struct isa_error *error)
{
    static const unsigned counts[] = {[IR_EXTRACT - IR_EXTRACT] = 2,
                                      [IR_INSERT - IR_EXTRACT] = 3,
                                      [IR_SHUFFLE - IR_EXTRACT] = 2,
                                      [IR_EXTRACT_VALUE - IR_EXTRACT] = 1,
                                      [IR_INSERT_VALUE - IR_EXTRACT] = 2};
    if (!verify_count(f, v, counts[v->op - IR_EXTRACT], error))
        return false;
    const struct ir_type *const whole = v->operand[0]->type;
    if (v->op == IR_EXTRACT_VALUE || v->op == IR_INSERT_VALUE) {
        const struct ir_type *const part = listed(v);
        if (!part || part != (v->op == IR_INSERT_VALUE ? v->operand[1]->type : v->type))
            FAIL("the indices lead to another type");
        if (v->op == IR_INSERT_VALUE && v->type != whole)
            FAIL("the result is of another type than the aggregate");
        return true;
    }
    if (whole->kind != IR_VECTOR)
        FAIL("operand 0 is no vector");
    if (v->op == IR_SHUFFLE) {
        if (v->operand[1]->type != whole || v->type->kind != IR_VECTOR || v->type->element != whole->element ||
            v->type->count != v->lists)
            FAIL("the types do not fit");
        for (unsigned i = 0; i < v->lists; i++)
            if (v->list[i] != IR_NO_LANE && v->list[i] >= 2 * whole->count)
                FAIL("lane %u does not exist", v->list[i]);
        return true;
    }
    const struct ir_type *const element = v->op == IR_INSERT ? v->operand[1]->type : v->type;
    if (element != whole->element || (v->op == IR_INSERT && v->type != whole))
        FAIL("the types do not fit");
    if (v->operand[v->operands - 1]->type->kind != IR_INT)
        FAIL("the index is no integer");
    return true;
}

static bool verify_select(const struct ir_function *f, const struct ir_value *v, struct isa_error *error)
{
    if (!verify_count(f, v, 3, error))
        return false;
    const struct ir_type *const condition = v->operand[0]->type;
    if (!is(condition, IR_INT) || lane(condition)->bits != 1 || (lanes(condition) && lanes(condition) != lanes(v->type)))
        FAIL("the condition is no i1");
    if (v->operand[1]->type != v->type || v->operand[2]->type != v->type)
        FAIL("the two values are of other types than the result");
    return true;
}

static bool verify_phi_types(const struct ir_function *f, const struct ir_value *v, struct isa_error *error)
{
    for (unsigned i = 0; i < v->operands; i++)
        if (v->operand[i]->type != v->type)
            FAIL("value %u is of another type", i);
    return true;
}

static bool verify_gep(const struct ir_function *f, const struct ir_value *v, struct isa_error *error)
{
    if (!v->operands || !is(v->operand[0]->type, IR_POINTER) || !is(v->type, IR_POINTER))
        FAIL("has no pointer");
    if (!v->held)
        FAIL("does not say which type it counts");
    const struct ir_type *type = v->held;
    for (unsigned i = 1; i < v->operands; i++) {
        const struct ir_value *const index = v->operand[i];
        if (!is(index->type, IR_INT))
            FAIL("index %u is no integer", i);
        if (i == 1)
            continue;
        if (type->kind == IR_STRUCT) {
            if (index->op != IR_CONSTANT || index->bits >= type->count)
                FAIL("index %u leads out of the structure", i);
            type = type->member[index->bits];
        } else if (type->kind == IR_ARRAY || type->kind == IR_VECTOR) {
            type = type->element;
        } else {
            FAIL("index %u leads into what has no parts", i);
        }
    }
    return true;
}

static bool verify_memory(const struct ir_function *f, const struct ir_value *v, struct isa_error *error)
{
    if (v->align & (v->align - 1))
        FAIL("the alignment is %u", v->align);
    switch (v->op) {
    case IR_GEP: return verify_gep(f, v, error);
    case IR_ALLOCA:
        if (v->operands > 1 || v->type->kind != IR_POINTER || !v->held)
            FAIL("does not say what it reserves");
        return true;
    case IR_LOAD:
        if (!verify_count(f, v, 1, error))
            return false;
        if (v->operand[0]->type->kind != IR_POINTER || !is_first_class(v->type))
            FAIL("does not load a value from a pointer");
        return true;
    default:
        if (!verify_count(f, v, 2, error))
            return false;
        if (v->operand[1]->type->kind != IR_POINTER || !is_first_class(v->operand[0]->type))
            FAIL("does not store a value to a pointer");
        return true;
    }
}

static bool verify_call(const struct ir_function *f, const struct ir_value *v, struct isa_error *error)
{
    if (!v->operands || v->operand[0]->op != IR_FUNCTION)
        FAIL("calls no function");
    const struct ir_function *const callee = v->operand[0]->function;
    if (v->operands - 1 != callee->arguments && (!callee->variadic || v->operands - 1 < callee->arguments))
        FAIL("gives %.60s %u arguments instead of %u", callee->name, v->operands - 1, callee->arguments);
    if (v->type != callee->result)
        FAIL("%.60s gives another type", callee->name);
    for (unsigned i = 0; i < callee->arguments; i++)
        if (v->operand[i + 1]->type != callee->argument[i]->type)
            FAIL("argument %u of %.60s is of another type", i + 1, callee->name);
    return true;
}

static bool verify_builtin(const struct ir_function *f, const struct ir_value *v, struct isa_error *error)
{
    if (v->builtin >= IR_BUILTIN_COUNT)
        FAIL("does not exist");
    if (!verify_count(f, v, ir_builtin_operands(v->builtin), error))
        return false;
    const bool wants = v->builtin == IR_B_ATOMIC || v->builtin == IR_B_SIMD_REDUCE || v->builtin == IR_B_SIMD_PREFIX ||
                       v->builtin == IR_B_QUAD_REDUCE;
    if (wants != (v->lists == 1))
        FAIL("%s has %u kinds", ir_builtin_name(v->builtin), v->lists);
    if (wants && v->list[0] > (v->builtin == IR_B_ATOMIC ? (unsigned)IR_ATOMIC_XOR : (unsigned)IR_REDUCE_XOR))
        FAIL("%s has no kind %u", ir_builtin_name(v->builtin), v->list[0]);
    if ((v->builtin == IR_B_ATOMIC || v->builtin == IR_B_ATOMIC_CMPXCHG) && v->operand[0]->type->kind != IR_POINTER)
        FAIL("%s has no pointer", ir_builtin_name(v->builtin));
    return true;
}

static bool verify_end(const struct ir_function *f, const struct ir_value *v, struct isa_error *error)
{
    const unsigned blocks = v->op == IR_JUMP ? 1 : v->op == IR_BRANCH ? 2 : v->op == IR_SWITCH ? v->operands : 0;
    if (v->blocks != blocks || v->type->kind != IR_VOID)
        FAIL("has %u blocks instead of %u", v->blocks, blocks);
    if (v->op == IR_RETURN) {
        const bool none = f->result->kind == IR_VOID;
        if (v->operands != (none ? 0 : 1) || (!none && v->operand[0]->type != f->result))
            FAIL("does not give what the function returns");
    } else if (v->op == IR_BRANCH) {
        if (v->operands != 1 || v->operand[0]->type->kind != IR_INT || v->operand[0]->type->bits != 1)
            FAIL("the condition is no i1");
    } else if (v->op == IR_SWITCH) {
        if (!v->operands || v->operand[0]->type->kind != IR_INT)
            FAIL("has no integer");
        for (unsigned i = 1; i < v->operands; i++)
            if (v->operand[i]->op != IR_CONSTANT || v->operand[i]->type != v->operand[0]->type)
                FAIL("case %u is no constant of its type", i);
    } else {
        return verify_count(f, v, 0, error);
    }
    return true;
}

bool ir_verify_value(const struct ir_function *f, const struct ir_value *v, struct isa_error *error)
{
    switch (ir_op_kind(v->op)) {
    case IR_KIND_UNARY:
    case IR_KIND_BINARY: return verify_arithmetic(f, v, error);
    case IR_KIND_COMPARE: return verify_compare(f, v, error);
    case IR_KIND_CONVERT: return verify_convert(f, v, error);
    case IR_KIND_MEMORY: return verify_memory(f, v, error);
    case IR_KIND_BUILTIN: return verify_builtin(f, v, error);
    case IR_KIND_END: return verify_end(f, v, error);
    default: break;
    }
    switch (v->op) {
    case IR_FMA: return verify_arithmetic(f, v, error);
    case IR_SELECT: return verify_select(f, v, error);
    case IR_PHI: return verify_phi_types(f, v, error);
    case IR_CALL: return verify_call(f, v, error);
    default: return verify_parts(f, v, error);
    }
}
