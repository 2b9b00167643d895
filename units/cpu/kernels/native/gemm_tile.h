/* The inside of products: tiles of 8 x 12 sums that stay in registers, fed by packed panels. */
#ifndef ORCHARD_UNITS_CPU_KERNELS_NATIVE_GEMM_TILE_H
#define ORCHARD_UNITS_CPU_KERNELS_NATIVE_GEMM_TILE_H

#include <arm_neon.h>
#include <stdbool.h>
#include <stdint.h>

/* ORDER: cpu_kernel_gemm.c has these numbers, too. */
enum { TILE_ROWS = 8, TILE_COLUMNS = 12, BLOCK_PANELS = 8, BLOCK_K = 256 };

/* tile (8 rows of 12) = [tile +] panel a (k groups of 8 numbers) * panel b (k groups of 12). `more`: the tile has sums already.
 */
void neon_tile_f32(int64_t k, const float *a, const float *b, float *tile, bool more);
/* The same with signed bytes: groups of 8 and 12 times four neighbours along k, `k` counts groups. */
void neon_tile_i8(int64_t k, const int8_t *a, const int8_t *b, int32_t *tile, bool more);
/* In double precision, 8 rows of 6. */
void neon_tile_f64(int64_t k, const double *a, const double *b, double *tile, bool more);
/* In half precision, 8 rows of 24. */
void neon_tile_f16(int64_t k, const float16_t *a, const float16_t *b, float16_t *tile, bool more);

#endif
