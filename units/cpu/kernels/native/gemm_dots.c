/* c = alpha * a * b^T + beta * c, one dot product after the other: rows of a and of b (stored transposed) lie side by side in
 * memory, and nothing is packed. Sixteen rows of a meet sixteen of b, which stay in the first cache where k is not too large.
 * Four vectors of sums overlap; those of f16 are in half precision, others in f32. This is how ggml multiplies on a CPU
 * (ggml_compute_forward_mul_mat, ggml_vec_dot_f32 and _f16). */
#include "units/cpu/kernels/native/neon.h"

typedef element operand, packed, result;
#include "units/cpu/kernels/native/gemm_args.h"

enum { BLOCK = 16, SUMS = 4 };
void NAME(neon_gemm_dots)(const struct gemm *g, uint64_t first, uint64_t end, uint64_t thread);

#ifdef ELEMENT_F16
enum { LANES = 8 };
typedef float16x8_t vector;
#define LOAD(at)       vld1q_f16(at)
#define ADD_PRODUCT    vfmaq_f16
#define ADD            vaddq_f16
#define NOTHING        vdupq_n_f16(0)
#define SUM_OF(vector) sum_of_halves(vector)
static inline float sum_of_halves(float16x8_t x)
{
    return vaddvq_f32(vaddq_f32(vcvt_f32_f16(vget_low_f16(x)), vcvt_high_f32_f16(x)));
}
#else
enum { LANES = 4 };
typedef float32x4_t vector;
#define LOAD(at)       load4(at)
#define ADD_PRODUCT    vfmaq_f32
#define ADD            vaddq_f32
#define NOTHING        vdupq_n_f32(0)
#define SUM_OF(vector) vaddvq_f32(vector)
#endif

/* A function of its own, as in ggml, which calls it through a pointer. */
static __attribute__((noinline)) float dot(const element *a, const element *b, int64_t k)
{
    vector sum[SUMS] = {NOTHING, NOTHING, NOTHING, NOTHING};
    int64_t l = 0;
    for (; l + SUMS * LANES <= k; l += SUMS * LANES)
        for (int i = 0; i < SUMS; i++)
            sum[i] = ADD_PRODUCT(sum[i], LOAD(a + l + i * LANES), LOAD(b + l + i * LANES));
    float all = SUM_OF(ADD(ADD(sum[0], sum[1]), ADD(sum[2], sum[3])));
    for (; l < k; l++)
        all += load1(a + l) * load1(b + l);
    return all;
}

/* Items are blocks of sixteen rows of c, of all matrices. */
void NAME(neon_gemm_dots)(const struct gemm *g, uint64_t first, uint64_t end, uint64_t thread)
{
    const int64_t blocks = (g->m + BLOCK - 1) / BLOCK;
    (void)thread;
    for (int64_t at = (int64_t)first; at < (int64_t)end; at++) {
        const int64_t row = at % blocks * BLOCK, rows = least(BLOCK, g->m - row);
        const element *const a = g->a + (at / blocks * g->m + row) * g->k, *const b = g->b + at / blocks * g->k * g->n;
        element *const c = g->c + (at / blocks * g->m + row) * g->n;
        for (int64_t block = 0; block < g->n; block += BLOCK)
            for (int64_t i = 0; i < rows; i++)
                for (int64_t j = block; j < least(block + BLOCK, g->n); j++) {
                    const float x = (float)g->alpha * dot(a + i * g->k, b + j * g->k, g->k);
                    store1(c + i * g->n + j, g->beta != 0 ? x + (float)g->beta * load1(c + i * g->n + j) : x);
                }
    }
}
