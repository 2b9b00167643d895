/* A load from one of two places in different memories, `c ? device[i] : variable`, becomes a branch around two loads: there is no
 * instruction that reads from either, and the place that is not chosen may not be there. */
#include "isa/agx/compiler/pass.h"

/* The memory that a pointer leads to, as far as one can see; IR_GENERIC when not. */
static enum ir_space choice_space(const struct ir_value *v)
{
    while (v->type->kind == IR_POINTER && v->type->space == IR_GENERIC &&
           (v->op == IR_SPACECAST || v->op == IR_BITCAST || v->op == IR_FREEZE || v->op == IR_GEP))
        v = v->operand[0];
    return v->type->kind == IR_POINTER ? v->type->space : IR_GENERIC;
}

static bool choice_is_device(enum ir_space space)
{
    return space == IR_DEVICE || space == IR_CONSTANT_SPACE || space == IR_CONSTANT_HOST;
}

/* A choice of choices counts as well: its parts are looked at when they are loads of their own. */
static bool choice_is_mixed(const struct ir_value *pointer)
{
    if (pointer->op != IR_SELECT || pointer->type->kind != IR_POINTER || pointer->type->space != IR_GENERIC)
        return false;
    const struct ir_value *const a = pointer->operand[1], *const b = pointer->operand[2];
    const enum ir_space x = choice_space(a), y = choice_space(b);
    if (x == IR_GENERIC || y == IR_GENERIC)
        return choice_is_mixed(a) || choice_is_mixed(b);
    return x != y && !(choice_is_device(x) && choice_is_device(y));
}

static struct ir_value *choice_find(const struct ir_block *from)
{
    for (const struct ir_block *b = from; b; b = b->next)
        for (struct ir_value *v = b->first; v; v = v->next)
            if (v->op == IR_LOAD && choice_is_mixed(v->operand[0]))
                return v;
    return NULL;
}

/* The load in a block of its own, which runs when `enter` says so; else what is known is `none`. */
static struct ir_value *choice_load(struct build *b, const struct ir_value *load, struct ir_value *pointer,
                                    struct ir_value *enter, struct ir_value *none)
{
    struct build_loop l = build_loop_open(b, enter);
    struct ir_value *const loaded = build_load(&l.b, load->type, pointer, load->align);
    build_loop_close(&l, ir_constant(b->m, ir_int(b->m, 1), 0));
    return build_loop_result(&l, none, loaded);
}

bool pass_choices(struct pass *p)
{
    for (struct ir_value *v = choice_find(p->f->first); v && !ir_module_failed(p->m);) {
        struct ir_block *const home = v->home;
        struct ir_value *const chosen = v->operand[0];
        struct build b = build_at(p, v);
        struct ir_value *const other =
            choice_load(&b, v, chosen->operand[2], build_not(&b, chosen->operand[0]), ir_undefined(p->m, v->type));
        struct ir_value *const all = choice_load(&b, v, chosen->operand[1], chosen->operand[0], other);
        ir_remove(v);
        ir_replace(p->f, v, all);
        p->changed = true;
        v = choice_find(home);
    }
    return true;
}
