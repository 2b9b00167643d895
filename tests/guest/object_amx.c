/* C = A B with AMX words: K rows of 16 of A (transposed) and K rows of 16 of B, one outer product per step. */
#include "units/amx/kernels/amx_intrinsics.h"

void amx_matmul(const float *at, const float *b, float *c, uint64_t k)
{
    struct amx_ctx *ctx = 0;
    AMX_SET(ctx);
    for (uint64_t i = 0; i < k; i++) {
        AMX_ISSUE(ctx, AMXI_LDX, AMX_ADDRESS(ctx, b + 16 * i));
        AMX_ISSUE(ctx, AMXI_LDY, AMX_ADDRESS(ctx, at + 16 * i));
        AMX_ISSUE(ctx, AMXI_FMA32, i ? 0 : AMX_SKIP_Z);
    }
    for (uint64_t row = 0; row < 16; row++) /* f32 results sit in every fourth row of Z */
        AMX_ISSUE(ctx, AMXI_STZ, AMX_ADDRESS(ctx, c + 16 * row) | AMX_REG(4 * row));
    AMX_CLR(ctx);
}

/* The processor reads what AMX stored, without a barrier between them. */
float amx_then_cpu(const float *at, const float *b, float *c, uint64_t k)
{
    float sum = 0;
    amx_matmul(at, b, c, k);
    for (int i = 0; i < 256; i++)
        sum += c[i];
    return sum;
}
