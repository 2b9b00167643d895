/* MLX products: which tile, parts of k, and products with a vector. Section 3 of the facts. */
#include "sim/workload/gpu/frameworks/framework_plan.h"

#include <string.h>

struct gemm {
    struct framework_plan *p;
    uint64_t m, n, k, batch;
    bool ta, tb, adds;
    float alpha, beta;
    unsigned a, b, c;   /* buffers */
    const char *layout; /* "nn" ... */
};

static uint32_t bits(float value)
{
    uint32_t word;
    memcpy(&word, &value, sizeof word);
    return word;
}

/* ---- tiles ---- */

struct tile {
    unsigned m, n, k, wm, wn;
};

/* Up to 0.19.1 the size of the result decides. */
static struct tile early_tile(const struct gemm *g)
{
    static const struct tile large = {64, 64, 16, 2, 2}, turned = {64, 32, 32, 2, 2}, small = {32, 32, 16, 2, 2};
    const uint64_t bound = g->p->version < framework_version(0, 2, 0) ? UINT64_C(1) << 21 : UINT64_C(1) << 20;
    if (g->batch * g->m * g->n < bound)
        return small;
    return g->p->type == GPU_F16 && g->tb && !g->ta ? turned : large;
}

/* From 0.19.2 on the kind of chip decides as well. */
static struct tile tile_of(const struct gemm *g)
{
    static const struct tile large = {64, 64, 16, 2, 2}, turned = {64, 32, 32, 2, 2}, tall = {64, 64, 16, 1, 2},
                             wide = {32, 64, 16, 1, 2};
    const bool nt = g->tb && !g->ta, half = g->p->type == GPU_F16;
    const char letter = g->p->letter;
    if (g->p->version < framework_version(0, 19, 2))
        return early_tile(g);
    if (letter == 'g')
        return nt ? turned : half ? tall : large;
    if (letter == 's')
        return large;
    if (g->batch * g->m * g->n < UINT64_C(1) << 20)
        return half ? nt ? turned : tall : nt ? wide : turned;
    if (!half)
        return large;
    return 2 * (g->m > g->n ? g->m : g->n) > g->k ? tall : nt ? turned : wide;
}

/* As struct gemm_sizes of mlx/gemm.metal. */
static void give_sizes(const struct gemm *g, uint64_t parts, uint64_t part, bool guarded)
{
    plan_number(g->p, (uint32_t)g->m, (uint32_t)g->n, (uint32_t)g->k, (uint32_t)(g->ta ? g->m : g->k),
                (uint32_t)(g->tb ? g->k : g->n), (uint32_t)g->n, (uint32_t)(g->m * g->k), (uint32_t)(g->k * g->n),
                (uint32_t)(g->m * g->n), guarded, (uint32_t)part, (uint32_t)parts, bits(g->alpha), bits(g->beta), (uint32_t)g->n,
                1, (uint32_t)(g->m * g->n));
}

static void regular(const struct gemm *g)
{
    const struct tile t = tile_of(g);
    const bool guarded = g->p->version < framework_version(0, 2, 0) && (g->m % t.m || g->n % t.n);
    const bool adds = g->adds && !g->ta;
    plan_launch_groups(g->p, (struct plan_size){plan_ceil(g->n, t.n), plan_ceil(g->m, t.m), g->batch},
                       (struct plan_size){32, t.wn, t.wm}, "mlx_%s_%s_%s_%ux%ux%u_%ux%u", adds ? "addmm" : "gemm", g->layout,
                       plan_type(g->p), t.m, t.n, t.k, t.wm, t.wn);
    plan_buffer(g->p, g->a);
    plan_buffer(g->p, g->b);
    plan_buffer(g->p, g->c);
    if (adds)
        plan_buffer(g->p, g->c);
    give_sizes(g, 1, 0, guarded);
}

/* ---- parts of k ---- */

