/* Products of matrices on the AMX block in f32: sixteen variables at a time, which are all of Z. */
#ifndef ORCHARD_UNITS_AMX_KERNELS_NATIVE_LINE_OUTER_H
#define ORCHARD_UNITS_AMX_KERNELS_NATIVE_LINE_OUTER_H

#include "units/amx/kernels/native/line.h"

enum { OUTER = 16 };

/* Variables 0 to 15 += or, in the first step, = products of 64 numbers of a row and 16 of a column. Two steps take turns in X. */
LINE_INLINE void outer_step(const float *row, const float *column, unsigned turn, uint64_t flags)
{
    AMX_ISSUE(NULL, AMXI_LDY, line_address(column) | AMX_REG(turn));
    FOUR_ROWS AMX_ISSUE(NULL, AMXI_LDX, line_address(row + LINE * i) | AMX_REG(LINE_ROWS * turn + i));
    FOUR_ROWS AMX_ISSUE(NULL, AMXI_FMA32, AMX_XOFF(64 * (LINE_ROWS * turn + i)) | AMX_YOFF(64 * turn) | AMX_ZROW(i) | flags);
}

/* Variable i = the sum over `depth` steps of row[step][.] column[step][i]. */
static inline void line_outer(const float *row, const float *column, int64_t depth)
{
    int64_t d = 1;
    outer_step(row, column, 0, AMX_SKIP_Z);
    for (; d + 2 <= depth; d += 2) {
        outer_step(row + d * VARIABLE, column + d * OUTER, 1, 0);
        outer_step(row + (d + 1) * VARIABLE, column + (d + 1) * OUTER, 0, 0);
    }
    if (d < depth)
        outer_step(row + d * VARIABLE, column + d * OUTER, 1, 0);
}

#endif
