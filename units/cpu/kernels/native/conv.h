/* What the methods of conv2d share; for sources that are compiled for each type of elements. */
#ifndef ORCHARD_UNITS_CPU_KERNELS_NATIVE_CONV_H
#define ORCHARD_UNITS_CPU_KERNELS_NATIVE_CONV_H

#include "units/cpu/kernels/native/arguments.h"
#include "units/cpu/kernels/native/neon_function.h"

/* Panels: [group][panel of 8 channels][tap][channel of the group][8]; own: patches of 4 x 12 pixels,
 * [panel][tap][channel][12]. */

/* Adds the bias to `count` neighbours of a channel, applies the activation and stores them. */
static inline void finish_run(const struct conv *v, element *out, float *run, int64_t count, int64_t channel)
{
    const float bias = v->has_bias ? load1(v->bias + channel) : 0;
    for (int64_t i = 0; v->has_bias && i < count; i++)
        run[i] += bias;
    if (v->act >= 0)
        neon_function((uint64_t)v->act, run, run, run, count, 0);
    int64_t i = 0;
    for (; i + 4 <= count; i += 4)
        store4(out + i, vld1q_f32(run + i));
    for (; i < count; i++)
        store1(out + i, run[i]);
}

#endif
