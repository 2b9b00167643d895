/* A product under way: how it is cut into tiles, and what a tile reads. Internal to the gemm family. */
#ifndef ORCHARD_UNITS_AMX_KERNELS_GEMM_RUN_H
#define ORCHARD_UNITS_AMX_KERNELS_GEMM_RUN_H

#include "units/amx/kernels/gemm_pack.h"
#include "units/amx/kernels/gemm_tile.h"

#define PIECE_BYTES 16384u
/* A piece holds enough of each vector for a prefetcher: of at most so many vectors, no further apart than GEMM_FAR_BYTES. */
#define PIECE_WIDTH 32u
#define PIECES      2u /* the core fills one while the unit reads the other */

/* How a product is cut into tiles and blocks, and where its panels lie in the workspace. */
struct gemm_plan {
    const struct gemm_shape *shape;
    struct gemm_form form;
    uint32_t tile_m, tile_n;
    uint32_t block_m, block_n, block_k;
    uint32_t all_n; /* columns of whole tiles */
    uint64_t a_at, b_at, tile_at, in_at, scale_at, bytes;
};

struct gemm_run {
    struct amx_ctx *ctx;
    const struct gemm_args *args;
    struct gemm_plan plan;
    uint8_t *workspace, *c;
    const uint8_t *a, *b;
    uint64_t c_row_bytes;
    int plain_alpha;
};

/* One side of a tile, over the k of a block: lines where they are, in a panel or in the matrix, or vectors that must be
 * transposed piece by piece. */
struct gemm_side {
    struct gemm_lines lines;
    struct pack_source source;
    uint32_t width, valid;
    int in_pieces;
};

/* One tile of C at (i, j), of which rows x columns lie inside the matrix. */
struct gemm_part {
    uint8_t *c;
    struct gemm_side a, b;
    uint32_t rows, columns, k, k_padded;
    int direct;         /* a side is read from its matrix: nothing may be read beyond it */
    uint64_t beta_bits; /* of this pass over k */
};

static inline int gemm_is_f32(const struct gemm_run *r)
{
    return r->args->kind == GEMM_F32;
}

/* The products of a tile over its k; keep: they are added to what Z holds. */
void gemm_multiply(const struct gemm_run *run, const struct gemm_part *part, int keep);

#endif
