/* Operand layouts: each is a list of fields, each field knows its way in and out of the word. Plain fields are rows of
 * a table; the others are a case of two switches. Order matters: fields that depend on the size follow it. */
#include "isa/a64/a64_table.h"

#include <string.h>

enum field {
    F_END,
    /* plain: a bit field copied to a byte of the instruction */
    F_RD,
    F_RN,
    F_RM,
    F_RM4,
    F_RA,
    F_Q,
    F_SF_Y,
    F_COND,
    F_COND0,
    F_NZCV,
    F_SHIFT,
    F_OPTION,
    F_AMOUNT3,
    F_SCALED,
    F_CRM,
    F_ORDER,
    F_EXT_INDEX,
    F_ROT1,
    F_ROT2,
    F_ROT_ELEMENT,
    F_PLAIN_END,
    /* sizes */
    F_SF,
    F_SF_N,
    F_SIZE22,
    F_SIZE30,
    F_SIZE10,
    F_SZ22,
    F_SZ30,
    F_HS22,
    F_FP_TYPE,
    /* immediates */
    F_IMM12_SHIFTED,
    F_IMM12_SCALED,
    F_IMM9,
    F_IMM7,
    F_IMM14,
    F_IMM16,
    F_IMM19,
    F_IMM26,
    F_IMM5,
    F_ADR,
    F_ADRP,
    F_BITMASK,
    F_WIDE,
    F_IMMR,
    F_IMMS,
    F_AMOUNT6,
    F_RMIF,
    F_BIT,
    F_HINT,
    F_SYSTEM,
    F_ORDER_CAS,
    F_FIXED_SCALE,
    F_FP_IMM,
    F_SHR,
    F_SHL,
    F_COPY,
    F_COPY_SRC,
    F_LENGTH,
    F_MODIFIED,
    F_ELEMENT,
    F_ELEMENT_H,
    F_ELEMENT_C,
    F_LANE,
    F_NOT_ROR,
    F_AMOUNT_4
};

#define AT(member) (uint8_t) offsetof(struct a64_insn, member)
static const struct {
    uint8_t pos, width, member;
} plain[F_PLAIN_END] = {
    [F_RD] = {0, 5, AT(rd)},
    [F_RN] = {5, 5, AT(rn)},
    [F_RM] = {16, 5, AT(rm)},
    [F_RM4] = {16, 4, AT(rm)},
    [F_RA] = {10, 5, AT(ra)},
    [F_Q] = {30, 1, AT(q)},
    [F_SF_Y] = {31, 1, AT(q)},
    [F_COND] = {12, 4, AT(cond)},
    [F_COND0] = {0, 4, AT(cond)},
    [F_NZCV] = {0, 4, AT(amount)},
    [F_SHIFT] = {22, 2, AT(shift)},
    [F_OPTION] = {13, 3, AT(shift)},
    [F_AMOUNT3] = {10, 3, AT(amount)},
    [F_SCALED] = {12, 1, AT(amount)},
    [F_CRM] = {8, 4, AT(amount)},
    [F_ORDER] = {22, 2, AT(amount)},
    [F_EXT_INDEX] = {11, 4, AT(amount)},
    [F_ROT1] = {12, 1, AT(shift)},
    [F_ROT2] = {11, 2, AT(shift)},
    [F_ROT_ELEMENT] = {13, 2, AT(shift)},
};

