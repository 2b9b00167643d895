/* gemm of several cores: native/products.c. That of one core has a way of its own, in-process (sim/workload/amx). */
#include "units/amx/kernels/amx_kernels.h"
#include "units/amx/kernels/gemm.h"

#include <stdio.h>
#include <string.h>

static const struct kernel_parameter parameters[] = {ROUTINE_GEMM_PARAMETERS, {.name = NULL}};

/* Two numbers of 32 bits, as struct gemm_args has them. */
static void pass_pair(struct routine_call *c, int64_t low, int64_t high)
{
    routine_pass(c, low | high << 32);
}

/* The bits of a factor in the type of the product. */
static void pass_factor(struct routine_call *c, bool is_f64, double factor)
{
    const float narrow = (float)factor;
    uint32_t bits;
    memcpy(&bits, &narrow, sizeof bits);
    if (is_f64)
        routine_pass_real(c, factor);
    else
        routine_pass(c, bits);
}

/* ORDER: struct product, struct gemm_args. */
static void pass(const struct routine_request *r, const struct routine_work *w, unsigned own, bool by_columns,
                 struct routine_call *c)
{
    const int64_t m = r->value[GEMM_M], n = r->value[GEMM_N], k = r->value[GEMM_K];
    const bool ta = r->value[GEMM_TA], tb = r->value[GEMM_TB], is_f64 = r->type == ROUTINE_F64;
    for (unsigned operand = 0; operand < 3; operand++)
        routine_pass_operand(c, operand, 0);
    routine_pass_operand(c, own, 0);
    routine_pass(c, ta ? m : k);
    routine_pass(c, tb ? k : n);
    routine_pass(c, n);
    routine_pass(c, m * k);
    routine_pass(c, k * n);
    routine_pass(c, m * n);
    pass_pair(c, m, n);
    pass_pair(c, k, 1);
    pass_pair(c, ta, tb);
    pass_pair(c, r->generation > 1, is_f64 ? GEMM_F64 : GEMM_F32);
    pass_factor(c, is_f64, r->decimal[GEMM_ALPHA]);
    pass_factor(c, is_f64, r->decimal[GEMM_BETA]);
    pass_pair(c, 0, 0);
    pass_pair(c, 0, 0);
    routine_pass(c, (int64_t)w->operand[own].thread_stride_bytes);
    routine_pass(c, by_columns);
}

static uint64_t tiles_of(int64_t count, uint32_t tile)
{
    return ((uint64_t)count + tile - 1) / tile;
}

static bool build(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    const bool is_f64 = r->type == ROUTINE_F64;
    const enum gemm_kind kind = is_f64 ? GEMM_F64 : GEMM_F32;
    const struct gemm_shape *const s = gemm_shape_of(kind);
    const int64_t m = r->value[GEMM_M], n = r->value[GEMM_N], k = r->value[GEMM_K], most = INT64_C(1) << 28;
    const uint64_t batch = (uint64_t)r->value[GEMM_BATCH];
    const uint64_t rows = batch * tiles_of(m, s->tile_m), columns = batch * tiles_of(n, s->tile_n);
    const unsigned threads = r->threads ? r->threads : 1;
    /* Each thread packs what it needs of the other side: by rows as long as every thread gets some. */
    const bool by_columns = rows < 2 * threads && columns > rows;
    if (m > most || n > most || k > most)
        return kernel_refuse(error, "gemm on amx wants MxNxK, three numbers up to 268435456");
    w->epsilon = is_f64 ? 0x1p-52 : w->epsilon; /* the reference is no better */
    const unsigned own =
        routine_add_scratch(w, "own", gemm_workspace_bytes(kind, (uint32_t)m, (uint32_t)n, (uint32_t)k), threads);
    pass(r, w, own, by_columns,
         routine_add_call(w, "amx_gemm", ROUTINE_TYPES, by_columns ? "columns of tiles of c" : "rows of tiles of c",
                          by_columns ? columns : rows));
    snprintf(w->variant, sizeof w->variant, "%s_%s%s", is_f64 ? "dgemm" : "sgemm", is_f64 ? "32x16" : "32x32",
             r->generation > 1 ? "_quad" : "");
    return true;
}

const struct routine amx_kernel_gemm = {
    .operation = &operation_gemm,
    .grammar = "MxNxK[,batch=B][,ta=0|1][,tb=0|1][,alpha=X][,beta=X]",
    .precisions = "f32 f64",
    .text = "c = alpha * op(a) * op(b) + beta * c, row-major, shared by several cores; ta/tb: operand stored transposed",
    .parameter = parameters,
    .build = build,
};
