/* The AGX instruction table in memory, for decoder, encoder, text and assembler. Rows and their meaning: agx_table.inc. */
#ifndef ORCHARD_ISA_AGX_AGX_TABLE_H
#define ORCHARD_ISA_AGX_AGX_TABLE_H

#include "isa/agx/agx_isa.h"

/* The names of fields, as applegpu calls them; AGX_F_Dt and so on. */
/* clang-format off */
#define AGX_FIELD_NAMES(ITEM) \
    ITEM(Dt) ITEM(D) ITEM(imm16) ITEM(imm32) ITEM(kill) ITEM(SR) ITEM(S) ITEM(N) ITEM(At) ITEM(As) ITEM(A) \
    ITEM(Bt) ITEM(Bs) ITEM(B) ITEM(s) ITEM(Ct) ITEM(Cs) ITEM(C) ITEM(mode) ITEM(srct) ITEM(src) ITEM(round) \
    ITEM(m) ITEM(tt0) ITEM(tt1) ITEM(tt2) ITEM(tt3) ITEM(op1) ITEM(op2) ITEM(Am) ITEM(Bm) ITEM(Cm) ITEM(op) \
    ITEM(reg32) ITEM(off) ITEM(n) ITEM(cc) ITEM(ccn) ITEM(Xt) ITEM(X) ITEM(Yt) ITEM(Y) ITEM(op3) ITEM(i) \
    ITEM(j) ITEM(load) ITEM(Rt) ITEM(R) ITEM(F) ITEM(u0) ITEM(mask) ITEM(O) ITEM(St) ITEM(count) ITEM(It) \
    ITEM(I) ITEM(forwarding) ITEM(elide) ITEM(interpolation) ITEM(unk1) ITEM(unk2) ITEM(unk3) ITEM(unk4) \
    ITEM(unk5) ITEM(J) ITEM(unk) ITEM(b) ITEM(Ot) ITEM(TS) ITEM(SS) ITEM(u) ITEM(r) ITEM(g) ITEM(Ou) \
    ITEM(u6) ITEM(u1) ITEM(u3) ITEM(u4) ITEM(u5) ITEM(i1) ITEM(i2) ITEM(i5) ITEM(i6) ITEM(i0) ITEM(i4) \
    ITEM(i3) ITEM(v) ITEM(compare) ITEM(q3) ITEM(slot) ITEM(q6) ITEM(U) ITEM(Tt) ITEM(T) ITEM(lod) ITEM(u2) \
    ITEM(Ra) ITEM(imm) ITEM(q0) ITEM(q1) ITEM(q2) ITEM(target) ITEM(q4) ITEM(q5) ITEM(q16) ITEM(q17) \
    ITEM(q18) ITEM(q19) ITEM(Mt) ITEM(M) ITEM(z) ITEM(a) ITEM(c)
/* clang-format on */

enum agx_field_id {
    AGX_F_NONE,
#define AGX_FIELD_ID(name) AGX_F_##name,
    AGX_FIELD_NAMES(AGX_FIELD_ID)
#undef AGX_FIELD_ID
        AGX_FIELD_ID_COUNT
};

/* A field of a form: up to three runs of (position, width), lowest bits first; width 0 ends the list. */
struct agx_field_row {
    uint8_t id;
    uint8_t run[6];
};

