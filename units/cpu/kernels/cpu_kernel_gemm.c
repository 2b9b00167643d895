/* gemm: native/gemm.c, gemm_i8.c. */
#include "units/cpu/kernels/cpu_kernel_family.h"

#include <stdio.h>

/* ORDER: native/gemm_tile.h. */
enum { TILE_ROWS = 8, TILE_COLUMNS = 12, BLOCK_PANELS = 8, K_GROUP_I8 = 4 };

static const struct kernel_parameter parameters[] = {ROUTINE_GEMM_PARAMETERS, {.name = NULL}};

static uint64_t panels_of(uint64_t count, unsigned width)
{
    return (count + width - 1) / width;
}

static bool build(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    const uint64_t m = (uint64_t)r->value[GEMM_M], n = (uint64_t)r->value[GEMM_N], k = (uint64_t)r->value[GEMM_K];
    const uint64_t batch = (uint64_t)r->value[GEMM_BATCH], rows = panels_of(m, TILE_ROWS), columns = panels_of(n, TILE_COLUMNS);
    const bool whole = r->type == ROUTINE_I8;
    const uint64_t depth = whole ? (k + K_GROUP_I8 - 1) / K_GROUP_I8 * K_GROUP_I8 : 4 * k; /* bytes of one row or column */
    const unsigned threads = r->threads ? r->threads : 1;
    /* Each thread packs the rows that it needs: by rows as long as every thread gets some. */
    const bool by_columns = rows * batch < 2 * threads && columns * batch > rows * batch;
    if (!routine_check_count("gemm", ROUTINE_DIMS(batch * columns, TILE_COLUMNS, depth), error))
        return false;
    const unsigned packed = routine_add_scratch(w, "packed", batch * columns * TILE_COLUMNS * depth, 0);
    const unsigned own = routine_add_scratch(w, "own", BLOCK_PANELS * TILE_ROWS * depth, threads);
    struct routine_call *const calls[] = {
        routine_add_call(w, "neon_gemm_pack", r->type, "panels of 12 columns of b", batch * columns),
        routine_add_call(w, "neon_gemm", r->type, by_columns ? "panels of 12 columns of c" : "panels of 8 rows of c",
                         batch * (by_columns ? columns : rows))};
    for (int i = 0; i < 2; i++) {
        for (unsigned operand = 0; operand < 3; operand++)
            routine_pass_operand(calls[i], operand, 0);
        routine_pass_operand(calls[i], packed, 0);
        routine_pass_operand(calls[i], own, 0);
        routine_pass(calls[i], (int64_t)w->operand[own].thread_stride_bytes);
        for (unsigned value = GEMM_M; value <= GEMM_TB; value++)
            routine_pass(calls[i], r->value[value]);
        routine_pass_real(calls[i], r->decimal[GEMM_ALPHA]);
        routine_pass_real(calls[i], r->decimal[GEMM_BETA]);
        routine_pass(calls[i], by_columns);
    }
    snprintf(w->variant, sizeof w->variant, whole ? "neon_igemm8_8x12_dot" : "neon_sgemm_8x12");
    if (r->type == ROUTINE_F16 || r->type == ROUTINE_BF16)
        snprintf(w->variant, sizeof w->variant, "neon_%ssgemm_8x12", r->type == ROUTINE_F16 ? "h" : "b");
    return true;
}

const struct routine cpu_kernel_gemm = {
    .operation = &operation_gemm,
    .grammar = "MxNxK[,batch=B][,ta=0|1][,tb=0|1][,alpha=X][,beta=X]",
    .precisions = "f32 f16 bf16 i8",
    .text =
        "c = alpha * op(a) * op(b) + beta * c, row-major, sums in f32 (i8: in i32, which is also the type of c); ta/tb: operand "
        "stored transposed",
    .parameter = parameters,
    .build = build,
};
