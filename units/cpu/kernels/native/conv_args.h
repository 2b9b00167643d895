/* Arguments of conv2d, and what every kernel finds by them. Who includes this has the type `element`. */
#ifndef ORCHARD_UNITS_CPU_KERNELS_NATIVE_CONV_ARGS_H
#define ORCHARD_UNITS_CPU_KERNELS_NATIVE_CONV_ARGS_H

#include <stdint.h>

/* ORDER: units/routines/arguments.c. */
struct conv {
    const element *x, *weights, *bias; /* of i8, bias and out are i32 */
    element *out;
    float *panels; /* of the weights, packed */
    char *own;     /* of each thread: what the taps of a block of pixels see */
    int64_t own_bytes;
    int64_t n, c, h, w, k, r, s, stride, pad, groups, dilation;
    int64_t has_bias, act; /* act: enum kernel_function, -1 = none */
    int64_t out_h, out_w, group_c, group_k;
    int64_t chunks; /* parts of the channels that are items of their own */
};

/* The thread's part of memory that each has of its own. */
static inline float *own_floats(char *own, int64_t own_bytes, uint64_t thread)
{
    return (float *)(void *)(own + thread * (uint64_t)own_bytes);
}

#endif
