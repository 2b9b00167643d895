/* Tiles of multiply-adds on AVX2. Sums stay in registers, because the number of columns is a constant in each copy of a loop. */
#include "units/cpu/cpu_exec_loop.h"

#include <immintrin.h>
#include <string.h>

#define ALWAYS static inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 4")

enum { COLUMNS = CPU_TILE_COLUMNS };

typedef union cpu_vec tile_sums[CPU_TILE_ROWS][CPU_TILE_COLUMNS];

ALWAYS void next_lap(const uint8_t **at, const struct cpu_loop_source *vector, unsigned columns)
{
    UNROLL for (unsigned c = 0; c < columns; c++) at[c] += vector[c].step;
}

ALWAYS __m256i two(const void *low, const void *high)
{
    return _mm256_loadu2_m128i(high, low);
}

/* --- floats: two columns share a host vector --- */

ALWAYS void tile_f32(uint64_t laps, struct cpu_loop_source elements, const struct cpu_loop_source *vector, unsigned columns,
                     tile_sums sum)
{
    const unsigned pairs = columns / 2, last = columns - 1;
    const bool odd = columns % 2 != 0;
    const uint8_t *at[COLUMNS];
    __m256 pair[4][COLUMNS / 2];
    __m128 single[4];
    UNROLL for (unsigned c = 0; c < columns; c++) at[c] = vector[c].at;
    UNROLL for (unsigned r = 0; r < 4; r++)
    {
        UNROLL for (unsigned p = 0; p < pairs; p++) pair[r][p] = _mm256_castsi256_ps(two(&sum[r][2 * p], &sum[r][2 * p + 1]));
        single[r] = _mm_loadu_ps(sum[r][last].f32);
    }
    for (; laps > 0; laps--) {
        __m256 element[4];
        UNROLL for (unsigned r = 0; r < 4; r++) element[r] =
            _mm256_broadcast_ss((const float *)(const void *)(elements.at + 4 * r));
        UNROLL for (unsigned p = 0; p < pairs; p++)
        {
            const __m256 both = _mm256_castsi256_ps(two(at[2 * p], at[2 * p + 1]));
            UNROLL for (unsigned r = 0; r < 4; r++) pair[r][p] = _mm256_fmadd_ps(both, element[r], pair[r][p]);
        }
        UNROLL for (unsigned r = 0; odd && r < 4; r++)
        {
            const __m128 one = _mm_loadu_ps((const float *)(const void *)at[last]);
            single[r] = _mm_fmadd_ps(one, _mm256_castps256_ps128(element[r]), single[r]);
        }
        next_lap(at, vector, columns);
        elements.at += elements.step;
    }
    UNROLL for (unsigned r = 0; r < 4; r++)
    {
        UNROLL for (unsigned p = 0; p < pairs; p++) _mm256_storeu2_m128(sum[r][2 * p + 1].f32, sum[r][2 * p].f32, pair[r][p]);
        if (odd)
            _mm_storeu_ps(sum[r][last].f32, single[r]);
    }
}

/* --- doubles --- */

ALWAYS void tile_f64(uint64_t laps, struct cpu_loop_source elements, const struct cpu_loop_source *vector, unsigned columns,
                     tile_sums sum)
{
    const uint8_t *at[COLUMNS];
    __m128d all[2][COLUMNS];
    UNROLL for (unsigned c = 0; c < columns; c++)
    {
        at[c] = vector[c].at;
        UNROLL for (unsigned r = 0; r < 2; r++) all[r][c] = _mm_loadu_pd(sum[r][c].f64);
    }
    for (; laps > 0; laps--) {
        const __m128d first = _mm_loaddup_pd((const double *)(const void *)elements.at);
        const __m128d second = _mm_loaddup_pd((const double *)(const void *)(elements.at + 8));
        UNROLL for (unsigned c = 0; c < columns; c++)
        {
            const __m128d one = _mm_loadu_pd((const double *)(const void *)at[c]);
            all[0][c] = _mm_fmadd_pd(one, first, all[0][c]);
            all[1][c] = _mm_fmadd_pd(one, second, all[1][c]);
        }
        next_lap(at, vector, columns);
        elements.at += elements.step;
    }
    UNROLL for (unsigned c = 0; c < columns; c++) UNROLL for (unsigned r = 0; r < 2; r++) _mm_storeu_pd(sum[r][c].f64, all[r][c]);
}

/* --- bytes: sums of two products each, brought together behind the last lap. Sums wrap at 32 bits, so their order does not
 * matter --- */

ALWAYS __m256i wide_bytes(const uint8_t *at)
{
    return _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(const void *)at));
}

ALWAYS void tile_i8(uint64_t laps, struct cpu_loop_source elements, const struct cpu_loop_source *vector, unsigned columns,
                    tile_sums sum)
{
    const uint8_t *at[COLUMNS];
    __m256i half[4][COLUMNS];
    UNROLL for (unsigned c = 0; c < columns; c++)
    {
        at[c] = vector[c].at;
        UNROLL for (unsigned r = 0; r < 4; r++) half[r][c] = _mm256_setzero_si256();
    }
    for (; laps > 0; laps--) {
        __m256i column[COLUMNS];
        UNROLL for (unsigned c = 0; c < columns; c++) column[c] = wide_bytes(at[c]);
        UNROLL for (unsigned r = 0; r < 4; r++)
        {
            int32_t four;
            memcpy(&four, elements.at + 4 * r, sizeof four);
            const __m256i element = _mm256_cvtepi8_epi16(_mm_set1_epi32(four));
            UNROLL for (unsigned c = 0; c < columns; c++) half[r][c] =
                _mm256_add_epi32(half[r][c], _mm256_madd_epi16(column[c], element));
        }
        next_lap(at, vector, columns);
        elements.at += elements.step;
    }
    UNROLL for (unsigned c = 0; c < columns; c++) UNROLL for (unsigned r = 0; r < 4; r++)
    {
        const __m128i low = _mm256_castsi256_si128(half[r][c]), high = _mm256_extracti128_si256(half[r][c], 1);
        __m128i *to = (__m128i *)(void *)&sum[r][c];
        _mm_storeu_si128(to, _mm_add_epi32(_mm_loadu_si128(to), _mm_hadd_epi32(low, high)));
    }
}

#define BY_COLUMNS(name, tile)                                                                                                   \
    void name(uint64_t laps, struct cpu_loop_source elements, const struct cpu_loop_source vector[CPU_TILE_COLUMNS],             \
              unsigned columns, tile_sums sum)                                                                                   \
    {                                                                                                                            \
        switch (columns) {                                                                                                       \
        case 1: tile(laps, elements, vector, 1, sum); break;                                                                     \
        case 2: tile(laps, elements, vector, 2, sum); break;                                                                     \
        case 3: tile(laps, elements, vector, 3, sum); break;                                                                     \
        default: tile(laps, elements, vector, 4, sum); break;                                                                    \
        }                                                                                                                        \
    }
BY_COLUMNS(cpu_tile_f32_avx2, tile_f32)
BY_COLUMNS(cpu_tile_f64_avx2, tile_f64)
BY_COLUMNS(cpu_tile_i8_avx2, tile_i8)
