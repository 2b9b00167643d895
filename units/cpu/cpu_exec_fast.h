#ifndef ORCHARD_UNITS_CPU_CPU_EXEC_FAST_H
#define ORCHARD_UNITS_CPU_CPU_EXEC_FAST_H

#include "units/cpu/cpu_exec.h"

/* Runs the general handler of cpu_exec_fp.c for this instruction. */
void cpu_fp_general(struct cpu_core *core, const struct a64_insn *insn);

cpu_handler *cpu_fast_lookup_base(const struct a64_insn *insn);
cpu_handler *cpu_fast_lookup_avx2(const struct a64_insn *insn);

#endif
