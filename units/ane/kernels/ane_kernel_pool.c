/* pool, resize, conv_transpose2d: windows over images, and images spread by steps. */
#include "isa/array_count.h"
#include "units/ane/kernels/ane_image.h"
#include "units/ane/kernels/ane_kernel_family.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { N, C, H, W };
enum { R = 4, S, STRIDE, PAD, OP, INCLUDE_PAD, MORE };
enum { TK = 4, TR, TS, TSTRIDE, TPAD, TOUT, TGROUPS, TBIAS, TACT };
enum { FACTOR = 4, MODE };
enum { STEP_MAX = 3 /* Ox, Oy: two bits */ };

static const struct kernel_parameter pool_parameters[] = {
    ANE_IMAGE_PARAMETERS,
    {.name = "r", .missing = 2, .least = 1, .most = 256},
    {.name = "s", .missing = 0, .least = 0, .most = 256},
    {.name = "stride", .missing = 0, .least = 0, .most = 64},
    {.name = "pad", .missing = 0, .least = 0, .most = 64},
    {.name = "op", .words = "max|avg|min"},
    {.name = "include_pad", .missing = 1, .least = 0, .most = 1},
    {.name = "more", .missing = 0, .least = 0, .most = 64}, /* below and at the right, beside pad */
    {.name = NULL},
};
static const struct kernel_parameter transpose_parameters[] = {
    ANE_IMAGE_PARAMETERS,
    {.name = "k", .least = 1, .most = ANE_CHANNEL_MOST, .required = true},
    {.name = "r", .missing = 3, .least = 1, .most = 256},
    {.name = "s", .missing = 3, .least = 1, .most = 256},
    {.name = "stride", .missing = 1, .least = 1, .most = 64},
    {.name = "pad", .missing = 0, .least = 0, .most = 64},
    {.name = "outpad", .missing = 0, .least = 0, .most = 63},
    {.name = "groups", .missing = 1, .least = 1, .most = ANE_CHANNEL_MOST},
    {.name = "bias", .missing = 0, .least = 0, .most = 1},
    {.name = "act", .words = "none|relu"},
    {.name = NULL},
};
static const struct kernel_parameter resize_parameters[] = {
    ANE_IMAGE_PARAMETERS,
    {.name = "factor", .missing = 2, .least = 1, .most = 64},
    {.name = "mode", .words = "nearest|bilinear"},
    {.name = NULL},
};

/* An image of ones as high and wide as x, with one channel. */
static struct ane_view ones_like(struct ane_builder *b, struct ane_view x)
{
    const struct ane_planar one = {.op = ANE_PE_ADD, .constant = true, .bias = 1};
    const struct ane_view ones = ane_build_between(b, 1, x.height, x.width);
    ane_build_planar(b, &one, ane_view_channels(x, 0, 1), NULL, ones);
    return ones;
}

static void write_inverse(struct ane_builder *b, struct ane_view x, struct ane_view result)
{
    const struct ane_element inverse = {.table = "reciprocal", .alpha = (double)NAN};
    ane_build_element(b, &inverse, x, result);
}

/* x times one plane for all channels. */
static void write_shared_product(struct ane_builder *b, struct ane_view x, struct ane_view plane, struct ane_view result)
{
    const struct ane_planar product = {.op = ANE_PE_MUL};
    plane.channels = x.channels;
    plane.plane = 0;
    ane_build_planar(b, &product, x, &plane, result);
}

/* ---- pool ---- */

/* 1 / the share of the window that lies inside the image, which averages over ones give. */
static struct ane_view inside_shares(struct ane_builder *b, const struct ane_pool *pool, struct ane_view x, struct ane_view out)
{
    const struct ane_view inverse = ane_build_between(b, 1, out.height, out.width),
                          shares = ane_build_between(b, 1, out.height, out.width);
    ane_build_pool(b, pool, ones_like(b, x), shares);
    write_inverse(b, shares, inverse);
    return inverse;
}

static void pool_image(struct ane_builder *b, const struct ane_pool *pool, const struct ane_view *shares, struct ane_view x,
                       struct ane_view out)
{
    const uint32_t mark = ane_build_mark(b);
    if (!shares) {
        ane_build_pool(b, pool, x, out);
        return;
    }
    const struct ane_view whole = ane_build_between(b, out.channels, out.height, out.width);
    ane_build_pool(b, pool, x, whole);
    write_shared_product(b, whole, *shares, out);
    ane_build_release(b, mark);
}

