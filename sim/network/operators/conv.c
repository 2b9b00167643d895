/* Conv, ConvInteger, QLinearConv, ConvTranspose, and the fused convolution. */
#include "sim/network/operators/families.h"
#include "sim/network/operators/quantise.h"
#include "sim/network/operators/window.h"

#include <stdlib.h>
#include <string.h>

/* ---- shapes ---- */

static bool conv_shape(struct net_infer *i, size_t weights, enum net_type type)
{
    const struct net_shape *const x = &i->in[0].shape, *const w = &i->in[weights].shape;
    const int64_t groups = net_attr_int(i->node, "group", 1);
    struct net_window window;
    struct net_shape to = *x;
    net_state(i, 0, type, NULL);
    if (!x->known || !w->known)
        return true;
    if (x->dims != w->dims)
        return net_refuse(i->error, "an input of %u dimensions, weights of %u", x->dims, w->dims);
    if (groups < 1 || (w->dim[0] >= 0 && w->dim[0] % groups))
        return net_refuse(i->error, "%lld groups of %lld channels", (long long)groups, (long long)w->dim[0]);
    if (x->dim[1] >= 0 && w->dim[1] >= 0 && (w->dim[1] > INT64_MAX / groups || x->dim[1] != w->dim[1] * groups))
        return net_refuse(i->error, "%lld channels, weights for %lld in each of %lld groups", (long long)x->dim[1],
                          (long long)w->dim[1], (long long)groups);
    for (unsigned d = 2; d < w->dims; d++)
        if (w->dim[d] < 0)
            return true;
    if (!net_window_read(i, x, w->dim + 2, false, &window))
        return false;
    to.dim[1] = w->dim[0];
    memcpy(to.dim + 2, window.out, window.dims * sizeof *window.out);
    net_state(i, 0, type, &to);
    return true;
}

bool net_rule_conv(struct net_infer *i)
{
    return conv_shape(i, 1, i->in[0].type);
}

bool net_rule_conv_integer(struct net_infer *i)
{
    return conv_shape(i, 1, NET_I32);
}

bool net_rule_qlinear_conv(struct net_infer *i)
{
    return conv_shape(i, 3, i->in[7].type);
}

bool net_rule_conv_transpose(struct net_infer *i)
{
    const struct net_shape *const x = &i->in[0].shape, *const w = &i->in[1].shape;
    const int64_t groups = net_attr_int(i->node, "group", 1);
    struct net_window window;
    struct net_shape to = *x;
    net_state(i, 0, i->in[0].type, NULL);
    if (!x->known || !w->known || !net_shape_complete(w))
        return true;
    if (x->dims != w->dims || groups < 1 || w->dim[0] % groups || (x->dim[1] >= 0 && x->dim[1] != w->dim[0]) ||
        w->dim[1] > INT64_MAX / groups)
        return net_refuse(i->error, "input, weights and %lld groups do not fit", (long long)groups);
    if (!net_window_read(i, x, w->dim + 2, true, &window))
        return false;
    to.dim[1] = w->dim[1] * groups;
    memcpy(to.dim + 2, window.out, window.dims * sizeof *window.out);
    net_state(i, 0, i->in[0].type, &to);
    return true;
}

/* ---- one plane of the result ---- */

/* A kernel of one element with nothing around it walks planes as one long row. */
static void flatten_points(struct net_window *w)
{
    for (unsigned d = 0; d < NET_SPATIAL_MAX; d++)
        if (w->kernel[d] != 1 || w->stride[d] != 1 || w->before[d] || w->after[d])
            return;
    w->in[2] *= w->in[0] * w->in[1];
    w->out[2] = w->in[2];
    w->in[0] = w->in[1] = w->out[0] = w->out[1] = 1;
}

/* The places o in from .. to-1 whose element o * stride + offset is inside 0 .. in-1. */
static void inside(int64_t in, int64_t out, int64_t stride, int64_t offset, int64_t *from, int64_t *to)
{
    *from = offset < 0 ? (-offset + stride - 1) / stride : 0;
    *to = in - offset <= 0 ? 0 : (in - offset - 1) / stride + 1;
    *to = *to > out ? out : *to;
}

static void add_rows(const struct net_window *w, const double *x, double factor, const int64_t *at, double *plane)
{
    int64_t offset[3], from[3], to[3];
    for (unsigned d = 0; d < 3; d++) {
        offset[d] = at[d] * w->dilation[d] - w->before[d];
        inside(w->in[d], w->out[d], w->stride[d], offset[d], &from[d], &to[d]);
    }
    for (int64_t z = from[0]; z < to[0]; z++)
        for (int64_t y = from[1]; y < to[1]; y++) {
            const double *const row =
                x + ((z * w->stride[0] + offset[0]) * w->in[1] + y * w->stride[1] + offset[1]) * w->in[2] + offset[2];
            double *const out = plane + (z * w->out[1] + y) * w->out[2];
            if (w->stride[2] == 1)
                for (int64_t o = from[2]; o < to[2]; o++)
                    out[o] += factor * row[o];
            else
                for (int64_t o = from[2]; o < to[2]; o++)
                    out[o] += factor * row[o * w->stride[2]];
        }
}

