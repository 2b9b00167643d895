#define FAST_LOOKUP cpu_fast_lookup_base
#include "units/cpu/cpu_exec_fast_body.h"

void cpu_fp_general(struct cpu_core *core, const struct a64_insn *insn)
{
    cpu_fp_handler_of(insn)(core, insn);
}

cpu_handler *cpu_fast_handler_of(const struct a64_insn *insn)
{
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return cpu_fast_lookup_avx2(insn);
#endif
    return cpu_fast_lookup_base(insn);
}
