#include "units/amx/kernels/gemm.h"

#include "units/amx/kernels/gemm_pack.h"

/* A block has as many rows of A as one accumulator of the matrix form has Z rows (16 of f32, 8 of f64), so that a column extract
 * gathers one element of every row. Row r adds its products in Z rows r * step (even 64-byte chunks of A) and r * step + 1 (odd
 * chunks). The sums over the 64-byte lanes go through extrv and Z row 2, which the block leaves free. */

#define CHUNK_BYTES 128u
#define RESULT_ROW  2u

struct gemv_type {
    uint32_t bytes, rows, step; /* element, rows per block, Z rows between matrix rows */
    unsigned fma;
    uint64_t extract_mode; /* extrv, 7-bit form: lane mode field */
};
static const struct gemv_type types[2] = {{4, 16, 4, AMXI_FMA32, UINT64_C(1) << 28}, {8, 8, 8, AMXI_FMA64, 0}};

#define SKIP_X (UINT64_C(1) << 29)

/* Workspace: x padded to whole chunks, a block of row tails, one line of results. */
struct gemv_plan {
    uint64_t x_at, tail_at, y_at, bytes;
};

static struct gemv_plan plan_of(uint32_t n, uint32_t bytes)
{
    struct gemv_plan p;
    p.x_at = 0;
    p.tail_at = ((uint64_t)n * bytes + 2 * CHUNK_BYTES - 1) / CHUNK_BYTES * CHUNK_BYTES;
    p.y_at = p.tail_at + 16 * CHUNK_BYTES;
    p.bytes = p.y_at + CHUNK_BYTES;
    return p;
}

uint64_t gemv_workspace_bytes(uint32_t m, uint32_t n)
{
    (void)m;
    return plan_of(n, 8).bytes;
}

static inline void fma_issue(struct amx_ctx *ctx, const struct gemv_type *t, uint64_t operand)
{
    if (t->fma == AMXI_FMA32)
        AMX_ISSUE(ctx, AMXI_FMA32, operand | AMX_FMA_VECTOR);
    else
        AMX_ISSUE(ctx, AMXI_FMA64, operand | AMX_FMA_VECTOR);
}

/* Multiplies one 128-byte chunk of x with the same columns of every row of the block. */
static void chunk(struct amx_ctx *ctx, const struct gemv_type *t, uint64_t x, uint64_t a, uint64_t row_bytes, uint32_t rows,
                  uint64_t first, unsigned y)
{
    AMX_ISSUE(ctx, AMXI_LDY, x | AMX_REG(y) | AMX_PAIR);
    for (uint32_t r = 0; r < rows; r++, a += row_bytes) {
        const unsigned reg = 2 * (r & 3);
        if (a % 128 == 0) {
            AMX_ISSUE(ctx, AMXI_LDX, a | AMX_REG(reg) | AMX_PAIR);
        } else {
            AMX_ISSUE(ctx, AMXI_LDX, a | AMX_REG(reg));
            AMX_ISSUE(ctx, AMXI_LDX, (a + 64) | AMX_REG(reg + 1));
        }
        const uint64_t at = AMX_XOFF(64 * reg) | AMX_YOFF(64 * y) | first;
        fma_issue(ctx, t, at | AMX_ZROW(r * t->step));
        fma_issue(ctx, t, at + AMX_XOFF(64) + AMX_YOFF(64) + AMX_ZROW(r * t->step + 1));
    }
}

/* Adds the lanes of every row: column e of both chunk accumulators goes to Y, and its lane r to row r of the result. */
static void reduce(struct amx_ctx *ctx, const struct gemv_type *t)
{
    const uint32_t lanes = 64 / t->bytes;
    uint64_t first = AMX_SKIP_Z;
    for (uint32_t e = 0; e < lanes; e++) {
        for (uint32_t half = 0; half < 2; half++) {
            const unsigned y = (2 * e + half) & 7;
            AMX_ISSUE(ctx, 9, t->extract_mode | (uint64_t)(e * t->bytes + half) << 20 | AMX_YOFF(64 * y));
            fma_issue(ctx, t, AMX_YOFF(64 * y) | AMX_ZROW(RESULT_ROW) | SKIP_X | first);
            first = 0;
        }
    }
}

void gemv_run(struct amx_ctx *ctx, const struct gemv_args *args)
{
    const struct gemv_type *t = &types[args->is_f64 != 0];
    const struct gemv_plan p = plan_of(args->n, t->bytes);
    uint8_t *work = (uint8_t *)(uintptr_t)args->workspace, *y_out = (uint8_t *)(uintptr_t)args->y;
    const uint8_t *a = (const uint8_t *)(uintptr_t)args->a;
    const uint64_t row_bytes = args->lda * t->bytes, used = (uint64_t)args->n * t->bytes;
    const uint32_t chunks = (uint32_t)(used / CHUNK_BYTES), tail = (uint32_t)(used % CHUNK_BYTES);

    /* x and the row tails end in zeros, so that whole chunks can be multiplied. */
    AMX_SCALAR_BEGIN(ctx);
    __builtin_memset(work + p.x_at + used, 0, p.tail_at - used);
    __builtin_memset(work + p.tail_at, 0, 16 * CHUNK_BYTES);
    gemm_copy_rows(ctx, work + p.x_at, used, (const void *)(uintptr_t)args->x, used, 1, (uint32_t)used);
    AMX_SET(ctx);
    for (uint32_t i = 0; i < args->m; i += t->rows) {
        const uint32_t rows = args->m - i < t->rows ? args->m - i : t->rows;
        const uint8_t *block = a + i * row_bytes;
        uint64_t first = AMX_SKIP_Z;
        for (uint32_t c = 0; c < chunks; c++, first = 0)
            chunk(ctx, t, AMX_ADDRESS(ctx, work + p.x_at + (uint64_t)c * CHUNK_BYTES),
                  AMX_ADDRESS(ctx, block + (uint64_t)c * CHUNK_BYTES), row_bytes, rows, first, 2 * (c & 3));
        if (tail) {
            gemm_copy_rows(ctx, work + p.tail_at, CHUNK_BYTES, block + (uint64_t)chunks * CHUNK_BYTES, row_bytes, rows, tail);
            chunk(ctx, t, AMX_ADDRESS(ctx, work + p.x_at + (uint64_t)chunks * CHUNK_BYTES), AMX_ADDRESS(ctx, work + p.tail_at),
                  CHUNK_BYTES, rows, first, 2 * (chunks & 3));
        }
        reduce(ctx, t);
        AMX_ISSUE(ctx, AMXI_STZ, AMX_ADDRESS(ctx, work + p.y_at) | AMX_REG(RESULT_ROW));
        gemm_copy_rows(ctx, y_out + (uint64_t)i * t->bytes, 0, work + p.y_at, 0, 1, rows * t->bytes);
    }
    AMX_CLR(ctx);
}