/* How operands are encoded. v, t and m are the fields called NAME, NAMEt, and NAMEm or NAMEs.
 *
 * ALU_DST       v 8 bits, t 2 bits. t bit 0 is the cache hint; t bit 1 selects word v >> 1 instead of half register v. The word
 *               starts a 64-bit pair when v is odd and max is 64. m is S (saturate) where there is one.
 * ALU_SRC       v 8 bits, t 4 bits. t = 0 is the immediate v; 010y and 011y are the uniform half and word at half index
 *               v + 256 y. Otherwise bits 0..1 are the hint (1 none, 2 cache, 3 discard) and bits 2..3 the size: 0 half v,
 *               2 word v >> 1, 3 pair (a word unless max is 64). With max 16 it is always a half. m sign-extends.
 * FLOAT_SRC     as ALU_SRC, but the immediate is a minifloat, and m has absolute value in bit 0 and negation in bit 1.
 * FLOAT16_SRC   t 3 bits: 0 minifloat, 1..3 half with hint, 10y uniform half.
 * SELECT_SRC    t 3 bits: 4 immediate, 1..3 register with hint, 11y uniform, all of the size of the destination.
 * DATA          registers of memory operations: words from v >> 1 on when t is set, else halves from v on; as many as `mask`
 *               has bits.
 * BASE          64-bit pair v >> 1 (v even); of uniforms when t is set.
 * INDEX         a signed 16-bit immediate when t is set, else word v >> 1.
 * GROUP_BASE    t = 0 half register, 2 zero, 1 and 3 uniform half v + 256 (t >> 1).
 * GROUP_INDEX   half register, or an immediate when t is set.
 */
enum agx_operand_kind {
    AGX_KIND_MASK_DST,
    AGX_KIND_ALU_DST,
    AGX_KIND_ALU_SRC,
    AGX_KIND_FLOAT_SRC,
    AGX_KIND_FLOAT16_SRC,
    AGX_KIND_SELECT_SRC,
    AGX_KIND_TRUTH,
    AGX_KIND_NUMBER,
    AGX_KIND_BITS,
    AGX_KIND_ENUM,
    AGX_KIND_INT_CONDITION,
    AGX_KIND_FLOAT_CONDITION,
    AGX_KIND_BRANCH,
    AGX_KIND_SIGNED16,
    AGX_KIND_SHIFT,
    AGX_KIND_LOW_BITS,
    AGX_KIND_HALF,
    AGX_KIND_WORD,
    AGX_KIND_WORD_AT_HALF,
    AGX_KIND_UNIFORM_PAIR,
    AGX_KIND_DATA,
    AGX_KIND_BASE,
    AGX_KIND_INDEX,
    AGX_KIND_GROUP_BASE,
    AGX_KIND_GROUP_INDEX,
    AGX_KIND_ATOMIC_DST,
    AGX_KIND_ATOMIC_SRC,
    AGX_KIND_SPECIAL,
    AGX_KIND_ASYNC_PAIR,
    AGX_KIND_ASYNC_WORDS,
    AGX_KIND_SAMPLES,
    AGX_KIND_TARGET,
    AGX_KIND_DEPTH_STENCIL,
    AGX_KIND_VARYING,
    AGX_KIND_HALF_OR_NUMBER,
    AGX_KIND_COEFFICIENT_OR_HALF,
    AGX_KIND_COEFFICIENT,
    AGX_KIND_SAMPLE_INDEX,
    AGX_KIND_TEXTURE_STATE,
    AGX_KIND_SAMPLER_STATE,
    AGX_KIND_BINDLESS,
    AGX_KIND_TEXTURE,
    AGX_KIND_SAMPLER,
    AGX_KIND_COORDS,
    AGX_KIND_COMPARE_OFFSET,
    AGX_KIND_LOD,
    AGX_KIND_TEXEL
};

struct agx_operand_row {
    uint8_t kind;    /* enum agx_operand_kind */
    uint8_t v, t, m; /* field ids, 0 = none */
    uint8_t max;     /* widest register in bits */
    uint8_t extra;   /* ENUM: list; BITS, BRANCH: width; SAMPLES: t of an immediate; VARYING: registers per count;
                        DATA: field that says whether it is present; ALU_DST, FLOAT_SRC: 1 = two registers */
};

