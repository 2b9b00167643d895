/* Lists of arguments that kernels of an operation take, whatever unit of a core they are written for; for sources that are
 * compiled for each type of elements. ORDER: units/routines/arguments.c, which writes them. */
#ifndef ORCHARD_UNITS_CPU_KERNELS_NATIVE_ARGUMENTS_H
#define ORCHARD_UNITS_CPU_KERNELS_NATIVE_ARGUMENTS_H

#include "units/cpu/kernels/native/neon.h"

#include "units/cpu/kernels/native/conv_args.h"

struct attention {
    const element *q, *k, *v;
    element *out;
    float *keys;   /* packed: [b * kvh][panel of keys][d][key of the panel] */
    float *values; /* [b * kvh][panel of d][s][column of the panel] */
    char *own;     /* of each thread */
    int64_t own_bytes, heads, kv_heads, length, depth, causal;
    double scale;
};

struct softmax {
    const element *x;
    element *out;
    char *own; /* of each thread: a row, padded to whole vectors or variables */
    int64_t own_bytes, columns, log;
};

struct norm {
    const element *x;
    element *out;
    const element *gamma, *beta;
    char *own;
    int64_t own_bytes, columns;
    int64_t has_gamma, has_beta, centred;
    int64_t by_run, each, parameters; /* by_run: an element's parameter is number element / each % parameters; else by column */
    double eps;
};

struct batchnorm {
    const element *x;
    element *out;
    const element *mean, *variance, *gamma, *beta;
    int64_t pixels, channels;
    double eps;
};

/* The row as float32, `fill` behind its end up to whole groups of `lanes`. */
static inline void take_row(float *to, const element *x, int64_t count, int64_t lanes, float fill)
{
    int64_t i = 0;
    for (; i + 4 <= count; i += 4)
        vst1q_f32(to + i, load4(x + i));
    for (; i < count; i++)
        to[i] = load1(x + i);
    for (; i % lanes; i++)
        to[i] = fill;
}

#endif
