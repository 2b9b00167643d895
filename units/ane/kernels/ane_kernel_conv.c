/* conv2d: one descriptor per image; the coefficients are the same for all. */
#include "isa/array_count.h"
#include "units/ane/kernels/ane_image.h"
#include "units/ane/kernels/ane_kernel_family.h"
#include "units/ane/kernels/ane_patches.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { N, C, H, W, K, R, S, STRIDE, PAD, GROUPS, DILATION, BIAS, ACT, FLAT, TALL };

static const struct kernel_parameter parameters[] = {
    ANE_IMAGE_PARAMETERS,
    {.name = "k", .least = 1, .most = ANE_CHANNEL_MOST, .required = true},
    {.name = "r", .missing = 3, .least = 1, .most = 256},
    {.name = "s", .missing = 3, .least = 1, .most = 256},
    {.name = "stride", .missing = 1, .least = 1, .most = 64},
    {.name = "pad", .missing = 0, .least = 0, .most = 64},
    {.name = "groups", .missing = 1, .least = 1, .most = ANE_CHANNEL_MOST},
    {.name = "dilation", .missing = 1, .least = 1, .most = 64},
    {.name = "bias", .missing = 0, .least = 0, .most = 1},
    {.name = "act", .words = ANE_ACTIVATION_WORDS},
    {.name = "flat", .missing = 0, .least = 0, .most = 1},
    {.name = "tall", .missing = 0, .least = 0, .most = 1},
    {.name = NULL},
};

struct shape {
    uint32_t n, c, h, w, k, r, s, stride, pad, groups, dilation;
    uint32_t pad_rows;         /* above and below; pad is left and right */
    uint32_t reach_h, reach_w; /* of the kernel including its holes */
    uint32_t out_h, out_w;
    bool bias;
    int64_t act;
};

static uint32_t out_size(uint32_t in, uint32_t pad, uint32_t reach, uint32_t stride)
{
    const uint32_t padded = in + 2 * pad;
    return padded < reach ? 0 : (padded - reach) / stride + 1;
}

static struct shape shape_of(const struct ane_kernel_request *q)
{
    const int64_t *p = q->value;
    struct shape v = {
        .n = (uint32_t)p[N],
        .c = (uint32_t)p[C],
        .h = (uint32_t)p[H],
        .w = (uint32_t)p[W],
        .k = (uint32_t)p[K],
        .r = (uint32_t)p[R],
        .s = (uint32_t)p[S],
        .stride = (uint32_t)p[STRIDE],
        .pad = p[TALL] ? 0 : (uint32_t)p[PAD],
        .pad_rows = p[FLAT] ? 0 : (uint32_t)p[PAD],
        .groups = (uint32_t)p[GROUPS],
        .dilation = (uint32_t)p[DILATION],
        .bias = p[BIAS] != 0,
        .act = p[ACT],
    };
    v.reach_h = (v.r - 1) * v.dilation + 1;
    v.reach_w = (v.s - 1) * v.dilation + 1;
    v.out_h = out_size(v.h, v.pad_rows, v.reach_h, v.stride);
    v.out_w = out_size(v.w, v.pad, v.reach_w, v.stride);
    return v;
}

static bool check(const struct shape *v, struct isa_error *error)
{
    if (v->c % v->groups || v->k % v->groups)
        return kernel_refuse(error, "conv2d: c and k must be multiples of groups");
    if (v->out_h == 0 || v->out_w == 0)
        return kernel_refuse(error, "conv2d: %u x %u taps with dilation %u do not fit an image of %u x %u with pad %u",
                             (unsigned)v->r, (unsigned)v->s, (unsigned)v->dilation, (unsigned)v->h, (unsigned)v->w,
                             (unsigned)v->pad);
    return true;
}

