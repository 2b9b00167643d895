/* Integers of 64 bits: pairs of registers, of which only additions and multiplications of the hardware know. */
#include "isa/agx/compiler/agx_select.h"

/* A term of a 64-bit addition: 32 bits are extended on the way; uniform pairs have no such form. */
static struct agx_ref term(struct agx_compiler *c, const struct ir_value *v)
{
    uint64_t bits;
    if (agx_is_constant(v, &bits) && bits >> 32 == 0)
        return agx_constant(c, (uint32_t)bits, 32);
    if (v->op == IR_ZEXT && agx_bits(v->operand[0]->type) == 32)
        return agx_exact(c, v->operand[0]);
    if (v->op == IR_SEXT && agx_bits(v->operand[0]->type) == 32) {
        struct agx_ref ref = agx_exact(c, v->operand[0]);
        if (ref.kind != AGX_REF_NUMBER)
            ref.sign_extend = true;
        return ref;
    }
    return agx_in_register(c, v);
}

static void by_word(struct agx_compiler *c, const struct ir_value *v, const char *format)
{
    const struct agx_ref to = agx_to(c, v), low = agx_new(c, 32, 1), high = agx_new(c, 32, 1);
    AGX_EMIT(c, format, low, agx_low(c, v->operand[0]), agx_low(c, v->operand[1]));
    AGX_EMIT(c, format, high, agx_high(c, v->operand[0]), agx_high(c, v->operand[1]));
    struct agx_step *const join = agx_emit_copies(c, 2);
    join->copy[0] = (struct agx_copy){agx_part(to, 0, 32), low};
    join->copy[1] = (struct agx_copy){agx_part(to, 1, 32), high};
}

static void join(struct agx_compiler *c, struct agx_ref to, struct agx_ref low, struct agx_ref high)
{
    struct agx_step *const both = agx_emit_copies(c, 2);
    both->copy[0] = (struct agx_copy){agx_part(to, 0, 32), low};
    both->copy[1] = (struct agx_copy){agx_part(to, 1, 32), high};
}

static bool is_extended_word(const struct ir_value *v)
{
    return (v->op == IR_ZEXT || v->op == IR_SEXT) && agx_bits(v->operand[0]->type) == 32 && v->operand[0]->type->bits > 1;
}

static bool is_short_constant(const struct ir_value *v)
{
    uint64_t bits;
    return agx_is_constant(v, &bits) && bits >> 32 == 0;
}

/* Whether the hardware multiplies them at once: words, extended alike. */
static bool is_short_product(const struct ir_value *v)
{
    if (v->op != IR_MUL || !is_extended_word(v->operand[0]))
        return false;
    const struct ir_value *const a = v->operand[0], *const b = v->operand[1];
    return is_extended_word(b) ? a->op == b->op : is_short_constant(b) && a->op == IR_ZEXT;
}

static bool is_none(struct agx_ref ref)
{
    return ref.kind == AGX_REF_NUMBER && ref.index == 0;
}

static void multiply(struct agx_compiler *c, const struct ir_value *v)
{
    const struct ir_value *const a = v->operand[0], *const b = v->operand[1];
    if (is_short_product(v)) {
        AGX_EMIT(c, "imadd %d, %0, %1, 0", agx_to(c, v), term(c, a), term(c, b));
        return;
    }
    const struct agx_ref product = agx_new(c, 64, 1), low_a = agx_low(c, a), low_b = agx_low(c, b), high_a = agx_high(c, a),
                         high_b = agx_high(c, b);
    struct agx_ref high = agx_part(product, 1, 32);
    AGX_EMIT(c, "imadd %d, %0, %1, 0", product, low_a, low_b);
    if (!is_none(high_b)) {
        const struct agx_ref sum = agx_new(c, 32, 1);
        AGX_EMIT(c, "imadd %d, %0, %1, %2", sum, low_a, high_b, high);
        high = sum;
    }
    if (!is_none(high_a)) {
        const struct agx_ref sum = agx_new(c, 32, 1);
        AGX_EMIT(c, "imadd %d, %0, %1, %2", sum, high_a, low_b, high);
        high = sum;
    }
    join(c, agx_to(c, v), agx_part(product, 0, 32), high);
}

