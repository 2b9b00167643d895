/* c = alpha * op(a) * op(b) + beta * c in half precision throughout: eight sums in a register, at twice the rate of gemm.c. */
#include <arm_fp16.h>
#include <arm_neon.h>
#include <stdint.h>

typedef float16_t operand, packed, sum, result;
enum { GROUP = 1, COLUMNS = 24 };
#define PACK     neon_gemm_pack_f16_sums
#define GEMM     neon_gemm_f16_sums
#define run_tile neon_tile_f16

/* Neighbours of a row of a or b lie side by side, or a stride apart. */
static inline void pack(float16_t *to, const float16_t *from, int64_t across, int64_t along, int64_t used, int width, int64_t k)
{
    for (int64_t l = 0; l < k; l++, to += width, from += along) {
        if (across == 1 && used == width) {
            for (int i = 0; i < width; i += 8)
                vst1q_f16(to + i, vld1q_f16(from + i));
        } else {
            for (int i = 0; i < width; i++)
                to[i] = i < used ? from[i * across] : (float16_t)0;
        }
    }
}

#include "units/cpu/kernels/native/gemm_drive.h"

static void write_tile(const struct gemm *g, float16_t *c, int64_t rows, int64_t columns, const float16_t *tile)
{
    const float16_t alpha = (float16_t)g->alpha, beta = (float16_t)g->beta;
    for (int64_t i = 0; i < rows; i++, c += g->n, tile += COLUMNS) {
        int64_t j = 0;
        for (; j + 8 <= columns; j += 8) {
            float16x8_t x = vmulq_f16(vld1q_f16(tile + j), vdupq_n_f16(alpha));
            if (g->beta != 0)
                x = vfmaq_f16(x, vld1q_f16(c + j), vdupq_n_f16(beta));
            vst1q_f16(c + j, x);
        }
        for (; j < columns; j++) {
            const float16_t x = tile[j] * alpha;
            c[j] = g->beta != 0 ? vfmah_f16(x, c[j], beta) : x;
        }
    }
}
