/* Scores of all keys of a query in f32, four keys at a time. */
#ifndef ORCHARD_UNITS_CPU_KERNELS_NATIVE_ATTENTION_SCORES_H
#define ORCHARD_UNITS_CPU_KERNELS_NATIVE_ATTENTION_SCORES_H

#include "units/cpu/kernels/native/neon.h"
#include "units/cpu/kernels/native/neon_math.h"

enum { KEYS = 4, COLUMNS = 16 };

#define INLINE inline __attribute__((always_inline))

/* Where pages of a cache are: of 2^bits tokens each, KEYS at least, so that keys that are met together lie in one. */
struct paged {
    const uint32_t *page; /* its number among those of all texts, by its number in this one */
    int64_t bits;
};

/* Of a token. */
static INLINE int64_t row_in_pages(const struct paged *p, int64_t token)
{
    return ((int64_t)p->page[token >> p->bits] << p->bits) + (token & ((INT64_C(1) << p->bits) - 1));
}

/* Scores become powers; those behind the last key become zero. Returns one over their sum. */
static float soften(float *score, int64_t seen)
{
    float32x4_t most = four(score[0]), sum = four(0);
    for (int64_t j = seen; j % KEYS; j++)
        score[j] = -__builtin_inff();
    for (int64_t j = 0; j < seen; j += KEYS)
        most = vmaxq_f32(most, vld1q_f32(score + j));
    most = four(vmaxvq_f32(most));
    for (int64_t j = 0; j < seen; j += KEYS) {
        const float32x4_t power = exp4(vsubq_f32(vld1q_f32(score + j), most));
        sum = vaddq_f32(sum, power);
        vst1q_f32(score + j, power);
    }
    return 1 / vaddvq_f32(sum);
}

#endif
