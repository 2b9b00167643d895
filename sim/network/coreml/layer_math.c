/* Layers that compute numbers: activations, functions, normalisation, products with weights. */
#include "sim/network/coreml/layer.h"

#include <math.h>
#include <string.h>

/* ---- activations ---- */

enum {
    ACT_LINEAR = 5,
    ACT_RELU = 10,
    ACT_LEAKY = 15,
    ACT_THRESHOLDED = 20,
    ACT_PRELU = 25,
    ACT_TANH = 30,
    ACT_SCALED_TANH = 31,
    ACT_SIGMOID = 40,
    ACT_HARD = 41,
    ACT_ELU = 50,
    ACT_SOFTSIGN = 60,
    ACT_SOFTPLUS = 70,
    ACT_PARAMETRIC = 71
};

/* A weight of one number for each channel, or of one for all. */
static net_id by_channel(struct layer *l, struct pb body, unsigned field)
{
    const int64_t channels = coreml_dim(l->c, l->in[0], -3), one = 1;
    const struct pb weights = pb_message(body, field);
    const bool single = pb_floats(weights, 1, NULL, 0) == 1 || pb_size(pb_message(weights, 2)) == 2;
    const int64_t shape[3] = {single ? one : channels, 1, 1};
    return coreml_weights(l->c, body, field, shape, 3);
}

static net_id with_alpha(struct layer *l, const char *op, struct pb body, net_id x)
{
    struct net_node *const node = coreml_node(l->c, op, 1, &x, 1);
    coreml_set_real(l->c, node, "alpha", pb_real(body, 1, 0));
    return coreml_add(l->c, node, NULL);
}

static net_id hard_sigmoid(struct layer *l, struct pb body, net_id x)
{
    struct net_node *const node = coreml_node(l->c, "HardSigmoid", 1, &x, 1);
    coreml_set_real(l->c, node, "alpha", pb_real(body, 1, 0));
    coreml_set_real(l->c, node, "beta", pb_real(body, 2, 0));
    return coreml_add(l->c, node, NULL);
}

void layer_activation(struct layer *l)
{
    struct coreml *const c = l->c;
    struct pb_field f = {.number = 0};
    struct pb body = l->body;
    const net_id x = l->in[0];
    while (pb_next(&body, &f) && !f.is_bytes)
        f.number = 0;
    const struct pb p = f.body;
    switch (f.number) {
    case ACT_LINEAR: l->out[0] = coreml_scaled(c, x, pb_real(p, 1, 0), pb_real(p, 2, 0)); break;
    case ACT_RELU: l->out[0] = coreml_one(c, "Relu", x); break;
    case ACT_LEAKY: l->out[0] = with_alpha(l, "LeakyRelu", p, x); break;
    case ACT_THRESHOLDED: l->out[0] = with_alpha(l, "ThresholdedRelu", p, x); break;
    case ACT_PRELU: l->out[0] = coreml_two(c, "PRelu", x, by_channel(l, p, 1)); break;
    case ACT_TANH: l->out[0] = coreml_one(c, "Tanh", x); break;
    case ACT_SCALED_TANH:
        l->out[0] = coreml_scaled(c, coreml_one(c, "Tanh", coreml_scaled(c, x, pb_real(p, 2, 0), 0)), pb_real(p, 1, 0), 0);
        break;
    case ACT_SIGMOID: l->out[0] = coreml_one(c, "Sigmoid", x); break;
    case ACT_HARD: l->out[0] = hard_sigmoid(l, p, x); break;
    case ACT_ELU: l->out[0] = with_alpha(l, "Elu", p, x); break;
    case ACT_SOFTSIGN: l->out[0] = coreml_one(c, "Softsign", x); break;
    case ACT_SOFTPLUS: l->out[0] = coreml_one(c, "Softplus", x); break;
    case ACT_PARAMETRIC: /* alpha log(1 + e^(beta x)) */
        l->out[0] =
            coreml_two(c, "Mul", by_channel(l, p, 1), coreml_one(c, "Softplus", coreml_two(c, "Mul", x, by_channel(l, p, 2))));
        break;
    default: coreml_fail(c, ORCH_UNMODELLED, "an activation of the kind %u", f.number); break;
    }
}

/* ---- functions ---- */

