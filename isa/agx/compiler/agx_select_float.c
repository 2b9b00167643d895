/* Floating-point arithmetic, conversions, and casts that need an instruction. */
#include "isa/agx/compiler/agx_select.h"

static struct agx_ref negated(struct agx_ref ref)
{
    ref.negate = !ref.negate;
    return ref;
}

static bool is_product(struct agx_compiler *c, const struct ir_value *user, const struct ir_value *v)
{
    return v->op == IR_FMUL && v->fast && user->fast && agx_takes_over(c, user, v);
}

/* Gives a float operation into `to`, which may be narrower than it: the hardware rounds a second time, as the program says. */
static bool arithmetic(struct agx_compiler *c, const struct ir_value *v, struct agx_ref to, const char *suffix)
{
    const unsigned bits = v->type->bits;
    const bool subtract = v->op == IR_FSUB;
    if (v->op == IR_FMA) {
        AGX_EMIT(c, agx_text(c, "fmadd%u%s %%d, %%0, %%1, %%2", bits, suffix), to, agx_float_source(c, v->operand[0], bits),
                 agx_float_source(c, v->operand[1], bits), agx_float_source(c, v->operand[2], bits));
        return true;
    }
    if (v->op == IR_FMUL) {
        AGX_EMIT(c, agx_text(c, "fmul%u%s %%d, %%0, %%1", bits, suffix), to, agx_float_source(c, v->operand[0], bits),
                 agx_float_source(c, v->operand[1], bits));
        return true;
    }
    if (v->op != IR_FADD && v->op != IR_FSUB)
        return false;
    for (unsigned i = 0; i < 2; i++) {
        const struct ir_value *const product = v->operand[i];
        if (!is_product(c, v, product))
            continue;
        const struct agx_ref a = agx_float_source(c, product->operand[0], bits),
                             b = agx_float_source(c, product->operand[1], bits),
                             rest = agx_float_source(c, v->operand[1 - i], bits);
        AGX_EMIT(c, agx_text(c, "fmadd%u%s %%d, %%0, %%1, %%2", bits, suffix), to, subtract && i == 1 ? negated(a) : a, b,
                 subtract && i == 0 ? negated(rest) : rest);
        return true;
    }
    const struct agx_ref a = agx_float_source(c, v->operand[0], bits), b = agx_float_source(c, v->operand[1], bits);
    AGX_EMIT(c, agx_text(c, "fadd%u%s %%d, %%0, %%1", bits, suffix), to, a, subtract ? negated(b) : b);
    return true;
}

static bool is_arithmetic(const struct ir_value *v)
{
    return v->op == IR_FMA || v->op == IR_FMUL || v->op == IR_FADD || v->op == IR_FSUB;
}

/* Through a single user: rounding to half, or clamping to 0..1. */
static void finish(struct agx_compiler *c, const struct ir_value *v, const char *suffix)
{
    const struct ir_value *const a = v->operand[0];
    if (is_arithmetic(a) && agx_takes_over(c, v, a) && (a->type->bits == 32 || *suffix)) {
        arithmetic(c, a, agx_to(c, v), suffix);
        return;
    }
    const unsigned bits = a->type->bits > v->type->bits ? a->type->bits : v->type->bits;
    AGX_EMIT(c, agx_text(c, "fadd%u%s %%d, %%0, -0.0", bits, suffix), agx_to(c, v), agx_float_source(c, a, bits));
}

bool agx_select_float(struct agx_compiler *c, const struct ir_value *v)
{
    if (v->type->kind != IR_FLOAT)
        return false;
    if (arithmetic(c, v, agx_to(c, v), ""))
        return true;
    const unsigned bits = v->type->bits;
    const uint32_t sign = UINT32_C(1) << (bits - 1);
    if (v->op == IR_FNEG)
        AGX_EMIT(c, "xor %d, %0, %1", agx_to(c, v), agx_exact(c, v->operand[0]), agx_pooled(c, sign, bits));
    else if (v->op == IR_FPTRUNC)
        finish(c, v, "");
    else if (v->op == IR_FPEXT)
        AGX_EMIT(c, "fadd32 %d, %0, -0.0", agx_to(c, v), agx_float_source(c, v->operand[0], 32));
    else if (v->op == IR_BUILTIN && v->builtin == IR_B_FABS)
        AGX_EMIT(c, "and %d, %0, %1", agx_to(c, v), agx_exact(c, v->operand[0]), agx_pooled(c, sign - 1, bits));
    else if (v->op == IR_BUILTIN && v->builtin == IR_B_SATURATE)
        finish(c, v, ".sat");
    else
        return false;
    return true;
}

