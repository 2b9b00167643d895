#include "units/amx/amx_core_state.h"

#include <immintrin.h>

#define HAVE_QUEUE_FOUR
/* Four operands in one vector: shapes, slots (an 8-entry table is one register) and accumulators at once. */
static inline __attribute__((always_inline)) bool queue_four_operands(struct amx_core *core, const struct amx_shape *shape,
                                                                      const uint64_t *operand)
{
    const __m256i v = _mm256_loadu_si256((const __m256i_u *)operand);
    const __m256i fixed = _mm256_and_si256(v, _mm256_set1_epi64x((int64_t)shape->fixed_bits));
    if (_mm256_cmpneq_epi64_mask(fixed, _mm256_set1_epi64x((int64_t)shape->operand)))
        return false;
    const __m512i x_index = _mm512_castsi256_si512(_mm256_srli_epi64(v, 16)); /* the low three bits count */
    const __m512i y_index = _mm512_castsi256_si512(_mm256_srli_epi64(v, 6));
    const __m512i x = _mm512_permutexvar_epi64(x_index, _mm512_loadu_si512(core->x.slot));
    const __m512i y = _mm512_permutexvar_epi64(y_index, _mm512_loadu_si512(core->y.slot));
    const __m512i even = _mm512_unpacklo_epi64(x, y), odd = _mm512_unpackhi_epi64(x, y);
    struct amx_pair pairs[4];
    _mm_storeu_si128((__m128i_u *)&pairs[0], _mm512_castsi512_si128(even));
    _mm_storeu_si128((__m128i_u *)&pairs[1], _mm512_castsi512_si128(odd));
    _mm_storeu_si128((__m128i_u *)&pairs[2], _mm512_extracti32x4_epi32(even, 1));
    _mm_storeu_si128((__m128i_u *)&pairs[3], _mm512_extracti32x4_epi32(odd, 1));
    const __m256i mask = _mm256_set1_epi64x((int64_t)shape->accumulator_mask);
    uint64_t accumulators[4];
    _mm256_storeu_si256((__m256i_u *)accumulators, _mm256_and_si256(_mm256_srli_epi64(v, 20), mask));
#pragma GCC unroll 4
    for (unsigned k = 0; k < 4; k++)
        amx_queue_add(core, accumulators[k], pairs[k]);
    return true;
}

#define LOOP_ANY(v) _mm512_test_epi64_mask((__m512i)(v), (__m512i)(v))
#include "units/amx/amx_core_dispatch.h"

const struct amx_dispatch amx_dispatch_avx512 = DISPATCH_TABLE;
