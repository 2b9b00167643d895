/* Convolutions and pools. */
#include "sim/network/operators/window.h"
#include "sim/run/lower/lower_conv.h"
#include "sim/run/lower/lowering.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Windows over images, as the library wants them: one stride, one dilation. `skipped`: rows of the result are all those of the
 * stride along rows, of which only every `skipped`-th is wanted; NULL = that will not do. */
static bool read_window(struct lowering *l, const struct net_array *weights, struct net_window *w, int64_t *skipped)
{
    struct orch_error error = {0};
    struct net_call call = {.node = l->node, .in = l->in, .inputs = l->node->inputs, .error = &error};
    if (!net_window_of(&call, weights, false, w))
        return lowering_leave(l, "%.150s", error.text);
    if (w->in[0] > 1 || w->kernel[0] > 1 || w->out[0] > 1)
        return lowering_leave(l, "windows of three dimensions");
    const bool flat = w->in[1] == 1 && w->kernel[1] == 1 && w->out[1] == 1; /* one row: there is one direction alone */
    if (flat)
        w->stride[1] = w->stride[2];
    if (w->kernel[1] == 1)
        w->dilation[1] = w->dilation[2];
    if (w->kernel[2] == 1)
        w->dilation[2] = w->dilation[1];
    if (skipped)
        *skipped = w->stride[1] % w->stride[2] == 0 ? w->stride[1] / w->stride[2] : 1;
    if (skipped && *skipped > 1)
        w->stride[1] = w->stride[2];
    if (w->stride[1] != w->stride[2])
        return lowering_leave(l, "strides of %lld and %lld", (long long)w->stride[1], (long long)w->stride[2]);
    return w->dilation[1] == w->dilation[2] ||
           lowering_leave(l, "dilations of %lld and %lld", (long long)w->dilation[1], (long long)w->dilation[2]);
}

static bool is_even(const struct net_window *w)
{
    const int64_t pad = w->before[1];
    return w->after[1] == pad && w->before[2] == pad && w->after[2] == pad;
}

/* A border of zeros around each plane: first at both ends of rows, then above and below, where a plane is one
 * long row. */
const void *lowering_pad_planes(struct lowering *l, enum net_type type, const void *x, int64_t planes, struct net_window *w)
{
    const int64_t wide = w->in[2] + w->before[2] + w->after[2], high = w->in[1] + w->before[1] + w->after[1];
    if (w->before[2] || w->after[2]) {
        const int64_t count = planes * w->in[1] * wide;
        void *const to = lowering_scratch(l, count);
        lowering_read_elements(
            lowering_moves(lowering_step(l, to, count, "pad:%lldx%lld,left=%lld,right=%lld", (long long)(planes * w->in[1]),
                                         (long long)w->in[2], (long long)w->before[2], (long long)w->after[2]),
                           type, count),
            type, x, planes * w->in[1] * w->in[2]);
        x = to;
    }
    if (w->before[1] || w->after[1]) {
        const int64_t count = planes * high * wide;
        void *const to = lowering_scratch(l, count);
        lowering_read_elements(lowering_moves(lowering_step(l, to, count, "pad:%lldx%lld,left=%lld,right=%lld", (long long)planes,
                                                            (long long)(w->in[1] * wide), (long long)(w->before[1] * wide),
                                                            (long long)(w->after[1] * wide)),
                                              type, count),
                               type, x, planes * w->in[1] * wide);
        x = to;
    }
    w->in[1] = high;
    w->in[2] = wide;
    memset(w->before, 0, sizeof w->before);
    memset(w->after, 0, sizeof w->after);
    return x;
}

/* Every `skipped`-th row of each plane of `from`. */
static void keep_rows(struct lowering *l, const float *from, int64_t planes, int64_t high, int64_t wide, int64_t skipped)
{
    const int64_t kept = (high - 1) / skipped + 1, rows = planes * kept;
    uint32_t *const place = lowering_scratch(l, rows);
    for (int64_t i = 0; place && i < rows; i++)
        place[i] = (uint32_t)(i / kept * high + i % kept * skipped);
    struct lowered_step *const step = lowering_step(l, l->out[0]->data, l->out[0]->count, "gather:%lldx%lldx%lld",
                                                    (long long)(planes * high), (long long)wide, (long long)rows);
    lowering_read(step, from, planes * high * wide);
    lowering_read(step, place, rows);
}

