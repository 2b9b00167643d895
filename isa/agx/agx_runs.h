/* Operands that are a run of registers: which ones the fields name. Shared by text and assembler. */
#ifndef ORCHARD_ISA_AGX_AGX_RUNS_H
#define ORCHARD_ISA_AGX_AGX_RUNS_H

#include "isa/agx/agx_table.h"

struct agx_run {
    enum agx_place place; /* HALF, WORD, UNIFORM_HALF, UNIFORM_WORD */
    unsigned first;       /* half index */
    unsigned count;       /* registers of that size; 0: the operand is not there */
};

/* False when the operand is of another kind, or is no run under these field values (an immediate, "None"). */
bool agx_operand_run(const struct agx_inst *inst, const struct agx_operand_row *row, struct agx_run *run);

/* Coordinates and extra halves (layer, sample) of a texture dimension; 0 for an unknown one. */
unsigned agx_dim_coords(uint32_t dim);
unsigned agx_dim_extra(uint32_t dim);

#endif
