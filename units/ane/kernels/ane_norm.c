#include "units/ane/kernels/ane_norm.h"

#include <math.h>

void ane_build_square_sum(struct ane_builder *b, float scale, float bias, struct ane_view x, struct ane_view column)
{
    const struct ane_planar square = {.op = ANE_PE_MUL};
    const struct ane_view ring = ane_build_ring(b, x.channels, x.height, x.width);
    ane_build_planar(b, &square, x, &x, ring);
    ane_build_reduce(b, ANE_REDUCE_SUM, false, scale, bias, ring, column);
}

void ane_build_column_rsqrt(struct ane_builder *b, struct ane_view column, struct ane_view result)
{
    const struct ane_element rsqrt = {.table = "rsqrt", .alpha = (double)NAN};
    column.broadcast_width = result.broadcast_width = false;
    ane_build_element(b, &rsqrt, column, result);
}

void ane_build_row_scale(struct ane_builder *b, struct ane_view x, struct ane_view column, struct ane_view result)
{
    const struct ane_planar product = {.op = ANE_PE_MUL};
    const struct ane_view factor = ane_column_for(&x, column);
    if (x.place == ANE_PLACE_CHAIN)
        ane_build_planar(b, &product, x, &factor, result);
    else
        ane_build_planar(b, &product, factor, &x, result); /* like the last step of the public softmax */
}

void ane_build_row_shift(struct ane_builder *b, struct ane_view x, struct ane_view column, struct ane_view result)
{
    const struct ane_planar difference = {.op = ANE_PE_ADD, .subtract = true};
    const struct ane_view mean = ane_column_for(&x, column);
    ane_build_planar(b, &difference, x, &mean, result);
}
