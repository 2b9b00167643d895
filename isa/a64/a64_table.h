/* The instruction table as data, for the files of isa/a64 alone.
 *
 * The letters of a row's text are %<kind><place>, where the place d n m a names rd rn rm ra, and the kind says how it is written:
 *
 *   R P    W or X by size; register 31 is ZR (R) or SP (P)      W X    fixed width, 31 is ZR
 *   Y      W or X by q                                          B      address base, X or SP
 *   O      W or X by extend kind                                G      index register with its extension
 *   M      the register after it (pairs)                        Z      post-index register, or #bytes when 31
 *   V      vector, arrangement by size and q                    L      vector of 128 bits, elements twice the size
 *   J      vector with half the elements, twice the size        S U    scalar of size, of twice the size
 *   0..4   scalar B H S D Q                                     Q      vector of two elements
 *   E      element `amount` of size                             D      .d[1]
 *   F H    byte vector and byte quad of dot products            h g    half vector and element of fmlal
 *   K k    list of `shift` vectors, of their lanes
 *
 * and, without a place: t T branch target, page; l i I A immediates (add/sub, hex, decimal, amount); w wide move;
 * c C condition, flags; ~ e shift and extend of the last register; o offset, absent when 0; p prefetch; y system
 * register; b u barrier; j hint; s x suffixes for size and ordering; q "2" when q; v element bits; f FP immediate;
 * m vector immediate; a rotation.
 */
#ifndef ORCHARD_ISA_A64_A64_TABLE_H
#define ORCHARD_ISA_A64_A64_TABLE_H

#include "isa/a64/a64_isa.h"

#include <string.h>

/* Sets of operand sizes. */
enum {
    Z_B = 1,
    Z_H = 2,
    Z_S = 4,
    Z_D = 8,
    Z_Q = 16,
    Z_W = Z_S,
    Z_X = Z_D,
    Z_WX = Z_S | Z_D,
    Z_BHWX = 15,
    Z_BHSD = 15,
    Z_BHS = 7,
    Z_BH = 3,
    Z_HS = 6,
    Z_HSD = 14,
    Z_SD = 12
};

/* Properties: what the text does not say about registers, memory and flags. */
enum {
    P_LOAD = 1 << 0,
    P_STORE = 1 << 1,
    P_BRANCH = 1 << 2,
    P_SETS = 1 << 3,
    P_READS = 1 << 4,
    P_WRITEBACK = 1 << 5,
    P_END = 1 << 6,    /* ends a block without being a branch */
    P_RMW = 1 << 7,    /* the destination is also a source */
    P_NO_DST = 1 << 8, /* every register place is a source */
    P_LINK = 1 << 9,   /* writes x30 */
    P_READS_LR = 1 << 10,
    P_PAIR = 1 << 11,   /* two registers of size */
    P_STATUS = 1 << 12, /* rm is the destination (store exclusive) */
    P_SWAP = 1 << 13,   /* rm is destination and source (compare and swap) */
    P_1D = 1 << 14,     /* one element of 64 bits is allowed */
    P_4S = 1 << 15,     /* size 2 needs q */
    P_ONE = 1 << 16,    /* one element of each register goes to memory */
    P_UPPER = 1 << 17,  /* q writes the upper half and keeps the lower */
    P_BYTES_64 = 1 << 18,
    P_SHIFT_COST = 1 << 19 /* class INT_SHIFT when the operand is shifted */
};
#define P_V86            (1 << 23)   /* from Armv8.6 on: not on every core */
#define P_REGS(n)        ((n) << 20) /* registers of a structure */
#define P_REGS_OF(props) ((props) >> 20 & 7)

enum a64_layout {
#define A64_LAYOUT(name, ...) A64_L_##name,
#include "isa/a64/a64_layouts.inc"
#undef A64_LAYOUT
    A64_LAYOUT_COUNT
};

struct a64_row {
    uint32_t mask, bits;
    uint8_t layout, sizes, cls;
    uint32_t props;
    const char *text;
};
struct a64_group {
    uint32_t mask, bits;
    uint16_t first; /* row; its rows end where the next group's begin */
    const char *title;
};

extern const struct a64_row a64_rows[A64_FORM_COUNT]; /* by form; [UNDEFINED] and [AMX] are empty */
extern const struct a64_group a64_groups[];           /* one more than the count, as end */
extern const unsigned a64_group_count;

/* Reads the operand fields of `word` into insn by the row's layout; false when the values are reserved. */
bool a64_fields_decode(const struct a64_row *row, uint32_t word, struct a64_insn *insn);
bool a64_layout_has_q(unsigned layout);
/* The inverse: ors the fields into *word; false when a value does not fit. */
bool a64_fields_encode(const struct a64_row *row, const struct a64_insn *insn, uint32_t *word);

/* Whether a letter of a row's text and the one after it are a register: a kind and a place. */
static inline bool a64_is_place(const char *letters)
{
    return letters[0] && strchr("RPWXYBOGMVLJSUQEDFHNhgzrKkZ01234", letters[0]) && letters[1] && strchr("dnma", letters[1]);
}

/* The preferred alias of an instruction: adjusts insn for display and returns the text to use, or NULL for that of the row. */
const char *a64_alias(struct a64_insn *insn);
/* The eight bits of an FMOV immediate as the bits of a floating-point number of 1 << size bytes. */
uint64_t a64_fp_imm(unsigned imm8, unsigned size);

#endif