static bool build_pool(const struct ane_kernel_request *q, struct ane_kernel *kernel, struct isa_error *error)
{
    const int64_t *v = q->value;
    const uint32_t n = (uint32_t)v[N], c = (uint32_t)v[C], h = (uint32_t)v[H], w = (uint32_t)v[W], r = (uint32_t)v[R];
    const uint32_t s = v[S] ? (uint32_t)v[S] : r, stride = v[STRIDE] ? (uint32_t)v[STRIDE] : r, pad = (uint32_t)v[PAD];
    const uint32_t both = 2 * pad + (uint32_t)v[MORE];
    static const enum ane_pe_reduce kinds[] = {ANE_POOL_MAX, ANE_POOL_AVERAGE, ANE_POOL_MIN};
    struct ane_builder b;
    if (h + both < r || w + both < s)
        return kernel_refuse(error, "pool: a window of %u x %u does not fit an image of %u x %u with pad %u", (unsigned)r,
                             (unsigned)s, (unsigned)h, (unsigned)w, (unsigned)pad);
    if (both - pad >= r || both - pad >= s)
        return kernel_refuse(error, "pool: pad must be less than the window, or windows hold nothing");
    ane_build_begin(&b, q, kernel, 1, error);
    const uint32_t out_h = (h + both - r) / stride + 1, out_w = (w + both - s) / stride + 1;
    const struct ane_view x = ane_image_input(&b, "x", n, c, h, w), out = ane_image_output(&b, "out", n, c, out_h, out_w);
    const struct ane_pool pool = {.kind = kinds[v[OP]],
                                  .kernel_width = s,
                                  .kernel_height = r,
                                  .stride_x = stride,
                                  .stride_y = stride,
                                  .pad_left = pad,
                                  .pad_top = pad};
    const bool inside = v[OP] == 1 && both && !v[INCLUDE_PAD];
    struct ane_view shares = x;
    if (inside && !b.failed)
        shares = inside_shares(&b, &pool, x, out);
    for (uint32_t i = 0; i < n && !b.failed; i++)
        pool_image(&b, &pool, inside ? &shares : NULL, ane_view_image(x, i), ane_view_image(out, i));
    kernel->flops = (double)n * c * out_h * out_w * r * s;
    snprintf(kernel->variant, sizeof kernel->variant, "planar engine, %u image%s", (unsigned)n, n == 1 ? "" : "s");
    return ane_build_end(&b);
}

/* ---- conv_transpose2d ---- */

struct transposed {
    uint32_t n, c, h, w, k, r, s, stride, pad, out_pad, groups;
    uint32_t out_h, out_w;
    bool bias, relu;
};

/* The kernel of the plain convolution over the spread image: rotated by half a turn, with inputs and outputs of a group
 * exchanged. */
static float *turn_weights(const struct transposed *v, const float *weight)
{
    const size_t in = v->c / v->groups, out = v->k / v->groups, taps = (size_t)v->r * v->s;
    float *turned = malloc(v->k * in * taps * sizeof *turned);
    for (size_t k = 0; turned && k < v->k; k++)
        for (size_t i = 0; i < in; i++)
            for (size_t t = 0; t < taps; t++)
                turned[(k * in + i) * taps + t] = weight[((k / out * in + i) * out + k % out) * taps + taps - 1 - t];
    return turned;
}

static struct transposed transposed_of(const struct ane_kernel_request *q)
{
    const int64_t *p = q->value;
    struct transposed v = {
        .n = (uint32_t)p[N],
        .c = (uint32_t)p[C],
        .h = (uint32_t)p[H],
        .w = (uint32_t)p[W],
        .k = (uint32_t)p[TK],
        .r = (uint32_t)p[TR],
        .s = (uint32_t)p[TS],
        .stride = (uint32_t)p[TSTRIDE],
        .pad = (uint32_t)p[TPAD],
        .out_pad = (uint32_t)p[TOUT],
        .groups = (uint32_t)p[TGROUPS],
        .bias = p[TBIAS] != 0,
        .relu = p[TACT] == 1,
    };
    v.out_h = (v.h - 1) * v.stride + v.r + v.out_pad - 2 * v.pad;
    v.out_w = (v.w - 1) * v.stride + v.s + v.out_pad - 2 * v.pad;
    return v;
}

