/* gemm: the choice of the tile and of the number of parts of k, and the small programs around the tile program. */
#include "isa/array_count.h"
#include "units/gpu/kernels/gpu_gemm.h"
#include "units/gpu/kernels/gpu_kernel_family.h"

#include <string.h>

enum { M, N, K, BATCH, TA, TB, ALPHA, BETA, SPLIT, TILE, GATE };
enum { LEAST_PART = 128 /* of k: below that the sum of partial results costs more than it gains */, SPLIT_MAX = 64 };

static const struct kernel_parameter parameters[] = {
    {.name = "m", .least = 1, .most = 1 << 30, .required = true},
    {.name = "n", .least = 1, .most = 1 << 30, .required = true},
    {.name = "k", .least = 1, .most = 1 << 30, .required = true},
    {.name = "batch", .missing = 1, .least = 1, .most = 1 << 24},
    {.name = "ta", .least = 0, .most = 1},
    {.name = "tb", .least = 0, .most = 1},
    {.name = "alpha", .missing = 1, .least = -1000000, .most = 1000000, .decimal = true},
    {.name = "beta", .missing = 0, .least = -1000000, .most = 1000000, .decimal = true},
    {.name = "split", .missing = 0, .least = 0, .most = SPLIT_MAX},
    {.name = "tile", .words = "auto|32x32|32x64|64x32|64x64"}, /* rows x columns of a threadgroup */
    {.name = "gate", .least = 0, .most = 1},                   /* the product gates what is in c */
    {.name = NULL},
};

static bool check_size(const struct gpu_gemm *g, struct isa_error *error)
{
    const uint64_t a = gpu_kernel_count_of(g->m, g->k, g->batch), b = gpu_kernel_count_of(g->k, g->n, g->batch);
    const uint64_t c = gpu_kernel_count_of(g->m, g->n, g->batch);
    const uint32_t row_a = g->transposed_a ? g->m : g->k, row_b = g->transposed_b ? g->k : g->n;
    const uint32_t most = row_a > row_b ? row_a : row_b, row = most > g->n ? most : g->n;
    if (a == UINT64_MAX || b == UINT64_MAX || c == UINT64_MAX)
        return kernel_refuse(error, "gemm: an operand has more elements than any memory holds");
    if (g->split > 1 && c > (uint64_t)GPU_KERNEL_ELEMENTS_MAX / g->split)
        return kernel_refuse(error, "gemm: split=%u makes more than 2^31 - 1 partial results; split=1 makes none",
                             (unsigned)g->split);
    if (g->gated && (g->beta != 0.0F || gpu_gemm_is_far(g)))
        return kernel_refuse(error, g->beta != 0.0F ? "gemm: gate=1 multiplies what is in c, beta adds it: one of them"
                                                    : "gemm: gate=1 has operands of up to 2^31 - 1 elements");
    if (gpu_gemm_is_far(g) && row > GPU_GEMM_FAR_ROW_MAX)
        return kernel_refuse(error, "gemm: rows of operands beyond 2^31 - 1 elements have at most %u, not %u",
                             (unsigned)GPU_GEMM_FAR_ROW_MAX, (unsigned)row);
    return true;
}

/* ---- tiles and parts ---- */

static uint64_t groups_of(const struct gpu_gemm *g)
{
    const uint64_t rows = gpu_gemm_rows(g), columns = gpu_gemm_columns(g);
    return (g->m + rows - 1) / rows * ((g->n + columns - 1) / columns) * g->batch;
}

/* Takes the largest tile that leaves no core without work and is not half empty. When there is none: small tiles and parts of k.
 */
static void choose_tile(struct gpu_gemm *g, int64_t asked, uint32_t cores)
{
    static const uint8_t tiles[][2] = {{4, 4}, {2, 4}, {2, 2}};
    if (asked) { /* in the order of the parameter's words */
        g->row_tiles = asked > 2 ? 4 : 2;
        g->column_tiles = asked % 2 ? 2 : 4;
        return;
    }
    for (unsigned i = 0; i < ARRAY_COUNT(tiles); i++) {
        g->row_tiles = tiles[i][0];
        g->column_tiles = tiles[i][1];
        const bool fits = gpu_gemm_rows(g) < 2 * g->m && gpu_gemm_columns(g) < 2 * g->n;
        if (fits && groups_of(g) >= cores)
            return;
    }
}

static void choose_split(struct gpu_gemm *g, int64_t asked, uint32_t cores)
{
    const uint64_t groups = groups_of(g), steps = g->k / gpu_gemm_step(g);
    if (g->gated)
        return;
    uint64_t split = asked ? (uint64_t)asked : groups < cores ? (cores + groups - 1) / groups : 1;
    const uint64_t most = asked ? steps : g->k / LEAST_PART;
    split = split > most ? most : split;
    split = split > SPLIT_MAX ? SPLIT_MAX : split;
    const uint64_t results = gpu_kernel_count_of(g->m, g->n, g->batch);
    if (!asked && split && results > (uint64_t)GPU_KERNEL_ELEMENTS_MAX / split)
        split = 1;
    g->split = split ? (uint32_t)split : 1;
}

/* ---- alpha * sum of parts + beta * c ---- */

