/* Host vector operations of the AVX-512 kernel files (see amx_kernel_outer.h). */
#ifndef ORCHARD_UNITS_AMX_AMX_KERNEL_VEC512_H
#define ORCHARD_UNITS_AMX_AMX_KERNEL_VEC512_H

#include <immintrin.h>
#include <stdint.h>
#include <string.h>

#define VEC_BYTES  64
#define VEC_GROUP  16 /* of 32 registers; the rest holds x and broadcast y lanes */
#define VEC_INLINE static inline __attribute__((always_inline))

typedef __m512i vec;

VEC_INLINE vec vec_load(const uint8_t *from)
{
    return _mm512_loadu_si512(from);
}

VEC_INLINE void vec_store(uint8_t *to, vec v)
{
    _mm512_storeu_si512(to, v);
}

VEC_INLINE vec vec_broadcast32(const uint8_t *lane)
{
    int32_t value;
    memcpy(&value, lane, sizeof value);
    return _mm512_set1_epi32(value);
}

VEC_INLINE vec vec_broadcast64(const uint8_t *lane)
{
    int64_t value;
    memcpy(&value, lane, sizeof value);
    return _mm512_set1_epi64(value);
}

/* z += x*y in place. Intrinsics are avoided here: gcc 12 lets the sum land in y's register and then copies every accumulator
 * back, which costs more issue slots than the arithmetic. */
VEC_INLINE vec vec_fma32(vec x, vec y, vec z)
{
    __asm__("vfmadd231ps %2, %1, %0" : "+v"(z) : "v"(x), "v"(y));
    return z;
}

VEC_INLINE vec vec_fma64(vec x, vec y, vec z)
{
    __asm__("vfmadd231pd %2, %1, %0" : "+v"(z) : "v"(x), "v"(y));
    return z;
}

/* The same with y lanes broadcast by the load port. */
#define HAVE_FMA_LANE
struct lane64 {
    uint8_t bytes[8];
};
struct lane32 {
    uint8_t bytes[4];
};
VEC_INLINE vec vec_fma32_lane(vec x, const uint8_t *lane, vec z)
{
    __asm__("vfmadd231ps %2%{1to16%}, %1, %0" : "+v"(z) : "v"(x), "m"(*(const struct lane32 *)lane));
    return z;
}

VEC_INLINE vec vec_fma64_lane(vec x, const uint8_t *lane, vec z)
{
    __asm__("vfmadd231pd %2%{1to8%}, %1, %0" : "+v"(z) : "v"(x), "m"(*(const struct lane64 *)lane));
    return z;
}

VEC_INLINE unsigned vec_any_nan32(vec a, vec b)
{
    return _mm512_cmp_ps_mask(_mm512_castsi512_ps(a), _mm512_castsi512_ps(b), _CMP_UNORD_Q);
}

VEC_INLINE unsigned vec_any_nan64(vec a, vec b)
{
    return _mm512_cmp_pd_mask(_mm512_castsi512_pd(a), _mm512_castsi512_pd(b), _CMP_UNORD_Q);
}

VEC_INLINE vec vec_nan32(vec z)
{
    const __mmask16 nan = _mm512_cmp_ps_mask(_mm512_castsi512_ps(z), _mm512_castsi512_ps(z), _CMP_UNORD_Q);
    return _mm512_mask_mov_epi32(z, nan, _mm512_set1_epi32(0x7fc00000));
}

VEC_INLINE vec vec_nan64(vec z)
{
    const __mmask8 nan = _mm512_cmp_pd_mask(_mm512_castsi512_pd(z), _mm512_castsi512_pd(z), _CMP_UNORD_Q);
    return _mm512_mask_mov_epi64(z, nan, _mm512_set1_epi64(INT64_C(0x7ff8000000000000)));
}

VEC_INLINE vec vec_mul16(vec x, vec y)
{
    return _mm512_mullo_epi16(x, y);
}

VEC_INLINE vec vec_add16(vec x, vec y)
{
    return _mm512_add_epi16(x, y);
}

VEC_INLINE vec vec_madd16(vec x, vec y)
{
    return _mm512_madd_epi16(x, y);
}

VEC_INLINE vec vec_add32(vec x, vec y)
{
    return _mm512_add_epi32(x, y);
}

/* x*y + z rounded to odd: where the results toward -inf and +inf differ, the one with the odd last bit is taken. An exact zero
 * sum of opposite signs differs in sign only and compares equal; the +0 of rounding toward +inf is the right one. NaN operands of
 * the short formats have even last bits, so NaN results pass unchanged. */
VEC_INLINE __m512i vec_fma_odd(vec x, vec y, vec z)
{
    const __m512 a = _mm512_castsi512_ps(x), b = _mm512_castsi512_ps(y), c = _mm512_castsi512_ps(z);
    const __m512 down = _mm512_fmadd_round_ps(a, b, c, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
    const __m512 up = _mm512_fmadd_round_ps(a, b, c, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
    const __mmask16 inexact = _mm512_cmp_ps_mask(down, up, _CMP_NEQ_UQ);
    const __m512i down_bits = _mm512_castps_si512(down);
    const __mmask16 take_down = _mm512_mask_test_epi32_mask(inexact, down_bits, _mm512_set1_epi32(1));
    return _mm512_mask_mov_epi32(_mm512_castps_si512(up), take_down, down_bits);
}

/* Rounds to bf16, nearest even, kept as f32. NaNs here have an empty low half and stay NaN. */
#define HAVE_FMA_BF16_32
VEC_INLINE vec vec_fma_bf16_32(vec x, vec y, vec z)
{
    const __m512i odd = vec_fma_odd(x, y, z);
    const __m512i last = _mm512_and_si512(_mm512_srli_epi32(odd, 16), _mm512_set1_epi32(1));
    const __m512i sum = _mm512_add_epi32(_mm512_add_epi32(odd, _mm512_set1_epi32(0x7fff)), last);
    return _mm512_and_si512(sum, _mm512_set1_epi32((int)0xffff0000));
}

/* Rounds to f16, nearest even, kept as f32. */
#define HAVE_FMA_F16_32
VEC_INLINE vec vec_fma_f16_32(vec x, vec y, vec z)
{
    const __m512 odd = _mm512_castsi512_ps(vec_fma_odd(x, y, z));
    const __m256i half = _mm512_cvtps_ph(odd, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    return _mm512_castps_si512(_mm512_cvtph_ps(half));
}

#define WIDEN_F16(v)  ((u32x16)_mm512_cvtph_ps(_mm512_cvtepi32_epi16((__m512i)(v))))
#define NARROW_F16(v) ((u32x16)_mm512_cvtepu16_epi32(_mm512_cvtps_ph((__m512)(v), _MM_FROUND_TO_NEAREST_INT)))

#endif
