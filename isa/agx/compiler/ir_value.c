/* Making and changing values: constants, instructions, their order and their operands. */
#include "isa/agx/compiler/ir_parts.h"

#include <string.h>

/* ---- constants ---- */

static bool same_constant(const void *item, const void *key)
{
    const struct ir_value *const a = item, *const b = key;
    return a->op == b->op && a->type == b->type && a->bits == b->bits && a->operands == b->operands &&
           (!a->operands || memcmp(a->operand, b->operand, a->operands * sizeof(struct ir_value *)) == 0);
}

static struct ir_value *intern_constant(struct ir_module *m, struct ir_value key)
{
    uint64_t hash = ir_hash(ir_hash_pointer(key.op, key.type), key.bits);
    for (unsigned i = 0; i < key.operands; i++)
        hash = ir_hash_pointer(hash, key.operand[i]);
    struct ir_value *v = ir_intern_find(&m->constants, hash, same_constant, &key);
    if (v)
        return v;
    v = ir_alloc(m, sizeof *v);
    struct ir_value **operand = NULL;
    if (key.operands) {
        operand = ir_alloc(m, key.operands * sizeof *operand);
        if (!m->failed)
            memcpy(operand, key.operand, key.operands * sizeof *operand);
    }
    if (m->failed || !ir_intern_add(&m->constants, hash, v)) {
        m->failed = true;
        return &m->scrap_value;
    }
    *v = key;
    v->operand = operand;
    v->id = m->next_id++;
    return v;
}

struct ir_value *ir_constant(struct ir_module *m, const struct ir_type *type, uint64_t bits)
{
    if ((type->kind == IR_INT || type->kind == IR_FLOAT) && type->bits < 64)
        bits &= (UINT64_C(1) << type->bits) - 1;
    return intern_constant(m, (struct ir_value){.op = IR_CONSTANT, .type = type, .bits = bits});
}

struct ir_value *ir_undefined(struct ir_module *m, const struct ir_type *type)
{
    return intern_constant(m, (struct ir_value){.op = IR_UNDEFINED, .type = type});
}

struct ir_value *ir_aggregate(struct ir_module *m, const struct ir_type *type, struct ir_value *const *member, unsigned members)
{
    return intern_constant(
        m, (struct ir_value){.op = IR_AGGREGATE, .type = type, .operand = (struct ir_value **)member, .operands = members});
}

/* ---- instructions ---- */

static struct ir_value *make(struct ir_function *f, struct ir_value made, struct ir_value *const *operand)
{
    struct ir_module *const m = f->module;
    struct ir_value_inside *const inside = ir_alloc(m, sizeof *inside);
    struct ir_value *const v = &inside->value;
    if (made.operands) {
        made.operand = ir_alloc(m, made.operands * sizeof *made.operand);
        if (!m->failed)
            memcpy(made.operand, operand, made.operands * sizeof *made.operand);
    }
    if (m->failed)
        return &m->scrap_value;
    *v = made;
    inside->module = m;
    v->id = f->next_id++;
    return v;
}

struct ir_value *ir_make(struct ir_function *f, enum ir_op op, const struct ir_type *type, struct ir_value *const *operand,
                         unsigned operands)
{
    return make(f, (struct ir_value){.op = (uint16_t)op, .type = type, .operands = operands}, operand);
}

struct ir_value *ir_make_builtin(struct ir_function *f, enum ir_builtin builtin, const struct ir_type *type,
                                 struct ir_value *const *operand, unsigned operands)
{
    return make(f, (struct ir_value){.op = IR_BUILTIN, .builtin = (uint16_t)builtin, .type = type, .operands = operands},
                operand);
}

/* What was made after memory ran out is one value for all, which is put nowhere. */
static bool is_scrap(const struct ir_block *b, const struct ir_value *v)
{
    const struct ir_module *const m = b->function->module;
    return v == &m->scrap_value || b == &m->scrap_block.block;
}

void ir_append(struct ir_block *b, struct ir_value *v)
{
    if (is_scrap(b, v))
        return;
    v->home = b;
    v->next = NULL;
    v->previous = b->last;
    if (b->last)
        b->last->next = v;
    else
        b->first = v;
    b->last = v;
}

void ir_insert_before(struct ir_value *at, struct ir_value *v)
{
    struct ir_block *const b = at->home;
    if (is_scrap(b, v) || is_scrap(b, at))
        return;
    v->home = b;
    v->next = at;
    v->previous = at->previous;
    if (at->previous)
        at->previous->next = v;
    else
        b->first = v;
    at->previous = v;
}

void ir_remove(struct ir_value *v)
{
    struct ir_block *const b = v->home;
    if (!b || is_scrap(b, v))
        return;
    if (v->previous)
        v->previous->next = v->next;
    else
        b->first = v->next;
    if (v->next)
        v->next->previous = v->previous;
    else
        b->last = v->previous;
    v->home = NULL;
    v->next = v->previous = NULL;
}

void ir_replace(struct ir_function *f, struct ir_value *old, struct ir_value *now)
{
    for (struct ir_block *b = f->first; b; b = b->next)
        for (struct ir_value *v = b->first; v; v = v->next)
            for (unsigned i = 0; i < v->operands; i++)
                if (v->operand[i] == old)
                    v->operand[i] = now;
}

void ir_replace_operands(struct ir_value *v, struct ir_value *const *operand, unsigned operands)
{
    if (operands > v->operands) {
        struct ir_module *const m = ((struct ir_value_inside *)v)->module;
        struct ir_value **const list = ir_alloc(m, operands * sizeof *list);
        if (m->failed)
            return;
        memcpy(list, operand, operands * sizeof *list);
        v->operand = list;
    } else if (operands) {
        memmove(v->operand, operand, operands * sizeof *operand);
    }
    v->operands = operands;
}

void ir_add_incoming(struct ir_value *phi, struct ir_value *value, struct ir_block *from)
{
    struct ir_module *const m = from->function->module;
    if (is_scrap(from, phi))
        return;
    struct ir_value **const operand = ir_alloc(m, (phi->operands + 1) * sizeof *operand);
    struct ir_block **const block = ir_alloc(m, (phi->operands + 1) * sizeof *block);
    if (m->failed)
        return;
    if (phi->operands) {
        memcpy(operand, phi->operand, phi->operands * sizeof *operand);
        memcpy(block, phi->block, phi->operands * sizeof *block);
    }
    operand[phi->operands] = value;
    block[phi->operands] = from;
    phi->operand = operand;
    phi->block = block;
    phi->blocks = ++phi->operands;
}
