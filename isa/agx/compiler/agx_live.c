/* Liveness over the tree, backward; loops until nothing changes. Lanes have registers of their own: what one lane does on its way
 * is all that counts for it, so that the two parts of an if may share registers. */
#include "isa/agx/compiler/agx_machine.h"

#include <string.h>

struct life {
    struct agx_compiler *c;
    uint32_t words; /* of a set */
    uint64_t *end;  /* live at the end of the kernel: nothing */
    bool record;
    uint32_t at;
};

static bool has(const uint64_t *set, uint32_t reg)
{
    return set[reg / 64] >> reg % 64 & 1;
}

static void join_sets(const struct life *l, uint64_t *to, const uint64_t *from)
{
    for (uint32_t i = 0; i < l->words; i++)
        to[i] |= from[i];
}

/* Spans are found from the last to the first, and kept so. */
static void add_span(struct life *l, uint32_t reg, uint32_t first, uint32_t end)
{
    struct agx_register *const r = &l->c->reg[reg];
    if (r->spans && r->span[r->spans - 1].first <= end) {
        if (first < r->span[r->spans - 1].first)
            r->span[r->spans - 1].first = first;
        return;
    }
    if (r->spans == r->span_room) {
        const unsigned room = 2 * r->span_room + 4;
        struct agx_span *const grown = agx_alloc(l->c, room * sizeof *grown);
        if (r->spans)
            memcpy(grown, r->span, r->spans * sizeof *grown);
        r->span = grown;
        r->span_room = room;
    }
    r->span[r->spans++] = (struct agx_span){first, end};
}

static void add_live(struct life *l, const uint64_t *live, uint32_t first, uint32_t end)
{
    for (uint32_t w = 0; w < l->words; w++)
        for (uint64_t bits = live[w]; bits; bits &= bits - 1)
            add_span(l, 64 * w + (uint32_t)__builtin_ctzll(bits), first, end);
}

static void read_ref(struct life *l, uint64_t *live, const struct agx_ref *ref)
{
    if (ref->kind == AGX_REF_REGISTER)
        live[ref->index / 64] |= UINT64_C(1) << ref->index % 64;
    (void)l;
}

static void write_ref(struct life *l, uint64_t *live, const struct agx_ref *ref, uint32_t at)
{
    if (ref->kind != AGX_REF_REGISTER)
        return;
    if (l->record && !has(live, ref->index))
        add_span(l, ref->index, at + 1, at + 2);
    live[ref->index / 64] &= ~(UINT64_C(1) << ref->index % 64);
}

static void one(struct life *l, uint64_t *live, struct agx_step *op)
{
    if (l->record)
        add_live(l, live, op->at + 1, op->at + 2);
    write_ref(l, live, &op->to, op->at);
    for (unsigned i = 0; i < op->copies; i++)
        write_ref(l, live, &op->copy[i].to, op->at);
    for (unsigned i = 0; i < op->sources; i++)
        read_ref(l, live, &op->from[i]);
    for (unsigned i = 0; i < op->copies; i++)
        read_ref(l, live, &op->copy[i].from);
    if (l->record)
        add_live(l, live, op->at, op->at + 1);
}

static void walk_ops(struct life *l, uint64_t *live, struct agx_step *op)
{
    if (!op)
        return;
    walk_ops(l, live, op->next);
    one(l, live, op);
}

static void walk(struct life *l, uint64_t *live, struct agx_tree *tree);

static uint64_t *copy_set(struct life *l, const uint64_t *set)
{
    uint64_t *const copy = agx_alloc(l->c, l->words * sizeof *copy);
    memcpy(copy, set, l->words * sizeof *copy);
    return copy;
}

static void walk_if(struct life *l, uint64_t *live, struct agx_tree *tree)
{
    uint64_t *const other = copy_set(l, live);
    walk(l, other, tree->other);
    walk(l, live, tree->then);
    join_sets(l, live, other);
    if (l->record)
        add_live(l, live, tree->at + 1, tree->at + 2);
    for (unsigned i = 0; i < tree->conditions; i++) {
        read_ref(l, live, &tree->condition[i].a);
        read_ref(l, live, &tree->condition[i].b);
    }
    if (l->record)
        add_live(l, live, tree->at, tree->at + 1);
}

static void walk_loop(struct life *l, uint64_t *live, struct agx_tree *tree)
{
    const bool record = l->record;
    uint64_t *const top = agx_alloc(l->c, l->words * sizeof *top);
    l->record = false;
    for (bool changed = true; changed && !l->c->failed;) {
        uint64_t *const body = copy_set(l, top);
        walk(l, body, tree->then);
        changed = false;
        for (uint32_t i = 0; i < l->words; i++) {
            changed = changed || (body[i] & ~top[i]);
            top[i] |= body[i];
        }
    }
    l->record = record;
    if (record) {
        uint64_t *const body = copy_set(l, top);
        walk(l, body, tree->then);
    }
    memcpy(live, top, l->words * sizeof *live);
}

static void walk(struct life *l, uint64_t *live, struct agx_tree *tree)
{
    if (!tree || l->c->failed)
        return;
    walk(l, live, tree->next);
    if (!tree->live)
        tree->live = agx_alloc(l->c, l->words * sizeof *live);
    memcpy(tree->live, live, l->words * sizeof *live);
    switch (tree->kind) {
    case AGX_TREE_CODE:
    case AGX_TREE_EDGE: walk_ops(l, live, tree->ops.first); break;
    case AGX_TREE_IF: walk_if(l, live, tree); break;
    case AGX_TREE_SCOPE: walk(l, live, tree->then); break;
    case AGX_TREE_LOOP: walk_loop(l, live, tree); break;
    case AGX_TREE_LEAVE: memcpy(live, tree->target ? tree->target->live : l->end, l->words * sizeof *live); break;
    }
}

static void number(struct life *l, struct agx_tree *tree)
{
    for (; tree; tree = tree->next) {
        tree->live = NULL;
        for (struct agx_step *op = tree->ops.first; op; op = op->next, l->at += 2)
            op->at = l->at;
        if (tree->kind == AGX_TREE_IF) {
            tree->at = l->at;
            l->at += 2;
        }
        number(l, tree->then);
        number(l, tree->other);
    }
}

bool agx_live(struct agx_compiler *c)
{
    struct life l = {.c = c, .words = c->regs / 64 + 1, .record = true};
    l.end = agx_alloc(c, l.words * sizeof *l.end);
    uint64_t *const live = agx_alloc(c, l.words * sizeof *live);
    for (uint32_t i = 0; i < c->regs; i++)
        c->reg[i].spans = 0;
    number(&l, c->tree);
    walk(&l, live, c->tree);
    for (uint32_t i = 0; i < c->regs; i++) /* ascending from here on */
        for (unsigned a = 0, b = c->reg[i].spans; a + 1 < b; a++) {
            const struct agx_span first = c->reg[i].span[a];
            c->reg[i].span[a] = c->reg[i].span[--b];
            c->reg[i].span[b] = first;
        }
    return !c->failed;
}

bool agx_overlap(const struct agx_register *a, const struct agx_register *b)
{
    for (unsigned i = 0, j = 0; i < a->spans && j < b->spans;) {
        if (a->span[i].end <= b->span[j].first)
            i++;
        else if (b->span[j].end <= a->span[i].first)
            j++;
        else
            return true;
    }
    return false;
}
