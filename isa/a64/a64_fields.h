/* Operand fields: which ones there are, and where the plain ones lie. For the files that read and write them. */
#ifndef ORCHARD_ISA_A64_A64_FIELDS_H
#define ORCHARD_ISA_A64_A64_FIELDS_H

#include "isa/a64/a64_table.h"

enum a64_field {
    F_END,
    /* plain: bits that are copied to a byte of the instruction */
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
    /* vectors, structures, compare and swap */
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
    F_ELEMENT_S,
    F_ELEMENT_C,
    F_LANE,
    /* checks of fields that stand before them */
    F_NOT_ROR,
    F_AMOUNT_4
};

/* A plain field: bits pos .. pos + width - 1 of the word belong to the byte `member` of struct a64_insn. */
struct a64_plain_field {
    uint8_t pos, width, member;
};
extern const struct a64_plain_field a64_plain_fields[F_PLAIN_END];

/* The fields of each layout, closed by F_END. */
enum { A64_LAYOUT_FIELDS = 10 };
extern const uint8_t a64_layout_fields[A64_LAYOUT_COUNT][A64_LAYOUT_FIELDS];

static inline bool a64_field_is_size(unsigned field)
{
    return field > F_PLAIN_END && field <= F_FP_TYPE;
}

static inline bool a64_field_is_immediate(unsigned field)
{
    return (field > F_FP_TYPE && field < F_ORDER_CAS) || field >= F_NOT_ROR;
}

/* The number with the lowest n bits set. */
static inline uint64_t a64_ones(unsigned n)
{
    return n >= 64 ? ~UINT64_C(0) : (UINT64_C(1) << n) - 1;
}

#endif
