/* LLVM's own functions (llvm.org/docs/LangRef.html, "Intrinsic Functions"): to operations, builtins, plain copies, or nothing. */
#include "isa/agx/compiler/pass_library.h"
#include "isa/array_count.h"

#include <string.h>

enum intrinsic_kind { INTRINSIC_OP, INTRINSIC_BUILTIN, INTRINSIC_EXPAND, INTRINSIC_NOTHING, INTRINSIC_OTHER };
enum intrinsic_other { OTHER_BSWAP, OTHER_EXPECT, OTHER_ABS, OTHER_REDUCE, OTHER_OVERFLOW };

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
    {"minimum", INTRINSIC_BUILTIN, IR_B_FMIN},
    {"maximum", INTRINSIC_BUILTIN, IR_B_FMAX},
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
    {"ldexp", INTRINSIC_EXPAND, IR_X_LDEXP},
    {"exp10", INTRINSIC_EXPAND, IR_X_EXP10},
    {"lifetime.", INTRINSIC_NOTHING, 0},
    {"assume", INTRINSIC_NOTHING, 0},
    {"dbg.", INTRINSIC_NOTHING, 0},
    {"experimental.noalias", INTRINSIC_NOTHING, 0},
    {"invariant.", INTRINSIC_NOTHING, 0},
    {"var.annotation", INTRINSIC_NOTHING, 0},
    {"donothing", INTRINSIC_NOTHING, 0},
    {"sideeffect", INTRINSIC_NOTHING, 0},
    {"canonicalize", INTRINSIC_OTHER, OTHER_EXPECT},
    {"bswap", INTRINSIC_OTHER, OTHER_BSWAP},
    {"expect", INTRINSIC_OTHER, OTHER_EXPECT},
    {"abs", INTRINSIC_OTHER, OTHER_ABS},
    {"vector.reduce.", INTRINSIC_OTHER, OTHER_REDUCE},
    {"uadd.with.overflow", INTRINSIC_OTHER, OTHER_OVERFLOW},
    {"usub.with.overflow", INTRINSIC_OTHER, OTHER_OVERFLOW},
    {"umul.with.overflow", INTRINSIC_OTHER, OTHER_OVERFLOW},
    {"sadd.with.overflow", INTRINSIC_OTHER, OTHER_OVERFLOW},
    {"ssub.with.overflow", INTRINSIC_OTHER, OTHER_OVERFLOW},
    {"smul.with.overflow", INTRINSIC_OTHER, OTHER_OVERFLOW},
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

/* Products of fewer bits than 32 are looked at in 32. */
static struct ir_value *product_overflows(struct build *b, struct ir_value *x, struct ir_value *y, struct ir_value *product,
                                          bool is_signed)
{
    const unsigned bits = x->type->bits;
    if (bits < 32) {
        const struct ir_type *i32 = ir_int(b->m, 32);
        struct ir_value *whole = build_2(b, IR_MUL, build_resize(b, x, i32, is_signed), build_resize(b, y, i32, is_signed));
        return build_icmp(b, IR_NE, whole, build_resize(b, product, i32, is_signed));
    }
    struct ir_value *high = build_b2(b, is_signed ? IR_B_MUL_HIGH_S : IR_B_MUL_HIGH_U, x, y);
    return build_icmp(b, IR_NE, high, is_signed ? build_2n(b, IR_ASHR, product, bits - 1) : build_like(b, x, 0));
}

/* The result and whether it does not fit, as a structure of both. */
static struct ir_value *intrinsic_overflow(struct library_whole *w, const char *name)
{
    struct build *const b = &w->b;
    struct ir_value *x = w->operand[0], *y = w->operand[1], *wrong;
    const struct ir_type *type = w->v->type;
    const bool is_signed = name[0] == 's';
    if (type->kind != IR_STRUCT || x->type->kind != IR_INT || type->count != 2)
        return NULL;
    const enum ir_op op = name[1] == 'a' ? IR_ADD : name[1] == 's' ? IR_SUB : IR_MUL;
    struct ir_value *r = build_2(b, op, x, y);
    if (op == IR_MUL)
        wrong = product_overflows(b, x, y, r, is_signed);
    else if (!is_signed)
        wrong = op == IR_ADD ? build_icmp(b, IR_ULT, r, x) : build_icmp(b, IR_ULT, x, y);
    else
        wrong =
            build_icmpn(b, IR_SLT, build_2(b, IR_AND, build_2(b, IR_XOR, r, x), build_2(b, IR_XOR, op == IR_ADD ? r : x, y)), 0);
    struct ir_value *both = ir_undefined(b->m, type), *const part[] = {r, wrong};
    for (uint32_t i = 0; i < 2; i++) {
        struct ir_value *const operand[] = {both, part[i]};
        both = build_any(b, IR_INSERT_VALUE, type, operand, 2);
        both->list = ir_alloc(b->m, sizeof *both->list);
        both->list[0] = i;
        both->lists = 1;
    }
    return both;
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
    case OTHER_OVERFLOW: return intrinsic_overflow(w, name);
    case OTHER_REDUCE: return intrinsic_reduce(w, name + strlen("vector.reduce."));
    default: return NULL;
    }
}
