/* The tables of operations and builtins. */
#include "isa/agx/compiler/ir.h"

#include "isa/array_count.h"

static const struct {
    const char *name;
    enum ir_op_kind kind;
    unsigned flags;
} ops[] = {
#define IR_OP(name, text, kind, flags) {text, IR_KIND_##kind, flags},
#include "isa/agx/compiler/ir_ops.inc"
};

static const struct {
    const char *name;
    unsigned operands, flags;
} builtins[] = {
#define IR_BUILTIN(name, text, operands, flags) {text, operands, flags},
#include "isa/agx/compiler/ir_builtins.inc"
};

const char *ir_op_name(unsigned op)
{
    return op < ARRAY_COUNT(ops) ? ops[op].name : "?";
}

enum ir_op_kind ir_op_kind(unsigned op)
{
    return op < ARRAY_COUNT(ops) ? ops[op].kind : IR_KIND_VALUE;
}

unsigned ir_flags(const struct ir_value *v)
{
    if (v->op == IR_BUILTIN)
        return v->builtin < ARRAY_COUNT(builtins) ? builtins[v->builtin].flags : IR_E;
    if (v->op == IR_LOAD && v->is_volatile)
        return IR_E;
    return v->op < ARRAY_COUNT(ops) ? ops[v->op].flags : IR_E;
}

const char *ir_builtin_name(unsigned builtin)
{
    return builtin < ARRAY_COUNT(builtins) ? builtins[builtin].name : "?";
}

unsigned ir_builtin_operands(unsigned builtin)
{
    return builtin < ARRAY_COUNT(builtins) ? builtins[builtin].operands : 0;
}
