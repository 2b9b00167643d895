#include "units/ane/kernels/ane_patches.h"

#include <stdlib.h>

enum { STEP_MAX = 3 /* strides have two bits */, LEVELS_MAX = 8, STRIDE_MAX = 64 };

/* Splits a stride into factors of 2 and 3; 0 when it has others. */
static unsigned factors_of(uint32_t stride, uint32_t factor[LEVELS_MAX])
{
    unsigned count = 0;
    for (uint32_t f = 2; f <= STEP_MAX; f++)
        for (; stride % f == 0 && count < LEVELS_MAX; stride /= f)
            factor[count++] = f;
    return stride == 1 ? count : 0;
}

bool ane_patches_can(const struct ane_conv *conv)
{
    uint32_t factor[LEVELS_MAX];
    return conv->stride_x > STEP_MAX && conv->stride_x <= STRIDE_MAX && conv->stride_x == conv->stride_y && !conv->pad_left &&
           !conv->pad_top && conv->kernel_width <= conv->stride_x && conv->kernel_height <= conv->stride_y && conv->groups == 1 &&
           !conv->depthwise && factors_of(conv->stride_x, factor) > 0;
}

/* Row r of the patches of channel c becomes channel c * rows + r. */
static struct ane_view rows_as_channels(struct ane_builder *b, const struct ane_conv *conv, struct ane_view x,
                                        struct ane_view out)
{
    const uint32_t rows = conv->kernel_height, reach = out.width * conv->stride_x;
    const struct ane_view all = ane_build_between(b, x.channels * rows, out.height, reach < x.width ? reach : x.width);
    for (uint32_t c = 0; c < x.channels && !b->failed; c++) {
        struct ane_view from = ane_view_channels(x, c, rows);
        from.height = out.height;
        from.width = all.width;
        from.plane = x.row;
        from.row = x.row * conv->stride_y;
        ane_build_copy(b, from, ane_view_channels(all, c * rows, rows));
    }
    return all;
}

/* Every factor-th column becomes a channel of its own: channel i becomes `factor` channels, each selected by a single 1. */
static struct ane_view columns_as_channels(struct ane_builder *b, uint32_t factor, struct ane_view x)
{
    const struct ane_view all = ane_build_between(b, x.channels * factor, x.height, (x.width + factor - 1) / factor);
    float *weight = calloc((size_t)all.channels * factor, sizeof *weight);
    for (size_t i = 0; weight && i < all.channels; i++)
        weight[i * factor + i % factor] = 1;
    const struct ane_conv pick = {.kernel_width = factor,
                                  .kernel_height = 1,
                                  .stride_x = factor,
                                  .stride_y = 1,
                                  .groups = x.channels,
                                  .weight = weight,
                                  .plain = true};
    if (!weight)
        ane_build_fail(b, "out of memory");
    ane_build_conv(b, &pick, x, all);
    free(weight);
    return all;
}

/* The column of the patch that the last digits of a channel stand for: the first level took its lowest part. */
static uint32_t column_of(uint32_t channel, const uint32_t *factor, unsigned levels)
{
    uint32_t digit[LEVELS_MAX], column = 0;
    for (unsigned i = levels; i-- > 0; channel /= factor[i])
        digit[i] = channel % factor[i];
    for (unsigned i = levels; i-- > 0;)
        column = column * factor[i] + digit[i];
    return column;
}

/* [out][channel, row][columns in the order of the channels]; columns beyond the kernel have weight 0. */
static float *reorder(const struct ane_conv *conv, uint32_t channels, uint32_t results, const uint32_t *factor, unsigned levels)
{
    const size_t lines = (size_t)results * channels * conv->kernel_height, stride = conv->stride_x;
    float *weight = calloc(lines * stride, sizeof *weight);
    for (size_t i = 0; weight && i < lines; i++)
        for (uint32_t j = 0; j < stride; j++) {
            const uint32_t column = column_of(j, factor, levels);
            if (column < conv->kernel_width)
                weight[i * stride + j] = conv->weight[i * conv->kernel_width + column];
        }
    return weight;
}

void ane_build_patches(struct ane_builder *b, const struct ane_conv *conv, int64_t activation, struct ane_view x,
                       struct ane_view out)
{
    const uint32_t mark = ane_build_mark(b);
    uint32_t factor[LEVELS_MAX];
    const unsigned levels = factors_of(conv->stride_x, factor);
    float *weight = b->failed ? NULL : reorder(conv, x.channels, out.channels, factor, levels);
    struct ane_conv rest = {.kernel_width = 1,
                            .kernel_height = 1,
                            .stride_x = 1,
                            .stride_y = 1,
                            .groups = 1,
                            .relu = conv->relu,
                            .weight = weight,
                            .bias = conv->bias,
                            .plain = conv->plain};
    if (!weight)
        ane_build_fail(b, "out of memory for weights");
    struct ane_view patches = rows_as_channels(b, conv, x, out);
    for (unsigned i = 0; i < levels && !b->failed; i++)
        patches = columns_as_channels(b, factor[i], patches);
    patches.width = out.width;
    ane_build_activated(b, &rest, activation, patches, out);
    free(weight);
    ane_build_release(b, mark);
}
