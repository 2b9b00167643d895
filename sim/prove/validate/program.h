/* Builds the programs of rows, for all recognisers. */
#ifndef ORCHARD_SIM_PROVE_VALIDATE_PROGRAM_H
#define ORCHARD_SIM_PROVE_VALIDATE_PROGRAM_H

#include "isa/a64/a64_emit.h"
#include "sim/prove/validate/row.h"

/* Hands the code over to the program; false, with row->why, when memory is out. */
bool validate_take_code(struct validate_row *row, struct validate_program *program, struct emit *e);

/* The same in place of what was there, without a row. */
bool validate_replace_code(struct validate_program *program, struct emit *e);
/* A second program whose value is taken from this one's, for the same chip; NULL when memory is out. */
struct validate_program *validate_less(struct validate_program *program, double times);

/* Builds an endless rotation of one AMX instruction over n operands in registers, without loads or stores; like perf_kernels.py
 * of corsix/amx it has at least eight words per turn. work = instructions x per_instruction. */
bool validate_build_amx_loop(struct validate_row *row, struct validate_program *program, unsigned op, const uint64_t *operands,
                             unsigned n, double per_instruction);

/* A bijection of [0, 2^bits) that scatters neighbours, for the order of pointer chases. */
uint64_t validate_scatter(uint64_t i, unsigned bits);

#endif
