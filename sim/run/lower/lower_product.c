/* Products of matrices, and what is made of them. */
#include "sim/run/lower/lowering.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Matrices in the last two dimensions; those in front are equal, or b has none. Vectors are a row before and a column behind. */
static bool read_product(struct lowering *l, const struct net_array *a, const struct net_array *b, struct lowering_product *p)
{
    const unsigned ad = a->dims, bd = b->dims;
    if (ad < 1 || bd < 1)
        return lowering_leave(l, "a number as operand");
    p->m = ad == 1 ? 1 : a->shape[ad - (p->ta ? 1 : 2)];
    p->k = a->shape[ad - (p->ta && ad > 1 ? 2 : 1)];
    p->n = bd == 1 ? 1 : b->shape[bd - (p->tb ? 2 : 1)];
    p->batch = ad == 1 ? 1 : net_extent(a->shape, 0, ad - 2);
    const int64_t others = bd == 1 ? 1 : net_extent(b->shape, 0, bd - 2);
    if (others == 1 && !p->ta) { /* one product of all rows */
        p->m *= p->batch;
        p->batch = 1;
        return true;
    }
    p->repeated = p->batch != others || l->out[0]->count != p->batch * p->m * p->n;
    return true;
}

static const float *turn(struct lowering *l, const float *from, int64_t batch, int64_t rows, int64_t columns)
{
    float *const to = lowering_scratch(l, batch * rows * columns);
    lowering_read(lowering_step(l, to, batch * rows * columns, "transpose:%lldx%lld,batch=%lld", (long long)rows,
                                (long long)columns, (long long)batch),
                  from, batch * rows * columns);
    return to;
}

/* Nobody has said what the weights are, so turned they are the same. */
static bool is_blank(const struct lowering *l, const float *data)
{
    for (size_t k = 0; k < l->node->inputs; k++)
        if (l->in[k] && l->in[k]->data == data)
            return l->in[k]->blank;
    return false;
}

/* Weights as the compiler of a program lays them out before anything runs. */
static const float *turn_beforehand(struct lowering *l, const float *from, int64_t rows, int64_t columns)
{
    float *const to = lowering_scratch(l, rows * columns);
    const bool blank = is_blank(l, from);
    for (int64_t i = 0; to && !blank && i < rows * columns; i++)
        to[i % columns * rows + i / columns] = from[i];
    return to;
}

static const float *scaled(struct lowering *l, double factor, const float *from, int64_t count)
{
    float *const to = lowering_scratch(l, count);
    lowering_read(lowering_step(l, to, count, "elementwise:%lld,op=mul,number=%.9g", (long long)count, factor), from, count);
    return to;
}

/* The Neural Engine multiplies plain matrices: by weights that its program has, or of two inputs. */
static void add_plain_product(struct lowering *l, const struct lowering_product *p, const float *a, const float *b, float *to)
{
    const bool weights_b = p->b_known && p->batch == 1, weights_a = !weights_b && p->a_known && p->batch == 1;
    const int64_t count = p->batch * p->m * p->n;
    if (p->ta)
        a = weights_a ? turn_beforehand(l, a, p->k, p->m) : turn(l, a, p->batch, p->k, p->m);
    if (p->tb)
        b = weights_b ? turn_beforehand(l, b, p->n, p->k) : turn(l, b, p->batch, p->n, p->k);
    const bool first = p->alpha != 1 && !weights_a && p->k < p->n; /* the factor costs less on the operand */
    if (first)
        a = scaled(l, p->alpha, a, p->batch * p->m * p->k);
    struct lowered_step *const step =
        lowering_step(l, to, count, "%s:%lldx%lldx%lld,batch=%lld%s", weights_a || weights_b ? "gemm" : "matmul", (long long)p->m,
                      (long long)p->n, (long long)p->k, (long long)p->batch,
                      weights_b   ? ",weights=b"
                      : weights_a ? ",weights=a"
                                  : "");
    lowering_read(step, a, p->batch * p->m * p->k);
    lowering_read(step, b, p->batch * p->k * p->n);
    if (p->alpha != 1 && !first)
        lowering_read(lowering_step(l, to, count, "elementwise:%lld,op=mul,number=%.9g", (long long)count, p->alpha), to, count);
}

