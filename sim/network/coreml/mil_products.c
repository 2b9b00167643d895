/* Convolutions, products, normalisation, pools, recurrent cells. */
#include "sim/network/coreml/mil.h"

#include <string.h>

/* ---- windows ---- */

enum { SPATIAL_MAX = 3 };

/* Pads are begin and end of one dimension after the other; ONNX has all begins first. `automatic` is ONNX's auto_pad or NULL. */
static const char *pads_of(struct mil_op *o, unsigned dims, int64_t *pad)
{
    int64_t given[2 * SPATIAL_MAX] = {0};
    char text[16];
    const char *const type = mil_word(o, "pad_type", "valid", text, sizeof text);
    const size_t count = strcmp(type, "custom") == 0 ? mil_ints(o, "pad", given, (size_t)2 * SPATIAL_MAX) : 0;
    if (count && count != 2 * dims)
        coreml_fail(o->c, ORCH_USAGE, "%zu amounts of padding for %u dimensions", count, dims);
    for (unsigned d = 0; d < dims; d++) {
        pad[d] = given[2 * d];
        pad[dims + d] = given[2 * d + 1];
    }
    if (strcmp(type, "custom") == 0 || strcmp(type, "valid") == 0)
        return NULL;
    if (strcmp(type, "same") != 0 && strcmp(type, "same_lower") != 0)
        coreml_fail(o->c, ORCH_UNMODELLED, "padding of the type %s", type);
    return strcmp(type, "same") == 0 ? "SAME_UPPER" : "SAME_LOWER";
}

static void steps_of(struct mil_op *o, const char *name, unsigned dims, int64_t *step)
{
    const size_t count = mil_ints(o, name, step, SPATIAL_MAX);
    if (count && count != dims)
        coreml_fail(o->c, ORCH_USAGE, "%zu %s for %u dimensions", count, name, dims);
    for (unsigned d = 0; d < dims && count != dims; d++)
        step[d] = 1;
}

static unsigned spatial(struct mil_op *o, net_id x)
{
    const unsigned rank = coreml_rank(o->c, x);
    if (!o->c->failed && (rank < 3 || rank > 2 + SPATIAL_MAX))
        coreml_fail(o->c, ORCH_UNMODELLED, "an array of %u dimensions", rank);
    return o->c->failed ? 1 : rank - 2;
}

void mil_conv(struct mil_op *o)
{
    int64_t stride[SPATIAL_MAX], dilation[SPATIAL_MAX], pad[2 * SPATIAL_MAX];
    const net_id in[3] = {mil_in(o, "x"), mil_in(o, "weight"), mil_maybe(o, "bias")};
    const unsigned dims = spatial(o, in[0]);
    const char *const automatic = pads_of(o, dims, pad);
    steps_of(o, "strides", dims, stride);
    steps_of(o, "dilations", dims, dilation);
    struct net_node *const node = coreml_node(o->c, "Conv", 1, in, in[2] == NET_NONE ? 2 : 3);
    coreml_set_ints(o->c, node, "strides", stride, dims);
    coreml_set_ints(o->c, node, "dilations", dilation, dims);
    coreml_set_int(o->c, node, "group", mil_int(o, "groups", 1));
    if (automatic)
        coreml_set_text(o->c, node, "auto_pad", automatic);
    else
        coreml_set_ints(o->c, node, "pads", pad, 2 * dims);
    mil_set(o, coreml_add(o->c, node, NULL));
}

