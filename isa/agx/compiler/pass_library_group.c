/* Functions of whole work-groups: each sub-group leaves what it found in threadgroup memory, and every thread puts that together
 * in the order of sub-groups. */
#include "isa/agx/compiler/pass_library.h"

#include <math.h>
#include <string.h>

#define BUILD       &w->b
#define ROOM_NAME   "orchard.work_group"
#define MOST_GROUPS 32 /* sub-groups of a work-group */

struct ir_value *lower_pair(struct build *b, unsigned kind, struct ir_value *x, struct ir_value *y)
{
    static const uint16_t builtin[] = {[IR_REDUCE_FMIN] = IR_B_FMIN, [IR_REDUCE_FMAX] = IR_B_FMAX, [IR_REDUCE_UMIN] = IR_B_UMIN,
                                       [IR_REDUCE_UMAX] = IR_B_UMAX, [IR_REDUCE_SMIN] = IR_B_SMIN, [IR_REDUCE_SMAX] = IR_B_SMAX};
    switch (kind) {
    case IR_REDUCE_ADD: return build_2(b, IR_ADD, x, y);
    case IR_REDUCE_FADD: return build_2(b, IR_FADD, x, y);
    case IR_REDUCE_FMUL: return build_2(b, IR_FMUL, x, y);
    case IR_REDUCE_AND: return build_2(b, IR_AND, x, y);
    case IR_REDUCE_OR: return build_2(b, IR_OR, x, y);
    case IR_REDUCE_XOR: return build_2(b, IR_XOR, x, y);
    default: return build_b2(b, (enum ir_builtin)builtin[kind], x, y);
    }
}

/* The table names the kind for unsigned numbers; signed and floating ones have their own. */
unsigned lower_kind_for(const struct library_whole *w, unsigned kind)
{
    const bool is_float = w->v->type->kind == IR_FLOAT, is_signed = w->call->parameter[0].is_signed;
    switch (kind) {
    case IR_REDUCE_ADD: return is_float ? IR_REDUCE_FADD : IR_REDUCE_ADD;
    case IR_REDUCE_UMIN: return is_float ? IR_REDUCE_FMIN : is_signed ? IR_REDUCE_SMIN : IR_REDUCE_UMIN;
    case IR_REDUCE_UMAX: return is_float ? IR_REDUCE_FMAX : is_signed ? IR_REDUCE_SMAX : IR_REDUCE_UMAX;
    default: return kind;
    }
}

static struct ir_value *identity_of(struct build *b, unsigned kind, const struct ir_value *like)
{
    const uint64_t all = UINT64_MAX >> (64 - like->type->bits);
    switch (kind) {
    case IR_REDUCE_FADD: return build_float_like(b, like, 0);
    case IR_REDUCE_FMIN: return build_float_like(b, like, (double)INFINITY);
    case IR_REDUCE_FMAX: return build_float_like(b, like, -(double)INFINITY);
    case IR_REDUCE_UMIN:
    case IR_REDUCE_AND: return build_like(b, like, all);
    case IR_REDUCE_SMIN: return build_like(b, like, all >> 1);
    case IR_REDUCE_SMAX: return build_like(b, like, (all >> 1) + 1);
    default: return build_like(b, like, 0);
    }
}

/* One array for all functions: each waits until everybody has read it. */
static struct ir_value *room(struct library_whole *w)
{
    for (struct ir_value *v = ir_module_globals(w->p->m); v; v = v->next)
        if (v->name && strcmp(v->name, ROOM_NAME) == 0)
            return v;
    return ir_add_global(w->p->m, ROOM_NAME, ir_array(w->p->m, ir_int(w->p->m, 64), MOST_GROUPS), IR_THREADGROUP);
}

static struct ir_value *slot(struct build *b, struct ir_value *room, struct ir_value *index)
{
    return build_gep(b, room, ir_int(b->m, 64), index, 0);
}

static struct ir_value *ask(struct build *b, enum ir_builtin builtin)
{
    return build_builtin(b, builtin, ir_int(b->m, 32), NULL, 0);
}

static void barrier(struct build *b)
{
    build_builtin(b, IR_B_BARRIER, ir_void(b->m), NULL, 0);
}

