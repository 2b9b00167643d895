/* Matrix products on AMX: C = alpha * op(A) * op(B) + beta * C, row-major, any size, any leading dimension.
 *
 * One source has three homes (amx_intrinsics.h). A goes to Y (rows of C), B to X (columns of C). Both operands are packed into
 * panels of one tile, zero-padded; a tile of C stays in Z over the whole of k.
 */
#ifndef ORCHARD_UNITS_AMX_KERNELS_GEMM_H
#define ORCHARD_UNITS_AMX_KERNELS_GEMM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct amx_ctx;

enum gemm_kind {
    GEMM_F64,      /* f64 */
    GEMM_F32,      /* f32 */
    GEMM_F16,      /* f16 in, f16 accumulate and out */
    GEMM_F16_F32,  /* f16 in, f32 accumulate and out */
    GEMM_BF16_F32, /* bf16 in, f32 accumulate and out (M2 and later) */
    GEMM_I8_I32,   /* signed bytes in, 32-bit accumulate and out */
    GEMM_I16_I32,  /* signed 16-bit in, 32-bit accumulate and out */
    GEMM_KIND_COUNT
};

/* A fixed layout, because orchard also writes it into the memory of AArch64 programs. Pointers are those of the home. */
struct gemm_args {
    uint64_t a, b, c;                      /* addresses */
    uint64_t workspace;                    /* 128-byte aligned, of gemm_workspace_bytes() */
    uint64_t lda, ldb, ldc;                /* elements between rows */
    uint64_t stride_a, stride_b, stride_c; /* elements between matrices of a batch */
    uint32_t m, n, k, batch;
    uint32_t transpose_a, transpose_b; /* 1: the matrix is stored as its transpose */
    uint32_t quad_loads;               /* 1: four-register loads exist (M2 and later) */
    uint32_t kind;                     /* enum gemm_kind */
    uint64_t alpha_bits, beta_bits;    /* alpha, beta in the output type; integers: alpha 1, beta 0 or 1 */
    struct gemm_blocks { /* of the packed operands; 0 = chosen for the caches, others are rounded up to whole tiles */
        uint32_t m, n, k;
        uint32_t loaded; /* 1: panels of all of b lie in the workspace, where gemm_load wrote them; of batch 1 */
    } blocks;
};

/* Shape of a tile and element sizes of a kind. */
struct gemm_shape {
    uint32_t tile_m, tile_n; /* rows and columns of C per tile */
    uint32_t in_bytes, out_bytes;
    uint32_t k_unit;  /* k is padded to a multiple of this */
    uint32_t k_group; /* consecutive k of one row stored side by side in A panels (1 or 4) */
};
const struct gemm_shape *gemm_shape_of(enum gemm_kind kind);

/* How a tile of f32 is put together: y x x outer products of 16 x 16, at most four. 2 x 2 is the shape of the kind; products of
 * few rows or columns take others, so that little is padded. */
struct gemm_form {
    uint32_t y, x;
};
struct gemm_form gemm_form_of(enum gemm_kind kind, uint32_t m, uint32_t n, int transpose_a, int transpose_b);

uint64_t gemm_workspace_bytes(enum gemm_kind kind, uint32_t m, uint32_t n, uint32_t k);
uint64_t gemm_workspace_bytes_of(enum gemm_kind kind, uint32_t m, uint32_t n, uint32_t k, const struct gemm_blocks *blocks);

/* Writes the panels of a b that does not change from product to product, as gemm_run would in each of them. */
void gemm_load(struct amx_ctx *ctx, const struct gemm_args *args);

/* Runs the product. ctx is NULL on AArch64. The arguments must be valid; nothing checks them here. */
void gemm_run(struct amx_ctx *ctx, const struct gemm_args *args);

/* y = A x, A row-major m x n (f32 or f64); workspace of gemv_workspace_bytes(). */
struct gemv_args {
    uint64_t a, x, y, workspace;
    uint64_t lda;
    uint32_t m, n;
    uint32_t is_f64, reserved;
};
uint64_t gemv_workspace_bytes(uint32_t m, uint32_t n);
void gemv_run(struct amx_ctx *ctx, const struct gemv_args *args);

#endif