static const uint8_t layouts[A64_LAYOUT_COUNT][10] = {
    [A64_L_ADR] = {F_RD, F_ADR},
    [A64_L_ADRP] = {F_RD, F_ADRP},
    [A64_L_ADDSUB_IMM] = {F_SF, F_RD, F_RN, F_IMM12_SHIFTED},
    [A64_L_LOGIC_IMM] = {F_SF, F_RD, F_RN, F_BITMASK},
    [A64_L_MOVE_WIDE] = {F_SF, F_RD, F_WIDE},
    [A64_L_BITFIELD] = {F_SF_N, F_RD, F_RN, F_IMMR, F_IMMS},
    [A64_L_EXTRACT] = {F_SF_N, F_RD, F_RN, F_RM, F_AMOUNT6},
    [A64_L_B26] = {F_IMM26},
    [A64_L_B_COND] = {F_COND0, F_IMM19},
    [A64_L_CB] = {F_SF, F_RD, F_IMM19},
    [A64_L_TB] = {F_RD, F_BIT, F_IMM14},
    [A64_L_BR] = {F_RN},
    [A64_L_EXCEPTION] = {F_IMM16},
    [A64_L_HINT] = {F_HINT},
    [A64_L_BARRIER] = {F_CRM},
    [A64_L_SYSTEM_REG] = {F_RD, F_SYSTEM},
    [A64_L_CACHE_OP] = {F_RD},
    [A64_L_SHIFTED] = {F_SF, F_RD, F_RN, F_RM, F_SHIFT, F_AMOUNT6},
    [A64_L_SHIFTED_ADD] = {F_SF, F_RD, F_RN, F_RM, F_SHIFT, F_NOT_ROR, F_AMOUNT6},
    [A64_L_EXTENDED] = {F_SF, F_RD, F_RN, F_RM, F_OPTION, F_AMOUNT3, F_AMOUNT_4},
    [A64_L_RRR] = {F_SF, F_RD, F_RN, F_RM},
    [A64_L_RRR_X] = {F_RD, F_RN, F_RM},
    [A64_L_RRRR] = {F_SF, F_RD, F_RN, F_RM, F_RA},
    [A64_L_RRRR_X] = {F_RD, F_RN, F_RM, F_RA},
    [A64_L_RR] = {F_SF, F_RD, F_RN},
    [A64_L_RR_X] = {F_RD, F_RN},
    [A64_L_RMIF] = {F_RN, F_RMIF, F_NZCV},
    [A64_L_CCMP_REG] = {F_SF, F_RN, F_RM, F_COND, F_NZCV},
    [A64_L_CCMP_IMM] = {F_SF, F_RN, F_IMM5, F_COND, F_NZCV},
    [A64_L_CSEL] = {F_SF, F_RD, F_RN, F_RM, F_COND},
    [A64_L_LS_UIMM] = {F_RD, F_RN, F_IMM12_SCALED},
    [A64_L_LS_IMM9] = {F_RD, F_RN, F_IMM9},
    [A64_L_LS_REG] = {F_RD, F_RN, F_RM, F_OPTION, F_SCALED},
    [A64_L_LS_SIZED] = {F_SIZE30, F_RD, F_RN},
    [A64_L_LS_SIZED9] = {F_SIZE30, F_RD, F_RN, F_IMM9},
    [A64_L_ATOMIC] = {F_SIZE30, F_RD, F_RN, F_RM, F_ORDER},
    [A64_L_LS_PAIR] = {F_RD, F_RN, F_RA, F_IMM7},
    [A64_L_LITERAL] = {F_RD, F_IMM19},
    [A64_L_EXCLUSIVE] = {F_SIZE30, F_RD, F_RN, F_RM},
    [A64_L_EXCLUSIVE_PAIR] = {F_SZ30, F_RD, F_RN, F_RM, F_RA},
    [A64_L_LOAD_EXCLUSIVE_PAIR] = {F_SZ30, F_RD, F_RN, F_RA},
    [A64_L_COMPARE_SWAP] = {F_SIZE30, F_RD, F_RN, F_RM, F_ORDER_CAS},
    [A64_L_COMPARE_SWAP_PAIR] = {F_SZ30, F_RD, F_RN, F_RM, F_ORDER_CAS},
    [A64_L_STRUCTURE] = {F_Q, F_SIZE10, F_RD, F_RN},
    [A64_L_STRUCTURE_POST] = {F_Q, F_SIZE10, F_RD, F_RN, F_RM},
    [A64_L_LANE] = {F_LANE, F_RD, F_RN},
    [A64_L_LANE_POST] = {F_LANE, F_RD, F_RN, F_RM},
    [A64_L_FP_RRRR] = {F_FP_TYPE, F_RD, F_RN, F_RM, F_RA},
    [A64_L_FP_RRR] = {F_FP_TYPE, F_RD, F_RN, F_RM},
    [A64_L_FP_RR] = {F_FP_TYPE, F_RD, F_RN},
    [A64_L_FP_CMP] = {F_FP_TYPE, F_RN, F_RM},
    [A64_L_FP_CMP_0] = {F_FP_TYPE, F_RN},
    [A64_L_FP_CCMP] = {F_FP_TYPE, F_RN, F_RM, F_COND, F_NZCV},
    [A64_L_FP_CSEL] = {F_FP_TYPE, F_RD, F_RN, F_RM, F_COND},
    [A64_L_FP_IMM] = {F_FP_TYPE, F_RD, F_FP_IMM},
    [A64_L_FP_FIXED] = {F_SF_Y, F_FP_TYPE, F_RD, F_RN, F_FIXED_SCALE},
    [A64_L_FP_GPR] = {F_SF_Y, F_FP_TYPE, F_RD, F_RN},
    [A64_L_V3] = {F_Q, F_SIZE22, F_RD, F_RN, F_RM},
    [A64_L_S3] = {F_SIZE22, F_RD, F_RN, F_RM},
    [A64_L_V3_SD] = {F_Q, F_SZ22, F_RD, F_RN, F_RM},
    [A64_L_S3_SD] = {F_SZ22, F_RD, F_RN, F_RM},
    [A64_L_V_LOGIC] = {F_Q, F_RD, F_RN, F_RM},
    [A64_L_V3_FIXED] = {F_Q, F_RD, F_RN, F_RM},
    [A64_L_V2] = {F_Q, F_SIZE22, F_RD, F_RN},
    [A64_L_V2_SD] = {F_Q, F_SZ22, F_RD, F_RN},
    [A64_L_V2_FIXED] = {F_Q, F_RD, F_RN},
    [A64_L_V2_HS] = {F_Q, F_HS22, F_RD, F_RN},
    [A64_L_S2] = {F_SIZE22, F_RD, F_RN},
    [A64_L_S2_SD] = {F_SZ22, F_RD, F_RN},
    [A64_L_V3_ROT1] = {F_Q, F_SIZE22, F_RD, F_RN, F_RM, F_ROT1},
    [A64_L_V3_ROT2] = {F_Q, F_SIZE22, F_RD, F_RN, F_RM, F_ROT2},
    [A64_L_COPY] = {F_RD, F_RN, F_COPY},
    [A64_L_COPY_V] = {F_Q, F_RD, F_RN, F_COPY},
    [A64_L_COPY_LANE] = {F_RD, F_RN, F_COPY, F_COPY_SRC},
    [A64_L_TABLE] = {F_Q, F_RD, F_RN, F_RM, F_LENGTH},
    [A64_L_EXT] = {F_Q, F_RD, F_RN, F_RM, F_EXT_INDEX},
    [A64_L_V_SHR] = {F_Q, F_RD, F_RN, F_SHR},
    [A64_L_V_SHL] = {F_Q, F_RD, F_RN, F_SHL},
    [A64_L_S_SHR] = {F_RD, F_RN, F_SHR},
    [A64_L_S_SHL] = {F_RD, F_RN, F_SHL},
    [A64_L_MODIFIED] = {F_Q, F_RD, F_MODIFIED},
    [A64_L_V_ELEMENT] = {F_Q, F_SIZE22, F_RD, F_RN, F_ELEMENT},
    [A64_L_S_ELEMENT] = {F_SIZE22, F_RD, F_RN, F_ELEMENT},
    [A64_L_V_ELEMENT_SD] = {F_Q, F_SZ22, F_RD, F_RN, F_ELEMENT},
    [A64_L_V_ELEMENT_H] = {F_Q, F_RD, F_RN, F_ELEMENT_H},
    [A64_L_S_ELEMENT_SD] = {F_SZ22, F_RD, F_RN, F_ELEMENT},
    [A64_L_S_ELEMENT_H] = {F_RD, F_RN, F_ELEMENT_H},
    [A64_L_V_COMPLEX_ELEMENT] = {F_Q, F_RD, F_RN, F_ELEMENT_C, F_ROT_ELEMENT},
};

