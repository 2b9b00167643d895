/* Packs operands into zero-padded panels. Internal to the gemm family. */
#ifndef ORCHARD_UNITS_AMX_KERNELS_GEMM_PACK_H
#define ORCHARD_UNITS_AMX_KERNELS_GEMM_PACK_H

#include "units/amx/kernels/amx_intrinsics.h"

/* How much of a source vector a transpose reads before it turns to the next ones. A prefetcher follows few streams: of vectors
 * that are far apart it finds only runs, and sixteen side by side are as many as it has. Of more that are near the next begins
 * where prefetching from the one before arrives, and a line of each in turn keeps what is written in L1. */
static inline uint32_t gemm_pack_run_bytes(uint64_t src_row, uint32_t vectors)
{
    return src_row > 16384 || vectors <= 16 ? 1024 : 128;
}

/* dst has `k_padded` lines of `width` elements; line i holds element i of each of `valid` strided vectors. lines_contiguous:
 * source line i is contiguous (a copy); otherwise source vector j is contiguous (a transpose). */
struct pack_source {
    const void *base;
    uint64_t stride;        /* elements between source rows */
    uint32_t element_bytes; /* 1, 2, 4 or 8 */
    uint32_t lines_contiguous;
};
void gemm_pack_panel(struct amx_ctx *ctx, void *dst, const struct pack_source *source, uint32_t width, uint32_t valid, uint32_t k,
                     uint32_t k_padded);

/* Some panels may be made side by side, so that more of a source line is read at a time. A prefetcher follows what one panel
 * takes of each line as long as that is the same number of cache lines on. It is not where source lines are no whole cache lines.
 * A matrix of which one tile reads every line is best gone through in the order in which it lies in memory: its panels would
 * begin a new run each, and none of them is read twice. */
#define GEMM_STRIP_PANELS 16u /* as many streams of stores at a time */
static inline int gemm_packs_strips(const struct pack_source *s, uint32_t width, uint32_t elements, uint32_t tiles)
{
    return s->lines_contiguous && elements >= 2 * width && (tiles == 1 || s->stride * s->element_bytes % 128 != 0);
}
/* `elements` is a multiple of width; the panels follow one another. */
void gemm_pack_strips(struct amx_ctx *ctx, void *dst, const struct pack_source *source, uint32_t width, uint32_t elements,
                      uint32_t k, uint32_t k_padded);

/* Byte matrices for the four-k layout: dst[k / 4][row][k % 4], 16 rows. The arguments mean the same. */
void gemm_pack_panel_k4(struct amx_ctx *ctx, void *dst, const struct pack_source *source, uint32_t width, uint32_t valid,
                        uint32_t k, uint32_t k_padded);

/* Copies `rows` rows of row_bytes between two strided places (edges of C). */
void gemm_copy_rows(struct amx_ctx *ctx, void *dst, uint64_t dst_stride, const void *src, uint64_t src_stride, uint32_t rows,
                    uint32_t row_bytes);

#endif
