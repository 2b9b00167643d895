#include <immintrin.h>
#include <stdint.h>
#include <string.h>

#define VEC_BYTES  32
#define VEC_GROUP  8 /* of 16 registers; eight chains cover the latency of the two FMA units */
#define VEC_INLINE static inline __attribute__((always_inline))

typedef __m256i vec;

VEC_INLINE vec vec_load(const uint8_t *from)
{
    return _mm256_loadu_si256((const __m256i_u *)from);
}

VEC_INLINE void vec_store(uint8_t *to, vec v)
{
    _mm256_storeu_si256((__m256i_u *)to, v);
}

VEC_INLINE vec vec_broadcast32(const uint8_t *lane)
{
    int32_t value;
    memcpy(&value, lane, sizeof value);
    return _mm256_set1_epi32(value);
}

VEC_INLINE vec vec_broadcast64(const uint8_t *lane)
{
    int64_t value;
    memcpy(&value, lane, sizeof value);
    return _mm256_set1_epi64x(value);
}

VEC_INLINE vec vec_fma32(vec x, vec y, vec z)
{
    return _mm256_castps_si256(_mm256_fmadd_ps(_mm256_castsi256_ps(x), _mm256_castsi256_ps(y), _mm256_castsi256_ps(z)));
}

VEC_INLINE vec vec_fma64(vec x, vec y, vec z)
{
    return _mm256_castpd_si256(_mm256_fmadd_pd(_mm256_castsi256_pd(x), _mm256_castsi256_pd(y), _mm256_castsi256_pd(z)));
}

VEC_INLINE unsigned vec_any_nan32(vec a, vec b)
{
    const __m256 nan = _mm256_cmp_ps(_mm256_castsi256_ps(a), _mm256_castsi256_ps(b), _CMP_UNORD_Q);
    return (unsigned)_mm256_movemask_ps(nan);
}

VEC_INLINE unsigned vec_any_nan64(vec a, vec b)
{
    const __m256d nan = _mm256_cmp_pd(_mm256_castsi256_pd(a), _mm256_castsi256_pd(b), _CMP_UNORD_Q);
    return (unsigned)_mm256_movemask_pd(nan);
}

VEC_INLINE vec vec_nan32(vec z)
{
    const __m256 v = _mm256_castsi256_ps(z);
    const __m256 nan = _mm256_cmp_ps(v, v, _CMP_UNORD_Q);
    return _mm256_castps_si256(_mm256_blendv_ps(v, _mm256_castsi256_ps(_mm256_set1_epi32(0x7fc00000)), nan));
}

VEC_INLINE vec vec_nan64(vec z)
{
    const __m256d v = _mm256_castsi256_pd(z);
    const __m256d nan = _mm256_cmp_pd(v, v, _CMP_UNORD_Q);
    const __m256i fill = _mm256_set1_epi64x(INT64_C(0x7ff8000000000000));
    return _mm256_castpd_si256(_mm256_blendv_pd(v, _mm256_castsi256_pd(fill), nan));
}

VEC_INLINE vec vec_mul16(vec x, vec y)
{
    return _mm256_mullo_epi16(x, y);
}

VEC_INLINE vec vec_add16(vec x, vec y)
{
    return _mm256_add_epi16(x, y);
}

VEC_INLINE vec vec_madd16(vec x, vec y)
{
    return _mm256_madd_epi16(x, y);
}

VEC_INLINE vec vec_add32(vec x, vec y)
{
    return _mm256_add_epi32(x, y);
}

/* x*y + z of f16 values held in f32, rounded once to f16. The product is exact in f32 (22 bits); the sum's error is known exactly
 * (two-sum) and makes its last bit odd before the rounding to f16. */
#define HAVE_FMA_F16_32
VEC_INLINE vec vec_fma_f16_32(vec x, vec y, vec z)
{
    const __m256 a = _mm256_mul_ps(_mm256_castsi256_ps(x), _mm256_castsi256_ps(y));
    const __m256 b = _mm256_castsi256_ps(z);
    const __m256 sum = _mm256_add_ps(a, b);
    const __m256 b_part = _mm256_sub_ps(sum, a);
    const __m256 lost = _mm256_add_ps(_mm256_sub_ps(a, _mm256_sub_ps(sum, b_part)), _mm256_sub_ps(b, b_part));
    const __m256i inexact = _mm256_castps_si256(_mm256_cmp_ps(lost, _mm256_setzero_ps(), _CMP_NEQ_OQ));
    const __m256i bits = _mm256_castps_si256(sum);
    const __m256i one = _mm256_set1_epi32(1);
    const __m256i even = _mm256_cmpeq_epi32(_mm256_and_si256(bits, one), _mm256_setzero_si256());
    /* +1 where the lost part points away from zero, -1 where it points toward zero. */
    const __m256i signs_differ = _mm256_srai_epi32(_mm256_xor_si256(bits, _mm256_castps_si256(lost)), 31);
    const __m256i nudge = _mm256_and_si256(_mm256_and_si256(inexact, even), _mm256_or_si256(signs_differ, one));
    const __m256 odd = _mm256_castsi256_ps(_mm256_add_epi32(bits, nudge));
    return _mm256_castps_si256(_mm256_cvtph_ps(_mm256_cvtps_ph(odd, _MM_FROUND_TO_NEAREST_INT)));
}

#include "units/amx/amx_kernel_kinds.h"

const struct amx_kernel_set amx_kernels_avx2 = KERNEL_SET("avx2", &amx_dispatch_avx2);