/* ---- conversions ---- */

static void extend(struct agx_compiler *c, const struct ir_value *v)
{
    const struct ir_value *const a = v->operand[0];
    const struct agx_ref to = agx_to(c, v);
    const bool sign = v->op == IR_SEXT;
    if (a->type->bits == 1) {
        const struct agx_condition condition = agx_condition_of(c, a);
        const unsigned part = v->type->bits == 16 ? 16 : 32;
        const struct agx_ref yes = sign ? agx_constant(c, UINT32_MAX, part) : agx_number(1, part), zero = agx_number(0, part);
        if (v->type->bits == 64) {
            const struct agx_ref word = agx_new(c, 32, 1);
            agx_emit_select(c, &condition, word, yes, zero);
            struct agx_step *const both = agx_emit_copies(c, 2);
            both->copy[0] = (struct agx_copy){agx_part(to, 0, 32), word};
            both->copy[1] = (struct agx_copy){agx_part(to, 1, 32), sign ? word : zero};
            return;
        }
        agx_emit_select(c, &condition, to, yes, zero);
        return;
    }
    struct agx_ref from = agx_exact(c, a);
    from.sign_extend = sign && from.kind != AGX_REF_NUMBER;
    if (sign || v->type->bits == 64)
        AGX_EMIT(c, "iadd %d, 0, %0", to, from);
    else
        AGX_EMIT(c, "mov %d, %0", to, from);
}

static void truncate_to_bit(struct agx_compiler *c, const struct ir_value *v)
{
    const struct ir_value *const a = v->operand[0];
    const struct agx_ref from = agx_bits(a->type) == 64 ? agx_low(c, a) : agx_view(c, a);
    AGX_EMIT(c, "and %d, %0, 1", agx_to(c, v), from);
}

static bool to_float(struct agx_compiler *c, const struct ir_value *v)
{
    const struct ir_value *a = v->operand[0];
    const bool sign = v->op == IR_SITOFP;
    if (a->type->bits == 1) {
        const struct agx_condition condition = agx_condition_of(c, a);
        const unsigned part = v->type->bits;
        const uint32_t one = part == 16 ? 0x3c00 : 0x3f800000, minus = part == 16 ? 0x8000 : UINT32_C(0x80000000);
        agx_emit_select(c, &condition, agx_to(c, v), agx_pooled(c, sign ? one | minus : one, part), agx_number(0, part));
        return true;
    }
    if (a->type->bits == 64)
        return agx_refuse(c, v, "a conversion of 64-bit integers to floating point");
    AGX_EMIT(c, agx_text(c, "convert %c%u_to_f, %%d, %%0, rte", sign ? 's' : 'u', (unsigned)a->type->bits), agx_to(c, v),
             agx_exact(c, a));
    return true;
}

static bool to_integer(struct agx_compiler *c, const struct ir_value *v)
{
    if (v->type->bits == 64)
        return agx_refuse(c, v, "a conversion of floating point to 64-bit integers");
    const unsigned bits = v->type->bits < 32 ? 16 : 32;
    AGX_EMIT(c, agx_text(c, "convert f_to_%c%u, %%d, %%0, rtz", v->op == IR_FPTOSI ? 's' : 'u', bits), agx_to(c, v),
             agx_exact(c, v->operand[0]));
    return true;
}

bool agx_select_convert(struct agx_compiler *c, const struct ir_value *v)
{
    switch (v->op) {
    case IR_ZEXT:
    case IR_SEXT: extend(c, v); return true;
    case IR_TRUNC:
        if (v->type->bits == 1)
            truncate_to_bit(c, v);
        else
            agx_emit_copy(c, agx_to(c, v), agx_view(c, v));
        return true;
    case IR_UITOFP:
    case IR_SITOFP: return to_float(c, v);
    case IR_FPTOUI:
    case IR_FPTOSI: return to_integer(c, v);
    case IR_BITCAST: return agx_refuse(c, v, "a bit cast that changes the number of elements");
    default: return false;
    }
}