/* The size that is wanted says what is cut off of (in - 1) stride + kernel, or added to it. */
void mil_conv_transpose(struct mil_op *o)
{
    int64_t stride[SPATIAL_MAX], dilation[SPATIAL_MAX], pad[2 * SPATIAL_MAX], extra[SPATIAL_MAX] = {0}, wanted[NET_DIMS_MAX];
    const net_id in[3] = {mil_in(o, "x"), mil_in(o, "weight"), mil_maybe(o, "bias")};
    const unsigned dims = spatial(o, in[0]);
    const char *const automatic = pads_of(o, dims, pad);
    const size_t given = mil_ints(o, "output_shape", wanted, NET_DIMS_MAX);
    steps_of(o, "strides", dims, stride);
    steps_of(o, "dilations", dims, dilation);
    if (given && given < dims)
        coreml_fail(o->c, ORCH_USAGE, "an output of %zu dimensions", given);
    for (unsigned d = 0; d < dims && !o->c->failed && (automatic || given); d++) {
        const int64_t at = (int64_t)d - dims, size = coreml_dim(o->c, in[0], at), kernel = coreml_dim(o->c, in[1], at);
        const int64_t full = (size - 1) * stride[d] + (kernel - 1) * dilation[d] + 1;
        const int64_t excess = full - (given ? wanted[given - dims + d] : size * stride[d]);
        const int64_t half = excess > 0 ? excess / 2 : 0;
        if (!automatic) {
            extra[d] = pad[d] + pad[dims + d] - excess;
            continue;
        }
        pad[d] = strcmp(automatic, "SAME_LOWER") == 0 && excess > 0 ? excess - half : half;
        pad[dims + d] = excess > 0 ? excess - pad[d] : 0;
        extra[d] = excess < 0 ? -excess : 0;
    }
    struct net_node *const node = coreml_node(o->c, "ConvTranspose", 1, in, in[2] == NET_NONE ? 2 : 3);
    coreml_set_ints(o->c, node, "strides", stride, dims);
    coreml_set_ints(o->c, node, "dilations", dilation, dims);
    coreml_set_ints(o->c, node, "pads", pad, 2 * dims);
    coreml_set_ints(o->c, node, "output_padding", extra, dims);
    coreml_set_int(o->c, node, "group", mil_int(o, "groups", 1));
    mil_set(o, coreml_add(o->c, node, NULL));
}

void mil_pool(struct mil_op *o)
{
    const net_id x = mil_in(o, "x");
    struct coreml_pool pool = {.kind = strcmp(o->op, "max") == 0 ? 0 : strcmp(o->op, "average") == 0 ? 1 : 2};
    pool.dims = spatial(o, x);
    pool.automatic = pads_of(o, pool.dims, pool.pad);
    if (mil_ints(o, "kernel_sizes", pool.kernel, SPATIAL_MAX) != pool.dims)
        coreml_fail(o->c, ORCH_USAGE, "kernel_sizes of other than %u dimensions", pool.dims);
    steps_of(o, "strides", pool.dims, pool.stride);
    pool.ceil = mil_flag(o, "ceil_mode", false);
    pool.skips_padding = mil_flag(o, "exclude_padding_from_average", false);
    if (!o->c->failed)
        mil_set(o, coreml_pooled(o->c, x, &pool));
}

/* ---- normalisation ---- */

/* A parameter of one number for each channel; `absent` when the program leaves it out. */
static net_id per_channel(struct mil_op *o, const char *name, int64_t channels, double absent)
{
    const net_id given = mil_maybe(o, name);
    return given != NET_NONE ? given : coreml_two(o->c, "Expand", coreml_number(o->c, absent), coreml_ints(o->c, &channels, 1));
}

void mil_batch_norm(struct mil_op *o)
{
    const net_id x = mil_in(o, "x");
    const int64_t channels = coreml_dim(o->c, x, 1);
    const net_id in[5] = {x, per_channel(o, "gamma", channels, 1), per_channel(o, "beta", channels, 0), mil_in(o, "mean"),
                          mil_in(o, "variance")};
    struct net_node *const node = coreml_node(o->c, "BatchNormalization", 1, in, 5);
    coreml_set_real(o->c, node, "epsilon", mil_real(o, "epsilon", 1e-5));
    mil_set(o, coreml_add(o->c, node, NULL));
}

void mil_instance_norm(struct mil_op *o)
{
    const net_id x = mil_in(o, "x");
    const int64_t channels = coreml_dim(o->c, x, 1);
    const net_id in[3] = {x, per_channel(o, "gamma", channels, 1), per_channel(o, "beta", channels, 0)};
    struct net_node *const node = coreml_node(o->c, "InstanceNormalization", 1, in, 3);
    coreml_set_real(o->c, node, "epsilon", mil_real(o, "epsilon", 1e-5));
    mil_set(o, coreml_add(o->c, node, NULL));
}

