/* Integers of 16 and 32 bits. */
#include "isa/agx/compiler/agx_select.h"

static bool is_low_mask(uint64_t bits, unsigned *ones)
{
    if (!bits || (bits & (bits + 1)) != 0)
        return false;
    *ones = (unsigned)__builtin_popcountll(bits);
    return true;
}

/* A left shift by a constant that an addition may take over. */
static bool is_shift(struct agx_compiler *c, const struct ir_value *user, const struct ir_value *v, unsigned most, unsigned *by)
{
    uint64_t bits;
    if (v->op != IR_SHL || !agx_is_constant(v->operand[1], &bits) || bits > most)
        return false;
    *by = (unsigned)bits;
    return bits <= 4 || agx_takes_over(c, user, v);
}

/* A term of an addition: its sign may be extended on the way. */
static struct agx_ref term(struct agx_compiler *c, const struct ir_value *v)
{
    if (v->op != IR_SEXT || agx_bits(v->operand[0]->type) != 16 || v->operand[0]->type->bits == 1)
        return agx_view(c, v);
    struct agx_ref ref = agx_exact(c, v->operand[0]);
    if (ref.kind == AGX_REF_NUMBER || ref.kind == AGX_REF_CONSTANT)
        return agx_view(c, v);
    ref.sign_extend = true;
    return ref;
}

static const char *shifted(struct agx_compiler *c, const char *start, unsigned by)
{
    return by ? agx_text(c, "%s, lsl %u", start, by) : start;
}

static void add(struct agx_compiler *c, const struct ir_value *v)
{
    unsigned by = 0;
    for (unsigned i = 0; i < 2; i++) { /* a * b + (c << by) */
        const struct ir_value *const product = v->operand[i], *other = v->operand[1 - i];
        if (product->op != IR_MUL || !agx_takes_over(c, v, product))
            continue;
        if (is_shift(c, v, other, 4, &by))
            other = other->operand[0];
        AGX_EMIT(c, shifted(c, "imadd %d, %0, %1, %2", by), agx_to(c, v), term(c, product->operand[0]),
                 term(c, product->operand[1]), term(c, other));
        return;
    }
    for (unsigned i = 0; i < 2; i++) {
        const struct ir_value *const shift = v->operand[i], *const other = v->operand[1 - i];
        if (!is_shift(c, v, shift, 31, &by))
            continue;
        if (by <= 4)
            AGX_EMIT(c, shifted(c, "iadd %d, %0, %1", by), agx_to(c, v), term(c, other), term(c, shift->operand[0]));
        else
            AGX_EMIT(c, "imadd %d, %0, %1, %2", agx_to(c, v), term(c, shift->operand[0]), agx_constant(c, UINT32_C(1) << by, 32),
                     term(c, other));
        return;
    }
    uint64_t bits;
    const unsigned width = v->type->bits;
    const uint64_t all = (UINT64_C(1) << width) - 1;
    if (agx_is_constant(v->operand[1], &bits) && (-bits & all) < 256)
        AGX_EMIT(c, "isub %d, %0, %1", agx_to(c, v), term(c, v->operand[0]), agx_number((uint32_t)(-bits & all), 32));
    else
        AGX_EMIT(c, "iadd %d, %0, %1", agx_to(c, v), term(c, v->operand[0]), term(c, v->operand[1]));
}

static void subtract(struct agx_compiler *c, const struct ir_value *v)
{
    const struct ir_value *const a = v->operand[0], *b = v->operand[1];
    unsigned by = 0;
    if (a->op == IR_MUL && agx_takes_over(c, v, a)) {
        AGX_EMIT(c, "imsub %d, %0, %1, %2", agx_to(c, v), term(c, a->operand[0]), term(c, a->operand[1]), term(c, b));
        return;
    }
    if (is_shift(c, v, b, 4, &by))
        b = b->operand[0];
    AGX_EMIT(c, shifted(c, "isub %d, %0, %1", by), agx_to(c, v), term(c, a), term(c, b));
}

