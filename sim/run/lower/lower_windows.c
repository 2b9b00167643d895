/* Convolutions and pools whose windows no library has: the windows are put side by side, and multiplied or reduced there. */
#include "sim/run/lower/lower_conv.h"

#include <stdlib.h>

bool lowering_read_conv(struct lowering *l, bool transposed, struct lowered_conv *v)
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
static bool add_bias(struct lowering *l, const struct lowered_conv *v, const struct net_array *bias, float *to)
{
    struct net_array shape = {.type = NET_F32, .dims = 3, .count = v->n * v->k * v->points};
    struct net_array each = {.type = NET_F32, .dims = 2, .count = v->k, .data = bias->data};
    shape.shape[0] = v->n;
    shape.shape[1] = each.shape[0] = v->k;
    shape.shape[2] = v->points;
    each.shape[1] = 1;
    return lowering_broadcast_pair(l, "add", to, &shape, &each, to);
}

bool lowering_finish_conv(struct lowering *l, const struct lowered_conv *v)
{
    const struct net_array *const bias = l->node->inputs > 2 ? l->in[2] : NULL;
    return (!bias || add_bias(l, v, bias, l->out[0]->data)) && lowering_activation(l, l->out[0]->data, l->out[0]->count);
}

/* Where element `at` is in the window, and the point in the result. */
static void by_dimension(const struct net_window *w, int64_t at, int64_t point, int64_t in[3], int64_t of[3])
{
    for (int d = 2; d >= 0; d--) {
        in[d] = at % w->kernel[d];
        of[d] = point % w->out[d];
        at /= w->kernel[d];
        point /= w->out[d];
    }
}

/* Element `at` of the window of a point of the result, as a place of a plane from 0 on; negative = in the border. */
static int64_t place_in_window(const struct net_window *w, int64_t at, int64_t point)
{
    int64_t place = 0, in[3], of[3];
    by_dimension(w, at, point, in, of);
    for (int d = 0; d < 3; d++) {
        const int64_t from = of[d] * w->stride[d] - w->before[d] + in[d] * w->dilation[d];
        if (from < 0 || from >= w->in[d])
            return -1;
        place = place * w->in[d] + from;
    }
    return place;
}

/* ---- convolutions ---- */

/* The element of a plane that element `at` of the window brings to a point of a transposed convolution; negative = none. */
static int64_t place_that_reaches(const struct net_window *w, int64_t at, int64_t point)
{
    int64_t place = 0, in[3], of[3];
    by_dimension(w, at, point, in, of);
    for (int d = 0; d < 3; d++) {
        const int64_t from = of[d] + w->before[d] - in[d] * w->dilation[d];
        if (from < 0 || from % w->stride[d] || from / w->stride[d] >= w->in[d])
            return -1;
        place = place * w->in[d] + from / w->stride[d];
    }
    return place;
}

typedef int64_t place_in_plane(const struct net_window *w, int64_t at, int64_t point);

/* Windows of one image as columns of a matrix: a row for each element of a window of each channel. */
static bool windows_as_columns(struct lowering *l, const struct lowered_conv *v, place_in_plane *place_of, int64_t image,
                               float *to)
{
    const int64_t depth = v->c * v->kernel, count = depth * v->points, pixels = v->c * v->image;
    double *const place = calloc((size_t)count, sizeof *place);
    for (int64_t i = 0; place && i < count; i++) {
        const int64_t row = i / v->points, from = place_of(&v->w, row % v->kernel, i % v->points);
        place[i] = from < 0 ? 0 : (double)(row / v->kernel * v->image + from + 1);
    }
    const bool ok =
        place ? lowering_gather_places(l, NET_F32, (const float *)l->in[0]->data + image * pixels, pixels, place, count, 1, to)
              : lowering_leave(l, "memory is out");
    free(place);
    return ok;
}

