/* Layers that move elements: other shapes, parts, several as one, constants. */
#include "sim/network/coreml/layer.h"

#include <string.h>

void layer_copy(struct layer *l)
{
    l->out[0] = coreml_one(l->c, "Identity", l->in[0]);
}

/* Of rank 3, [C, H, W], or of any rank. */
void layer_constant(struct layer *l)
{
    int64_t shape[NET_DIMS_MAX + 1] = {1};
    const bool image = strcmp(l->op, "image") == 0;
    const size_t dims = layer_list(l, 1, image ? shape + 1 : shape);
    if (image && dims != 3)
        coreml_fail(l->c, ORCH_USAGE, "a shape of %zu dimensions where three belong", dims);
    if (!l->c->failed)
        l->out[0] = coreml_weights(l->c, l->body, 2, shape, (unsigned)dims + image);
}

/* ---- [sequence, channels, height, width] ---- */

static net_id with_channels(struct layer *l, net_id x, bool last)
{
    static const int64_t to_last[4] = {0, 2, 3, 1}, to_first[4] = {0, 3, 1, 2};
    return coreml_transpose(l->c, x, last ? to_last : to_first, 4);
}

void layer_flatten(struct layer *l)
{
    const net_id x = layer_as_image(l, l->in[0]);
    const int64_t shape[4] = {coreml_dim(l->c, x, 0), -1, 1, 1};
    const net_id ordered = layer_int(l, 1, 0) ? with_channels(l, x, true) : x;
    l->out[0] = layer_as_before(l, coreml_reshape(l->c, ordered, shape, 4), l->in[0]);
}

void layer_reshape(struct layer *l)
{
    int64_t given[NET_DIMS_MAX], shape[4];
    const size_t dims = layer_list(l, 1, given);
    const net_id x = layer_as_image(l, l->in[0]);
    if (dims != 3 && dims != 4)
        coreml_fail(l->c, ORCH_USAGE, "a shape of %zu dimensions where three or four belong", dims);
    if (l->c->failed)
        return;
    shape[0] = dims == 4 ? given[0] : coreml_dim(l->c, x, 0);
    memcpy(shape + 1, given + dims - 3, 3 * sizeof *shape);
    const int64_t turned[4] = {shape[0], shape[2], shape[3], shape[1]};
    l->out[0] = layer_int(l, 2, 0) ? with_channels(l, coreml_reshape(l->c, with_channels(l, x, true), turned, 4), false)
                                   : coreml_reshape(l->c, x, shape, 4);
}

void layer_permute(struct layer *l)
{
    int64_t order[NET_DIMS_MAX];
    const size_t dims = layer_list(l, 1, order);
    const net_id x = layer_as_image(l, l->in[0]);
    if (dims && dims != 4)
        coreml_fail(l->c, ORCH_USAGE, "an order of %zu dimensions where four belong", dims);
    if (!l->c->failed)
        l->out[0] = dims ? coreml_transpose(l->c, x, order, 4) : coreml_one(l->c, "Identity", x);
}

void layer_concat(struct layer *l)
{
    struct net_node *const node = coreml_node(l->c, "Concat", 1, l->in, l->inputs);
    coreml_set_int(l->c, node, "axis", layer_int(l, 100, 0) ? 0 : -3);
    l->out[0] = coreml_add(l->c, node, NULL);
}

void layer_split(struct layer *l)
{
    struct net_node *const node = coreml_node(l->c, "Split", l->outputs, l->in, 1);
    coreml_set_int(l->c, node, "axis", -3);
    coreml_set_int(l->c, node, "num_outputs", (int64_t)l->outputs);
    if (layer_int(l, 1, 0) != (int64_t)l->outputs)
        coreml_fail(l->c, ORCH_USAGE, "%lld parts and %zu outputs", (long long)layer_int(l, 1, 0), l->outputs);
    coreml_add(l->c, node, l->out);
}

void layer_slice(struct layer *l)
{
    const int64_t axis = layer_int(l, 4, 0), step = layer_int(l, 3, 0), from = layer_int(l, 1, 0), given = layer_int(l, 2, 0);
    const int64_t size = coreml_dim(l->c, l->in[0], axis - 3), to = given < 0 ? size + given + 1 : given;
    if (axis < 0 || axis > 2)
        coreml_fail(l->c, ORCH_USAGE, "an axis that does not exist");
    l->out[0] = coreml_slice(l->c, l->in[0], axis - 3, from, to, step < 1 ? 1 : step);
}

