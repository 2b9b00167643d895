/* Transposed convolutions. */
#include "sim/run/lower/lower_conv.h"

#include <stdlib.h>
#include <string.h>

/* Windows that touch without overlapping: a product gives all elements of all of them, and they are put in their places. */
static bool is_tiled(const struct lowered_conv *v)
{
    bool tiled = v->groups == 1 && v->n == 1;
    for (int d = 0; d < 3; d++)
        tiled = tiled && v->w.stride[d] == v->w.kernel[d] && v->w.before[d] == 0 && v->w.after[d] == 0 &&
                v->w.out[d] == v->w.in[d] * v->w.kernel[d] && (v->w.kernel[d] == 1 || v->w.dilation[d] == 1);
    return tiled;
}

static bool lower_tiled(struct lowering *l, const struct lowered_conv *v)
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
    return ok && lowering_finish_conv(l, v);
}

/* The others are convolutions of an image with zeros between its elements, by weights that are turned round. */
struct spread {
    int64_t before[3], size[3];
};

/* False where no library has the window. */
static bool read_spread(const struct lowered_conv *v, struct spread *s)
{
    const struct net_window *const w = &v->w;
    for (int d = 0; d < 3; d++) {
        s->before[d] = w->dilation[d] * (w->kernel[d] - 1) - w->before[d];
        s->size[d] = w->out[d] + w->dilation[d] * (w->kernel[d] - 1);
    }
    return w->in[0] == 1 && w->kernel[0] == 1 && w->out[0] == 1 &&
           (w->dilation[1] == w->dilation[2] || w->kernel[1] == 1 || w->kernel[2] == 1);
}

static bool spread_image(struct lowering *l, const struct lowered_conv *v, const struct spread *s, float *to)
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
static bool turn_weights(struct lowering *l, const struct lowered_conv *v, float *to)
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
    struct lowered_conv v;
    struct spread s;
    (void)word;
    if (!lowering_read_conv(l, true, &v))
        return false;
    if (is_tiled(&v))
        return lower_tiled(l, &v);
    if (!read_spread(&v, &s))
        return lowering_transposed_by_windows(l, &v);
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