/* Of the result, all rows of the stride along rows. */
static int64_t rows_of(const struct net_window *w)
{
    return (w->in[1] + 2 * w->before[1] - (w->kernel[1] - 1) * w->dilation[1] - 1) / w->stride[1] + 1;
}

enum { WINDOW_MOST = 64 }; /* rows and columns of the windows that the libraries know */

/* Sums in 32 bits of products of bytes, exact on whatever unit has the kernel. */
bool lowering_conv_integer(struct lowering *l, const char *word)
{
    const struct net_array *const x = l->in[0], *const weights = l->in[1];
    struct net_window w;
    int64_t skipped;
    (void)word;
    if (!lowering_is_bytes(l) || !read_window(l, weights, &w, &skipped))
        return false;
    if (w.kernel[1] > WINDOW_MOST || w.kernel[2] > WINDOW_MOST)
        return lowering_leave(l, "windows of more than %d", WINDOW_MOST);
    const int64_t n = x->shape[0], c = x->shape[1], k = weights->shape[0];
    const void *const from = is_even(&w) ? x->data : lowering_pad_planes(l, NET_I8, x->data, n * c, &w);
    const int64_t high = rows_of(&w), count = n * k * high * w.out[2];
    void *const to = skipped > 1 ? lowering_scratch(l, count) : l->out[0]->data;
    struct lowered_step *const step = lowering_step(
        l, to, count,
        "conv2d:n=%lld,c=%lld,h=%lld,w=%lld,k=%lld,r=%lld,s=%lld,stride=%lld,pad=%lld,groups=%lld,dilation=%lld,bias=0",
        (long long)n, (long long)c, (long long)w.in[1], (long long)w.in[2], (long long)k, (long long)w.kernel[1],
        (long long)w.kernel[2], (long long)w.stride[1], (long long)w.before[1], (long long)net_attr_int(l->node, "group", 1),
        (long long)w.dilation[1]);
    lowering_read_bytes(step, from, n * c * w.in[1] * w.in[2]);
    lowering_read_bytes(step, weights->data, weights->count);
    if (lowering_is_constant(l, 1))
        lowering_load_weights(l, step);
    if (skipped > 1) /* sums have as many bytes as numbers in f32 */
        keep_rows(l, to, n * k, high, w.out[2], skipped);
    return lowering_holds(l);
}

/* The Neural Engine's descriptors have paddings of their own for rows and columns, of five bits; its windows have at most so many
 * taps, and others are padded for the cores. */
static bool pads_alone(const struct lowering *l, const struct net_window *w, unsigned axis)
{
    enum { MOST = 31, TAPS = 29 };
    const unsigned other = 3 - axis;
    return l->part == PART_ANE && w->before[other] == 0 && w->after[other] == 0 && w->before[axis] == w->after[axis] &&
           w->before[axis] > 0 && w->before[axis] <= MOST && w->kernel[1] <= TAPS && w->kernel[2] <= TAPS;
}

/* A convolution whose window the libraries have. */
struct plain_conv {
    const struct net_window *w;
    const float *x, *weights, *bias; /* no bias: NULL */
    float *to;
    int64_t n, c, k, out; /* out: elements of a channel of the result */
    bool flat, tall;      /* it is padded left and right alone, above and below alone */
    const char *act;
    bool known;
};

