/* c = alpha * a * b^T + beta * c with b in blocks of 32 small integers (ggml: q4_0, q8_0), as dot products of bytes: rows of a
 * are first rounded to q8_0 themselves. Sixteen rows of a meet sixteen of b. This is how ggml multiplies on a CPU with dot
 * products (quantize_row_q8_0, ggml_vec_dot_q4_0_q8_0, ggml_vec_dot_q8_0_q8_0). Where there are products of byte matrices (I8MM:
 * M2 and later), ggml takes two rows of either at a time (nrows = 2 of its types): neon_gemm_pairs. */
#include "units/cpu/kernels/native/neon.h"

enum { WEIGHTS = 32, BLOCK = 16 };

/* As in GGUF files: a scale in half precision, then the numbers; those of q4_0 are 8 more than their value, the first sixteen in
 * the lower halves of the bytes. */
struct q8_0 {
    __fp16 scale;
    int8_t number[WEIGHTS];
} __attribute__((packed));
struct q4_0 {
    __fp16 scale;
    uint8_t number[WEIGHTS / 2];
} __attribute__((packed));

typedef float operand, result;
typedef struct q8_0 packed;
#include "units/cpu/kernels/native/gemm_args.h"

void neon_gemm_to_q8_0(const struct gemm *g, uint64_t first, uint64_t end, uint64_t thread);
void neon_gemm_dots_q4_0(const struct gemm *g, uint64_t first, uint64_t end, uint64_t thread);
void neon_gemm_dots_q8_0(const struct gemm *g, uint64_t first, uint64_t end, uint64_t thread);
void neon_gemm_pairs_q4_0(const struct gemm *g, uint64_t first, uint64_t end, uint64_t thread);
void neon_gemm_pairs_q8_0(const struct gemm *g, uint64_t first, uint64_t end, uint64_t thread);

#ifdef __clang__
#define BYTE_MATRICES __attribute__((target("i8mm")))
#else
#define BYTE_MATRICES __attribute__((target("+i8mm")))
#endif

/* Items are rows of a, of all matrices. */
void neon_gemm_to_q8_0(const struct gemm *g, uint64_t first, uint64_t end, uint64_t thread)
{
    const int64_t blocks = g->k / WEIGHTS;
    (void)thread;
    for (int64_t at = (int64_t)first * blocks; at < (int64_t)end * blocks; at++) {
        const float *const x = g->a + at * WEIGHTS;
        struct q8_0 *const to = g->panels + at;
        float32x4_t most = vdupq_n_f32(0);
        for (int i = 0; i < WEIGHTS; i += 4)
            most = vmaxq_f32(most, vabsq_f32(vld1q_f32(x + i)));
        const float largest = vmaxvq_f32(most), scale = largest / 127;
        to->scale = (__fp16)scale;
        for (int i = 0; i < WEIGHTS; i += 8) {
            const float32x4_t inverse = vdupq_n_f32(scale > 0 ? 1 / scale : 0);
            const int32x4_t low = vcvtnq_s32_f32(vmulq_f32(vld1q_f32(x + i), inverse));
            const int32x4_t high = vcvtnq_s32_f32(vmulq_f32(vld1q_f32(x + i + 4), inverse));
            vst1_s8(to->number + i, vmovn_s16(vcombine_s16(vmovn_s32(low), vmovn_s32(high))));
        }
    }
}

static inline int32x4_t sum_of_block(int8x16_t b0, int8x16_t b1, const struct q8_0 *a)
{
    return vdotq_s32(vdotq_s32(vdupq_n_s32(0), b0, vld1q_s8(a->number)), b1, vld1q_s8(a->number + 16));
}

static inline float32x4_t add_q8_0(float32x4_t sum, const struct q8_0 *b, const struct q8_0 *a)
{
    const int32x4_t products = sum_of_block(vld1q_s8(b->number), vld1q_s8(b->number + 16), a);
    return vmlaq_n_f32(sum, vcvtq_f32_s32(products), (float)b->scale * (float)a->scale);
}

