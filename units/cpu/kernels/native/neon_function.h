/* One function over a block of float32 numbers, by its number in enum kernel_function. */
#ifndef ORCHARD_UNITS_CPU_KERNELS_NATIVE_NEON_FUNCTION_H
#define ORCHARD_UNITS_CPU_KERNELS_NATIVE_NEON_FUNCTION_H

#include <stdint.h>

/* to[i] = f(x[i]) or f(x[i], y[i]); arrays may be the same. alpha 0 = the usual value. */
void neon_function(uint64_t function, float *to, const float *x, const float *y, int64_t count, float alpha);

#endif
