/* ggml (llama.cpp): products, and rows. Section 11 of the facts; versions are months of builds. */
#include "isa/array_count.h"
#include "sim/workload/gpu/frameworks/framework_plan.h"

#define FUSED       framework_version(2025, 9, 0)  /* norms with their weights in one launch */
#define DYNAMIC     framework_version(2026, 1, 0)  /* rows and simdgroups of matrix times vector */
#define ROWS_SHARED framework_version(2023, 11, 0) /* rows of a simdgroup; came with llama.cpp pull request 2188 in 2023-07 */
#define SOME_TOKENS framework_version(2024, 11, 0) /* a few tokens have kernels of their own */

/* ---- products ---- */

/* Half registers of a thread, as many as the threads leave that a pipeline takes by llama.cpp's log ("th_max"): of its own tests
 * on M1, 2024-04-19 at 74d57f9. Later compilers made other code of the same source (2025-01, M2 Max: f16 and q8_0
 * take 1024 threads), which no table here has. */
enum { HALVES_768 = 136, HALVES_704 = 144, HALVES_640 = 160, HALVES_512 = 208 };

static void matrix_vector(struct framework_plan *p, unsigned matrix, unsigned vector, unsigned out, uint64_t rows, uint64_t depth,
                          bool vector_is_wide)
{
    static const struct {
        enum gpu_type type;
        const char *name;
        unsigned unit, rows, groups, later_rows, later_groups, halves;
    } blocks[] = {{GPU_Q4_0, "q4_0", 32, 4, 2, 4, 2, HALVES_704},
                  {GPU_Q8_0, "q8_0", 32, 4, 2, 2, 4, HALVES_640},
                  {GPU_Q4_K, "q4_k", 256, 4, 1, 2, 2, HALVES_512},
                  {GPU_Q6_K, "q6_k", 256, 1, 2, 2, 2, HALVES_768}};
    const bool later = p->version >= DYNAMIC, first = p->version < ROWS_SHARED, logged = p->version < SOME_TOKENS;
    unsigned i = 0;
    if (first && p->type != GPU_Q4_0) {
        plan_refuse(p, "gemv before 2023-11 in q4_0 alone");
        return;
    }
    while (i < ARRAY_COUNT(blocks) && blocks[i].type != p->type)
        i++;
    if (first) {
        plan_launch_groups(p, plan_line(rows), plan_line(64), "ggml_mul_mv_q4_0_first");
    } else if (i < ARRAY_COUNT(blocks)) {
        const unsigned each = later ? blocks[i].later_rows : blocks[i].rows,
                       groups = later ? blocks[i].later_groups : blocks[i].groups;
        plan_launch_groups(p, plan_line(plan_ceil(rows, each * groups)), plan_line(32 * groups), "ggml_mul_mv_%s_%ux%u",
                           blocks[i].name, each, groups);
        if (logged)
            plan_registers(p, blocks[i].halves);
    } else if (p->type == GPU_F16 && vector_is_wide) {
        plan_launch_groups(p, plan_line(rows), plan_line(32), logged ? "ggml_mul_mv_half_float_8" : "ggml_mul_mv_half_float");
        if (logged)
            plan_registers(p, HALVES_768);
    } else {
        plan_launch_groups(p, plan_line(rows), plan_line(32), "ggml_mul_mv_%s", plan_type(p));
    }
    plan_buffer(p, matrix);
    plan_buffer(p, vector);
    plan_buffer(p, out);
    plan_number(p, (uint32_t)depth, (uint32_t)rows);
}

bool ggml_gemv(struct framework_plan *p)
{
    const uint64_t rows = plan_value(p, "m"), depth = plan_value(p, "n");
    if (rows > INT32_MAX || rows * depth > (UINT64_C(1) << 32))
        return plan_refuse(p, "gemv of more than 2^31 - 1 rows or 2^32 elements");
    matrix_vector(p, 0, 1, 2, rows, depth, plan_value(p, "vectors") != 0);
    return !p->failed;
}