/* out = alpha * value + beta * old */
static void scale_and_add(struct gpu_emit *e, const struct gpu_gemm *g, unsigned value, struct gpu_base out, const char *index)
{
    if (g->alpha != 1.0F)
        gpu_emit(e, "fmul32 r%u, r%u, %s", value, value, gpu_float(e, g->alpha));
    if (g->beta != 0.0F) {
        const unsigned old = gpu_register(e, 1);
        gpu_load_element(e, 0, g->type, old, out, index);
        gpu_emit(e, "fmadd32 r%u, r%u, %s, r%u", value, old, gpu_float(e, g->beta), value);
        gpu_register_free(e, old, 1);
    }
    gpu_store_element(e, 1, g->type, value, out, index);
}

static bool build_sum(const struct gpu_gemm *g, struct gpu_kernel *kernel, struct isa_error *error)
{
    const uint32_t count = g->batch * g->m * g->n;
    struct gpu_emit *e = gpu_emit_begin(kernel, "gemm_sum_of_parts", error);
    const struct gpu_base out = gpu_argument_buffer(e, g->c, 0);
    const struct gpu_base partial = gpu_argument_buffer(e, g->partial, 0);
    const unsigned index = gpu_register(e, 1), at = gpu_register(e, 1), parts = gpu_register(e, g->split > 8 ? 8 : g->split);
    const unsigned sum = gpu_register(e, 1);
    gpu_emit(e, "get_sr r%u, sr%d", index, GPU_SR_GRID_X);
    gpu_mov(e, at, index);
    gpu_mov_imm(e, sum, 0);
    for (unsigned first = 0; first < g->split; first += 8) {
        const unsigned now = g->split - first > 8 ? 8 : g->split - first;
        for (unsigned i = 0; i < now; i++) {
            gpu_load_raw(e, 0, GPU_F32, 1, 2 * (parts + i), partial, gpu_r(e, at));
            gpu_add_imm(e, at, at, count);
        }
        gpu_wait(e, 0);
        for (unsigned i = 0; i < now; i++)
            gpu_emit(e, "fadd32 r%u, r%u, r%u", sum, sum, parts + i);
    }
    scale_and_add(e, g, sum, out, gpu_r(e, index));
    gpu_emit_grid(e, count, 1, 1, 256, 1, 1);
    return gpu_emit_end(e);
}

/* ---- the row ---- */

static void add_buffers(struct gpu_gemm *g, struct gpu_kernel *kernel)
{
    const uint64_t m = g->m, n = g->n, k = g->k, batch = g->batch;
    const enum gpu_buffer_role role = g->beta != 0.0F || g->gated ? GPU_BUFFER_IN_OUT : GPU_BUFFER_OUTPUT;
    g->a = gpu_kernel_add_buffer(kernel, "a", g->type, m * k * batch, GPU_BUFFER_INPUT, -1, 1);
    g->b = gpu_kernel_add_buffer(kernel, "b", g->type, k * n * batch, GPU_BUFFER_INPUT, -1, 1);
    g->c = gpu_kernel_add_buffer(kernel, "c", g->type, m * n * batch, role, -1, 1);
    if (g->gated)
        g->d = gpu_kernel_add_buffer(kernel, "d", GPU_F32, m * batch, GPU_BUFFER_INPUT, -1, 1);
    if (g->split > 1)
        g->partial = gpu_kernel_add_buffer(kernel, "partial", GPU_F32, m * n * batch * g->split, GPU_BUFFER_SCRATCH, 0, 0);
}

static void account(const struct gpu_gemm *g, struct gpu_kernel *kernel)
{
    const double m = g->m, n = g->n, k = g->k, batch = g->batch, size = (double)gpu_type_bytes(g->type, 1);
    kernel->macs = m * n * k * batch;
    kernel->flops = 2 * kernel->macs;
    kernel->min_bytes =
        size * batch * (m * k + k * n + m * n * (g->beta != 0.0F || g->gated ? 2 : 1)) + (g->gated ? 4 * batch * m : 0);
}

static bool build(const struct gpu_kernel_request *r, struct gpu_kernel *kernel, struct isa_error *error)
{
    struct gpu_gemm g = {
        .m = (uint32_t)r->value[M],
        .n = (uint32_t)r->value[N],
        .k = (uint32_t)r->value[K],
        .batch = (uint32_t)r->value[BATCH],
        .transposed_a = r->value[TA],
        .transposed_b = r->value[TB],
        .type = r->type,
        .split = 1,
        .alpha = (float)r->decimal[ALPHA],
        .beta = (float)r->decimal[BETA],
        .gated = r->value[GATE],
    };
    const uint32_t cores = r->cores ? r->cores : 1;
    choose_tile(&g, r->value[TILE], cores);
    choose_split(&g, r->value[SPLIT], cores);
    if (!check_size(&g, error))
        return false;
    add_buffers(&g, kernel);
    account(&g, kernel);
    return gpu_gemm_build(&g, kernel, error) && (g.split == 1 || build_sum(&g, kernel, error));
}

static const struct gpu_kernel_info rows[] = {
    {"gemm", "MxNxK[,batch=B][,ta=0|1][,tb=0|1][,alpha=X][,beta=X][,split=S][,tile=RxC][,gate=0|1]", "f32 f16 bf16",
     "c = alpha * op(a) * op(b) + beta * c, row-major, sums in f32; ta/tb: operand stored transposed; split: parts of k (0: as "
     "many "
     "as fill the chip); tile: of a threadgroup, 32 or 64 each (auto: the largest that leaves no core idle); "
     "gate: c = c * (alpha * op(a) * op(b) - d), with a number of d for each row, as in the backward pass of attention",
     3, parameters, build},
};
const struct gpu_kernel_family gpu_family_gemm = {rows, ARRAY_COUNT(rows)};