/* The numbers of a block, sixteen and sixteen. */
static inline int8x16x2_t numbers_q8_0(const struct q8_0 *b)
{
    return (int8x16x2_t){{vld1q_s8(b->number), vld1q_s8(b->number + 16)}};
}

static inline int8x16x2_t numbers_q4_0(const struct q4_0 *b)
{
    const uint8x16_t pairs = vld1q_u8(b->number);
    const int8x16_t eight = vdupq_n_s8(8);
    return (int8x16x2_t){{vsubq_s8(vreinterpretq_s8_u8(vandq_u8(pairs, vdupq_n_u8(15))), eight),
                          vsubq_s8(vreinterpretq_s8_u8(vshrq_n_u8(pairs, 4)), eight)}};
}

static inline float32x4_t add_q4_0(float32x4_t sum, const struct q4_0 *b, const struct q8_0 *a)
{
    const int8x16x2_t numbers = numbers_q4_0(b);
    return vmlaq_n_f32(sum, vcvtq_f32_s32(sum_of_block(numbers.val[0], numbers.val[1], a)), (float)b->scale * (float)a->scale);
}

/* Eight numbers of one row beside eight of another, as products of byte matrices want them. */
#define BESIDE(which, x, y) vreinterpretq_s8_s64(which(vreinterpretq_s64_s8(x), vreinterpretq_s64_s8(y)))

/* Four sums of a block: of the first row of a with both of b, and of the second. */
static BYTE_MATRICES inline int32x4_t four_sums(int8x16x2_t a0, int8x16x2_t a1, int8x16x2_t b0, int8x16x2_t b1)
{
    int32x4_t sums = vdupq_n_s32(0);
    for (int half = 0; half < 2; half++) {
        sums = vmmlaq_s32(sums, BESIDE(vzip1q_s64, a0.val[half], a1.val[half]), BESIDE(vzip1q_s64, b0.val[half], b1.val[half]));
        sums = vmmlaq_s32(sums, BESIDE(vzip2q_s64, a0.val[half], a1.val[half]), BESIDE(vzip2q_s64, b0.val[half], b1.val[half]));
    }
    return sums;
}

/* Two sums overlap. A function of its own, as in ggml, which calls it through a pointer. */
#define DOT(type)                                                                                                                \
    static __attribute__((noinline)) float dot_##type(const struct type *b, const struct q8_0 *a, int64_t blocks)                \
    {                                                                                                                            \
        float32x4_t even = vdupq_n_f32(0), odd = vdupq_n_f32(0);                                                                 \
        int64_t i = 0;                                                                                                           \
        for (; i + 2 <= blocks; i += 2) {                                                                                        \
            even = add_##type(even, b + i, a + i);                                                                               \
            odd = add_##type(odd, b + i + 1, a + i + 1);                                                                         \
        }                                                                                                                        \
        if (i < blocks)                                                                                                          \
            even = add_##type(even, b + i, a + i);                                                                               \
        return vaddvq_f32(vaddq_f32(even, odd));                                                                                 \
    }

/* Items are blocks of sixteen rows of c, of all matrices. */
#define DOTS(type)                                                                                                               \
    DOT(type)                                                                                                                    \
    void neon_gemm_dots_##type(const struct gemm *g, uint64_t first, uint64_t end, uint64_t thread)                              \
    {                                                                                                                            \
        const int64_t blocks = (g->m + BLOCK - 1) / BLOCK, deep = g->k / WEIGHTS;                                                \
        (void)thread;                                                                                                            \
        for (int64_t at = (int64_t)first; at < (int64_t)end; at++) {                                                             \
            const int64_t row = at % blocks * BLOCK, rows = least(BLOCK, g->m - row), place = at / blocks * g->m + row;          \
            const struct q8_0 *const a = g->panels + place * deep;                                                               \
            const struct type *const b = (const struct type *)(const void *)g->b + at / blocks * g->n * deep;                    \
            for (int64_t block = 0; block < g->n; block += BLOCK)                                                                \
                for (int64_t i = 0; i < rows; i++)                                                                               \
                    for (int64_t j = block; j < least(block + BLOCK, g->n); j++) {                                               \
                        float *const c = g->c + (place + i) * g->n + j;                                                          \
                        const float x = (float)g->alpha * dot_##type(b + j * deep, a + i * deep, deep);                          \
                        *c = g->beta != 0 ? x + (float)g->beta * *c : x;                                                         \
                    }                                                                                                            \
        }                                                                                                                        \
    }

