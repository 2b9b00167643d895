/* 8x8 matrices distributed over a simdgroup: each lane holds two elements of one row.
 *
 * Lane l holds row R(l) and columns 2P(l), 2P(l) + 1 of every operand of simd_matrix_fmadd (philipturner,
 * simdgroup_matrix_internals.hpp): R = 4 * bit 4 + bits 1..2, P = 2 * bit 3 + bit 0. Rows of A belong to rows of the result and
 * columns of B to its columns, in any order that the program chooses; columns of A and rows of B belong together in the same way.
 */
#ifndef ORCHARD_UNITS_GPU_KERNELS_GPU_MATRIX_H
#define ORCHARD_UNITS_GPU_KERNELS_GPU_MATRIX_H

#include "units/gpu/kernels/gpu_emit.h"

/* The bits of the lane number in which lanes of one row differ. */
#define GPU_MATRIX_ROW_LANES 9U

/* row = R, pair = P of each lane. */
void gpu_matrix_lane(struct gpu_emit *e, unsigned row, unsigned pair);
/* Two consecutive elements: float32 words or halves, from half index `half` on. */
const char *gpu_matrix_operand(struct gpu_emit *e, bool halves, unsigned half);
/* acc += a * b; acc: first of two registers. */
void gpu_matrix_fmadd(struct gpu_emit *e, unsigned acc, const char *a, const char *b);

#endif
