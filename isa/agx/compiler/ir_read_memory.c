/* Instructions about memory. Atomic operations become builtins, with fences on the sides that their order speaks of. */
#include "isa/agx/compiler/ir_read_parts.h"

#include "isa/array_count.h"

#include <string.h>

/* ---- order ---- */

struct order {
    bool before, after;
};

static bool skip_scope(struct ir_reader *r)
{
    return !ir_take(r, "syncscope") || (ir_is_sign(r, '(') ? ir_skip_brackets(r) : ir_read_fail(r, "expected ("));
}

static bool read_order(struct ir_reader *r, struct order *order)
{
    static const struct {
        const char *word;
        struct order order;
    } orders[] = {{"unordered", {false, false}}, {"monotonic", {false, false}}, {"acquire", {false, true}},
                  {"release", {true, false}},    {"acq_rel", {true, true}},     {"seq_cst", {true, true}}};
    for (unsigned i = 0; i < ARRAY_COUNT(orders); i++) {
        if (ir_take(r, orders[i].word)) {
            order->before |= orders[i].order.before;
            order->after |= orders[i].order.after;
            return true;
        }
    }
    return ir_read_fail(r, "expected an order of memory");
}

static bool put_fence(struct ir_reader *r, bool wanted)
{
    return !wanted || ir_put_builtin(r, IR_B_FENCE, ir_void(r->m), r->operands) != NULL;
}

struct ir_value *ir_read_fence(struct ir_reader *r, enum ir_op op)
{
    struct order order = {.before = false};
    (void)op;
    if (!skip_scope(r) || !read_order(r, &order))
        return NULL;
    return ir_put_builtin(r, IR_B_FENCE, ir_void(r->m), r->operands);
}

/* ---- loads and stores ---- */

/* held TYPE, of our own text */
static bool read_held(struct ir_reader *r, const struct ir_type **held)
{
    *held = NULL;
    return !ir_take(r, "held") || (*held = ir_read_type(r)) != NULL;
}

/* The value that was just made, between the fences that its order asks for. */
static struct ir_value *put_access(struct ir_reader *r, enum ir_op op, const struct ir_type *type, size_t from,
                                   struct order order)
{
    if (order.before) { /* in front of the operands' instruction, behind those of the operands */
        struct ir_value *const fence = ir_make_builtin(r->f, IR_B_FENCE, ir_void(r->m), NULL, 0);
        fence->line = (uint32_t)r->line.line;
        ir_append(r->block, fence);
    }
    struct ir_value *const v = ir_put(r, op, type, from);
    return v && put_fence(r, order.after) ? v : NULL;
}

struct ir_value *ir_read_load(struct ir_reader *r, enum ir_op op)
{
    const size_t from = r->operands;
    const struct ir_type *held;
    struct order order = {.before = false};
    const bool atomic = ir_take(r, "atomic"), is_volatile = ir_take(r, "volatile");
    const struct ir_type *const type = ir_read_type(r);
    if (!type || !read_held(r, &held) || !ir_want_sign(r, ',') || !ir_push_typed(r))
        return NULL;
    if (atomic && (!skip_scope(r) || !read_order(r, &order)))
        return NULL;
    struct ir_value *const v = put_access(r, op, type, from, order);
    if (v) {
        v->held = held;
        v->is_volatile = is_volatile || atomic;
    }
    return v;
}

struct ir_value *ir_read_store(struct ir_reader *r, enum ir_op op)
{
    const size_t from = r->operands;
    const struct ir_type *held;
    struct order order = {.before = false};
    const bool atomic = ir_take(r, "atomic"), is_volatile = ir_take(r, "volatile");
    if (!ir_push_typed(r) || !read_held(r, &held) || !ir_want_sign(r, ',') || !ir_push_typed(r))
        return NULL;
    if (atomic && (!skip_scope(r) || !read_order(r, &order)))
        return NULL;
    struct ir_value *const v = put_access(r, op, ir_void(r->m), from, order);
    if (v) {
        v->held = held;
        v->is_volatile = is_volatile || atomic;
    }
    return v;
}

struct ir_value *ir_read_alloca(struct ir_reader *r, enum ir_op op)
{
    const size_t from = r->operands;
    if (ir_is(r, "inalloca") || ir_is(r, "swifterror"))
        return ir_read_fail(r, "this kind of alloca is not supported"), NULL;
    const struct ir_type *const held = ir_read_type(r);
    if (!held)
        return NULL;
    const struct ir_place back = r->place;
    if (ir_take_sign(r, ',')) {
        if (!ir_is_type(r))
            r->place = back;
        else if (!ir_push_typed(r))
            return NULL;
    }
    if (r->operands == from && !ir_push(r, ir_constant(r->m, ir_int(r->m, 32), 1)))
        return NULL;
    struct ir_value *const v = ir_put(r, op, ir_pointer(r->m, IR_PRIVATE), from);
    if (v)
        v->held = held;
    return v;
}

