/* gemv: y = A x. */
#include "isa/array_count.h"
#include "units/gpu/kernels/gpu_gemv.h"
#include "units/gpu/kernels/gpu_kernel_family.h"

#include <stdio.h>

enum { M, N, VECTORS, FOUR = 4, LANES = 32 };

static const struct kernel_parameter parameters[] = {
    {.name = "m", .least = 1, .most = INT64_C(1) << 40, .required = true},
    {.name = "n", .least = 1, .most = 1 << 30, .required = true},
    {.name = "vectors", .words = "own|f32"},
    {.name = NULL},
};

void gpu_gemv_place(struct gpu_emit *e, const struct gpu_gemv *g, unsigned row, unsigned lane)
{
    const unsigned group = gpu_register(e, 1);
    gpu_emit(e, "get_sr r%u, sr%d", lane, GPU_SR_LANE);
    gpu_emit(e, "get_sr r%u, sr%d", row, GPU_SR_SIMDGROUP);
    gpu_emit(e, "get_sr r%u, sr%d", group, GPU_SR_GROUP_X);
    gpu_mad_imm(e, row, group, GPU_GEMV_SIMDGROUPS, row);
    gpu_mad_imm(e, row, row, g->rows, GPU_NO_REGISTER);
    gpu_register_free(e, group, 1);
}

void gpu_gemv_row(struct gpu_emit *e, const struct gpu_gemv *g, unsigned to, unsigned row, unsigned number)
{
    gpu_add_imm(e, to, row, number);
    if (g->m % (g->rows * GPU_GEMV_SIMDGROUPS))
        gpu_min_imm(e, to, to, g->m - 1);
}

void gpu_gemv_finish(struct gpu_emit *e, const struct gpu_gemv *g, enum gpu_type type, unsigned sum, unsigned row, unsigned lane)
{
    const struct gpu_base y = gpu_argument_buffer(e, g->y, 0);
    for (unsigned i = 0; i < g->rows; i++)
        gpu_simd_reduce(e, "fadd", sum + i, sum + i);
    gpu_if(e, "ueq", gpu_r(e, lane), "0");
    for (unsigned i = 0; i < g->rows; i++) {
        gpu_if(e, "ult", gpu_r(e, row), gpu_int(e, g->m));
        gpu_store_element(e, 1, type, sum + i, y, gpu_r(e, row));
        gpu_endif(e);
        gpu_add_imm(e, row, row, 1);
    }
    gpu_endif(e);
    const uint32_t rows = g->rows * GPU_GEMV_SIMDGROUPS, threads = LANES * GPU_GEMV_SIMDGROUPS;
    gpu_emit_grid(e, (g->m + rows - 1) / rows * threads, 1, 1, threads, 1, 1);
}

/* ---- plain matrices ---- */

struct dense {
    const struct gpu_gemv *g;
    struct gpu_emit *e;
    struct gpu_base a, x;
    unsigned index[GPU_GEMV_ROWS_MAX], column;
    unsigned data[GPU_GEMV_ROWS_MAX], vector; /* four registers each */
    unsigned sum;
};

/* Processes `count` columns from this lane's on. */
static void dense_columns(struct dense *d, unsigned count)
{
    const enum gpu_type type = d->g->type;
    gpu_load_raw(d->e, 0, d->g->vector, count, 2 * d->vector, d->x, gpu_r(d->e, d->column));
    for (unsigned i = 0; i < d->g->rows; i++)
        gpu_load_raw(d->e, 0, type, count, 2 * d->data[i], d->a, gpu_r(d->e, d->index[i]));
    gpu_wait(d->e, 0);
    gpu_widen(d->e, d->g->vector, count, d->vector, 2 * d->vector);
    for (unsigned i = 0; i < d->g->rows; i++) {
        gpu_widen(d->e, type, count, d->data[i], 2 * d->data[i]);
        for (unsigned j = 0; j < count; j++)
            gpu_emit(d->e, "fmadd32 r%u, r%u, r%u, r%u", d->sum + i, d->data[i] + j, d->vector + j, d->sum + i);
    }
}

static void dense_move(struct dense *d, unsigned by_register, int64_t by)
{
    for (unsigned i = 0; i <= d->g->rows; i++) {
        const unsigned at = i < d->g->rows ? d->index[i] : d->column;
        if (by_register != GPU_NO_REGISTER)
            gpu_emit(d->e, "iadd r%u, r%u, r%u", at, at, by_register);
        else
            gpu_add_imm(d->e, at, at, by);
    }
}

/* Fours while whole ones exist, each lane for itself; the last n % 4 columns are taken by as many lanes. */
static void dense_body(struct dense *d, unsigned lane)
{
    const uint32_t whole = d->g->n / FOUR * FOUR, rest = d->g->n % FOUR;
    const unsigned back = gpu_register(d->e, 1), four = gpu_register(d->e, 1);
    gpu_shl(d->e, four, lane, 2);
    dense_move(d, four, 0);
    if (whole) {
        gpu_if(d->e, "ult", gpu_r(d->e, d->column), gpu_int(d->e, whole));
        gpu_do(d->e);
        dense_columns(d, FOUR);
        dense_move(d, GPU_NO_REGISTER, (int64_t)FOUR * LANES);
        gpu_while(d->e, "ult", gpu_r(d->e, d->column), gpu_int(d->e, whole));
        gpu_endif(d->e);
    }
    if (rest) {
        gpu_if(d->e, "ult", gpu_r(d->e, lane), gpu_int(d->e, rest));
        gpu_add_imm(d->e, back, lane, whole);
        gpu_emit(d->e, "isub r%u, r%u, r%u", back, back, d->column);
        dense_move(d, back, 0);
        dense_columns(d, 1);
        gpu_endif(d->e);
    }
}

