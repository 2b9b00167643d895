/* Operators on the rows of a matrix: rows along the width, in blocks that a reduction can take and the tile memory can hold. */
#ifndef ORCHARD_UNITS_ANE_KERNELS_ANE_ROWS_H
#define ORCHARD_UNITS_ANE_KERNELS_ANE_ROWS_H

#include "units/ane/kernels/ane_build.h"

struct ane_rows {
    uint64_t rows, columns;
    uint32_t height, channels;  /* of the buffer: rows = channels x height */
    uint32_t blocks, per_block; /* the last block may have fewer rows */
};
struct ane_rows ane_rows_place(struct ane_builder *b, uint64_t rows, uint64_t columns);
/* Buffers of rows x columns, named as tensors. */
struct ane_view ane_rows_input(struct ane_builder *b, const struct ane_rows *r, const char *name, double low, double high);
struct ane_view ane_rows_output(struct ane_builder *b, const struct ane_rows *r, const char *name);
/* The rows of block `index`, in one channel. */
struct ane_view ane_rows_block(const struct ane_rows *r, struct ane_view all, uint32_t index);

/* A column of one value per row (ane_build_column), as the operand of a view whose rows are channels or lie along the height. */
struct ane_view ane_column_for(const struct ane_view *view, struct ane_view column);

/* e^(x - max) of each row (at most 1) and 1 / their sum: softmax without its last step. `beside` bytes of the tile memory stay
 * free. */
void ane_build_softmax_parts(struct ane_builder *b, uint64_t beside, struct ane_view x, struct ane_view powers,
                             struct ane_view factor);
/* Softmax of each row of a view of evenly spaced rows, or its logarithm. */
void ane_build_softmax(struct ane_builder *b, bool log, struct ane_view x, struct ane_view result);

#endif
