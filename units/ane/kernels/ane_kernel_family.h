/* Families of kernels: each file ane_kernel_<family>.c defines one with its rows; ane_kernels.c lists the families. */
#ifndef ORCHARD_UNITS_ANE_KERNELS_ANE_KERNEL_FAMILY_H
#define ORCHARD_UNITS_ANE_KERNELS_ANE_KERNEL_FAMILY_H

#include "units/ane/kernels/ane_build.h"

struct ane_kernel_family {
    const struct ane_kernel_info *row;
    size_t count;
};

extern const struct ane_kernel_family ane_family_conv, ane_family_stack, ane_family_gemm, ane_family_elementwise, ane_family_norm;
extern const struct ane_kernel_family ane_family_plane, ane_family_pool, ane_family_layout, ane_family_attention,
    ane_family_reduce;

#endif