void layer_unary(struct layer *l)
{
    enum { UNARY_TYPE = 1, UNARY_ALPHA = 2, UNARY_EPSILON = 3, UNARY_SHIFT = 4, UNARY_SCALE = 5 };
    enum { SQRT, RSQRT, INVERSE, POWER, EXP, LOG, ABS, THRESHOLD };
    struct coreml *const c = l->c;
    const double scale = layer_real(l, UNARY_SCALE, 1), alpha = layer_real(l, UNARY_ALPHA, 0);
    const double epsilon = layer_real(l, UNARY_EPSILON, 0), added = epsilon == 0 ? 1e-6 : epsilon;
    const net_id x = coreml_scaled(c, l->in[0], scale == 0 ? 1 : scale, layer_real(l, UNARY_SHIFT, 0));
    switch (layer_int(l, UNARY_TYPE, 0)) {
    case SQRT: l->out[0] = coreml_one(c, "Sqrt", x); break;
    case RSQRT: l->out[0] = coreml_one(c, "Reciprocal", coreml_one(c, "Sqrt", coreml_scaled(c, x, 1, added))); break;
    case INVERSE: l->out[0] = coreml_one(c, "Reciprocal", coreml_scaled(c, x, 1, added)); break;
    case POWER: l->out[0] = coreml_two(c, "Pow", x, coreml_number(c, alpha)); break;
    case EXP: l->out[0] = coreml_one(c, "Exp", x); break;
    case LOG: l->out[0] = coreml_one(c, "Log", x); break;
    case ABS: l->out[0] = coreml_one(c, "Abs", x); break;
    case THRESHOLD: l->out[0] = coreml_clip(c, x, alpha, INFINITY); break;
    default: coreml_fail(c, ORCH_UNMODELLED, "a function of the kind %lld", (long long)layer_int(l, UNARY_TYPE, 0)); break;
    }
}

/* [1], [C], [1, H, W] or [C, H, W], as an operand that spreads over the last three dimensions. */
static net_id spread(struct layer *l, unsigned shape_field, unsigned field)
{
    int64_t given[NET_DIMS_MAX], shape[3] = {1, 1, 1};
    const size_t dims = layer_list(l, shape_field, given);
    if (dims != 1 && dims != 3)
        return coreml_fail(l->c, ORCH_USAGE, "a shape of %zu dimensions where one or three belong", dims);
    for (size_t d = 0; d < dims; d++)
        shape[d] = given[d];
    return coreml_weights(l->c, l->body, field, shape, 3);
}

void layer_scale(struct layer *l)
{
    l->out[0] = coreml_two(l->c, "Mul", l->in[0], spread(l, 1, 2));
    if (layer_int(l, 3, 0))
        l->out[0] = coreml_two(l->c, "Add", l->out[0], spread(l, 4, 5));
}

void layer_bias(struct layer *l)
{
    l->out[0] = coreml_two(l->c, "Add", l->in[0], spread(l, 1, 2));
}

/* ---- normalisation ---- */

void layer_batch_norm(struct layer *l)
{
    enum { BN_CHANNELS = 1, BN_COMPUTES = 5, BN_INSTANCE = 6, BN_EPSILON = 10, BN_FIRST = 15 };
    const int64_t channels = layer_int(l, BN_CHANNELS, 0);
    const double given = layer_real(l, BN_EPSILON, 0), epsilon = given == 0 ? 1e-5 : given;
    const bool computes = layer_int(l, BN_COMPUTES, 0), instance = layer_int(l, BN_INSTANCE, 0);
    const net_id x = layer_as_image(l, l->in[0]);
    net_id in[5] = {x};
    if (computes && !instance) {
        coreml_fail(l->c, ORCH_UNMODELLED, "mean and variance that are computed over a batch");
        return;
    }
    for (unsigned k = 0; k < (computes ? 2 : 4); k++)
        in[1 + k] = coreml_weights(l->c, l->body, BN_FIRST + k, &channels, 1);
    struct net_node *const node =
        coreml_node(l->c, computes ? "InstanceNormalization" : "BatchNormalization", 1, in, computes ? 3 : 5);
    coreml_set_real(l->c, node, "epsilon", epsilon);
    l->out[0] = layer_as_before(l, coreml_add(l->c, node, NULL), l->in[0]);
}

