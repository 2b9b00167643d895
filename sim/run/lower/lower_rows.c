/* Operators over rows and groups of elements. */
#include "sim/run/lower/lowering.h"

#include <string.h>

static bool axis_of(struct lowering *l, int64_t axis, unsigned *at)
{
    const int64_t dims = l->in[0]->dims, from = axis < 0 ? axis + dims : axis;
    *at = (unsigned)from;
    return (from >= 0 && from < dims) || lowering_leave(l, "axis %lld", (long long)axis);
}

bool lowering_softmax(struct lowering *l, const char *word)
{
    const struct net_array *const x = l->in[0];
    const bool flat = net_attr_int(l->node, "flat", 0) != 0;
    unsigned axis;
    if (!axis_of(l, net_attr_int(l->node, "axis", flat ? 1 : -1), &axis))
        return false;
    const int64_t rows = net_extent(x->shape, 0, axis), columns = flat ? x->count / rows : x->shape[axis];
    const int64_t inner = x->count / rows / columns;
    const float *from = x->data;
    float *to = l->out[0]->data;
    if (inner > 1) { /* what stands behind the axis comes in front of it, and back afterwards */
        float *const turned = lowering_scratch(l, x->count);
        lowering_read(lowering_step(l, turned, x->count, "transpose:%lldx%lld,batch=%lld", (long long)columns, (long long)inner,
                                    (long long)rows),
                      x->data, x->count);
        from = to = turned;
    }
    lowering_read(lowering_step(l, to, x->count, "softmax:%lldx%lld,log=%s", (long long)(rows * inner), (long long)columns, word),
                  from, x->count);
    if (inner > 1)
        lowering_read(lowering_step(l, l->out[0]->data, x->count, "transpose:%lldx%lld,batch=%lld", (long long)inner,
                                    (long long)columns, (long long)rows),
                      to, x->count);
    return true;
}

/* On the Neural Engine the elements of a row are channels, as products have them, unless rows are so few that their pixels fill
 * no row of 64 bytes in memory. The program then holds factors and summands. */
static const char *norm_layout(const struct lowering *l, int64_t rows, const struct net_array *gamma,
                               const struct net_array *beta)
{
    enum { PIXELS_LEAST = 32 };
    const bool constant = lowering_holds_constant(l, gamma) && (!beta || lowering_holds_constant(l, beta));
    return l->part == PART_ANE && constant && rows >= PIXELS_LEAST ? ",channels=1" : "";
}

/* What LayerNormalization says of each row beside the result: its mean, and one over its deviation. */
static bool add_moments(struct lowering *l, int64_t rows, int64_t columns)
{
    const struct net_array *const x = l->in[0];
    const int64_t shape[2] = {rows, columns}, each[2] = {rows, 1};
    const float epsilon = (float)net_attr_real(l->node, "epsilon", 1e-5);
    float *const mean = lowering_wants(l, 1) ? l->out[1]->data : lowering_scratch(l, rows);
    struct net_array all = {.type = NET_F32, .dims = 2, .count = x->count}, centre = {.type = NET_F32, .dims = 2, .count = rows};
    memcpy(all.shape, shape, sizeof shape);
    memcpy(centre.shape, each, sizeof each);
    centre.data = mean;
    lowering_read(lowering_step(l, mean, rows, "reduce:%lldx%lld,op=mean", (long long)rows, (long long)columns), x->data,
                  x->count);
    if (!lowering_wants(l, 2))
        return lowering_holds(l);
    float *const apart = lowering_scratch(l, x->count), *const spread = l->out[2]->data;
    if (!apart || !lowering_broadcast_pair(l, "sub", x->data, &all, &centre, apart))
        return lowering_holds(l);
    lowering_read(lowering_step(l, apart, x->count, "elementwise:%lld,op=square", (long long)x->count), apart, x->count);
    lowering_read(lowering_step(l, spread, rows, "reduce:%lldx%lld,op=mean", (long long)rows, (long long)columns), apart,
                  x->count);
    if (!lowering_add_chain(l, "add", &epsilon, 1, spread, spread, rows))
        return false;
    lowering_read(lowering_step(l, spread, rows, "elementwise:%lld,op=sqrt+rcp", (long long)rows), spread, rows);
    return lowering_holds(l);
}

