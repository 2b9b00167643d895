/* Library functions that are handled as a whole: barriers, fences, positions of other kinds, sub-group functions. */
#include "isa/agx/compiler/pass_library.h"

#include <string.h>

#define BUILD &w->b

#define CLK_GLOBAL_MEM_FENCE 2u

static struct ir_value *effect(struct library_whole *w, enum ir_builtin builtin)
{
    build_builtin(BUILD, builtin, ir_void(w->p->m), NULL, 0);
    ir_remove(w->v);
    return w->v;
}

static struct ir_value *position(struct library_whole *w, enum ir_builtin builtin, uint32_t dimension)
{
    struct ir_value *which = build_i32(BUILD, dimension);
    return build_builtin(BUILD, builtin, ir_int(w->p->m, 32), &which, 1);
}

static struct ir_value *linear_id(struct library_whole *w)
{
    struct ir_value *row =
        build_2(BUILD, IR_ADD, build_2(BUILD, IR_MUL, position(w, IR_B_GLOBAL_ID, 2), position(w, IR_B_GLOBAL_SIZE, 1)),
                position(w, IR_B_GLOBAL_ID, 1));
    return build_2(BUILD, IR_ADD, build_2(BUILD, IR_MUL, row, position(w, IR_B_GLOBAL_SIZE, 0)), position(w, IR_B_GLOBAL_ID, 0));
}

struct ir_value *lower_special(struct library_whole *w, enum ir_special code)
{
    uint64_t flags;
    const struct ir_type *type = w->v->type;
    switch (code) {
    case IR_S_BARRIER:
        if (!w->operands || !pass_is_constant(w->operand[0], &flags) || (flags & CLK_GLOBAL_MEM_FENCE))
            build_builtin(BUILD, IR_B_FENCE, ir_void(w->p->m), NULL, 0);
        return effect(w, IR_B_BARRIER);
    case IR_S_SUB_GROUP_BARRIER: return effect(w, IR_B_SIMD_BARRIER);
    case IR_S_FENCE: return effect(w, IR_B_FENCE);
    case IR_S_GET_GLOBAL_OFFSET: return build_bits(BUILD, type, 0);
    case IR_S_GET_WORK_DIM: return build_bits(BUILD, type, 3);
    case IR_S_GET_GLOBAL_LINEAR_ID: return build_resize(BUILD, linear_id(w), type, false);
    case IR_S_GET_SUB_GROUP_SIZE:
    case IR_S_GET_MAX_SUB_GROUP_SIZE: return build_bits(BUILD, type, 32);
    case IR_S_PRINTF: return pass_refuse(w->p, w->v, "printf is not supported");
    default: return NULL;
    }
}

/* ---- sub-groups ---- */

static struct ir_value *ballot(struct library_whole *w, struct ir_value *condition)
{
    struct ir_value *is = condition->type->bits == 1 ? condition : build_icmpn(BUILD, IR_NE, condition, 0);
    return build_builtin(BUILD, IR_B_SIMD_BALLOT, ir_int(w->p->m, 32), &is, 1);
}

struct ir_value *lower_simd(struct library_whole *w, enum ir_special code)
{
    struct ir_value *x = w->operands ? w->operand[0] : NULL;
    const struct ir_type *type = w->v->type, *truth = ir_int(w->p->m, 1);
    switch (code) {
    case IR_S_SCAN_INCLUSIVE: {
        const unsigned kind = lower_kind_for(w, w->call->name->detail);
        return lower_pair(BUILD, kind, lower_with_kind(BUILD, IR_B_SIMD_PREFIX, kind, type, &x, 1), x);
    }
    case IR_S_SUB_GROUP_ANY: return build_resize(BUILD, build_icmpn(BUILD, IR_NE, ballot(w, x), 0), type, false);
    case IR_S_SUB_GROUP_ALL: {
        /* No active lane for which it is false. */
        struct ir_value *is_zero = x->type->bits == 1 ? build_not(BUILD, x) : build_icmpn(BUILD, IR_EQ, x, 0);
        return build_resize(BUILD, build_icmpn(BUILD, IR_EQ, ballot(w, is_zero), 0), type, false);
    }
    case IR_S_SUB_GROUP_BALLOT: {
        struct ir_value *zero = build_i32(BUILD, 0), *const lane[] = {ballot(w, x), zero, zero, zero};
        return build_vector(BUILD, lane, 4);
    }
    case IR_S_SUB_GROUP_ELECT: return build_resize(BUILD, build_builtin(BUILD, IR_B_SIMD_FIRST, truth, NULL, 0), type, false);
    case IR_S_SUB_GROUP_BROADCAST_FIRST: {
        struct ir_value *first = build_b1(BUILD, IR_B_CTZ, ballot(w, build_bits(BUILD, truth, 1)));
        struct ir_value *const operand[] = {x, first};
        return build_builtin(BUILD, IR_B_SIMD_BROADCAST, type, operand, 2);
    }
    default: return NULL;
    }
}