struct convolution {
    struct net_window window;
    int64_t batches, groups, in_channels, out_channels; /* channels in each group */
    int64_t in_plane, out_plane, taps;
    const double *x, *weights;
};

static struct convolution plan(const struct net_array *x, const struct net_array *w, const struct net_window *window,
                               int64_t groups)
{
    struct convolution c = {.window = *window, .batches = x->shape[0], .groups = groups, .in_channels = w->shape[1]};
    c.out_channels = w->shape[0] / groups;
    flatten_points(&c.window);
    c.in_plane = net_extent(x->shape, 2, x->dims);
    c.out_plane = net_extent(c.window.out, 0, 3);
    c.taps = net_extent(w->shape, 2, w->dims);
    return c;
}

/* Adds plane `index` of the result (batch, group, channel of the group) to `plane`. */
static void convolve(const struct convolution *c, int64_t index, double *plane)
{
    const int64_t channels = c->groups * c->out_channels, batch = index / channels, channel = index % channels;
    const int64_t group = channel / c->out_channels;
    const double *const weights = c->weights + channel * c->in_channels * c->taps;
    for (int64_t i = 0; i < c->in_channels; i++) {
        const double *const x = c->x + ((batch * c->groups + group) * c->in_channels + i) * c->in_plane;
        for (int64_t t = 0; t < c->taps; t++) {
            const int64_t *const k = c->window.kernel;
            const int64_t at[3] = {t / (k[1] * k[2]), t / k[2] % k[1], t % k[2]};
            const double factor = weights[i * c->taps + t];
            if (factor != 0)
                add_rows(&c->window, x, factor, at, plane);
        }
    }
}

/* ---- floating point ---- */

bool net_eval_conv(struct net_call *call)
{
    struct net_window window;
    struct net_activation activation;
    const struct net_array *const bias = net_in(call, 2);
    struct net_array *const out = call->out[0];
    if (!net_window_of(call, call->in[1], false, &window))
        return false;
    if (!net_activation_of(call->node, &activation))
        return net_refuse(call->error, "unknown activation");
    if (bias && bias->count != call->in[1]->shape[0])
        return net_refuse(call->error, "%lld biases", (long long)bias->count);
    struct convolution c = plan(call->in[0], call->in[1], &window, net_attr_int(call->node, "group", 1));
    double *const x = net_doubles(call->in[0], call->error), *const w = x ? net_doubles(call->in[1], call->error) : NULL;
    double *const plane = malloc(((size_t)c.out_plane + 1) * sizeof *plane);
    c.x = x;
    c.weights = w;
    const int64_t planes = c.batches * c.groups * c.out_channels;
    for (int64_t k = 0; w && plane && k < planes; k++) {
        const double start = bias ? net_array_double(bias, k % bias->count) : 0;
        for (int64_t e = 0; e < c.out_plane; e++)
            plane[e] = start;
        convolve(&c, k, plane);
        net_activate(&activation, plane, (size_t)c.out_plane);
        net_write_doubles(out->type, out->data, k * c.out_plane, (size_t)c.out_plane, plane);
    }
    const bool ok = w && plane;
    free(x);
    free(w);
    free(plane);
    return ok || orch_no_memory(call->error);
}

/* ---- integers: exact, since double holds their sums ---- */

static double *centred(const struct net_array *x, const struct net_array *zero, struct orch_error *error)
{
    double *const number = net_doubles(x, error);
    for (int64_t k = 0; number && zero && zero->count && k < x->count; k++)
        number[k] -= net_array_double(zero, zero->count > 1 ? k / (x->count / zero->count) : 0);
    return number;
}

/* The inputs of a quantised convolution; NULL = it has none. */
struct quantised {
    const struct net_array *w, *x_zero, *w_zero, *x_scale, *w_scale, *y_scale, *y_zero, *bias;
};

static void write_plane(const struct quantised *q, struct net_array *out, int64_t index, int64_t size, const double *plane)
{
    const int64_t channel = index % q->w->shape[0];
    const double scale = q->x_scale ? net_array_double(q->x_scale, 0) *
                                          net_array_double(q->w_scale, q->w_scale->count > 1 ? channel : 0) /
                                          net_array_double(q->y_scale, 0)
                                    : 1;
    const double bias = q->bias ? net_array_double(q->bias, channel) : 0;
    for (int64_t e = 0; e < size; e++) {
        const int64_t y = q->x_scale ? net_quantised((plane[e] + bias) * scale, net_array_integer(q->y_zero, 0), out->type)
                                     : net_truncate(plane[e]);
        net_write_integers(out->type, out->data, index * size + e, 1, &y);
    }
}

