/* AArch64 user-mode instructions: one table (a64_table.inc) -> decoder, disassembler, documentation, encoder.
 *
 * Each row of the table: form name, mask and fixed bits, operand layout, sizes, timing class, properties, text. A decoded
 * instruction (struct a64_insn) holds everything that execution and timing need; neither looks at the word again.
 */
#ifndef ORCHARD_ISA_A64_A64_ISA_H
#define ORCHARD_ISA_A64_A64_ISA_H

#include "isa/isa_error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* One enumerator per row of the table: A64_ADD_IMM, A64_LDR_X_POST, A64_FMLA_V_ELEM ... plus A64_UNDEFINED and A64_AMX. */
enum a64_form {
    A64_UNDEFINED,
    A64_AMX, /* a word of isa/amx; rd = operand register, imm = op */
#define A64_ROW(form, ...) A64_##form,
#include "isa/a64/a64_table.inc"
#undef A64_ROW
    A64_FORM_COUNT
};

/* What a form costs is a question of its class; latencies and ports per class are parameters of the cpu unit. Divisions
 * and square roots take longer for wider elements: FP_DIV and FP_SQRT_D are f64, FP_SQRT is f32 and f16. */
enum a64_class {
    A64_C_NOP,
    A64_C_INT,
    A64_C_INT_SHIFT,
    A64_C_INT_FLAGS,
    A64_C_MUL,
    A64_C_MADD,
    A64_C_DIV,
    A64_C_BRANCH,
    A64_C_BRANCH_COND,
    A64_C_BRANCH_INDIRECT,
    A64_C_LOAD,
    A64_C_LOAD_PAIR,
    A64_C_LOAD_V,
    A64_C_LOAD_V_PAIR,
    A64_C_STORE,
    A64_C_STORE_PAIR,
    A64_C_STORE_V,
    A64_C_STORE_V_PAIR,
    A64_C_ATOMIC,
    A64_C_BARRIER,
    A64_C_FP_ADD,
    A64_C_FP_MUL,
    A64_C_FP_FMA,
    A64_C_FP_DIV,
    A64_C_FP_DIV_S,
    A64_C_FP_DIV_H,
    A64_C_FP_SQRT,
    A64_C_FP_SQRT_D,
    A64_C_FP_CVT,
    A64_C_FP_CMP,
    A64_C_FP_MINMAX,
    A64_C_FP_MOVE,
    A64_C_FP_ESTIMATE,
    A64_C_V_INT,
    A64_C_V_MUL,
    A64_C_V_PERM,
    A64_C_V_REDUCE,
    A64_C_V_FROM_GPR,
    A64_C_V_TO_GPR,
    A64_C_CVT_TO_GPR,
    A64_C_SYSTEM,
    A64_C_AMX,
    A64_CLASS_COUNT
};
const char *a64_class_name(enum a64_class c);

/* Registers in one number space for dependency tracking: 0..30 X, 31 SP, 32..63 V, 64 NZCV, 255 none. The zero register
 * is "none". */
enum { A64_DEP_SP = 31, A64_DEP_V0 = 32, A64_DEP_FLAGS = 64, A64_DEP_COUNT = 65, A64_DEP_NONE = 255 };

enum { A64_DST_MAX = 5, A64_SRC_MAX = 6 };

struct a64_insn {
    uint16_t form;               /* enum a64_form */
    uint8_t cls;                 /* enum a64_class */
    uint8_t rd, rn, rm, ra;      /* register fields as encoded (31 = SP or ZR by form); rt/rt2 of loads in rd/ra */
    uint8_t size;                /* log2 bytes: access size, element size of vectors, 2/3 = W/X */
    uint8_t q;                   /* vector of 128 bits; general register of 64 bits beside a floating-point one */
    uint8_t cond, shift, amount; /* condition; shift or extend kind, registers of a structure; shift amount or lane */
    uint8_t flags;               /* A64_INSN_* */
    uint8_t dst[A64_DST_MAX], src[A64_SRC_MAX]; /* dependency numbers, A64_DEP_NONE when unused; packed from index 0 */
    uint8_t lanes;                              /* elements an FP or SIMD instruction works on (1 = scalar), 0 for all others */
    uint8_t mem_bytes;                          /* bytes touched in memory, 0 when none */
    uint32_t word;
    int64_t imm; /* immediate, already shifted and sign-extended; branch targets are pc-relative */
};
enum {
    A64_INSN_LOAD = 1,
    A64_INSN_STORE = 2,
    A64_INSN_BRANCH = 4,
    A64_INSN_SETS_FLAGS = 8,
    A64_INSN_WRITEBACK = 16,
    A64_INSN_ENDS_BLOCK = 32
};

/* Always succeeds; words that are no instruction we know become A64_UNDEFINED. */
void a64_decode(uint32_t word, struct a64_insn *insn);
/* Text as binutils objdump prints it ("add\tx0, x1, #0x10"), pc resolves branch targets. Returns the length. */
int a64_disasm(const struct a64_insn *insn, uint64_t pc, char *text, size_t size);
/* Encodes what a64_decode decoded: the inverse for every form of the table. */
bool a64_encode(const struct a64_insn *insn, uint32_t *word);
void a64_table_markdown(FILE *out);
const char *a64_form_name(unsigned form);

#endif
