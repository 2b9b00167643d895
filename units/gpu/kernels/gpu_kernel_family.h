/* Families of kernels: each file gpu_kernel_<family>.c defines one with its rows, and is named here. */
#ifndef ORCHARD_UNITS_GPU_KERNELS_GPU_KERNEL_FAMILY_H
#define ORCHARD_UNITS_GPU_KERNELS_GPU_KERNEL_FAMILY_H

#include "units/gpu/kernels/gpu_emit.h"

struct gpu_kernel_family {
    const struct gpu_kernel_info *row;
    size_t count;
};

/* In the order of lists and of the search for a name. */
/* clang-format off */
#define GPU_KERNEL_FAMILIES(X) \
    X(stream) \
    X(gemm) \
    X(gemv) \
    X(attention) \
    X(elementwise) \
    X(reduce) \
    X(norm) \
    X(conv) \
    X(pool) \
    X(layout) \
    X(sort) \
    X(scan)
/* clang-format on */

#define X(family) extern const struct gpu_kernel_family gpu_family_##family;
GPU_KERNEL_FAMILIES(X)
#undef X

/* Limit on the elements of one buffer: 32-bit indices, and offsets that stay positive when read as signed. */
#define GPU_KERNEL_ELEMENTS_MAX INT64_C(0x7fffffff)

#endif