void layer_sequence_repeat(struct layer *l)
{
    const int64_t times[4] = {layer_int(l, 1, 0), 1, 1, 1};
    const net_id x = layer_as_image(l, l->in[0]);
    l->out[0] = coreml_two(l->c, "Tile", x, coreml_ints(l->c, times, 4));
}

/* ---- any rank ---- */

void layer_transpose(struct layer *l)
{
    int64_t order[NET_DIMS_MAX];
    const size_t dims = layer_list(l, 1, order);
    l->out[0] = coreml_transpose(l->c, l->in[0], order, dims);
}

void layer_softmax_nd(struct layer *l)
{
    l->out[0] = coreml_axis(l->c, "Softmax", l->in[0], layer_int(l, 1, 0));
}

void layer_concat_nd(struct layer *l)
{
    struct net_node *const node = coreml_node(l->c, "Concat", 1, l->in, l->inputs);
    coreml_set_int(l->c, node, "axis", layer_int(l, 1, 0));
    if (layer_int(l, 2, 0))
        coreml_fail(l->c, ORCH_UNMODELLED, "arrays that are interleaved");
    l->out[0] = coreml_add(l->c, node, NULL);
}

void layer_split_nd(struct layer *l)
{
    int64_t sizes[LAYER_OPERANDS_MAX];
    const size_t given = pb_integers(l->body, 3, sizes, LAYER_OPERANDS_MAX);
    if (given && given != l->outputs)
        coreml_fail(l->c, ORCH_USAGE, "%zu sizes and %zu outputs", given, l->outputs);
    const net_id in[2] = {l->in[0], given ? coreml_ints(l->c, sizes, given) : NET_NONE};
    struct net_node *const node = coreml_node(l->c, "Split", l->outputs, in, given ? 2 : 1);
    coreml_set_int(l->c, node, "axis", layer_int(l, 1, 0));
    if (!given)
        coreml_set_int(l->c, node, "num_outputs", (int64_t)l->outputs);
    coreml_add(l->c, node, l->out);
}

void layer_stack(struct layer *l)
{
    const int64_t axis = layer_int(l, 1, 0);
    for (size_t k = 0; k < l->inputs; k++)
        l->in[k] = coreml_axes(l->c, "Unsqueeze", l->in[k], &axis, 1);
    struct net_node *const node = coreml_node(l->c, "Concat", 1, l->in, l->inputs);
    coreml_set_int(l->c, node, "axis", axis);
    l->out[0] = coreml_add(l->c, node, NULL);
}

/* Places are given as floats. */
void layer_gather(struct layer *l)
{
    if (l->inputs != 2) {
        coreml_fail(l->c, ORCH_USAGE, "%zu inputs where two are wanted", l->inputs);
        return;
    }
    const net_id in[2] = {l->in[0], coreml_cast(l->c, l->in[1], NET_I64)};
    struct net_node *const node = coreml_node(l->c, l->op, 1, in, 2);
    if (strcmp(l->op, "GatherND") != 0)
        coreml_set_int(l->c, node, "axis", layer_int(l, 1, 0));
    l->out[0] = coreml_add(l->c, node, NULL);
}

void layer_tile(struct layer *l)
{
    int64_t times[NET_DIMS_MAX];
    const size_t dims = layer_list(l, 1, times);
    const net_id count = l->inputs > 1 ? coreml_cast(l->c, l->in[1], NET_I64) : coreml_ints(l->c, times, dims);
    l->out[0] = coreml_two(l->c, "Tile", l->in[0], count);
}

void layer_slice_static(struct layer *l)
{
    int64_t from[NET_DIMS_MAX] = {0}, to[NET_DIMS_MAX] = {0}, step[NET_DIMS_MAX] = {0}, squeeze[NET_DIMS_MAX] = {0};
    int64_t open_from[NET_DIMS_MAX] = {0}, open_to[NET_DIMS_MAX] = {0}, gone[NET_DIMS_MAX];
    const size_t dims = layer_list(l, 1, from);
    size_t squeezed = 0;
    layer_list(l, 2, open_from);
    layer_list(l, 3, to);
    layer_list(l, 4, open_to);
    layer_list(l, 5, step);
    layer_list(l, 6, squeeze);
    net_id x = l->in[0];
    for (size_t d = 0; d < dims && !l->c->failed; d++) {
        const int64_t by = step[d] ? step[d] : 1;
        if (squeeze[d])
            gone[squeezed++] = (int64_t)d;
        const int64_t start = open_from[d] && !squeeze[d] ? (by > 0 ? 0 : INT64_MAX) : from[d];
        const int64_t end = squeeze[d]   ? (from[d] == -1 ? INT64_MAX : from[d] + 1)
                            : open_to[d] ? (by > 0 ? INT64_MAX : INT64_MIN)
                                         : to[d];
        x = coreml_slice(l->c, x, (int64_t)d, start, end, squeeze[d] ? 1 : by);
    }
    l->out[0] = squeezed ? coreml_axes(l->c, "Squeeze", x, gone, squeezed) : x;
}

