/* Gives registers that are copied to one another one place, when they are never live together. */
#include "isa/agx/compiler/agx_machine.h"

static bool may_join(const struct agx_compiler *c, uint32_t a, uint32_t b, int32_t shift)
{
    for (uint32_t i = a; i != UINT32_MAX; i = c->reg[i].next_member)
        for (uint32_t k = b; k != UINT32_MAX; k = c->reg[k].next_member) {
            const struct agx_register *const x = &c->reg[i], *const y = &c->reg[k];
            const int32_t at = y->shift + shift;
            if (x->even && y->even && ((x->shift ^ at) & 1))
                return false;
            if (at < x->shift + x->halves && x->shift < at + y->halves && agx_overlap(x, y))
                return false;
        }
    return true;
}

/* `shift`: halves from the first of a's group to the first of b's. */
static void join(struct agx_compiler *c, uint32_t a, uint32_t b, int32_t shift)
{
    uint32_t last = a;
    while (c->reg[last].next_member != UINT32_MAX)
        last = c->reg[last].next_member;
    c->reg[last].next_member = b;
    for (uint32_t k = b; k != UINT32_MAX; k = c->reg[k].next_member) {
        c->reg[k].group = a;
        c->reg[k].shift += shift;
    }
}

static void join_copy(struct agx_compiler *c, const struct agx_copy *copy)
{
    if (copy->from.kind != AGX_REF_REGISTER || copy->from.part != copy->to.part || copy->from.count != copy->to.count)
        return;
    const struct agx_register *const to = &c->reg[copy->to.index], *const from = &c->reg[copy->from.index];
    const int32_t shift = to->shift + copy->to.offset - (from->shift + copy->from.offset);
    if (to->group != from->group && may_join(c, to->group, from->group, shift))
        join(c, to->group, from->group, shift);
}

static unsigned deepest(const struct agx_tree *tree)
{
    unsigned most = 0;
    for (; tree; tree = tree->next) {
        const unsigned then = deepest(tree->then), other = deepest(tree->other);
        most = tree->depth > most ? tree->depth : most;
        most = then > most ? then : most;
        most = other > most ? other : most;
    }
    return most;
}

static void join_depth(struct agx_compiler *c, const struct agx_tree *tree, unsigned depth)
{
    for (; tree; tree = tree->next) {
        for (const struct agx_step *op = tree->depth == depth ? tree->ops.first : NULL; op; op = op->next)
            for (unsigned i = 0; i < op->copies; i++)
                join_copy(c, &op->copy[i]);
        join_depth(c, tree->then, depth);
        join_depth(c, tree->other, depth);
    }
}

void agx_coalesce(struct agx_compiler *c)
{
    for (uint32_t i = 0; i < c->regs; i++) {
        c->reg[i].group = i;
        c->reg[i].shift = 0;
        c->reg[i].next_member = UINT32_MAX;
    }
    for (unsigned depth = deepest(c->tree) + 1; depth-- > 0;) /* copies in inner loops first */
        join_depth(c, c->tree, depth);
}
