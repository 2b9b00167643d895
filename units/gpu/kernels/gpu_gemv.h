/* Matrix times vector: what the programs for plain and for quantised matrices share. A simdgroup computes a few rows; its lanes
 * advance along them side by side, and their sums are added at the end. */
#ifndef ORCHARD_UNITS_GPU_KERNELS_GPU_GEMV_H
#define ORCHARD_UNITS_GPU_KERNELS_GPU_GEMV_H

#include "units/gpu/kernels/gpu_emit.h"

#define GPU_GEMV_ROWS_MAX   4
#define GPU_GEMV_SIMDGROUPS 4 /* of a threadgroup */

struct gpu_gemv {
    uint32_t m, n;
    enum gpu_type type;   /* of the matrix */
    enum gpu_type vector; /* of the vectors: the same, or f32; f32 when the matrix is quantised */
    unsigned rows;        /* of a simdgroup: 1, 2, 4 */
    unsigned a, x, y;     /* buffers */
};

/* row = first row of this simdgroup (may lie beyond the end), lane = number of the lane. */
void gpu_gemv_place(struct gpu_emit *e, const struct gpu_gemv *g, unsigned row, unsigned lane);
/* to = min(row + number, last row) */
void gpu_gemv_row(struct gpu_emit *e, const struct gpu_gemv *g, unsigned to, unsigned row, unsigned number);
/* Adds `sum` (one register per row) over the lanes and stores the rows that exist as `type`. */
void gpu_gemv_finish(struct gpu_emit *e, const struct gpu_gemv *g, enum gpu_type type, unsigned sum, unsigned row, unsigned lane);

/* gpu_gemv_six.c: q6_k alone; the other: all other blocks. */
bool gpu_gemv_build_six(const struct gpu_gemv *g, struct gpu_kernel *kernel, struct isa_error *error);
bool gpu_gemv_build_quantised(const struct gpu_gemv *g, struct gpu_kernel *kernel, struct isa_error *error);

#endif
