#ifndef ORCHARD_UNITS_CPU_CPU_EXEC_VECTOR_H
#define ORCHARD_UNITS_CPU_CPU_EXEC_VECTOR_H

#include "units/cpu/cpu_exec.h"

cpu_handler *cpu_permute_handler_of(const struct a64_insn *insn); /* moves, permutes, logic: cpu_exec_permute.c */
cpu_handler *cpu_matrix_handler_of(const struct a64_insn *insn);  /* I8MM and BF16: cpu_exec_matrix.c */
cpu_handler *cpu_crypto_handler_of(const struct a64_insn *insn);  /* AES, SHA, polynomials: cpu_exec_crypto.c */

#endif
