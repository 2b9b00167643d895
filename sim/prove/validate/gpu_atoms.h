/* AGX instructions for the operations that published GPU tables name; used by the recogniser of GPU rows. */
#ifndef ORCHARD_SIM_PROVE_VALIDATE_GPU_ATOMS_H
#define ORCHARD_SIM_PROVE_VALIDATE_GPU_ATOMS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define GPU_ATOM_CHAINS    12 /* independent chains: registers r4 .. r15 */
#define GPU_ATOM_FIRST     4
#define GPU_ATOM_TEMPORARY 16

/* Finds the template of an operation; `category` is as in the table ("fp", "int", "mix", "simd", "quad"). NULL when its
 * instructions are not known. */
const char *gpu_atom_find(const char *category, const char *name, size_t length);
/* Writes its instructions for chain `number` modulo `chains`. */
void gpu_atom_write(FILE *out, const char *text, unsigned number, unsigned chains);
unsigned gpu_atom_instructions(const char *text);

#endif
