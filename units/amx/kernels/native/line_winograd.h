/* Winograd's transforms for 3 taps in a row: sides of 2, 4 and 6 results, which see 4, 6 and 8 elements. The points are 0, 1, -1,
 * 2, -2, 1/2, -1/2 and infinity, as many of them as are needed (Lavin and Gray, arXiv:1509.09308; their F(6) has the same ones).
 * `side` is a constant wherever these are used. */
#ifndef ORCHARD_UNITS_AMX_KERNELS_NATIVE_LINE_WINOGRAD_H
#define ORCHARD_UNITS_AMX_KERNELS_NATIVE_LINE_WINOGRAD_H

#include "units/amx/kernels/native/line.h"

#include <arm_neon.h>

enum { MOST_SIDE = 6, MOST_SEEN = MOST_SIDE + 2 };

/* B^T d */
LINE_INLINE void winograd_image(const int side, const float32x4_t d[MOST_SEEN], float32x4_t to[MOST_SEEN])
{
    if (side == 2) {
        to[0] = vsubq_f32(d[0], d[2]);
        to[1] = vaddq_f32(d[1], d[2]);
        to[2] = vsubq_f32(d[2], d[1]);
        to[3] = vsubq_f32(d[1], d[3]);
    } else if (side == 4) {
        const float32x4_t even = vfmsq_n_f32(d[4], d[2], 4), odd = vfmsq_n_f32(d[3], d[1], 4);
        const float32x4_t near = vsubq_f32(d[4], d[2]), twice = vmulq_n_f32(vsubq_f32(d[3], d[1]), 2);
        to[0] = vfmaq_n_f32(vfmsq_n_f32(d[4], d[2], 5), d[0], 4);
        to[1] = vaddq_f32(even, odd);
        to[2] = vsubq_f32(even, odd);
        to[3] = vaddq_f32(near, twice);
        to[4] = vsubq_f32(near, twice);
        to[5] = vfmaq_n_f32(vfmsq_n_f32(d[5], d[3], 5), d[1], 4);
    } else {
        const float32x4_t ones = vfmsq_n_f32(vaddq_f32(d[2], d[6]), d[4], 4.25F);
        const float32x4_t one = vfmsq_n_f32(vaddq_f32(d[1], d[5]), d[3], 4.25F);
        const float32x4_t twos = vfmsq_n_f32(vfmaq_n_f32(d[6], d[2], 0.25F), d[4], 1.25F);
        const float32x4_t two = vfmsq_n_f32(vfmaq_n_f32(vmulq_n_f32(d[5], 2), d[1], 0.5F), d[3], 2.5F);
        const float32x4_t halves = vfmsq_n_f32(vfmaq_n_f32(d[6], d[2], 4), d[4], 5);
        const float32x4_t half = vfmsq_n_f32(vfmaq_n_f32(vmulq_n_f32(d[5], 0.5F), d[1], 2), d[3], 2.5F);
        to[0] = vfmaq_n_f32(vsubq_f32(d[0], d[6]), vsubq_f32(d[4], d[2]), 5.25F);
        to[1] = vaddq_f32(ones, one);
        to[2] = vsubq_f32(ones, one);
        to[3] = vaddq_f32(twos, two);
        to[4] = vsubq_f32(twos, two);
        to[5] = vaddq_f32(halves, half);
        to[6] = vsubq_f32(halves, half);
        to[7] = vfmaq_n_f32(vsubq_f32(d[7], d[1]), vsubq_f32(d[3], d[5]), 5.25F);
    }
}

/* G g */
LINE_INLINE void winograd_weights(const int side, const float32x4_t g[3], float32x4_t to[MOST_SEEN])
{
    const float first = side == 2 ? 0.5F : side == 4 ? -1 / 6.0F : -2 / 9.0F, second = side == 4 ? 1 / 24.0F : 1 / 90.0F;
    const float32x4_t ends = vaddq_f32(g[0], g[2]), middle = vaddq_f32(g[1], g[1]);
    const float32x4_t far = vfmaq_n_f32(g[0], g[2], 4), near = vfmaq_n_f32(g[2], g[0], 4);
    to[0] = side == 4 ? vmulq_n_f32(g[0], 0.25F) : g[0];
    to[1] = vmulq_n_f32(vaddq_f32(ends, g[1]), first);
    to[2] = vmulq_n_f32(vsubq_f32(ends, g[1]), first);
    if (side > 2) {
        to[3] = vmulq_n_f32(vaddq_f32(far, middle), second);
        to[4] = vmulq_n_f32(vsubq_f32(far, middle), second);
    }
    if (side > 4) {
        to[5] = vmulq_n_f32(vaddq_f32(near, middle), 8 / 45.0F);
        to[6] = vmulq_n_f32(vsubq_f32(near, middle), 8 / 45.0F);
    }
    to[side + 1] = g[2];
}

/* A^T m */
LINE_INLINE void winograd_results(const int side, const float32x4_t m[MOST_SEEN], float32x4_t to[MOST_SIDE])
{
    const float32x4_t ones = vaddq_f32(m[1], m[2]), one = vsubq_f32(m[1], m[2]);
    if (side == 2) {
        to[0] = vaddq_f32(m[0], ones);
        to[1] = vsubq_f32(one, m[3]);
        return;
    }
    const float32x4_t twos = vaddq_f32(m[3], m[4]), two = vsubq_f32(m[3], m[4]);
    to[0] = vaddq_f32(vaddq_f32(m[0], ones), twos);
    to[1] = vfmaq_n_f32(one, two, 2);
    to[2] = vfmaq_n_f32(ones, twos, 4);
    to[3] = vfmaq_n_f32(one, two, 8);
    if (side == 4) {
        to[3] = vaddq_f32(to[3], m[5]);
        return;
    }
    const float32x4_t halves = vaddq_f32(m[5], m[6]), half = vsubq_f32(m[5], m[6]);
    to[0] = vaddq_f32(to[0], halves);
    to[1] = vfmaq_n_f32(to[1], half, 1 / 2.0F);
    to[2] = vfmaq_n_f32(to[2], halves, 1 / 4.0F);
    to[3] = vfmaq_n_f32(to[3], half, 1 / 8.0F);
    to[4] = vfmaq_n_f32(vfmaq_n_f32(ones, twos, 16), halves, 1 / 16.0F);
    to[5] = vaddq_f32(vfmaq_n_f32(vfmaq_n_f32(one, two, 32), half, 1 / 32.0F), m[7]);
}

#endif