/* Over axes that are not the last ones: gamma and beta have the sizes of these axes alone. */
static net_id over_axes(struct mil_op *o, net_id x, const int64_t *axes, size_t count, double epsilon)
{
    int64_t shape[NET_DIMS_MAX];
    static const char *const names[2] = {"gamma", "beta"}, *const ops[2] = {"Mul", "Add"};
    const unsigned rank = coreml_rank(o->c, x);
    const net_id centred = coreml_two(o->c, "Sub", x, coreml_reduce(o->c, "ReduceMean", x, axes, count, true));
    const net_id variance = coreml_reduce(o->c, "ReduceMean", coreml_two(o->c, "Mul", centred, centred), axes, count, true);
    net_id y = coreml_two(o->c, "Div", centred, coreml_one(o->c, "Sqrt", coreml_scaled(o->c, variance, 1, epsilon)));
    for (unsigned d = 0; d < rank; d++)
        shape[d] = 1;
    for (size_t k = 0; k < count; k++)
        shape[axes[k]] = coreml_dim(o->c, x, axes[k]);
    for (unsigned k = 0; k < 2; k++) {
        const net_id given = mil_maybe(o, names[k]);
        y = given == NET_NONE ? y : coreml_two(o->c, ops[k], y, coreml_reshape(o->c, given, shape, rank));
    }
    return y;
}

void mil_layer_norm(struct mil_op *o)
{
    int64_t axes[NET_DIMS_MAX], shape[NET_DIMS_MAX];
    const net_id x = mil_in(o, "x"), gamma = mil_maybe(o, "gamma"), beta = mil_maybe(o, "beta");
    const unsigned rank = coreml_rank(o->c, x);
    size_t count = mil_ints(o, "axes", axes, NET_DIMS_MAX);
    const double epsilon = mil_real(o, "epsilon", 1e-5);
    bool last = true;
    if (!mil_has(o, "axes"))
        for (count = 0; count < rank; count++)
            axes[count] = (int64_t)count;
    for (size_t k = 0; k < count; k++) {
        axes[k] += axes[k] < 0 ? rank : 0;
        last = last && axes[k] == (int64_t)(rank - count + k);
        if (axes[k] < 0 || axes[k] >= rank)
            coreml_fail(o->c, ORCH_USAGE, "axis %lld of %u", (long long)axes[k], rank);
    }
    if (o->c->failed)
        return;
    if (!last || count == 0) {
        mil_set(o, over_axes(o, x, axes, count, epsilon));
        return;
    }
    for (size_t k = 0; k < count; k++)
        shape[k] = coreml_dim(o->c, x, axes[k]);
    const net_id one =
        gamma != NET_NONE ? gamma : coreml_two(o->c, "Expand", coreml_number(o->c, 1), coreml_ints(o->c, shape, count));
    const net_id in[3] = {x, one, beta};
    struct net_node *const node = coreml_node(o->c, "LayerNormalization", 1, in, beta == NET_NONE ? 2 : 3);
    coreml_set_int(o->c, node, "axis", -(int64_t)count);
    coreml_set_real(o->c, node, "epsilon", epsilon);
    mil_set(o, coreml_add(o->c, node, NULL));
}

void mil_l2_norm(struct mil_op *o)
{
    static const int64_t axes[3] = {-3, -2, -1};
    const net_id x = mil_in(o, "x");
    const net_id sum = coreml_reduce(o->c, "ReduceSum", coreml_two(o->c, "Mul", x, x), axes, 3, true);
    const net_id root = coreml_one(o->c, "Sqrt", coreml_scaled(o->c, sum, 1, mil_real(o, "epsilon", 1e-6)));
    mil_set(o, coreml_two(o->c, "Div", x, root));
}

