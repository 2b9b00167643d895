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
    X(cache) \
    X(elementwise) \
    X(reduce) \
    X(norm) \
    X(conv) \
    X(pool) \
    X(layout) \
    X(embedding) \
    X(quantise) \
    X(convert) \
    X(topk) \
    X(integer) \
    X(cast) \
    X(sort) \
    X(scan) \
    X(lattice)
/* clang-format on */

#define X(family) extern const struct gpu_kernel_family gpu_family_##family;
GPU_KERNEL_FAMILIES(X)
#undef X

/* The most elements that one launch reaches with 32-bit indices that stay positive when read as signed. Larger operands are moved
 * in 64 bits (gpu_far_add) or taken by several launches. */
#define GPU_KERNEL_ELEMENTS_MAX INT64_C(0x7fffffff)
/* The most elements of one operand: more than any memory holds, and counts of bytes stay far from 2^63. */
#define GPU_KERNEL_COUNT_MAX (UINT64_C(1) << 44)
/* a * b * c; UINT64_MAX when that is above the limit. */
static inline uint64_t gpu_kernel_count_of(uint64_t a, uint64_t b, uint64_t c)
{
    const bool small = a <= GPU_KERNEL_COUNT_MAX && (a == 0 || b <= GPU_KERNEL_COUNT_MAX / a);
    const uint64_t both = small ? a * b : UINT64_MAX;
    return small && (both == 0 || c <= GPU_KERNEL_COUNT_MAX / both) ? both * c : UINT64_MAX;
}
/* The most rows of one launch: 32 threads each, which a grid counts in 32 bits. */
#define GPU_KERNEL_ROWS_MAX ((UINT64_C(1) << 27) - 16)

#endif
