/* Names of registers, uniforms, arguments and constants in a program. */
#ifndef ORCHARD_ISA_AGX_AGX_ASM_NAMES_H
#define ORCHARD_ISA_AGX_AGX_ASM_NAMES_H

#include "isa/agx/agx_asm.h"
#include "isa/agx/agx_asm_parts.h"

enum { AGX_ASM_SCRATCH_BYTES = 2048 };

struct agx_asm_symbol {
    char name[AGX_ASM_NAME_BYTES];
    bool uniform, half;
    bool constant;         /* `first` counts from the start of the pool until the pool is placed */
    unsigned first, count; /* half index, registers of that size */
};

struct agx_asm_symbols {
    struct agx_asm_symbol *symbols;
    size_t count, room;
    struct agx_argument *arguments;
    size_t argument_room;
    unsigned argument_count, argument_bytes;
    unsigned uniform_end; /* one past the highest half that an argument or .uniform names */
    uint16_t constants[AGX_UNIFORM_HALVES];
    unsigned constant_halves, constant_first_half;
};

/* .reg, .half, .arg, .uniform and .const are read in a first pass, so that they may stand anywhere. */
bool agx_asm_is_declaration(const char *directive);
/* Reads a declaration; other directives are accepted and change nothing. */
bool agx_asm_declare(struct agx_asm_symbols *symbols, const char *line, char *why, size_t why_size);
/* Gives constants their uniforms, after those of the arguments. */
bool agx_asm_place_constants(struct agx_asm_symbols *symbols, char *why, size_t why_size);
/* Replaces a word that starts with a declared name (acc, acc[2], acc[0..3].neg) by registers. The new text goes to `scratch`,
 * of which `used` bytes are taken. Other words stay. */
bool agx_asm_symbol_word(const struct agx_asm_symbols *symbols, const char **word, char scratch[AGX_ASM_SCRATCH_BYTES],
                         size_t *used, char *why, size_t why_size);
void agx_asm_symbols_free(struct agx_asm_symbols *symbols);

#endif
