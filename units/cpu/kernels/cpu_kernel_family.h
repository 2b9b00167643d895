/* Rows of the library, by family: a new one needs its line here. */
#ifndef ORCHARD_UNITS_CPU_KERNELS_CPU_KERNEL_FAMILY_H
#define ORCHARD_UNITS_CPU_KERNELS_CPU_KERNEL_FAMILY_H

#include "units/cpu/kernels/cpu_kernels.h"
#include "units/routines/arguments.h"

/* Rows in memory are padded to the sixteen lanes of native/rows.c. */
extern const struct arguments_unit cpu_kernel_neon;

/* clang-format off */
#define CPU_KERNELS(X) \
    X(gemm) \
    X(gemv) \
    X(attention) \
    X(cache_attention) \
    X(rope) \
    X(conv2d) \
    X(elementwise) \
    X(reduce) \
    X(scan) \
    X(sort) \
    X(softmax) \
    X(layernorm) \
    X(rmsnorm) \
    X(groupnorm) \
    X(batchnorm) \
    X(pool) \
    X(globalpool) \
    X(resize) \
    X(transpose) \
    X(concat) \
    X(gather) \
    X(embedding) \
    X(quantise) \
    X(convert) \
    X(topk) \
    X(nms) \
    X(integer) \
    X(compare) \
    X(select) \
    X(cast) \
    X(pad) \
    X(slice) \
    X(broadcast)
/* clang-format on */

#define X(kernel) extern const struct routine cpu_kernel_##kernel;
CPU_KERNELS(X)
#undef X

#endif
