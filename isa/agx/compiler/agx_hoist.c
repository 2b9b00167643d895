/* Copies that are all that one part of an if does move in front of it, where lanes of the other part may make them, too: that
 * saves the else. Only copies that have not become the same register are left to be moved. */
#include "isa/agx/compiler/agx_machine.h"

static bool is_live(const struct agx_register *r, uint32_t at)
{
    for (unsigned i = 0; i < r->spans; i++)
        if (r->span[i].first <= at && at < r->span[i].end)
            return true;
    return false;
}

static bool is_in_place(const struct agx_compiler *c, const struct agx_copy *copy)
{
    if (copy->from.kind != AGX_REF_REGISTER || copy->from.part != copy->to.part)
        return false;
    const struct agx_register *const to = &c->reg[copy->to.index], *const from = &c->reg[copy->from.index];
    return to->group == from->group && to->shift + copy->to.offset == from->shift + copy->from.offset;
}

/* Whether nothing that shares the register of `reg` is needed by the compares or by what follows them. */
static bool is_unused(const struct agx_compiler *c, uint32_t reg, uint32_t at)
{
    for (uint32_t k = c->reg[reg].group; k != UINT32_MAX; k = c->reg[k].next_member)
        if (is_live(&c->reg[k], at))
            return false;
    return true;
}

/* Counts the copies to be moved; false when there is anything else, or one that must stay. */
static bool may_move(const struct agx_compiler *c, const struct agx_tree *part, uint32_t at, unsigned *copies)
{
    *copies = 0;
    for (; part; part = part->next) {
        if (part->kind != AGX_TREE_EDGE && (part->kind != AGX_TREE_CODE || part->ops.first))
            return false;
        for (const struct agx_step *op = part->ops.first; op; op = op->next) {
            if (op->kind != AGX_DO_COPIES)
                return false;
            for (unsigned i = 0; i < op->copies; i++) {
                if (is_in_place(c, &op->copy[i]) || !c->reg[op->copy[i].to.index].spans)
                    continue;
                if (!is_unused(c, op->copy[i].to.index, at))
                    return false;
                ++*copies;
            }
        }
    }
    return true;
}

static void move(struct agx_compiler *c, struct agx_tree *tree, struct agx_tree *part, unsigned copies)
{
    struct agx_step *const moved = agx_alloc(c, sizeof *moved);
    moved->kind = AGX_DO_COPIES;
    moved->copy = agx_alloc(c, copies * sizeof *moved->copy);
    moved->line = tree->line;
    moved->file = tree->file;
    for (; part; part = part->next)
        for (struct agx_step *op = part->ops.first; op; op = op->next) {
            unsigned kept = 0;
            for (unsigned i = 0; i < op->copies; i++)
                if (is_in_place(c, &op->copy[i]) || !c->reg[op->copy[i].to.index].spans)
                    op->copy[kept++] = op->copy[i];
                else
                    moved->copy[moved->copies++] = op->copy[i];
            op->copies = kept;
        }
    struct agx_steps *const before = &tree->before->ops;
    if (before->last)
        before->last->next = moved;
    else
        before->first = moved;
    before->last = moved;
}

static bool hoist(struct agx_compiler *c, struct agx_tree *tree)
{
    unsigned copies;
    for (; tree; tree = tree->next) {
        if (hoist(c, tree->then) || hoist(c, tree->other))
            return true;
        if (tree->kind != AGX_TREE_IF)
            continue;
        for (unsigned i = 0; i < 2; i++) {
            struct agx_tree *const part = i ? tree->then : tree->other;
            if (part && may_move(c, part, tree->at, &copies) && copies) {
                move(c, tree, part, copies);
                return true;
            }
        }
    }
    return false;
}

bool agx_hoist(struct agx_compiler *c)
{
    while (!c->failed && hoist(c, c->tree))
        agx_live(c); /* one at a time: each changes what is live */
    return !c->failed;
}
