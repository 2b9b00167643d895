/* Convolutions as products of matrices, and transposed ones. */
#include "sim/network/operators/window.h"
#include "sim/run/lower/lowering.h"

#include <stdlib.h>
#include <string.h>

struct conv {
    struct net_window w;
    int64_t n, c, k, groups;       /* images, channels of the input and of the result */
    int64_t kernel, points, image; /* elements of a window, of planes of the result and of the input */
};

static bool read_conv(struct lowering *l, bool transposed, struct conv *v)
{
    struct orch_error error = {0};
    struct net_call call = {.node = l->node, .in = l->in, .inputs = l->node->inputs, .error = &error};
    if (!net_window_of(&call, l->in[1], transposed, &v->w))
        return lowering_leave(l, "%.150s", error.text);
    v->n = l->in[0]->shape[0];
    v->c = l->in[0]->shape[1];
    v->k = l->out[0]->shape[1];
    v->groups = net_attr_int(l->node, "group", 1);
    v->kernel = v->w.kernel[0] * v->w.kernel[1] * v->w.kernel[2];
    v->points = v->w.out[0] * v->w.out[1] * v->w.out[2];
    v->image = v->w.in[0] * v->w.in[1] * v->w.in[2];
    return true;
}

/* A number for each channel, repeated over planes. */
static bool add_bias(struct lowering *l, const struct conv *v, const struct net_array *bias, float *to)
{
    struct net_array shape = {.type = NET_F32, .dims = 3, .count = v->n * v->k * v->points};
    struct net_array each = {.type = NET_F32, .dims = 2, .count = v->k, .data = bias->data};
    shape.shape[0] = v->n;
    shape.shape[1] = each.shape[0] = v->k;
    shape.shape[2] = v->points;
    each.shape[1] = 1;
    return lowering_broadcast_pair(l, "add", to, &shape, &each, to);
}

static bool finish(struct lowering *l, const struct conv *v)
{
    const struct net_array *const bias = l->node->inputs > 2 ? l->in[2] : NULL;
    return (!bias || add_bias(l, v, bias, l->out[0]->data)) && lowering_activation(l, l->out[0]->data, l->out[0]->count);
}

/* ---- a plain one, from its windows side by side ---- */

/* Element `at` of the window of a point of the result, as a place of a plane from 0 on; negative = in the border. */
static int64_t place_in_window(const struct net_window *w, int64_t at, int64_t point)
{
    int64_t place = 0, in[3], of[3];
    for (int d = 2; d >= 0; d--) {
        in[d] = at % w->kernel[d];
        of[d] = point % w->out[d];
        at /= w->kernel[d];
        point /= w->out[d];
    }
    for (int d = 0; d < 3; d++) {
        const int64_t from = of[d] * w->stride[d] - w->before[d] + in[d] * w->dilation[d];
        if (from < 0 || from >= w->in[d])
            return -1;
        place = place * w->in[d] + from;
    }
    return place;
}

bool lowering_conv_by_windows(struct lowering *l)
{
    struct conv v;
    if (!read_conv(l, false, &v))
        return false;
    if (v.groups != 1 || v.n != 1)
        return lowering_leave(l, "%lld groups, %lld images in windows that the library does not have", (long long)v.groups,
                              (long long)v.n);
    const int64_t depth = v.c * v.kernel, count = depth * v.points;
    float *const windows = lowering_scratch(l, count);
    double *const place = windows ? calloc((size_t)count, sizeof *place) : NULL;
    for (int64_t i = 0; place && i < count; i++) {
        const int64_t row = i / v.points, from = place_in_window(&v.w, row % v.kernel, i % v.points);
        place[i] = from < 0 ? 0 : (double)(row / v.kernel * v.image + from + 1);
    }
    if (place)
        lowering_gather_places(l, NET_F32, l->in[0]->data, l->in[0]->count, place, count, 1, windows);
    else
        lowering_leave(l, "memory is out");
    free(place);
    const struct lowering_product p = {
        .batch = 1, .m = v.k, .n = v.points, .k = depth, .a_known = lowering_is_constant(l, 1), .alpha = 1};
    lowering_add_product(l, &p, l->in[1]->data, windows, NULL, l->out[0]->data);
    return lowering_holds(l) && finish(l, &v);
}

/* ---- transposed ---- */

/* Windows that touch without overlapping: a product gives all elements of all of them, and they are put in their places. */
static bool is_tiled(const struct conv *v)
{
    bool tiled = v->groups == 1 && v->n == 1;
    for (int d = 0; d < 3; d++)
        tiled = tiled && v->w.stride[d] == v->w.kernel[d] && v->w.before[d] == 0 && v->w.after[d] == 0 &&
                v->w.out[d] == v->w.in[d] * v->w.kernel[d] && (v->w.kernel[d] == 1 || v->w.dilation[d] == 1);
    return tiled;
}

