/* Operations on images: [batch, channels, rows, columns]. */
#include "sim/network/zoo/zoo_internal.h"

#include <string.h>

/* conv:CHANNELS,ROWS[,s=STRIDE,p=PAD,w=COLUMNS,x=STRIDE,q=PAD of columns,g=GROUPS,b=1]; dwconv:ROWS...: each channel by itself.
 * `e`: pad one row and column more at the end. */
static bool conv(struct zoo_build *z, const struct zoo_args *a, const char *word)
{
    const int64_t in = zoo_dim(z, z->current, 1), rows = zoo_number(a, *word ? 0 : 1, 1), columns = zoo_key(a, "w", rows);
    const int64_t out = *word ? in : zoo_number(a, 0, in), groups = *word ? in : zoo_key(a, "g", 1), stride = zoo_key(a, "s", 1);
    const int64_t pad = zoo_key(a, "p", 0), side = zoo_key(a, "q", columns == rows ? pad : 0), more = zoo_key(a, "e", 0);
    const int64_t shape[4] = {out, in / groups, rows, columns}, window[2] = {rows, columns};
    const int64_t strides[2] = {stride, zoo_key(a, "x", stride)};
    const int64_t pads[4] = {pad, side, pad + more, side + more};
    net_id input[3] = {z->current, zoo_weight(z, shape, 4, shape[1] * rows * columns), NET_NONE};
    const bool bias = zoo_key(a, "b", 0) != 0;
    if (bias)
        input[2] = zoo_weight(z, &out, 1, 100 * shape[1]);
    struct net_node *const node = zoo_node(z, "Conv", input, bias ? 3 : 2, 1);
    return zoo_put(z, node && net_set_ints(node, "kernel_shape", window, 2) && net_set_ints(node, "strides", strides, 2) &&
                              net_set_ints(node, "pads", pads, 4) && net_set_int(node, "group", groups)
                          ? node
                          : NULL);
}

static bool batch_norm(struct zoo_build *z, const struct zoo_args *a, const char *word)
{
    const int64_t channels = zoo_dim(z, z->current, 1);
    const net_id input[5] = {z->current, zoo_filled(z, channels, 1, true), zoo_filled(z, channels, 0, true),
                             zoo_filled(z, channels, 0, false), zoo_filled(z, channels, 1, false)};
    (void)a;
    return zoo_put(z, zoo_node(z, word, input, 5, 1));
}

/* maxpool:ROWS[,s=,p=,c=1 (the last window may be cut),e=1 (pad one more at the end)], avgpool likewise. */
static bool pool(struct zoo_build *z, const struct zoo_args *a, const char *word)
{
    const int64_t rows = zoo_number(a, 0, 2), stride = zoo_key(a, "s", rows), pad = zoo_key(a, "p", 0);
    const int64_t last = pad + zoo_key(a, "e", 0);
    const int64_t window[2] = {rows, rows}, strides[2] = {stride, stride}, pads[4] = {pad, pad, last, last};
    struct net_node *const node = zoo_node(z, word, &z->current, 1, 1);
    return zoo_put(z, node && net_set_ints(node, "kernel_shape", window, 2) && net_set_ints(node, "strides", strides, 2) &&
                              net_set_ints(node, "pads", pads, 4) && net_set_int(node, "ceil_mode", zoo_key(a, "c", 0)) &&
                              (strcmp(word, "MaxPool") == 0 || net_set_int(node, "count_include_pad", 1))
                          ? node
                          : NULL);
}

static bool plain(struct zoo_build *z, const struct zoo_args *a, const char *word)
{
    (void)a;
    return zoo_one(z, word, z->current);
}

static bool relu6(struct zoo_build *z, const struct zoo_args *a, const char *word)
{
    const net_id input[3] = {z->current, zoo_scalar(z, 0), zoo_scalar(z, 6)};
    (void)a;
    return zoo_put(z, zoo_node(z, word, input, 3, 1));
}

/* leaky: a tenth of what is below zero. */
static bool leaky(struct zoo_build *z, const struct zoo_args *a, const char *word)
{
    struct net_node *const node = zoo_node(z, word, &z->current, 1, 1);
    (void)a;
    return zoo_put(z, node && net_set_real(node, "alpha", 0.1) ? node : NULL);
}

static bool hard_sigmoid(struct zoo_build *z, const struct zoo_args *a, const char *word)
{
    struct net_node *const node = zoo_node(z, word, &z->current, 1, 1);
    (void)a;
    return zoo_put(z, node && net_set_real(node, "alpha", 1.0 / 6) ? node : NULL);
}

/* x sigmoid(factor x). */
static bool gated(struct zoo_build *z, net_id x, double factor)
{
    if (factor != 1 && !zoo_two(z, "Mul", x, zoo_scalar(z, factor)))
        return false;
    return zoo_one(z, "Sigmoid", factor != 1 ? z->current : x) && zoo_two(z, "Mul", x, z->current);
}

static bool silu(struct zoo_build *z, const struct zoo_args *a, const char *word)
{
    (void)a;
    return gated(z, z->current, *word ? 1.702 : 1);
}

/* fc:N: what is left of the image, as one row. */
static bool fully(struct zoo_build *z, const struct zoo_args *a, const char *word)
{
    return (zoo_dims(z, z->current) == 2 || zoo_one(z, word, z->current)) &&
           zoo_linear(z, z->current, zoo_number(a, 0, 1000), true);
}

/* cat:NAME...: those, then the current one, channel behind channel. */
static bool join(struct zoo_build *z, const net_id *input, unsigned count, const char *word)
{
    struct net_node *const node = zoo_node(z, word, input, count, 1);
    return zoo_put(z, node && net_set_int(node, "axis", 1) ? node : NULL);
}

