/* ggml (llama.cpp): what stands between the products of a token. Section 11 of the facts. */
#include "sim/workload/gpu/frameworks/framework_plan.h"
#include "units/gpu/kernels/gpu_math.h"

#include <math.h>

#define FUSED_SOFTMAX framework_version(2023, 12, 0) /* scale and mask are parts of the softmax */

enum { ROW = 4096 /* elements; operators do not say where rows end */, COPIED = 128, ROW_THREADS = 1024 };

/* ---- element by element ---- */

static void fours(struct framework_plan *p, const char *kernel, uint64_t count)
{
    plan_launch_groups(p, plan_line(count / 4), plan_line(1), "ggml_%s", kernel);
}

/* Of one row, and of rows that meet the same one: threadgroups of one thread. */
static void two_operands(struct framework_plan *p, const char *op, uint64_t count, uint64_t period, unsigned a, unsigned b,
                         unsigned out)
{
    const bool one = count <= 8 * ROW;
    const uint64_t other = period ? period : one ? count : 0;
    if (other) {
        fours(p, strcmp(op, "add") == 0 ? "add_row" : "mul_row", count);
        plan_buffer(p, a);
        if (strcmp(op, "add") == 0) {
            plan_buffer(p, b);
            plan_buffer(p, out);
        } else {
            plan_buffer(p, out);
            plan_buffer(p, b);
        }
        plan_number(p, (uint32_t)(other / 4));
        return;
    }
    plan_launch_groups(p, plan_line(plan_ceil(count, ROW)), plan_line(ROW_THREADS), "ggml_%s", op);
    plan_buffer(p, a);
    plan_buffer(p, b);
    plan_buffer(p, out);
    plan_number(p, ROW, (uint32_t)(count / ROW));
}

static bool function(struct framework_plan *p, const char *op, uint64_t count, unsigned *from, unsigned *next)
{
    const unsigned out = p->operands - 1;
    const uint64_t period = plan_value(p, "period");
    if (strcmp(op, "silu") == 0) {
        fours(p, "silu", count);
        plan_buffer(p, *from);
        plan_buffer(p, out);
    } else if (strcmp(op, "add") == 0 || strcmp(op, "mul") == 0) {
        if (period % 4 || (!period && count > 8 * ROW && (count % ROW || strcmp(op, "mul") == 0)))
            return plan_refuse(p, "%s of rows of whole fours, or of %d", op, (int)ROW);
        two_operands(p, op, count, period, *from, (*next)++, out);
    } else {
        return plan_refuse(p, "elementwise has no %s; it has silu, add and mul", op);
    }
    *from = out;
    return true;
}

bool ggml_elementwise(struct framework_plan *p)
{
    const struct gpu_kernel_request *const r = &p->library->request;
    const uint64_t count = plan_value(p, "n");
    unsigned from = 0, next = 1;
    if (count > INT32_MAX || count % 4)
        return plan_refuse(p, "elementwise of whole fours, and of up to 2^31 - 1 elements");
    for (unsigned i = 0; r->info->parameter[i].name; i++)
        for (int64_t words = r->info->parameter[i].chain ? r->value[i] : 0; words; words >>= KERNEL_CHAIN_BITS)
            if (!function(p, gpu_math_name((enum gpu_math)((words & ((1 << KERNEL_CHAIN_BITS) - 1)) - 1)), count, &from, &next))
                return false;
    return !p->failed;
}

/* Keys and values on their way into the cache: rows are heads. */
bool ggml_copy(struct framework_plan *p)
{
    const uint64_t count = plan_value(p, "bytes") / gpu_type_bytes(p->type, 1), row = count % COPIED ? count : COPIED;
    if (count > INT32_MAX)
        return plan_refuse(p, "copy of more than 2^31 - 1 elements");
    plan_launch_groups(p, plan_line(count / row), plan_line(plan_least(row, ROW_THREADS)), "ggml_copy_%s", plan_type(p));
    plan_buffer(p, 0);
    plan_buffer(p, 1);
    plan_number(p, (uint32_t)row);
    return !p->failed;
}

/* ---- rotation ---- */

bool ggml_rope(struct framework_plan *p)
{
    const uint64_t heads = plan_value(p, "h"), tokens = plan_value(p, "s"), depth = plan_value(p, "d");
    const uint64_t part = plan_value(p, "part") ? plan_value(p, "part") : depth;
    const double base = plan_decimal(p, "base");
    if (plan_value(p, "b") > 1 || plan_value(p, "scales") || (tokens > 1 && !plan_value(p, "order")))
        return plan_refuse(p, "rope of one text, order=tokens, without scales");
    if (heads * tokens * depth > INT32_MAX)
        return plan_refuse(p, "rope of more than 2^31 - 1 elements");
    plan_launch_groups(p, (struct plan_size){heads, tokens, 1}, plan_line(plan_least(depth, ROW_THREADS)), "ggml_rope");
    plan_buffer(p, 0);
    plan_buffer(p, 1);
    plan_number(p, (uint32_t)depth, (uint32_t)part, plan_value(p, "style") == 0, (uint32_t)plan_value(p, "offset"),
                plan_bits((float)(-2 / (double)part * log2(base))), (uint32_t)heads);
    return !p->failed;
}

/* ---- attention ---- */

