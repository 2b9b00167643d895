/* What the readers of operands share. Each reader hands the kinds of operands that it does not know on to the next one. */
#ifndef ORCHARD_ISA_AGX_AGX_ASM_OPERAND_H
#define ORCHARD_ISA_AGX_AGX_ASM_OPERAND_H

#include "isa/agx/agx_asm_parts.h"

/* Operands of arithmetic (agx_asm_operand_alu.c), then runs of registers and operands of graphics (agx_asm_operand_graphics.c).
 */
bool agx_asm_alu_operand(struct agx_asm_build *build, unsigned index);
bool agx_asm_graphics_operand(struct agx_asm_build *build, unsigned index);

/* The next word, or NULL at the end of the line. Taking a word uses it up, and fails with "expected WHAT" when there is none. */
const char *agx_asm_peek(const struct agx_asm_build *build);
const char *agx_asm_take(struct agx_asm_build *build, const char *what);
/* Fails with "WORD: expected WHAT". */
bool agx_asm_wants(struct agx_asm_build *build, const char *word, const char *what);
/* Sets the two fields v and t of an operand. */
bool agx_asm_set_vt(struct agx_asm_build *build, const struct agx_operand_row *row, uint32_t v, uint32_t t);
/* True when the registers were written without modifiers. */
bool agx_asm_plain(const struct agx_asm_registers *registers);
bool agx_asm_all_digits(const char *word);
/* Takes a single register of this size and file, without modifiers. */
bool agx_asm_one_register(struct agx_asm_build *build, bool half, bool uniform, unsigned *first);

#endif