/* Channels first ... first + count - 1. */
static void add_conv(struct lowering *l, enum orch_part part, const struct plain_conv *v, int64_t first, int64_t count)
{
    const struct net_window *const w = v->w;
    const int64_t groups = net_attr_int(l->node, "group", 1), filter = v->c / groups * w->kernel[1] * w->kernel[2];
    struct lowered_step *const step = lowering_step(
        l, v->to + first * v->out, v->n * count * v->out,
        "conv2d:n=%lld,c=%lld,h=%lld,w=%lld,k=%lld,r=%lld,s=%lld,stride=%lld,pad=%lld,groups=%lld,dilation=%lld,bias=%d%s%s%s",
        (long long)v->n, (long long)v->c, (long long)w->in[1], (long long)w->in[2], (long long)count, (long long)w->kernel[1],
        (long long)w->kernel[2], (long long)w->stride[1], (long long)w->before[v->flat ? 2 : 1], (long long)groups,
        (long long)w->dilation[1], v->bias != NULL, v->act && v->act[0] ? ",act=" : "", v->act ? v->act : "",
        v->flat   ? ",flat=1"
        : v->tall ? ",tall=1"
                  : "");
    if (step)
        step->part = part;
    lowering_read(step, v->x, v->n * v->c * w->in[1] * w->in[2]);
    lowering_read(step, v->weights + first * filter, count * filter);
    if (v->known)
        lowering_load_weights(l, step);
    if (v->bias)
        lowering_read(step, v->bias + first, count);
}

bool lowering_conv(struct lowering *l, const char *word)
{
    const struct net_array *const x = l->in[0], *const weights = l->in[1];
    const struct net_array *const bias = l->node->inputs > 2 ? l->in[2] : NULL;
    const char *const act = lowering_activation_word(l->node);
    struct net_window w;
    int64_t skipped;
    (void)word;
    if (!read_window(l, weights, &w, &skipped) || w.kernel[1] > WINDOW_MOST || w.kernel[2] > WINDOW_MOST) {
        l->why[0] = 0;
        return lowering_conv_by_windows(l);
    }
    const int64_t n = x->shape[0], c = x->shape[1], k = weights->shape[0];
    const bool flat = pads_alone(l, &w, 2), tall = pads_alone(l, &w, 1);
    const float *const from = is_even(&w) || flat || tall ? x->data : lowering_pad_planes(l, NET_F32, x->data, n * c, &w);
    const int64_t high = rows_of(&w), count = n * k * high * w.out[2];
    float *const to = skipped > 1 ? lowering_scratch(l, count) : l->out[0]->data;
    const struct plain_conv v = {.w = &w,
                                 .x = from,
                                 .weights = weights->data,
                                 .bias = bias ? bias->data : NULL,
                                 .to = to,
                                 .n = n,
                                 .c = c,
                                 .k = k,
                                 .out = high * w.out[2],
                                 .act = act,
                                 .flat = flat,
                                 .tall = tall,
                                 .known = lowering_is_constant(l, 1)};
    const int64_t rows = n == 1 && net_attr_int(l->node, "group", 1) == 1 ? lowering_amx_rows(l, k) : 0;
    add_conv(l, l->part, &v, 0, k - rows);
    if (rows)
        add_conv(l, PART_AMX, &v, k - rows, rows);
    if (skipped > 1)
        keep_rows(l, to, n * k, high, w.out[2], skipped);
    return act || lowering_activation(l, l->out[0]->data, l->out[0]->count);
}

/* Rows or columns that the last window reaches beyond the image. */
static int64_t beyond(const struct net_window *w, unsigned axis)
{
    const int64_t reach = (w->out[axis] - 1) * w->stride[axis] + w->kernel[axis] - w->in[axis] - w->before[axis];
    return reach > 0 ? reach : 0;
}

/* The nearest of so many places to one that may lie before or behind them. */
static int64_t nearest(int64_t place, int64_t places)
{
    return place < 0 ? 0 : place < places ? place : places - 1;
}

/* A border of the nearest elements: a window that reaches it holds them anyway, so that its largest element stays. */
static const float *spread_edges(struct lowering *l, const float *x, int64_t planes, struct net_window *w)
{
    const int64_t wide = w->in[2] + w->before[2] + w->after[2], high = w->in[1] + w->before[1] + w->after[1];
    const int64_t from = planes * w->in[1] * w->in[2], count = planes * high * wide;
    uint32_t *const place = lowering_scratch(l, count);
    float *const to = lowering_scratch(l, count);
    for (int64_t i = 0; place && i < count; i++) {
        const int64_t row = nearest(i / wide % high - w->before[1], w->in[1]),
                      column = nearest(i % wide - w->before[2], w->in[2]);
        place[i] = (uint32_t)((i / (wide * high) * w->in[1] + row) * w->in[2] + column);
    }
    struct lowered_step *const step = lowering_step(l, to, count, "gather:%lldx1x%lld", (long long)from, (long long)count);
    lowering_read(step, x, from);
    lowering_read(step, place, count);
    w->in[1] = high;
    w->in[2] = wide;
    memset(w->before, 0, sizeof w->before);
    memset(w->after, 0, sizeof w->after);
    return to;
}

