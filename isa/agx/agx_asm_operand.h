/* Shared by the readers of operands. */
#ifndef ORCHARD_ISA_AGX_AGX_ASM_OPERAND_H
#define ORCHARD_ISA_AGX_AGX_ASM_OPERAND_H

#include "isa/agx/agx_asm_parts.h"

/* The next word, NULL at the end; taking uses it up and complains when there is none. */
const char *agx_asm_peek(const struct agx_asm_build *build);
const char *agx_asm_take(struct agx_asm_build *build, const char *what);
/* Fails with "WORD: expected WHAT". */
bool agx_asm_wants(struct agx_asm_build *build, const char *word, const char *what);
bool agx_asm_set_vt(struct agx_asm_build *build, const struct agx_operand_row *row, uint32_t v, uint32_t t);
/* No modifiers were given. */
bool agx_asm_plain(const struct agx_asm_registers *registers);
bool agx_asm_all_digits(const char *word);
/* A single register without modifiers. */
bool agx_asm_one_register(struct agx_asm_build *build, bool half, bool uniform, unsigned *first);
bool agx_asm_graphics_operand(struct agx_asm_build *build, unsigned index);

#endif
