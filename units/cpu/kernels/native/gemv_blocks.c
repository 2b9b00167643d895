/* y = a x, a in blocks of small integers: signed bytes with 32-bit sums, and the blocks of GGUF files (ggml: q4_0, q8_0, q4_K),
 * whose weights are widened to float32. */
#include "units/cpu/kernels/native/neon.h"
#include "units/cpu/kernels/native/neon_math.h"

/* ORDER: cpu_kernel_gemv.c. */
struct gemv {
    const uint8_t *a;
    const void *x;
    void *y;
    int64_t m, n;
};
void neon_gemv_i8(const struct gemv *g, uint64_t first, uint64_t end, uint64_t thread);
void neon_gemv_q4_0(const struct gemv *g, uint64_t first, uint64_t end, uint64_t thread);
void neon_gemv_q8_0(const struct gemv *g, uint64_t first, uint64_t end, uint64_t thread);
void neon_gemv_q4_k(const struct gemv *g, uint64_t first, uint64_t end, uint64_t thread);
void neon_gemv_q6_k(const struct gemv *g, uint64_t first, uint64_t end, uint64_t thread);

enum { ROWS = 4 };

void neon_gemv_i8(const struct gemv *g, uint64_t first, uint64_t end, uint64_t thread)
{
    const int8_t *const x = g->x;
    (void)thread;
    for (uint64_t group = first; group < end; group++) {
        const int64_t row = (int64_t)group * ROWS;
        const int8_t *a[ROWS];
        int32x4_t sum[ROWS];
        int32_t rest[ROWS] = {0, 0, 0, 0};
        int64_t j = 0;
        for (int i = 0; i < ROWS; i++) {
            a[i] = (const int8_t *)g->a + least(row + i, g->m - 1) * g->n;
            sum[i] = vdupq_n_s32(0);
        }
        for (; j + 16 <= g->n; j += 16) {
            const int8x16_t v = vld1q_s8(x + j);
            for (int i = 0; i < ROWS; i++)
                sum[i] = vdotq_s32(sum[i], vld1q_s8(a[i] + j), v);
        }
        for (; j < g->n; j++)
            for (int i = 0; i < ROWS; i++)
                rest[i] += a[i][j] * x[j];
        for (int i = 0; i < ROWS && row + i < g->m; i++)
            ((int32_t *)g->y)[row + i] = vaddvq_s32(sum[i]) + rest[i];
    }
}

static inline float half_at(const uint8_t *at)
{
    __fp16 half;
    __builtin_memcpy(&half, at, sizeof half);
    return half;
}

/* sum += sixteen signed bytes times x. */
static inline void add16(float32x4_t sum[4], int8x16_t w, const float *x)
{
    const int16x8_t low = vmovl_s8(vget_low_s8(w)), high = vmovl_high_s8(w);
    sum[0] = vfmaq_f32(sum[0], vcvtq_f32_s32(vmovl_s16(vget_low_s16(low))), vld1q_f32(x));
    sum[1] = vfmaq_f32(sum[1], vcvtq_f32_s32(vmovl_high_s16(low)), vld1q_f32(x + 4));
    sum[2] = vfmaq_f32(sum[2], vcvtq_f32_s32(vmovl_s16(vget_low_s16(high))), vld1q_f32(x + 8));
    sum[3] = vfmaq_f32(sum[3], vcvtq_f32_s32(vmovl_high_s16(high)), vld1q_f32(x + 12));
}

static inline float32x4_t all_of(const float32x4_t sum[4])
{
    return vaddq_f32(vaddq_f32(sum[0], sum[1]), vaddq_f32(sum[2], sum[3]));
}

/* Each function adds one block of weights times x, in four lanes. */
static inline float32x4_t add_q4_0(float32x4_t row, const uint8_t *block, const float *x)
{
    float32x4_t sum[4] = {four(0), four(0), four(0), four(0)};
    const uint8x16_t pairs = vld1q_u8(block + 2);
    const int8x16_t middle = vdupq_n_s8(8);
    add16(sum, vsubq_s8(vreinterpretq_s8_u8(vandq_u8(pairs, vdupq_n_u8(15))), middle), x);
    add16(sum, vsubq_s8(vreinterpretq_s8_u8(vshrq_n_u8(pairs, 4)), middle), x + 16);
    return vfmaq_f32(row, all_of(sum), four(half_at(block)));
}

