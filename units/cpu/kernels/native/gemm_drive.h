/* The part of products that does not depend on types: packing, blocks, shares. Who includes this has defined
 *     operand, packed, sum, result   types of a and b as stored, in panels, of a tile's sums, of c
 *     GROUP, COLUMNS                 neighbours along k that a step of a tile takes; columns of a tile
 *     PACK, GEMM                     names of the functions
 *     pack                           to[(l / GROUP * width + i) * GROUP + l % GROUP] = from[i * across + l * along], zeros beyond
 *     run_tile, write_tile           as they are called below
 */
#include "units/cpu/kernels/native/gemm_args.h"
#include "units/cpu/kernels/native/gemm_tile.h"
#include "units/cpu/kernels/native/neon.h"

void PACK(const struct gemm *g, uint64_t first, uint64_t end, uint64_t thread);
void GEMM(const struct gemm *g, uint64_t first, uint64_t end, uint64_t thread);

static void write_tile(const struct gemm *g, result *c, int64_t rows, int64_t columns, const sum *tile);

static inline int64_t steps_of(int64_t k)
{
    return (k + GROUP - 1) / GROUP;
}

/* Items are panels of b. */
void PACK(const struct gemm *g, uint64_t first, uint64_t end, uint64_t thread)
{
    const int64_t panels = (g->n + COLUMNS - 1) / COLUMNS;
    (void)thread;
    for (int64_t at = (int64_t)first; at < (int64_t)end; at++) {
        const int64_t column = at % panels * COLUMNS, used = least(COLUMNS, g->n - column);
        const operand *const b = g->b + at / panels * g->k * g->n + column * (g->tb ? g->k : 1);
        pack(g->panels + at * steps_of(g->k) * GROUP * COLUMNS, b, g->tb ? g->k : 1, g->tb ? 1 : g->n, used, COLUMNS, g->k);
    }
}

/* Panels of a from row `row` on: the first BLOCK_K steps of each, then the next ones. */
static void pack_rows(const struct gemm *g, const operand *a, int64_t row, int64_t panels, packed *to)
{
    for (int64_t l = 0; l < g->k; l += GROUP * BLOCK_K) {
        const int64_t k = least(GROUP * BLOCK_K, g->k - l);
        for (int64_t p = 0; p < panels; p++, to += steps_of(k) * GROUP * TILE_ROWS) {
            const int64_t i = row + p * TILE_ROWS;
            pack(to, g->ta ? a + l * g->m + i : a + i * g->k + l, g->ta ? 1 : g->k, g->ta ? g->m : 1, least(TILE_ROWS, g->m - i),
                 TILE_ROWS, k);
        }
    }
}

/* Up to BLOCK_PANELS panels of rows from `row` on, times panels j .. end - 1 of columns. */
static void block(const struct gemm *g, int64_t image, int64_t row, int64_t panels, int64_t j, int64_t end, packed *own)
{
    const int64_t columns = (g->n + COLUMNS - 1) / COLUMNS, steps = steps_of(g->k);
    sum tile[BLOCK_PANELS][TILE_ROWS * COLUMNS];
    pack_rows(g, g->a + image * g->m * g->k, row, panels, own);
    for (; j < end; j++) {
        const packed *const b = g->panels + (image * columns + j) * steps * GROUP * COLUMNS, *a = own;
        for (int64_t l = 0; l < steps; l += BLOCK_K) {
            const int64_t k = least(BLOCK_K, steps - l);
            for (int64_t p = 0; p < panels; p++, a += k * GROUP * TILE_ROWS)
                run_tile(k, a, b + l * GROUP * COLUMNS, tile[p], l > 0);
        }
        result *const c = g->c + (image * g->m + row) * g->n + j * COLUMNS;
        for (int64_t p = 0; p < panels; p++)
            write_tile(g, c + p * TILE_ROWS * g->n, least(TILE_ROWS, g->m - row - p * TILE_ROWS),
                       least(COLUMNS, g->n - j * COLUMNS), tile[p]);
    }
}

/* Items are panels of columns or of rows of c, of all matrices. */
void GEMM(const struct gemm *g, uint64_t first, uint64_t end, uint64_t thread)
{
    const int64_t rows = (g->m + TILE_ROWS - 1) / TILE_ROWS, columns = (g->n + COLUMNS - 1) / COLUMNS;
    const int64_t all = g->by_columns ? columns : rows;
    packed *const own = (packed *)(void *)(g->own + thread * (uint64_t)g->own_bytes);
    for (int64_t at = (int64_t)first; at < (int64_t)end;) {
        const int64_t image = at / all, from = at % all, count = least((int64_t)end - at, all - from);
        const int64_t row = g->by_columns ? 0 : from, row_end = g->by_columns ? rows : from + count;
        for (int64_t p = row; p < row_end; p += BLOCK_PANELS)
            block(g, image, p * TILE_ROWS, least(BLOCK_PANELS, row_end - p), g->by_columns ? from : 0,
                  g->by_columns ? from + count : columns, own);
        at += count;
    }
}
