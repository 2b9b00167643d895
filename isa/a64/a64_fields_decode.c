/* Reads operand fields out of the word. */
#include "isa/a64/a64_fields.h"

static uint32_t bits(uint32_t word, unsigned pos, unsigned width)
{
    return word >> pos & ((UINT32_C(1) << width) - 1);
}

static int64_t signed_bits(uint32_t word, unsigned pos, unsigned width)
{
    const int64_t sign = INT64_C(1) << (width - 1);
    return ((int64_t)bits(word, pos, width) ^ sign) - sign;
}

static uint64_t rotate_right(uint64_t value, unsigned by, unsigned width)
{
    return by ? (value >> by | value << (width - by)) & a64_ones(width) : value;
}

/* N:immr:imms describe a run of ones that is rotated and repeated in elements of 2 to 64 bits. */
static bool decode_bitmask(uint32_t word, struct a64_insn *insn)
{
    const uint32_t n = bits(word, 22, 1), immr = bits(word, 16, 6), imms = bits(word, 10, 6);
    const uint32_t key = n << 6 | (~imms & 0x3f);
    if (key <= 1 || (n && insn->size == 2))
        return false;
    const unsigned log2 = 31 - (unsigned)__builtin_clz(key), width = 1u << log2;
    const unsigned run = (imms & (width - 1)) + 1;
    if (run == width)
        return false;
    uint64_t value = rotate_right(a64_ones(run), immr & (width - 1), width);
    for (unsigned w = width; w < 64; w *= 2)
        value |= value << w;
    insn->imm = (int64_t)(insn->size == 2 ? value & 0xffffffff : value);
    insn->cond = (uint8_t)n;
    insn->shift = (uint8_t)immr;
    insn->amount = (uint8_t)imms;
    return true;
}

/* Every bit of imm8 becomes a byte of zeros or ones. */
static uint64_t bytes_from_bits(uint32_t imm8)
{
    uint64_t value = 0;
    for (unsigned i = 0; i < 8; i++)
        value |= imm8 >> i & 1 ? UINT64_C(0xff) << 8 * i : 0;
    return value;
}

static uint64_t repeat(uint64_t value, unsigned width)
{
    for (; width < 64; width *= 2)
        value |= value << width;
    return value;
}

/* Modified immediates: cmode (bits 15..12) says how imm8 becomes 64 bits, and op (bit 29) inverts them for mvni and bic. */
static void decode_modified(uint32_t word, struct a64_insn *insn)
{
    const uint32_t imm8 = bits(word, 16, 3) << 5 | bits(word, 5, 5), cmode = bits(word, 12, 4), op = bits(word, 29, 1);
    uint64_t value;
    if (cmode < 8)
        value = repeat((uint64_t)imm8 << 8 * (cmode >> 1), 32);
    else if (cmode < 12)
        value = repeat((uint64_t)imm8 << 8 * (cmode >> 1 & 1), 16);
    else if (cmode < 14)
        value = repeat(cmode & 1 ? (uint64_t)imm8 << 16 | 0xffff : (uint64_t)imm8 << 8 | 0xff, 32);
    else if (cmode == 14)
        value = op ? bytes_from_bits(imm8) : repeat(imm8, 8);
    else
        value = repeat(a64_fp_imm(imm8, insn->size), 8u << insn->size);
    insn->imm = (int64_t)(op && cmode < 14 ? ~value : value);
    insn->amount = (uint8_t)imm8;
    insn->shift = (uint8_t)cmode;
}

static bool decode_element(uint32_t word, struct a64_insn *insn)
{
    const unsigned h = bits(word, 11, 1), l = bits(word, 21, 1), m = bits(word, 20, 1);
    insn->rm = (uint8_t)bits(word, 16, insn->size == 1 ? 4 : 5);
    insn->amount = (uint8_t)(insn->size == 1 ? h << 2 | l << 1 | m : insn->size == 2 ? h << 1 | l : h);
    return insn->size != 3 || !l;
}

