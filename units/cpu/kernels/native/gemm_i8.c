/* c = op(a) * op(b) + beta * c with signed bytes and 32-bit sums, by dot products of four bytes; otherwise as gemm.c. */
#include <stdint.h>

typedef int8_t operand, packed;
typedef int32_t sum, result;
enum { GROUP = 4, COLUMNS = 12 };
#define PACK     neon_gemm_pack_i8
#define GEMM     neon_gemm_i8
#define run_tile neon_tile_i8

static inline void pack(int8_t *to, const int8_t *from, int64_t across, int64_t along, int64_t used, int width, int64_t k)
{
    for (int64_t l = 0; l < k; l += GROUP)
        for (int i = 0; i < width; i++, to += GROUP) {
            const int8_t *const at = from + i * across + l * along;
            if (along == 1 && i < used && l + GROUP <= k) {
                __builtin_memcpy(to, at, GROUP);
            } else {
                for (int64_t d = 0; d < GROUP; d++)
                    to[d] = i < used && l + d < k ? at[d * along] : 0;
            }
        }
}

#include "units/cpu/kernels/native/gemm_drive.h"

static void write_tile(const struct gemm *g, int32_t *c, int64_t rows, int64_t columns, const int32_t *tile)
{
    const bool adds = g->beta != 0;
    for (int64_t i = 0; i < rows; i++, c += g->n, tile += COLUMNS)
        for (int64_t j = 0; j < columns; j++)
            c[j] = (int32_t)((uint32_t)tile[j] + (adds ? (uint32_t)c[j] : 0));
}
