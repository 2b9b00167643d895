/* Floating-point environment of the simulated core: control, status, and the host's rounding mode while the core runs. */
#ifndef ORCHARD_UNITS_CPU_CPU_EXEC_FLOAT_H
#define ORCHARD_UNITS_CPU_CPU_EXEC_FLOAT_H

#include "units/cpu/cpu_exec.h"

enum {
    CPU_FPCR_AHP = 1 << 26,
    CPU_FPCR_DN = 1 << 25,
    CPU_FPCR_FZ = 1 << 24,
    CPU_FPCR_FZ16 = 1 << 19,
    CPU_FPCR_RMODE_SHIFT = 22, /* 0 nearest even, 1 up, 2 down, 3 toward zero */
    CPU_FPSR_QC = 1 << 27
};

void cpu_float_set_control(struct cpu_core *core, uint32_t fpcr);
/* Make the host's rounding mode that of the core, and restore it. */
void cpu_float_enter(struct cpu_core *core);
void cpu_float_leave(struct cpu_core *core);
/* Cumulative exceptions come from the host's flags, so they are as exact as the handlers' own arithmetic. */
uint32_t cpu_float_status(struct cpu_core *core);
void cpu_float_set_status(struct cpu_core *core, uint32_t fpsr);

#endif