void mil_lrn(struct mil_op *o)
{
    const net_id x = mil_in(o, "x");
    struct net_node *const node = coreml_node(o->c, "LRN", 1, &x, 1);
    coreml_set_int(o->c, node, "size", mil_int(o, "size", 1));
    coreml_set_real(o->c, node, "alpha", mil_real(o, "alpha", 1e-4));
    coreml_set_real(o->c, node, "beta", mil_real(o, "beta", 0.75));
    coreml_set_real(o->c, node, "bias", mil_real(o, "k", 1));
    mil_set(o, coreml_add(o->c, node, NULL));
}

/* ---- products ---- */

static net_id turned(struct mil_op *o, net_id x)
{
    int64_t order[NET_DIMS_MAX];
    const unsigned rank = coreml_rank(o->c, x);
    for (unsigned d = 0; d < rank; d++)
        order[d] = d + 2 < rank ? d : (int64_t)(2 * rank - 3 - d);
    return rank > 1 ? coreml_transpose(o->c, x, order, rank) : x;
}

/* Weights are [out, in]. */
void mil_linear(struct mil_op *o)
{
    const net_id x = mil_in(o, "x"), w = mil_in(o, "weight"), bias = mil_maybe(o, "bias");
    if (!o->c->failed && coreml_rank(o->c, x) == 2) {
        const net_id in[3] = {x, w, bias};
        struct net_node *const node = coreml_node(o->c, "Gemm", 1, in, bias == NET_NONE ? 2 : 3);
        coreml_set_int(o->c, node, "transB", 1);
        mil_set(o, coreml_add(o->c, node, NULL));
        return;
    }
    const net_id y = coreml_two(o->c, "MatMul", x, turned(o, w));
    mil_set(o, bias == NET_NONE ? y : coreml_two(o->c, "Add", y, bias));
}

void mil_matmul(struct mil_op *o)
{
    net_id x = mil_in(o, "x"), y = mil_in(o, "y");
    x = mil_flag(o, "transpose_x", false) ? turned(o, x) : x;
    y = mil_flag(o, "transpose_y", false) ? turned(o, y) : y;
    mil_set(o, coreml_two(o->c, "MatMul", x, y));
}

void mil_einsum(struct mil_op *o)
{
    net_id in[MIL_OPERANDS_MAX];
    char text[80];
    const size_t count = mil_all(o, "values", in, MIL_OPERANDS_MAX);
    struct net_node *const node = coreml_node(o->c, "Einsum", 1, in, count);
    coreml_set_text(o->c, node, "equation", mil_word(o, "equation", "", text, sizeof text));
    mil_set(o, coreml_add(o->c, node, NULL));
}

/* The scale is always 1 / sqrt(E). Of a mask of truth values, what is false is left out. */
void mil_attention(struct mil_op *o)
{
    const net_id q = mil_in(o, "query"), k = mil_in(o, "key"), v = mil_in(o, "value");
    net_id mask = mil_maybe(o, "attn_mask");
    const double scale = 1 / sqrt((double)coreml_dim(o->c, q, -1));
    net_id s = coreml_scaled(o->c, coreml_two(o->c, "MatMul", q, turned(o, k)), scale, 0);
    if (mask != NET_NONE && !o->c->failed && o->c->model->value[mask].type == NET_BOOL) {
        const net_id in[3] = {mask, coreml_number(o->c, 0), coreml_number(o->c, -INFINITY)};
        mask = coreml_add(o->c, coreml_node(o->c, "Where", 1, in, 3), NULL);
    }
    s = mask == NET_NONE ? s : coreml_two(o->c, "Add", s, mask);
    mil_set(o, coreml_two(o->c, "MatMul", coreml_axis(o->c, "Softmax", s, -1), v));
}

/* ---- recurrent cells ---- */