bool lowering_norm(struct lowering *l, const char *word)
{
    const struct net_array *const x = l->in[0], *const gamma = l->in[1], *const beta = l->node->inputs > 2 ? l->in[2] : NULL;
    const bool centred = strcmp(word, "layernorm") == 0;
    unsigned axis;
    if (!centred && lowering_wants(l, 1))
        return lowering_leave(l, "a deviation as a result");
    if (!axis_of(l, net_attr_int(l->node, "axis", -1), &axis))
        return false;
    const int64_t rows = net_extent(x->shape, 0, axis), columns = x->count / rows;
    if (gamma->count != columns || (beta && beta->count != columns))
        return lowering_leave(l, "a scale that is repeated");
    struct lowered_step *const step =
        lowering_step(l, l->out[0]->data, x->count, "%s:%lldx%lld,eps=%.9g%s", word, (long long)rows, (long long)columns,
                      net_attr_real(l->node, "epsilon", 1e-5), norm_layout(l, rows, gamma, beta));
    lowering_read(step, x->data, x->count);
    lowering_read(step, gamma->data, columns);
    if (centred)
        lowering_read(step, beta ? beta->data : lowering_scratch(l, columns), columns);
    return (!lowering_wants(l, 1) && !lowering_wants(l, 2)) || add_moments(l, rows, columns);
}

/* The libraries' order of the parameters: mean, variance, scale, offset; the Neural Engine's: scale, offset, mean, variance. */
bool lowering_batch_norm(struct lowering *l, const char *word)
{
    static const unsigned orders[2][4] = {{3, 4, 1, 2}, {1, 2, 3, 4}};
    const unsigned *const order = orders[l->part == PART_ANE];
    const struct net_array *const x = l->in[0];
    (void)word;
    if (x->dims < 2 || l->node->inputs != 5 || net_attr_int(l->node, "training_mode", 0))
        return lowering_leave(l, "another form than that of inference");
    struct lowered_step *const step = lowering_step(
        l, l->out[0]->data, x->count, "batchnorm:n=%lld,c=%lld,h=1,w=%lld,eps=%.9g", (long long)x->shape[0],
        (long long)x->shape[1], (long long)net_extent(x->shape, 2, x->dims), net_attr_real(l->node, "epsilon", 1e-5));
    lowering_read(step, x->data, x->count);
    for (unsigned i = 0; i < 4; i++)
        lowering_read(step, l->in[order[i]]->data, l->in[order[i]]->count);
    return true;
}

/* Planes are one row, or on the Neural Engine as few as fill whole lines of memory, have a width that it can address, and of
 * which one of all channels takes at most a quarter of its tile memory (of 2 MB, in fp16). */
static int64_t plane_rows(const struct lowering *l, int64_t channels, int64_t plane)
{
    enum { WIDTH_MOST = 16384, ROW_MOST = 1 << 18, LINE = 32 };
    const int64_t fits = ROW_MOST / channels, most = fits < WIDTH_MOST ? fits : WIDTH_MOST;
    int64_t rows = 1;
    while (l->part == PART_ANE && rows * LINE < plane && (plane % rows || plane / rows > most))
        rows++;
    return plane % rows == 0 && (rows == 1 || plane / rows % LINE == 0) ? rows : 1;
}

bool lowering_instance_norm(struct lowering *l, const char *word)
{
    const struct net_array *const x = l->in[0];
    (void)word;
    if (x->dims < 3)
        return lowering_leave(l, "an input of %u dimensions", x->dims);
    const int64_t plane = net_extent(x->shape, 2, x->dims), rows = plane_rows(l, x->shape[1], plane);
    struct lowered_step *const step =
        lowering_step(l, l->out[0]->data, x->count, "groupnorm:n=%lld,c=%lld,h=%lld,w=%lld,groups=%lld,eps=%.9g",
                      (long long)x->shape[0], (long long)x->shape[1], (long long)rows, (long long)(plane / rows),
                      (long long)x->shape[1], net_attr_real(l->node, "epsilon", 1e-5));
    lowering_read(step, x->data, x->count);
    lowering_read(step, l->in[1]->data, l->in[1]->count);
    lowering_read(step, l->in[2]->data, l->in[2]->count);
    return true;
}

