/* LLVM's own functions (llvm.org/docs/LangRef.html, "Intrinsic Functions"): to operations, builtins, plain copies, or nothing. */
#include "isa/agx/compiler/pass_library.h"
#include "isa/array_count.h"

#include <string.h>

enum intrinsic_kind { INTRINSIC_OP, INTRINSIC_BUILTIN, INTRINSIC_EXPAND, INTRINSIC_NOTHING, INTRINSIC_OTHER };
enum intrinsic_other { OTHER_BSWAP, OTHER_EXPECT, OTHER_ABS, OTHER_REDUCE };

struct intrinsic {
    const char *name; /* without the types at the end */
    enum intrinsic_kind kind;
    unsigned code;
};

static const struct intrinsic intrinsics[] = {
    {"fmuladd", INTRINSIC_OP, IR_FMA},
    {"fma", INTRINSIC_OP, IR_FMA},
    {"umin", INTRINSIC_BUILTIN, IR_B_UMIN},
    {"umax", INTRINSIC_BUILTIN, IR_B_UMAX},
    {"smin", INTRINSIC_BUILTIN, IR_B_SMIN},
    {"smax", INTRINSIC_BUILTIN, IR_B_SMAX},
    {"ctpop", INTRINSIC_BUILTIN, IR_B_POPCOUNT},
    {"ctlz", INTRINSIC_BUILTIN, IR_B_CLZ},
    {"cttz", INTRINSIC_BUILTIN, IR_B_CTZ},
    {"bitreverse", INTRINSIC_BUILTIN, IR_B_BIT_REVERSE},
    {"fshl", INTRINSIC_BUILTIN, IR_B_FUNNEL_LEFT},
    {"fshr", INTRINSIC_BUILTIN, IR_B_FUNNEL_RIGHT},
    {"uadd.sat", INTRINSIC_BUILTIN, IR_B_ADD_SAT_U},
    {"usub.sat", INTRINSIC_BUILTIN, IR_B_SUB_SAT_U},
    {"sadd.sat", INTRINSIC_BUILTIN, IR_B_ADD_SAT_S},
    {"ssub.sat", INTRINSIC_BUILTIN, IR_B_SUB_SAT_S},
    {"fabs", INTRINSIC_BUILTIN, IR_B_FABS},
    {"minnum", INTRINSIC_BUILTIN, IR_B_FMIN},
    {"maxnum", INTRINSIC_BUILTIN, IR_B_FMAX},
    {"floor", INTRINSIC_BUILTIN, IR_B_FLOOR},
    {"ceil", INTRINSIC_BUILTIN, IR_B_CEIL},
    {"trunc", INTRINSIC_BUILTIN, IR_B_TRUNCATE},
    {"rint", INTRINSIC_BUILTIN, IR_B_RINT},
    {"nearbyint", INTRINSIC_BUILTIN, IR_B_RINT},
    {"roundeven", INTRINSIC_BUILTIN, IR_B_RINT},
    {"round", INTRINSIC_EXPAND, IR_X_ROUND},
    {"copysign", INTRINSIC_EXPAND, IR_X_COPYSIGN},
    {"sqrt", INTRINSIC_EXPAND, IR_X_SQRT},
    {"exp", INTRINSIC_EXPAND, IR_X_EXP},
    {"exp2", INTRINSIC_EXPAND, IR_X_EXP2},
    {"log", INTRINSIC_EXPAND, IR_X_LOG},
    {"log2", INTRINSIC_EXPAND, IR_X_LOG2},
    {"log10", INTRINSIC_EXPAND, IR_X_LOG10},
    {"pow", INTRINSIC_EXPAND, IR_X_POW},
    {"powi", INTRINSIC_EXPAND, IR_X_POWN},
    {"sin", INTRINSIC_EXPAND, IR_X_SIN},
    {"cos", INTRINSIC_EXPAND, IR_X_COS},
    {"lifetime.", INTRINSIC_NOTHING, 0},
    {"assume", INTRINSIC_NOTHING, 0},
    {"dbg.", INTRINSIC_NOTHING, 0},
    {"experimental.noalias", INTRINSIC_NOTHING, 0},
    {"invariant.", INTRINSIC_NOTHING, 0},
    {"var.annotation", INTRINSIC_NOTHING, 0},
    {"donothing", INTRINSIC_NOTHING, 0},
    {"bswap", INTRINSIC_OTHER, OTHER_BSWAP},
    {"expect", INTRINSIC_OTHER, OTHER_EXPECT},
    {"abs", INTRINSIC_OTHER, OTHER_ABS},
    {"vector.reduce.", INTRINSIC_OTHER, OTHER_REDUCE},
};

