#include "isa/agx/compiler/ir_own_names.h"

#include "isa/array_count.h"

#include <stdio.h>
#include <string.h>

#define PREFIX "__orchard_"

/* In the order of enum ir_atomic and enum ir_reduction. */
static const char *const atomics[] = {"add", "sub", "xchg", "umin", "smin", "umax", "smax", "and", "or", "xor"};
static const char *const reductions[] = {"add",  "fadd", "fmul", "fmin", "fmax", "umin",
                                         "umax", "smin", "smax", "and",  "or",   "xor"};

/* Whether `name` begins with the word and goes on with another or ends. */
static bool begins(const char *name, const char *word)
{
    const size_t length = strlen(word);
    return strncmp(name, word, length) == 0 && (name[length] == 0 || name[length] == '_');
}

/* The builtin with the longest name that fits; IR_BUILTIN_COUNT = none. */
static unsigned builtin_of(const char *name)
{
    unsigned best = IR_BUILTIN_COUNT;
    size_t longest = 0;
    for (unsigned i = 0; i < IR_BUILTIN_COUNT; i++)
        if (begins(name, ir_builtin_name(i)) && strlen(ir_builtin_name(i)) > longest) {
            best = i;
            longest = strlen(ir_builtin_name(i));
        }
    return best;
}

/* The kind that follows; -1 = none is needed, -2 = it is no kind. */
static int kind_of(unsigned builtin, const char *rest)
{
    const bool atomic = builtin == IR_B_ATOMIC;
    const char *const *const words = atomic ? atomics : reductions;
    if (!atomic && builtin != IR_B_SIMD_REDUCE && builtin != IR_B_SIMD_PREFIX && builtin != IR_B_QUAD_REDUCE)
        return -1;
    for (size_t i = 0; rest[0] == '_' && i < (atomic ? ARRAY_COUNT(atomics) : ARRAY_COUNT(reductions)); i++)
        if (begins(rest + 1, words[i]))
            return (int)i;
    return -2;
}

static bool replace(struct ir_function *f, struct ir_value *call, struct isa_error *error)
{
    const char *const name = call->operand[0]->function->name + strlen(PREFIX);
    const unsigned builtin = builtin_of(name);
    const int kind = builtin < IR_BUILTIN_COUNT ? kind_of(builtin, name + strlen(ir_builtin_name(builtin))) : -2;
    if (kind == -2 || call->operands != ir_builtin_operands(builtin) + 1) {
        *error = (struct isa_error){.line = call->line};
        snprintf(error->text, sizeof error->text, "%.150s is no builtin with %u operands", call->operand[0]->function->name,
                 call->operands - 1);
        return false;
    }
    struct ir_value *const v = ir_make_builtin(f, (enum ir_builtin)builtin, call->type, call->operand + 1, call->operands - 1);
    v->line = call->line;
    v->file = call->file;
    if (kind >= 0) {
        v->list = ir_alloc(f->module, sizeof *v->list);
        v->list[0] = (uint32_t)kind;
        v->lists = 1;
    }
    ir_insert_before(call, v);
    ir_replace(f, call, v);
    ir_remove(call);
    return true;
}

bool ir_own_names(struct ir_module *m, struct isa_error *error)
{
    for (struct ir_function *f = ir_module_functions(m); f; f = f->next)
        for (struct ir_block *b = f->first; b; b = b->next)
            for (struct ir_value *v = b->first, *next; v; v = next) {
                next = v->next;
                if (v->op != IR_CALL || v->operand[0]->op != IR_FUNCTION || !v->operand[0]->function->declared_only ||
                    strncmp(v->operand[0]->function->name, PREFIX, strlen(PREFIX)) != 0)
                    continue;
                if (!replace(f, v, error))
                    return false;
            }
    return true;
}
