/* Which of the two scoreboard slots each load takes. A wait is for all of a slot, so that a load whose user is far behind that of
 * the loads before it takes the other slot, as long as no stores are on the way there. */
#include "isa/agx/compiler/agx_machine.h"

enum { FAR = 8, NEVER = INT32_MAX, STORES = 1 /* their slot */ };

struct slots {
    struct agx_compiler *c;
    int *maker; /* by virtual register: the load of the node that brings it, + 1 */
    bool stores;
};

static bool brings_registers(const struct agx_step *op)
{
    return op->kind == AGX_DO_LOAD && op->to.kind == AGX_REF_REGISTER;
}

static void note_use(struct slots *s, int *first_use, const struct agx_ref *ref, int at)
{
    if (ref->kind != AGX_REF_REGISTER || !s->maker[ref->index])
        return;
    int *const first = &first_use[s->maker[ref->index] - 1];
    *first = at < *first ? at : *first;
}

/* The first instruction of the node that needs what each load brings. */
static void find_uses(struct slots *s, const struct agx_tree *tree, int *first_use)
{
    int i = 0;
    for (const struct agx_step *op = tree->ops.first; op; op = op->next, i++) {
        first_use[i] = NEVER;
        for (unsigned k = 0; k < op->sources; k++)
            note_use(s, first_use, &op->from[k], i);
        for (unsigned k = 0; k < op->copies; k++) {
            note_use(s, first_use, &op->copy[k].from, i);
            note_use(s, first_use, &op->copy[k].to, i);
        }
        note_use(s, first_use, &op->to, i);
        if (op->to.kind == AGX_REF_REGISTER)
            s->maker[op->to.index] = brings_registers(op) ? i + 1 : 0;
    }
    for (const struct agx_step *op = tree->ops.first; op; op = op->next)
        if (op->to.kind == AGX_REF_REGISTER)
            s->maker[op->to.index] = 0;
}

static void give(struct slots *s, struct agx_tree *tree)
{
    int count = 0, i = 0, need[2] = {NEVER, NEVER};
    bool busy[2] = {false, false};
    for (const struct agx_step *op = tree->ops.first; op; op = op->next)
        count++;
    int *const first_use = agx_alloc(s->c, ((size_t)count + 1) * sizeof *first_use);
    if (s->c->failed)
        return;
    find_uses(s, tree, first_use);
    for (struct agx_step *op = tree->ops.first; op; op = op->next, i++) {
        for (unsigned slot = 0; slot < 2; slot++)
            if (need[slot] <= i) { /* waited for */
                need[slot] = NEVER;
                busy[slot] = false;
            }
        s->stores = s->stores || op->kind == AGX_DO_STORE;
        if (!brings_registers(op))
            continue;
        const bool far = busy[0] && first_use[i] < NEVER && first_use[i] - FAR > need[0];
        op->slot = far && !s->stores ? STORES : 0;
        busy[op->slot] = true;
        need[op->slot] = first_use[i] < need[op->slot] ? first_use[i] : need[op->slot];
    }
}

static bool has_stores(const struct agx_tree *tree)
{
    for (; tree; tree = tree->next) {
        for (const struct agx_step *op = tree->ops.first; op; op = op->next)
            if (op->kind == AGX_DO_STORE)
                return true;
        if (has_stores(tree->then) || has_stores(tree->other))
            return true;
    }
    return false;
}

static void walk(struct slots *s, struct agx_tree *tree)
{
    for (; tree && !s->c->failed; tree = tree->next) {
        s->stores = s->stores || (tree->kind == AGX_TREE_LOOP && has_stores(tree->then));
        if (tree->kind == AGX_TREE_CODE)
            give(s, tree);
        walk(s, tree->then);
        walk(s, tree->other);
    }
}

void agx_slots(struct agx_compiler *c)
{
    struct slots s = {.c = c, .maker = agx_alloc(c, (c->regs + 1) * sizeof *s.maker)};
    if (!c->failed)
        walk(&s, c->tree);
}