static void shift_by_constant(struct agx_compiler *c, const struct ir_value *v, unsigned by)
{
    const struct agx_ref low = agx_low(c, v->operand[0]), high = agx_high(c, v->operand[0]);
    const struct agx_ref a = agx_new(c, 32, 1), b = agx_new(c, 32, 1), zero = agx_number(0, 32), to = agx_to(c, v);
    const bool left = v->op == IR_SHL;
    const struct agx_ref first = left ? low : high; /* the word that bits leave */
    if (by == 0) {
        join(c, to, low, high);
        return;
    }
    const char *const sign = agx_text(c, "asr %%d, %%0, %u", by >= 32 && by < 64 ? by - 32 : by);
    const char *const plain = agx_text(c, left ? "bfi %%d, 0, %%0, %u" : "bfeil %%d, 0, %%0, %u", by >= 32 ? by - 32 : by);
    AGX_EMIT(c, v->op == IR_ASHR ? sign : plain, a, first); /* what stays, or what reaches the other word */
    if (by >= 32) {
        struct agx_ref rest = zero;
        if (v->op == IR_ASHR) {
            AGX_EMIT(c, "asr %d, %0, 31", b, first);
            rest = b;
        }
        join(c, to, left ? zero : a, left ? a : rest);
        return;
    }
    AGX_EMIT(c, agx_text(c, "extr %%d, %%0, %%1, %u", left ? 32 - by : by), b, low, high);
    join(c, to, left ? a : b, left ? b : a);
}

/* Amounts of 32 and more make the plain shifts of words give 0. */
static void shift_by_value(struct agx_compiler *c, const struct ir_value *v)
{
    const struct agx_ref low = agx_low(c, v->operand[0]), high = agx_high(c, v->operand[0]);
    const struct agx_ref by = agx_low(c, v->operand[1]), to = agx_to(c, v);
    const struct agx_ref a = agx_new(c, 32, 1), b = agx_new(c, 32, 1), d = agx_new(c, 32, 1), e = agx_new(c, 32, 1);
    if (v->op == IR_SHL) {
        AGX_EMIT(c, "bfi %d, 0, %0, %1", a, low, by);
        AGX_EMIT(c, "bfi %d, 0, %0, %1", b, high, by);
        AGX_EMIT(c, "shlhi %d, 0, %0, %1", d, low, by);
        AGX_EMIT(c, "or %d, %0, %1", e, b, d);
        join(c, to, a, e);
        return;
    }
    const struct agx_ref past = agx_new(c, 32, 1), far = agx_new(c, 32, 1), near = agx_new(c, 32, 1);
    AGX_EMIT(c, v->op == IR_ASHR ? "asr %d, %0, %1" : "bfeil %d, 0, %0, %1", a, high, by);
    AGX_EMIT(c, "isub %d, %0, 32", past, by);
    AGX_EMIT(c, v->op == IR_ASHR ? "asr %d, %0, %1" : "bfeil %d, 0, %0, %1", far, high, past);
    AGX_EMIT(c, "and %d, %0, 31", d, by);
    AGX_EMIT(c, "extr %d, %0, %1, %2", near, low, high, d);
    AGX_EMIT(c, "icmpsel ult, %d, %0, 32, %1, %2", b, by, near, far);
    join(c, to, b, a);
}