static bool cat(struct zoo_build *z, const struct zoo_args *a, const char *word)
{
    net_id input[ZOO_ARGS + 1];
    for (unsigned k = 0; k < a->count; k++)
        if ((input[k] = zoo_named(z, zoo_text(a, k))) == NET_NONE)
            return false;
    input[a->count] = z->current;
    return join(z, input, a->count + 1, word);
}

static bool push(struct zoo_build *z, const struct zoo_args *a, const char *word)
{
    (void)a;
    (void)word;
    if (z->depth == ZOO_STACK)
        return zoo_fail(z, "too many values are pushed");
    z->stack[z->depth++] = z->current;
    return true;
}

static bool pop(struct zoo_build *z, const struct zoo_args *a, const char *word)
{
    (void)a;
    if (!z->depth)
        return zoo_fail(z, "nothing was pushed");
    const net_id input[2] = {z->current, z->stack[--z->depth]};
    return join(z, input, 2, word);
}

/* split:A,B: the channels in equal parts of these names. */
static bool split(struct zoo_build *z, const struct zoo_args *a, const char *word)
{
    int64_t part[ZOO_ARGS];
    for (unsigned k = 0; k < a->count; k++)
        part[k] = zoo_dim(z, z->current, (int)zoo_key(a, "axis", 1)) / a->count;
    const net_id input[2] = {z->current, zoo_integers(z, part, a->count)};
    struct net_node *const node = zoo_node(z, word, input, 2, a->count);
    bool ok = zoo_put(z, node && net_set_int(node, "axis", 1) ? node : NULL);
    for (unsigned k = 0; ok && k < a->count; k++)
        ok = zoo_name(z, zoo_text(a, k), node->output[k]);
    return ok;
}

/* shuffle:GROUPS: channels of the groups by turns. */
static bool shuffle(struct zoo_build *z, const struct zoo_args *a, const char *word)
{
    const net_id x = z->current;
    const int64_t groups = zoo_number(a, 0, 2), n = zoo_dim(z, x, 0), c = zoo_dim(z, x, 1), h = zoo_dim(z, x, 2),
                  w = zoo_dim(z, x, 3);
    const int64_t apart[5] = {n, groups, c / groups, h, w}, order[5] = {0, 2, 1, 3, 4}, again[4] = {n, c, h, w};
    (void)word;
    return zoo_reshape(z, x, apart, 5) && zoo_transpose(z, z->current, order, 5) && zoo_reshape(z, z->current, again, 4);
}

/* up: twice as many rows and columns, each element four times. */
static bool up(struct zoo_build *z, const struct zoo_args *a, const char *word)
{
    static const int64_t four = 4;
    struct net_array *const scales = net_array_new(NET_F32, &four, 1, z->error);
    const double factor[4] = {1, 1, 2, 2};
    (void)a;
    if (!scales)
        return false;
    net_write_doubles(NET_F32, scales->data, 0, 4, factor);
    const net_id input[3] = {z->current, NET_NONE, net_constant_add(z->model, "scales", scales)};
    struct net_node *const node = zoo_node(z, word, input, 3, 1);
    return zoo_put(z, node && net_set_text(node, "mode", "nearest") && net_set_text(node, "nearest_mode", "floor") &&
                              net_set_text(node, "coordinate_transformation_mode", "asymmetric")
                          ? node
                          : NULL);
}

/* gn:GROUPS, as exporters write it: each group as a channel, then scale and offset of each channel. */
static bool group_norm(struct zoo_build *z, const struct zoo_args *a, const char *word)
{
    const net_id x = z->current;
    const int64_t groups = zoo_number(a, 0, 32), c = zoo_dim(z, x, 1), n = zoo_dim(z, x, 0);
    const int64_t flat[3] = {n, groups, -1}, by_channel[4] = {1, c, 1, 1};
    const int64_t again[4] = {n, c, zoo_dim(z, x, 2), zoo_dim(z, x, 3)};
    if (!zoo_reshape(z, x, flat, 3))
        return false;
    const net_id input[3] = {z->current, zoo_filled(z, groups, 1, false), zoo_filled(z, groups, 0, false)};
    struct net_node *const node = zoo_node(z, word, input, 3, 1);
    return zoo_put(z, node && net_set_real(node, "epsilon", 1e-6) ? node : NULL) && zoo_reshape(z, z->current, again, 4) &&
           zoo_two(z, "Mul", z->current, zoo_weight(z, by_channel, 4, 1)) &&
           zoo_two(z, "Add", z->current, zoo_weight(z, by_channel, 4, 1));
}

const struct zoo_operation zoo_image_operations[] = {
    {"conv", conv, ""},
    {"dwconv", conv, "each"},
    {"bn", batch_norm, "BatchNormalization"},
    {"gn", group_norm, "InstanceNormalization"},
    {"maxpool", pool, "MaxPool"},
    {"avgpool", pool, "AveragePool"},
    {"gap", plain, "GlobalAveragePool"},
    {"relu", plain, "Relu"},
    {"relu6", relu6, "Clip"},
    {"leaky", leaky, "LeakyRelu"},
    {"sigmoid", plain, "Sigmoid"},
    {"tanh", plain, "Tanh"},
    {"hswish", plain, "HardSwish"},
    {"hsigmoid", hard_sigmoid, "HardSigmoid"},
    {"silu", silu, ""},
    {"quickgelu", silu, "quick"},
    {"flat", plain, "Flatten"},
    {"fc", fully, "Flatten"},
    {"cat", cat, "Concat"},
    {"push", push, ""},
    {"pop", pop, "Concat"},
    {"split", split, "Split"},
    {"shuffle", shuffle, ""},
    {"up", up, "Resize"},
    {NULL, NULL, NULL},
};
