/* What the files of the assembler share: words, operands, one line, expansion of a text, expressions. */
#ifndef ORCHARD_ISA_AGX_AGX_ASM_PARTS_H
#define ORCHARD_ISA_AGX_AGX_ASM_PARTS_H

#include "isa/agx/agx_asm.h"
#include "isa/agx/agx_runs.h"
#include "isa/agx/agx_table.h"

enum { AGX_ASM_OPERANDS = 24, AGX_ASM_LINE_BYTES = 512, AGX_ASM_NAME_BYTES = 48 };

/* ---- words (agx_asm_word.c) ---- */

/* "r4_r5", "u3h", "r2.cache.neg": registers of one file and size, then modifiers. */
struct agx_asm_registers {
    bool uniform, half;
    unsigned first, count; /* half index; registers of that size */
    bool cache, discard, sign_extend, absolute, negate;
};
bool agx_asm_registers(const char *word, struct agx_asm_registers *registers);

/* Decimal, 0x..., 0b..., with a sign; the whole word. */
bool agx_asm_number(const char *word, int64_t *value);
/* A decimal float or integer followed by .abs and .neg. */
bool agx_asm_float(const char *word, float *value, bool *absolute, bool *negate);
/* The bits of the nearest float16, ties to even. */
uint16_t agx_asm_half_bits(float value);

/* ---- one instruction (agx_asm_operand*.c, agx_asm_line.c) ---- */

struct agx_asm_line {
    const char *mnemonic; /* without .sat */
    bool saturate;
    const char *word[AGX_ASM_OPERANDS]; /* operands, trimmed */
    unsigned count;
};

/* An instruction being built for one form. */
struct agx_asm_build {
    const struct agx_asm_line *line;
    const struct agx_form *form;
    struct agx_inst inst;
    unsigned next;                        /* word that comes next */
    uint8_t run_count[AGX_ASM_OPERANDS];  /* registers given for operand i, where it is a run */
    uint8_t run_halves[AGX_ASM_OPERANDS]; /* 1 when they were halves */
    const char *label;                    /* branch target that is a name */
    char why[160];                        /* reason of the failure */
};

/* Reads operand `index` of the form from the next words; operands that may be left out take none. */
bool agx_asm_operand(struct agx_asm_build *build, unsigned index);
bool agx_asm_fail(struct agx_asm_build *build, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool agx_asm_set(struct agx_asm_build *build, enum agx_field_id id, uint32_t value);
/* Checks what depends on several operands: that masks and dimensions agree with the number of registers given. */
bool agx_asm_settle(struct agx_asm_build *build);

/* Assembles one line without label or directive. On failure `error->text` says why and `error->offset` at which operand (1 is
 * the first, 0 the name). `label` becomes the name of a branch target that must be filled in later (branch_bytes is 0 until
 * then), or NULL; it points into the storage of `line`. */
bool agx_asm_instruction(const struct agx_asm_line *line, struct agx_inst *inst, const char **label, struct isa_error *error);
/* Splits "name a, b" in place; false when there are too many operands. */
bool agx_asm_split(char *text, struct agx_asm_line *line);

/* ---- expansion of macros, repetitions and {expressions} (agx_asm_expand.c, agx_asm_expression.c) ---- */

struct agx_asm_text_line {
    char *text;           /* without comment and surrounding space, not empty */
    unsigned long number; /* line of the source */
    unsigned column;      /* where the text starts in that line */
};
struct agx_asm_text {
    struct agx_asm_text_line *lines;
    size_t count, room;
};
bool agx_asm_expand(const char *source, size_t size, struct agx_asm_text *out, struct isa_error *error);
void agx_asm_text_free(struct agx_asm_text *text);

/* How an expression finds the values of its names. */
struct agx_asm_names {
    bool (*find)(const void *context, const char *name, int64_t *value);
    const void *context;
};
/* Evaluates an integer expression. On failure `why` says what is wrong. */
bool agx_asm_expression(const char *text, const struct agx_asm_names *names, int64_t *value, const char **why);

#endif