static inline float32x4_t add_q8_0(float32x4_t row, const uint8_t *block, const float *x)
{
    float32x4_t sum[4] = {four(0), four(0), four(0), four(0)};
    add16(sum, vld1q_s8((const int8_t *)block + 2), x);
    add16(sum, vld1q_s8((const int8_t *)block + 18), x + 16);
    return vfmaq_f32(row, all_of(sum), four(half_at(block)));
}

/* 32 weights of a group: scale * number - least value, so that the least value meets the sum of x. */
static inline float32x4_t add_group(float32x4_t row, uint8x16_t a, uint8x16_t b, float scale, float least_value, const float *x)
{
    float32x4_t sum[4] = {four(0), four(0), four(0), four(0)}, of_x = four(0);
    add16(sum, vreinterpretq_s8_u8(a), x);
    add16(sum, vreinterpretq_s8_u8(b), x + 16);
    for (int i = 0; i < 32; i += 4)
        of_x = vaddq_f32(of_x, vld1q_f32(x + i));
    return vfmsq_f32(vfmaq_f32(row, all_of(sum), four(scale)), of_x, four(least_value));
}

/* Nibbles of two rows of bytes, with pairs of bits above them; each sixteen have a signed scale. */
static inline float32x4_t add_q6_k(float32x4_t row, const uint8_t *block, const float *x)
{
    const float scale = half_at(block + 208);
    const uint8x16_t low = vdupq_n_u8(15), bits = vdupq_n_u8(0x30);
    const int8x16_t middle = vdupq_n_s8(32);
    for (int i = 0; i < 4; i++) { /* 16 of each of four groups, in one half of the block */
        const int half = i / 2, at = i % 2 * 16;
        const uint8x16_t a = vld1q_u8(block + 64 * half + at), b = vld1q_u8(block + 64 * half + 32 + at);
        const uint8x16_t up = vld1q_u8(block + 128 + 32 * half + at);
        const uint8x16_t number[4] = {vorrq_u8(vandq_u8(a, low), vandq_u8(vshlq_n_u8(up, 4), bits)),
                                      vorrq_u8(vandq_u8(b, low), vandq_u8(vshlq_n_u8(up, 2), bits)),
                                      vorrq_u8(vshrq_n_u8(a, 4), vandq_u8(up, bits)),
                                      vorrq_u8(vshrq_n_u8(b, 4), vandq_u8(vshrq_n_u8(up, 2), bits))};
        for (int k = 0; k < 4; k++) {
            const int8_t own = (int8_t)block[192 + 8 * half + 2 * k + i % 2];
            float32x4_t sum[4] = {four(0), four(0), four(0), four(0)};
            add16(sum, vsubq_s8(vreinterpretq_s8_u8(number[k]), middle), x + 128 * half + 32 * k + at);
            row = vfmaq_f32(row, all_of(sum), four(scale * (float)own));
        }
    }
    return row;
}

static inline float32x4_t add_q4_k(float32x4_t row, const uint8_t *block, const float *x)
{
    const float scale = half_at(block), step = half_at(block + 2);
    const uint8_t *const s = block + 4, *pairs = block + 16;
    for (int g = 0; g < 8; g += 2, pairs += 32, x += 64) {
        const uint8x16_t p = vld1q_u8(pairs), q = vld1q_u8(pairs + 16), low = vdupq_n_u8(15);
        int number[2], least_value[2];
        for (int i = 0; i < 2; i++) {
            const int k = g + i;
            number[i] = k < 4 ? s[k] & 63 : (s[k + 4] & 15) | (s[k - 4] >> 6) << 4;
            least_value[i] = k < 4 ? s[k + 4] & 63 : s[k + 4] >> 4 | (s[k] >> 6) << 4;
        }
        row = add_group(row, vandq_u8(p, low), vandq_u8(q, low), scale * (float)number[0], step * (float)least_value[0], x);
        row = add_group(row, vshrq_n_u8(p, 4), vshrq_n_u8(q, 4), scale * (float)number[1], step * (float)least_value[1], x + 32);
    }
    return row;
}