/* a + b, where a uniform pair is added word by word. */
static void add(struct agx_compiler *c, const struct ir_value *v)
{
    const struct ir_value *const a = v->operand[0], *const b = v->operand[1];
    uint64_t bits;
    for (unsigned i = 0; i < 2; i++) {
        const struct ir_value *const product = v->operand[i];
        if (!is_short_product(product) || !agx_takes_over(c, v, product) || agx_is_result(c, product))
            continue;
        const struct agx_ref x = term(c, product->operand[0]), y = term(c, product->operand[1]);
        AGX_EMIT(c, "imadd %d, %0, %1, %2", agx_to(c, v), x, y, term(c, v->operand[1 - i]));
        return;
    }
    for (unsigned i = 0; i < 2; i++) {
        const struct ir_value *const pair = v->operand[i];
        if (is_extended_word(pair) || pair->op == IR_CONSTANT)
            continue;
        const struct agx_ref from = agx_exact(c, pair), to = agx_to(c, v);
        if (from.kind != AGX_REF_UNIFORM || from.count != 2)
            continue;
        AGX_EMIT(c, "iadd %d, %0, %1", to, agx_part(from, 0, 32), term(c, v->operand[1 - i]));
        agx_emit_part(c, "iadd %d, %0, %1", to, 1, agx_part(from, 1, 32));
        return;
    }
    if (agx_is_constant(b, &bits) && -bits < UINT64_C(1) << 32)
        AGX_EMIT(c, "isub %d, %0, %1", agx_to(c, v), term(c, a), agx_constant(c, (uint32_t)-bits, 32));
    else
        AGX_EMIT(c, "iadd %d, %0, %1", agx_to(c, v), term(c, a), term(c, b));
}

bool agx_select_wide(struct agx_compiler *c, const struct ir_value *v)
{
    uint64_t by;
    if (v->type->kind != IR_INT || v->type->bits != 64)
        return false;
    switch (v->op) {
    case IR_ADD: add(c, v); return true;
    case IR_SUB: AGX_EMIT(c, "isub %d, %0, %1", agx_to(c, v), term(c, v->operand[0]), term(c, v->operand[1])); return true;
    case IR_MUL: multiply(c, v); return true;
    case IR_AND: by_word(c, v, "and %d, %0, %1"); return true;
    case IR_OR: by_word(c, v, "or %d, %0, %1"); return true;
    case IR_XOR: by_word(c, v, "xor %d, %0, %1"); return true;
    case IR_SHL:
    case IR_LSHR:
    case IR_ASHR:
        if (agx_is_constant(v->operand[1], &by))
            shift_by_constant(c, v, (unsigned)by & 63);
        else
            shift_by_value(c, v);
        return true;
    default: return false;
    }
}

/* High words decide unless they are equal. */
void agx_select_wide_compare(struct agx_compiler *c, const struct ir_value *v)
{
    const struct agx_ref al = agx_low(c, v->operand[0]), ah = agx_high(c, v->operand[0]), bl = agx_low(c, v->operand[1]),
                         bh = agx_high(c, v->operand[1]), low = agx_new(c, 16, 1), same = agx_new(c, 16, 1);
    const enum ir_condition k = v->condition;
    if (k == IR_EQ || k == IR_NE) {
        AGX_EMIT(c, "icmpsel ueq, %d, %0, %1, %2, %3", low, al, bl, agx_number(k == IR_EQ, 16), agx_number(k == IR_NE, 16));
        AGX_EMIT(c, "icmpsel ueq, %d, %0, %1, %2, %3", agx_to(c, v), ah, bh, low, agx_number(k == IR_NE, 16));
        return;
    }
    const bool less = k == IR_ULT || k == IR_SLT || k == IR_UGE || k == IR_SGE, is_signed = k >= IR_SGT;
    const bool inverted = k == IR_UGE || k == IR_SGE || k == IR_ULE || k == IR_SLE;
    const struct agx_ref yes = agx_number(!inverted, 16), no = agx_number(inverted, 16);
    AGX_EMIT(c, less ? "icmpsel ult, %d, %0, %1, %2, %3" : "icmpsel ugt, %d, %0, %1, %2, %3", low, al, bl, yes, no);
    AGX_EMIT(c, "icmpsel ueq, %d, %0, %1, %2, %3", same, ah, bh, low, no);
    AGX_EMIT(c, agx_text(c, "icmpsel %c%s, %%d, %%0, %%1, %%2, %%3", is_signed ? 's' : 'u', less ? "lt" : "gt"), agx_to(c, v), ah,
             bh, yes, same);
}
