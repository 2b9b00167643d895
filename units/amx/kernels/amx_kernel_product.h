/* Products among the calls of a kernel, shared by several cores: native/products.c. */
#ifndef ORCHARD_UNITS_AMX_KERNELS_AMX_KERNEL_PRODUCT_H
#define ORCHARD_UNITS_AMX_KERNELS_AMX_KERNEL_PRODUCT_H

#include "units/amx/kernels/amx_kernels.h"
#include "units/amx/kernels/gemm.h"

struct amx_kernel_product {
    enum gemm_kind kind;
    int64_t m, n, k, batch;
    bool ta, tb, one_a; /* one_a: all matrices of the batch are multiplied by the same a */
    double alpha, beta;
    unsigned a, b, result, own; /* operands; own: panels of each thread, 0 = memory of its own */
};
/* Adds the call, and the memory if it has none. */
bool amx_kernel_add_product(const struct routine_request *request, struct routine_work *work, struct amx_kernel_product *product,
                            struct isa_error *error);

#endif
