/* AArch64 user-mode instructions. Decoder, disassembler, documentation and encoder derive from one table, a64_table.inc.
 *
 * A row of the table has the name of the form, mask and fixed bits, operand layout, sizes, timing class, properties and text. A
 * decoded instruction (struct a64_insn) holds everything that execution and timing need; neither looks at the word again.
 */
#ifndef ORCHARD_ISA_A64_A64_ISA_H
#define ORCHARD_ISA_A64_A64_ISA_H

#include "isa/isa_error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* A64_UNDEFINED, A64_AMX, and one enumerator for each row of the table: A64_ADD_IMM, A64_LDR_X_POST, A64_FMLA_V_ELEM ... */
enum a64_form {
    A64_UNDEFINED,
    A64_AMX, /* a word of isa/amx; rd = operand register, imm = op */
#define A64_ROW(form, ...) A64_##form,
#include "isa/a64/a64_table.inc"
#undef A64_ROW
    A64_FORM_COUNT
};

/* What a form costs depends on its class; latencies and ports per class are parameters of the cpu unit. Divisions and square
 * roots take longer for wider elements: FP_DIV and FP_SQRT_D are f64, FP_SQRT is f32 and f16. X(ENUMERATOR, name) */
/* clang-format off */
#define A64_CLASS_TABLE(X) \
    X(NOP, nop) X(INT, int) X(INT_SHIFT, int_shift) X(INT_FLAGS, int_flags) X(MUL, mul) X(MADD, madd) X(DIV, div) \
    X(BRANCH, branch) X(BRANCH_COND, branch_cond) X(BRANCH_INDIRECT, branch_indirect) X(LOAD, load) X(LOAD_PAIR, load_pair) \
    X(LOAD_V, load_v) X(LOAD_V_PAIR, load_v_pair) X(STORE, store) X(STORE_PAIR, store_pair) X(STORE_V, store_v) \
    X(STORE_V_PAIR, store_v_pair) X(ATOMIC, atomic) X(BARRIER, barrier) X(FP_ADD, fp_add) X(FP_MUL, fp_mul) \
    X(FP_FMA, fp_fma) X(FP_DIV, fp_div) X(FP_DIV_S, fp_div_s) X(FP_DIV_H, fp_div_h) X(FP_SQRT, fp_sqrt) \
    X(FP_SQRT_D, fp_sqrt_d) X(FP_CVT, fp_cvt) X(FP_CMP, fp_cmp) X(FP_MINMAX, fp_minmax) X(FP_MOVE, fp_move) \
    X(FP_ESTIMATE, fp_estimate) X(V_INT, v_int) X(V_MUL, v_mul) X(V_PERM, v_perm) X(V_REDUCE, v_reduce) \
    X(V_FROM_GPR, v_from_gpr) X(V_MADE_GPR, v_made_gpr) X(V_TO_GPR, v_to_gpr) X(CVT_TO_GPR, cvt_to_gpr) X(SYSTEM, system) X(AMX, amx)
/* clang-format on */

enum a64_class {
#define X(enumerator, name) A64_C_##enumerator,
    A64_CLASS_TABLE(X)
#undef X
        A64_CLASS_COUNT
};
const char *a64_class_name(enum a64_class c);

/* Dependency tracking numbers all registers together: 0..30 X, 31 SP, 32..63 V, 64 NZCV, 255 none. The zero register is "none".
 */
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
    uint8_t lanes;                              /* elements that an FP or SIMD instruction works on (1 = scalar); 0 for others */
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
    A64_INSN_ENDS_BLOCK = 32,
    A64_INSN_V86 = 64 /* I8MM or BF16: cores before Armv8.6 (M1) do not have it */
};

/* Always succeeds; unknown words become A64_UNDEFINED. */
void a64_decode(uint32_t word, struct a64_insn *insn);
/* Writes the text as binutils' objdump does ("add\tx0, x1, #0x10"); branch targets are relative to pc. Returns the length. */
/* Makes it what a core is given that does not have the instruction; A64_INSN_V86 stays. */
void a64_make_undefined(struct a64_insn *insn);
int a64_disasm(const struct a64_insn *insn, uint64_t pc, char *text, size_t size);
/* The inverse of a64_decode, for every form of the table; false when a value does not fit. */
bool a64_encode(const struct a64_insn *insn, uint32_t *word);
void a64_table_markdown(FILE *out);
const char *a64_form_name(unsigned form);

#endif
