/* conv-stack: convolutions with equal numbers of channels, one after another in one program, as measurements of peaks use them
 * (maderix/ANE inmem_peak). Images between the layers stay in tile memory where two of them fit.
 */
#include "isa/array_count.h"
#include "units/ane/kernels/ane_kernel_family.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LAYERS, C, H, W, R, S, GROUPS, BIAS, ACT, SAME };

static const struct kernel_parameter parameters[] = {
    {.name = "layers", .least = 1, .most = 1024, .required = true},
    {.name = "c", .least = 1, .most = 131071, .required = true},
    {.name = "h", .least = 1, .most = 65536, .required = true},
    {.name = "w", .least = 1, .most = 65536, .required = true},
    {.name = "r", .missing = 3, .least = 1, .most = 255},
    {.name = "s", .missing = 3, .least = 1, .most = 255},
    {.name = "groups", .missing = 1, .least = 1, .most = 131071},
    {.name = "bias", .missing = 0, .least = 0, .most = 1},
    {.name = "act", .words = "none|relu"},
    {.name = "same", .missing = 0, .least = 0, .most = 1},
    {.name = NULL},
};

struct stack {
    uint32_t layers, c, h, w, r, s, groups;
    bool bias, relu;
    uint32_t sets; /* of weights and biases: one a layer, or one for all */
    uint64_t taps; /* weights of one layer */
};

static bool read_shape(const struct ane_kernel_request *q, struct stack *v, struct isa_error *error)
{
    const int64_t *p = q->value;
    *v = (struct stack){.layers = (uint32_t)p[LAYERS],
                        .c = (uint32_t)p[C],
                        .h = (uint32_t)p[H],
                        .w = (uint32_t)p[W],
                        .r = (uint32_t)p[R],
                        .s = (uint32_t)p[S],
                        .groups = (uint32_t)p[GROUPS],
                        .bias = p[BIAS] != 0,
                        .relu = p[ACT] == 1,
                        .sets = p[SAME] ? 1 : (uint32_t)p[LAYERS]};
    if (v->r % 2 == 0 || v->s % 2 == 0)
        return kernel_refuse(error, "conv-stack: %u x %u taps: layers keep the size of the image, which needs odd numbers",
                             (unsigned)v->r, (unsigned)v->s);
    if (v->c % v->groups)
        return kernel_refuse(error, "conv-stack: c must be a multiple of groups");
    v->taps = (uint64_t)v->c * (v->c / v->groups) * v->r * v->s;
    return true;
}

static void name_image(struct ane_builder *b, const char *name, enum ane_tensor_role role, const struct ane_view *view)
{
    struct ane_kernel_tensor *t = ane_build_tensor(b, name, role, view, -1, 1);
    ane_tensor_axis(t, view->channels, view->plane);
    ane_tensor_axis(t, view->height, view->row);
    ane_tensor_axis(t, view->width, ANE_HALF_BYTES);
}

static void name_constants(struct ane_builder *b, const struct stack *v, double range)
{
    struct ane_kernel_tensor *t = ane_build_tensor(b, "weights", ANE_TENSOR_CONSTANT, NULL, -range, range);
    ane_tensor_axis(t, v->sets, 0);
    ane_tensor_axis(t, v->c, 0);
    ane_tensor_axis(t, v->c / v->groups, 0);
    ane_tensor_axis(t, v->r, 0);
    ane_tensor_axis(t, v->s, 0);
    if (!v->bias)
        return;
    t = ane_build_tensor(b, "bias", ANE_TENSOR_CONSTANT, NULL, -1, 1);
    ane_tensor_axis(t, v->sets, 0);
    ane_tensor_axis(t, v->c, 0);
}

/* The image between two layers. Beside it there is only the image before it, until that is written, and tiles of the first source
 * or the last result, which may then have the place of the other one: two images may fill the tile memory.
 * (sbryngelson/ane-guide, chapter 9: chains of products keep the peak with images of 1 MB and lose it with 2 MB, on 2 MB of tile
 * memory.) */
static struct ane_view next_image(struct ane_builder *b, const struct stack *v)
{
    return ane_build_between_beside(b, 0, v->c, v->h, v->w);
}

static void write_layers(struct ane_builder *b, const struct stack *v, const float *weight, const float *bias, struct ane_view x,
                         struct ane_view out)
{
    const uint64_t image = ane_view_bytes(&x);
    const bool resident = 2 * image <= b->request->limits.l2_bytes;
    struct ane_view source = x, scratch[2] = {x, x};
    for (uint32_t i = 0; i < 2 && i + 1 < v->layers && !resident; i++)
        scratch[i] = ane_build_scratch(b, v->c, v->h, v->w);
    for (uint32_t i = 0; i < v->layers && !b->failed; i++) {
        const bool depthwise = v->groups > 1 && v->groups == v->c;
        const struct ane_conv conv = {.kernel_width = v->s,
                                      .kernel_height = v->r,
                                      .stride_x = 1,
                                      .stride_y = 1,
                                      .pad_left = v->s / 2,
                                      .pad_top = v->r / 2,
                                      .groups = depthwise ? 1 : v->groups,
                                      .depthwise = depthwise,
                                      .relu = v->relu,
                                      .weight = weight ? weight + i % v->sets * v->taps : NULL,
                                      .bias = bias ? bias + (size_t)(i % v->sets) * v->c : NULL};
        const struct ane_view result = i + 1 == v->layers ? out : resident ? next_image(b, v) : scratch[i % 2];
        ane_build_conv(b, &conv, source, result);
        ane_build_free(b, &source);
        source = result;
    }
}

static bool build(const struct ane_kernel_request *q, struct ane_kernel *kernel, struct isa_error *error)
{
    struct stack v;
    struct ane_builder b;
    if (!read_shape(q, &v, error))
        return false;
    const double range = sqrt(3.0 / (double)(v.taps / v.c)); /* keeps results as large as inputs */
    ane_build_begin(&b, q, kernel, 1, error);
    const struct ane_view x = ane_build_input(&b, "x", 1, v.c, v.h, v.w), out = ane_build_output(&b, "out", 1, v.c, v.h, v.w);
    name_image(&b, "x", ANE_TENSOR_INPUT, &x);
    name_constants(&b, &v, range);
    name_image(&b, "out", ANE_TENSOR_OUTPUT, &out);
    float *weight = ane_build_weights(&b, "weights", v.sets * v.taps, -range, range);
    float *bias = v.bias ? ane_build_constant(&b, "bias", (uint64_t)v.sets * v.c, -1, 1) : NULL;
    write_layers(&b, &v, weight, bias, x, out);
    free(weight);
    free(bias);
    kernel->macs = (double)v.layers * (double)v.taps * v.h * v.w;
    kernel->flops = 2 * kernel->macs;
    snprintf(kernel->variant, sizeof kernel->variant, "%u layers, %zu descriptors", (unsigned)v.layers, b.count);
    return ane_build_end(&b);
}

static const struct ane_kernel_info rows[] = {
    {"conv-stack", "layers=L,c=C,h=H,w=W[,r=R][,s=S][,groups=G][,bias=0|1][,act=none|relu][,same=0|1]",
     "L convolutions of C to C channels one behind another, the image keeps its size (3 x 3 weights unless told otherwise; "
     "same=1: all with the same weights)",
     0, parameters, build},
};
const struct ane_kernel_family ane_family_stack = {rows, ARRAY_COUNT(rows)};
