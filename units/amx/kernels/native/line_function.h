/* Functions of variable 0 in place, each a function without further state: other variables are scratch. */
#ifndef ORCHARD_UNITS_AMX_KERNELS_NATIVE_LINE_FUNCTION_H
#define ORCHARD_UNITS_AMX_KERNELS_NATIVE_LINE_FUNCTION_H

#include "units/amx/kernels/native/line.h"

/* function: enum kernel_function. Functions of two numbers take the second one from variable 1. alpha: slope of leaky_relu. */
void line_function(uint64_t function, const float *alpha);
/* Variable 0 = e^it; variables 8 to 15 are kept. */
void line_exp(void);

#endif