static const struct intrinsic *intrinsic_find(const char *name)
{
    for (unsigned i = 0; i < ARRAY_COUNT(intrinsics); i++) {
        const size_t length = strlen(intrinsics[i].name);
        if (strncmp(name, intrinsics[i].name, length) == 0 &&
            (intrinsics[i].name[length - 1] == '.' || !name[length] || name[length] == '.'))
            return &intrinsics[i];
    }
    return NULL;
}

static struct ir_value *intrinsic_one(struct library_lane *l, unsigned index)
{
    const struct intrinsic *i = &intrinsics[index];
    struct ir_value *const operand[] = {l->x, l->y, l->z};
    if (i->kind == INTRINSIC_OP)
        return build_any(&l->b, (enum ir_op)i->code, l->type, operand, 3);
    if (i->kind == INTRINSIC_BUILTIN)
        return build_builtin(&l->b, (enum ir_builtin)i->code, l->type, operand, ir_builtin_operands(i->code));
    struct ir_value *r = lower_rounding(l, (enum ir_expansion)i->code);
    if (!r)
        r = lower_math(l, (enum ir_expansion)i->code);
    return r ? r : lower_trigonometry(l, (enum ir_expansion)i->code);
}

static struct ir_value *intrinsic_abs(struct library_lane *l, unsigned code)
{
    (void)code;
    l->is_signed = true;
    return lower_integer(l, IR_X_ABS);
}

static struct ir_value *intrinsic_bswap(struct library_lane *l, unsigned code)
{
    (void)code;
    const unsigned bits = l->type->bits;
    struct ir_value *r = build_like(&l->b, l->x, 0);
    for (unsigned i = 0; i < bits; i += 8) {
        struct ir_value *byte = build_2n(&l->b, IR_AND, i ? build_2n(&l->b, IR_LSHR, l->x, i) : l->x, 255);
        const unsigned to = bits - 8 - i;
        r = build_2(&l->b, IR_OR, r, to ? build_2n(&l->b, IR_SHL, byte, to) : byte);
    }
    return r;
}

static struct ir_value *intrinsic_reduce(struct library_whole *w, const char *kind)
{
    static const struct {
        const char *name;
        unsigned op, builtin;
    } kinds[] = {{"add", IR_ADD, 0},     {"mul", IR_MUL, 0},     {"and", IR_AND, 0},     {"or", IR_OR, 0},
                 {"xor", IR_XOR, 0},     {"fadd", IR_FADD, 0},   {"fmul", IR_FMUL, 0},   {"umin", 0, IR_B_UMIN},
                 {"umax", 0, IR_B_UMAX}, {"smin", 0, IR_B_SMIN}, {"smax", 0, IR_B_SMAX}, {"fmin", 0, IR_B_FMIN},
                 {"fmax", 0, IR_B_FMAX}};
    const size_t length = strcspn(kind, ".");
    for (unsigned i = 0; i < ARRAY_COUNT(kinds); i++) {
        if (strlen(kinds[i].name) != length || strncmp(kinds[i].name, kind, length) != 0)
            continue;
        struct ir_value *vector = w->operand[w->operands - 1];
        struct ir_value *sum = w->operands > 1 ? w->operand[0] : NULL;
        for (unsigned k = 0; k < vector->type->count; k++) {
            struct ir_value *lane = build_extract(&w->b, vector, k);
            if (!sum)
                sum = lane;
            else
                sum = kinds[i].op ? build_2(&w->b, (enum ir_op)kinds[i].op, sum, lane)
                                  : build_b2(&w->b, (enum ir_builtin)kinds[i].builtin, sum, lane);
        }
        return sum;
    }
    return NULL;
}

struct ir_value *lower_intrinsic(struct library_whole *w, const char *name)
{
    const struct intrinsic *i = intrinsic_find(name);
    if (!i)
        return lower_copy(w, name);
    const struct ir_type *type = w->v->type;
    switch (i->kind) {
    case INTRINSIC_NOTHING: ir_remove(w->v); return w->v;
    case INTRINSIC_OTHER: break;
    default: return lower_lanes(w, type, false, intrinsic_one, (unsigned)(i - intrinsics));
    }
    switch ((enum intrinsic_other)i->code) {
    case OTHER_EXPECT: return w->operand[0];
    case OTHER_ABS: return lower_lanes(w, type, true, intrinsic_abs, 0);
    case OTHER_BSWAP: return lower_lanes(w, type, false, intrinsic_bswap, 0);
    case OTHER_REDUCE: return intrinsic_reduce(w, name + strlen("vector.reduce."));
    default: return NULL;
    }
}