/* Lane forms: bits 15..14 give the scale, and the upper bits of Q:S:size give the index. */
static bool decode_lane(uint32_t word, struct a64_insn *insn)
{
    const unsigned scale = bits(word, 14, 2), size = bits(word, 10, 2);
    const unsigned index = bits(word, 30, 1) << 3 | bits(word, 12, 1) << 2 | size;
    insn->size = (uint8_t)(scale == 2 && (size & 1) ? 3 : scale);
    if (scale == 3 || (scale == 1 && (size & 1)) || (scale == 2 && size > 1) || (insn->size == 3 && index & 4))
        return false;
    insn->amount = (uint8_t)(index >> insn->size);
    return true;
}

static bool decode_shift(uint32_t word, struct a64_insn *insn, bool right)
{
    const uint32_t immh = bits(word, 19, 4), all = bits(word, 16, 7);
    if (!immh)
        return false;
    insn->size = (uint8_t)(31 - __builtin_clz(immh));
    insn->amount = (uint8_t)(right ? (16u << insn->size) - all : all - (8u << insn->size));
    return true;
}

static bool decode_copy(uint32_t word, struct a64_insn *insn)
{
    const uint32_t imm5 = bits(word, 16, 5);
    if (!(imm5 & 15))
        return false;
    insn->size = (uint8_t)__builtin_ctz(imm5);
    insn->amount = (uint8_t)(imm5 >> (insn->size + 1));
    return true;
}

static bool decode_size(enum a64_field f, uint32_t word, struct a64_insn *insn)
{
    static const uint8_t fp_size[4] = {2, 3, 0, 1};
    switch (f) {
    case F_SF: insn->size = (uint8_t)(2 + bits(word, 31, 1)); return true;
    case F_SF_N: insn->size = (uint8_t)(2 + bits(word, 31, 1)); return bits(word, 31, 1) == bits(word, 22, 1);
    case F_SIZE22: insn->size = (uint8_t)bits(word, 22, 2); return true;
    case F_SIZE30: insn->size = (uint8_t)bits(word, 30, 2); return true;
    case F_SIZE10: insn->size = (uint8_t)bits(word, 10, 2); return true;
    case F_SZ22: insn->size = (uint8_t)(2 + bits(word, 22, 1)); return true;
    case F_SZ30: insn->size = (uint8_t)(2 + bits(word, 30, 1)); return true;
    case F_HS22: insn->size = (uint8_t)(1 + bits(word, 22, 1)); return true;
    default: insn->size = fp_size[bits(word, 22, 2)]; return insn->size != 0;
    }
}

static bool decode_immediate(enum a64_field f, uint32_t word, struct a64_insn *insn)
{
    const unsigned width = insn->size == 2 ? 32 : 64;
    switch (f) {
    case F_IMM12_SHIFTED:
        insn->amount = (uint8_t)(12 * bits(word, 22, 1));
        insn->imm = (int64_t)bits(word, 10, 12) << insn->amount;
        return true;
    case F_IMM12_SCALED: insn->imm = (int64_t)bits(word, 10, 12) << insn->size; return true;
    case F_IMM9: insn->imm = signed_bits(word, 12, 9); return true;
    case F_IMM7: insn->imm = signed_bits(word, 15, 7) * (1 << insn->size); return true;
    case F_IMM14: insn->imm = signed_bits(word, 5, 14) * 4; return true;
    case F_IMM16: insn->imm = bits(word, 5, 16); return true;
    case F_IMM19: insn->imm = signed_bits(word, 5, 19) * 4; return true;
    case F_IMM26: insn->imm = signed_bits(word, 0, 26) * 4; return true;
    case F_IMM5: insn->imm = bits(word, 16, 5); return true;
    case F_ADR: insn->imm = signed_bits(word, 5, 19) * 4 + bits(word, 29, 2); return true;
    case F_ADRP: insn->imm = (signed_bits(word, 5, 19) * 4 + bits(word, 29, 2)) * 4096; return true;
    case F_BITMASK: return decode_bitmask(word, insn);
    case F_WIDE:
        insn->amount = (uint8_t)(16 * bits(word, 21, 2));
        insn->imm = (int64_t)((uint64_t)bits(word, 5, 16) << insn->amount);
        return insn->amount < width;
    case F_IMMR: insn->imm = bits(word, 16, 6); return insn->imm < width;
    case F_IMMS:
    case F_AMOUNT6: insn->amount = (uint8_t)bits(word, 10, 6); return insn->amount < width;
    case F_RMIF: insn->imm = bits(word, 15, 6); return true;
    case F_BIT:
        insn->amount = (uint8_t)(bits(word, 31, 1) << 5 | bits(word, 19, 5));
        insn->size = insn->amount < 32 ? 2 : 3;
        return true;
    case F_HINT: insn->imm = bits(word, 5, 7); return true;
    case F_SYSTEM: insn->imm = bits(word, 5, 15) | 0x8000; return true;
    case F_NOT_ROR: return insn->shift != 3;
    default: return insn->amount <= 4; /* F_AMOUNT_4 */
    }
}