void layer_squeeze(struct layer *l)
{
    int64_t axes[NET_DIMS_MAX];
    const size_t count = layer_list(l, 1, axes);
    l->out[0] = layer_int(l, 2, 0) ? coreml_one(l->c, "Squeeze", l->in[0]) : coreml_axes(l->c, "Squeeze", l->in[0], axes, count);
}

void layer_expand_dims(struct layer *l)
{
    int64_t axes[NET_DIMS_MAX];
    const size_t count = layer_list(l, 1, axes);
    l->out[0] = coreml_axes(l->c, "Unsqueeze", l->in[0], axes, count);
}

void layer_flatten_2d(struct layer *l)
{
    l->out[0] = coreml_axis(l->c, "Flatten", l->in[0], layer_int(l, 1, 0));
}

/* Static: a shape of the layer, in which 0 keeps a dimension; dynamic: an input. */
void layer_reshape_static(struct layer *l)
{
    int64_t shape[NET_DIMS_MAX];
    const size_t dims = l->inputs > 1 ? 0 : layer_list(l, 1, shape);
    if (l->inputs > 1)
        l->out[0] = coreml_two(l->c, "Reshape", l->in[0], coreml_cast(l->c, l->in[1], NET_I64));
    else
        l->out[0] = coreml_reshape(l->c, l->in[0], shape, dims);
}

void layer_reshape_like(struct layer *l)
{
    if (l->inputs != 2)
        coreml_fail(l->c, ORCH_USAGE, "%zu inputs where two are wanted", l->inputs);
    else
        l->out[0] = coreml_two(l->c, "Reshape", l->in[0], coreml_one(l->c, "Shape", l->in[1]));
}

void layer_shape(struct layer *l)
{
    l->out[0] = coreml_cast(l->c, coreml_one(l->c, "Shape", l->in[0]), NET_F32);
}

/* What a filled or spread array is to be like: another array, a shape of the layer, or a shape that is an input. */
static net_id wanted_shape(struct layer *l, size_t input, unsigned field)
{
    int64_t shape[NET_DIMS_MAX];
    if (strcmp(l->op, "like") == 0)
        return l->inputs > input ? coreml_one(l->c, "Shape", l->in[input]) : coreml_fail(l->c, ORCH_USAGE, "an input is missing");
    if (strcmp(l->op, "dynamic") == 0)
        return l->inputs > input ? coreml_cast(l->c, l->in[input], NET_I64)
                                 : coreml_fail(l->c, ORCH_USAGE, "an input is missing");
    const size_t dims = layer_list(l, field, shape);
    return coreml_ints(l->c, shape, dims);
}

void layer_fill(struct layer *l)
{
    l->out[0] = coreml_two(l->c, "Expand", coreml_number(l->c, layer_real(l, 1, 0)), wanted_shape(l, 0, 2));
}

void layer_broadcast(struct layer *l)
{
    l->out[0] = coreml_two(l->c, "Expand", l->in[0], wanted_shape(l, 1, 1));
}

/* Amounts are begin and end of one dimension after the other. */
void layer_constant_pad(struct layer *l)
{
    int64_t given[2 * NET_DIMS_MAX] = {0}, pads[2 * NET_DIMS_MAX];
    const size_t count = pb_integers(l->body, 2, given, 2 * NET_DIMS_MAX);
    const unsigned rank = coreml_rank(l->c, l->in[0]);
    const bool to_size = layer_int(l, 3, 0);
    if (count != 2 * (size_t)rank || l->inputs != 1)
        coreml_fail(l->c, ORCH_UNMODELLED, "%zu amounts for %u dimensions", count, rank);
    for (unsigned d = 0; d < rank && !l->c->failed; d++) {
        const int64_t left = to_size ? coreml_dim(l->c, l->in[0], d) : 0;
        pads[d] = to_size && given[2 * d] ? given[2 * d] - left : given[2 * d];
        pads[rank + d] = to_size && given[2 * d + 1] ? given[2 * d + 1] - left : given[2 * d + 1];
    }
    if (l->c->failed)
        return;
    const net_id in[3] = {l->in[0], coreml_ints(l->c, pads, count), coreml_number(l->c, layer_real(l, 1, 0))};
    l->out[0] = coreml_add(l->c, coreml_node(l->c, "Pad", 1, in, 3), NULL);
}
