/* c = alpha * op(a) * op(b) + beta * c, row-major, sums in f32; compiled for each type of elements.
 *
 * Both operands are packed into f32 panels: b by a call of its own, 12 columns a panel, a by whoever needs it, 64 rows at a time.
 * A tile of 8 x 12 sums stays in registers for 256 steps of k, in which 8 panels of a and one of b lie in the first cache. Each
 * element adds its products in the order of k, whoever computes it. */
#include "units/cpu/kernels/native/gemm_tile.h"
#include "units/cpu/kernels/native/neon_pack.h"

/* ORDER: cpu_kernel_gemm.c. */
struct gemm {
    const element *a, *b;
    element *c;
    float *panels;     /* of b: [batch][panel][k][12] */
    char *own;         /* of each thread: a block of a */
    int64_t own_bytes; /* from one thread to the next */
    int64_t m, n, k, batch, ta, tb;
    double alpha, beta;
    int64_t by_columns; /* items are panels of columns, else panels of rows */
};
void NAME(neon_gemm_pack)(const struct gemm *g, uint64_t first, uint64_t end, uint64_t thread);
void NAME(neon_gemm)(const struct gemm *g, uint64_t first, uint64_t end, uint64_t thread);

void NAME(neon_gemm_pack)(const struct gemm *g, uint64_t first, uint64_t end, uint64_t thread)
{
    const int64_t panels = (g->n + TILE_COLUMNS - 1) / TILE_COLUMNS;
    (void)thread;
    for (int64_t at = (int64_t)first; at < (int64_t)end; at++) {
        const int64_t column = at % panels * TILE_COLUMNS, used = least(TILE_COLUMNS, g->n - column);
        const element *const b = g->b + at / panels * g->k * g->n;
        float *const to = g->panels + at * g->k * TILE_COLUMNS;
        if (g->tb)
            pack_along(to, b + column * g->k, g->k, used, TILE_COLUMNS, g->k);
        else
            pack_across(to, b + column, g->n, used, TILE_COLUMNS, g->k);
    }
}

/* Panels of a from row `row` on: the first BLOCK_K steps of each, then the next ones. */
static void pack_rows(const struct gemm *g, const element *a, int64_t row, int64_t panels, float *to)
{
    for (int64_t l = 0; l < g->k; l += BLOCK_K) {
        const int64_t k = least(BLOCK_K, g->k - l);
        for (int64_t p = 0; p < panels; p++, to += k * TILE_ROWS) {
            const int64_t i = row + p * TILE_ROWS, used = least(TILE_ROWS, g->m - i);
            if (g->ta)
                pack_across(to, a + l * g->m + i, g->m, used, TILE_ROWS, k);
            else
                pack_along(to, a + i * g->k + l, g->k, used, TILE_ROWS, k);
        }
    }
}

/* ---- results ---- */

static void write_tile(const struct gemm *g, element *c, int64_t rows, int64_t columns, const float *tile)
{
    const float32x4_t alpha = vdupq_n_f32((float)g->alpha), beta = vdupq_n_f32((float)g->beta);
    for (int64_t i = 0; i < rows; i++, c += g->n, tile += TILE_COLUMNS)
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

/* Up to BLOCK_PANELS panels of rows from `row` on, times panels j .. end - 1 of columns. */
static void block(const struct gemm *g, int64_t image, int64_t row, int64_t panels, int64_t j, int64_t end, float *own)
{
    const int64_t columns = (g->n + TILE_COLUMNS - 1) / TILE_COLUMNS;
    float tile[BLOCK_PANELS][TILE_ROWS * TILE_COLUMNS];
    pack_rows(g, g->a + image * g->m * g->k, row, panels, own);
    for (; j < end; j++) {
        const float *const b = g->panels + (image * columns + j) * g->k * TILE_COLUMNS;
        const float *a = own;
        for (int64_t l = 0; l < g->k; l += BLOCK_K) {
            const int64_t k = least(BLOCK_K, g->k - l);
            for (int64_t p = 0; p < panels; p++, a += k * TILE_ROWS)
                neon_tile_f32(k, a, b + l * TILE_COLUMNS, tile[p], l > 0);
        }
        element *const c = g->c + (image * g->m + row) * g->n + j * TILE_COLUMNS;
        for (int64_t p = 0; p < panels; p++)
            write_tile(g, c + p * TILE_ROWS * g->n, least(TILE_ROWS, g->m - row - p * TILE_ROWS),
                       least(TILE_COLUMNS, g->n - j * TILE_COLUMNS), tile[p]);
    }
}

void NAME(neon_gemm)(const struct gemm *g, uint64_t first, uint64_t end, uint64_t thread)
{
    const int64_t rows = (g->m + TILE_ROWS - 1) / TILE_ROWS, columns = (g->n + TILE_COLUMNS - 1) / TILE_COLUMNS;
    const int64_t all = g->by_columns ? columns : rows;
    float *const own = (float *)(g->own + thread * (uint64_t)g->own_bytes);
    for (int64_t at = (int64_t)first; at < (int64_t)end;) {
        const int64_t image = at / all, from = at % all, count = least((int64_t)end - at, all - from);
        const int64_t row = g->by_columns ? 0 : from, row_end = g->by_columns ? rows : from + count;
        for (int64_t p = row; p < row_end; p += BLOCK_PANELS)
            block(g, image, p * TILE_ROWS, least(BLOCK_PANELS, row_end - p), g->by_columns ? from : 0,
                  g->by_columns ? from + count : columns, own);
        at += count;
    }
}