static bool build_dense(const struct gpu_gemv *g, struct gpu_kernel *kernel, struct isa_error *error)
{
    char variant[32];
    snprintf(variant, sizeof variant, "gemv_%s%s_%u_rows", g->vector != g->type ? "wide_" : "", gpu_type_name(g->type), g->rows);
    struct dense d = {.g = g, .e = gpu_emit_begin(kernel, variant, error)};
    const unsigned row = gpu_register(d.e, 1), lane = gpu_register(d.e, 1);
    d.a = gpu_argument_buffer(d.e, g->a, 0);
    d.x = gpu_argument_buffer(d.e, g->x, 0);
    d.column = gpu_register(d.e, 1);
    d.vector = gpu_register(d.e, FOUR);
    d.sum = gpu_register(d.e, g->rows);
    gpu_gemv_place(d.e, g, row, lane);
    gpu_mov_imm(d.e, d.column, 0);
    for (unsigned i = 0; i < g->rows; i++) {
        d.index[i] = gpu_register(d.e, 1);
        d.data[i] = gpu_register(d.e, FOUR);
        gpu_gemv_row(d.e, g, d.index[i], row, i);
        gpu_mad_imm(d.e, d.index[i], d.index[i], g->n, GPU_NO_REGISTER);
        gpu_mov_imm(d.e, d.sum + i, 0);
    }
    dense_body(&d, lane);
    gpu_gemv_finish(d.e, g, g->vector, d.sum, row, lane);
    return gpu_emit_end(d.e);
}

/* ---- the row ---- */

static bool is_quantised(enum gpu_type type)
{
    return type == GPU_Q4_0 || type == GPU_Q8_0 || type == GPU_Q4_K || type == GPU_Q6_K;
}

static bool check_size(const struct gpu_gemv *g, uint64_t rows, struct isa_error *error)
{
    const uint32_t block = g->type == GPU_Q4_K || g->type == GPU_Q6_K ? 256 : is_quantised(g->type) ? 32 : 1;
    if (g->n % block)
        return kernel_refuse(error, "gemv: rows of %s are whole blocks of %u weights; n = %u is not", gpu_type_name(g->type),
                             (unsigned)block, (unsigned)g->n);
    if (rows > (uint64_t)GPU_KERNEL_ELEMENTS_MAX / g->n)
        return kernel_refuse(error, "gemv: the matrix has more than 2^31 - 1 elements");
    return true;
}

/* Several rows share what is loaded of x, unless that would leave cores without work. */
static unsigned choose_rows(uint32_t m, uint32_t cores)
{
    unsigned rows = GPU_GEMV_ROWS_MAX;
    while (rows > 1 && m < 2 * rows * GPU_GEMV_SIMDGROUPS * cores)
        rows /= 2;
    return rows;
}

static bool build(const struct gpu_kernel_request *r, struct gpu_kernel *kernel, struct isa_error *error)
{
    struct gpu_gemv g = {.m = (uint32_t)r->value[M], .n = (uint32_t)r->value[N], .type = r->type};
    const enum gpu_type vector = is_quantised(g.type) || r->value[VECTORS] ? GPU_F32 : g.type;
    const uint64_t weights = (uint64_t)g.m * g.n;
    if (!check_size(&g, (uint64_t)r->value[M], error))
        return false;
    g.vector = vector;
    g.rows = choose_rows(g.m, r->cores ? r->cores : 1);
    g.a = gpu_kernel_add_buffer(kernel, "a", g.type, weights, GPU_BUFFER_INPUT, -1, 1);
    g.x = gpu_kernel_add_buffer(kernel, "x", vector, g.n, GPU_BUFFER_INPUT, -1, 1);
    g.y = gpu_kernel_add_buffer(kernel, "y", vector, g.m, GPU_BUFFER_OUTPUT, 0, 0);
    kernel->macs = (double)weights;
    kernel->flops = 2 * kernel->macs;
    kernel->min_bytes = (double)(gpu_type_bytes(g.type, weights) + gpu_type_bytes(vector, (uint64_t)g.m + g.n));
    return g.type == GPU_Q6_K     ? gpu_gemv_build_six(&g, kernel, error)
           : is_quantised(g.type) ? gpu_gemv_build_quantised(&g, kernel, error)
                                  : build_dense(&g, kernel, error);
}

static const struct gpu_kernel_info rows[] = {
    {"gemv", "MxN[,vectors=own|f32]", "f32 f16 bf16 q4_0 q8_0 q4_k q6_k",
     "y = a * x, a row-major, sums in f32; quantised matrices: GGUF blocks along rows, x and y in f32; vectors=f32: so are those "
     "of other matrices",
     2, parameters, build},
};
const struct gpu_kernel_family gpu_family_gemv = {rows, ARRAY_COUNT(rows)};
