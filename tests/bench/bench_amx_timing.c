/* Host time that AMX timing takes per instruction: the instructions of the library's gemm on M1 (no values, no packing), with
 * ideal memory and with the chip's memory, with loops sent instruction by instruction and with whole loops sent at once.
 */
#include "sim/soc/soc.h"
#include "units/amx/kernels/amx_intrinsics.h"
#include "units/amx/kernels/gemm.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

struct sink {
    struct soc_core *core;
    double now_ns, step_ns, host_seconds;
    uint64_t instructions;
};

static double cpu_seconds(void)
{
    struct timespec ts;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts); /* The host is shared, so only the time of this process counts. */
    return (double)ts.tv_sec + 1e-9 * (double)ts.tv_nsec;
}

static void flush(struct amx_ctx *ctx)
{
    struct sink *s = ctx->owner;
    const double begin = cpu_seconds();
    s->now_ns = soc_core_send_amx_batch(s->core, s->now_ns, s->step_ns, ctx->op, ctx->operand, ctx->count);
    s->host_seconds += cpu_seconds() - begin;
    s->instructions += ctx->count;
    ctx->count = 0;
}

static void copied(struct amx_ctx *ctx, const void *dst, uint64_t dst_row, const void *src, uint64_t src_row, uint32_t rows,
                   uint32_t row_bytes)
{
    (void)ctx, (void)dst, (void)dst_row, (void)src, (void)src_row, (void)rows, (void)row_bytes;
}

static void transposed(struct amx_ctx *ctx, const void *dst, uint64_t dst_row, const void *src, uint64_t src_row,
                       uint32_t vectors, uint32_t count, uint32_t element_bytes)
{
    (void)ctx, (void)dst, (void)dst_row, (void)src, (void)src_row, (void)vectors, (void)count, (void)element_bytes;
}

static void measure(const char *what, struct soc *soc, struct soc_core *core, enum gemm_kind kind, bool repeats)
{
    enum { N = 1024 };
    const uint64_t matrix = (uint64_t)N * N * 8, work = gemm_workspace_bytes(kind, N, N, N);
    uint8_t *memory = aligned_alloc(1 << 14, 3 * matrix + (work + (1 << 14)) / (1 << 14) * (1 << 14));
    struct amx_ctx *ctx = calloc(1, sizeof *ctx);
    struct sink best = {0};
    if (!memory || !ctx)
        return;
    const uint64_t base = (uint64_t)(uintptr_t)memory;
    const struct gemm_args args = {.a = base,
                                   .b = base + matrix,
                                   .c = base + 2 * matrix,
                                   .workspace = base + 3 * matrix,
                                   .lda = N,
                                   .ldb = N,
                                   .ldc = N,
                                   .m = N,
                                   .n = N,
                                   .k = N,
                                   .batch = 1,
                                   .kind = kind,
                                   .alpha_bits = kind == GEMM_F64 ? UINT64_C(0x3ff0000000000000) : 0x3f800000};
    amx_block_set_repeats(core->amx, repeats);
    for (unsigned pass = 0; pass < 4; pass++) {
        struct sink s = {.core = core, .step_ns = soc_core_send_step_ns(core)};
        *ctx =
            (struct amx_ctx){.host_base = base - (1 << 20), .flush = flush, .copy = copied, .transpose = transposed, .owner = &s};
        soc_restart(soc, true);
        gemm_run(ctx, &args);
        flush(ctx);
        if (pass == 1 || (pass > 1 && s.host_seconds < best.host_seconds))
            best = s;
    }
    printf("%-32s %-12s %6.2f M instructions  %6.2f ns each  %3.0f%% at once\n", what, repeats ? "at once" : "one by one",
           1e-6 * (double)best.instructions, 1e9 * best.host_seconds / (double)best.instructions,
           100.0 * (double)amx_block_repeated(core->amx) / (double)best.instructions);
    free(ctx);
    free(memory);
}

int main(void)
{
    struct orch_error error = {0};
    struct chip_db *db = chip_db_open(NULL, &error);
    struct chip *chip = db ? chip_open(db, "m1", NULL, &error) : NULL;
    struct soc *soc = chip ? soc_create(chip, &error) : NULL;
    struct soc_core *core;
    if (!soc || !soc_place(soc, 1, SOC_P_CORE, &core, &error)) {
        fprintf(stderr, "%s\n", error.text);
        return 1;
    }
    for (int repeats = 0; repeats < 2; repeats++) {
        measure("gemm f32 1024, M1's memory", soc, core, GEMM_F32, repeats);
        measure("gemm f64 1024, M1's memory", soc, core, GEMM_F64, repeats);
    }
    amx_block_set_port(core->amx, core->slot, NULL, 0);
    for (int repeats = 0; repeats < 2; repeats++) {
        measure("gemm f32 1024, ideal memory", soc, core, GEMM_F32, repeats);
        measure("gemm f64 1024, ideal memory", soc, core, GEMM_F64, repeats);
    }
    soc_free(soc);
    chip_close(chip);
    chip_db_close(db);
    return 0;
}