static uint32_t bits(uint32_t word, unsigned pos, unsigned width)
{
    return word >> pos & ((UINT32_C(1) << width) - 1);
}

static int64_t signed_bits(uint32_t word, unsigned pos, unsigned width)
{
    const int64_t sign = INT64_C(1) << (width - 1);
    return ((int64_t)bits(word, pos, width) ^ sign) - sign;
}

static uint64_t ones(unsigned n)
{
    return n >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << n) - 1;
}

static uint64_t rotate_right(uint64_t value, unsigned by, unsigned width)
{
    return by ? (value >> by | value << (width - by)) & ones(width) : value;
}

/* N:immr:imms name a run of ones, rotated, repeated in elements of 2..64 bits. */
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
    uint64_t value = rotate_right(ones(run), immr & (width - 1), width);
    for (unsigned w = width; w < 64; w *= 2)
        value |= value << w;
    insn->imm = (int64_t)(insn->size == 2 ? value & 0xffffffff : value);
    insn->cond = (uint8_t)n;
    insn->shift = (uint8_t)immr;
    insn->amount = (uint8_t)imms;
    return true;
}

uint64_t a64_fp_imm(unsigned imm8, unsigned size)
{
    const uint64_t sign = imm8 >> 7 & 1, top = imm8 >> 6 & 1, low = imm8 & 0x3f;
    if (size == 1)
        return sign << 15 | (top ^ 1) << 14 | (top ? UINT64_C(3) : 0) << 12 | low << 6;
    if (size == 2)
        return sign << 31 | (top ^ 1) << 30 | (top ? UINT64_C(0x1f) : 0) << 25 | low << 19;
    return sign << 63 | (top ^ 1) << 62 | (top ? UINT64_C(0xff) : 0) << 54 | low << 48;
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

/* Modified immediate: cmode (bits 15..12) says how imm8 becomes 64 bits; op (bit 29) inverts for mvni and bic. */
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

/* Lane forms: bits 15..14 give the scale, Q:S:size the index above it. */
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

static bool decode_size(enum field f, uint32_t word, struct a64_insn *insn)
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

static bool decode_immediate(enum field f, uint32_t word, struct a64_insn *insn)
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

static bool decode_vector(enum field f, uint32_t word, struct a64_insn *insn)
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
    case F_ELEMENT_C:
        insn->rm = (uint8_t)bits(word, 16, 5);
        insn->amount = (uint8_t)(insn->size == 1 ? bits(word, 11, 1) << 1 | bits(word, 21, 1) : bits(word, 11, 1));
        return insn->size == 1 ? insn->q || insn->amount < 2 : insn->q && !bits(word, 21, 1);
    default: insn->q = (uint8_t)bits(word, 30, 1); return decode_lane(word, insn); /* F_LANE */
    }
}

