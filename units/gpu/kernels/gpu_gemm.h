/* One matrix product as a program: tiles of 8x8 matrices in registers, with operands passing through threadgroup memory.
 *
 * A simdgroup computes row_tiles x column_tiles matrices of the result, a threadgroup 2 x 2 of that. A step takes 64 bytes of k.
 * While one step is multiplied, the next one goes to a second buffer and the one after it is on its way into registers.
 */
#ifndef ORCHARD_UNITS_GPU_KERNELS_GPU_GEMM_H
#define ORCHARD_UNITS_GPU_KERNELS_GPU_GEMM_H

#include "units/gpu/kernels/gpu_emit.h"

#define GPU_GEMM_GROUP_ROWS    2U /* simdgroups of a threadgroup */
#define GPU_GEMM_GROUP_COLUMNS 2U

struct gpu_gemm {
    uint32_t m, n, k, batch, split;
    uint32_t share_b;                /* number of consecutive batches that have the same b; 0 and 1: none */
    bool transposed_a, transposed_b; /* stored K x M, N x K */
    enum gpu_type type;              /* of a, b, c */
    float alpha, beta;
    bool gated;                       /* c = c * (alpha * a b - d), d: float32, one a row */
    unsigned row_tiles, column_tiles; /* 2 or 4 each */
    unsigned a, b, c, d, partial;     /* buffers; partial: split x batch x m x n float32, when split > 1 */
};

/* Whether an operand has more elements than a 32-bit index reaches: places are then found in 64 bits. Lines of operands have at
 * most so many elements then, because a threadgroup's part still has 32-bit indices. */
bool gpu_gemm_is_far(const struct gpu_gemm *g);
#define GPU_GEMM_FAR_ROW_MAX ((1U << 26) - 1)

/* Rows and columns of the result that a threadgroup computes. */
uint32_t gpu_gemm_rows(const struct gpu_gemm *g);
uint32_t gpu_gemm_columns(const struct gpu_gemm *g);
/* Elements of k in a step; no part can be smaller. */
uint32_t gpu_gemm_step(const struct gpu_gemm *g);
/* Appends the step. With split > 1 its results are partial sums. */
bool gpu_gemm_build(const struct gpu_gemm *g, struct gpu_kernel *kernel, struct isa_error *error);

#endif