/* A number for each channel; until opset 20 there was one for each group. */
static const float *each_channel(struct lowering *l, const struct net_array *numbers, int64_t channels)
{
    if (numbers->count == channels)
        return numbers->data;
    const int64_t groups = numbers->count, rows = channels / groups;
    uint32_t *const place = lowering_scratch(l, channels);
    float *const to = lowering_scratch(l, channels);
    for (int64_t i = 0; place && i < channels; i++)
        place[i] = (uint32_t)(i / rows);
    struct lowered_step *const step =
        lowering_step(l, to, channels, "gather:%lldx1x%lld", (long long)groups, (long long)channels);
    lowering_read(step, numbers->data, groups);
    lowering_read(step, place, channels);
    return to;
}

bool lowering_group_norm(struct lowering *l, const char *word)
{
    const struct net_array *const x = l->in[0], *const scale = l->in[1], *const bias = l->in[2];
    const int64_t groups = net_attr_int(l->node, "num_groups", 0), channels = x->dims > 1 ? x->shape[1] : 0;
    (void)word;
    if (x->dims < 3 || groups < 1 || channels % groups || (scale->count != channels && scale->count != groups) ||
        bias->count != scale->count)
        return lowering_leave(l, "%lld groups of %lld channels", (long long)groups, (long long)channels);
    const float *const factor = each_channel(l, scale, channels), *const summand = each_channel(l, bias, channels);
    const int64_t plane = net_extent(x->shape, 2, x->dims), rows = plane_rows(l, channels, plane);
    struct lowered_step *const step =
        lowering_step(l, l->out[0]->data, x->count, "groupnorm:n=%lld,c=%lld,h=%lld,w=%lld,groups=%lld,eps=%.9g",
                      (long long)x->shape[0], (long long)channels, (long long)rows, (long long)(plane / rows), (long long)groups,
                      net_attr_real(l->node, "epsilon", 1e-5));
    lowering_read(step, x->data, x->count);
    lowering_read(step, factor, channels);
    lowering_read(step, summand, channels);
    return lowering_holds(l);
}

/* x / (bias + alpha / size * sum of the squares of `size` channels around)^beta. The sums of channels that lie beside one another
 * are a product with a matrix of ones in a band. */
bool lowering_lrn(struct lowering *l, const char *word)
{
    const struct net_array *const x = l->in[0];
    const int64_t size = net_attr_int(l->node, "size", 0), channels = x->dims > 1 ? x->shape[1] : 0;
    const double alpha = net_attr_real(l->node, "alpha", 1e-4), beta = net_attr_real(l->node, "beta", 0.75);
    (void)word;
    if (x->dims < 3 || size < 1 || channels < 1)
        return lowering_leave(l, "%lld of %lld channels", (long long)size, (long long)channels);
    const struct lowering_product sums = {.batch = 1,
                                          .m = channels,
                                          .n = net_extent(x->shape, 2, x->dims),
                                          .k = channels,
                                          .a_known = true,
                                          .alpha = alpha / (double)size};
    float *const band = lowering_scratch(l, channels * channels), *const square = lowering_scratch(l, x->count);
    float *const sum = lowering_scratch(l, x->count);
    for (int64_t i = 0; band && i < channels * channels; i++) {
        const int64_t apart = i % channels - i / channels;
        band[i] = apart >= -((size - 1) / 2) && apart <= size / 2 ? 1 : 0;
    }
    lowering_read(lowering_step(l, square, x->count, "elementwise:%lld,op=square", (long long)x->count), x->data, x->count);
    for (int64_t n = 0; sum && n < x->shape[0]; n++)
        lowering_add_product(l, &sums, band, square + n * sums.m * sums.n, NULL, sum + n * sums.m * sums.n);
    if (!lowering_holds(l))
        return false;
    const float numbers[] = {(float)net_attr_real(l->node, "bias", 1), (float)-beta};
    return lowering_add_chain(l, "add+pow", numbers, 2, sum, sum, x->count) &&
           lowering_add_pair(l, "mul", x->data, sum, x->count, l->out[0]->data);
}

bool lowering_reduces_nothing(const struct net_node *node, struct net_array *const *in)
{
    const struct net_array *const axes = node->inputs > 1 ? in[1] : NULL;
    return (!axes || !axes->count) && net_attr_int(node, "noop_with_empty_axes", 0);
}

