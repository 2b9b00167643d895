/* c = alpha * op(a) * op(b) + beta * c, row-major, sums in f32; compiled for each type of elements.
 *
 * Both operands are packed into f32 panels: b by a call of its own, 12 columns a panel, a by whoever needs it, 64 rows at a time.
 * A tile of 8 x 12 sums stays in registers for 256 steps of k, in which 8 panels of a and one of b lie in the first cache. Each
 * element adds its products in the order of k, whoever computes it. */
#include "units/cpu/kernels/native/neon_pack.h"

typedef element operand, result;
typedef float packed, sum;
enum { GROUP = 1, COLUMNS = 12 };
#define PACK     NAME(neon_gemm_pack)
#define GEMM     NAME(neon_gemm)
#define run_tile neon_tile_f32

static inline void pack(float *to, const element *from, int64_t across, int64_t along, int64_t used, int width, int64_t k)
{
    if (across == 1)
        pack_across(to, from, along, used, width, k);
    else
        pack_along(to, from, across, used, width, k);
}

#include "units/cpu/kernels/native/gemm_drive.h"

static void write_tile(const struct gemm *g, element *c, int64_t rows, int64_t columns, const float *tile)
{
    const float32x4_t alpha = vdupq_n_f32((float)g->alpha), beta = vdupq_n_f32((float)g->beta);
    for (int64_t i = 0; i < rows; i++, c += g->n, tile += COLUMNS)
        for (int64_t j = 0; j < columns; j += 4) {
            const int64_t used = least(4, columns - j);
            float32x4_t x = vmulq_f32(vld1q_f32(tile + j), alpha);
            if (g->beta != 0)
                x = vfmaq_f32(x, used == 4 ? load4(c + j) : load_part(c + j, used), beta);
            if (used == 4)
                store4(c + j, x);
            else
                store_part(c + j, x, used);
        }
}
