/* Apple AMX: instruction words and operands, without state or time.
 *
 *   31                                10 9        5 4        0
 *  +------------------------------------+----------+----------+
 *  |  0000 0000 0010 0000 0001 00       |   op     | register |     op 17: register field = 0 set, 1 clr
 *  +------------------------------------+----------+----------+
 *
 * The 64-bit value of general register `register` (31 = zero) is the operand. All facts: github corsix/amx
 * (commit 483714b), whose model was tested on M1..M4 hardware.
 */
#ifndef ORCHARD_ISA_AMX_AMX_ISA_H
#define ORCHARD_ISA_AMX_AMX_ISA_H

#include "isa/isa_error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* The number in the instruction word. AMX_EXTRX is also extrh, and AMX_EXTRY also extrv: operand bits 26 and 27 decide. */
enum amx_op {
#define AMX_FORM(op, ...) op,
#define AMX_FORM_AGAIN(...)
#include "isa/amx/amx_table.inc"
    AMX_OP_COUNT
};

enum amx_gen { AMX_GEN_M1 = 1, AMX_GEN_M2, AMX_GEN_M3, AMX_GEN_M4 };

#define AMX_WORD_BASE UINT32_C(0x00201000)
#define AMX_WORD_MASK UINT32_C(0xfffffc00)

static inline bool amx_is_word(uint32_t word)
{
    return (word & AMX_WORD_MASK) == AMX_WORD_BASE;
}
static inline unsigned amx_word_op(uint32_t word)
{
    return (word >> 5) & 31;
}
static inline unsigned amx_word_register(uint32_t word)
{
    return word & 31;
}
/* True when the word is an instruction that exists (op 0..22, op 17 only with immediates 0 and 1). */
bool amx_word_is_defined(uint32_t word);
uint32_t amx_encode(unsigned op, unsigned register_or_immediate);

/* What one instruction with one operand does to the unit's state. Timing, activity counts and the disassembler read this, so
 * that none of them decodes operand bits again. */
enum amx_unit_class {
    AMX_CLASS_LOAD,
    AMX_CLASS_STORE,
    AMX_CLASS_MATRIX,
    AMX_CLASS_VECTOR,
    AMX_CLASS_EXTRACT,
    AMX_CLASS_GENLUT,
    AMX_CLASS_SET,
    AMX_CLASS_CLR,
    AMX_CLASS_NOP /* reserved encodings that do nothing */
};
enum amx_element { AMX_E_NONE, AMX_E_F64, AMX_E_F32, AMX_E_F16, AMX_E_BF16, AMX_E_I8, AMX_E_I16, AMX_E_I32 };

struct amx_effect {
    enum amx_unit_class unit_class;
    enum amx_element x_element, y_element, z_element; /* NONE when not used */
    uint8_t x_read, x_write, y_read, y_write;         /* bit n = register n of the pool */
    uint64_t z_read, z_write;                         /* bit n = row n */
    uint32_t memory_bytes;                            /* 64, 128 or 256 for loads and stores */
    bool needs_128_alignment;
    bool masked;             /* some lane is disabled */
    uint32_t macs;           /* multiply-accumulates in enabled lanes; 0 for copies */
    uint32_t z_rows_written; /* popcount of z_write */
};

/* A register or row counts as read when the result depends on it, but not when a masked or partial write keeps some of its
 * bytes. An operand that is forced to zero or skipped is not read, and its element is NONE. macs counts one for each enabled Z
 * element of every operation that the multiply-accumulate array computes (products, sums with Z, popcount-accumulate), and none
 * for copies, comparisons, ALU 4 shifts and written zeros. Instructions that leave Z unchanged keep their class and touch
 * nothing. For op 17 the operand is the immediate. Undefined ops have class NOP. 8-byte lanes of copies have element F64.
 *
 * The effect depends only on op, operand (without the pointer bits of loads and stores) and generation. */
void amx_effect_of(unsigned op, uint64_t operand, enum amx_gen gen, struct amx_effect *effect);

/* The operand bits that are a data address: these for ops 0..7, none for others. */
#define AMX_ADDRESS_MASK ((UINT64_C(1) << 56) - 1)
static inline uint64_t amx_pointer_mask(unsigned op)
{
    return op <= AMX_STZI ? AMX_ADDRESS_MASK : 0;
}

/* amx_disasm_word writes the register form, as in a listing: "fma32 x5". amx_disasm_operand writes the fields of the operand that
 * differ from 0, in assembler syntax: "x=64, y=0, z=1, skip_z". Both return the length of the whole text, as snprintf does;
 * AMX_TEXT_BYTES is enough for any. Operand bits that no field of the generation names come last as raw=0x..., so that
 * assembling the text gives back all 64 bits. Words that are no AMX instruction become ".long 0x........", which amx_asm_line
 * accepts. */
#define AMX_TEXT_BYTES 512
int amx_disasm_word(uint32_t word, char *text, size_t size);
int amx_disasm_operand(unsigned op, uint64_t operand, enum amx_gen gen, char *text, size_t size);

/* Assembles one line: "fma32 x5", "set", "clr", or a mnemonic with operand fields ("fma32 {x=64, y=0, z=1}"). has_operand tells
 * whether there were fields; then the register of the word is 0, and the caller chooses one. Fields may stand in any order,
 * values are numbers or names of the table, and a comment (; # //) may follow. On failure error->offset is the column. */
bool amx_asm_line(const char *line, uint32_t *word, uint64_t *operand, bool *has_operand, struct isa_error *error);

/* Writes the instruction table as Markdown: op, mnemonic, operand fields with bit positions, semantics, generations. */
void amx_table_markdown(FILE *out);

const char *amx_op_name(unsigned op, uint64_t operand); /* "fma32", "extrh" ... ; "?" above 22 */

#endif
