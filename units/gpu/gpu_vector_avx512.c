/* Handlers on AVX-512: 16 lanes per vector; the host flushes denormals. */
#include "units/gpu/gpu_exec.h"
#include "units/gpu/gpu_vector_sets.h"

#include <immintrin.h>

#define VECTOR_BYTES 64
#define HOST_FLUSHES 1
typedef uint32_t vu __attribute__((vector_size(VECTOR_BYTES)));
typedef int32_t vi __attribute__((vector_size(VECTOR_BYTES)));
typedef float vf __attribute__((vector_size(VECTOR_BYTES)));
typedef double vd __attribute__((vector_size(VECTOR_BYTES)));

static inline vu vec_select(uint32_t bits, vu yes, vu no)
{
    return (vu)_mm512_mask_mov_epi32((__m512i)no, (__mmask16)bits, (__m512i)yes);
}

static inline uint32_t vec_bits(vu lanes)
{
    return _mm512_movepi32_mask((__m512i)lanes);
}

/* Comparisons give mask registers. vec_fne is true on NaN. */
#define HAVE_COMPARE
#define COMPARE_INT(name, kind, predicate)                                                                                       \
    static inline uint32_t name(vu a, vu b)                                                                                      \
    {                                                                                                                            \
        return _mm512_cmp_##kind##_mask((__m512i)a, (__m512i)b, predicate);                                                      \
    }
#define COMPARE_FLOAT(name, predicate)                                                                                           \
    static inline uint32_t name(vf a, vf b)                                                                                      \
    {                                                                                                                            \
        return _mm512_cmp_ps_mask((__m512)a, (__m512)b, predicate);                                                              \
    }
COMPARE_INT(vec_eq, epu32, _MM_CMPINT_EQ)
COMPARE_INT(vec_ne, epu32, _MM_CMPINT_NE)
COMPARE_INT(vec_lt, epu32, _MM_CMPINT_LT)
COMPARE_INT(vec_gt, epu32, _MM_CMPINT_NLE)
static inline uint32_t vec_lt_signed(vi a, vi b)
{
    return _mm512_cmp_epi32_mask((__m512i)a, (__m512i)b, _MM_CMPINT_LT);
}
static inline uint32_t vec_gt_signed(vi a, vi b)
{
    return _mm512_cmp_epi32_mask((__m512i)a, (__m512i)b, _MM_CMPINT_NLE);
}
COMPARE_FLOAT(vec_feq, _CMP_EQ_OQ)
COMPARE_FLOAT(vec_flt, _CMP_LT_OQ)
COMPARE_FLOAT(vec_fgt, _CMP_GT_OQ)
COMPARE_FLOAT(vec_fle, _CMP_LE_OQ)
COMPARE_FLOAT(vec_fge, _CMP_GE_OQ)
COMPARE_FLOAT(vec_fne, _CMP_NEQ_UQ)

#define HAVE_MIN
static inline vu vec_min(vu a, vu b)
{
    return (vu)_mm512_min_epu32((__m512i)a, (__m512i)b);
}

#define HAVE_LEAST
static inline uint32_t vec_least(vu value, uint32_t lanes)
{
    return _mm512_mask_reduce_min_epu32((__mmask16)lanes, (__m512i)value);
}

#include "units/gpu/gpu_vector_common.h"

static inline vf vec_fma(vf a, vf b, vf c)
{
    return (vf)_mm512_fmadd_ps((__m512)a, (__m512)b, (__m512)c);
}

static inline vf vec_from_half(vu half)
{
    return (vf)_mm512_cvtph_ps(_mm512_cvtepi32_epi16((__m512i)half));
}

static inline vu vec_to_half(vf value)
{
    return (vu)_mm512_cvtepu16_epi32(_mm512_cvtps_ph((__m512)value, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

/* Rounding to whole numbers. */
#define ROUND(name, way)                                                                                                         \
    static inline vf name(vf x)                                                                                                  \
    {                                                                                                                            \
        return (vf)_mm512_roundscale_ps((__m512)x, (way) | _MM_FROUND_NO_EXC);                                                   \
    }
ROUND(vec_floor, _MM_FROUND_TO_NEG_INF)
ROUND(vec_ceil, _MM_FROUND_TO_POS_INF)
ROUND(vec_trunc, _MM_FROUND_TO_ZERO)
ROUND(vec_rint, _MM_FROUND_TO_NEAREST_INT)
#undef ROUND

/* Converts the first and the last lanes to doubles, and back. */
static inline vd vec_wide_low(vf x)
{
    return (vd)_mm512_cvtps_pd(_mm512_castps512_ps256((__m512)x));
}

static inline vd vec_wide_high(vf x)
{
    return (vd)_mm512_cvtps_pd(_mm512_extractf32x8_ps((__m512)x, 1));
}

static inline vf vec_narrow(vd low, vd high)
{
    return (vf)_mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps((__m512d)low)), _mm512_cvtpd_ps((__m512d)high), 1);
}

static inline vd vec_wide_fma(vd a, vd b, vd c)
{
    return (vd)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c);
}

/* Accurate to some 2^-50: from 14 bits by one step of third and one of second order. */
static inline vd vec_inverse_root(vd x)
{
    vd y = (vd)_mm512_rsqrt14_pd((__m512d)x);
    const vd first = vec_wide_fma(-(x * y), y, 1.0 - (vd){0});
    y = vec_wide_fma(y * first, 0.375 * first + 0.5, y);
    const vd second = vec_wide_fma(-(x * y), y, 1.0 - (vd){0});
    return vec_wide_fma(y * second, 0.5 - (vd){0}, y);
}

/* Bytes at base + offset of active lanes, 0 for others; offsets are below 2^31. */
static inline vu vec_gather(const uint8_t *base, vu offset, uint32_t active, unsigned item)
{
    if (item == 4)
        return (vu)_mm512_mask_i32gather_epi32(_mm512_setzero_si512(), (__mmask16)active, (__m512i)offset, base, 1);
    return gather_each(base, offset, active, item);
}

/* Loads contiguous words of active lanes only. */
static inline vu vec_load_active(const uint8_t *from, uint32_t active)
{
    return (vu)_mm512_maskz_loadu_epi32((__mmask16)active, from);
}

/* Lane i of the result is lane index[i] & 31 of the two halves. */
#define HAVE_PICK
static inline vu vec_pick(const vu *from, vu index)
{
    return (vu)_mm512_permutex2var_epi32((__m512i)from[0], (__m512i)index, (__m512i)from[1]);
}

#include "units/gpu/gpu_vector_flush.h"

#include "units/gpu/gpu_vector_body.h"

const struct gpu_vector_set gpu_vectors_avx512 = VECTOR_SET("avx512");