/* On the unit that is asked for, or another. */
static void add_product_on(struct lowering *l, enum orch_part part, const struct lowering_product *p, const float *a,
                           const float *b, const float *c, float *to)
{
    struct lowered_step *const step = lowering_step(
        l, to, p->batch * p->m * p->n, "gemm:%lldx%lldx%lld,batch=%lld,ta=%d,tb=%d,alpha=%.9g,beta=%.9g", (long long)p->m,
        (long long)p->n, (long long)p->k, (long long)p->batch, p->ta, p->tb, p->alpha, c ? p->beta : 0);
    if (step)
        step->part = part;
    lowering_read(step, a, p->batch * p->m * p->k);
    lowering_read(step, b, p->batch * p->k * p->n);
    if (p->b_known && p->batch == 1 && part != PART_GPU) /* which reads them as they are */
        lowering_load_weights(l, step);
    if (c)
        lowering_read(step, c, p->batch * p->m * p->n);
}

/* Split, the GPU has the first rows and an AMX block the others; both read b where it is, and write into one c. */
void lowering_add_product(struct lowering *l, const struct lowering_product *p, const float *a, const float *b, const float *c,
                          float *to)
{
    const int64_t rows = p->batch == 1 && !p->ta ? lowering_amx_rows(l, p->m) : 0, first = p->m - rows;
    struct lowering_product upper = *p, lower = *p;
    if (l->part == PART_ANE) {
        add_plain_product(l, p, a, b, to);
        return;
    }
    upper.m = first;
    lower.m = rows;
    add_product_on(l, l->part, &upper, a, b, c, to);
    if (rows)
        add_product_on(l, PART_AMX, &lower, a + first * p->k, b, c ? c + first * p->n : NULL, to + first * p->n);
}

/* The matrix of an operand that belongs to one of the result's: dimensions of 1, and those that are missing, are repeated. */
static int64_t matrix_of(const struct net_array *x, const struct net_array *out, unsigned own, int64_t at)
{
    int64_t place = 0, step = 1;
    for (unsigned d = 0; d < out->dims - own && d + 2 < x->dims; d++) {
        const int64_t length = out->shape[out->dims - own - 1 - d], have = x->shape[x->dims - 3 - d];
        place += have == 1 ? 0 : at % length * step;
        at /= length;
        step *= have;
    }
    return place;
}

/* Matrices that are repeated in any other way: each product of its own. */
static bool lower_repeated(struct lowering *l, const struct lowering_product *p)
{
    enum { PRODUCTS_MOST = 64 };
    const struct net_array *const a = l->in[0], *const b = l->in[1], *const out = l->out[0];
    const unsigned own = (a->dims > 1) + (b->dims > 1);
    const int64_t products = p->m > 0 && p->n > 0 ? out->count / (p->m * p->n) : 0;
    struct lowering_product one = *p;
    if (products > PRODUCTS_MOST || l->node->inputs > 2)
        return lowering_leave(l, "%lld products of matrices that are repeated", (long long)products);
    one.batch = 1;
    one.a_known = one.b_known = false; /* parts of a constant are none */
    for (int64_t k = 0; k < products; k++)
        lowering_add_product(l, &one, (const float *)a->data + matrix_of(a, out, own, k) * p->m * p->k,
                             (const float *)b->data + matrix_of(b, out, own, k) * p->k * p->n, NULL,
                             (float *)out->data + k * p->m * p->n);
    return lowering_activation(l, out->data, out->count);
}

/* On the Neural Engine a bias for each column of constant weights, and the activation behind it, are the program's own. */
static bool add_layer(struct lowering *l, const struct lowering_product *p, const float *a, const float *b,
                      const struct net_array *bias)
{
    struct net_array *const out = l->out[0];
    const char *const activation = lowering_activation_word(l->node);
    const bool plain = p->batch == 1 && !p->ta && p->alpha == 1 && p->beta == 1 && p->b_known;
    const bool by_column = bias && bias->count == p->n && bias->dims && bias->shape[bias->dims - 1] == p->n;
    if (l->part != PART_ANE || !plain || !by_column || !lowering_holds_constant(l, bias) || !activation)
        return false;
    if (p->tb)
        b = turn_beforehand(l, b, p->n, p->k);
    struct lowered_step *const step =
        lowering_step(l, out->data, out->count, "gemm:%lldx%lldx%lld,weights=b,bias=1%s%.30s", (long long)p->m, (long long)p->n,
                      (long long)p->k, activation[0] ? ",act=" : "", activation);
    lowering_read(step, a, p->m * p->k);
    lowering_read(step, b, p->k * p->n);
    lowering_read(step, bias->data, bias->count);
    return true;
}