void layer_mvn(struct layer *l)
{
    static const int64_t all[3] = {-3, -2, -1}, plane[2] = {-2, -1};
    const bool across = layer_int(l, 1, 0), by_variance = layer_int(l, 2, 0);
    const double given = layer_real(l, 3, 0), epsilon = given == 0 ? 1e-5 : given;
    const int64_t *const axes = across ? all : plane;
    const size_t count = across ? 3 : 2;
    const net_id mean = coreml_reduce(l->c, "ReduceMean", l->in[0], axes, count, true);
    const net_id centred = coreml_two(l->c, "Sub", l->in[0], mean);
    l->out[0] = centred;
    if (!by_variance)
        return;
    const net_id variance = coreml_reduce(l->c, "ReduceMean", coreml_two(l->c, "Mul", centred, centred), axes, count, true);
    l->out[0] = coreml_two(l->c, "Div", centred, coreml_one(l->c, "Sqrt", coreml_scaled(l->c, variance, 1, epsilon)));
}

void layer_l2_norm(struct layer *l)
{
    static const int64_t axes[3] = {-3, -2, -1};
    const double given = layer_real(l, 1, 0);
    const net_id sum = coreml_reduce(l->c, "ReduceSum", coreml_two(l->c, "Mul", l->in[0], l->in[0]), axes, 3, true);
    const net_id root = coreml_one(l->c, "Sqrt", coreml_scaled(l->c, sum, 1, given == 0 ? 1e-6 : given));
    l->out[0] = coreml_two(l->c, "Div", l->in[0], root);
}

void layer_lrn(struct layer *l)
{
    const net_id x = layer_as_image(l, l->in[0]);
    const double k = layer_real(l, 4, 0);
    struct net_node *const node = coreml_node(l->c, "LRN", 1, &x, 1);
    coreml_set_real(l->c, node, "alpha", layer_real(l, 1, 0));
    coreml_set_real(l->c, node, "beta", layer_real(l, 2, 0));
    coreml_set_int(l->c, node, "size", layer_int(l, 3, 0));
    coreml_set_real(l->c, node, "bias", k == 0 ? 1 : k);
    l->out[0] = layer_as_before(l, coreml_add(l->c, node, NULL), l->in[0]);
}

/* Over the channels. Where height and width are one, the channels are moved to the end, which is where kernels want them. */
void layer_softmax(struct layer *l)
{
    const unsigned rank = coreml_rank(l->c, l->in[0]);
    if (rank < 3 || coreml_dim(l->c, l->in[0], -1) != 1 || coreml_dim(l->c, l->in[0], -2) != 1) {
        l->out[0] = coreml_axis(l->c, "Softmax", l->in[0], rank < 3 ? -1 : -3);
        return;
    }
    const int64_t flat[2] = {-1, coreml_dim(l->c, l->in[0], -3)};
    const net_id y = coreml_axis(l->c, "Softmax", coreml_reshape(l->c, l->in[0], flat, 2), -1);
    int64_t shape[NET_DIMS_MAX];
    for (unsigned d = 0; d < rank && !l->c->failed; d++)
        shape[d] = coreml_dim(l->c, l->in[0], d);
    if (!l->c->failed)
        l->out[0] = coreml_reshape(l->c, y, shape, rank);
}

void layer_layer_norm(struct layer *l)
{
    int64_t shape[NET_DIMS_MAX];
    const size_t dims = layer_list(l, 1, shape);
    const double given = layer_real(l, 2, 0);
    const net_id in[3] = {l->in[0], coreml_weights(l->c, l->body, 3, shape, (unsigned)dims),
                          coreml_weights(l->c, l->body, 4, shape, (unsigned)dims)};
    struct net_node *const node = coreml_node(l->c, "LayerNormalization", 1, in, 3);
    coreml_set_int(l->c, node, "axis", -(int64_t)dims);
    coreml_set_real(l->c, node, "epsilon", given == 0 ? 1e-5 : given);
    l->out[0] = coreml_add(l->c, node, NULL);
}

/* ---- products ---- */