static bool quantised_conv(struct net_call *call, const struct quantised *q)
{
    struct net_window window;
    if (!net_window_of(call, q->w, false, &window))
        return false;
    const int64_t channels = q->w->shape[0];
    if ((q->bias && q->bias->count != channels) || (q->w_scale && q->w_scale->count != 1 && q->w_scale->count != channels) ||
        (q->w_zero && q->w_zero->count > 1 && q->w_zero->count != channels))
        return net_refuse(call->error, "biases, scales or zero points do not fit %lld channels", (long long)channels);
    struct convolution c = plan(call->in[0], q->w, &window, net_attr_int(call->node, "group", 1));
    double *const x = centred(call->in[0], q->x_zero, call->error), *const w = x ? centred(q->w, q->w_zero, call->error) : NULL;
    double *const plane = malloc(((size_t)c.out_plane + 1) * sizeof *plane);
    c.x = x;
    c.weights = w;
    for (int64_t k = 0; w && plane && k < c.batches * c.groups * c.out_channels; k++) {
        memset(plane, 0, (size_t)c.out_plane * sizeof *plane);
        convolve(&c, k, plane);
        write_plane(q, call->out[0], k, c.out_plane, plane);
    }
    const bool ok = w && plane;
    free(x);
    free(w);
    free(plane);
    return ok || orch_no_memory(call->error);
}

bool net_eval_conv_integer(struct net_call *call)
{
    const struct quantised q = {.w = call->in[1], .x_zero = net_in(call, 2), .w_zero = net_in(call, 3)};
    return quantised_conv(call, &q);
}

bool net_eval_qlinear_conv(struct net_call *call)
{
    struct net_array *const *const in = call->in;
    const struct quantised q = {in[3], in[2], in[5], in[1], in[4], in[6], in[7], net_in(call, 8)};
    return quantised_conv(call, &q);
}

/* ---- transposed ---- */

static bool is_inside(int64_t place, int64_t out)
{
    return place >= 0 && place < out;
}

/* Adds what one element of the input, which is at `at`, gives to a plane of the result. */
static void spread_element(const struct net_window *w, double x, const int64_t *at, const double *weights, double *plane)
{
    int64_t first[3];
    for (unsigned d = 0; d < 3; d++)
        first[d] = at[d] * w->stride[d] - w->before[d];
    for (int64_t k0 = 0; k0 < w->kernel[0]; k0++) {
        const int64_t z = first[0] + k0 * w->dilation[0];
        for (int64_t k1 = 0; is_inside(z, w->out[0]) && k1 < w->kernel[1]; k1++) {
            const int64_t y = first[1] + k1 * w->dilation[1];
            const double *const row = weights + (k0 * w->kernel[1] + k1) * w->kernel[2];
            double *const out = plane + (z * w->out[1] + y) * w->out[2];
            for (int64_t k2 = 0; is_inside(y, w->out[1]) && k2 < w->kernel[2]; k2++) {
                const int64_t o = first[2] + k2 * w->dilation[2];
                if (is_inside(o, w->out[2]))
                    out[o] += x * row[k2];
            }
        }
    }
}

static void spread(const struct net_window *w, const double *x, const double *weights, double *plane)
{
    for (int64_t z = 0; z < w->in[0]; z++)
        for (int64_t y = 0; y < w->in[1]; y++)
            for (int64_t e = 0; e < w->in[2]; e++, x++)
                if (*x != 0)
                    spread_element(w, *x, (const int64_t[3]){z, y, e}, weights, plane);
}

bool net_eval_conv_transpose(struct net_call *call)
{
    const struct net_array *const in = call->in[0], *const weights = call->in[1], *const bias = net_in(call, 2);
    struct net_array *const out = call->out[0];
    struct net_window w;
    struct net_activation activation;
    if (!net_window_of(call, weights, true, &w) || !net_activation_of(call->node, &activation))
        return false;
    const int64_t groups = net_attr_int(call->node, "group", 1), from = in->shape[1] / groups, to = weights->shape[1];
    const int64_t in_plane = net_extent(w.in, 0, 3), out_plane = net_extent(w.out, 0, 3), taps = net_extent(w.kernel, 0, 3);
    if (bias && bias->count != to * groups)
        return net_refuse(call->error, "%lld biases", (long long)bias->count);
    double *const x = net_doubles(in, call->error), *const factor = x ? net_doubles(weights, call->error) : NULL;
    double *const plane = malloc(((size_t)out_plane + 1) * sizeof *plane);
    for (int64_t k = 0; factor && plane && k < in->shape[0] * groups * to; k++) {
        const int64_t batch = k / (groups * to), group = k / to % groups, channel = k % to;
        for (int64_t e = 0; e < out_plane; e++)
            plane[e] = bias ? net_array_double(bias, k % (groups * to)) : 0;
        for (int64_t c = 0; c < from; c++)
            spread(&w, x + ((batch * groups + group) * from + c) * in_plane, factor + ((group * from + c) * to + channel) * taps,
                   plane);
        net_activate(&activation, plane, (size_t)out_plane);
        net_write_doubles(out->type, out->data, k * out_plane, (size_t)out_plane, plane);
    }
    const bool ok = factor && plane;
    free(x);
    free(factor);
    free(plane);
    return ok || orch_no_memory(call->error);
}