static bool scale_bias(struct lowering *l, const struct net_array *bias, float factor, struct net_array *times)
{
    float *const to = lowering_scratch(l, bias->count);
    *times = *bias;
    times->data = to;
    return to && lowering_add_chain(l, "mul", &factor, 1, bias->data, to, bias->count);
}

/* A bias of the result's shape is what the product is added to; others are added afterwards. On the GPU all are: there the
 * product would be added to what its buffer holds, and moving the bias there costs as much as adding it. */
bool lowering_product(struct lowering *l, const char *word)
{
    const struct net_array *const a = l->in[0], *const b = l->in[1];
    const struct net_array *bias = l->node->inputs > 2 ? l->in[2] : NULL, *const out = l->out[0];
    const double alpha = net_attr_real(l->node, "alpha", 1), beta = bias ? net_attr_real(l->node, "beta", 1) : 0;
    const bool whole = bias && bias->count == out->count && ((l->part != PART_GPU && l->part != PART_ANE) || beta != 1);
    struct lowering_product p = {.ta = net_attr_int(l->node, "transA", 0) != 0,
                                 .tb = net_attr_int(l->node, "transB", 0) != 0,
                                 .a_known = lowering_is_constant(l, 0),
                                 .b_known = lowering_is_constant(l, 1),
                                 .alpha = alpha,
                                 .beta = beta};
    (void)word;
    if (!read_product(l, a, b, &p))
        return false;
    if (p.repeated)
        return lower_repeated(l, &p);
    if (add_layer(l, &p, a->data, b->data, bias))
        return lowering_holds(l);
    struct net_array times; /* a repeated bias with its factor */
    if (bias && !whole && beta != 1) {
        if (!scale_bias(l, bias, (float)beta, &times))
            return false;
        bias = &times;
    }
    lowering_add_product(l, &p, a->data, b->data, bias && whole ? bias->data : NULL, out->data);
    const char *const activation = bias && !whole ? lowering_activation_word(l->node) : NULL;
    char word_both[40] = "add";
    if (activation && activation[0])
        snprintf(word_both, sizeof word_both, "add+%.30s", activation);
    if (bias && !whole && !lowering_broadcast_pair(l, word_both, out->data, out, bias, out->data))
        return false;
    return (activation && activation[0]) || lowering_activation(l, out->data, out->count);
}

/* Sums in 32 bits of products of bytes, exact on whatever unit has the kernel. */
bool lowering_matmul_integer(struct lowering *l, const char *word)
{
    const struct net_array *const a = l->in[0], *const b = l->in[1];
    struct lowering_product p = {.batch = 1};
    (void)word;
    if (!lowering_is_bytes(l) || !read_product(l, a, b, &p))
        return false;
    if (p.repeated)
        return lowering_leave(l, "matrices that are repeated");
    struct lowered_step *const step = lowering_step(l, l->out[0]->data, l->out[0]->count, "gemm:%lldx%lldx%lld,batch=%lld",
                                                    (long long)p.m, (long long)p.n, (long long)p.k, (long long)p.batch);
    lowering_read_bytes(step, a->data, a->count);
    lowering_read_bytes(step, b->data, b->count);
    if (lowering_is_constant(l, 1) && p.batch == 1)
        lowering_load_weights(l, step);
    return lowering_holds(l);
}

/* One mask for all heads and all of a batch. */
static bool is_one_mask(const struct net_array *mask, int64_t m, int64_t n)
{
    return mask->count == m * n && mask->dims >= 2 && mask->shape[mask->dims - 1] == n && mask->shape[mask->dims - 2] == m;
}

/* The Neural Engine's attention keeps scores in tile memory. Its mask is one for all heads, its scale 1 / sqrt(depth). */
static bool add_attention(struct lowering *l, const struct net_array *mask, int64_t batch, int64_t m, int64_t n, int64_t depth)
{
    const struct net_array *const q = l->in[0], *const k = l->in[1], *const v = l->in[2];
    const double scale = net_attr_real(l->node, "scale", 1);
    if (l->part != PART_ANE || v->shape[v->dims - 1] != depth || m > n || fabs(scale * sqrt((double)depth) - 1) > 1e-6 ||
        (mask && !is_one_mask(mask, m, n)))
        return false;
    struct lowered_step *const step = lowering_step(
        l, l->out[0]->data, l->out[0]->count, "attention:b=1,h=%lld,s=%lld,d=%lld,q=%lld,mask=%d,turned=%d", (long long)batch,
        (long long)n, (long long)depth, (long long)m, mask ? 1 : 0, net_attr_int(l->node, "transK", 0) != 0);
    lowering_read(step, q->data, q->count);
    lowering_read(step, k->data, k->count);
    lowering_read(step, v->data, v->count);
    if (mask)
        lowering_read(step, mask->data, mask->count);
    return true;
}

