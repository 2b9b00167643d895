/* Steps of normalisations that several operators share. */
#ifndef ORCHARD_UNITS_ANE_KERNELS_ANE_NORM_H
#define ORCHARD_UNITS_ANE_KERNELS_ANE_NORM_H

#include "units/ane/kernels/ane_rows.h"

/* One value per row: scale * sum of squares + bias. Squares are fp16: rows beyond 255 become infinite. */
void ane_build_square_sum(struct ane_builder *b, float scale, float bias, struct ane_view x, struct ane_view column);
/* 1 / sqrt of a column, from a table. */
void ane_build_column_rsqrt(struct ane_builder *b, struct ane_view column, struct ane_view result);
/* x * column: one factor per row. */
void ane_build_row_scale(struct ane_builder *b, struct ane_view x, struct ane_view column, struct ane_view result);
/* x - column. */
void ane_build_row_shift(struct ane_builder *b, struct ane_view x, struct ane_view column, struct ane_view result);

#endif