/* Which dimensions are reduced, as bits; all when nothing is said. */
static bool reduced_of(struct lowering *l, unsigned *bits)
{
    const struct net_array *const x = l->in[0], *const axes = l->node->inputs > 1 ? l->in[1] : NULL;
    *bits = axes && axes->count ? 0 : (1U << x->dims) - 1;
    if (lowering_reduces_nothing(l->node, l->in))
        return lowering_leave(l, "nothing to be reduced");
    for (int64_t i = 0; axes && i < axes->count; i++) {
        unsigned at;
        if (!axis_of(l, net_array_integer(axes, i), &at))
            return false;
        *bits |= 1U << at;
    }
    return true;
}

/* to = `from` of rows x reduced x inner elements, without the middle ones. */
static bool add_middle(struct lowering *l, const char *word, int64_t rows, int64_t reduced, int64_t inner, const float *from,
                       float *to)
{
    const int64_t count = rows * reduced * inner;
    if (inner > 1 && rows > 1) { /* what stands behind them comes in front of them */
        float *const turned = lowering_scratch(l, count);
        lowering_turn(l, NET_F32, from, rows, reduced, inner, turned);
        lowering_read(
            lowering_step(l, to, rows * inner, "reduce:%lldx%lld,op=%s", (long long)(rows * inner), (long long)reduced, word),
            turned, count);
        return lowering_holds(l);
    }
    lowering_read(inner > 1
                      ? lowering_step(l, to, inner, "reduce:%lldx%lld,op=%s,axis=0", (long long)reduced, (long long)inner, word)
                      : lowering_step(l, to, rows, "reduce:%lldx%lld,op=%s", (long long)rows, (long long)reduced, word),
                  from, count);
    return lowering_holds(l);
}

/* to = `from`, of the shape of the first operand, reduced: one group of dimensions that stand together after the other, the last
 * ones first. Means of as many elements each are the mean of all, and so it is with the others. */
static bool add_reduction(struct lowering *l, const char *word, unsigned bits, const float *from, float *to)
{
    const struct net_array *const x = l->in[0];
    int64_t inner = 1;
    if (!bits)
        return lowering_leave(l, "nothing to be reduced");
    for (unsigned end = x->dims; bits && end > 0;) {
        if (!(bits >> (end - 1) & 1)) {
            inner *= x->shape[--end];
            continue;
        }
        unsigned first = end - 1;
        while (first > 0 && bits >> (first - 1) & 1)
            first--;
        bits &= (1U << first) - 1;
        const int64_t rows = net_extent(x->shape, 0, first);
        float *const part = bits ? lowering_scratch(l, rows * inner) : to;
        if (!part || !add_middle(l, word, rows, net_extent(x->shape, first, end), inner, from, part))
            return false;
        from = part;
        end = first;
    }
    return lowering_holds(l);
}

bool lowering_reduce(struct lowering *l, const char *word)
{
    unsigned bits;
    return reduced_of(l, &bits) && add_reduction(l, word, bits, l->in[0]->data, l->out[0]->data);
}

/* A function of each element, a sum, and a function of that; `word` names both functions, "" = none. */
bool lowering_reduce_sum_of(struct lowering *l, const char *word)
{
    const struct net_array *const x = l->in[0], *const out = l->out[0];
    const int before = (int)strcspn(word, "/");
    const char *const after = word + before + 1;
    const float *from = x->data;
    unsigned bits;
    if (!reduced_of(l, &bits))
        return false;
    if (before) {
        float *const of = lowering_scratch(l, x->count);
        lowering_read(lowering_step(l, of, x->count, "elementwise:%lld,op=%.*s", (long long)x->count, before, word), from,
                      x->count);
        from = of;
    }
    if (!add_reduction(l, "sum", bits, from, out->data))
        return false;
    if (after[0])
        lowering_read(lowering_step(l, out->data, out->count, "elementwise:%lld,op=%s", (long long)out->count, after), out->data,
                      out->count);
    return lowering_holds(l);
}

