/* Rounding and transcendental functions of the Apple GPU, float32 bits in and out.
 *
 * The hardware's exact bits are not published (rcp may be 1 ulp off, Mesa agx_compile.c). Here every function returns the
 * mathematical value correctly rounded, under the flush rule.
 */
#ifndef ORCHARD_UNITS_GPU_GPU_EXEC_FUNCTION_H
#define ORCHARD_UNITS_GPU_GPU_EXEC_FUNCTION_H

#include <stdint.h>

/* op: AGX_OP_FLOOR ... AGX_OP_EXP2. The argument has been flushed. */
uint32_t gpu_function(unsigned op, uint32_t bits);

#endif
