/* Copies operands into float32 panels: to[l * width + i] for i < used, zeros behind; for sources that are compiled for each type
 * of elements. `width` is a constant where these are called. */
#ifndef ORCHARD_UNITS_CPU_KERNELS_NATIVE_NEON_PACK_H
#define ORCHARD_UNITS_CPU_KERNELS_NATIVE_NEON_PACK_H

#include "units/cpu/kernels/native/neon.h"

/* Neighbours lie side by side: from[l * stride + i]. */
static inline void pack_across(float *to, const element *from, int64_t stride, int64_t used, int width, int64_t k)
{
    for (int64_t l = 0; l < k; l++, to += width, from += stride) {
        if (used == width) {
            for (int i = 0; i < width; i += 4)
                vst1q_f32(to + i, load4(from + i));
        } else {
            for (int i = 0; i < width; i++)
                to[i] = i < used ? load1(from + i) : 0;
        }
    }
}

/* Four vectors become the columns of a square. */
static inline void turn4(float *to, int width, float32x4_t r0, float32x4_t r1, float32x4_t r2, float32x4_t r3)
{
    const float32x4_t a = vzip1q_f32(r0, r2), b = vzip2q_f32(r0, r2), c = vzip1q_f32(r1, r3), d = vzip2q_f32(r1, r3);
    vst1q_f32(to, vzip1q_f32(a, c));
    vst1q_f32(to + width, vzip2q_f32(a, c));
    vst1q_f32(to + 2 * width, vzip1q_f32(b, d));
    vst1q_f32(to + 3 * width, vzip2q_f32(b, d));
}

/* Neighbours are a stride apart: from[i * stride + l]. */
static inline void pack_along(float *to, const element *from, int64_t stride, int64_t used, int width, int64_t k)
{
    int64_t l = 0;
    for (; used == width && l + 4 <= k; l += 4)
        for (int i = 0; i < width; i += 4) {
            const element *const at = from + i * stride + l;
            turn4(to + l * width + i, width, load4(at), load4(at + stride), load4(at + 2 * stride), load4(at + 3 * stride));
        }
    for (; l < k; l++)
        for (int i = 0; i < width; i++)
            to[l * width + i] = i < used ? load1(from + i * stride + l) : 0;
}

#endif
