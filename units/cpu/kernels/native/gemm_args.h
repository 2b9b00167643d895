/* Arguments of products. Who includes this has defined operand, packed and result: types of a and b as stored, in panels, and of
 * c. */
#ifndef ORCHARD_UNITS_CPU_KERNELS_NATIVE_GEMM_ARGS_H
#define ORCHARD_UNITS_CPU_KERNELS_NATIVE_GEMM_ARGS_H

#include <stdint.h>

/* ORDER: cpu_kernel_gemm.c. */
struct gemm {
    const operand *a, *b;
    result *c;
    packed *panels;    /* of b: [batch][panel][step][COLUMNS][GROUP] */
    char *own;         /* of each thread: a block of a */
    int64_t own_bytes; /* from one thread to the next */
    int64_t m, n, k, batch, ta, tb;
    double alpha, beta;
    int64_t by_columns; /* items are panels of columns, else panels of rows */
};

#endif
