/* Attention over a cache whose keys and values have fewer bits than queries: halves, or ggml's q8_0 in blocks of 32 bytes with a
 * scale. Queries and results are f32; heads are multiples of four elements, which lie in one block. Keys and values may lie in
 * pages, whose places a table has. And values on their way into such a cache. */
#include "units/cpu/kernels/native/attention_scores.h"

enum { BLOCK = 32, BLOCK_BYTES = 34, LARGEST = 127 };

/* ORDER: cpu_kernel_attention.c. */
struct cached {
    const float *q;
    const uint8_t *k, *v;
    float *out;
    char *own;                                                 /* of each thread: scores of all tokens, in whole fours */
    int64_t own_bytes, heads, kv_heads, tokens, depth, before; /* before: tokens that the first query sees besides one */
    double scale;
    struct paged paged; /* of functions for pages alone */
    const float *bias;  /* of each query, token and head; of functions with biases alone */
};
void neon_attention_cached_f16(const struct cached *c, uint64_t first, uint64_t end, uint64_t thread);
void neon_attention_cached_q8_0(const struct cached *c, uint64_t first, uint64_t end, uint64_t thread);
void neon_attention_cached_paged_f16(const struct cached *c, uint64_t first, uint64_t end, uint64_t thread);
void neon_attention_cached_biased_f16(const struct cached *c, uint64_t first, uint64_t end, uint64_t thread);
void neon_attention_cached_paged_biased_f16(const struct cached *c, uint64_t first, uint64_t end, uint64_t thread);
void neon_attention_cached_paged_q8_0(const struct cached *c, uint64_t first, uint64_t end, uint64_t thread);
void neon_attention_cached_biased_q8_0(const struct cached *c, uint64_t first, uint64_t end, uint64_t thread);
void neon_attention_cached_paged_biased_q8_0(const struct cached *c, uint64_t first, uint64_t end, uint64_t thread);

/* Four elements from number i on. */
static inline float32x4_t four_f16(const uint8_t *from, int64_t i)
{
    float16x4_t half;
    __builtin_memcpy(&half, from + 2 * i, sizeof half);
    return vcvt_f32_f16(half);
}

static inline float32x4_t four_q8_0(const uint8_t *from, int64_t i)
{
    const uint8_t *const block = from + i / BLOCK * BLOCK_BYTES;
    uint32_t bytes;
    __fp16 scale;
    __builtin_memcpy(&scale, block, sizeof scale);
    __builtin_memcpy(&bytes, block + 2 + i % BLOCK, sizeof bytes);
    const int16x8_t number = vmovl_s8(vreinterpret_s8_u32(vdup_n_u32(bytes)));
    return vmulq_f32(vcvtq_f32_s32(vmovl_s16(vget_low_s16(number))), four((float)scale));
}

/* Four scores and their biases; those behind the last key are left out afterwards. */
static INLINE float32x4_t with_bias(const struct cached *c, float32x4_t score, int64_t at, int64_t key, int64_t seen)
{
    const float *const of_query = c->bias + at / c->heads * c->tokens * c->heads + at % c->heads;
    float bias[KEYS];
    for (int n = 0; n < KEYS; n++)
        bias[n] = of_query[least(key + n, seen - 1) * c->heads];
    return vaddq_f32(score, vld1q_f32(bias));
}

/* Items are heads of queries; scores of four keys at a time (those behind the last one repeat it), then sixteen columns of the
 * result over all values. */
