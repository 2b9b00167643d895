/* gemm of several cores, qgemm and feedforward: native/products.c, native/requantise.c, native/bias.c. gemm of one core has a way
 * of its own, in-process (sim/workload/amx). */
#include "units/amx/kernels/amx_kernel_product.h"

#include <math.h>
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

/* Panels of threads that share an L2 stay in it together: four cores have 12 MiB at least. Blocks of one core are larger, and so
 * are those of threads whose panels are small in any case (gemm.c). Bytes. */
enum { LONG_LINE = 16384, SHARED_LINE = 4096, SHARED_A = 1 << 20, SHARED_B = 2 << 20 };

static struct gemm_blocks blocks_for(const struct routine_request *r, const struct amx_kernel_product *p)
{
    const uint32_t size = gemm_shape_of(p->kind)->in_bytes, most = SHARED_LINE / size;
    const int64_t line = p->k * size < LONG_LINE ? p->k * size : LONG_LINE;
    if (r->threads < 2 || (p->m * line <= SHARED_A && p->n * line <= SHARED_B))
        return (struct gemm_blocks){0, 0, 0, 0};
    const uint32_t k = p->k < most ? (uint32_t)p->k : most;
    return (struct gemm_blocks){SHARED_A / (k * size), SHARED_B / (k * size), most, 0};
}

/* ORDER: struct product, struct gemm_args. */
static void pass(const struct routine_request *r, const struct routine_work *w, const struct amx_kernel_product *p,
                 uint64_t bands, struct routine_call *c)
{
    const bool is_f64 = p->kind == GEMM_F64, whole = p->kind == GEMM_I8_I32;
    const int64_t m = p->m, n = p->n, k = p->k;
    const struct gemm_blocks blocks = blocks_for(r, p);
    routine_pass_operand(c, p->a, 0);
    routine_pass_operand(c, p->b, 0);
    routine_pass_operand(c, p->result, 0);
    routine_pass_operand(c, p->own, 0);
    routine_pass(c, p->ta ? m : k);
    routine_pass(c, p->tb ? k : n);
    routine_pass(c, n);
    routine_pass(c, p->one_a ? 0 : m * k);
    routine_pass(c, k * n);
    routine_pass(c, m * n);
    pass_pair(c, m, n);
    pass_pair(c, k, 1);
    pass_pair(c, p->ta, p->tb);
    pass_pair(c, r->generation > 1, p->kind);
    if (whole) {
        routine_pass(c, 1);
        routine_pass(c, 0);
    } else {
        pass_factor(c, is_f64, p->alpha);
        pass_factor(c, is_f64, p->beta);
    }
    pass_pair(c, blocks.m, blocks.n);
    pass_pair(c, blocks.k, 0);
    routine_pass(c, (int64_t)w->operand[p->own].thread_stride_bytes);
    routine_pass(c, (int64_t)bands);
}

static uint64_t tiles_of(int64_t count, uint32_t tile)
{
    return ((uint64_t)count + tile - 1) / tile;
}

/* How many bands of columns threads share: each packs its rows of a and its columns of b, which is least where parts are as high
 * as they are wide. Bands are filled, and every thread has rows of its own in one of them. */
static uint64_t bands_for(const struct amx_kernel_product *p, const struct gemm_shape *s, uint64_t threads)
{
    const uint64_t rows = (uint64_t)p->batch * tiles_of(p->m, s->tile_m), columns = tiles_of(p->n, s->tile_n);
    uint64_t best = 1;
    double least = INFINITY;
    for (uint64_t bands = 1; bands <= threads && bands <= columns; bands++) {
        const double packed = (double)p->m * (double)(p->batch * bands) / (double)threads + (double)p->n / (double)bands;
        if (threads % bands || columns % bands || rows < threads / bands || packed >= least)
            continue;
        least = packed;
        best = bands;
    }
    return best;
}

/* Adds the call of a product. Each thread packs what it needs: by rows as long as every thread gets some. */
bool amx_kernel_add_product(const struct routine_request *r, struct routine_work *w, struct amx_kernel_product *p,
                            struct isa_error *error)
{
    const struct gemm_shape *const s = gemm_shape_of(p->kind);
    const int64_t most = INT64_C(1) << 28;
    if (p->m > most || p->n > most || p->k > most)
        return kernel_refuse(error, "%s on amx wants MxNxK, three numbers up to 268435456", r->row->operation->name);
    const uint64_t rows = (uint64_t)p->batch * tiles_of(p->m, s->tile_m),
                   columns = (uint64_t)p->batch * tiles_of(p->n, s->tile_n);
    const unsigned threads = r->threads ? r->threads : 1;
    const bool by_columns = rows < 2 * threads && columns > rows;
    const uint64_t bands = by_columns ? 0 : bands_for(p, s, threads);
    if (!p->own)
        p->own =
            routine_add_scratch(w, "own", gemm_workspace_bytes(p->kind, (uint32_t)p->m, (uint32_t)p->n, (uint32_t)p->k), threads);
    pass(r, w, p, bands,
         routine_add_call(w, "amx_gemm", ROUTINE_TYPES,
                          by_columns  ? "columns of tiles of c"
                          : bands > 1 ? "rows of tiles of bands of c"
                                      : "rows of tiles of c",
                          by_columns ? columns : bands * rows));
    return true;
}

