/* c = alpha * op(a) * op(b) + beta * c in double precision throughout; otherwise as gemm.c. */
#include <arm_neon.h>
#include <stdint.h>

typedef double operand, packed, sum, result;
enum { GROUP = 1, COLUMNS = 6 };
#define PACK     neon_gemm_pack_f64
#define GEMM     neon_gemm_f64
#define run_tile neon_tile_f64

/* Neighbours of a row of a or b lie side by side, or a stride apart: then two steps of two neighbours become two by two. */
static inline void pack(double *to, const double *from, int64_t across, int64_t along, int64_t used, int width, int64_t k)
{
    int64_t l = 0;
    for (; along == 1 && used == width && l + 2 <= k; l += 2)
        for (int i = 0; i < width; i += 2) {
            const float64x2_t r0 = vld1q_f64(from + i * across + l), r1 = vld1q_f64(from + (i + 1) * across + l);
            vst1q_f64(to + l * width + i, vzip1q_f64(r0, r1));
            vst1q_f64(to + (l + 1) * width + i, vzip2q_f64(r0, r1));
        }
    for (; l < k; l++)
        for (int i = 0; i < width; i++)
            to[l * width + i] = i < used ? from[i * across + l * along] : 0;
}

#include "units/cpu/kernels/native/gemm_drive.h"

static void write_tile(const struct gemm *g, double *c, int64_t rows, int64_t columns, const double *tile)
{
    const float64x2_t alpha = vdupq_n_f64(g->alpha), beta = vdupq_n_f64(g->beta);
    for (int64_t i = 0; i < rows; i++, c += g->n, tile += COLUMNS) {
        int64_t j = 0;
        for (; j + 2 <= columns; j += 2) {
            float64x2_t x = vmulq_f64(vld1q_f64(tile + j), alpha);
            if (g->beta != 0)
                x = vfmaq_f64(x, vld1q_f64(c + j), beta);
            vst1q_f64(c + j, x);
        }
        for (; j < columns; j++)
            c[j] = tile[j] * g->alpha + (g->beta != 0 ? g->beta * c[j] : 0);
    }
}
