/* The product of two matrices in double, which several operators share. */
#ifndef ORCHARD_SIM_NETWORK_OPERATORS_MATMUL_H
#define ORCHARD_SIM_NETWORK_OPERATORS_MATMUL_H

#include <stddef.h>
#include <stdint.h>

/* c[m][n] += a[m][k] b[k][n]; the rows of b and c have no gaps, a is read with strides. */
void net_product_add(const double *a, int64_t row_stride, int64_t column_stride, const double *b, double *c, int64_t m, int64_t n,
                     int64_t k);

#endif