/* A product for each image, of all groups of channels side by side. */
static bool multiply_windows(struct lowering *l, const struct lowered_conv *v, place_in_plane *place_of, const float *weights,
                             bool known)
{
    const int64_t depth = v->c * v->kernel;
    const struct lowering_product p = {
        .batch = v->groups, .m = v->k / v->groups, .n = v->points, .k = depth / v->groups, .a_known = known, .alpha = 1};
    float *const windows = lowering_scratch(l, depth * v->points);
    if (2 * v->n + 3 > LOWERED_STEPS)
        return lowering_leave(l, "%lld images in windows that the library does not have", (long long)v->n);
    for (int64_t image = 0; windows && image < v->n; image++)
        if (windows_as_columns(l, v, place_of, image, windows))
            lowering_add_product(l, &p, weights, windows, NULL, (float *)l->out[0]->data + image * v->k * v->points);
    return lowering_holds(l) && lowering_finish_conv(l, v);
}

bool lowering_conv_by_windows(struct lowering *l)
{
    struct lowered_conv v;
    return lowering_read_conv(l, false, &v) &&
           multiply_windows(l, &v, place_in_window, l->in[1]->data, lowering_is_constant(l, 1));
}

/* Weights of C x K/groups x kernel as rows of K. */
bool lowering_transposed_by_windows(struct lowering *l, const struct lowered_conv *v)
{
    const int64_t count = l->in[1]->count, of_c = v->c / v->groups, of_k = v->k / v->groups;
    float *const weights = lowering_scratch(l, count);
    double *const place = weights ? calloc((size_t)count, sizeof *place) : NULL;
    for (int64_t i = 0; place && i < count; i++) {
        const int64_t at = i % v->kernel, c = i / v->kernel % of_c, k = i / v->kernel / of_c;
        place[i] = (double)(((k / of_k * of_c + c) * of_k + k % of_k) * v->kernel + at + 1);
    }
    const bool ok = place ? lowering_gather_places(l, NET_F32, l->in[1]->data, count, place, count, 1, weights)
                          : lowering_leave(l, "memory is out");
    free(place);
    return ok && multiply_windows(l, v, place_that_reaches, weights, false);
}

/* ---- pools ---- */

/* Elements of the window of a point that lie in the image, or for averages that count their border in that, too. Where the last
 * window reaches beyond even that (ceil_mode), what is there is never counted. */
static int64_t counted(const struct net_window *w, int64_t point, bool border)
{
    int64_t count = 1;
    for (int d = 2; d >= 0; d--) {
        const int64_t from = point % w->out[d] * w->stride[d] - w->before[d];
        const int64_t low = border ? -w->before[d] : 0, high = w->in[d] + (border ? w->after[d] : 0);
        int64_t inside = 0;
        for (int64_t k = 0; k < w->kernel[d]; k++)
            inside += from + k * w->dilation[d] >= low && from + k * w->dilation[d] < high;
        count *= inside;
        point /= w->out[d];
    }
    return count;
}

/* The first element of a window that lies in the image: in the place of those in the border it changes no maximum. */
static int64_t any_in_window(const struct net_window *w, int64_t kernel, int64_t point)
{
    int64_t place = -1;
    for (int64_t at = 0; at < kernel && place < 0; at++)
        place = place_in_window(w, at, point);
    return place;
}

/* Windows as rows: all windows of a plane, plane by plane. */
static bool windows_as_rows(struct lowering *l, const struct lowered_conv *v, bool largest, float *to)
{
    const int64_t planes = v->n * v->c, each = v->points * v->kernel;
    double *const place = calloc((size_t)(planes * each), sizeof *place);
    for (int64_t i = 0; place && i < each; i++) {
        int64_t from = place_in_window(&v->w, i % v->kernel, i / v->kernel);
        if (from < 0 && largest)
            from = any_in_window(&v->w, v->kernel, i / v->kernel);
        for (int64_t plane = 0; plane < planes; plane++)
            place[plane * each + i] = from < 0 ? 0 : (double)(plane * v->image + from + 1);
    }
    const bool ok = place ? lowering_gather_places(l, NET_F32, l->in[0]->data, l->in[0]->count, place, planes * each, 1, to)
                          : lowering_leave(l, "memory is out");
    free(place);
    return ok;
}