struct attention {
    uint64_t heads, keys, depth, kv_heads;
    unsigned scores, mask; /* scores: scratch, before and behind the softmax */
};

static void sizes(struct framework_plan *p, const struct attention *a)
{
    plan_number(p, (uint32_t)a->depth, (uint32_t)a->keys, (uint32_t)(a->heads / a->kv_heads), (uint32_t)a->kv_heads);
}

static void make_scores(struct framework_plan *p, const struct attention *a, unsigned query, unsigned key)
{
    const bool wide = a->depth >= 128 && a->depth % 4 == 0 && a->keys >= 8;
    plan_launch_groups(p, (struct plan_size){a->keys, 1, a->heads}, plan_line(32), "ggml_kq_%s%s", wide ? "4_" : "",
                       plan_type(p));
    plan_buffer(p, query);
    plan_buffer(p, key);
    plan_buffer(p, a->scores);
    sizes(p, a);
}

static void scale(struct framework_plan *p, const struct attention *a)
{
    fours(p, "scale_4", a->heads * a->keys);
    plan_buffer(p, a->scores);
    plan_buffer(p, a->scores);
    plan_number(p, plan_bits((float)(1 / sqrt((double)a->depth))));
}

/* A mask of one row is one for all heads. */
static void add_mask(struct framework_plan *p, const struct attention *a)
{
    if (a->keys % 4 == 0)
        fours(p, "add_row", a->heads * a->keys);
    else
        plan_launch_groups(p, plan_line(a->heads), plan_line(plan_least(a->keys, ROW_THREADS)), "ggml_add");
    plan_buffer(p, a->scores);
    plan_buffer(p, a->mask);
    plan_buffer(p, a->scores);
    if (a->keys % 4 == 0)
        plan_number(p, (uint32_t)(a->keys / 4));
    else
        plan_number(p, (uint32_t)a->keys, 1);
}

static void sum_values(struct framework_plan *p, const struct attention *a, unsigned value, unsigned out, unsigned result)
{
    const bool wide = p->type == GPU_F16 && a->keys >= 128;
    plan_launch_groups(p, (struct plan_size){a->depth, 1, a->heads}, plan_line(32), "ggml_kqv_%s%s", wide ? "4_" : "",
                       plan_type(p));
    plan_buffer(p, a->scores);
    plan_buffer(p, value);
    plan_buffer(p, out);
    sizes(p, a);
    plan_launch_groups(p, plan_line(a->heads), plan_line(plan_least(a->depth, ROW_THREADS)), "ggml_cont_%s", plan_type(p));
    plan_buffer(p, out);
    plan_buffer(p, result);
    plan_number(p, (uint32_t)a->depth);
}

/* Scores of each head, scaled and masked, as one launch. */
static void masked_softmax(struct framework_plan *p, const struct attention *a)
{
    const bool fours = a->keys % 4 == 0;
    const uint64_t wanted = fours ? a->keys / 4 : a->keys, most = fours ? 256 : ROW_THREADS;
    uint64_t threads = 32;
    while (threads < wanted && threads < most)
        threads *= 2;
    plan_launch_groups(p, plan_line(a->heads), plan_line(threads), "ggml_soft_max_masked%s", fours ? "_4" : "");
    plan_buffer(p, a->scores);
    plan_buffer(p, a->mask);
    plan_buffer(p, a->scores);
    plan_number(p, (uint32_t)a->keys, plan_bits((float)(1 / sqrt((double)a->depth))));
}

/* Up to 2023-11 scale and mask are launches of their own; later the softmax has them. */
bool ggml_cache_attention(struct framework_plan *p)
{
    enum { QUERY, KEY, VALUE, OUT };
    struct attention a = {.heads = plan_value(p, "h"), .keys = plan_value(p, "s"), .depth = plan_value(p, "d")};
    a.kv_heads = plan_value(p, "kvh") ? plan_value(p, "kvh") : a.heads;
    if (plan_value(p, "q") > 1)
        return plan_refuse(p, "attention over a cache has one query");
    if (plan_value(p, "bias") || plan_value(p, "scale"))
        return plan_refuse(p, "attention over a cache has scores without biases, scaled by the depth");
    if (plan_value(p, "cached") || plan_value(p, "page"))
        return plan_refuse(p, "attention over a cache in one piece, whose type is that of the kernel");
    if (a.heads * a.keys * a.depth > INT32_MAX || a.heads * a.keys % 4)
        return plan_refuse(p, "attention over a cache has up to 2^31 - 1 products, and scores of whole fours");
    a.scores = plan_scratch(p, "scores", GPU_F32, a.heads * a.keys);
    a.mask = plan_scratch(p, "mask", GPU_F32, a.keys);
    const unsigned result = plan_scratch(p, "result", GPU_F32, a.heads * a.depth);
    if (p->type == GPU_F16)
        plan_channels_last(p, VALUE, 1, a.keys, a.kv_heads * a.depth);
    make_scores(p, &a, QUERY, KEY);
    if (p->version < FUSED_SOFTMAX) {
        scale(p, &a);
        add_mask(p, &a);
        ggml_softmax_rows(p, a.scores, a.scores, a.heads, a.keys);
    } else {
        masked_softmax(p, &a);
    }
    sum_values(p, &a, VALUE, result, OUT);
    return !p->failed;
}
