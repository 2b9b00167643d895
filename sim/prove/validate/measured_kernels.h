/* Whose kernels a row has measured: the set of its framework, in the version of its table. */
#ifndef ORCHARD_SIM_PROVE_VALIDATE_MEASURED_KERNELS_H
#define ORCHARD_SIM_PROVE_VALIDATE_MEASURED_KERNELS_H

#include "sim/prove/validate/row.h"

/* Fills in the kernels of a launch whose workload is there, for `framework` as row_framework writes it. Where there are none as
 * MLX has them, or none that MPS is thought to have, the library's own stay. */
void validate_measured_kernels(const char *framework, struct validate_launch *launch);

#endif