static bool wants_parts(const struct gemm *g)
{
    return g->p->version >= framework_version(0, 2, 0) && g->batch == 1 && (g->m / 16) * (g->n / 16) <= 32 && g->k / 16 >= 8;
}

static void in_parts(const struct gemm *g)
{
    const unsigned bm = g->m < 40 ? 16 : 32, bn = g->n < 40 ? 16 : 32;
    const uint64_t steps = g->k / 16, parts = steps < 16 ? 2 : steps < 32 ? 4 : steps < 64 ? 8 : 16, all = g->m * g->n;
    const unsigned sums = plan_scratch(g->p, "parts", GPU_F32, parts * all);
    plan_launch_groups(g->p, (struct plan_size){plan_ceil(g->n, bn), plan_ceil(g->m, bm), parts}, (struct plan_size){32, 2, 2},
                       "mlx_part_%s_%s_%ux%u", g->layout, plan_type(g->p), bm, bn);
    plan_buffer(g->p, g->a);
    plan_buffer(g->p, g->b);
    plan_buffer(g->p, sums);
    give_sizes(g, parts, steps / parts, false);
    plan_launch(g->p, (struct plan_size){g->n, g->m, 1}, (struct plan_size){plan_least(1024, all), 1, 1}, "mlx_parts_%s%s",
                g->adds ? "add_" : "", plan_type(g->p));
    plan_buffer(g->p, sums);
    plan_buffer(g->p, g->c);
    plan_buffer(g->p, g->c);
    plan_number(g->p, (uint32_t)g->n, (uint32_t)parts, (uint32_t)all, (uint32_t)g->n, 1, bits(g->alpha), bits(g->beta));
}

/* ---- a vector ---- */

/* As struct gemv_sizes of mlx/gemv.metal; the matrix is A where the result has one column, else B. */
static void give_vector(const struct gemm *g, bool matrix_first, uint64_t out, uint64_t pitch)
{
    const uint64_t in = g->k;
    plan_buffer(g->p, matrix_first ? g->a : g->b);
    plan_buffer(g->p, matrix_first ? g->b : g->a);
    plan_buffer(g->p, g->c);
    plan_buffer(g->p, g->c);
    plan_number(g->p, (uint32_t)in, (uint32_t)out, (uint32_t)pitch, (uint32_t)(in * out), (uint32_t)in, (uint32_t)out, 1,
                bits(g->alpha), bits(g->beta));
}

static void rows_are_results(const struct gemm *g, bool matrix_first, uint64_t out)
{
    const uint32_t v = g->p->version;
    unsigned bm = out >= 4096 ? 8 : 4, bn = 1, sm = 1, sn = 32;
    const bool staged = v < framework_version(0, 15, 2);
    if (v >= framework_version(0, 29, 3) && g->k <= 64)
        bm = 1, sm = 8, sn = 4;
    else if (v >= framework_version(0, 29, 3) && g->k >= 16 * out)
        bm = 1, bn = 8;
    plan_launch_groups(g->p, (struct plan_size){plan_ceil(out, bm * sm * 4), 1, g->batch}, (struct plan_size){32, bn, bm},
                       "mlx_gemv_%s%s%s_%ux%u_%ux%u", g->adds ? "add_" : "", staged ? "staged_" : "", plan_type(g->p), bm, bn, sm,
                       sn);
    give_vector(g, matrix_first, out, g->k);
}

static void columns_are_results(const struct gemm *g, bool matrix_first, uint64_t out)
{
    const char *const adds = g->adds ? "add_" : "";
    if (g->p->version < framework_version(0, 15, 2)) {
        const unsigned bn = out >= 24576 ? 128 : out >= 16384 ? 64 : out >= 8192 ? 16 : 8;
        plan_launch_groups(g->p, (struct plan_size){plan_ceil(out, bn * 4), 1, g->batch}, (struct plan_size){bn, 8, 1},
                           "mlx_gemv_t_%s%s_8x%u", adds, plan_type(g->p), bn);
    } else {
        const unsigned sm = g->k >= 8192 && out >= 2048 ? 4 : 8, sn = 32 / sm, bn = out >= 2048 ? 16 : out >= 512 ? 4 : 2;
        plan_launch_groups(g->p, (struct plan_size){plan_ceil(out, bn * sn * 4), 1, g->batch}, (struct plan_size){32, bn, 1},
                           "mlx_gemv_t_%s%s_%u_%ux%u", adds, plan_type(g->p), bn, sm, sn);
    }
    give_vector(g, matrix_first, out, out);
}

