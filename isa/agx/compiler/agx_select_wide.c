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

static void multiply(struct agx_compiler *c, const struct ir_value *v)
{
    const struct ir_value *const a = v->operand[0], *const b = v->operand[1];
    const bool short_a = a->op == IR_ZEXT || a->op == IR_SEXT, short_b = b->op == IR_ZEXT || b->op == IR_SEXT;
    if (short_a && short_b && agx_bits(a->operand[0]->type) == 32 && agx_bits(b->operand[0]->type) == 32) {
        AGX_EMIT(c, "imadd %d, %0, %1, 0", agx_to(c, v), term(c, a), term(c, b));
        return;
    }
    const struct agx_ref product = agx_new(c, 64, 1), cross = agx_new(c, 32, 1), high = agx_new(c, 32, 1);
    AGX_EMIT(c, "imadd %d, %0, %1, 0", product, agx_low(c, a), agx_low(c, b));
    AGX_EMIT(c, "imadd %d, %0, %1, %2", cross, agx_low(c, a), agx_high(c, b), agx_part(product, 1, 32));
    AGX_EMIT(c, "imadd %d, %0, %1, %2", high, agx_high(c, a), agx_low(c, b), cross);
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

/* from + (index << shift), where a uniform pair is added word by word. */
static void add(struct agx_compiler *c, const struct ir_value *v)
{
    const struct agx_ref a = agx_exact(c, v->operand[0]);
    uint64_t bits;
    if (a.kind == AGX_REF_UNIFORM && a.count == 2) {
        const struct agx_ref sum = agx_new(c, 64, 1), high = agx_new(c, 32, 1);
        AGX_EMIT(c, "iadd %d, %0, %1", sum, agx_part(a, 0, 32), term(c, v->operand[1]));
        AGX_EMIT(c, "iadd %d, %0, %1", high, agx_part(sum, 1, 32), agx_part(a, 1, 32));
        join(c, agx_to(c, v), agx_part(sum, 0, 32), high);
    } else if (agx_is_constant(v->operand[1], &bits) && -bits < UINT64_C(1) << 32)
        AGX_EMIT(c, "isub %d, %0, %1", agx_to(c, v), term(c, v->operand[0]), agx_constant(c, (uint32_t)-bits, 32));
    else
        AGX_EMIT(c, "iadd %d, %0, %1", agx_to(c, v), term(c, v->operand[0]), term(c, v->operand[1]));
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
