/* layernorm, rmsnorm over channels: sums over the channels of a pixel are convolutions with one output channel, so the planar
 * engine, which takes eight elements a cycle, passes over a tensor three times instead of seven; factors and summands of channels
 * are a convolution of each channel alone. The formula is that of LayerNormANE (apple/ml-ane-transformers), whose tensors have
 * this layout.
 */
#include "units/ane/kernels/ane_channel_norm.h"

#include "units/ane/kernels/ane_fold.h"
#include "units/ane/kernels/ane_norm.h"

#include <stdio.h>
#include <stdlib.h>

/* Squares are multiplied by 4: the MAC engines take factors below 2^-14 as 0, which are then squares of less than 1/256, and
 * fp16 ends at 65504, so no element may be farther than 127 from the mean. */
#define SQUARE_SCALE 4.0F

struct state {
    const struct ane_channel_norm *norm;
    float *weight;       /* 2^-k for each channel, exact in fp16: sums are means within a factor of two and stay in range */
    float share;         /* what makes means of the sums */
    float *gamma, *beta; /* NULL without */
};

/* A row of pixels takes a quarter of the tile memory or less, so that the centred row and the next row have room, too. */
static uint32_t row_most(const struct ane_builder *b, uint32_t columns)
{
    const uint64_t room = b->request->limits.l2_bytes / 4 / ANE_HALF_BYTES / columns;
    uint32_t most = b->request->limits.dimension_max;
    while (most > ANE_ROW_BYTES / ANE_HALF_BYTES && most > room)
        most /= 2;
    return most;
}

static bool choose_weights(struct state *s)
{
    const uint32_t columns = s->norm->columns;
    float value = 1;
    while (value * (float)columns > 1)
        value /= 2;
    s->weight = malloc(columns * sizeof *s->weight);
    for (uint32_t i = 0; s->weight && i < columns; i++)
        s->weight[i] = value;
    s->share = 1 / (value * (float)columns);
    return s->weight != NULL;
}

/* One value for each pixel, as the operand of all channels. */
static struct ane_view for_channels(const struct ane_view *x, struct ane_view value)
{
    value.channels = x->channels;
    value.plane = 0;
    return value;
}

/* share * sum over channels + bias */
static void write_mean(struct ane_builder *b, const struct state *s, float factor, float bias, struct ane_view x,
                       struct ane_view mean)
{
    const float scale = s->share / factor, before = bias / scale;
    struct ane_conv conv = ane_conv_of_pixels(s->weight, bias != 0 ? &before : NULL);
    conv.scale = scale;
    ane_build_conv_task(b, &conv, x, mean);
}

static struct ane_view write_centred(struct ane_builder *b, const struct state *s, struct ane_view x)
{
    const struct ane_planar minus = {.op = ANE_PE_ADD, .subtract = true};
    const struct ane_view mean = ane_build_between(b, 1, 1, x.width), operand = for_channels(&x, mean);
    const struct ane_view centred = ane_build_between(b, x.channels, 1, x.width);
    write_mean(b, s, 1, 0, x, mean);
    ane_build_planar(b, &minus, x, &operand, centred);
    return centred;
}

static void write_row(struct ane_builder *b, const struct state *s, struct ane_view x, struct ane_view out)
{
    const struct ane_planar square = {.op = ANE_PE_MUL, .scale = SQUARE_SCALE}, times = {.op = ANE_PE_MUL};
    const uint32_t mark = ane_build_mark(b);
    const struct ane_view centred = s->norm->centred ? write_centred(b, s, x) : x;
    const struct ane_view squares = ane_build_ring(b, x.channels, 1, x.width), spread = ane_build_between(b, 1, 1, x.width);
    const struct ane_view factor = ane_build_between(b, 1, 1, x.width), operand = for_channels(&x, factor);
    ane_build_planar(b, &square, centred, &centred, squares);
    write_mean(b, s, SQUARE_SCALE, s->norm->eps, squares, spread);
    ane_build_column_rsqrt(b, spread, factor);
    if (s->gamma) {
        const struct ane_view normal = ane_build_ring(b, x.channels, 1, x.width);
        struct ane_conv affine = ane_conv_of_pixels(s->gamma, s->beta);
        affine.depthwise = true;
        ane_build_planar(b, &times, centred, &operand, normal);
        ane_build_conv_task(b, &affine, normal, out);
    } else {
        ane_build_planar(b, &times, centred, &operand, out);
    }
    ane_build_release(b, mark);
}

static void name_rows(struct ane_builder *b, const char *name, enum ane_tensor_role role, const struct ane_view *view,
                      uint64_t rows, double range)
{
    struct ane_kernel_tensor *const t = ane_build_tensor(b, name, role, view, -range, range);
    ane_tensor_axis(t, rows, ANE_HALF_BYTES);
    ane_tensor_axis(t, view->channels, view->plane);
}

static float *add_constant(struct ane_builder *b, const char *name, uint32_t count, double low, double high)
{
    ane_tensor_axis(ane_build_tensor(b, name, ANE_TENSOR_CONSTANT, NULL, low, high), count, 0);
    return ane_build_constant(b, name, count, low, high);
}

void ane_build_channel_norm(struct ane_builder *b, const struct ane_channel_norm *norm)
{
    struct state s = {.norm = norm};
    const struct ane_fold fold = ane_fold_elements(norm->rows, row_most(b, norm->columns), 1);
    const struct ane_view x = ane_build_input(b, "x", 1, norm->columns, fold.height, fold.width);
    name_rows(b, "x", ANE_TENSOR_INPUT, &x, norm->rows, 2);
    if (norm->affine)
        s.gamma = add_constant(b, "gamma", norm->columns, 0.5, 1.5);
    if (norm->affine && norm->centred)
        s.beta = add_constant(b, "beta", norm->columns, -1, 1);
    const struct ane_view out = ane_build_output(b, "out", 1, norm->columns, fold.height, fold.width);
    name_rows(b, "out", ANE_TENSOR_OUTPUT, &out, norm->rows, 0);
    if (!choose_weights(&s))
        ane_build_fail(b, "out of memory");
    for (unsigned i = 0; i < fold.parts && !b->failed; i++) {
        const struct ane_view from = ane_fold_view(&fold, i, x), to = ane_fold_view(&fold, i, out);
        for (uint32_t row = 0; row < from.height && !b->failed; row++)
            write_row(b, &s, ane_view_rows(from, row, 1), ane_view_rows(to, row, 1));
    }
    free(s.weight);
    free(s.gamma);
    free(s.beta);
    snprintf(b->kernel->variant, sizeof b->kernel->variant, "over channels, pixels %ux%u", (unsigned)fold.height,
             (unsigned)fold.width);
}