static bool lower_tiled(struct lowering *l, const struct conv *v)
{
    const struct net_window *const w = &v->w;
    const int64_t rows = v->k * v->kernel, count = rows * v->image;
    float *const product = lowering_scratch(l, count);
    double *const place = product ? calloc((size_t)count, sizeof *place) : NULL;
    const struct lowering_product p = {
        .batch = 1, .m = rows, .n = v->image, .k = v->c, .ta = true, .a_known = lowering_is_constant(l, 1), .alpha = 1};
    lowering_add_product(l, &p, l->in[1]->data, l->in[0]->data, NULL, product);
    for (int64_t i = 0; place && i < count; i++) {
        int64_t at = i, of[3], in = 0, tile = 0;
        for (int d = 2; d >= 0; d--) {
            of[d] = at % w->out[d];
            at /= w->out[d];
        }
        for (int d = 0; d < 3; d++) {
            tile = tile * w->kernel[d] + of[d] % w->kernel[d];
            in = in * w->in[d] + of[d] / w->kernel[d];
        }
        place[i] = (double)((at * v->kernel + tile) * v->image + in + 1);
    }
    const bool ok = place ? lowering_gather_places(l, NET_F32, product, count, place, count, 1, l->out[0]->data)
                          : lowering_leave(l, "memory is out");
    free(place);
    return ok && finish(l, v);
}

/* The others are convolutions of an image with zeros between its elements, by weights that are turned round. */
struct spread {
    int64_t before[3], size[3];
};

static bool read_spread(struct lowering *l, const struct conv *v, struct spread *s)
{
    const struct net_window *const w = &v->w;
    for (int d = 0; d < 3; d++) {
        s->before[d] = w->dilation[d] * (w->kernel[d] - 1) - w->before[d];
        s->size[d] = w->out[d] + w->dilation[d] * (w->kernel[d] - 1);
    }
    return (w->in[0] == 1 && w->kernel[0] == 1 && (w->dilation[1] == w->dilation[2] || w->kernel[1] == 1 || w->kernel[2] == 1)) ||
           lowering_leave(l, "transposed windows of three dimensions, or dilations that differ");
}

static bool spread_image(struct lowering *l, const struct conv *v, const struct spread *s, float *to)
{
    const int64_t planes = v->n * v->c, area = s->size[1] * s->size[2];
    double *const place = calloc((size_t)(planes * area), sizeof *place);
    for (int64_t i = 0; place && i < planes * area; i++) {
        const int64_t y = i % area / s->size[2] - s->before[1], x = i % s->size[2] - s->before[2];
        const bool is_there = y >= 0 && x >= 0 && y % v->w.stride[1] == 0 && x % v->w.stride[2] == 0 &&
                              y / v->w.stride[1] < v->w.in[1] && x / v->w.stride[2] < v->w.in[2];
        place[i] = is_there ? (double)(i / area * v->image + y / v->w.stride[1] * v->w.in[2] + x / v->w.stride[2] + 1) : 0;
    }
    const bool ok = place ? lowering_gather_places(l, NET_F32, l->in[0]->data, l->in[0]->count, place, planes * area, 1, to)
                          : lowering_leave(l, "memory is out");
    free(place);
    return ok;
}

/* C x K/groups x kernel becomes K x C/groups x kernel from its end. */
static bool turn_weights(struct lowering *l, const struct conv *v, float *to)
{
    const int64_t count = l->in[1]->count, of_c = v->c / v->groups, of_k = v->k / v->groups;
    double *const place = calloc((size_t)count, sizeof *place);
    for (int64_t i = 0; place && i < count; i++) {
        const int64_t at = v->kernel - 1 - i % v->kernel, c = i / v->kernel % of_c, k = i / v->kernel / of_c;
        place[i] = (double)(((k / of_k * of_c + c) * of_k + k % of_k) * v->kernel + at + 1);
    }
    const bool ok = place ? lowering_gather_places(l, NET_F32, l->in[1]->data, count, place, count, 1, to)
                          : lowering_leave(l, "memory is out");
    free(place);
    return ok;
}

bool lowering_conv_transpose(struct lowering *l, const char *word)
{
    const struct net_array *const bias = l->node->inputs > 2 ? l->in[2] : NULL, *const out = l->out[0];
    struct conv v;
    struct spread s;
    (void)word;
    if (!read_conv(l, true, &v))
        return false;
    if (is_tiled(&v))
        return lower_tiled(l, &v);
    if (!read_spread(l, &v, &s))
        return false;
    const int64_t count = v.n * v.c * s.size[1] * s.size[2];
    float *const image = lowering_scratch(l, count), *const weights = lowering_scratch(l, l->in[1]->count);
    if (!lowering_holds(l) || !spread_image(l, &v, &s, image) || !turn_weights(l, &v, weights))
        return false;
    struct lowered_step *const step =
        lowering_step(l, out->data, out->count,
                      "conv2d:n=%lld,c=%lld,h=%lld,w=%lld,k=%lld,r=%lld,s=%lld,stride=1,pad=0,groups=%lld,dilation=%lld,bias=%d",
                      (long long)v.n, (long long)v.c, (long long)s.size[1], (long long)s.size[2], (long long)v.k,
                      (long long)v.w.kernel[1], (long long)v.w.kernel[2], (long long)v.groups,
                      (long long)(v.w.kernel[1] > 1 ? v.w.dilation[1] : v.w.dilation[2]), bias != NULL);
    lowering_read(step, image, count);
    lowering_read(step, weights, l->in[1]->count);
    if (lowering_is_constant(l, 1))
        lowering_load_weights(l, step);
    if (bias)
        lowering_read(step, bias->data, bias->count);
    return lowering_activation(l, out->data, out->count);
}
