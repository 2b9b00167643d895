/* c = op(a) * op(b) + beta * c with signed bytes and 32-bit sums, by dot products of four bytes; otherwise as gemm.c. */
#include "units/cpu/kernels/native/gemm_tile.h"
#include "units/cpu/kernels/native/neon.h"

/* ORDER: cpu_kernel_gemm.c. */
struct gemm {
    const int8_t *a, *b;
    int32_t *c;
    int8_t *panels; /* of b: [batch][panel][k / 4][12][4] */
    char *own;
    int64_t own_bytes, m, n, k, batch, ta, tb;
    double alpha, beta;
    int64_t by_columns;
};
void neon_gemm_pack_i8(const struct gemm *g, uint64_t first, uint64_t end, uint64_t thread);
void neon_gemm_i8(const struct gemm *g, uint64_t first, uint64_t end, uint64_t thread);

enum { GROUP = 4 };

/* to[(l / 4) * width * 4 + i * 4 + l % 4] = from[i * across + l * along] */
static inline void pack(int8_t *to, const int8_t *from, int64_t across, int64_t along, int64_t used, int width, int64_t k)
{
    for (int64_t l = 0; l < k; l += GROUP)
        for (int i = 0; i < width; i++, to += GROUP) {
            const int8_t *const at = from + i * across + l * along;
            if (along == 1 && i < used && l + GROUP <= k) {
                uint32_t four;
                __builtin_memcpy(&four, at, sizeof four);
                __builtin_memcpy(to, &four, sizeof four);
            } else {
                for (int64_t d = 0; d < GROUP; d++)
                    to[d] = i < used && l + d < k ? at[d * along] : 0;
            }
        }
}

static int64_t groups(int64_t k)
{
    return (k + GROUP - 1) / GROUP;
}

void neon_gemm_pack_i8(const struct gemm *g, uint64_t first, uint64_t end, uint64_t thread)
{
    const int64_t panels = (g->n + TILE_COLUMNS - 1) / TILE_COLUMNS;
    (void)thread;
    for (int64_t at = (int64_t)first; at < (int64_t)end; at++) {
        const int64_t column = at % panels * TILE_COLUMNS, used = least(TILE_COLUMNS, g->n - column);
        const int8_t *const b = g->b + at / panels * g->k * g->n;
        int8_t *const to = g->panels + at * groups(g->k) * GROUP * TILE_COLUMNS;
        if (g->tb)
            pack(to, b + column * g->k, g->k, 1, used, TILE_COLUMNS, g->k);
        else
            pack(to, b + column, 1, g->n, used, TILE_COLUMNS, g->k);
    }
}

static void pack_rows(const struct gemm *g, const int8_t *a, int64_t row, int64_t panels, int8_t *to)
{
    for (int64_t l = 0; l < g->k; l += GROUP * BLOCK_K) {
        const int64_t k = least(GROUP * BLOCK_K, g->k - l);
        for (int64_t p = 0; p < panels; p++, to += groups(k) * GROUP * TILE_ROWS) {
            const int64_t i = row + p * TILE_ROWS, used = least(TILE_ROWS, g->m - i);
            if (g->ta)
                pack(to, a + l * g->m + i, 1, g->m, used, TILE_ROWS, k);
            else
                pack(to, a + i * g->k + l, g->k, 1, used, TILE_ROWS, k);
        }
    }
}

static void write_tile(const struct gemm *g, int32_t *c, int64_t rows, int64_t columns, const int32_t *tile)
{
    const bool adds = g->beta != 0;
    for (int64_t i = 0; i < rows; i++, c += g->n, tile += TILE_COLUMNS)
        for (int64_t j = 0; j < columns; j++)
            c[j] = (int32_t)((uint32_t)tile[j] + (adds ? (uint32_t)c[j] : 0));
}

static void block(const struct gemm *g, int64_t image, int64_t row, int64_t panels, int64_t j, int64_t end, int8_t *own)
{
    const int64_t columns = (g->n + TILE_COLUMNS - 1) / TILE_COLUMNS, all = groups(g->k);
    int32_t tile[BLOCK_PANELS][TILE_ROWS * TILE_COLUMNS];
    pack_rows(g, g->a + image * g->m * g->k, row, panels, own);
    for (; j < end; j++) {
        const int8_t *const b = g->panels + (image * columns + j) * all * GROUP * TILE_COLUMNS;
        const int8_t *a = own;
        for (int64_t l = 0; l < all; l += BLOCK_K) {
            const int64_t k = least(BLOCK_K, all - l);
            for (int64_t p = 0; p < panels; p++, a += k * GROUP * TILE_ROWS)
                neon_tile_i8(k, a, b + l * GROUP * TILE_COLUMNS, tile[p], l > 0);
        }
        int32_t *const c = g->c + (image * g->m + row) * g->n + j * TILE_COLUMNS;
        for (int64_t p = 0; p < panels; p++)
            write_tile(g, c + p * TILE_ROWS * g->n, least(TILE_ROWS, g->m - row - p * TILE_ROWS),
                       least(TILE_COLUMNS, g->n - j * TILE_COLUMNS), tile[p]);
    }
}

void neon_gemm_i8(const struct gemm *g, uint64_t first, uint64_t end, uint64_t thread)
{
    const int64_t rows = (g->m + TILE_ROWS - 1) / TILE_ROWS, columns = (g->n + TILE_COLUMNS - 1) / TILE_COLUMNS;
    const int64_t all = g->by_columns ? columns : rows;
    int8_t *const own = (int8_t *)(g->own + thread * (uint64_t)g->own_bytes);
    for (int64_t at = (int64_t)first; at < (int64_t)end;) {
        const int64_t image = at / all, from = at % all, count = least((int64_t)end - at, all - from);
        const int64_t row = g->by_columns ? 0 : from, row_end = g->by_columns ? rows : from + count;
        for (int64_t p = row; p < row_end; p += BLOCK_PANELS)
            block(g, image, p * TILE_ROWS, least(BLOCK_PANELS, row_end - p), g->by_columns ? from : 0,
                  g->by_columns ? from + count : columns, own);
        at += count;
    }
}
