/* Atomics, legacy and C11's. All are done in full order: memory order and scope are not looked at. */
#include "isa/agx/compiler/pass_library.h"

#define BUILD &w->b

struct ir_value *lower_atomic_make(struct build *b, unsigned kind, struct ir_value *pointer, struct ir_value *value)
{
    const struct ir_type *type = value->type, *bits = ir_int(b->m, type->bits);
    struct ir_value *const operand[] = {pointer, build_convert(b, IR_BITCAST, value, bits)};
    return build_convert(b, IR_BITCAST, lower_with_kind(b, IR_B_ATOMIC, kind, bits, operand, 2), type);
}

static struct ir_value *atomic_exchange_if(struct library_whole *w, struct ir_value *expected, struct ir_value *now)
{
    struct ir_value *const operand[] = {w->operand[0], expected, now};
    return build_builtin(BUILD, IR_B_ATOMIC_CMPXCHG, now->type, operand, 3);
}

/* bool f(object, expected *, desired, ...): what was found goes to *expected. */
static struct ir_value *atomic_compare_exchange(struct library_whole *w)
{
    struct ir_value *now = w->operand[2];
    struct ir_value *expected = build_load(BUILD, now->type, w->operand[1], 0);
    struct ir_value *found = atomic_exchange_if(w, expected, now);
    build_store(BUILD, found, w->operand[1], 0);
    return build_resize(BUILD, build_icmp(BUILD, IR_EQ, found, expected), w->v->type, false);
}

static struct ir_value *gone(struct library_whole *w)
{
    ir_remove(w->v);
    return w->v;
}

struct ir_value *lower_atomic(struct library_whole *w, enum ir_special code)
{
    const struct ir_type *i32 = ir_int(w->p->m, 32);
    struct ir_value *one = build_i32(BUILD, 1), *zero = build_i32(BUILD, 0);
    switch (code) {
    case IR_S_ATOMIC_INC: return lower_atomic_make(BUILD, IR_ATOMIC_ADD, w->operand[0], one);
    case IR_S_ATOMIC_DEC: return lower_atomic_make(BUILD, IR_ATOMIC_SUB, w->operand[0], one);
    case IR_S_ATOMIC_CMPXCHG: return atomic_exchange_if(w, w->operand[1], w->operand[2]);
    case IR_S_ATOMIC_COMPARE_EXCHANGE: return atomic_compare_exchange(w);
    case IR_S_ATOMIC_LOAD: {
        struct ir_value *old =
            lower_atomic_make(BUILD, IR_ATOMIC_OR, w->operand[0], build_bits(BUILD, ir_int(w->p->m, w->v->type->bits), 0));
        return build_convert(BUILD, IR_BITCAST, old, w->v->type);
    }
    case IR_S_ATOMIC_STORE: lower_atomic_make(BUILD, IR_ATOMIC_XCHG, w->operand[0], w->operand[1]); return gone(w);
    case IR_S_ATOMIC_INIT: build_store(BUILD, w->operand[1], w->operand[0], 0); return gone(w);
    case IR_S_ATOMIC_FLAG_TEST_AND_SET: {
        struct ir_value *old = lower_atomic_make(BUILD, IR_ATOMIC_XCHG, w->operand[0], one);
        return build_resize(BUILD, build_icmpn(BUILD, IR_NE, old, 0), w->v->type, false);
    }
    case IR_S_ATOMIC_FLAG_CLEAR:
        lower_atomic_make(BUILD, IR_ATOMIC_XCHG, w->operand[0], build_resize(BUILD, zero, i32, false));
        return gone(w);
    default: return NULL;
    }
}