static bool check_transposed(const struct transposed *v, struct isa_error *error)
{
    if (v->c % v->groups || v->k % v->groups)
        return kernel_refuse(error, "conv_transpose2d: c and k must be multiples of groups");
    if (v->out_pad >= v->stride)
        return kernel_refuse(error, "conv_transpose2d: outpad must be less than stride");
    if ((v->h - 1) * v->stride + v->r + v->out_pad <= 2 * v->pad || (v->w - 1) * v->stride + v->s + v->out_pad <= 2 * v->pad)
        return kernel_refuse(error, "conv_transpose2d: the padding leaves nothing");
    return true;
}

static bool build_transposed(const struct ane_kernel_request *q, struct ane_kernel *kernel, struct isa_error *error)
{
    const struct transposed v = transposed_of(q);
    struct ane_builder b;
    if (!check_transposed(&v, error))
        return false;
    const double range = sqrt(3.0 / ((double)v.c / v.groups * v.r * v.s));
    ane_build_begin(&b, q, kernel, 1, error);
    if (v.pad >= v.r || v.pad >= v.s)
        ane_build_limit(&b, "pad %u with a kernel of %ux%u: the plain convolution would cut the image", (unsigned)v.pad,
                        (unsigned)v.r, (unsigned)v.s);
    const struct ane_view x = ane_image_input(&b, "x", v.n, v.c, v.h, v.w);
    ane_image_weights(&b, (uint32_t[]){v.c, v.k / v.groups, v.r, v.s}, v.bias ? v.k : 0, range);
    const struct ane_view out = ane_image_output(&b, "out", v.n, v.k, v.out_h, v.out_w);
    const uint64_t count = (uint64_t)v.c * (v.k / v.groups) * v.r * v.s;
    float *weight = ane_build_weights(&b, "weights", count, -range, range), *turned = weight ? turn_weights(&v, weight) : NULL;
    float *bias = v.bias ? ane_build_constant(&b, "bias", v.k, -1, 1) : NULL;
    if (!turned)
        ane_build_fail(&b, "out of memory for weights");
    const struct ane_conv conv = {.kernel_width = v.s,
                                  .kernel_height = v.r,
                                  .stride_x = 1,
                                  .stride_y = 1,
                                  .step = v.stride,
                                  .pad_left = v.s - 1 - v.pad,
                                  .pad_top = v.r - 1 - v.pad,
                                  .groups = v.groups,
                                  .relu = v.relu,
                                  .weight = turned,
                                  .bias = bias};
    for (uint32_t i = 0; i < v.n && !b.failed; i++)
        ane_build_conv(&b, &conv, ane_view_image(x, i), ane_view_image(out, i));
    free(weight);
    free(turned);
    free(bias);
    kernel->macs = (double)v.n * v.h * v.w * (double)count;
    kernel->flops = 2 * kernel->macs;
    snprintf(kernel->variant, sizeof kernel->variant, "spread by %u, %u image%s", (unsigned)v.stride, (unsigned)v.n,
             v.n == 1 ? "" : "s");
    return ane_build_end(&b);
}

/* ---- resize ---- */

/* Each channel by itself: the image spread by `step`, then taps x taps weights that are products of `line`. */
static void spread(struct ane_builder *b, uint32_t step, const float *line, uint32_t taps, uint32_t pad, struct ane_view x,
                   struct ane_view out)
{
    const size_t area = (size_t)taps * taps;
    float *weight = malloc(x.channels * area * sizeof *weight);
    for (size_t i = 0; weight && i < x.channels * area; i++)
        weight[i] = line[i % area / taps] * line[i % taps];
    const struct ane_conv conv = {.kernel_width = taps,
                                  .kernel_height = taps,
                                  .stride_x = 1,
                                  .stride_y = 1,
                                  .step = step,
                                  .pad_left = pad,
                                  .pad_top = pad,
                                  .groups = 1,
                                  .depthwise = true,
                                  .weight = weight,
                                  .plain = true};
    if (!weight)
        ane_build_fail(b, "out of memory for weights");
    ane_build_conv(b, &conv, x, out);
    free(weight);
}

static void spread_nearest(struct ane_builder *b, uint32_t step, struct ane_view x, struct ane_view out)
{
    static const float line[STEP_MAX] = {1, 1, 1};
    spread(b, step, line, step, step - 1, x, out);
}

static const float halves[4] = {0.25F, 0.75F, 0.75F, 0.25F};