/* Below and at the right a border of its own: the Neural Engine's windows reach beyond the image by as much in both directions,
 * for others it is written out, which would change an average. */
static const float *pool_border(struct lowering *l, const char *word, struct net_window *w, int64_t *more)
{
    const struct net_array *const x = l->in[0];
    const int64_t below = beyond(w, 1), right = beyond(w, 2);
    *more = below - w->before[1];
    if (l->part == PART_ANE && w->before[1] == w->before[2] && below == right && *more >= 0 && below < w->kernel[1] &&
        below < w->kernel[2])
        return x->data;
    *more = 0;
    if (strcmp(word, "max") != 0) {
        lowering_leave(l, "averages over windows that are padded differently at the sides");
        return NULL;
    }
    w->after[1] = below;
    w->after[2] = right;
    return spread_edges(l, x->data, x->shape[0] * x->shape[1], w);
}

/* Pools that the libraries' kernels do not have. */
static bool by_windows(struct lowering *l, const char *word, bool includes)
{
    struct orch_error error = {0};
    struct net_call call = {.node = l->node, .in = l->in, .inputs = l->node->inputs, .error = &error};
    struct net_window w;
    l->why[0] = 0;
    return net_window_of(&call, NULL, false, &w) ? lowering_pool_by_windows(l, &w, strcmp(word, "max") == 0, includes)
                                                 : lowering_leave(l, "%.150s", error.text);
}

bool lowering_pool(struct lowering *l, const char *word)
{
    const struct net_array *const x = l->in[0];
    const bool includes = net_attr_int(l->node, "count_include_pad", 0) != 0;
    struct net_window w;
    int64_t more = 0;
    char beside[32] = "";
    if (lowering_wants(l, 1) || !read_window(l, NULL, &w, NULL) || w.dilation[1] != 1)
        return by_windows(l, word, includes);
    const int64_t high = (w.in[1] + 2 * w.before[1] - w.kernel[1]) / w.stride[1] + 1;
    const int64_t wide = (w.in[2] + 2 * w.before[1] - w.kernel[2]) / w.stride[2] + 1;
    const bool even = high == w.out[1] && wide == w.out[2] && w.before[1] == w.before[2];
    const bool wide_border = 2 * w.before[1] > w.kernel[1] || 2 * w.before[1] > w.kernel[2];
    if ((!even && includes) || (even && wide_border))
        return by_windows(l, word, includes);
    const float *const from = even ? x->data : pool_border(l, word, &w, &more);
    if (!from)
        return by_windows(l, word, includes);
    if (more)
        snprintf(beside, sizeof beside, ",more=%lld", (long long)more);
    lowering_read(lowering_step(l, l->out[0]->data, l->out[0]->count,
                                "pool:n=%lld,c=%lld,h=%lld,w=%lld,r=%lld,s=%lld,stride=%lld,pad=%lld,op=%s,include_pad=%d%s",
                                (long long)x->shape[0], (long long)x->shape[1], (long long)w.in[1], (long long)w.in[2],
                                (long long)w.kernel[1], (long long)w.kernel[2], (long long)w.stride[1], (long long)w.before[1],
                                word, includes, beside),
                  from, x->shape[0] * x->shape[1] * w.in[1] * w.in[2]);
    return lowering_holds(l);
}

bool lowering_globalpool(struct lowering *l, const char *word)
{
    const struct net_array *const x = l->in[0];
    if (x->dims < 3)
        return lowering_leave(l, "an input of %u dimensions", x->dims);
    const int64_t planes = x->shape[0] * x->shape[1];
    lowering_read(lowering_step(l, l->out[0]->data, l->out[0]->count, "reduce:%lldx%lld,op=%s", (long long)planes,
                                (long long)(x->count / planes), strcmp(word, "avg") == 0 ? "mean" : word),
                  x->data, x->count);
    return true;
}
