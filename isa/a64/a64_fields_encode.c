/* Writes operand fields into the word. */
#include "isa/a64/a64_fields.h"

/* Puts a value into bits pos .. pos + width - 1; false when it does not fit. */
static bool put(uint32_t *word, uint64_t value, unsigned pos, unsigned width)
{
    *word |= (uint32_t)(value & a64_ones(width)) << pos;
    return value <= a64_ones(width);
}

/* The same for a signed multiple of `unit`. */
static bool put_signed(uint32_t *word, int64_t value, int64_t unit, unsigned pos, unsigned width)
{
    const int64_t units = value / unit, limit = INT64_C(1) << (width - 1);
    *word |= (uint32_t)((uint64_t)units & a64_ones(width)) << pos;
    return value % unit == 0 && units >= -limit && units < limit;
}

static bool encode_size(enum a64_field f, const struct a64_insn *insn, uint32_t *word)
{
    switch (f) {
    case F_SF: return put(word, insn->size - 2u, 31, 1);
    case F_SF_N: return put(word, insn->size - 2u, 31, 1) && put(word, insn->size - 2u, 22, 1);
    case F_SIZE22: return put(word, insn->size, 22, 2);
    case F_SIZE30: return put(word, insn->size, 30, 2);
    case F_SIZE10: return put(word, insn->size, 10, 2);
    case F_SZ22: return put(word, insn->size - 2u, 22, 1);
    case F_SZ30: return put(word, insn->size - 2u, 30, 1);
    case F_HS22: return put(word, insn->size - 1u, 22, 1);
    default: return put(word, insn->size == 1 ? 3 : insn->size - 2u, 22, 2);
    }
}

static bool encode_adr(const struct a64_insn *insn, int64_t unit, uint32_t *word)
{
    const int64_t value = insn->imm / unit;
    return put(word, (uint64_t)value & 3, 29, 2) && put_signed(word, value - (value & 3), 4, 5, 19) && insn->imm % unit == 0;
}

static bool encode_immediate(enum a64_field f, const struct a64_insn *insn, uint32_t *word)
{
    const uint64_t imm = (uint64_t)insn->imm;
    switch (f) {
    case F_IMM12_SHIFTED: return put(word, insn->amount / 12, 22, 1) && put(word, imm >> insn->amount, 10, 12);
    case F_IMM12_SCALED: return put(word, imm >> insn->size, 10, 12);
    case F_IMM9: return put_signed(word, insn->imm, 1, 12, 9);
    case F_IMM7: return put_signed(word, insn->imm, 1 << insn->size, 15, 7);
    case F_IMM14: return put_signed(word, insn->imm, 4, 5, 14);
    case F_IMM16: return put(word, imm, 5, 16);
    case F_IMM19: return put_signed(word, insn->imm, 4, 5, 19);
    case F_IMM26: return put_signed(word, insn->imm, 4, 0, 26);
    case F_IMM5: return put(word, imm, 16, 5);
    case F_ADR: return encode_adr(insn, 1, word);
    case F_ADRP: return encode_adr(insn, 4096, word);
    case F_BITMASK: return put(word, insn->cond, 22, 1) && put(word, insn->shift, 16, 6) && put(word, insn->amount, 10, 6);
    case F_WIDE: return put(word, insn->amount / 16, 21, 2) && put(word, imm >> insn->amount, 5, 16);
    case F_IMMR: return put(word, imm, 16, 6);
    case F_IMMS:
    case F_AMOUNT6: return put(word, insn->amount, 10, 6);
    case F_RMIF: return put(word, imm, 15, 6);
    case F_BIT: return put(word, insn->amount >> 5, 31, 1) && put(word, insn->amount & 31, 19, 5);
    case F_HINT: return put(word, imm, 5, 7);
    case F_SYSTEM: return put(word, imm & 0x7fff, 5, 15);
    default: return true; /* checks */
    }
}

static bool encode_element(const struct a64_insn *insn, unsigned index_bits, uint32_t *word)
{
    const unsigned i = insn->amount << (3 - index_bits); /* H:L:M, left-justified */
    if (index_bits == 3 && insn->rm > 15)
        return false;
    return put(word, insn->rm, 16, 5) && put(word, i >> 2, 11, 1) && put(word, i >> 1 & 1, 21, 1) && put(word, i & 1, 20, 1);
}

static bool encode_lane(const struct a64_insn *insn, uint32_t *word)
{
    const unsigned index = (unsigned)insn->amount << insn->size | (insn->size == 3);
    return put(word, insn->size == 3 ? 2 : insn->size, 14, 2) && put(word, index >> 3, 30, 1) &&
           put(word, index >> 2 & 1, 12, 1) && put(word, index & 3, 10, 2);
}

static bool encode_vector(enum a64_field f, const struct a64_insn *insn, uint32_t *word)
{
    const unsigned esize = 8u << insn->size;
    switch (f) {
    case F_ORDER_CAS: return put(word, insn->amount >> 1, 22, 1) && put(word, insn->amount & 1, 15, 1);
    case F_FIXED_SCALE: return put(word, 64u - insn->amount, 10, 6);
    case F_FP_IMM: return put(word, insn->amount, 13, 8);
    case F_SHR: return put(word, 2 * esize - insn->amount, 16, 7);
    case F_SHL: return put(word, esize + insn->amount, 16, 7);
    case F_COPY: return put(word, (insn->amount * 2u + 1) << insn->size, 16, 5);
    case F_COPY_SRC: return put(word, insn->shift, 11, 4);
    case F_LENGTH: return put(word, insn->shift - 1u, 13, 2);
    case F_MODIFIED:
        return put(word, insn->amount >> 5, 16, 3) && put(word, insn->amount & 31, 5, 5) && put(word, insn->shift, 12, 4);
    case F_ELEMENT: return encode_element(insn, insn->size == 1 ? 3 : insn->size == 2 ? 2 : 1, word);
    case F_ELEMENT_H: return encode_element(insn, 3, word);
    case F_ELEMENT_S: return encode_element(insn, 2, word);
    case F_ELEMENT_C: return encode_element(insn, insn->size == 1 ? 2 : 1, word);
    default: return encode_lane(insn, word); /* F_LANE */
    }
}

bool a64_fields_encode(const struct a64_row *row, const struct a64_insn *insn, uint32_t *word)
{
    for (const uint8_t *f = a64_layout_fields[row->layout]; *f != F_END; f++) {
        const struct a64_plain_field *plain = *f < F_PLAIN_END ? &a64_plain_fields[*f] : NULL;
        const bool fits = plain                   ? put(word, ((const uint8_t *)insn)[plain->member], plain->pos, plain->width)
                          : a64_field_is_size(*f) ? encode_size(*f, insn, word)
                          : a64_field_is_immediate(*f) ? encode_immediate(*f, insn, word)
                                                       : encode_vector(*f, insn, word);
        if (!fits)
            return false;
    }
    return true;
}