static net_id times(struct layer *l, net_id x, net_id weights, net_id bias, bool transposed)
{
    const net_id in[3] = {x, weights, bias};
    struct net_node *const node = coreml_node(l->c, "Gemm", 1, in, bias == NET_NONE ? 2 : 3);
    coreml_set_int(l->c, node, "transB", transposed);
    return coreml_add(l->c, node, NULL);
}

void layer_inner_product(struct layer *l)
{
    const int64_t in = layer_int(l, 1, 0), out = layer_int(l, 2, 0), weights[2] = {out, in}, flat[2] = {-1, in};
    const unsigned rank = coreml_rank(l->c, l->in[0]);
    int64_t shape[NET_DIMS_MAX];
    if (in < 1 || out < 1)
        coreml_fail(l->c, ORCH_USAGE, "%lld inputs and %lld outputs", (long long)in, (long long)out);
    const net_id x = coreml_reshape(l->c, l->in[0], flat, 2), w = coreml_weights(l->c, l->body, 20, weights, 2);
    const net_id bias = layer_int(l, 10, 0) ? coreml_weights(l->c, l->body, 21, &out, 1) : NET_NONE;
    const net_id y = times(l, x, w, bias, true);
    for (unsigned d = 0; d < rank && !l->c->failed; d++)
        shape[d] = rank < 4        ? (d + 1 == rank ? out : coreml_dim(l->c, l->in[0], d))
                   : d + 3 < rank  ? coreml_dim(l->c, l->in[0], d)
                   : d + 3 == rank ? out
                                   : 1;
    if (!l->c->failed)
        l->out[0] = coreml_reshape(l->c, y, shape, rank);
}

/* With one input the weights are [in, out], column after column: rows of [out, in]. */
void layer_batched_matmul(struct layer *l)
{
    const int64_t in = layer_int(l, 5, 0), out = layer_int(l, 6, 0), weights[2] = {out, in};
    const int64_t swap[2] = {1, 0};
    net_id x[2] = {l->in[0], l->inputs > 1 ? l->in[1] : NET_NONE};
    for (unsigned k = 0; k < l->inputs && l->inputs > 1; k++) {
        int64_t order[NET_DIMS_MAX];
        const unsigned rank = coreml_rank(l->c, x[k]);
        for (unsigned d = 0; d < rank; d++)
            order[d] = d + 2 < rank ? d : (int64_t)(2 * rank - 3 - d);
        if (rank > 1 && layer_int(l, 1 + k, 0))
            x[k] = coreml_transpose(l->c, x[k], order, rank);
    }
    if (l->inputs > 1) {
        l->out[0] = coreml_two(l->c, "MatMul", x[0], x[1]);
        return;
    }
    const net_id stored = coreml_weights(l->c, l->body, 8, weights, 2);
    l->out[0] = coreml_two(l->c, "MatMul", x[0], coreml_transpose(l->c, stored, swap, 2));
    if (layer_int(l, 7, 0))
        l->out[0] = coreml_two(l->c, "Add", l->out[0], coreml_weights(l->c, l->body, 9, &out, 1));
}

/* Weights [outputs, words]; the numbers of words are given as floats. */
static net_id look_up(struct layer *l, int64_t words, int64_t size, bool biased, net_id places)
{
    const int64_t shape[2] = {size, words}, swap[2] = {1, 0};
    const net_id table = coreml_transpose(l->c, coreml_weights(l->c, l->body, 20, shape, 2), swap, 2);
    const net_id found = coreml_two(l->c, "Gather", table, coreml_cast(l->c, places, NET_I64));
    return biased ? coreml_two(l->c, "Add", found, coreml_weights(l->c, l->body, 21, &size, 1)) : found;
}

void layer_embedding(struct layer *l)
{
    const int64_t flat = -1, size = layer_int(l, 2, 0), shape[4] = {-1, size, 1, 1};
    const net_id found = look_up(l, layer_int(l, 1, 0), size, layer_int(l, 10, 0), coreml_reshape(l->c, l->in[0], &flat, 1));
    l->out[0] = coreml_reshape(l->c, found, shape, 4);
}

void layer_embedding_nd(struct layer *l)
{
    const int64_t last = -1;
    l->out[0] =
        look_up(l, layer_int(l, 1, 0), layer_int(l, 2, 0), layer_int(l, 3, 0), coreml_axes(l->c, "Squeeze", l->in[0], &last, 1));
}
