/* Products of metal-flash-attention: which block, from the chip's family, its cores, the type and the size. Section 15 of the
 * facts.
 */
#include "sim/workload/gpu/frameworks/framework_plan.h"

struct block {
    unsigned size, deep, simdgroups; /* of a side of the result, of k; a side of the threadgroup */
};

/* Large blocks need so many threadgroups for each core. */
static struct block block_of(const struct framework_plan *p, uint64_t m, uint64_t n, uint64_t batch)
{
    static const struct block small = {32, 32, 2}, large = {48, 24, 2}, large_half = {48, 32, 2}, direct = {32, 8, 1};
    const bool half = p->type == GPU_F16;
    if (p->choice->family >= 9)
        return direct;
    if (plan_ceil(m, large.size) * plan_ceil(n, large.size) * batch <= (half ? 9 : 6) * (uint64_t)p->library->request.cores)
        return small;
    return half ? large_half : large;
}

static void give_sizes(struct framework_plan *p, uint64_t m, uint64_t n, uint64_t k, bool ta, bool tb)
{
    plan_number(p, (uint32_t)m, (uint32_t)n, (uint32_t)k, (uint32_t)(ta ? m : k), (uint32_t)(tb ? k : n), (uint32_t)n,
                (uint32_t)(m * k), (uint32_t)(k * n), (uint32_t)(m * n));
}

static void give_product(struct framework_plan *p, uint64_t m, uint64_t n, uint64_t k, bool ta, bool tb)
{
    enum { A, B, C };
    plan_buffer(p, A);
    plan_buffer(p, B);
    plan_buffer(p, C);
    give_sizes(p, m, n, k, ta, tb);
}

/* Gradients of scores: sums are in float32, and every result is that of a block that lies inside. */
static bool gate(struct framework_plan *p, uint64_t m, uint64_t n, uint64_t k, uint64_t batch)
{
    enum { A, B, C, D };
    const struct block b = block_of(p, m, n, batch);
    char tile[16] = "direct";
    if (plan_value(p, "ta") || !plan_value(p, "tb") || k < 2 || m < b.size || n < b.size)
        return plan_refuse(p, "gemm with gate=1 has tb=1 and no ta, k from 2, and m and n from %u on", b.size);
    if (b.simdgroups > 1)
        snprintf(tile, sizeof tile, "%ux%ux%u", b.size, b.size, b.deep);
    plan_launch_groups(p, (struct plan_size){plan_ceil(n, b.size), plan_ceil(m, b.size), batch},
                       (struct plan_size){32 * b.simdgroups * b.simdgroups, 1, 1}, "mfa_gate_%s_%s", plan_type(p), tile);
    for (unsigned buffer = A; buffer <= D; buffer++)
        plan_buffer(p, buffer);
    give_sizes(p, m, n, k, false, true);
    return !p->failed;
}

bool mfa_gemm(struct framework_plan *p)
{
    const uint64_t m = plan_value(p, "m"), n = plan_value(p, "n"), k = plan_value(p, "k"), batch = plan_value(p, "batch");
    const bool ta = plan_value(p, "ta") != 0, tb = plan_value(p, "tb") != 0;
    const double alpha = plan_decimal(p, "alpha"), beta = plan_decimal(p, "beta");
    const bool adds = beta > 0;
    char tile[16] = "direct";
    if (alpha < 1 || alpha > 1 || beta < 0 || beta > 1 || (adds && beta < 1))
        return plan_refuse(p, "gemm adds its product to the result (alpha 1, beta 1) or replaces it (beta 0)");
    if (adds && ta)
        return plan_refuse(p, "gemm with beta has no transposed a");
    if (m * n > UINT32_MAX || m * k > UINT32_MAX || k * n > UINT32_MAX)
        return plan_refuse(p, "gemm with a matrix of more than 2^32 - 1 elements");
    if (plan_value(p, "gate"))
        return gate(p, m, n, k, batch);
    const struct block b = block_of(p, m, n, batch);
    if (b.simdgroups > 1)
        snprintf(tile, sizeof tile, "%ux%ux%u", b.size, b.size, b.deep);
    plan_launch_groups(p, (struct plan_size){plan_ceil(n, b.size), plan_ceil(m, b.size), batch},
                       (struct plan_size){32 * b.simdgroups * b.simdgroups, 1, 1}, "mfa_gemm_%s%c%c_%s_%s", adds ? "add_" : "",
                       ta ? 't' : 'n', tb ? 't' : 'n', plan_type(p), tile);
    give_product(p, m, n, k, ta, tb);
    return !p->failed;
}
