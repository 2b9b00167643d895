/* Writes a program of the Neural Engine as a file that ane_workload_open_file reads. */
#ifndef ORCHARD_SIM_WORKLOAD_ANE_ANE_SAVE_H
#define ORCHARD_SIM_WORKLOAD_ANE_ANE_SAVE_H

#include "isa/ane/ane_program.h"
#include "sim/base/error.h"

/* A name that ends in .hwx gets the container of Apple's compiler, another one bare descriptors with coefficients behind;
 * descriptors, coefficients and ports are the same in both. */
bool ane_save(const struct ane_program *program, const char *path, struct orch_error *error);

#endif