/* Gates of a matrix or vector in another order, and a first dimension of one, for the direction. */
static net_id reordered(struct mil_op *o, net_id x, const unsigned *order, unsigned gates)
{
    net_id part[4], mixed[4];
    const int64_t first = 0;
    struct net_node *const split = coreml_node(o->c, "Split", gates, &x, 1);
    coreml_set_int(o->c, split, "axis", 0);
    coreml_set_int(o->c, split, "num_outputs", gates);
    coreml_add(o->c, split, part);
    for (unsigned k = 0; k < gates; k++)
        mixed[k] = part[order[k]];
    struct net_node *const node = coreml_node(o->c, "Concat", 1, mixed, gates);
    coreml_set_int(o->c, node, "axis", 0);
    return coreml_axes(o->c, "Unsqueeze", coreml_add(o->c, node, NULL), &first, 1);
}

static net_id with_zeros(struct mil_op *o, net_id bias, int64_t count)
{
    const int64_t shape[2] = {1, count};
    const net_id both[2] = {bias, coreml_two(o->c, "Expand", coreml_number(o->c, 0), coreml_ints(o->c, shape, 2))};
    struct net_node *const node = coreml_node(o->c, "Concat", 1, both, 2);
    coreml_set_int(o->c, node, "axis", 1);
    return coreml_add(o->c, node, NULL);
}

static void usual(struct mil_op *o, const char *name, const char *wanted)
{
    char text[32];
    if (strcmp(mil_word(o, name, wanted, text, sizeof text), wanted) != 0)
        coreml_fail(o->c, ORCH_UNMODELLED, "%s %s; %s is known", name, text, wanted);
}

static void recurrent(struct mil_op *o, const char *op, const unsigned *order, unsigned gates)
{
    static const int64_t first = 0, second = 1;
    const bool lstm = gates == 4;
    const net_id hidden = mil_in(o, "initial_h"), bias = mil_maybe(o, "bias"), peephole = mil_maybe(o, "peephole");
    const int64_t size = coreml_dim(o->c, hidden, -1);
    char text[32];
    const char *const direction = mil_word(o, "direction", "forward", text, sizeof text);
    net_id out[3], in[8] = {mil_in(o, "x"),
                            reordered(o, mil_in(o, "weight_ih"), order, gates),
                            reordered(o, mil_in(o, "weight_hh"), order, gates),
                            bias == NET_NONE ? NET_NONE : with_zeros(o, reordered(o, bias, order, gates), gates * size),
                            NET_NONE,
                            coreml_axes(o->c, "Unsqueeze", hidden, &first, 1),
                            lstm ? coreml_axes(o->c, "Unsqueeze", mil_in(o, "initial_c"), &first, 1) : NET_NONE,
                            NET_NONE};
    usual(o, "recurrent_activation", "sigmoid");
    usual(o, "activation", "tanh");
    usual(o, "cell_activation", "tanh");
    if (strcmp(direction, "bidirectional") == 0 || peephole != NET_NONE || mil_has(o, "clip"))
        coreml_fail(o->c, ORCH_UNMODELLED, "both directions at once, peepholes, or cells that are clipped");
    struct net_node *const node = coreml_node(o->c, op, gates == 4 ? 3 : 2, in, lstm ? 8 : 6);
    coreml_set_int(o->c, node, "hidden_size", size);
    if (strcmp(direction, "reverse") == 0)
        coreml_set_text(o->c, node, "direction", "reverse");
    if (!lstm)
        coreml_set_int(o->c, node, "linear_before_reset", 1);
    coreml_add(o->c, node, out);
    /* All steps [s, 1, b, H], or the last one [1, b, H]. */
    o->out[0] = coreml_tensor(mil_flag(o, "output_sequence", false) ? coreml_axes(o->c, "Squeeze", out[0], &second, 1) : out[1]);
    for (unsigned k = 1; k < (lstm ? 3U : 2U); k++)
        o->out[k] = coreml_tensor(coreml_axes(o->c, "Squeeze", out[k], &first, 1));
}

/* Gates i, f, o, z in the file; i, o, f, z here. */
void mil_lstm(struct mil_op *o)
{
    static const unsigned order[4] = {0, 2, 1, 3};
    recurrent(o, "LSTM", order, 4);
}

/* Gates r, o, z in the file; z, r, h here. */
void mil_gru(struct mil_op *o)
{
    static const unsigned order[3] = {2, 0, 1};
    recurrent(o, "GRU", order, 3);
}
