/* conv2d on the AMX block as products of matrices, sums in f32; compiled for each type of elements.
 *
 * A block of 64 pixels is packed once: a line of 64 for each tap of each channel, taps outside the image as zeros. Sixteen output
 * channels at a time, outer products add a tap's line with sixteen weights into all of Z: variable i of Z is output channel i.
 * Where a group has fewer output channels than half of that, one after the other is summed in vector form. */
#include "units/amx/kernels/native/line_elements.h"
#include "units/amx/kernels/native/line_function.h"
#include "units/amx/kernels/native/line_outer.h"
#include "units/cpu/kernels/native/arguments.h"

/* Panels: [group][panel of 16 channels][channel of the group][tap][16]; own: patches, [channel of the group][tap][64]. */
void NAME(amx_conv_pack)(const struct conv *v, uint64_t first, uint64_t end, uint64_t thread);
void NAME(amx_conv)(const struct conv *v, uint64_t first, uint64_t end, uint64_t thread);

enum { CHANNELS = OUTER, FEW = 8 };

/* Items are panels of output channels of all groups. Of few channels each has lines of its own weight sixteen times. */
void NAME(amx_conv_pack)(const struct conv *v, uint64_t first, uint64_t end, uint64_t thread)
{
    const int64_t each = v->group_k < FEW ? 1 : CHANNELS, panels = (v->group_k + each - 1) / each;
    const int64_t depth = v->group_c * v->r * v->s;
    (void)thread;
    for (int64_t at = (int64_t)first; at < (int64_t)end; at++) {
        const int64_t channel = at % panels * each, used = least(each, v->group_k - channel);
        const element *const weights = v->weights + (at / panels * v->group_k + channel) * depth;
        float *to = v->panels + at * depth * CHANNELS;
        for (int64_t d = 0; d < depth; d++)
            for (int64_t i = 0; i < CHANNELS; i++)
                *to++ = each == 1 ? load1(weights + d) : i < used ? load1(weights + i * depth + d) : 0;
    }
}

/* ---- what taps see ---- */

/* Neighbours in a row of the result whose tap lies inside the image: `count` of them from `to` on see elements from `at` on. */
struct run {
    int64_t to, at, count;
};
struct tap {
    struct run run[VARIABLE];
    int64_t runs, pixels; /* pixels: of all runs */
};

static void find_tap(const struct conv *v, int64_t pixel, int64_t used, int64_t i, int64_t j, struct tap *t)
{
    int64_t y = pixel / v->out_w, x = pixel % v->out_w;
    t->runs = t->pixels = 0;
    for (int64_t p = 0; p < used; y++, x = 0) {
        const int64_t length = least(v->out_w - x, used - p), row = y * v->stride - v->pad + i * v->dilation;
        const int64_t column = x * v->stride - v->pad + j * v->dilation;
        const int64_t first = column < 0 ? (v->stride - 1 - column) / v->stride : 0;
        const int64_t end = column < v->w ? least(length, (v->w - column + v->stride - 1) / v->stride) : 0;
        if (row >= 0 && row < v->h && first < end) {
            t->run[t->runs++] = (struct run){p + first, row * v->w + column + first * v->stride, end - first};
            t->pixels += end - first;
        }
        p += length;
    }
}

static void copy_runs(const struct conv *v, const struct tap *t, const element *plane, float *to)
{
    for (int p = 0; t->pixels < VARIABLE && p < VARIABLE; p += 4)
        vst1q_f32(to + p, vdupq_n_f32(0));
    for (const struct run *r = t->run; r < t->run + t->runs; r++) {
        int64_t p = 0;
        for (; v->stride == 1 && p + 4 <= r->count; p += 4)
            vst1q_f32(to + r->to + p, load4(plane + r->at + p));
        for (; p < r->count; p++)
            to[r->to + p] = load1(plane + r->at + p * v->stride);
    }
}

