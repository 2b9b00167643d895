/* LLVM's own functions (llvm.org/docs/LangRef.html, "Intrinsic Functions"). */
#include "isa/agx/compiler/ir_interpret_library.h"

#include <string.h>

enum intrinsic_kind { BY_OP, BY_BUILTIN, BY_EXPANSION, AS_NOTHING };

static const struct intrinsic {
    const char *name; /* up to a dot or the end of the text */
    enum intrinsic_kind kind;
    unsigned code;
} intrinsics[] = {
    {"fma", BY_OP, IR_FMA},
    {"fmuladd", BY_OP, IR_FMA},
    {"umin", BY_BUILTIN, IR_B_UMIN},
    {"umax", BY_BUILTIN, IR_B_UMAX},
    {"smin", BY_BUILTIN, IR_B_SMIN},
    {"smax", BY_BUILTIN, IR_B_SMAX},
    {"ctpop", BY_BUILTIN, IR_B_POPCOUNT},
    {"ctlz", BY_BUILTIN, IR_B_CLZ},
    {"cttz", BY_BUILTIN, IR_B_CTZ},
    {"bitreverse", BY_BUILTIN, IR_B_BIT_REVERSE},
    {"fshl", BY_BUILTIN, IR_B_FUNNEL_LEFT},
    {"fshr", BY_BUILTIN, IR_B_FUNNEL_RIGHT},
    {"uadd.sat", BY_BUILTIN, IR_B_ADD_SAT_U},
    {"usub.sat", BY_BUILTIN, IR_B_SUB_SAT_U},
    {"sadd.sat", BY_BUILTIN, IR_B_ADD_SAT_S},
    {"ssub.sat", BY_BUILTIN, IR_B_SUB_SAT_S},
    {"fabs", BY_BUILTIN, IR_B_FABS},
    {"minnum", BY_BUILTIN, IR_B_FMIN},
    {"maxnum", BY_BUILTIN, IR_B_FMAX},
    {"floor", BY_BUILTIN, IR_B_FLOOR},
    {"ceil", BY_BUILTIN, IR_B_CEIL},
    {"trunc", BY_BUILTIN, IR_B_TRUNCATE},
    {"rint", BY_BUILTIN, IR_B_RINT},
    {"nearbyint", BY_BUILTIN, IR_B_RINT},
    {"roundeven", BY_BUILTIN, IR_B_RINT},
    {"round", BY_EXPANSION, IR_X_ROUND},
    {"copysign", BY_EXPANSION, IR_X_COPYSIGN},
    {"sqrt", BY_BUILTIN, IR_B_SQRT},
    {"exp", BY_EXPANSION, IR_X_EXP},
    {"exp2", BY_BUILTIN, IR_B_EXP2},
    {"log", BY_EXPANSION, IR_X_LOG},
    {"log2", BY_BUILTIN, IR_B_LOG2},
    {"log10", BY_EXPANSION, IR_X_LOG10},
    {"pow", BY_EXPANSION, IR_X_POW},
    {"powi", BY_EXPANSION, IR_X_POWN},
    {"sin", BY_EXPANSION, IR_X_SIN},
    {"cos", BY_EXPANSION, IR_X_COS},
    {"lifetime", AS_NOTHING, 0},
    {"invariant", AS_NOTHING, 0},
    {"dbg", AS_NOTHING, 0},
    {"assume", AS_NOTHING, 0},
    {"donothing", AS_NOTHING, 0},
    {"experimental.noalias", AS_NOTHING, 0},
    {"var.annotation", AS_NOTHING, 0},
};

static bool is_named(const char *text, const char *name)
{
    const size_t length = strlen(name);
    return strncmp(text, name, length) == 0 && (!text[length] || text[length] == '.');
}

/* ---- copies and fills ---- */

static struct slots memory(struct library *l, bool fill)
{
    const uint32_t a = decode_scalar(l->d, l->frame, decode_library_operand(l, 0)),
                   b = decode_scalar(l->d, l->frame, decode_library_operand(l, 1)),
                   c = decode_scalar(l->d, l->frame, decode_library_operand(l, 2));
    struct step *const step = decode_step(l->d, fill ? STEP_FILL : STEP_COPY);
    step->a = a;
    step->b = b;
    step->c = c;
    return decode_library_nothing(l);
}

