/* The AMX instruction table in memory, for the assembler, disassembler and documentation, and AMX_GET for code that needs single
 * operand fields. amx_table.inc has the rows and explains them.
 */
#ifndef ORCHARD_ISA_AMX_AMX_TABLE_H
#define ORCHARD_ISA_AMX_AMX_TABLE_H

#include "isa/amx/amx_isa.h"

/* AMX_POS_<layout>_<field> and AMX_LEN_<layout>_<field>, e.g. AMX_POS_FMA_Z = 20, AMX_LEN_FMA_Z = 6. */
enum amx_field_place {
#define AMX_FIELD(layout, id, name, pos, width, ...) AMX_POS_##layout##_##id = (pos), AMX_LEN_##layout##_##id = (width),
#include "isa/amx/amx_table.inc"
};

static inline unsigned amx_bits(uint64_t operand, unsigned pos, unsigned width)
{
    return (unsigned)(operand >> pos & ((UINT64_C(1) << width) - 1));
}
/* The value of a field of at most 32 bits: AMX_GET(operand, FMA_Z). */
#define AMX_GET(operand, field) amx_bits((operand), AMX_POS_##field, AMX_LEN_##field)

enum amx_layout {
    AMX_LAYOUT_NONE,
    AMX_LAYOUT_LOAD_XY,
    AMX_LAYOUT_STORE_XY,
    AMX_LAYOUT_MOVE_Z,
    AMX_LAYOUT_MOVE_ZI,
    AMX_LAYOUT_COPY_X,
    AMX_LAYOUT_COPY_Y,
    AMX_LAYOUT_EXTR,
    AMX_LAYOUT_EXTR_H,
    AMX_LAYOUT_EXTR_V,
    AMX_LAYOUT_FMA,
    AMX_LAYOUT_FMA32,
    AMX_LAYOUT_FMA16,
    AMX_LAYOUT_MAC16,
    AMX_LAYOUT_VM,
    AMX_LAYOUT_VECINT,
    AMX_LAYOUT_VECFP,
    AMX_LAYOUT_MATINT,
    AMX_LAYOUT_MATFP,
    AMX_LAYOUT_GENLUT
};
enum amx_value_list {
    AMX_LIST_NO_NAMES,
    AMX_LIST_MASK7,
    AMX_LIST_MASK9,
    AMX_LIST_MASK9_VECTOR,
    AMX_LIST_BROADCAST,
    AMX_LIST_EXTR7_LANES,
    AMX_LIST_EXTR9_INT_LANES,
    AMX_LIST_EXTR9_FLOAT_LANES,
    AMX_LIST_FP_LANES,
    AMX_LIST_VECFP_ALU,
    AMX_LIST_MATFP_ALU,
    AMX_LIST_VECINT_ALU,
    AMX_LIST_MATINT_ALU,
    AMX_LIST_GENLUT_MODE
};
enum amx_relation { AMX_WHEN_ALWAYS, AMX_WHEN_EQUAL, AMX_WHEN_NOT_EQUAL, AMX_WHEN_AT_LEAST };

struct amx_form {
    uint8_t op;
    const char *mnemonic;
    uint64_t fixed_mask, fixed_value; /* operand bits that tell this form from the others of the op */
    enum amx_layout layout[2];
    const char *semantics, *generations;
};

struct amx_field {
    enum amx_layout layout;
    const char *name;
    uint8_t pos, width;
    enum amx_gen first_gen;
    enum amx_relation when;
    uint64_t when_mask, when_value;
    enum amx_value_list list;
    const char *note;
};

struct amx_value {
    enum amx_value_list list;
    uint8_t value;
    const char *name;
    enum amx_gen first_gen;
};

extern const struct amx_form amx_forms[];
extern const size_t amx_form_count;
extern const struct amx_value amx_values[];
extern const size_t amx_value_count;

/* The form of an operand: the first of the op whose fixed bits agree; NULL for undefined ops. For op 17 the operand is 0 or 1. */
const struct amx_form *amx_form_of(unsigned op, uint64_t operand);
/* The first form with this mnemonic; NULL when there is none. */
const struct amx_form *amx_form_named(const char *mnemonic);

/* Visits the fields of a form in table order, without those that are newer than `gen`. `previous` is NULL at the start, and NULL
 * is returned at the end. */
const struct amx_field *amx_next_field(const struct amx_form *form, const struct amx_field *previous, enum amx_gen gen);
/* Whether the field exists when the fields above it have claimed these bits. */
bool amx_field_applies(const struct amx_field *field, uint64_t claimed);
uint64_t amx_field_mask(const struct amx_field *field);

/* The name of a field's value on a generation, NULL when it has none; and the value of a name. */
const char *amx_value_name(const struct amx_field *field, uint64_t value, enum amx_gen gen);
bool amx_value_named(const struct amx_field *field, const char *name, uint64_t *value);

#endif