static bool decode_vector(enum a64_field f, uint32_t word, struct a64_insn *insn)
{
    switch (f) {
    case F_ORDER_CAS: insn->amount = (uint8_t)(bits(word, 22, 1) << 1 | bits(word, 15, 1)); return true;
    case F_FIXED_SCALE: insn->amount = (uint8_t)(64 - bits(word, 10, 6)); return insn->q || insn->amount <= 32;
    case F_FP_IMM:
        insn->amount = (uint8_t)bits(word, 13, 8);
        insn->imm = (int64_t)a64_fp_imm(insn->amount, insn->size);
        return true;
    case F_SHR: return decode_shift(word, insn, true);
    case F_SHL: return decode_shift(word, insn, false);
    case F_COPY: return decode_copy(word, insn);
    case F_COPY_SRC:
        insn->imm = bits(word, 11, 4) >> insn->size;
        insn->shift = (uint8_t)bits(word, 11, 4);
        return true;
    case F_LENGTH: insn->shift = (uint8_t)(bits(word, 13, 2) + 1); return true;
    case F_MODIFIED: decode_modified(word, insn); return true;
    case F_ELEMENT: return decode_element(word, insn);
    case F_ELEMENT_H:
        insn->rm = (uint8_t)bits(word, 16, 4);
        insn->amount = (uint8_t)(bits(word, 11, 1) << 2 | bits(word, 21, 1) << 1 | bits(word, 20, 1));
        return true;
    case F_ELEMENT_S:
        insn->rm = (uint8_t)bits(word, 16, 5);
        insn->amount = (uint8_t)(bits(word, 11, 1) << 1 | bits(word, 21, 1));
        return true;
    case F_ELEMENT_C:
        insn->rm = (uint8_t)bits(word, 16, 5);
        insn->amount = (uint8_t)(insn->size == 1 ? bits(word, 11, 1) << 1 | bits(word, 21, 1) : bits(word, 11, 1));
        return insn->size == 1 ? insn->q || insn->amount < 2 : insn->q && !bits(word, 21, 1);
    default: insn->q = (uint8_t)bits(word, 30, 1); return decode_lane(word, insn); /* F_LANE */
    }
}

bool a64_fields_decode(const struct a64_row *row, uint32_t word, struct a64_insn *insn)
{
    insn->size = (uint8_t)__builtin_ctz(row->sizes); /* for layouts without a size field */
    insn->shift = (uint8_t)P_REGS_OF(row->props);
    const bool has_q = a64_layout_has_q(row->layout);
    for (const uint8_t *f = a64_layout_fields[row->layout]; *f != F_END; f++) {
        if (*f < F_PLAIN_END)
            ((uint8_t *)insn)[a64_plain_fields[*f].member] =
                (uint8_t)bits(word, a64_plain_fields[*f].pos, a64_plain_fields[*f].width);
        else if (!(a64_field_is_size(*f)        ? decode_size(*f, word, insn)
                   : a64_field_is_immediate(*f) ? decode_immediate(*f, word, insn)
                                                : decode_vector(*f, word, insn)))
            return false;
    }
    if (!(row->sizes >> insn->size & 1))
        return false;
    if (has_q && !insn->q && ((insn->size == 3 && !(row->props & P_1D)) || (insn->size == 2 && row->props & P_4S)))
        return false;
    if (row->layout == A64_L_LS_REG && !(insn->shift & 2))
        return false;
    if (row->layout == A64_L_COMPARE_SWAP_PAIR && (insn->rd | insn->rm) & 1)
        return false;
    return row->layout != A64_L_EXT || insn->q || insn->amount < 8;
}
