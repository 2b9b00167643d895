/* What follows a product of signed bytes: each column's bias and scale, the nearest whole number, a zero point, a byte again. */
#include "units/cpu/kernels/native/neon.h"

/* ORDER: amx_kernel_gemm.c. */
struct requantise {
    const int32_t *sums, *bias;
    const float *scale;
    int8_t *out;
    int64_t n, zero, least; /* least: the smallest result */
};
void amx_requantise(const struct requantise *q, uint64_t first, uint64_t end, uint64_t thread);

static inline int32x4_t scaled4(const struct requantise *q, const int32_t *sums, int64_t j)
{
    const float32x4_t sum = vcvtq_f32_s32(vaddq_s32(vld1q_s32(sums + j), vld1q_s32(q->bias + j)));
    return vcvtnq_s32_f32(vmulq_f32(sum, vld1q_f32(q->scale + j)));
}

/* Limits what does not fit, first to 16 bits, so that adding the zero point does not wrap. */
static inline int8x8_t bytes8(const struct requantise *q, int32x4_t low, int32x4_t high)
{
    const int16x8_t both = vcombine_s16(vqmovn_s32(low), vqmovn_s32(high));
    const int16x8_t moved = vqaddq_s16(both, vdupq_n_s16((int16_t)q->zero));
    return vqmovn_s16(vmaxq_s16(moved, vdupq_n_s16((int16_t)q->least)));
}

static inline int8_t byte1(const struct requantise *q, int32_t sum, int64_t j)
{
    const float scaled = (float)(sum + q->bias[j]) * q->scale[j];
    const int8x8_t bytes = bytes8(q, vcvtnq_s32_f32(vdupq_n_f32(scaled)), vdupq_n_s32(0));
    return vget_lane_s8(bytes, 0);
}

/* Items are rows. */
void amx_requantise(const struct requantise *q, uint64_t first, uint64_t end, uint64_t thread)
{
    (void)thread;
    for (int64_t row = (int64_t)first; row < (int64_t)end; row++) {
        const int32_t *const sums = q->sums + row * q->n;
        int8_t *const out = q->out + row * q->n;
        int64_t j = 0;
        for (; j + 8 <= q->n; j += 8)
            vst1_s8(out + j, bytes8(q, scaled4(q, sums, j), scaled4(q, sums, j + 4)));
        for (; j < q->n; j++)
            out[j] = byte1(q, sums[j], j);
    }
}
