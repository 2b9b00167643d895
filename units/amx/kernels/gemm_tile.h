/* The inner kernels: one tile of C over all of k. Internal to the gemm family. */
#ifndef ORCHARD_UNITS_AMX_KERNELS_GEMM_TILE_H
#define ORCHARD_UNITS_AMX_KERNELS_GEMM_TILE_H

#include "units/amx/kernels/amx_intrinsics.h"
#include "units/amx/kernels/gemm.h"

/* Accumulates panel_a * panel_b into Z; `k` is a multiple of the kind's k_unit. keep_z adds to what Z holds. Reads up to
 * GEMM_OVERREAD_BYTES beyond each panel. */
void gemm_tile(struct amx_ctx *ctx, enum gemm_kind kind, uint64_t panel_a, uint64_t panel_b, uint32_t k, int keep_z, int quad);
#define GEMM_OVERREAD_BYTES 1024

/* Where the elements of one k lie, and how far from them are those of the next. */
struct gemm_lines {
    uint64_t at, step_bytes;
};

/* The same for f32 in any form, from lines of 16 * form.y and 16 * form.x elements, wherever they are: exactly k lines of each
 * are read. */
void gemm_tile_form(struct amx_ctx *ctx, struct gemm_form form, struct gemm_lines a, struct gemm_lines b, uint32_t k, int keep_z,
                    int quad);

/* One side of a tile of f32 whose vectors, not its lines, lie in one piece: the first of `valid` vectors, and how far apart they
 * are. The unit turns them: blocks of 16 vectors by 16 k go into rows of Z that the accumulators leave free, and come out of them
 * as columns (extrv). */
struct gemm_turned {
    uint64_t at, step_bytes;
    uint32_t valid;
};
#define GEMM_TURN_K 16u

/* Whether Z has room beside the accumulators for blocks of these sides. */
static inline int gemm_can_turn(struct gemm_form form, int a, int b)
{
    return (unsigned)form.y * form.x + (a ? form.y : 0u) + (b ? form.x : 0u) <= 4;
}

/* As gemm_tile_form; of a side with turned[side].valid > 0 (0 = a, 1 = b) these vectors are read instead of its lines. `k` is a
 * multiple of GEMM_TURN_K. */
void gemm_tile_turned(struct amx_ctx *ctx, struct gemm_form form, struct gemm_lines a, struct gemm_lines b,
                      const struct gemm_turned turned[2], uint32_t k, int keep_z);

/* Moves the tile between Z and memory, with row_bytes between rows of C. Rows are tile_n elements wide. */
void gemm_tile_store(struct amx_ctx *ctx, enum gemm_kind kind, struct gemm_form form, uint64_t c, uint64_t row_bytes,
                     uint32_t rows);
void gemm_tile_load(struct amx_ctx *ctx, enum gemm_kind kind, struct gemm_form form, uint64_t c, uint64_t row_bytes,
                    uint32_t rows);

/* out = alpha * acc + beta * in, row by row through the vector instructions; all rows are dense or strided and have tile_n
 * elements. scale is the address of one 64-byte line of alphas followed by one of betas. in == 0: no beta term. */
void gemm_tile_blend(struct amx_ctx *ctx, enum gemm_kind kind, uint64_t acc, uint64_t in, uint64_t in_row_bytes, uint64_t out,
                     uint64_t out_row_bytes, uint64_t scale, uint32_t rows);

#endif
