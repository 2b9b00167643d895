/* The AMX library's kernels that are rows (units/routines/routine.h), and their code, which was compiled for AArch64 ahead. Their
 * sources are in native/. Products of one core (gemm.h) have a way of their own, in-process. */
#ifndef ORCHARD_UNITS_AMX_KERNELS_AMX_KERNELS_H
#define ORCHARD_UNITS_AMX_KERNELS_AMX_KERNELS_H

#include "units/routines/arguments.h"

extern const struct routine_library amx_kernels;
/* Products that several cores share: gemm. */
extern const struct routine_library amx_products;

/* An object file with all functions that calls name, and AMX_KERNELS_ENTRY, which runs the calls of a kernel. */
#define AMX_KERNELS_ENTRY "neon_run"
const void *amx_kernels_code(size_t *bytes);

/* Rows in memory are padded to variables of native/line.h. */
extern const struct arguments_unit amx_kernel_block;

/* Functions of elements that the block has: those without division, roots and logarithms. */
#define AMX_KERNEL_FUNCTIONS                                                                                                     \
    "relu relu6 leaky_relu gelu gelu_tanh silu sigmoid tanh hard_sigmoid hard_swish exp abs neg square add sub mul max min"
bool amx_kernel_function(enum kernel_function function);

/* Rows, by family: a new one needs its line here. */
/* clang-format off */
#define AMX_KERNELS(X) \
    X(elementwise) \
    X(softmax) \
    X(layernorm) \
    X(rmsnorm) \
    X(groupnorm) \
    X(batchnorm) \
    X(conv2d) \
    X(qgemm) \
    X(feedforward) \
    X(attention) \
    X(mha)
/* clang-format on */

#define X(kernel) extern const struct routine amx_kernel_##kernel;
AMX_KERNELS(X)
X(gemm)
#undef X

#endif
