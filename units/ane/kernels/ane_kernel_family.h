/* Families of kernels: each file ane_kernel_<family>.c defines one with its rows, and is named here. */
#ifndef ORCHARD_UNITS_ANE_KERNELS_ANE_KERNEL_FAMILY_H
#define ORCHARD_UNITS_ANE_KERNELS_ANE_KERNEL_FAMILY_H

#include "units/ane/kernels/ane_build.h"

struct ane_kernel_family {
    const struct ane_kernel_info *row;
    size_t count;
};

/* In the order of lists and of the search for a name. */
/* clang-format off */
#define ANE_KERNEL_FAMILIES(X) \
    X(conv) \
    X(stack) \
    X(gemm) \
    X(elementwise) \
    X(norm) \
    X(plane) \
    X(pool) \
    X(layout) \
    X(attention) \
    X(reduce)
/* clang-format on */

#define X(family) extern const struct ane_kernel_family ane_family_##family;
ANE_KERNEL_FAMILIES(X)
#undef X

#endif
