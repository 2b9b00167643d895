/* The functions that objects usually need from a C library (native/runtime.c), as an AArch64 object that was compiled ahead. All
 * its names are weak. */
#ifndef ORCHARD_SIM_WORKLOAD_CPU_PROGRAM_RUNTIME_H
#define ORCHARD_SIM_WORKLOAD_CPU_PROGRAM_RUNTIME_H

#include <stddef.h>

const void *program_runtime(size_t *bytes);

#endif