/* What the first `groups` sub-groups left, in their order. */
static struct ir_value *together(struct library_whole *w, unsigned kind, struct ir_value *from, struct ir_value *groups,
                                 struct ir_value *like)
{
    struct ir_value *none = identity_of(BUILD, kind, like);
    struct build_loop l = build_loop_open(BUILD, build_icmpn(BUILD, IR_NE, groups, 0));
    struct ir_value *i = build_loop_phi(&l, build_i32(BUILD, 0)), *sum = build_loop_phi(&l, none);
    struct ir_value *next = build_2n(&l.b, IR_ADD, i, 1);
    struct ir_value *now = lower_pair(&l.b, kind, sum, build_load(&l.b, like->type, slot(&l.b, from, i), 8));
    build_loop_next(&l, i, next);
    build_loop_next(&l, sum, now);
    struct ir_value *r = build_loop_result(&l, none, now);
    build_loop_close(&l, build_icmp(&l.b, IR_ULT, next, groups));
    return r;
}

static struct ir_value *reduce(struct library_whole *w, unsigned kind, struct ir_value *x)
{
    struct ir_value *from = room(w);
    build_store(BUILD, lower_with_kind(BUILD, IR_B_SIMD_REDUCE, kind, x->type, &x, 1),
                slot(BUILD, from, ask(BUILD, IR_B_SIMDGROUP)), 8);
    barrier(BUILD);
    struct ir_value *r = together(w, kind, from, ask(BUILD, IR_B_SIMDGROUP_COUNT), x);
    barrier(BUILD);
    return r;
}

static struct ir_value *scan(struct library_whole *w, unsigned kind, struct ir_value *x, bool inclusive)
{
    struct ir_value *from = room(w), *group = ask(BUILD, IR_B_SIMDGROUP);
    build_store(BUILD, lower_with_kind(BUILD, IR_B_SIMD_REDUCE, kind, x->type, &x, 1), slot(BUILD, from, group), 8);
    struct ir_value *own = lower_with_kind(BUILD, IR_B_SIMD_PREFIX, kind, x->type, &x, 1);
    barrier(BUILD);
    struct ir_value *r = lower_pair(BUILD, kind, together(w, kind, from, group, x), own);
    barrier(BUILD);
    return inclusive ? lower_pair(BUILD, kind, r, x) : r;
}

/* broadcast(x, index, ...): the thread with that index leaves its value. */
static struct ir_value *broadcast(struct library_whole *w)
{
    const struct ir_type *i32 = ir_int(w->p->m, 32);
    struct ir_value *from = room(w), *index = build_resize(BUILD, w->operand[w->operands - 1], i32, false);
    for (unsigned d = w->operands - 2; d > 0; d--) {
        struct ir_value *dimension = build_i32(BUILD, d - 1);
        struct ir_value *size = build_builtin(BUILD, IR_B_LOCAL_SIZE, i32, &dimension, 1);
        index = build_2(BUILD, IR_ADD, build_2(BUILD, IR_MUL, index, size), build_resize(BUILD, w->operand[d], i32, false));
    }
    struct build_loop l = build_loop_open(BUILD, build_icmp(BUILD, IR_EQ, ask(BUILD, IR_B_LOCAL_INDEX), index));
    build_store(&l.b, w->operand[0], from, 8);
    build_loop_close(&l, build_bits(BUILD, ir_int(w->p->m, 1), 0)); /* once */
    barrier(BUILD);
    struct ir_value *r = build_load(BUILD, w->v->type, from, 8);
    barrier(BUILD);
    return r;
}

static struct ir_value *truth_of_all(struct library_whole *w, unsigned kind)
{
    struct ir_value *is = build_icmpn(BUILD, IR_NE, w->operand[0], 0);
    return build_resize(BUILD, reduce(w, kind, build_convert(BUILD, IR_ZEXT, is, ir_int(w->p->m, 32))), w->v->type, false);
}

struct ir_value *lower_group(struct library_whole *w, enum ir_special code)
{
    const unsigned kind =
        code == IR_S_WORK_GROUP_REDUCE || code == IR_S_WORK_GROUP_SCAN_EXCLUSIVE || code == IR_S_WORK_GROUP_SCAN_INCLUSIVE
            ? lower_kind_for(w, w->call->name->detail)
            : 0;
    switch (code) {
    case IR_S_WORK_GROUP_ALL: return truth_of_all(w, IR_REDUCE_AND);
    case IR_S_WORK_GROUP_ANY: return truth_of_all(w, IR_REDUCE_OR);
    case IR_S_WORK_GROUP_BROADCAST: return w->operands < 2 || w->v->type->kind == IR_VECTOR ? NULL : broadcast(w);
    case IR_S_WORK_GROUP_REDUCE: return reduce(w, kind, w->operand[0]);
    case IR_S_WORK_GROUP_SCAN_EXCLUSIVE: return scan(w, kind, w->operand[0], false);
    case IR_S_WORK_GROUP_SCAN_INCLUSIVE: return scan(w, kind, w->operand[0], true);
    default: return NULL;
    }
}
