/* Functions over the lanes of a simdgroup, and matrices. */
#include "isa/agx/compiler/agx_select.h"

static const char *const reductions[] = {
    [IR_REDUCE_ADD] = "iadd",   [IR_REDUCE_FADD] = "fadd",  [IR_REDUCE_FMUL] = "fmul",  [IR_REDUCE_FMIN] = "min.f",
    [IR_REDUCE_FMAX] = "max.f", [IR_REDUCE_UMIN] = "min.u", [IR_REDUCE_UMAX] = "max.u", [IR_REDUCE_SMIN] = "min.s",
    [IR_REDUCE_SMAX] = "max.s", [IR_REDUCE_AND] = "and",    [IR_REDUCE_OR] = "or",      [IR_REDUCE_XOR] = "xor"};

static bool reduce(struct agx_compiler *c, const struct ir_value *v)
{
    const char *const start = v->builtin == IR_B_SIMD_REDUCE   ? "simd_"
                              : v->builtin == IR_B_SIMD_PREFIX ? "simd_prefix_"
                              : v->builtin == IR_B_QUAD_REDUCE ? "quad_"
                                                               : NULL;
    if (!start)
        return false;
    if (agx_bits(v->type) == 64)
        return agx_refuse(c, v, "a reduction of 64 bits");
    if (v->builtin == IR_B_SIMD_PREFIX && (v->list[0] == IR_REDUCE_FMIN || v->list[0] == IR_REDUCE_FMAX))
        return agx_refuse(c, v, "a prefix minimum or maximum of floating point");
    AGX_EMIT(c, agx_text(c, "%s%s %%d, %%0", start, reductions[v->list[0]]), agx_to(c, v), agx_exact(c, v->operand[0]));
    return true;
}

static struct agx_ref lane_of(struct agx_compiler *c, const struct ir_value *v)
{
    const struct agx_ref lane = agx_exact(c, v);
    return lane.part == 16 || lane.kind == AGX_REF_NUMBER ? lane : agx_part(lane, 0, 16);
}

/* The lowest two bits of the lane act for a whole quad (agx-isa.md section 8.1), so that a lane that differs between lanes takes
 * one shuffle for each of their values, and selects. */
static void shuffle_any(struct agx_compiler *c, const struct ir_value *v, struct agx_ref lane)
{
    const struct agx_ref quad = agx_new(c, 16, 1), within = agx_new(c, 16, 1);
    const struct agx_ref value = agx_in_register(c, v->operand[0]);
    AGX_EMIT(c, "and %d, %0, 252", quad, lane);
    AGX_EMIT(c, "and %d, %0, 3", within, lane);
    struct agx_ref so_far = agx_new(c, value.part, 1);
    AGX_EMIT(c, "simd_shuffle %d, %0, %1", so_far, value, quad);
    for (unsigned i = 1; i < 4; i++) {
        const struct agx_ref from = agx_new(c, 16, 1), got = agx_new(c, value.part, 1);
        const struct agx_ref next = i == 3 ? agx_to(c, v) : agx_new(c, value.part, 1);
        AGX_EMIT(c, "or %d, %0, %1", from, quad, agx_number(i, 16));
        AGX_EMIT(c, "simd_shuffle %d, %0, %1", got, value, from);
        AGX_EMIT(c, "icmpsel ueq, %d, %0, %1, %2, %3", next, within, agx_number(i, 16), got, so_far);
        so_far = next;
    }
}

/* The lane that a distance leads to; the lane itself where there is none, as the hardware's own forms have it. */
static struct agx_ref lane_at_distance(struct agx_compiler *c, const struct ir_value *v)
{
    const struct agx_ref distance = agx_exact(c, v->operand[1]), own = agx_new(c, 32, 1), to = agx_new(c, 32, 1),
                         chosen = agx_new(c, 32, 1);
    AGX_EMIT(c, "get_sr %d, sr52", own, agx_number(0, 32));
    AGX_EMIT(c,
             v->builtin == IR_B_SIMD_SHUFFLE_XOR  ? "xor %d, %0, %1"
             : v->builtin == IR_B_SIMD_SHUFFLE_UP ? "isub %d, %0, %1"
                                                  : "iadd %d, %0, %1",
             to, own, distance);
    AGX_EMIT(c, "icmpsel ult, %d, %0, 32, %1, %2", chosen, to, to, own);
    return agx_part(chosen, 0, 16);
}

