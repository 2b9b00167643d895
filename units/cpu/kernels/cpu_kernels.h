/* The NEON library of CPU cores: kernels as rows (units/routines/routine.h), and their code, which was compiled for AArch64
 * ahead. Sources are in native/; they also build on a Mac. */
#ifndef ORCHARD_UNITS_CPU_KERNELS_CPU_KERNELS_H
#define ORCHARD_UNITS_CPU_KERNELS_CPU_KERNELS_H

#include "units/routines/operations.h"

extern const struct routine_library cpu_kernels;

/* An object file with all functions that calls name, and CPU_KERNELS_ENTRY, which runs the calls of a kernel on threads. */
#define CPU_KERNELS_ENTRY "neon_run"
const void *cpu_kernels_code(size_t *bytes);

#endif
