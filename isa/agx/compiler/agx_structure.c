/* From a reducible control flow graph to a tree of ifs, loops and scopes that can be left.
 *
 * Norman Ramsey, "Beyond Relooper" (ICFP 2022): a block is built with its dominator; where ways meet, the block stands behind a
 * scope that those ways leave. Unlike there, blocks behind a loop never stand inside it: lanes that leave early have to wait for
 * the others, because barriers may follow. Leaving costs an AGX program one write of r0l, so no flags are needed. */
#include "isa/agx/compiler/agx_structure.h"

struct sequence {
    struct agx_tree *first, *last;
};
struct builder {
    struct agx_compiler *c;
    struct agx_flow flow;
};

static struct agx_tree *node(struct builder *s, enum agx_tree_kind kind, const struct ir_block *from)
{
    struct agx_tree *const tree = agx_alloc(s->c, sizeof *tree);
    tree->kind = kind;
    tree->from = from;
    tree->depth = from ? s->c->block_depth[from->id] : 0;
    if (from && from->last) {
        tree->line = from->last->line;
        tree->file = from->last->file;
    }
    return tree;
}

static void add(struct sequence *to, struct agx_tree *tree)
{
    if (!tree)
        return;
    if (to->last)
        to->last->next = tree;
    else
        to->first = tree;
    for (to->last = tree; to->last->next;)
        to->last = to->last->next;
}

static struct agx_tree *build(struct builder *s, uint32_t x);

static struct agx_tree *leave(struct builder *s, const struct ir_block *from, struct agx_tree *target)
{
    struct agx_tree *const tree = node(s, AGX_TREE_LEAVE, from);
    tree->target = target;
    return tree;
}

static struct agx_tree *branch(struct builder *s, uint32_t x, const struct ir_block *target)
{
    const uint32_t y = s->flow.number[target->id];
    struct agx_flow_block *const to = &s->flow.block[y];
    struct sequence way = {0};
    struct agx_tree *const edge = node(s, AGX_TREE_EDGE, s->flow.block[x].block);
    edge->to = target;
    add(&way, edge);
    if (y <= x)
        add(&way, leave(s, edge->from, to->again));
    else if (to->labelled)
        add(&way, leave(s, edge->from, to->scope));
    else
        add(&way, build(s, y));
    return way.first;
}

/* The if-chain of a switch. */
static struct agx_tree *switch_chain(struct builder *s, uint32_t x, const struct ir_value *end, unsigned from)
{
    if (from >= end->blocks)
        return branch(s, x, end->block[0]);
    struct sequence way = {0};
    struct agx_tree *const code = node(s, AGX_TREE_CODE, NULL), *const test = node(s, AGX_TREE_IF, s->flow.block[x].block);
    code->depth = test->depth;
    test->decides = end->operand[0];
    test->equal = end->operand[from];
    test->before = code;
    test->then = branch(s, x, end->block[from]);
    test->other = switch_chain(s, x, end, from + 1);
    add(&way, code);
    add(&way, test);
    return way.first;
}

static struct agx_tree *ending(struct builder *s, uint32_t x, struct agx_tree *code)
{
    const struct ir_value *const end = s->flow.block[x].block->last;
    if (end->op == IR_RETURN || end->op == IR_UNREACHABLE)
        return leave(s, s->flow.block[x].block, NULL);
    if (end->op == IR_JUMP || (end->op == IR_BRANCH && end->block[0] == end->block[1]))
        return branch(s, x, end->block[0]);
    if (end->op == IR_SWITCH)
        return switch_chain(s, x, end, 1);
    if (end->operand[0]->op == IR_CONSTANT)
        return branch(s, x, end->block[end->operand[0]->bits & 1 ? 0 : 1]);
    struct agx_tree *const test = node(s, AGX_TREE_IF, s->flow.block[x].block);
    test->decides = end->operand[0];
    test->before = code;
    test->then = branch(s, x, end->block[0]);
    test->other = branch(s, x, end->block[1]);
    return test;
}

/* Puts the blocks that are built behind x in scopes around what there is. */
static struct agx_tree *followers(struct builder *s, uint32_t x, bool outside, struct agx_tree *body)
{
    for (uint32_t y = s->flow.block[x].child; y != AGX_NOWHERE; y = s->flow.block[y].sibling) {
        struct agx_flow_block *const b = &s->flow.block[y];
        if (!b->labelled || b->outside != outside)
            continue;
        struct sequence way = {0};
        b->scope->then = body;
        add(&way, b->scope);
        add(&way, build(s, y));
        body = way.first;
    }
    return body;
}

static struct agx_tree *build(struct builder *s, uint32_t x)
{
    struct agx_flow_block *const b = &s->flow.block[x];
    struct sequence way = {0};
    for (uint32_t y = b->child; y != AGX_NOWHERE; y = s->flow.block[y].sibling)
        if (s->flow.block[y].labelled)
            s->flow.block[y].scope = node(s, AGX_TREE_SCOPE, NULL);
    if (b->members)
        b->again = node(s, AGX_TREE_SCOPE, NULL);
    struct agx_tree *const code = node(s, AGX_TREE_CODE, b->block);
    add(&way, code);
    add(&way, ending(s, x, code));
    struct agx_tree *tree = followers(s, x, false, way.first);
    if (b->members) {
        struct agx_tree *const loop = node(s, AGX_TREE_LOOP, b->block);
        b->again->then = tree;
        loop->then = b->again;
        tree = loop;
    }
    return followers(s, x, true, tree);
}

/* Where each block is built: with its dominator, but behind the outermost loop that the dominator is in and it is not. */
static void place_blocks(struct agx_flow *flow)
{
    for (uint32_t i = 0; i < flow->blocks; i++)
        flow->block[i].child = flow->block[i].sibling = AGX_NOWHERE;
    for (uint32_t y = flow->blocks; y-- > 1;) {
        struct agx_flow_block *const b = &flow->block[y];
        unsigned ways = 0;
        for (unsigned p = 0; p < b->froms; p++)
            ways += b->from[p] < y;
        b->parent = b->dominator;
        b->labelled = ways > 1;
        for (uint32_t h = flow->block[b->dominator].loop; h != AGX_NOWHERE; h = flow->block[h].around)
            if (!agx_flow_in_loop(flow, h, y)) {
                b->parent = h;
                b->outside = b->labelled = true;
            }
        b->sibling = flow->block[b->parent].child;
        flow->block[b->parent].child = y;
    }
}

bool agx_structure(struct agx_compiler *c)
{
    struct builder s = {.c = c};
    if (!agx_flow_make(c, &s.flow))
        return false;
    place_blocks(&s.flow);
    c->tree = build(&s, 0);
    if (!c->failed)
        agx_structure_simplify(c);
    return !c->failed;
}