static bool shuffle(struct agx_compiler *c, const struct ir_value *v)
{
    static const struct {
        uint16_t builtin;
        const char *format;
    } forms[] = {{IR_B_SIMD_SHUFFLE, "simd_shuffle %d, %0, %1"},
                 {IR_B_SIMD_BROADCAST, "simd_shuffle %d, %0, %1"},
                 {IR_B_SIMD_SHUFFLE_XOR, "simd_shuffle_xor %d, %0, %1"},
                 {IR_B_SIMD_SHUFFLE_UP, "simd_shuffle_up %d, %0, %1"},
                 {IR_B_SIMD_SHUFFLE_DOWN, "simd_shuffle_down %d, %0, %1"}};
    for (unsigned i = 0; i < sizeof forms / sizeof *forms; i++) {
        if (forms[i].builtin != v->builtin)
            continue;
        const struct ir_value *const lane = v->operand[1];
        const bool same = lane->op == IR_CONSTANT || lane->op == IR_ARGUMENT || v->builtin == IR_B_SIMD_BROADCAST;
        if (agx_bits(v->type) == 64)
            return agx_refuse(c, v, "a shuffle of 64 bits");
        if (!same && v->builtin == IR_B_SIMD_SHUFFLE)
            shuffle_any(c, v, lane_of(c, lane));
        else if (!same)
            shuffle_any(c, v, lane_at_distance(c, v));
        else
            AGX_EMIT(c, forms[i].format, agx_to(c, v), agx_exact(c, v->operand[0]), lane_of(c, lane));
        return true;
    }
    return false;
}

static void ballot(struct agx_compiler *c, const struct ir_value *v)
{
    const struct agx_condition k = agx_condition_of(c, v->operand[0]);
    AGX_EMIT(c, agx_text(c, "%ccmp_ballot %%d, %s, %%0, %%1", k.is_float ? 'f' : 'i', agx_condition_name(&k, true)), agx_to(c, v),
             k.a, k.b);
}

static void first_lane(struct agx_compiler *c, const struct ir_value *v)
{
    const struct agx_ref place = agx_new(c, 32, 1);
    AGX_EMIT(c, "get_sr %d, sr58", place, agx_number(0, 32));
    AGX_EMIT(c, "icmpsel ueq, %d, %0, %1, %2, %3", agx_to(c, v), place, agx_number(0, 32), agx_number(1, 16), agx_number(0, 16));
}

static bool matrix(struct agx_compiler *c, const struct ir_value *v)
{
    for (unsigned i = 0; i < 3; i++)
        if (agx_lanes(v->operand[i]->type) != 2 || v->operand[i]->op == IR_UNDEFINED)
            return agx_refuse(c, v, "a matrix operand that is not two elements");
    AGX_EMIT(c, agx_bits(v->type) == 16 ? "simd_matrix_fmadd16 %d, %0, %1, %2" : "simd_matrix_fmadd32 %d, %0, %1, %2",
             agx_to(c, v), agx_to(c, v->operand[0]), agx_to(c, v->operand[1]), agx_to(c, v->operand[2]));
    return true;
}

bool agx_select_simd(struct agx_compiler *c, const struct ir_value *v)
{
    if (v->op != IR_BUILTIN)
        return false;
    switch (v->builtin) {
    case IR_B_SIMD_BALLOT: ballot(c, v); return true;
    case IR_B_SIMD_FIRST: first_lane(c, v); return true;
    case IR_B_MATRIX_FMA: return matrix(c, v) || c->failed;
    default: return reduce(c, v) || c->failed || shuffle(c, v) || c->failed;
    }
}
