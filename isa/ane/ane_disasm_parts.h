/* What the disassembler and the assembler share. Inside isa/ane only. */
#ifndef ORCHARD_ISA_ANE_ANE_DISASM_PARTS_H
#define ORCHARD_ISA_ANE_ANE_DISASM_PARTS_H

#include "isa/ane/ane_text.h"

extern const char *const ane_container_names[3];

/* Writes comments about one task: what it computes, from what, and with which coefficients. */
void ane_write_notes(const struct ane_program *program, size_t task, FILE *out);

/* The width of a field that holds a floating-point number, 16 or 32 bits; 0 for other fields. */
unsigned ane_field_float_bits(enum ane_field field);

#endif