/* A dilated kernel is one with zeros between its taps, because descriptors have no field for dilation. */
static float *spread_taps(const struct shape *v, const float *weight)
{
    const size_t lines = (size_t)v->k * (v->c / v->groups), reach = (size_t)v->reach_h * v->reach_w;
    float *spread = calloc(lines * reach, sizeof *spread);
    for (size_t i = 0; spread && i < lines; i++)
        for (size_t r = 0; r < v->r; r++)
            for (size_t s = 0; s < v->s; s++)
                spread[i * reach + r * v->dilation * v->reach_w + s * v->dilation] = weight[(i * v->r + r) * v->s + s];
    return spread;
}

static void write_images(struct ane_builder *b, const struct shape *v, const float *weight, const float *bias, struct ane_view x,
                         struct ane_view out)
{
    float *spread = v->dilation > 1 && weight ? spread_taps(v, weight) : NULL;
    if (v->dilation > 1 && !spread)
        ane_build_fail(b, "out of memory for weights");
    const struct ane_conv conv = {
        .kernel_width = v->reach_w,
        .kernel_height = v->reach_h,
        .stride_x = v->stride,
        .stride_y = v->stride,
        .pad_left = v->pad,
        .pad_top = v->pad_rows,
        .depthwise = v->groups > 1 && v->groups == v->c && v->k == v->c,
        .groups = v->groups > 1 && v->groups == v->c && v->k == v->c ? 1 : v->groups,
        .weight = spread ? spread : weight,
        .bias = bias,
    };
    for (uint32_t i = 0; i < v->n && !b->failed; i++)
        if (ane_patches_can(&conv))
            ane_build_patches(b, &conv, v->act, ane_view_image(x, i), ane_view_image(out, i));
        else
            ane_build_activated(b, &conv, v->act, ane_view_image(x, i), ane_view_image(out, i));
    free(spread);
}

static bool build(const struct ane_kernel_request *q, struct ane_kernel *kernel, struct isa_error *error)
{
    const struct shape v = shape_of(q);
    struct ane_builder b;
    if (!check(&v, error))
        return false;
    const uint64_t taps = (uint64_t)(v.c / v.groups) * v.r * v.s;
    const double range = sqrt(3.0 / (double)taps); /* keeps results as large as inputs */
    ane_build_begin(&b, q, kernel, 1, error);
    const struct ane_view x = ane_image_input(&b, "x", v.n, v.c, v.h, v.w);
    ane_image_weights(&b, (uint32_t[]){v.k, v.c / v.groups, v.r, v.s}, v.bias ? v.k : 0, range);
    const struct ane_view out = ane_image_output(&b, "out", v.n, v.k, v.out_h, v.out_w);
    float *weight = ane_build_weights(&b, "weights", v.k * taps, -range, range);
    float *bias = v.bias ? ane_build_constant(&b, "bias", v.k, -1, 1) : NULL;
    write_images(&b, &v, weight, bias, x, out);
    free(weight);
    free(bias);
    kernel->macs = (double)v.n * v.k * v.out_h * v.out_w * (double)taps;
    kernel->flops = 2 * kernel->macs;
    snprintf(kernel->variant, sizeof kernel->variant, "%s, %u image%s",
             v.dilation > 1 ? "taps spread"
             : v.stride > 3 ? "patches"
                            : "direct",
             (unsigned)v.n, v.n == 1 ? "" : "s");
    return ane_build_end(&b);
}

static const struct ane_kernel_info rows[] = {
    {"conv2d",
     "c=C,h=H,w=W,k=K[,n=N][,r=R][,s=S][,stride=D][,pad=P][,groups=G][,dilation=D][,bias=0|1][,act=NAME][,flat=0|1]"
     "[,tall=0|1]",
     "NCHW image, K x C/groups x R x S weights (3 x 3 unless told otherwise), then bias and an activation; flat=1: pad is left "
     "and right alone, as convolutions over one row have it; tall=1: above and below alone",
     0, parameters, build},
};
const struct ane_kernel_family ane_family_conv = {rows, ARRAY_COUNT(rows)};