static void pack_pixels(const struct conv *v, const element *x, int64_t pixel, int64_t used, float *patches)
{
    const int64_t taps = v->r * v->s;
    for (int64_t k = 0; k < taps; k++) {
        struct tap t;
        find_tap(v, pixel, used, k / v->s, k % v->s, &t);
        for (int64_t c = 0; c < v->group_c; c++)
            copy_runs(v, &t, x + c * v->h * v->w, patches + (c * taps + k) * VARIABLE);
    }
}

/* ---- sums ---- */

/* Variable 0 alone. */
LINE_INLINE void vector_step(const float *pixels, const float *weights, uint64_t flags)
{
    line_constant(weights);
    FOUR_ROWS AMX_ISSUE(NULL, AMXI_LDX, line_address(pixels + LINE * i) | AMX_REG(i));
    LINE_FMA_CONSTANT(AMXI_FMA32, 0, flags);
}

static void sum_vector(const float *pixels, const float *weights, int64_t depth)
{
    vector_step(pixels, weights, AMX_SKIP_Z);
    for (int64_t d = 1; d < depth; d++)
        vector_step(pixels + d * VARIABLE, weights + d * CHANNELS, 0);
}

/* ---- bias, activation, result ---- */

static void finish(const struct conv *v, int64_t image, int64_t channel, int64_t pixel, int64_t pixels)
{
    static const line no_slope = EVERYWHERE(0.01F);
    float room[VARIABLE] __attribute__((aligned(64)));
    if (v->has_bias) {
        const line bias = EVERYWHERE(load1(v->bias + channel));
        line_add_constant(0, bias);
    }
    if (v->act >= 0)
        line_function((uint64_t)v->act, no_slope);
    line_give(v->out + (image * v->k + channel) * v->out_h * v->out_w + pixel, pixels, room);
}

/* Functions need Z: the sums of the panel wait in memory. */
static void panel(const struct conv *v, const float *patches, const float *weights, int64_t image, int64_t channel,
                  int64_t channels, int64_t pixel, int64_t pixels)
{
    float sums[CHANNELS][VARIABLE] __attribute__((aligned(64)));
    line_outer(patches, weights, v->group_c * v->r * v->s);
    for (unsigned i = 0; i < CHANNELS; i++)
        line_store(sums[i], i);
    for (int64_t i = 0; i < channels; i++) {
        line_load(0, sums[i]);
        finish(v, image, channel + i, pixel, pixels);
    }
}

/* Items are blocks of 64 pixels of groups of images. */
void NAME(amx_conv)(const struct conv *v, uint64_t first, uint64_t end, uint64_t thread)
{
    const int64_t plane = v->out_h * v->out_w, blocks = (plane + VARIABLE - 1) / VARIABLE;
    const int64_t each = v->group_k < FEW ? 1 : CHANNELS, panels = (v->group_k + each - 1) / each;
    const int64_t depth = v->group_c * v->r * v->s;
    float *const patches = own_floats(v->own, v->own_bytes, thread);
    line_enter();
    for (int64_t at = (int64_t)first; at < (int64_t)end; at++) {
        const int64_t image = at / blocks / v->groups, group = at / blocks % v->groups, pixel = at % blocks * VARIABLE;
        const int64_t pixels = least(VARIABLE, plane - pixel);
        pack_pixels(v, v->x + (image * v->c + group * v->group_c) * v->h * v->w, pixel, pixels, patches);
        for (int64_t p = 0; p < panels; p++) {
            const float *const weights = v->panels + (group * panels + p) * depth * CHANNELS;
            const int64_t channel = group * v->group_k + p * each;
            if (each == 1) {
                sum_vector(patches, weights, depth);
                finish(v, image, channel, pixel, pixels);
            } else {
                panel(v, patches, weights, image, channel, least(each, v->group_k - p * each), pixel, pixels);
            }
        }
    }
    line_leave();
}
