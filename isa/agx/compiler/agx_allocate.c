/* Registers for groups, from those that begin to live first; each the lowest place where nothing else is live meanwhile. */
#include "isa/agx/compiler/agx_machine.h"

#include <stdlib.h>
#include <string.h>

struct group {
    uint32_t head, first; /* position */
    int32_t low, high;    /* halves from the first of the head */
    bool even;
    unsigned odd; /* parity of the place of the head that makes members even */
};
/* The spans in which a half is taken, ascending. */
struct half {
    struct agx_span *span;
    unsigned spans, room;
};
struct allocator {
    struct agx_compiler *c;
    struct half half[AGX_HALVES];
};

static bool is_free(const struct half *half, const struct agx_register *r)
{
    const struct agx_register taken = {.span = half->span, .spans = half->spans};
    return !agx_overlap(&taken, r);
}

static void take(struct allocator *a, struct half *half, const struct agx_register *r)
{
    if (half->spans + r->spans > half->room) {
        const unsigned room = 2 * (half->spans + r->spans) + 8;
        struct agx_span *const grown = agx_alloc(a->c, room * sizeof *grown);
        if (half->spans)
            memcpy(grown, half->span, half->spans * sizeof *grown);
        half->span = grown;
        half->room = room;
    }
    unsigned from = r->spans, have = half->spans, to = have + from;
    half->spans = to;
    while (from) /* merged from the end */
        half->span[--to] = have && half->span[have - 1].first > r->span[from - 1].first ? half->span[--have] : r->span[--from];
}

static int by_first(const void *a, const void *b)
{
    const struct group *const x = a, *const y = b;
    return x->first != y->first ? (x->first > y->first) - (x->first < y->first) : (x->head > y->head) - (x->head < y->head);
}

static int by_size(const void *a, const void *b)
{
    const struct group *const x = a, *const y = b;
    const int32_t size_x = x->high - x->low, size_y = y->high - y->low;
    return size_x != size_y ? (size_x < size_y) - (size_x > size_y) : by_first(a, b);
}

/* Words before halves, which find room between them. */
static int by_words(const void *a, const void *b)
{
    const struct group *const x = a, *const y = b;
    return x->even != y->even ? y->even - x->even : by_first(a, b);
}

static struct group *collect(struct agx_compiler *c, uint32_t *count)
{
    struct group *const groups = agx_alloc(c, (c->regs + 1) * sizeof *groups);
    *count = 0;
    for (uint32_t i = 0; i < c->regs; i++) {
        if (c->reg[i].group != i)
            continue;
        struct group g = {.head = i, .first = UINT32_MAX, .low = INT32_MAX, .high = INT32_MIN};
        for (uint32_t k = i; k != UINT32_MAX; k = c->reg[k].next_member) {
            const struct agx_register *const r = &c->reg[k];
            if (!r->spans)
                continue;
            g.first = r->span[0].first < g.first ? r->span[0].first : g.first;
            g.low = r->shift < g.low ? r->shift : g.low;
            g.high = r->shift + r->halves > g.high ? r->shift + r->halves : g.high;
            if (r->even) {
                g.even = true;
                g.odd = (unsigned)r->shift & 1;
            }
        }
        if (g.low < g.high)
            groups[(*count)++] = g;
    }
    return groups;
}

static bool fits(const struct allocator *a, const struct group *g, int32_t place)
{
    const struct agx_compiler *const c = a->c;
    for (uint32_t k = g->head; k != UINT32_MAX; k = c->reg[k].next_member)
        for (unsigned h = 0; h < c->reg[k].halves && c->reg[k].spans; h++)
            if (!is_free(&a->half[place + c->reg[k].shift + (int32_t)h], &c->reg[k]))
                return false;
    return true;
}

static bool put(struct allocator *a, const struct group *g, unsigned first, unsigned limit)
{
    struct agx_compiler *const c = a->c;
    for (int32_t place = (int32_t)first - g->low; place + g->high <= (int32_t)limit; place++) {
        if ((g->even && (((unsigned)place & 1) != g->odd)) || !fits(a, g, place))
            continue;
        for (uint32_t k = g->head; k != UINT32_MAX; k = c->reg[k].next_member) {
            c->reg[k].place = (uint16_t)(place + c->reg[k].shift);
            for (unsigned h = 0; h < c->reg[k].halves && c->reg[k].spans; h++)
                take(a, &a->half[c->reg[k].place + h], &c->reg[k]);
        }
        if ((unsigned)(place + g->high) > c->used_halves)
            c->used_halves = (unsigned)(place + g->high);
        return true;
    }
    return false;
}

static bool try_order(struct agx_compiler *c, struct group *groups, uint32_t count, int (*order)(const void *, const void *))
{
    struct allocator *const a = agx_alloc(c, sizeof *a);
    if (c->failed)
        return false;
    a->c = c;
    c->used_halves = 0;
    qsort(groups, count, sizeof *groups, order);
    for (uint32_t i = 0; i < count && !c->failed; i++)
        if (!put(a, &groups[i], c->has_masks ? 1 : 0, c->register_halves)) /* r0l counts nesting */
            return false;
    return !c->failed;
}

/* What is live first comes first, or what is large: whichever takes fewer registers. */
bool agx_allocate(struct agx_compiler *c)
{
    static int (*const orders[])(const void *, const void *) = {by_first, by_size, by_words};
    enum { ORDERS = sizeof orders / sizeof *orders, MANY = 4096 };
    uint32_t count;
    unsigned best = ORDERS, least = AGX_HALVES + 1, last = ORDERS;
    struct group *const groups = collect(c, &count);
    for (unsigned i = 0; i < ORDERS && !c->failed; i++) {
        last = i;
        if (!try_order(c, groups, count, orders[i]) || c->used_halves >= least)
            continue;
        best = i;
        least = c->used_halves;
        if (count > MANY)
            break;
    }
    return !c->failed && best < ORDERS && (best == last || try_order(c, groups, count, orders[best]));
}