static void with_vector(const struct gemm *g)
{
    const bool column = g->n == 1; /* of results */
    const uint64_t out = column ? g->m : g->n;
    if (column ? g->ta : !g->tb)
        columns_are_results(g, column, out);
    else
        rows_are_results(g, column, out);
}

/* ---- the rule ---- */

static bool run(struct gemm *g)
{
    static const char *const layouts[] = {"nn", "nt", "tn", "tt"};
    g->layout = layouts[2 * g->ta + g->tb];
    if (g->adds && g->ta && !wants_parts(g) && g->m > 1 && g->n > 1)
        return plan_refuse(g->p, "gemm with alpha or beta has no transposed a");
    if ((g->m == 1 || g->n == 1) && (!g->adds || g->p->version >= framework_version(0, 7, 0)))
        with_vector(g);
    else if (wants_parts(g))
        in_parts(g);
    else
        regular(g);
    return !g->p->failed;
}

bool mlx_gemm(struct framework_plan *p)
{
    struct gemm g = {.p = p,
                     .m = plan_value(p, "m"),
                     .n = plan_value(p, "n"),
                     .k = plan_value(p, "k"),
                     .batch = plan_value(p, "batch"),
                     .ta = plan_value(p, "ta") != 0,
                     .tb = plan_value(p, "tb") != 0,
                     .alpha = (float)plan_decimal(p, "alpha"),
                     .beta = (float)plan_decimal(p, "beta"),
                     .b = 1,
                     .c = 2};
    if (plan_value(p, "gate"))
        return plan_refuse(p, "gemm has no gate");
    g.adds = g.alpha < 1 || g.alpha > 1 || g.beta < 0 || g.beta > 0;
    if (g.m * g.n > UINT32_MAX || g.m * g.k > UINT32_MAX || g.k * g.n > UINT32_MAX)
        return plan_refuse(p, "gemm with a matrix of more than 2^32 - 1 elements");
    return run(&g);
}

/* A matrix times a vector is a product with one column. */
bool mlx_gemv(struct framework_plan *p)
{
    struct gemm g = {.p = p, .m = plan_value(p, "m"), .n = 1, .k = plan_value(p, "n"), .batch = 1, .alpha = 1, .b = 1, .c = 2};
    if (plan_value(p, "vectors") && strcmp(plan_type(p), "f32") != 0)
        return plan_refuse(p, "gemv has vectors of the type of the matrix");
    if (g.m * g.k > UINT32_MAX)
        return plan_refuse(p, "gemv with a matrix of more than 2^32 - 1 elements");
    return run(&g);
}

bool mlx_products(struct framework_plan *p, uint64_t batch, uint64_t m, uint64_t n, uint64_t k, bool rows_of_b, unsigned a,
                  unsigned b, unsigned c)
{
    struct gemm g = {.p = p, .m = m, .n = n, .k = k, .batch = batch, .tb = rows_of_b, .alpha = 1, .a = a, .b = b, .c = c};
    if (m * n > UINT32_MAX || m * k > UINT32_MAX || k * n > UINT32_MAX)
        return plan_refuse(p, "a matrix of more than 2^32 - 1 elements");
    return run(&g);
}

bool mlx_product_nt(struct framework_plan *p, uint64_t m, uint64_t n, uint64_t k, unsigned a, unsigned b, unsigned c)
{
    return mlx_products(p, 1, m, n, k, true, a, b, c);
}