struct ir_value *ir_read_gep(struct ir_reader *r, enum ir_op op)
{
    const size_t from = r->operands;
    (void)ir_read_flags(r);
    const struct ir_type *const held = ir_read_type(r);
    if (!held || !ir_want_sign(r, ',') || !ir_push_typed(r))
        return NULL;
    for (struct ir_place back = r->place; ir_take_sign(r, ','); back = r->place) {
        if (!ir_is_type(r)) {
            r->place = back;
            break;
        }
        if (!ir_push_typed(r))
            return NULL;
    }
    struct ir_value *const v = ir_put(r, op, ir_gep_type(r, from), from);
    if (!v)
        return NULL;
    v->held = held;
    if (ir_take(r, "offset")) {
        uint64_t offset;
        const bool minus = *r->place.token.text == '-';
        if (minus) {
            r->place.token.text++;
            r->place.token.length--;
        }
        if (!ir_want_number(r, INT32_MAX, &offset))
            return NULL;
        v->offset = minus ? -(int32_t)offset : (int32_t)offset;
    }
    return v;
}

/* ---- atomics ---- */

static bool read_kind(struct ir_reader *r, uint32_t *kind)
{
    static const char *const kinds[] = {
        [IR_ATOMIC_ADD] = "add",  [IR_ATOMIC_SUB] = "sub",   [IR_ATOMIC_XCHG] = "xchg", [IR_ATOMIC_UMIN] = "umin",
        [IR_ATOMIC_SMIN] = "min", [IR_ATOMIC_UMAX] = "umax", [IR_ATOMIC_SMAX] = "max",  [IR_ATOMIC_AND] = "and",
        [IR_ATOMIC_OR] = "or",    [IR_ATOMIC_XOR] = "xor",
    };
    for (unsigned i = 0; i < ARRAY_COUNT(kinds); i++) {
        if (ir_take(r, kinds[i])) {
            *kind = i;
            return true;
        }
    }
    return ir_read_fail(r, "this kind of atomicrmw is not supported");
}

struct ir_value *ir_read_rmw(struct ir_reader *r, enum ir_op op)
{
    const size_t from = r->operands;
    uint32_t kind;
    struct order order = {.before = false};
    (void)op;
    (void)ir_take(r, "volatile");
    if (!read_kind(r, &kind) || !ir_push_typed(r) || !ir_want_sign(r, ',') || !ir_push_typed(r) || !skip_scope(r) ||
        !read_order(r, &order))
        return NULL;
    struct ir_value *const pointer = r->operand[from], *const value = r->operand[from + 1];
    r->operands = from;
    if (!put_fence(r, order.before) || !ir_push(r, pointer) || !ir_push(r, value))
        return NULL;
    struct ir_value *const v = ir_put_builtin(r, IR_B_ATOMIC, value->type, from);
    return v && ir_read_list(r, v, &kind, 1) && put_fence(r, order.after) ? v : NULL;
}

/* { the old value, whether it was as expected } */
static struct ir_value *put_outcome(struct ir_reader *r, struct ir_value *old, struct ir_value *expected)
{
    const size_t from = r->operands;
    const struct ir_type *const truth = ir_int(r->m, 1);
    const struct ir_type *const type = ir_struct(r->m, (const struct ir_type *const[]){old->type, truth}, 2, false);
    static const uint32_t index[] = {0, 1};
    if (!ir_push(r, old) || !ir_push(r, expected))
        return NULL;
    struct ir_value *const same = ir_put(r, IR_ICMP, truth, from);
    if (!same || !ir_push(r, ir_undefined(r->m, type)) || !ir_push(r, old))
        return NULL;
    same->condition = IR_EQ;
    struct ir_value *const half = ir_put(r, IR_INSERT_VALUE, type, from);
    if (!half || !ir_read_list(r, half, &index[0], 1) || !ir_push(r, half) || !ir_push(r, same))
        return NULL;
    struct ir_value *const whole = ir_put(r, IR_INSERT_VALUE, type, from);
    return whole && ir_read_list(r, whole, &index[1], 1) ? whole : NULL;
}

struct ir_value *ir_read_cmpxchg(struct ir_reader *r, enum ir_op op)
{
    const size_t from = r->operands;
    struct order order = {.before = false};
    (void)op;
    (void)ir_take(r, "weak");
    (void)ir_take(r, "volatile");
    if (!ir_push_typed(r) || !ir_want_sign(r, ',') || !ir_push_typed(r) || !ir_want_sign(r, ',') || !ir_push_typed(r) ||
        !skip_scope(r) || !read_order(r, &order) || !read_order(r, &order))
        return NULL;
    struct ir_value *const part[] = {r->operand[from], r->operand[from + 1], r->operand[from + 2]};
    if (part[1]->type != part[2]->type || part[1]->type->kind != IR_INT)
        return ir_read_fail(r, "cmpxchg is supported of integers only"), NULL;
    r->operands = from;
    if (!put_fence(r, order.before) || !ir_push(r, part[0]) || !ir_push(r, part[1]) || !ir_push(r, part[2]))
        return NULL;
    struct ir_value *const old = ir_put_builtin(r, IR_B_ATOMIC_CMPXCHG, part[1]->type, from);
    if (!old || !put_fence(r, order.after))
        return NULL;
    return put_outcome(r, old, part[1]);
}
