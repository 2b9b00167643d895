/* Functions of one or two numbers as device code in float32, on registers: activations, exp, log, tanh ...
 *
 * The device has exp2, log2, rcp, rsqrt and half a sine. The other functions are built here so that errors stay small over the
 * whole range: products whose error exp2 would magnify are carried in two parts, and polynomials are used where differences
 * would cancel.
 *
 * Largest errors, u = 2^-24, provided that the device's own functions are correct to u (how exact they are is not published), for
 * results that float32 holds as normal numbers:
 *     exact               relu relu6 abs neg floor ceil round trunc max min
 *     u |f|               add sub mul square rcp rsqrt exp2 log2 leaky_relu (of the slope as float32)
 *     3 u |f|             exp sqrt div hard_sigmoid hard_swish
 *     4 u |f|             log
 *     8 u |f|             sigmoid silu tanh softplus softsign elu selu mish
 *     8 u |x|             gelu gelu_tanh
 *     8 u                 erf; sin and cos for |x| <= 8192
 *     (4 + 4 |y log2 x|) u |f|   pow (x >= 0; NaN for negative x)
 */
#ifndef ORCHARD_UNITS_GPU_KERNELS_GPU_MATH_H
#define ORCHARD_UNITS_GPU_KERNELS_GPU_MATH_H

#include "units/gpu/kernels/gpu_emit.h"
#include "units/kernel_function.h"

/* ORDER: as in enum kernel_function and the rows of gpu_math.c. */
enum gpu_math {
    GPU_MATH_RELU,
    GPU_MATH_RELU6,
    GPU_MATH_LEAKY_RELU,
    GPU_MATH_GELU,
    GPU_MATH_GELU_TANH,
    GPU_MATH_SILU,
    GPU_MATH_SIGMOID,
    GPU_MATH_TANH,
    GPU_MATH_ELU,
    GPU_MATH_SELU,
    GPU_MATH_SOFTPLUS,
    GPU_MATH_SOFTSIGN,
    GPU_MATH_MISH,
    GPU_MATH_HARD_SIGMOID,
    GPU_MATH_HARD_SWISH,
    GPU_MATH_EXP,
    GPU_MATH_EXP2,
    GPU_MATH_LOG,
    GPU_MATH_LOG2,
    GPU_MATH_SQRT,
    GPU_MATH_RSQRT,
    GPU_MATH_RCP,
    GPU_MATH_ABS,
    GPU_MATH_NEG,
    GPU_MATH_SQUARE,
    GPU_MATH_ERF,
    GPU_MATH_SIN,
    GPU_MATH_COS,
    GPU_MATH_FLOOR,
    GPU_MATH_CEIL,
    GPU_MATH_ROUND,
    GPU_MATH_TRUNC,
    GPU_MATH_ADD,
    GPU_MATH_SUB,
    GPU_MATH_MUL,
    GPU_MATH_DIV,
    GPU_MATH_MAX,
    GPU_MATH_MIN,
    GPU_MATH_POW,
    GPU_MATH_COUNT
};
#define GPU_MATH_WORDS KERNEL_FUNCTION_WORDS

bool gpu_math_is_binary(enum gpu_math function);
const char *gpu_math_name(enum gpu_math function);
/* x = f(x) or f(x, y). `alpha`: slope of leaky_relu, scale of elu; 0 = the usual value (0.01, 1). */
void gpu_math_emit(struct gpu_emit *e, enum gpu_math function, unsigned x, unsigned y, float alpha);

#endif