/* The number of an element among those of all images, by columns where the node asks for that. */
static int64_t number_of(const struct lowering *l, const struct lowered_conv *v, int64_t plane, int64_t at)
{
    const int64_t wide = v->w.in[2], high = v->w.in[1];
    const bool by_columns = net_attr_int(l->node, "storage_order", 0) != 0;
    return plane * v->image + (by_columns ? at / (wide * high) * wide * high + at % wide * high + at / wide % high : at);
}

/* Where the largest element of each window stands: the kernel gives its place in the window, a table the place of that. */
static bool add_numbers(struct lowering *l, const struct lowered_conv *v, const float *windows)
{
    const int64_t rows = v->n * v->c * v->points, all = rows * v->kernel;
    int32_t *const table = lowering_scratch(l, all), *const first = lowering_scratch(l, rows),
                   *const at = lowering_scratch(l, rows);
    int32_t *const number = lowering_scratch(l, rows);
    if (!table || !first || !at || !number || v->n * v->c * v->image >= INT32_MAX)
        return lowering_leave(l, "memory is out, or more than 2^31 elements");
    for (int64_t i = 0; i < all; i++) {
        const int64_t point = i / v->kernel % v->points, inside = place_in_window(&v->w, i % v->kernel, point);
        table[i] =
            (int32_t)number_of(l, v, i / v->kernel / v->points, inside < 0 ? any_in_window(&v->w, v->kernel, point) : inside);
    }
    for (int64_t i = 0; i < rows; i++)
        first[i] = (int32_t)(i * v->kernel);
    lowering_read(lowering_step(l, at, rows, "reduce:%lldx%lld,op=argmax", (long long)rows, (long long)v->kernel), windows, all);
    struct lowered_step *const whole = lowering_step(l, at, rows, "integer:%lld,op=add,of=i32", (long long)rows);
    lowering_read(whole, at, rows);
    lowering_read(whole, first, rows);
    struct lowered_step *const fetch =
        lowering_moves(lowering_step(l, number, rows, "gather:%lldx1x%lld", (long long)all, (long long)rows), NET_I32, rows);
    lowering_read_elements(fetch, NET_I32, table, all);
    lowering_read(fetch, at, rows);
    lowering_add_cast(l, NET_I32, number, NET_I64, l->out[1]->data, rows);
    return lowering_holds(l);
}

bool lowering_pool_by_windows(struct lowering *l, const struct net_window *window, bool largest, bool border)
{
    const struct net_array *const x = l->in[0], *const out = l->out[0];
    struct lowered_conv v = {.w = *window, .n = x->shape[0], .c = x->shape[1]};
    v.kernel = v.w.kernel[0] * v.w.kernel[1] * v.w.kernel[2];
    v.points = v.w.out[0] * v.w.out[1] * v.w.out[2];
    v.image = v.w.in[0] * v.w.in[1] * v.w.in[2];
    const int64_t rows = v.n * v.c * v.points;
    float *const windows = lowering_scratch(l, rows * v.kernel), *const part = largest ? NULL : lowering_scratch(l, v.points);
    if (!windows || !windows_as_rows(l, &v, largest, windows))
        return lowering_leave(l, "memory is out");
    lowering_read(lowering_step(l, out->data, rows, "reduce:%lldx%lld,op=%s", (long long)rows, (long long)v.kernel,
                                largest ? "max" : "sum"),
                  windows, rows * v.kernel);
    if (largest)
        return lowering_wants(l, 1) ? add_numbers(l, &v, windows) : lowering_holds(l);
    for (int64_t i = 0; part && i < v.points; i++)
        part[i] = 1 / (float)counted(&v.w, i, border);
    struct lowered_step *const step =
        lowering_step(l, out->data, rows, "elementwise:%lld,op=mul,period=%lld", (long long)rows, (long long)v.points);
    lowering_read(step, out->data, rows);
    lowering_read(step, part, v.points);
    return lowering_holds(l);
}
