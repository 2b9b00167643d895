#include "sim/network/operators/window.h"

#include <string.h>

enum { SIZE_MAX_STEP = 1 << 24 }; /* strides, dilations and pads beyond that are mistakes */

static bool list(struct net_infer *i, const char *name, unsigned wanted, int64_t missing, int64_t *to)
{
    struct net_ints given;
    if (!net_ints_attr(i, name, &given))
        return false;
    if (given.count && given.count != wanted)
        return net_refuse(i->error, "%s has %u numbers, not %u", name, given.count, wanted);
    for (unsigned d = 0; d < wanted; d++) {
        to[d] = given.count ? given.at[d] : missing;
        if (to[d] < missing || to[d] > SIZE_MAX_STEP)
            return net_refuse(i->error, "%s is %lld", name, (long long)to[d]);
    }
    return true;
}

/* Windows that fit; with ceil_mode also one that is not whole, if it begins inside the input or the padding before it. */
static int64_t places(const struct net_window *w, unsigned d, bool up)
{
    const int64_t reach = w->dilation[d] * (w->kernel[d] - 1) + 1, span = w->in[d] + w->before[d] + w->after[d] - reach;
    if (w->in[d] < 0)
        return NET_UNKNOWN;
    if (span < 0)
        return 0;
    int64_t out = (span + (up ? w->stride[d] - 1 : 0)) / w->stride[d] + 1;
    if (up && (out - 1) * w->stride[d] >= w->in[d] + w->before[d])
        out--;
    return out;
}

/* auto_pad: as many places as the strides give, padding on both sides, the odd one behind (upper) or in front. */
static void pad_same(struct net_window *w, bool upper)
{
    for (unsigned d = 0; d < w->dims; d++) {
        if (w->in[d] < 0) {
            w->out[d] = NET_UNKNOWN;
            continue;
        }
        w->out[d] = (w->in[d] + w->stride[d] - 1) / w->stride[d];
        const int64_t need = (w->out[d] - 1) * w->stride[d] + w->dilation[d] * (w->kernel[d] - 1) + 1 - w->in[d];
        const int64_t pads = need > 0 ? need : 0;
        w->before[d] = upper ? pads / 2 : pads - pads / 2;
        w->after[d] = pads - w->before[d];
    }
}

static bool transposed_places(struct net_infer *i, struct net_window *w, bool same, bool upper)
{
    int64_t more[NET_SPATIAL_MAX], asked[NET_SPATIAL_MAX];
    struct net_ints shape;
    if (!list(i, "output_padding", w->dims, 0, more) || !net_ints_attr(i, "output_shape", &shape))
        return false;
    const unsigned first = shape.count == w->dims + 2 ? 2 : 0;
    if (shape.count && shape.count != w->dims + first)
        return net_refuse(i->error, "output_shape has %u numbers", shape.count);
    for (unsigned d = 0; d < w->dims; d++) {
        const int64_t whole = (w->in[d] - 1) * w->stride[d] + w->dilation[d] * (w->kernel[d] - 1) + 1 + more[d];
        asked[d] = shape.count ? shape.at[first + d] : same ? w->in[d] * w->stride[d] : -1;
        if (w->in[d] < 0) {
            w->out[d] = shape.count ? asked[d] : NET_UNKNOWN;
            continue;
        }
        if (asked[d] >= 0) {
            const int64_t pads = whole - asked[d] > 0 ? whole - asked[d] : 0;
            w->before[d] = upper ? pads / 2 : pads - pads / 2;
            w->after[d] = pads - w->before[d];
            w->out[d] = asked[d];
        } else {
            w->out[d] = whole - w->before[d] - w->after[d];
        }
        if (w->out[d] < 0)
            return net_refuse(i->error, "a result of %lld", (long long)w->out[d]);
    }
    return true;
}

bool net_window_read(struct net_infer *i, const struct net_shape *x, const int64_t *kernel, bool transposed, struct net_window *w)
{
    int64_t pads[2 * NET_SPATIAL_MAX];
    if (x->dims < 3 || x->dims > 2 + NET_SPATIAL_MAX)
        return net_refuse(i->error, "an input of %u dimensions; 3 to 5 are possible", x->dims);
    *w = (struct net_window){.dims = x->dims - 2};
    memcpy(w->in, x->dim + 2, w->dims * sizeof *w->in);
    if (kernel)
        memcpy(w->kernel, kernel, w->dims * sizeof *kernel);
    else if (!net_attribute(i->node, "kernel_shape"))
        return net_refuse(i->error, "kernel_shape is missing");
    else if (!list(i, "kernel_shape", w->dims, 1, w->kernel))
        return false;
    if (!list(i, "strides", w->dims, 1, w->stride) || !list(i, "dilations", w->dims, 1, w->dilation) ||
        !list(i, "pads", 2 * w->dims, 0, pads))
        return false;
    int64_t stated[NET_SPATIAL_MAX];
    if (kernel && net_attribute(i->node, "kernel_shape") && !list(i, "kernel_shape", w->dims, 1, stated))
        return false;
    for (unsigned d = 0; d < w->dims; d++) {
        if (kernel && net_attribute(i->node, "kernel_shape") && stated[d] != kernel[d])
            return net_refuse(i->error, "kernel_shape says %lld, the weights have %lld", (long long)stated[d],
                              (long long)kernel[d]);
        if (w->kernel[d] < 1 || w->kernel[d] > SIZE_MAX_STEP)
            return net_refuse(i->error, "a kernel of %lld", (long long)w->kernel[d]);
        w->before[d] = pads[d];
        w->after[d] = pads[w->dims + d];
    }
    const char *const pad = net_attr_text(i->node, "auto_pad", "NOTSET");
    const bool same = strncmp(pad, "SAME", 4) == 0, upper = strcmp(pad, "SAME_LOWER") != 0;
    if (strcmp(pad, "VALID") == 0) {
        memset(w->before, 0, sizeof w->before);
        memset(w->after, 0, sizeof w->after);
    }
    if (transposed)
        return transposed_places(i, w, same, upper);
    if (same) {
        pad_same(w, upper);
        return true;
    }
    for (unsigned d = 0; d < w->dims; d++) {
        w->out[d] = places(w, d, net_attr_int(i->node, "ceil_mode", 0) != 0);
        if (w->in[d] >= 0 && w->out[d] < 1 && w->in[d] > 0)
            return net_refuse(i->error, "the kernel is larger than the input");
    }
    return true;
}

static void shift(int64_t *list, unsigned by, int64_t filling)
{
    memmove(list + by, list, (NET_SPATIAL_MAX - by) * sizeof *list);
    for (unsigned d = 0; d < by; d++)
        list[d] = filling;
}

bool net_window_of(struct net_call *call, const struct net_array *weights, bool transposed, struct net_window *w)
{
    struct net_infer i = {.node = call->node, .error = call->error};
    const struct net_shape x = net_shape_of(call->in[0]->shape, call->in[0]->dims);
    if (!net_window_read(&i, &x, weights ? weights->shape + 2 : NULL, transposed, w))
        return false;
    const unsigned by = NET_SPATIAL_MAX - w->dims;
    shift(w->in, by, 1);
    shift(w->kernel, by, 1);
    shift(w->stride, by, 1);
    shift(w->dilation, by, 1);
    shift(w->before, by, 0);
    shift(w->after, by, 0);
    shift(w->out, by, 1);
    return true;
}
