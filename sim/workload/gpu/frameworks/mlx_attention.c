/* MLX's attention: which fused kernel, or the operators that it consists of elsewhere. Facts:
 * mlx/backend/metal/scaled_dot_product_attention.cpp, 0.24 to 0.30.1; section 9 of the facts. */
#include "sim/workload/gpu/frameworks/framework_plan.h"

#include <math.h>

enum { Q, K, V, OUT };
enum { FEW = 8, PARTS = 32, ROWS = 32, LONG = 1024, LONG_SHARED = 4096 };

struct attention {
    struct framework_plan *p;
    uint64_t batch, heads, kv_heads, queries, keys, depth;
    uint64_t q_head, q_next, k_head, k_next; /* elements from one to the next; values as keys, results as queries */
    bool causal;
};

/* As struct attention_sizes of mlx/attention.metal. */
static void give_sizes(const struct attention *a)
{
    const float scale = 1.0F / sqrtf((float)a->depth);
    plan_number(a->p, (uint32_t)a->queries, (uint32_t)a->keys, (uint32_t)(a->heads / a->kv_heads), (uint32_t)a->q_head,
                (uint32_t)a->q_next, (uint32_t)a->k_head, (uint32_t)a->k_next, (uint32_t)a->k_head, (uint32_t)a->k_next,
                (uint32_t)a->q_head, (uint32_t)a->q_next, a->causal, plan_bits(scale), PARTS);
}

static void begin(const struct attention *a, const char *what, uint64_t parts, uint64_t threads)
{
    plan_launch_groups(a->p, (struct plan_size){a->batch * a->heads, a->queries, parts}, plan_line(threads),
                       "mlx_attention_%s_%s_%u", what, plan_type(a->p), (unsigned)a->depth);
}

static void give_operands(const struct attention *a, unsigned out)
{
    plan_buffer(a->p, Q);
    plan_buffer(a->p, K);
    plan_buffer(a->p, V);
    plan_buffer(a->p, out);
}

/* Keys are shared by several threadgroups, whose results another launch puts together. */
static void in_parts(const struct attention *a)
{
    const uint64_t all = a->batch * a->heads * a->queries * PARTS;
    const unsigned part = plan_scratch(a->p, "parts", GPU_F32, all * a->depth);
    const unsigned sums = plan_scratch(a->p, "sums", GPU_F32, all), most = plan_scratch(a->p, "largest", GPU_F32, all);
    begin(a, "parts", PARTS, 256);
    give_operands(a, part);
    plan_buffer(a->p, sums);
    plan_buffer(a->p, most);
    give_sizes(a);
    begin(a, "joined", 1, 1024);
    plan_buffer(a->p, part);
    plan_buffer(a->p, sums);
    plan_buffer(a->p, most);
    plan_buffer(a->p, OUT);
    give_sizes(a);
}

static void few_queries(const struct attention *a)
{
    if ((a->p->letter == 'd' && a->keys >= LONG) || (a->kv_heads < a->heads && a->keys >= LONG_SHARED)) {
        in_parts(a);
        return;
    }
    begin(a, "vector", 1, 1024);
    give_operands(a, OUT);
    give_sizes(a);
}

static void many_queries(const struct attention *a)
{
    plan_launch_groups(a->p, (struct plan_size){plan_ceil(a->queries, ROWS), a->batch * a->heads, 1},
                       (struct plan_size){32, 4, 1}, "mlx_attention_%s_%u_%u", plan_type(a->p), a->depth < 128 ? 32 : 16,
                       (unsigned)a->depth);
    give_operands(a, OUT);
    give_sizes(a);
}

/* Queries are scaled, multiplied with the keys, a softmax of their rows follows in its place, and a product with the values. */
static bool in_operators(const struct attention *a)
{
    const uint64_t all = a->batch * a->heads, d = a->depth;
    const unsigned scaled = plan_scratch(a->p, "scaled", a->p->type, all * a->queries * d);
    const unsigned scores = plan_scratch(a->p, "scores", a->p->type, all * a->queries * a->keys);
    if (a->q_next != d || a->causal || a->kv_heads != a->heads)
        return plan_refuse(
            a->p,
            "attention of %u queries with heads of %u is not fused, and made of its parts it has no mask, no heads that "
            "share keys and no cache",
            (unsigned)a->queries, (unsigned)d);
    mlx_with_number(a->p, "mul", all * a->queries * d, Q, 1 / sqrt((double)d), scaled);
    if (!mlx_products(a->p, all, a->queries, a->keys, d, true, scaled, K, scores))
        return false;
    mlx_softmax_rows(a->p, scores, scores, all * a->queries, a->keys);
    return mlx_products(a->p, all, a->queries, d, a->keys, false, scores, V, OUT);
}

static bool choose(const struct attention *a)
{
    const bool late = a->p->version >= framework_version(0, 25, 0), fused = a->p->version >= framework_version(0, 24, 0);
    const uint64_t d = a->depth;
    if (a->batch * a->heads * a->queries * d > UINT32_MAX || a->keys * a->kv_heads * d > UINT32_MAX)
        return plan_refuse(a->p, "attention with an operand of more than 2^32 - 1 elements");
    if (fused && a->queries <= FEW && (d == 64 || d == 96 || d == 128 || (late && d == 256)))
        few_queries(a);
    else if (fused && a->queries >= (late ? FEW + 1 : ROWS) && (d == 64 || d == 80 || d == 128))
        many_queries(a);
    else
        return in_operators(a);
    return !a->p->failed;
}

static struct attention read_sizes(struct framework_plan *p)
{
    struct attention a = {.p = p,
                          .batch = 1,
                          .heads = plan_value(p, "h"),
                          .kv_heads = plan_value(p, "kvh"),
                          .keys = plan_value(p, "s"),
                          .depth = plan_value(p, "d"),
                          .causal = true};
    if (!a.kv_heads)
        a.kv_heads = a.heads;
    return a;
}

/* Heads one after another. */
bool mlx_attention(struct framework_plan *p)
{
    struct attention a = read_sizes(p);
    a.batch = plan_value(p, "b");
    a.queries = a.keys;
    a.causal = plan_value(p, "causal");
    a.q_next = a.k_next = a.depth;
    a.q_head = a.k_head = a.keys * a.depth;
    return choose(&a);
}

/* Tokens one after another. */
bool mlx_cache_attention(struct framework_plan *p)
{
    struct attention a = read_sizes(p);
    a.queries = plan_value(p, "q");
    a.q_head = a.k_head = a.depth;
    a.q_next = a.heads * a.depth;
    a.k_next = a.kv_heads * a.depth;
    if (plan_value(p, "bias") || plan_value(p, "scale") || (plan_value(p, "seen") && a.queries > 1))
        return plan_refuse(p,
                           "cache-attention has scores without biases, scaled by the depth, of queries that see what is before");
    if (plan_value(p, "cached"))
        return plan_refuse(p, "cache-attention has keys and values of the type of the queries (cached=own)");
    return choose(&a);
}