/* Twice the size with half-pixel centres: a quarter and three quarters of two neighbours. At the border the missing neighbour
 * leaves three quarters. The same convolution of an image of ones gives that factor, and its reciprocal corrects it. */
static void spread_bilinear(struct ane_builder *b, struct ane_view x, struct ane_view share, struct ane_view out)
{
    const uint32_t mark = ane_build_mark(b);
    const struct ane_view sum = ane_build_between(b, out.channels, out.height, out.width);
    spread(b, 2, halves, 4, 2, x, sum);
    write_shared_product(b, sum, share, out);
    ane_build_release(b, mark);
}

/* The reciprocals for spread_bilinear, one plane. */
static struct ane_view border_shares(struct ane_builder *b, struct ane_view x)
{
    const struct ane_view shares = ane_build_between(b, 1, 2 * x.height, 2 * x.width),
                          sums = ane_build_between(b, 1, 2 * x.height, 2 * x.width);
    spread(b, 2, halves, 4, 2, ones_like(b, x), sums);
    write_inverse(b, sums, shares);
    return shares;
}

static void resize_image(struct ane_builder *b, uint32_t factor, bool bilinear, const struct ane_view *share, struct ane_view x,
                         struct ane_view out)
{
    const uint32_t mark = ane_build_mark(b);
    if (factor == 1)
        ane_build_copy(b, x, out);
    while (factor > 1 && !b->failed) {
        const uint32_t step = factor % 2 == 0 ? 2 : 3;
        factor /= step;
        const struct ane_view next = factor == 1 ? out : ane_build_between(b, x.channels, x.height * step, x.width * step);
        if (bilinear)
            spread_bilinear(b, x, *share, next);
        else
            spread_nearest(b, step, x, next);
        x = next;
    }
    ane_build_release(b, mark);
}

static bool has_only_steps(uint32_t factor)
{
    while (factor % 2 == 0)
        factor /= 2;
    while (factor % 3 == 0)
        factor /= 3;
    return factor == 1;
}

static bool build_resize(const struct ane_kernel_request *q, struct ane_kernel *kernel, struct isa_error *error)
{
    const int64_t *v = q->value;
    const uint32_t n = (uint32_t)v[N], c = (uint32_t)v[C], h = (uint32_t)v[H], w = (uint32_t)v[W], factor = (uint32_t)v[FACTOR];
    const bool bilinear = v[MODE] == 1;
    struct ane_builder b;
    ane_build_begin(&b, q, kernel, 1, error);
    if (bilinear && factor != 1 && factor != 2)
        ane_build_limit(&b, "bilinear by %u: convolutions over a spread image make it by 2", (unsigned)factor);
    if (!has_only_steps(factor))
        ane_build_limit(&b, "nearest by %u: images are spread by 2 and 3 and what these make", (unsigned)factor);
    const struct ane_view x = ane_image_input(&b, "x", n, c, h, w),
                          out = ane_image_output(&b, "out", n, c, h * factor, w * factor);
    struct ane_view share = x;
    if (bilinear && factor > 1 && !b.failed)
        share = border_shares(&b, x);
    for (uint32_t i = 0; i < n && !b.failed; i++)
        resize_image(&b, factor, bilinear, &share, ane_view_image(x, i), ane_view_image(out, i));
    kernel->flops = (double)n * c * h * w * factor * factor;
    snprintf(kernel->variant, sizeof kernel->variant, "spread images");
    return ane_build_end(&b);
}

static const struct ane_kernel_info rows[] = {
    {"pool", "c=C,h=H,w=W[,n=N][,r=R][,s=S][,stride=D][,pad=P][,more=P][,op=max|avg|min][,include_pad=0|1]",
     "largest, mean or smallest of each R x S window (S as R, stride as R unless told otherwise)", 0, pool_parameters,
     build_pool},
    {"conv_transpose2d", "c=C,h=H,w=W,k=K[,n=N][,r=R][,s=S][,stride=D][,pad=P][,outpad=P][,groups=G][,bias=0|1][,act=none|relu]",
     "C x K/groups x R x S weights over the image spread by the stride", 0, transpose_parameters, build_transposed},
    {"resize", "c=C,h=H,w=W[,n=N][,factor=F][,mode=nearest|bilinear]", "the image F times as high and wide, half-pixel centres",
     0, resize_parameters, build_resize},
};
const struct ane_kernel_family ane_family_pool = {rows, ARRAY_COUNT(rows)};