static unsigned only_size(unsigned sizes)
{
    return (unsigned)__builtin_ctz(sizes);
}

bool a64_layout_has_q(unsigned layout)
{
    return memchr(layouts[layout], F_Q, sizeof layouts[layout]) != NULL;
}

bool a64_fields_decode(const struct a64_row *row, uint32_t word, struct a64_insn *insn)
{
    insn->size = (uint8_t)only_size(row->sizes);
    insn->shift = (uint8_t)P_REGS_OF(row->props);
    const bool has_q = a64_layout_has_q(row->layout);
    for (const uint8_t *f = layouts[row->layout]; *f != F_END; f++) {
        if (*f < F_PLAIN_END)
            ((uint8_t *)insn)[plain[*f].member] = (uint8_t)bits(word, plain[*f].pos, plain[*f].width);
        else if (!(*f <= F_FP_TYPE                       ? decode_size(*f, word, insn)
                   : *f < F_ORDER_CAS || *f >= F_NOT_ROR ? decode_immediate(*f, word, insn)
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

/* value into [pos, pos+width) when it fits */
static bool put(uint32_t *word, uint64_t value, unsigned pos, unsigned width)
{
    *word |= (uint32_t)(value & ones(width)) << pos;
    return value <= ones(width);
}

/* A signed multiple of `unit` */
static bool put_signed(uint32_t *word, int64_t value, int64_t unit, unsigned pos, unsigned width)
{
    const int64_t units = value / unit, limit = INT64_C(1) << (width - 1);
    *word |= (uint32_t)((uint64_t)units & ones(width)) << pos;
    return value % unit == 0 && units >= -limit && units < limit;
}

static bool encode_size(enum field f, const struct a64_insn *insn, uint32_t *word)
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

static bool encode_immediate(enum field f, const struct a64_insn *insn, uint32_t *word)
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

static bool encode_vector(enum field f, const struct a64_insn *insn, uint32_t *word)
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
    case F_ELEMENT_C: return encode_element(insn, insn->size == 1 ? 2 : 1, word);
    default: return encode_lane(insn, word); /* F_LANE */
    }
}

bool a64_fields_encode(const struct a64_row *row, const struct a64_insn *insn, uint32_t *word)
{
    for (const uint8_t *f = layouts[row->layout]; *f != F_END; f++) {
        const bool fits = *f < F_PLAIN_END  ? put(word, ((const uint8_t *)insn)[plain[*f].member], plain[*f].pos, plain[*f].width)
                          : *f <= F_FP_TYPE ? encode_size(*f, insn, word)
                          : *f < F_ORDER_CAS || *f >= F_NOT_ROR ? encode_immediate(*f, insn, word)
                                                                : encode_vector(*f, insn, word);
        if (!fits)
            return false;
    }
    return true;
}