/* log(sum(exp(x - most))) + most, so that no exponential is too large. */
bool lowering_reduce_log_sum_exp(struct lowering *l, const char *word)
{
    const struct net_array *const x = l->in[0], *const out = l->out[0];
    float *const most = lowering_scratch(l, out->count), *const of = lowering_scratch(l, x->count);
    struct net_array each = {.type = NET_F32, .dims = x->dims, .count = out->count, .data = most};
    unsigned bits;
    (void)word;
    if (!most || !of || !reduced_of(l, &bits) || !add_reduction(l, "max", bits, x->data, most))
        return false;
    for (unsigned d = 0; d < x->dims; d++)
        each.shape[d] = bits >> d & 1 ? 1 : x->shape[d];
    if (!lowering_broadcast_pair(l, "sub", x->data, x, &each, of))
        return false;
    lowering_read(lowering_step(l, of, x->count, "elementwise:%lld,op=exp", (long long)x->count), of, x->count);
    if (!add_reduction(l, "sum", bits, of, out->data))
        return false;
    lowering_read(lowering_step(l, out->data, out->count, "elementwise:%lld,op=log", (long long)out->count), out->data,
                  out->count);
    return lowering_add_pair(l, "add", out->data, most, out->count, out->data);
}

/* The shape of the first operand with these dimensions gone, and these numbers. */
static struct net_array reduced_shape(const struct lowering *l, unsigned bits, int64_t count, float *numbers)
{
    struct net_array each = {.type = NET_F32, .dims = l->in[0]->dims, .count = count, .data = numbers};
    for (unsigned d = 0; d < each.dims; d++)
        each.shape[d] = bits >> d & 1 ? 1 : l->in[0]->shape[d];
    return each;
}

static int64_t kept_count(const struct net_array *x, unsigned bits)
{
    int64_t count = 1;
    for (unsigned d = 0; d < x->dims; d++)
        count *= bits >> d & 1 ? 1 : x->shape[d];
    return count;
}

/* x over the norm of its row; rows of zeros stay so. */
bool lowering_lp_norm(struct lowering *l, const char *word)
{
    const struct net_array *const x = l->in[0];
    const bool first = net_attr_int(l->node, "p", 2) == 1;
    const float least = 0x1p-24F; /* that halves have */
    unsigned axis;
    (void)word;
    if (!axis_of(l, net_attr_int(l->node, "axis", -1), &axis))
        return false;
    const int64_t rows = x->count / x->shape[axis];
    float *const norm = lowering_scratch(l, rows), *const size = first ? lowering_scratch(l, x->count) : x->data;
    if (first)
        lowering_read(lowering_step(l, size, x->count, "elementwise:%lld,op=abs", (long long)x->count), x->data, x->count);
    const struct net_array each = reduced_shape(l, 1U << axis, rows, norm);
    return norm && size && add_reduction(l, first ? "sum" : "norm2", 1U << axis, size, norm) &&
           lowering_add_chain(l, "max", &least, 1, norm, norm, rows) &&
           lowering_broadcast_pair(l, "div", x->data, x, &each, l->out[0]->data);
}

/* What is left of x without its mean, over its deviation and 1e-9, as ONNX has it. */
bool lowering_mvn(struct lowering *l, const char *word)
{
    const struct net_array *const x = l->in[0];
    size_t count;
    const int64_t *const axes = net_attr_ints(l->node, "axes", &count), usual[] = {0, 2, 3};
    const float little = 1e-9F;
    unsigned bits = 0;
    (void)word;
    for (size_t k = 0; k < (axes ? count : 3); k++) {
        unsigned axis;
        if (!axis_of(l, axes ? axes[k] : usual[k], &axis))
            return false;
        bits |= 1U << axis;
    }
    const int64_t rows = kept_count(x, bits);
    float *const mean = lowering_scratch(l, rows), *const spread = lowering_scratch(l, rows);
    float *const apart = lowering_scratch(l, x->count), *const square = lowering_scratch(l, x->count);
    const struct net_array centre = reduced_shape(l, bits, rows, mean), width = reduced_shape(l, bits, rows, spread);
    if (!square || !add_reduction(l, "mean", bits, x->data, mean) ||
        !lowering_broadcast_pair(l, "sub", x->data, x, &centre, apart))
        return false;
    lowering_read(lowering_step(l, square, x->count, "elementwise:%lld,op=square", (long long)x->count), apart, x->count);
    if (!add_reduction(l, "mean", bits, square, spread))
        return false;
    lowering_read(lowering_step(l, spread, rows, "elementwise:%lld,op=sqrt", (long long)rows), spread, rows);
    return lowering_add_chain(l, "add", &little, 1, spread, spread, rows) &&
           lowering_broadcast_pair(l, "div", apart, x, &width, l->out[0]->data);
}