/* ---- several steps ---- */

static struct slots swap_bytes(struct library *l)
{
    struct decoder *const d = l->d;
    const struct slots out = decode_slots(d, type_parts(l->v->type));
    const unsigned bits = decode_library_bits(l->v->type);
    for (uint32_t i = 0; i < out.count && !d->failed; i++) {
        out.slot[i] = decode_bits(d, 0);
        for (unsigned byte = 0; byte < bits / 8; byte++) {
            const uint32_t down =
                decode_pure(d, pure_of_op(IR_LSHR), 8, bits, slot_at(&l->in[0], i), decode_bits(d, 8ULL * byte), CONSTANT_SLOT);
            const uint32_t up =
                decode_pure(d, pure_of_op(IR_SHL), bits, bits, down, decode_bits(d, bits - 8ULL - 8ULL * byte), CONSTANT_SLOT);
            out.slot[i] = decode_pure(d, pure_of_op(IR_OR), bits, bits, out.slot[i], up, CONSTANT_SLOT);
        }
    }
    return out;
}

static struct slots reduce(struct library *l, const char *kind)
{
    static const struct {
        const char *name;
        bool starts; /* the first operand is the value to begin with */
        uint8_t reduction;
    } kinds[] = {{"add", false, IR_REDUCE_ADD},   {"and", false, IR_REDUCE_AND},   {"or", false, IR_REDUCE_OR},
                 {"xor", false, IR_REDUCE_XOR},   {"umin", false, IR_REDUCE_UMIN}, {"umax", false, IR_REDUCE_UMAX},
                 {"smin", false, IR_REDUCE_SMIN}, {"smax", false, IR_REDUCE_SMAX}, {"fmin", false, IR_REDUCE_FMIN},
                 {"fmax", false, IR_REDUCE_FMAX}, {"fadd", true, IR_REDUCE_FADD},  {"fmul", true, IR_REDUCE_FMUL}};
    const unsigned bits = decode_library_bits(l->v->type);
    for (unsigned i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
        if (!is_named(kind, kinds[i].name))
            continue;
        const struct slots all = l->in[kinds[i].starts];
        uint32_t so_far = kinds[i].starts ? l->in[0].slot[0] : slot_at(&all, 0);
        for (uint32_t part = !kinds[i].starts; part < all.count && !l->d->failed; part++)
            so_far = decode_pure(l->d, reduction_pair(kinds[i].reduction), bits, bits, so_far, all.slot[part], CONSTANT_SLOT);
        const struct slots out = decode_slots(l->d, 1);
        out.slot[0] = so_far;
        return out;
    }
    decode_refuse(l->d, "llvm.vector.reduce.%s is not supported by the interpreter", kind);
    return decode_library_nothing(l);
}

struct slots decode_library_intrinsic(struct library *l, const char *name)
{
    const struct intrinsic *found = NULL;
    for (unsigned i = 0; i < sizeof intrinsics / sizeof intrinsics[0] && !found; i++)
        found = is_named(name, intrinsics[i].name) ? &intrinsics[i] : NULL;
    if (found && found->kind == AS_NOTHING)
        return decode_library_nothing(l);
    if (is_named(name, "memcpy") || is_named(name, "memmove") || is_named(name, "memset"))
        return memory(l, is_named(name, "memset"));
    for (unsigned i = 0; i < l->operands && i < 3 && !l->d->failed; i++)
        l->in[i] = decode_operand(l->d, l->frame, decode_library_operand(l, i));
    if (l->d->failed)
        return decode_library_nothing(l);
    if (found)
        return decode_library_each(l,
                                   found->kind == BY_OP        ? pure_of_op(found->code)
                                   : found->kind == BY_BUILTIN ? pure_of_builtin(found->code)
                                                               : pure_expand_float,
                                   found->code, 0);
    if (is_named(name, "bswap"))
        return swap_bytes(l);
    if (is_named(name, "expect"))
        return l->in[0];
    if (is_named(name, "abs"))
        return decode_library_each(l, pure_expand_integer, IR_X_ABS, LIBRARY_SIGNED);
    if (strncmp(name, "vector.reduce.", 14) == 0)
        return reduce(l, name + 14);
    decode_refuse(l->d, "llvm.%s is not supported by the interpreter", name);
    return decode_library_nothing(l);
}