static void shift_left(struct agx_compiler *c, const struct ir_value *v)
{
    uint64_t by, mask;
    const struct ir_value *a = v->operand[0];
    unsigned ones = 0;
    if (!agx_is_constant(v->operand[1], &by)) {
        AGX_EMIT(c, "bfi %d, 0, %0, %1", agx_to(c, v), agx_view(c, a), agx_view(c, v->operand[1]));
        return;
    }
    if (a->op == IR_AND && agx_takes_over(c, v, a) && agx_is_constant(a->operand[1], &mask) && is_low_mask(mask, &ones) &&
        ones < 16) {
        AGX_EMIT(c, agx_text(c, "bfi %%d, 0, %%0, %u, mask 0x%X", (unsigned)by, (1u << ones) - 1), agx_to(c, v),
                 agx_view(c, a->operand[0]));
        return;
    }
    AGX_EMIT(c, agx_text(c, by <= 4 ? "iadd %%d, 0, %%0, lsl %u" : "bfi %%d, 0, %%0, %u", (unsigned)by), agx_to(c, v),
             agx_view(c, a));
}

/* (a >> n) & ones, in one instruction where the table has it. */
static void and_bits(struct agx_compiler *c, const struct ir_value *v)
{
    const struct ir_value *const a = v->operand[0];
    uint64_t mask, by;
    unsigned ones = 0;
    const bool masked = agx_is_constant(v->operand[1], &mask) && is_low_mask(mask, &ones) && ones < 32;
    if (masked && a->op == IR_LSHR && agx_is_constant(a->operand[1], &by) && agx_takes_over(c, v, a))
        AGX_EMIT(c, agx_text(c, "bfeil %%d, 0, %%0, %u, mask 0x%X", (unsigned)by, (unsigned)mask), agx_to(c, v),
                 agx_view(c, a->operand[0]));
    else if (masked && ones > 8 && ones < v->type->bits)
        AGX_EMIT(c, agx_text(c, "bfeil %%d, 0, %%0, 0, mask 0x%X", (unsigned)mask), agx_to(c, v), agx_view(c, a));
    else
        AGX_EMIT(c, "and %d, %0, %1", agx_to(c, v), agx_view(c, a), agx_view(c, v->operand[1]));
}

static bool is_not(const struct ir_value *v)
{
    uint64_t bits;
    return v->op == IR_XOR && agx_is_constant(v->operand[1], &bits) && bits == (UINT64_C(1) << v->type->bits) - 1;
}

static void bits_of(struct agx_compiler *c, const struct ir_value *v)
{
    static const struct {
        uint16_t op;
        const char *plain, *second_inverted;
    } forms[] = {{IR_AND, "and %d, %0, %1", "bitop 0100, %d, %0, %1"},
                 {IR_OR, "or %d, %0, %1", "bitop 1101, %d, %0, %1"},
                 {IR_XOR, "xor %d, %0, %1", "xnor %d, %0, %1"}};
    if (is_not(v)) {
        AGX_EMIT(c, "not %d, %0", agx_to(c, v), agx_view(c, v->operand[0]));
        return;
    }
    for (unsigned i = 0; i < 3; i++) {
        if (forms[i].op != v->op)
            continue;
        for (unsigned k = 0; k < 2; k++)
            if (is_not(v->operand[k]) && agx_takes_over(c, v, v->operand[k])) {
                AGX_EMIT(c, forms[i].second_inverted, agx_to(c, v), agx_view(c, v->operand[1 - k]),
                         agx_view(c, v->operand[k]->operand[0]));
                return;
            }
        if (v->op == IR_AND)
            and_bits(c, v);
        else
            AGX_EMIT(c, forms[i].plain, agx_to(c, v), agx_view(c, v->operand[0]), agx_view(c, v->operand[1]));
    }
}

bool agx_select_integer(struct agx_compiler *c, const struct ir_value *v)
{
    if (v->type->kind != IR_INT || v->type->bits > 32)
        return false;
    switch (v->op) {
    case IR_ADD: add(c, v); return true;
    case IR_SUB: subtract(c, v); return true;
    case IR_MUL: AGX_EMIT(c, "imadd %d, %0, %1, 0", agx_to(c, v), term(c, v->operand[0]), term(c, v->operand[1])); return true;
    case IR_SHL: shift_left(c, v); return true;
    case IR_LSHR:
        AGX_EMIT(c, "bfeil %d, 0, %0, %1", agx_to(c, v), agx_view(c, v->operand[0]), agx_view(c, v->operand[1]));
        return true;
    case IR_ASHR:
        AGX_EMIT(c, "asr %d, %0, %1", agx_to(c, v), agx_exact(c, v->operand[0]), agx_view(c, v->operand[1]));
        return true;
    case IR_AND:
    case IR_OR:
    case IR_XOR: bits_of(c, v); return true;
    default: return false;
    }
}