DOTS(q4_0)
DOTS(q8_0)

/* Two rows of a with two of b: sums of (0, 0), (0, 1), (1, 0) and (1, 1). */
#define FOUR(type)                                                                                                               \
    static BYTE_MATRICES __attribute__((noinline))                                                                               \
    float32x4_t four_##type(const struct type *b, const struct q8_0 *a, int64_t blocks)                                          \
    {                                                                                                                            \
        float32x4_t all = vdupq_n_f32(0);                                                                                        \
        for (int64_t i = 0; i < blocks; i++) {                                                                                   \
            const struct q8_0 *const a0 = a + i, *const a1 = a0 + blocks;                                                        \
            const struct type *const b0 = b + i, *const b1 = b0 + blocks;                                                        \
            const float b0_scale = (float)b0->scale, b1_scale = (float)b1->scale;                                                \
            const float a0_scale = (float)a0->scale, a1_scale = (float)a1->scale;                                                \
            const float32x4_t scales = {a0_scale * b0_scale, a0_scale * b1_scale, a1_scale * b0_scale, a1_scale * b1_scale};     \
            const int32x4_t sums = four_sums(numbers_q8_0(a0), numbers_q8_0(a1), numbers_##type(b0), numbers_##type(b1));        \
            all = vmlaq_f32(all, vcvtq_f32_s32(sums), scales);                                                                   \
        }                                                                                                                        \
        return all;                                                                                                              \
    }

/* Items are blocks of sixteen rows of c, of all matrices, whose rows and columns are even in number. */
#define PAIRS(type)                                                                                                              \
    FOUR(type)                                                                                                                   \
    void neon_gemm_pairs_##type(const struct gemm *g, uint64_t first, uint64_t end, uint64_t thread)                             \
    {                                                                                                                            \
        const int64_t blocks = (g->m + BLOCK - 1) / BLOCK, deep = g->k / WEIGHTS;                                                \
        (void)thread;                                                                                                            \
        for (int64_t at = (int64_t)first; at < (int64_t)end; at++) {                                                             \
            const int64_t row = at % blocks * BLOCK, rows = least(BLOCK, g->m - row), place = at / blocks * g->m + row;          \
            const struct q8_0 *const a = g->panels + place * deep;                                                               \
            const struct type *const b = (const struct type *)(const void *)g->b + at / blocks * g->n * deep;                    \
            for (int64_t block = 0; block < g->n; block += BLOCK)                                                                \
                for (int64_t i = 0; i < rows; i += 2)                                                                            \
                    for (int64_t j = block; j < least(block + BLOCK, g->n); j += 2) {                                            \
                        float *const c = g->c + (place + i) * g->n + j;                                                          \
                        float32x4_t x = vmulq_n_f32(four_##type(b + j * deep, a + i * deep, deep), (float)g->alpha);             \
                        if (g->beta != 0)                                                                                        \
                            x = vfmaq_n_f32(x, vcombine_f32(vld1_f32(c), vld1_f32(c + g->n)), (float)g->beta);                   \
                        vst1_f32(c, vget_low_f32(x));                                                                            \
                        vst1_f32(c + g->n, vget_high_f32(x));                                                                    \
                    }                                                                                                            \
        }                                                                                                                        \
    }

PAIRS(q4_0)
PAIRS(q8_0)
