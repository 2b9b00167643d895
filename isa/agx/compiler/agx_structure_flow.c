/* Order, dominators and loops of a control flow graph; refuses what is irreducible.
 * Dominators: Cooper, Harvey and Kennedy, "A simple, fast dominance algorithm". */
#include "isa/agx/compiler/agx_structure.h"

#include <string.h>

static uint32_t highest_id(const struct ir_function *f)
{
    uint32_t most = 0;
    for (const struct ir_block *b = f->first; b; b = b->next)
        if (b->id > most)
            most = b->id;
    return most;
}

/* Depth first; `number` holds 0 for unseen blocks, then their place in postorder + 1. */
static uint32_t postorder(struct agx_compiler *c, uint32_t *number, const struct ir_block **order, uint32_t count)
{
    struct visit {
        const struct ir_block *block;
        unsigned left; /* targets not looked at, from the last on */
    } *const stack = agx_alloc(c, (count + 1) * sizeof *stack);
    uint32_t depth = 0, done = 0;
    stack[depth++] = (struct visit){c->f->first, c->f->first->last ? c->f->first->last->blocks : 0};
    number[c->f->first->id] = AGX_NOWHERE;
    while (depth && !c->failed) {
        struct visit *const top = &stack[depth - 1];
        if (!top->left) {
            order[done++] = top->block;
            depth--;
            continue;
        }
        const struct ir_block *const target = top->block->last->block[--top->left];
        if (number[target->id] == AGX_NOWHERE)
            continue;
        number[target->id] = AGX_NOWHERE;
        stack[depth++] = (struct visit){target, target->last ? target->last->blocks : 0};
    }
    return done;
}

static void connect(struct agx_compiler *c, struct agx_flow *flow)
{
    for (unsigned pass = 0; pass < 2; pass++)
        for (uint32_t i = 0; i < flow->blocks; i++) {
            const struct ir_value *const end = flow->block[i].block->last;
            for (unsigned s = 0; s < end->blocks; s++) {
                struct agx_flow_block *const to = &flow->block[flow->number[end->block[s]->id]];
                if (pass)
                    to->from[to->froms] = i;
                to->froms++;
            }
            if (!pass && i + 1 == flow->blocks)
                for (uint32_t b = 0; b < flow->blocks; b++) {
                    flow->block[b].from = agx_alloc(c, (flow->block[b].froms + 1) * sizeof(uint32_t));
                    flow->block[b].froms = 0;
                }
        }
}

static uint32_t meet(const struct agx_flow *flow, uint32_t a, uint32_t b)
{
    while (a != b) {
        while (a > b)
            a = flow->block[a].dominator;
        while (b > a)
            b = flow->block[b].dominator;
    }
    return a;
}

static void dominate(struct agx_flow *flow)
{
    for (uint32_t i = 1; i < flow->blocks; i++)
        flow->block[i].dominator = AGX_NOWHERE;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = 1; i < flow->blocks; i++) {
            struct agx_flow_block *const b = &flow->block[i];
            uint32_t best = AGX_NOWHERE;
            for (unsigned p = 0; p < b->froms; p++)
                if (flow->block[b->from[p]].dominator != AGX_NOWHERE)
                    best = best == AGX_NOWHERE ? b->from[p] : meet(flow, best, b->from[p]);
            changed = changed || best != b->dominator;
            b->dominator = best;
        }
    }
}

static bool dominates(const struct agx_flow *flow, uint32_t a, uint32_t b)
{
    while (b > a)
        b = flow->block[b].dominator;
    return a == b;
}

static void add_members(struct agx_compiler *c, struct agx_flow *flow, uint32_t header, uint32_t latch)
{
    struct agx_flow_block *const h = &flow->block[header];
    uint32_t *const stack = agx_alloc(c, (flow->blocks + 1) * sizeof *stack);
    uint32_t depth = 0;
    if (!h->members)
        h->members = agx_alloc(c, flow->blocks);
    h->members[header] = 1;
    if (!h->members[latch])
        stack[depth++] = latch;
    h->members[latch] = 1;
    while (depth) {
        const struct agx_flow_block *const b = &flow->block[stack[--depth]];
        for (unsigned p = 0; p < b->froms; p++)
            if (!h->members[b->from[p]]) {
                h->members[b->from[p]] = 1;
                stack[depth++] = b->from[p];
            }
    }
}

static bool find_loops(struct agx_compiler *c, struct agx_flow *flow)
{
    for (uint32_t i = 0; i < flow->blocks; i++)
        for (unsigned p = 0; p < flow->block[i].froms; p++) {
            const uint32_t from = flow->block[i].from[p];
            if (from < i)
                continue;
            if (!dominates(flow, i, from))
                return agx_refuse(c, flow->block[from].block->last,
                                  "control flow that is irreducible (a loop with two entries, made by goto)");
            add_members(c, flow, i, from);
        }
    for (uint32_t i = 0; i < flow->blocks; i++) {
        flow->block[i].loop = flow->block[i].around = AGX_NOWHERE;
        for (uint32_t h = 0; h <= i; h++)
            if (flow->block[h].members && flow->block[h].members[i]) {
                if (h < i)
                    flow->block[i].around = h;
                flow->block[i].loop = h;
            }
    }
    return !c->failed;
}

bool agx_flow_in_loop(const struct agx_flow *flow, uint32_t header, uint32_t block)
{
    return flow->block[header].members[block];
}

bool agx_flow_make(struct agx_compiler *c, struct agx_flow *flow)
{
    const uint32_t ids = highest_id(c->f) + 1;
    uint32_t count = 0;
    for (const struct ir_block *b = c->f->first; b; b = b->next) {
        if (!b->last || ir_op_kind(b->last->op) != IR_KIND_END)
            return agx_refuse(c, NULL, "a block without an end");
        count++;
    }
    flow->number = agx_alloc(c, ids * sizeof *flow->number);
    const struct ir_block **const order = agx_alloc(c, count * sizeof(void *));
    flow->blocks = postorder(c, flow->number, order, count);
    flow->block = agx_alloc(c, flow->blocks * sizeof *flow->block);
    c->block_ids = ids;
    c->block_depth = agx_alloc(c, ids);
    c->block_loop = agx_alloc(c, ids * sizeof(void *));
    if (c->failed)
        return false;
    for (uint32_t i = 0; i < flow->blocks; i++) {
        flow->block[i].block = order[flow->blocks - 1 - i];
        flow->number[flow->block[i].block->id] = i;
    }
    connect(c, flow);
    dominate(flow);
    if (!find_loops(c, flow))
        return false;
    for (uint32_t i = 0; i < flow->blocks; i++) {
        const uint32_t loop = flow->block[i].loop, id = flow->block[i].block->id;
        c->block_loop[id] = loop == AGX_NOWHERE ? NULL : flow->block[loop].block;
        for (uint32_t h = loop; h != AGX_NOWHERE; h = flow->block[h].around)
            c->block_depth[id]++;
    }
    return true;
}
