/* Operands that are a run of registers: which registers the fields name. Text and assembler share this. */
#ifndef ORCHARD_ISA_AGX_AGX_RUNS_H
#define ORCHARD_ISA_AGX_AGX_RUNS_H

#include "isa/agx/agx_table.h"

struct agx_run {
    enum agx_place place; /* HALF, WORD, UNIFORM_HALF, UNIFORM_WORD */
    unsigned first;       /* half index */
    unsigned count;       /* registers of that size; 0 when the operand is not present */
};

/* The registers of an operand; false when it is of another kind, or no run under these field values (an immediate, "None"). */
bool agx_operand_run(const struct agx_inst *inst, const struct agx_operand_row *row, struct agx_run *run);

/* The coordinates and the extra halves (layer, sample) of a texture dimension; 0 for an unknown dimension. */
unsigned agx_dim_coords(uint32_t dim);
unsigned agx_dim_extra(uint32_t dim);

#endif
