/* Whole numbers of types that the kernels do not have: bytes and words of 16 bits are widened to 32, words without a sign to
 * one more, and what comes out is narrowed. Of 64 bits without a sign, the highest bit is changed where they are compared. */
#include "sim/run/lower/lowering.h"

#include <stdio.h>

bool lowering_is_narrow(const struct lowering *l, bool ordered)
{
    const enum net_type type = l->node->inputs && l->in[0] ? l->in[0]->type : NET_TYPES;
    return type == NET_I16 || type == NET_U16 || (ordered && (type == NET_I8 || type == NET_U32 || type == NET_U64));
}

static enum net_type wider(enum net_type type)
{
    return type == NET_U32 || type == NET_U64 ? NET_I64 : NET_I32;
}

static void *scratch_of(struct lowering *l, enum net_type type, int64_t count)
{
    return lowering_scratch(l, count * (type == NET_I64 ? 2 : 1));
}

/* to = a op b in a type that the kernels have; `one`: b is one number for all. */
static void add_step(struct lowering *l, const char *op, enum net_type type, const void *a, const void *b, bool one,
                     int64_t count, void *to)
{
    struct lowered_step *const step = lowering_step(l, to, count, "integer:%lld,op=%s,of=%s%s", (long long)count, op,
                                                    type == NET_I64 ? "i64" : "i32", one ? ",period=1" : "");
    if (step)
        step->operands.result_bytes = (uint64_t)count * net_type_bytes(type);
    lowering_read_elements(step, type, a, count);
    lowering_read_elements(step, type, b, one ? 1 : count);
}

/* to = x op number */
static void add_number(struct lowering *l, const char *op, enum net_type type, const void *x, int64_t number, int64_t count,
                       void *to)
{
    void *const own = scratch_of(l, type, 1);
    if (own)
        net_write_integers(type, own, 0, 1, &number);
    add_step(l, op, type, x, own, true, count, to);
}

/* Elements of so many bytes, each with as many bytes of zeros behind it. */
static void add_zeros(struct lowering *l, unsigned bytes, const void *x, int64_t count, void *to)
{
    const int64_t units = bytes == 2 ? 2 : 1; /* of a byte, or of a word */
    const enum net_type unit = bytes == 2 ? NET_U8 : NET_I32;
    void *const zeros = lowering_scratch(l, count);
    struct lowered_step *const step = lowering_moves(
        lowering_step(l, to, 2 * units * count, "concat:%lldx%lldx%lld", (long long)count, (long long)units, (long long)units),
        unit, 2 * units * count);
    lowering_read_elements(step, unit, x, units * count);
    lowering_read_elements(step, unit, zeros, units * count);
}

/* An operand in the wider type. A sign is brought to its place: s xor m, less m, where m is the bit of the sign. */
static void *widened(struct lowering *l, enum net_type type, const void *x, int64_t count)
{
    const enum net_type to = wider(type);
    void *const wide = scratch_of(l, to, count);
    const int64_t sign = type == NET_I8 ? 0x80 : 0x8000;
    if (type == NET_I8)
        lowering_add_cast(l, NET_U8, x, NET_I32, wide, count);
    else if (type == NET_U64)
        return (void *)x;
    else
        add_zeros(l, (unsigned)net_type_bytes(type), x, count, wide);
    if (type == NET_I8 || type == NET_I16) {
        add_number(l, "xor", to, wide, sign, count, wide);
        add_number(l, "sub", to, wide, sign, count, wide);
    }
    return wide;
}

static void narrow(struct lowering *l, enum net_type type, const void *x, int64_t count, void *to)
{
    if (type == NET_I8) {
        lowering_add_cast(l, NET_I32, x, NET_U8, to, count);
    } else if (type == NET_U32) {
        lowering_add_cast(l, NET_I64, x, NET_I32, to, count);
    } else {
        struct lowered_step *const step = lowering_moves(
            lowering_step(l, to, 2 * count, "slice:%lldx4,h=%lld,w=2,column=0", (long long)count, (long long)count), NET_U8,
            2 * count);
        lowering_read_elements(step, NET_U8, x, 4 * count);
    }
}

