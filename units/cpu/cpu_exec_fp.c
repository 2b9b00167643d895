#include "units/cpu/cpu_exec.h"
cpu_handler *cpu_fp_handler_of(const struct a64_insn *insn) { (void)insn; return NULL; }
cpu_handler *cpu_vector_handler_of(const struct a64_insn *insn) { (void)insn; return NULL; }