static bool build(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    const bool is_f64 = r->type == ROUTINE_F64;
    const int64_t *const v = r->value;
    struct amx_kernel_product p = {.kind = is_f64 ? GEMM_F64 : GEMM_F32,
                                   .m = v[GEMM_M],
                                   .n = v[GEMM_N],
                                   .k = v[GEMM_K],
                                   .batch = v[GEMM_BATCH],
                                   .ta = v[GEMM_TA],
                                   .tb = v[GEMM_TB],
                                   .alpha = r->decimal[GEMM_ALPHA],
                                   .beta = r->decimal[GEMM_BETA],
                                   .b = 1,
                                   .result = 2};
    w->epsilon = is_f64 ? 0x1p-52 : w->epsilon; /* the reference is no better */
    snprintf(w->variant, sizeof w->variant, "%s_%s%s", is_f64 ? "dgemm" : "sgemm", is_f64 ? "32x16" : "32x32",
             r->generation > 1 ? "_quad" : "");
    return amx_kernel_add_product(r, w, &p, error);
}

static const struct kernel_parameter quantised_parameters[] = {ROUTINE_QGEMM_PARAMETERS, {.name = NULL}};

/* ORDER: native/requantise.c. */
static bool build_quantised(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    enum { BIAS = 2, SCALE, OUT };
    const int64_t *const v = r->value;
    const uint64_t count = (uint64_t)v[QGEMM_M] * (uint64_t)v[QGEMM_N];
    struct amx_kernel_product p = {.kind = GEMM_I8_I32, .m = v[QGEMM_M], .n = v[QGEMM_N], .k = v[QGEMM_K], .batch = 1, .b = 1};
    p.result = routine_add_scratch(w, "sums", 4 * count, 0);
    if (!amx_kernel_add_product(r, w, &p, error))
        return false;
    struct routine_call *const c = routine_add_call(w, "amx_requantise", ROUTINE_TYPES, "rows of c", (uint64_t)v[QGEMM_M]);
    routine_pass_operand(c, p.result, 0);
    routine_pass_operand(c, BIAS, 0);
    routine_pass_operand(c, SCALE, 0);
    routine_pass_operand(c, OUT, 0);
    routine_pass(c, v[QGEMM_N]);
    routine_pass(c, v[QGEMM_ZERO]);
    routine_pass(c, v[QGEMM_ACT] ? v[QGEMM_ZERO] : -128);
    snprintf(w->variant, sizeof w->variant, "amx_qgemm_16x64%s", r->generation > 1 ? "_quad" : "");
    return true;
}

static const struct kernel_parameter feed_parameters[] = {ROUTINE_FEED_PARAMETERS, {.name = NULL}};

/* ORDER: native/bias.c. */
static void add_bias(struct routine_work *w, unsigned x, unsigned bias, int64_t rows, int64_t columns, int64_t function)
{
    struct routine_call *const c = routine_add_call(w, "amx_bias", ROUTINE_TYPES, "rows", (uint64_t)rows);
    routine_pass_operand(c, x, 0);
    routine_pass_operand(c, bias, 0);
    routine_pass(c, columns);
    routine_pass(c, function);
}

static bool build_feedforward(const struct routine_request *r, struct routine_work *w, struct isa_error *error)
{
    enum { IN, FIRST, FIRST_BIAS, SECOND, SECOND_BIAS, OUT, NO_FUNCTION = -1 };
    const int64_t m = r->value[FEED_M], e = r->value[FEED_E], f = r->value[FEED_F];
    const unsigned hidden = routine_add_scratch(w, "hidden", 4 * (uint64_t)m * (uint64_t)f, 0);
    struct amx_kernel_product up = {
        .kind = GEMM_F32, .m = m, .n = f, .k = e, .batch = 1, .alpha = 1, .a = IN, .b = FIRST, .result = hidden};
    struct amx_kernel_product down = {
        .kind = GEMM_F32, .m = m, .n = e, .k = f, .batch = 1, .alpha = 1, .a = hidden, .b = SECOND, .result = OUT};
    if (!amx_kernel_add_product(r, w, &up, error))
        return false;
    add_bias(w, hidden, FIRST_BIAS, m, f, operation_feedforward_function(r));
    if (!amx_kernel_add_product(r, w, &down, error))
        return false;
    add_bias(w, OUT, SECOND_BIAS, m, e, NO_FUNCTION);
    snprintf(w->variant, sizeof w->variant, "amx_feedforward_32x32%s", r->generation > 1 ? "_quad" : "");
    return true;
}

const struct routine amx_kernel_feedforward = {
    .operation = &operation_feedforward,
    .grammar = "MxExF[,act=NAME]",
    .precisions = "f32",
    .text = "out = act(x * w1 + b1) * w2 + b2 for M rows of E, F wide in between; "
            "act: gelu (usual), gelu_tanh, relu, silu, sigmoid, tanh",
    .parameter = feed_parameters,
    .build = build_feedforward,
};

const struct routine amx_kernel_qgemm = {
    .operation = &operation_qgemm,
    .grammar = "MxNxK[,zero=Z][,act=none|relu]",
    .precisions = "i8",
    .text = "c = a * b + bias in whole numbers, times a scale for each column in f32, rounded, plus zero, as signed bytes",
    .parameter = quantised_parameters,
    .build = build_quantised,
};

const struct routine amx_kernel_gemm = {
    .operation = &operation_gemm,
    .grammar = "MxNxK[,batch=B][,ta=0|1][,tb=0|1][,alpha=X][,beta=X]",
    .precisions = "f32 f64",
    .text = "c = alpha * op(a) * op(b) + beta * c, row-major, shared by several cores; ta/tb: operand stored transposed",
    .parameter = parameters,
    .build = build,
};