/* Of numbers without a sign the order is that of numbers with one, when the highest bit is changed. */
static void order_long(struct lowering *l, const char *op, const void *a, const void *b, int64_t count, void *to)
{
    void *const x = scratch_of(l, NET_I64, count), *const y = scratch_of(l, NET_I64, count);
    add_number(l, "xor", NET_I64, a, INT64_MIN, count, x);
    add_number(l, "xor", NET_I64, b, INT64_MIN, count, y);
    add_step(l, op, NET_I64, x, y, false, count, x);
    add_number(l, "xor", NET_I64, x, INT64_MIN, count, to);
}

static bool is_below_sign(const struct net_array *x)
{
    bool below = true;
    for (int64_t i = 0; below && i < x->count; i++)
        below = ((const int64_t *)x->data)[i] >= 0;
    return below;
}

/* An operand as large as the result; types whose elements kernels do not move are so already. */
static const void *whole_of(struct lowering *l, const struct net_array *x)
{
    const struct net_array *const out = l->out[0];
    if (x->count == out->count)
        return x->data;
    if (!lowering_words(x->type) || !lowering_is_repeated(l, out, x)) {
        lowering_leave(l, "operands of type %s that are repeated", net_type_name(x->type));
        return NULL;
    }
    return lowering_repeat(l, out, x, scratch_of(l, x->type == NET_U64 ? NET_I64 : NET_I32, out->count));
}

bool lowering_narrow_pair(struct lowering *l, const char *op)
{
    const struct net_array *const a = l->in[0], *const b = l->node->inputs > 1 ? l->in[1] : NULL, *const out = l->out[0];
    const bool orders = op[0] == 'm' && op[2] != 'd'; /* min, max; not mod */
    if (l->node->inputs != 2 || !b || !out || a->type != b->type || out->type != a->type || out->count == 0)
        return lowering_leave(l, "%zu operands, of several types or none", l->node->inputs);
    if (a->type == NET_U64 && !orders && !(is_below_sign(a) && is_below_sign(b)))
        return lowering_leave(l, "numbers of 2^63 and more");
    const enum net_type wide = wider(a->type);
    const void *const x = whole_of(l, a), *const y = whole_of(l, b);
    if (!x || !y)
        return false;
    if (a->type == NET_U64) {
        if (orders)
            order_long(l, op, x, y, out->count, out->data);
        else
            add_step(l, op, NET_I64, x, y, false, out->count, out->data);
        return lowering_holds(l);
    }
    void *const first = widened(l, a->type, x, out->count), *const second = widened(l, a->type, y, out->count);
    add_step(l, op, wide, first, second, false, out->count, first);
    narrow(l, a->type, first, out->count, out->data);
    return lowering_holds(l);
}

/* Bounds that are one number each. */
bool lowering_narrow_clip(struct lowering *l)
{
    static const char *const ops[] = {"max", "min"};
    const struct net_array *const x = l->in[0], *const out = l->out[0];
    if (!out || x->count == 0 || x->type == NET_U64)
        return lowering_leave(l, "the library's Clip has no version of type %s", net_type_name(x->type));
    void *const wide = widened(l, x->type, x->data, x->count);
    for (size_t k = 1; k < l->node->inputs && k < 3; k++) {
        const struct net_array *const bound = l->in[k];
        if (bound && (bound->count != 1 || bound->type != x->type))
            return lowering_leave(l, "bounds that are not one number");
        if (bound)
            add_step(l, ops[k - 1], wider(x->type), wide, widened(l, x->type, bound->data, 1), true, x->count, wide);
    }
    narrow(l, x->type, wide, x->count, out->data);
    return lowering_holds(l);
}
