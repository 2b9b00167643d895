/* What the files of the disassembler and the assembler share. Inside isa/ane only. */
#ifndef ORCHARD_ISA_ANE_ANE_DISASM_PARTS_H
#define ORCHARD_ISA_ANE_ANE_DISASM_PARTS_H

#include "isa/ane/ane_text.h"

extern const char *const ane_container_names[3];

/* Comments about one task: what it computes, on what, with which coefficients. */
void ane_write_notes(const struct ane_program *program, size_t task, FILE *out);
/* "bar 5 "image"": a base register with the name of its port. */
void ane_write_bar(const struct ane_program *program, unsigned bar, FILE *out);

/* Fields that hold floating-point numbers: 16 or 32 bits, else 0. */
unsigned ane_field_float_bits(enum ane_field field);

#endif
