/* Which memory a generic pointer points to: what it was cast from, through getelementptr, phis and selects, until nothing
 * changes. Device and constant memory are one for the hardware, and what MSL calls constant (space 6) is OpenCL's constant. */
#include "isa/agx/compiler/pass.h"

/* 0: not known yet, else the space and one more. */
static uintptr_t space_known(const struct ir_value *v)
{
    const enum ir_space space = v->type->space;
    if (space == IR_GENERIC)
        return pass_is_value(v) ? 0 : (uintptr_t)v->note;
    return 1 + (uintptr_t)(space == IR_CONSTANT_HOST ? IR_CONSTANT_SPACE : space);
}

static bool space_is_device(uintptr_t known)
{
    return known == 1 + IR_DEVICE || known == 1 + IR_CONSTANT_SPACE;
}

/* Two places at once is what IR_GENERIC itself stands for. */
static uintptr_t space_join(uintptr_t a, uintptr_t b)
{
    if (!a || !b || a == b)
        return a ? a : b;
    return space_is_device(a) && space_is_device(b) ? 1 + IR_DEVICE : 1 + IR_GENERIC;
}

static uintptr_t space_found(const struct ir_value *v)
{
    uintptr_t found = 0;
    switch (v->op) {
    case IR_SPACECAST:
    case IR_BITCAST:
    case IR_FREEZE:
    case IR_GEP: return space_known(v->operand[0]);
    case IR_SELECT: return space_join(space_known(v->operand[1]), space_known(v->operand[2]));
    case IR_PHI:
        for (unsigned i = 0; i < v->operands; i++)
            found = space_join(found, space_known(v->operand[i]));
        return found;
    case IR_LOAD: /* pointers that stand in buffers lead to buffers; what stands elsewhere may lead anywhere */
        found = space_known(v->operand[0]);
        return !found || space_is_device(found) ? found : 1 + IR_GENERIC;
    case IR_INTTOPTR: return 1 + IR_DEVICE;
    default: return 1 + IR_GENERIC;
    }
}

static void space_solve(struct pass *p, struct ir_block **order, unsigned blocks)
{
    (void)p;
    for (bool changed = true; changed;) {
        changed = false;
        for (unsigned i = 0; i < blocks; i++)
            for (struct ir_value *v = order[i]->first; v; v = v->next) {
                if (v->type->kind != IR_POINTER || v->type->space != IR_GENERIC)
                    continue;
                const uintptr_t now = space_join((uintptr_t)v->note, space_found(v));
                changed = changed || now != (uintptr_t)v->note;
                v->note = (void *)now;
            }
    }
}

static struct ir_value *space_fit(struct pass *p, struct ir_value *at, struct ir_value *x, const struct ir_type *type)
{
    if (x->type == type)
        return x;
    if (x->op == IR_CONSTANT)
        return ir_constant(p->m, type, x->bits);
    if (x->op == IR_UNDEFINED)
        return ir_undefined(p->m, type);
    struct build b = build_at(p, at);
    return build_convert(&b, IR_SPACECAST, x, type);
}

static void space_fit_operands(struct pass *p, struct ir_value *v)
{
    if (v->op == IR_PHI) {
        for (unsigned i = 0; i < v->operands; i++)
            v->operand[i] = space_fit(p, v->block[i]->last, v->operand[i], v->type);
    } else if (v->op == IR_SELECT) {
        v->operand[1] = space_fit(p, v, v->operand[1], v->type);
        v->operand[2] = space_fit(p, v, v->operand[2], v->type);
    } else if (v->op == IR_GEP || v->op == IR_FREEZE) {
        v->operand[0] = space_fit(p, v, v->operand[0], v->type);
    } else if (v->op == IR_ICMP && v->operand[0]->type != v->operand[1]->type) {
        v->operand[1] = space_fit(p, v, v->operand[1], v->operand[0]->type);
    }
}

static struct ir_value *space_casts(struct pass *p, struct ir_value *v)
{
    if (v->op == IR_SPACECAST && v->operand[0]->type == v->type)
        return v->operand[0];
    if (v->op == IR_BITCAST && v->type->kind == IR_POINTER)
        return v->operand[0];
    if (v->op == IR_PTRTOINT && v->type->bits == 64 &&
        (v->operand[0]->type->space == IR_PRIVATE || v->operand[0]->type->space == IR_THREADGROUP)) {
        struct build b = build_at(p, v); /* their addresses are of 32 bits */
        return build_convert(&b, IR_ZEXT, build_convert(&b, IR_PTRTOINT, v->operand[0], ir_int(p->m, 32)), v->type);
    }
    const struct ir_type *type = NULL;
    if (v->op == IR_LOAD || (v->op == IR_BUILTIN && (v->builtin == IR_B_ATOMIC || v->builtin == IR_B_ATOMIC_CMPXCHG)))
        type = v->operand[0]->type;
    else if (v->op == IR_STORE)
        type = v->operand[1]->type;
    if (type && type->kind == IR_POINTER && type->space == IR_GENERIC)
        return pass_refuse(p, v,
                           "a generic pointer may point to several kinds of memory here, which the GPU cannot access as one");
    return NULL;
}

static const struct ir_type *space_type(struct pass *p, const struct ir_value *v)
{
    uintptr_t known = space_known(v);
    if (v->type->space == IR_GENERIC && !known)
        known = 1 + IR_DEVICE; /* undefined */
    return ir_pointer(p->m, (enum ir_space)(known - 1));
}

bool pass_spaces(struct pass *p)
{
    unsigned blocks;
    struct ir_block **order = pass_order(p, &blocks);
    for (unsigned i = 0; i < blocks; i++)
        for (struct ir_value *v = order[i]->first; v; v = v->next)
            v->note = NULL;
    space_solve(p, order, blocks);
    for (unsigned i = 0; i < p->f->arguments; i++)
        if (p->f->argument[i]->type->kind == IR_POINTER)
            p->f->argument[i]->type = space_type(p, p->f->argument[i]);
    for (unsigned i = 0; i < blocks; i++)
        for (struct ir_value *v = order[i]->first; v; v = v->next)
            if (v->type->kind == IR_POINTER)
                v->type = space_type(p, v);
    for (unsigned i = 0; i < blocks; i++)
        for (struct ir_value *v = order[i]->first; v; v = v->next)
            space_fit_operands(p, v);
    return pass_rewrite(p, space_casts);
}