#define OVER_ROWS(type, weights, bytes)                                                                                          \
    void neon_gemv_##type(const struct gemv *g, uint64_t first, uint64_t end, uint64_t thread)                                   \
    {                                                                                                                            \
        const int64_t blocks = g->n / weights, last = least(g->m, (int64_t)end * ROWS);                                          \
        const float *const x = g->x;                                                                                             \
        (void)thread;                                                                                                            \
        for (int64_t row = (int64_t)first * ROWS; row < last; row++) {                                                           \
            const uint8_t *block = g->a + row * blocks * bytes;                                                                  \
            float32x4_t sum = four(0);                                                                                           \
            for (int64_t b = 0; b < blocks; b++, block += bytes)                                                                 \
                sum = add_##type(sum, block, x + b * weights);                                                                   \
            ((float *)g->y)[row] = vaddvq_f32(sum);                                                                              \
        }                                                                                                                        \
    }

/* ---- rows of a table ---- */

/* ORDER: cpu_kernel_move.c. */
struct embedding {
    const uint8_t *table;
    const uint32_t *index;
    float *out;
    int64_t rows, columns;
};
void neon_embedding_q4_0(const struct embedding *e, uint64_t first, uint64_t end, uint64_t thread);
void neon_embedding_q8_0(const struct embedding *e, uint64_t first, uint64_t end, uint64_t thread);

/* to = sixteen signed bytes times a scale. */
static inline void scale16(float *to, int8x16_t w, float scale)
{
    const int16x8_t half[2] = {vmovl_s8(vget_low_s8(w)), vmovl_high_s8(w)};
    for (int i = 0; i < 2; i++) {
        vst1q_f32(to + 8 * i, vmulq_f32(vcvtq_f32_s32(vmovl_s16(vget_low_s16(half[i]))), four(scale)));
        vst1q_f32(to + 8 * i + 4, vmulq_f32(vcvtq_f32_s32(vmovl_high_s16(half[i])), four(scale)));
    }
}

static inline void widen_q4_0(float *to, const uint8_t *block)
{
    const uint8x16_t pairs = vld1q_u8(block + 2);
    const int8x16_t middle = vdupq_n_s8(8);
    scale16(to, vsubq_s8(vreinterpretq_s8_u8(vandq_u8(pairs, vdupq_n_u8(15))), middle), half_at(block));
    scale16(to + 16, vsubq_s8(vreinterpretq_s8_u8(vshrq_n_u8(pairs, 4)), middle), half_at(block));
}

static inline void widen_q8_0(float *to, const uint8_t *block)
{
    scale16(to, vld1q_s8((const int8_t *)block + 2), half_at(block));
    scale16(to + 16, vld1q_s8((const int8_t *)block + 18), half_at(block));
}

#define OF_TABLE(type, weights, bytes)                                                                                           \
    void neon_embedding_##type(const struct embedding *e, uint64_t first, uint64_t end, uint64_t thread)                         \
    {                                                                                                                            \
        const int64_t blocks = e->columns / weights;                                                                             \
        (void)thread;                                                                                                            \
        for (int64_t row = (int64_t)first; row < (int64_t)end; row++) {                                                          \
            float *const out = e->out + row * e->columns;                                                                        \
            const uint8_t *const from = e->table + (int64_t)e->index[row] * blocks * bytes;                                      \
            for (int64_t i = 0; e->index[row] >= e->rows && i < e->columns; i++)                                                 \
                out[i] = 0;                                                                                                      \
            for (int64_t b = 0; e->index[row] < e->rows && b < blocks; b++)                                                      \
                widen_##type(out + b * weights, from + b * bytes);                                                               \
        }                                                                                                                        \
    }
OVER_ROWS(q4_0, 32, 18)
OVER_ROWS(q8_0, 32, 34)
OVER_ROWS(q4_k, 256, 144)
OVER_ROWS(q6_k, 256, 210)
OF_TABLE(q4_0, 32, 18)
OF_TABLE(q8_0, 32, 34)
