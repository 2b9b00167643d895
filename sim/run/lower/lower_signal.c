/* Fourier transforms as products with a matrix of cosines and sines. */
#include "sim/run/lower/lowering.h"

#include <math.h>

enum { MATRIX_MOST = 1 << 22 }; /* elements: beyond, a transform is not done so by anybody */

/* Rows of `there` samples of so many parts (1 = real) give `bins` of `out` parts each. */
struct transform {
    int64_t rows, there, parts, bins, out, length;
    bool inverse, half; /* half: real samples from half of a spectrum */
};

/* What part p of sample n adds to part q of a bin. */
static double factor(const struct transform *t, int64_t n, int64_t p, int64_t bin, int64_t q)
{
    const double angle = (t->inverse ? 2 : -2) * M_PI * (double)(bin * n % t->length) / (double)t->length;
    const double twice = !t->half || n == 0 || 2 * n == t->length ? 1 : 2, scale = t->inverse ? twice / (double)t->length : 1;
    if (n >= t->length || (t->half && n > t->length / 2))
        return 0;
    return scale * (p == q ? cos(angle) : p ? -sin(angle) : sin(angle));
}

static bool add_transform(struct lowering *l, const struct transform *t, const float *x, float *to)
{
    const int64_t k = t->there * t->parts, n = t->bins * t->out;
    if (k < 1 || n < 1 || k > MATRIX_MOST / n)
        return lowering_leave(l, "a transform of %lld samples", (long long)t->there);
    float *const matrix = lowering_scratch(l, k * n);
    for (int64_t i = 0; matrix && i < k * n; i++)
        matrix[i] = (float)factor(t, i / n / t->parts, i / n % t->parts, i % n / t->out, i % t->out);
    const struct lowering_product p = {.batch = 1, .m = t->rows, .n = n, .k = k, .b_known = true, .alpha = 1};
    if (!matrix)
        return false;
    lowering_add_product(l, &p, x, matrix, NULL, to);
    return lowering_holds(l);
}

/* [outer][a][b][parts] as [outer][b][a][parts]. */
static void turn(struct lowering *l, const float *from, int64_t outer, int64_t a, int64_t b, int64_t parts, float *to)
{
    const int64_t rows = outer * a * b;
    uint32_t *const place = lowering_scratch(l, rows);
    for (int64_t i = 0; place && i < rows; i++)
        place[i] = (uint32_t)(i / (a * b) * a * b + i % a * b + i / a % b);
    struct lowered_step *const step =
        lowering_step(l, to, rows * parts, "gather:%lldx%lldx%lld", (long long)rows, (long long)parts, (long long)rows);
    lowering_read(step, from, rows * parts);
    lowering_read(step, place, rows);
}

bool lowering_dft(struct lowering *l, const char *word)
{
    const struct net_array *const x = l->in[0], *const out = l->out[0];
    const struct net_array *const length = l->node->inputs > 1 ? l->in[1] : NULL, *const given =
                                                                                      l->node->inputs > 2 ? l->in[2] : NULL;
    const int64_t usual = l->node->version >= 20 ? -2 : 1;
    const int64_t from = given && given->count == 1 ? net_array_integer(given, 0) : net_attr_int(l->node, "axis", usual);
    const int64_t axis = from < 0 ? from + x->dims : from;
    struct transform t = {.inverse = net_attr_int(l->node, "inverse", 0) != 0};
    (void)word;
    if (x->dims < 2 || axis < 0 || axis > (int64_t)x->dims - 2 || x->count > UINT32_MAX)
        return lowering_leave(l, "axis %lld", (long long)axis);
    t.half = t.inverse && net_attr_int(l->node, "onesided", 0);
    t.there = x->shape[axis];
    t.parts = x->shape[x->dims - 1];
    t.rows = x->count / (t.there * t.parts);
    t.bins = out->shape[axis];
    t.out = out->shape[out->dims - 1];
    t.length = t.half ? t.bins : length && length->count == 1 ? net_array_integer(length, 0) : t.there;
    const int64_t outer = net_extent(x->shape, 0, (unsigned)axis), inner = net_extent(x->shape, (unsigned)axis + 1, x->dims - 1);
    if (inner == 1)
        return add_transform(l, &t, x->data, out->data);
    float *const turned = lowering_scratch(l, x->count), *const made = lowering_scratch(l, out->count);
    if (!turned || !made)
        return false;
    turn(l, x->data, outer, t.there, inner, t.parts, turned);
    if (!add_transform(l, &t, turned, made))
        return false;
    turn(l, made, outer, inner, t.bins, t.out, out->data);
    return lowering_holds(l);
}

/* Frames of the signal behind one another, each times the window. */
static const float *add_frames(struct lowering *l, const struct net_array *x, int64_t frames, int64_t step, int64_t length)
{
    const struct net_array *const window = l->node->inputs > 2 ? l->in[2] : NULL;
    const int64_t parts = x->shape[2], each = length * parts, count = x->shape[0] * frames * each;
    uint32_t *const place = lowering_scratch(l, count / parts);
    float *const frame = lowering_scratch(l, count);
    for (int64_t i = 0; place && i < count / parts; i++)
        place[i] = (uint32_t)(i / length / frames * x->shape[1] + i / length % frames * step + i % length);
    struct lowered_step *const gather = lowering_step(l, frame, count, "gather:%lldx%lldx%lld", (long long)(x->count / parts),
                                                      (long long)parts, (long long)(count / parts));
    lowering_read(gather, x->data, x->count);
    lowering_read(gather, place, count / parts);
    if (!window)
        return frame;
    float *const weight = parts > 1 ? lowering_scratch(l, each) : window->data;
    for (int64_t i = 0; parts > 1 && weight && i < each; i++)
        weight[i] = (float)net_array_double(window, i / parts);
    struct lowered_step *const scale =
        lowering_step(l, frame, count, "elementwise:%lld,op=mul,period=%lld", (long long)count, (long long)each);
    lowering_read(scale, frame, count);
    lowering_read(scale, weight, each);
    return frame;
}

/* Signal [batch, samples, parts], step, window, length of a frame: [batch, frames, bins, 2]. */
bool lowering_stft(struct lowering *l, const char *word)
{
    const struct net_array *const x = l->in[0], *const out = l->out[0], *const window = l->node->inputs > 2 ? l->in[2] : NULL;
    const struct net_array *const frame = l->node->inputs > 3 ? l->in[3] : NULL;
    const int64_t step = l->in[1] ? net_array_integer(l->in[1], 0) : 0;
    const int64_t length = frame ? net_array_integer(frame, 0) : window ? window->count : 0;
    (void)word;
    if (x->dims != 3 || out->dims != 4 || step < 1 || length < 1 || (window && window->count != length) ||
        x->count > UINT32_MAX || (out->shape[1] - 1) * step + length > x->shape[1])
        return lowering_leave(l, "frames that reach beyond the signal, or no window");
    const float *const frames = add_frames(l, x, out->shape[1], step, length);
    const struct transform t = {.rows = x->shape[0] * out->shape[1],
                                .there = length,
                                .parts = x->shape[2],
                                .bins = out->shape[2],
                                .out = 2,
                                .length = length};
    return frames && add_transform(l, &t, frames, out->data);
}
