/* Shared by the files of scalar and vector floating point, cpu_exec_fp*.c. */
#ifndef ORCHARD_UNITS_CPU_CPU_EXEC_FP_H
#define ORCHARD_UNITS_CPU_CPU_EXEC_FP_H

#include "units/cpu/cpu_exec_arith.h"
#include "units/cpu/cpu_exec_lanes.h"

/* The functions of one operation by element size (log2 bytes); there are none for bytes. */
#define CPU_FP_BY_SIZE(name)                                                                                                     \
    {                                                                                                                            \
        NULL, name##_16, name##_32, name##_64                                                                                    \
    }

/* Handlers by form; NULL when the file handles none. */
cpu_handler *cpu_fp_convert_handler_of(unsigned form);
cpu_handler *cpu_fp_special_handler_of(unsigned form);

static inline void cpu_set_scalar(struct cpu_core *core, unsigned reg, uint64_t bits)
{
    core->v[reg].u64[0] = bits;
    core->v[reg].u64[1] = 0;
}

static inline uint64_t cpu_scalar(const struct cpu_core *core, unsigned reg, unsigned size)
{
    return cpu_lane(&core->v[reg], size, 0);
}

#endif
