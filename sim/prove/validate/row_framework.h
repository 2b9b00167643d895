/* Which version of a framework made the figures of a row. */
#ifndef ORCHARD_SIM_PROVE_VALIDATE_ROW_FRAMEWORK_H
#define ORCHARD_SIM_PROVE_VALIDATE_ROW_FRAMEWORK_H

#include "sim/prove/validate/row.h"

enum { FRAMEWORK_NAME_SIZE = 32 };

/* Behind the version of MLX on cores where the source timed the second of two calls in a process of its own. */
#define ROW_FRAMEWORK_ONCE ", one call"

/* "mlx 0.5.0, M1 Pro 16" or "torch-mps 2.2.1, M1 Pro 16" with the machine of the table, and on cores "mlx-cpu 0.5.0" or
 * "torch-cpu 2.2.1", for a row of TristanBilot/mlx-benchmark. A version that neither the row states nor the table of the source
 * lets infer becomes "mlx, version not stated". */
void row_framework(const struct validate_row *row, bool mlx, char name[FRAMEWORK_NAME_SIZE]);

/* Whose kernels the row has measured, whatever runs for it here: "mlx", "mps" (those that PyTorch and MPS call), "mfa", "ggml";
 * "-" for others. */
const char *row_framework_set(const struct validate_row *row);

#endif
