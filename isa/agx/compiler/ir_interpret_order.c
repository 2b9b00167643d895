/* An order of blocks in which loops stand together: components of the graph that reach one another, in the order of the edges
 * between them, each with the edges back to its entry left out ordered likewise (R. E. Tarjan, Depth-first search and linear
 * graph algorithms, 1972). */
#include "isa/agx/compiler/ir_interpret_parts.h"

#include <stdlib.h>

/* The search goes as deep as there are blocks. */
#define BLOCKS_MAX 16384u

struct node {
    struct ir_block *block;
    uint32_t region, index, low;
    bool on_stack;
};

struct found {
    uint32_t node, root; /* of its component */
};

struct order {
    struct node *node;
    uint32_t *number; /* of a block's id, plus 1 */
    uint32_t *stack, depth, next_index, next_region;
    struct found *found; /* in the order in which components were closed, each ended by its root */
    uint32_t founds;
    struct ir_block **out;
    size_t outs;
};

static void close_component(struct order *o, uint32_t root)
{
    uint32_t taken;
    do {
        taken = o->stack[--o->depth];
        o->node[taken].on_stack = false;
        o->found[o->founds++] = (struct found){taken, root};
    } while (taken != root);
}

static void visit(struct order *o, uint32_t at, uint32_t header)
{
    struct node *const n = &o->node[at];
    n->index = n->low = ++o->next_index;
    o->stack[o->depth++] = at;
    n->on_stack = true;
    const struct ir_value *const end = n->block->last;
    /* The last successor first: so the first one comes first in the order. */
    for (unsigned i = end ? end->blocks : 0; i-- > 0;) {
        const uint32_t number = o->number[end->block[i]->id] - 1;
        struct node *const to = &o->node[number];
        if (to->region != n->region || number == header)
            continue;
        if (!to->index) {
            visit(o, number, header);
            n->low = to->low < n->low ? to->low : n->low;
        } else if (to->on_stack && to->index < n->low) {
            n->low = to->index;
        }
    }
    if (n->low == n->index)
        close_component(o, at);
}

/* Orders the nodes of a region, all of which the header reaches. */
static void order_region(struct order *o, uint32_t header)
{
    const uint32_t first = o->founds;
    visit(o, header, header);
    while (o->founds > first) {
        const uint32_t root = o->found[o->founds - 1].root, end = o->founds;
        while (o->founds > first && o->found[o->founds - 1].root == root)
            o->founds--;
        if (end - o->founds == 1) {
            o->out[o->outs++] = o->node[root].block;
            continue;
        }
        const uint32_t region = ++o->next_region;
        for (uint32_t i = o->founds; i < end; i++) {
            struct node *const n = &o->node[o->found[i].node];
            n->region = region;
            n->index = 0;
        }
        order_region(o, root);
    }
}

static bool order_memory(struct order *o, const struct ir_function *f)
{
    size_t blocks = 0, ids = 0;
    for (const struct ir_block *b = f->first; b; b = b->next) {
        blocks++;
        ids = b->id >= ids ? b->id + (size_t)1 : ids;
    }
    if (blocks > BLOCKS_MAX)
        return false;
    o->node = calloc(blocks + 1, sizeof *o->node);
    o->number = calloc(ids + 1, sizeof *o->number);
    o->stack = calloc(blocks + 1, sizeof *o->stack);
    o->found = calloc(blocks + 1, sizeof *o->found);
    o->out = calloc(blocks + 1, sizeof(struct ir_block *));
    return o->node && o->number && o->stack && o->found && o->out;
}

struct ir_block **interpret_order(const struct ir_function *f, size_t *blocks)
{
    struct order o = {.depth = 0};
    if (order_memory(&o, f)) {
        uint32_t nodes = 0;
        for (struct ir_block *b = f->first; b; b = b->next) {
            o.node[nodes].block = b;
            o.number[b->id] = ++nodes;
        }
        if (nodes)
            order_region(&o, 0);
    } else {
        free(o.out);
        o.out = NULL;
    }
    *blocks = o.outs;
    free(o.node);
    free(o.number);
    free(o.stack);
    free(o.found);
    return o.out;
}