enum agx_list {
    AGX_LIST_CONVERT = 1,
    AGX_LIST_ROUND,
    AGX_LIST_FORMAT,
    AGX_LIST_COMPONENTS,
    AGX_LIST_FORWARD,
    AGX_LIST_ELIDE,
    AGX_LIST_INTERPOLATE,
    AGX_LIST_SIGNEDNESS,
    AGX_LIST_ASYNC,
    AGX_LIST_TEXTURE_MODE,
    AGX_LIST_GATHER,
    AGX_LIST_TEXTURE_COMPONENTS,
    AGX_LIST_DIM,
    AGX_LIST_LOD,
    AGX_LIST_ATOMIC,
    AGX_LIST_IMAGE_ROUND,
    AGX_LIST_MAP,
    AGX_LIST_TARGET
};

struct agx_value {
    uint8_t list, value;
    const char *text;
};

enum agx_when {
    AGX_WHEN_ALWAYS,
    AGX_WHEN_FIELD,      /* a field has this value */
    AGX_WHEN_TRUTH,      /* the truth table has this value */
    AGX_WHEN_TRUTH_ZERO, /* the same, and B is the immediate 0 */
    AGX_WHEN_ALWAYS_TRUE /* it compares 0.0 with itself for equality; value is n, or AGX_ANY_COUNT */
};
#define AGX_ANY_COUNT 255

struct agx_rename {
    uint16_t op;
    const char *name;
    uint8_t when, field, value;
    const char *without; /* names of operands that the text leaves out, separated by spaces */
};

struct agx_special {
    uint8_t number;
    const char *text, *name;
};

enum agx_sure { AGX_SURE_TESTED, AGX_SURE_EMULATED, AGX_SURE_DESCRIBED, AGX_SURE_UNKNOWN };
#define AGX_FIXED_LENGTH 255

/* What a row says about execution. */
struct agx_row_effect {
    enum agx_class unit_class;
    uint8_t flops;   /* floating-point operations per active lane */
    bool no_meaning; /* nobody knows what the words do; they must not be executed */
};

struct agx_form { /* in the order of the table's columns */
    uint16_t op;
    const char *mnemonic;
    uint8_t bytes_short, bytes_long, length_bit; /* length_bit: AGX_FIXED_LENGTH when both are equal */
    uint64_t mask, value;
    uint32_t high_mask; /* bits 64..95 that must be zero */
    enum agx_sure sure;
    const char *does;
    struct agx_row_effect effect;
    const struct agx_field_row *fields;
    uint8_t field_count;
    const struct agx_operand_row *operands;
    uint8_t operand_count;
};

extern const struct agx_form agx_forms[];
extern const unsigned agx_forms_count;
extern const struct agx_value agx_values[];
extern const unsigned agx_values_count;
extern const struct agx_rename agx_renames[];
extern const unsigned agx_renames_count;
extern const struct agx_special agx_specials[];
extern const unsigned agx_specials_count;

const char *agx_field_text(enum agx_field_id id);
unsigned agx_field_width(const struct agx_field_row *field);
/* The index of a field in the form's row and in agx_inst.field[]; -1 when the form has no such field. */
int agx_field_index(const struct agx_form *form, enum agx_field_id id);
/* The value of a field of this instruction; 0 when its form has no such field. */
uint32_t agx_get(const struct agx_inst *inst, enum agx_field_id id);
/* The word for a value; NULL when it has none. */
const char *agx_value_text(enum agx_list list, uint32_t value);
/* The name of a condition cc | ccn << 3; NULL when it has none. */
const char *agx_condition_text(bool is_float, uint32_t code);
/* The name of an operand: that of its first field, or "tt" for truth tables. */
const char *agx_operand_text(const struct agx_operand_row *operand);
/* The name that text gives this instruction; NULL when it is the form's mnemonic. */
const struct agx_rename *agx_renamed(const struct agx_inst *inst);
/* Whether text leaves this operand out under that name. `rename` may be NULL. */
bool agx_rename_drops(const struct agx_rename *rename, const struct agx_operand_row *operand);

#endif
