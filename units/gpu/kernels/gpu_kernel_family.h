/* Families of kernels: each file gpu_kernel_<family>.c defines one with its rows; gpu_kernels.c lists the families. */
#ifndef ORCHARD_UNITS_GPU_KERNELS_GPU_KERNEL_FAMILY_H
#define ORCHARD_UNITS_GPU_KERNELS_GPU_KERNEL_FAMILY_H

#include "units/gpu/kernels/gpu_emit.h"

struct gpu_kernel_family {
    const struct gpu_kernel_info *row;
    size_t count;
};

extern const struct gpu_kernel_family gpu_family_stream, gpu_family_gemm, gpu_family_gemv, gpu_family_attention;
extern const struct gpu_kernel_family gpu_family_elementwise, gpu_family_reduce, gpu_family_norm, gpu_family_conv;
extern const struct gpu_kernel_family gpu_family_pool, gpu_family_layout, gpu_family_sort, gpu_family_scan;

/* Limit on the elements of one buffer: 32-bit indices, and offsets that stay positive when read as signed. */
#define GPU_KERNEL_ELEMENTS_MAX INT64_C(0x7fffffff)

#endif