/* softmax(scale Q K^T + mask) V, in four kernels where the library's own attention does not do. */
bool lowering_attention(struct lowering *l, const char *word)
{
    const struct net_array *const q = l->in[0], *const k = l->in[1], *const v = l->in[2];
    const struct net_array *const mask = l->node->inputs > 3 ? l->in[3] : NULL;
    const bool turned = net_attr_int(l->node, "transK", 0) != 0;
    (void)word;
    if (q->dims < 2 || k->dims != q->dims || v->dims != q->dims)
        return lowering_leave(l, "operands with different numbers of dimensions");
    const unsigned d = q->dims;
    const int64_t batch = net_extent(q->shape, 0, d - 2), m = q->shape[d - 2], depth = q->shape[d - 1], n = v->shape[d - 2];
    if (net_extent(k->shape, 0, d - 2) != batch || net_extent(v->shape, 0, d - 2) != batch)
        return lowering_leave(l, "heads that share keys");
    if (add_attention(l, mask, batch, m, n, depth))
        return lowering_holds(l);
    const struct lowering_product scores = {.batch = batch,
                                            .m = m,
                                            .n = n,
                                            .k = depth,
                                            .tb = !turned,
                                            .alpha = net_attr_real(l->node, "scale", 1)},
                                  mixed = {.batch = batch, .m = m, .n = v->shape[d - 1], .k = n, .alpha = 1};
    float *const score = lowering_scratch(l, batch * m * n);
    lowering_add_product(l, &scores, q->data, k->data, NULL, score);
    if (mask) {
        struct net_array shape = {.type = NET_F32, .dims = d, .count = batch * m * n};
        memcpy(shape.shape, q->shape, sizeof shape.shape);
        shape.shape[d - 1] = n;
        if (!lowering_broadcast_pair(l, "add", score, &shape, mask, score))
            return false;
    }
    lowering_read(lowering_step(l, score, batch * m * n, "softmax:%lldx%lld", (long long)(batch * m), (long long)n), score,
                  batch * m * n);
    lowering_add_product(l, &mixed, score, v->data, NULL, l->out[0]->data);
    return true;
}

/* x cos + concat(-x[half:], x[:half]) sin, with the angles that the network brings. */
bool lowering_rotary(struct lowering *l, const char *word)
{
    const struct net_array *const x = l->in[0], *const cosine = l->in[1], *const sine = l->in[2], *const out = l->out[0];
    const int64_t width = x->dims ? x->shape[x->dims - 1] : 1, half = width / 2, rows = x->count / (width ? width : 1);
    (void)word;
    if (width % 2 || out->count != x->count)
        return lowering_leave(l, "rows of %lld elements", (long long)width);
    float *const low = lowering_scratch(l, rows * half), *const high = lowering_scratch(l, rows * half);
    float *const turned = lowering_scratch(l, x->count), *const product = lowering_scratch(l, x->count);
    lowering_read(lowering_step(l, low, rows * half, "slice:%lldx%lld,h=%lld,w=%lld,column=0", (long long)rows, (long long)width,
                                (long long)rows, (long long)half),
                  x->data, x->count);
    lowering_read(lowering_step(l, high, rows * half, "slice:%lldx%lld,h=%lld,w=%lld,column=%lld", (long long)rows,
                                (long long)width, (long long)rows, (long long)half, (long long)half),
                  x->data, x->count);
    lowering_read(lowering_step(l, high, rows * half, "elementwise:%lld,op=neg", (long long)(rows * half)), high, rows * half);
    struct lowered_step *const join =
        lowering_step(l, turned, x->count, "concat:%lldx%lldx%lld", (long long)rows, (long long)half, (long long)half);
    lowering_read(join, high, rows * half);
    lowering_read(join, low, rows * half);
    if (!lowering_broadcast_pair(l, "mul", x->data, out, cosine, product) ||
        !lowering_broadcast_pair(l, "mul", turned, out, sine, turned))
        return false;
    struct lowered_step *const sum = lowering_step(l, out->data, x->count, "elementwise:%lld,op=add", (long long)x->count);
    lowering_read(sum, product, x->count);
    lowering_read(sum, turned, x->count);
    return true;
}