#define OVER_CACHE(type)                                                                                                         \
    static INLINE float32x4_t scores_##type(const struct cached *c, bool paged, const float *q, int64_t head, int64_t key,       \
                                            int64_t seen)                                                                        \
    {                                                                                                                            \
        const int64_t step = c->kv_heads * c->depth, moved = paged ? row_in_pages(&c->paged, key) - key : 0;                     \
        int64_t at[KEYS];                                                                                                        \
        float32x4_t sum[KEYS];                                                                                                   \
        for (int n = 0; n < KEYS; n++) {                                                                                         \
            at[n] = (moved + least(key + n, seen - 1)) * step + head;                                                            \
            sum[n] = four(0);                                                                                                    \
        }                                                                                                                        \
        for (int64_t i = 0; i < c->depth; i += 4)                                                                                \
            for (int n = 0; n < KEYS; n++)                                                                                       \
                sum[n] = vfmaq_f32(sum[n], four_##type(c->k, at[n] + i), vld1q_f32(q + i));                                      \
        return vmulq_f32(vpaddq_f32(vpaddq_f32(sum[0], sum[1]), vpaddq_f32(sum[2], sum[3])), four((float)c->scale));             \
    }                                                                                                                            \
    static INLINE void add_columns_##type(const struct cached *c, const float *power, int64_t at, int64_t count, int64_t fours,  \
                                          float32x4_t *sum)                                                                      \
    {                                                                                                                            \
        const int64_t step = c->kv_heads * c->depth;                                                                             \
        for (int64_t j = 0; j < count; j++)                                                                                      \
            for (int64_t i = 0; i < fours; i++)                                                                                  \
                sum[i] = vfmaq_f32(sum[i], four_##type(c->v, at + j * step + 4 * i), four(power[j]));                            \
    }                                                                                                                            \
    static INLINE void columns_##type(const struct cached *c, bool paged, const float *power, int64_t at, int64_t seen,          \
                                      int64_t fours, float share, float *out)                                                    \
    {                                                                                                                            \
        const int64_t step = c->kv_heads * c->depth, page = paged ? INT64_C(1) << c->paged.bits : seen;                          \
        float32x4_t sum[COLUMNS / 4];                                                                                            \
        for (int64_t i = 0; i < fours; i++)                                                                                      \
            sum[i] = four(0);                                                                                                    \
        if (paged)                                                                                                               \
            for (int64_t j = 0; j < seen; j += page)                                                                             \
                add_columns_##type(c, power + j, at + row_in_pages(&c->paged, j) * step, least(page, seen - j), fours, sum);     \
        else                                                                                                                     \
            add_columns_##type(c, power, at, seen, fours, sum);                                                                  \
        for (int64_t i = 0; i < fours; i++)                                                                                      \
            vst1q_f32(out + 4 * i, vmulq_f32(sum[i], four(share)));                                                              \
    }                                                                                                                            \
    static INLINE void over_##type(const struct cached *c, bool paged, bool biased, uint64_t first, uint64_t end,                \
                                   uint64_t thread)                                                                              \
    {                                                                                                                            \
        float *const score = (float *)(c->own + thread * (uint64_t)c->own_bytes);                                                \
        for (int64_t at = (int64_t)first; at < (int64_t)end; at++) {                                                             \
            const int64_t head = at % c->heads / (c->heads / c->kv_heads) * c->depth;                                            \
            const int64_t seen = least(c->tokens, c->before + at / c->heads + 1);                                                \
            for (int64_t key = 0; key < seen; key += KEYS) {                                                                     \
                const float32x4_t four_scores = scores_##type(c, paged, c->q + at * c->depth, head, key, seen);                  \
                vst1q_f32(score + key, biased ? with_bias(c, four_scores, at, key, seen) : four_scores);                         \
            }                                                                                                                    \
            const float share = soften(score, seen);                                                                             \
            for (int64_t i = 0; i < c->depth; i += COLUMNS)                                                                      \
                columns_##type(c, paged, score, head + i, seen, least(COLUMNS, c->depth - i) / 4, share,                         \
                               c->out + at * c->depth + i);                                                                      \
        }                                                                                                                        \
    }                                                                                                                            \
    void neon_attention_cached_##type(const struct cached *c, uint64_t first, uint64_t end, uint64_t thread)                     \
    {                                                                                                                            \
        over_##type(c, false, false, first, end, thread);                                                                        \
    }                                                                                                                            \
    void neon_attention_cached_paged_##type(const struct cached *c, uint64_t first, uint64_t end, uint64_t thread)               \
    {                                                                                                                            \
        over_##type(c, true, false, first, end, thread);                                                                         \
    }                                                                                                                            \
    void neon_attention_cached_biased_##type(const struct cached *c, uint64_t first, uint64_t end, uint64_t thread)              \
    {                                                                                                                            \
        over_##type(c, false, true, first, end, thread);                                                                         \
    }                                                                                                                            \
    void neon_attention_cached_paged_biased_##type(const struct cached *c, uint64_t first, uint64_t end, uint64_t thread)        \
    {                                                                                                                            \
        over_##type(c, true, true, first, end, thread);                                                                          \
    }
OVER_CACHE(f16)
OVER_CACHE(q8_0)

/* ---- into the cache ---- */

/* ORDER: cpu_kernel_move.c. */
struct quantise {
    const float *x;
    uint8_t *out;
};
void neon_quantise_f16(const struct quantise *c, uint64_t first, uint64_t end, uint64_t thread);
void neon_quantise_q8_0(const struct quantise *c, uint64_t first, uint64_t end, uint64_t thread);

void neon_quantise_f16(const struct quantise *c, uint64_t first, uint64_t end, uint64_t thread)
{
    (void)thread;
    for (uint64_t at = first; at < end; at++) {
        const float16x4_t half = vcvt_f16_f32(vld1q_f32(c->x + 4 * at));
        __builtin_memcpy(c->out + 8 * at, &half, sizeof half);
    }
}

void neon_quantise_q8_0(const struct quantise *c, uint64_t first, uint64_t end, uint64_t thread)
{
    (void)thread;
    for (uint64_t at = first; at < end; at++) {
        const float *const x = c->x + BLOCK * at;
        uint8_t *const to = c->out + BLOCK_BYTES * at;
        float32x4_t most = four(0);
        for (int i = 0; i < BLOCK; i += 4)
            most = vmaxq_f32(most, vabsq_f32(vld1q_f32(x + i)));
        const float scale = vmaxvq_f32(most) / LARGEST;
        const __fp16 half = (__fp16)scale;
        const float32x4_t inverse = four(scale > 0 ? 1 / scale : 0);
        __builtin_memcpy(to, &half, sizeof half);
        for (int i = 0; i < BLOCK; i += 8) {
            const int32x4_t low = vcvtnq_s32_f32(vmulq_f32(vld1q_f32(x + i), inverse)),
                            high = vcvtnq_s32_f32(vmulq_f32(vld1q_f32(x + i + 4), inverse));
            vst1_s8((int8_t *)to + 2 + i, vmovn_s16(vcombine_s16(vmovn_s32(low), vmovn_s32(high))));
        }
    }
}
