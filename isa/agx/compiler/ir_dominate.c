/* Numbers, predecessors and dominators. The dominators are found as in Cooper, Harvey and Kennedy, "A Simple, Fast Dominance
 * Algorithm" (Rice University, 2001): repeated intersection in reverse postorder. */
#include "isa/agx/compiler/ir_parts.h"

#include <stdlib.h>

/* ---- numbers and predecessors ---- */

static struct ir_block *const *targets(const struct ir_block *b, unsigned *count)
{
    const struct ir_value *const end = b->last;
    *count = end && ir_op_kind(end->op) == IR_KIND_END ? end->blocks : 0;
    return *count ? end->block : NULL;
}

/* Whether an earlier target of the block `from`, whose targets are being noted, was the same. */
static bool came_from(const struct ir_block *to, const struct ir_block *from)
{
    return to->predecessors && to->predecessor[to->predecessors - 1] == from;
}

static bool fill_predecessors(struct ir_function *f)
{
    unsigned count;
    for (struct ir_block *b = f->first; b; b = b->next) {
        b->predecessors = 0;
        ir_block_inside(b)->order = 0;
    }
    for (struct ir_block *b = f->first; b; b = b->next) { /* an upper bound, then the lists, then who is in them */
        struct ir_block *const *const target = targets(b, &count);
        for (unsigned i = 0; i < count; i++)
            ir_block_inside(target[i])->order++;
    }
    for (struct ir_block *b = f->first; b; b = b->next) {
        struct ir_block_inside *const inside = ir_block_inside(b);
        if (inside->order > inside->room) {
            b->predecessor = ir_alloc(f->module, inside->order * sizeof *b->predecessor);
            inside->room = inside->order;
            if (f->module->failed)
                return false;
        }
    }
    for (struct ir_block *b = f->first; b; b = b->next) {
        struct ir_block *const *const target = targets(b, &count);
        for (unsigned i = 0; i < count; i++)
            if (!came_from(target[i], b))
                target[i]->predecessor[target[i]->predecessors++] = b;
    }
    return true;
}

bool ir_number(struct ir_function *f)
{
    uint32_t blocks = 0, values = 0;
    for (unsigned i = 0; i < f->arguments; i++)
        f->argument[i]->id = values++;
    for (struct ir_block *b = f->first; b; b = b->next) {
        b->id = blocks++;
        for (struct ir_value *v = b->first; v; v = v->next)
            v->id = values++;
    }
    f->next_id = values > blocks ? values : blocks;
    return fill_predecessors(f);
}

/* ---- dominators ---- */

struct walk {
    struct ir_block *block;
    unsigned next; /* target to be visited */
};

/* Puts the blocks reached from the entry into `list` in postorder; returns how many. */
static uint32_t postorder(struct ir_function *f, struct walk *stack, struct ir_block **list)
{
    uint32_t found = 0, depth = 0;
    ir_block_inside(f->first)->reached = true;
    stack[depth++] = (struct walk){f->first, 0};
    while (depth) {
        struct walk *const top = &stack[depth - 1];
        unsigned count;
        struct ir_block *const *const target = targets(top->block, &count);
        if (top->next >= count) {
            ir_block_inside(top->block)->order = found;
            list[found++] = top->block;
            depth--;
            continue;
        }
        struct ir_block *const to = target[top->next++];
        if (!ir_block_inside(to)->reached) {
            ir_block_inside(to)->reached = true;
            stack[depth++] = (struct walk){to, 0};
        }
    }
    return found;
}

static struct ir_block *common(struct ir_block *a, struct ir_block *b)
{
    while (a != b) { /* numbers grow towards the entry */
        while (ir_block_inside(a)->order < ir_block_inside(b)->order)
            a = ir_block_inside(a)->dominator;
        while (ir_block_inside(b)->order < ir_block_inside(a)->order)
            b = ir_block_inside(b)->dominator;
    }
    return a;
}

static bool improve(struct ir_block *b)
{
    struct ir_block *best = NULL;
    for (unsigned i = 0; i < b->predecessors; i++) {
        struct ir_block *const from = b->predecessor[i];
        if (ir_block_inside(from)->dominator)
            best = best ? common(best, from) : from;
    }
    const bool changed = best != ir_block_inside(b)->dominator;
    ir_block_inside(b)->dominator = best;
    return changed;
}

/* Numbers for the question who dominates whom: a block's numbers lie between those of its dominators. `list` is in postorder, so
 * that sizes of subtrees are summed up from the leaves; `size` stands in `leave` meanwhile. */
static void number_tree(struct ir_block *const *list, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        ir_block_inside(list[i])->leave = 1;
    for (uint32_t i = 0; i + 1 < count; i++)
        ir_block_inside(ir_block_inside(list[i])->dominator)->leave += ir_block_inside(list[i])->leave;
    /* Each block takes the next free number of its dominator; `order` counts what the block has given away. */
    for (uint32_t i = count; i-- > 0;) {
        struct ir_block_inside *const inside = ir_block_inside(list[i]);
        if (i + 1 == count) {
            inside->enter = 1;
        } else {
            struct ir_block_inside *const above = ir_block_inside(inside->dominator);
            inside->enter = above->order;
            above->order += inside->leave;
        }
        inside->order = inside->enter + 1;
    }
    for (uint32_t i = 0; i < count; i++)
        ir_block_inside(list[i])->leave += ir_block_inside(list[i])->enter;
}

bool ir_dominate(struct ir_function *f)
{
    if (!ir_number(f))
        return false;
    size_t blocks = 0;
    for (struct ir_block *b = f->first; b; b = b->next) {
        struct ir_block_inside *const inside = ir_block_inside(b);
        inside->dominator = NULL;
        inside->reached = false;
        inside->enter = inside->leave = inside->order = 0;
        blocks++;
    }
    if (!blocks)
        return true;
    struct walk *const stack = calloc(blocks, sizeof *stack);
    struct ir_block **const list = calloc(blocks, sizeof *list);
    const bool done = stack && list;
    if (done) {
        const uint32_t count = postorder(f, stack, list);
        ir_block_inside(f->first)->dominator = f->first;
        for (bool changed = true; changed;) {
            changed = false;
            for (uint32_t i = count - 1; i-- > 0;)
                changed |= improve(list[i]);
        }
        number_tree(list, count);
        ir_block_inside(f->first)->dominator = NULL;
    }
    free(stack);
    free(list);
    return done;
}

struct ir_block *ir_immediate_dominator(const struct ir_block *b)
{
    return ir_block_inside(b)->dominator;
}

bool ir_dominates(const struct ir_block *a, const struct ir_block *b)
{
    const struct ir_block_inside *const above = ir_block_inside(a), *const below = ir_block_inside(b);
    if (!below->enter) /* not reached: whatever holds there holds of nothing */
        return true;
    return above->enter <= below->enter && below->enter < above->leave && above->enter;
}