/* Rows of a are tokens, rows of b weights. */
bool ggml_gemm(struct framework_plan *p)
{
    const uint64_t tokens = plan_value(p, "m"), rows = plan_value(p, "n"), depth = plan_value(p, "k"),
                   batch = plan_value(p, "batch");
    const uint64_t least = p->version < SOME_TOKENS ? 2 : p->version < DYNAMIC ? 5 : 9;
    const double alpha = plan_decimal(p, "alpha"), beta = plan_decimal(p, "beta");
    if (!plan_value(p, "tb") || plan_value(p, "ta") || alpha < 1 || alpha > 1 || beta < 0 || beta > 0 || plan_value(p, "gate"))
        return plan_refuse(p, "gemm has weights in rows (tb=1), without ta, alpha, beta and gate");
    if (tokens == 1 && batch == 1) {
        matrix_vector(p, 1, 0, 2, rows, depth, false);
        return !p->failed;
    }
    if (tokens < least || depth < 64 || depth % 32)
        return plan_refuse(p, "gemm has one token, or %u and more with k of 64, 96, 128 ...", (unsigned)least);
    if (tokens * depth > UINT32_MAX || rows * depth > UINT32_MAX || tokens * rows > UINT32_MAX)
        return plan_refuse(p, "gemm with a matrix of more than 2^32 - 1 elements");
    plan_launch_groups(p, (struct plan_size){plan_ceil(tokens, 32), plan_ceil(rows, 64), batch}, plan_line(128),
                       "ggml_mul_mm_half");
    plan_buffer(p, 0);
    plan_buffer(p, 1);
    plan_buffer(p, 2);
    plan_number(p, (uint32_t)tokens, (uint32_t)rows, (uint32_t)depth, (uint32_t)(tokens * depth), (uint32_t)(rows * depth),
                (uint32_t)(tokens * rows));
    return !p->failed;
}

/* ---- rows ---- */

/* Up to 2025 the weights are multiplied by a launch of their own, in threadgroups of one thread. */
bool ggml_rmsnorm(struct framework_plan *p)
{
    enum { IN, OUT, WEIGHT };
    const uint64_t rows = plan_value(p, "rows"), columns = plan_value(p, "columns"), threads = columns < 512 ? columns : 512;
    const bool weights = plan_value(p, "affine") != 0, fused = weights && p->version >= FUSED;
    if (columns % 4 || rows * columns > INT32_MAX)
        return plan_refuse(p, "rmsnorm has rows of whole fours, and up to 2^31 - 1 elements");
    plan_launch_groups(p, plan_line(rows), plan_line(plan_ceil(threads, 32) * 32), "ggml_rms_norm%s", fused ? "_mul" : "");
    plan_buffer(p, IN);
    plan_buffer(p, OUT);
    plan_buffer(p, fused ? WEIGHT : IN);
    plan_number(p, (uint32_t)columns, plan_bits((float)plan_decimal(p, "eps")));
    if (!weights || fused)
        return !p->failed;
    plan_launch(p, plan_line(rows * columns / 4), plan_line(1), "ggml_mul_row");
    plan_buffer(p, OUT);
    plan_buffer(p, OUT);
    plan_buffer(p, WEIGHT);
    plan_number(p, (uint32_t)(columns / 4));
    return !p->failed;
}

void ggml_softmax_rows(struct framework_plan *p, unsigned in, unsigned out, uint64_t rows, uint64_t columns)
{
    unsigned threads = 32;
    while (columns % 4 && threads < columns && threads < 1024)
        threads *= 2;
    plan_launch_groups(p, plan_line(rows), plan_line(threads), "ggml_soft_max%s", columns % 4 ? "" : "_4");
    plan_buffer(p, in);
    plan_buffer(p, out);
    plan_number(p, (uint32_t)columns, 0);
}

bool ggml_softmax(struct framework_plan *p)
{
    const uint64_t rows = plan_value(p, "rows"), columns = plan_value(p, "columns");
    if (plan_value(p, "log") || rows * columns > UINT32_MAX)
        return plan_refuse(p, "softmax without log, of up to 2^32 - 1 elements");
    ggml_softmax_rows(p, 0, 1, rows, columns);
    return !p->failed;
}
