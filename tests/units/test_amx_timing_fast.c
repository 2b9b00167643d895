/* Loops of the library's kernels that an AMX block accounts for at once leave every time, stall, counter and cache exactly as
 * instructions sent one by one do, on several chips.
 */
#include "tests/units/amx_timing_pair.h"
#include "units/amx/kernels/amx_intrinsics.h"
#include "units/amx/kernels/gemm.h"

/* ---- the library's kernels ---- */

static void flush(struct amx_ctx *ctx)
{
    send_both(ctx->owner, ctx->op, ctx->operand, ctx->count);
    ctx->count = 0;
}

static int take_passes(struct amx_ctx *ctx, uint32_t first, uint32_t second, uint32_t left)
{
    struct amx_passes passes;
    if (!amx_passes_of(&passes, ctx->op + first, ctx->operand + first, second - first, left + 2))
        return 0;
    ctx->count = first;
    flush(ctx);
    send_passes(ctx->owner, &passes);
    return 1;
}

static void touch_both(struct amx_ctx *ctx, const void *host, uint64_t bytes, enum mem_access_kind kind)
{
    struct pair *p = ctx->owner;
    touch(&p->fast, (uint64_t)(uintptr_t)host - ctx->host_base, bytes, kind);
    touch(&p->plain, (uint64_t)(uintptr_t)host - ctx->host_base, bytes, kind);
}

static void copied(struct amx_ctx *ctx, const void *dst, uint64_t dst_row, const void *src, uint64_t src_row, uint32_t rows,
                   uint32_t row_bytes)
{
    (void)src_row;
    touch_both(ctx, src, row_bytes, MEM_ACCESS_LOAD);
    for (uint32_t r = 0; r < rows; r++)
        touch_both(ctx, (const char *)dst + r * dst_row, row_bytes, MEM_ACCESS_STORE);
}

static void transposed(struct amx_ctx *ctx, const void *dst, uint64_t dst_row, const void *src, uint64_t src_row,
                       uint32_t vectors, uint32_t count, uint32_t element_bytes)
{
    (void)src_row;
    (void)vectors;
    touch_both(ctx, src, (uint64_t)count * element_bytes, MEM_ACCESS_LOAD);
    touch_both(ctx, dst, (uint64_t)count * dst_row, MEM_ACCESS_STORE);
}

static void run_gemm_in(const char *chip, enum gemm_kind kind, uint32_t m, uint32_t n, uint32_t k, double least_share,
                        bool passes)
{
    struct pair p;
    const struct gemm_shape *s = gemm_shape_of(kind);
    const uint64_t each = (uint64_t)1 << 23, work = gemm_workspace_bytes(kind, m, n, k);
    uint8_t *memory = aligned_alloc(1 << 14, 4 * each + (work + (1 << 14)) / (1 << 14) * (1 << 14));
    if (!memory || !open_pair(&p, chip))
        return;
    memset(memory, 0, 3 * each);
    const uint64_t base = (uint64_t)(uintptr_t)memory;
    struct amx_ctx *ctx = calloc(1, sizeof *ctx);
    *ctx = (struct amx_ctx){.host_base = base - (1 << 20),
                            .flush = flush,
                            .copy = copied,
                            .transpose = transposed,
                            .owner = &p,
                            .passes = passes ? take_passes : NULL};
    const struct gemm_args args = {.a = base,
                                   .b = base + each,
                                   .c = base + 2 * each,
                                   .workspace = base + 3 * each,
                                   .lda = k,
                                   .ldb = n,
                                   .ldc = n,
                                   .m = m,
                                   .n = n,
                                   .k = k,
                                   .batch = 1,
                                   .kind = kind,
                                   .quad_loads = p.fast.core->gen >= AMX_GEN_M2,
                                   .alpha_bits = s->out_bytes == 8                             ? UINT64_C(0x3ff0000000000000)
                                                 : kind == GEMM_F16                            ? 0x3c00
                                                 : kind == GEMM_I8_I32 || kind == GEMM_I16_I32 ? 1
                                                                                               : 0x3f800000};
    gemm_run(ctx, &args);
    if (ctx->count)
        flush(ctx);
    const double share = compare_machines(&p);
    CHECK(share >= least_share, "%s, kind %d: only %.3f at once", chip, (int)kind, share);
    free(ctx);
    free(memory);
    close_pair(&p);
}

static void run_gemm(const char *chip, enum gemm_kind kind, uint32_t m, uint32_t n, uint32_t k, double least_share)
{
    run_gemm_in(chip, kind, m, n, k, least_share, false);
    run_gemm_in(chip, kind, m, n, k, least_share, true);
}

static void test_kernels_m1(void)
{
    run_gemm("m1", GEMM_F32, 256, 256, 1024, 0.5);
    run_gemm("m1", GEMM_F64, 128, 128, 512, 0.5);
    run_gemm("m1", GEMM_F16, 256, 256, 512, 0.3);
    run_gemm("m1", GEMM_I8_I32, 128, 256, 512, 0.3);
    run_gemm("m1", GEMM_F16_F32, 128, 128, 512, 0.3);
}

static void test_kernels_elsewhere(void)
{
    static const char *const chips[] = {"m1-max", "m2", "m3-max", "m4"};
    for (unsigned i = 0; i < ARRAY_COUNT(chips); i++) {
        run_gemm(chips[i], GEMM_F32, 128, 128, 512, 0);
        run_gemm(chips[i], GEMM_F64, 96, 80, 300, 0);
        run_gemm(chips[i], GEMM_I8_I32, 64, 128, 512, 0);
        run_gemm(chips[i], GEMM_BF16_F32, 64, 128, 512, 0);
    }
    run_gemm("m2-max", GEMM_F32, 128, 128, 1024, 0.5);
    run_gemm("m3-max", GEMM_F32, 128, 128, 1024, 0.5);
    run_gemm("m2-max", GEMM_F16, 128, 128, 1024, 0.3);
}

static const struct suite_test tests[] = {
    {"gemm on M1", test_kernels_m1},
    {"gemm on other chips", test_kernels_elsewhere},
};
SUITE_MAIN("amx timing fast", tests)
