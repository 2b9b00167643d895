/* Writes a kernel and its launch as a folder that abi_kernel_open reads: code.bin, abi.json, and in_NAME.bin for buffers whose
 * start contents are bytes. */
#ifndef ORCHARD_SIM_WORKLOAD_GPU_ABI_WRITE_H
#define ORCHARD_SIM_WORKLOAD_GPU_ABI_WRITE_H

#include "sim/workload/gpu/abi_kernel.h"

struct json_object;

/* Makes the folder when it is not there. `more` has further members for the description, or is NULL; it stays the caller's.
 * Expected contents are not written. */
bool abi_write(const struct abi_kernel *kernel, struct json_object *more, const char *folder, struct orch_error *error);

#endif
