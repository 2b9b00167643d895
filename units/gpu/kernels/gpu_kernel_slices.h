/* Requests whose operands one launch does not reach, as several launches. */
#ifndef ORCHARD_UNITS_GPU_KERNELS_GPU_KERNEL_SLICES_H
#define ORCHARD_UNITS_GPU_KERNELS_GPU_KERNEL_SLICES_H

#include "units/gpu/kernels/gpu_kernels.h"

/* Builds a request that was refused because of its size, cut along its outermost parameter. False when that is no help: *error is
 * then set only when slices would do but are too many. */
bool gpu_kernel_build_slices(const struct gpu_kernel_request *request, struct gpu_kernel *kernel, struct isa_error *error);

#endif
