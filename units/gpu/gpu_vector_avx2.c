/* Handlers on AVX2, FMA and F16C: 8 lanes per vector; the host flushes denormals. */
#include "units/gpu/gpu_exec.h"
#include "units/gpu/gpu_vector_sets.h"

#include <immintrin.h>

#define VECTOR_BYTES 32
#define HOST_FLUSHES 1
typedef uint32_t vu __attribute__((vector_size(VECTOR_BYTES)));
typedef int32_t vi __attribute__((vector_size(VECTOR_BYTES)));
typedef float vf __attribute__((vector_size(VECTOR_BYTES)));
typedef double vd __attribute__((vector_size(VECTOR_BYTES)));

static inline uint32_t vec_bits(vu lanes)
{
    return (uint32_t)_mm256_movemask_ps((__m256)lanes);
}

#define HAVE_MIN
static inline vu vec_min(vu a, vu b)
{
    return (vu)_mm256_min_epu32((__m256i)a, (__m256i)b);
}

#include "units/gpu/gpu_vector_common.h"

static inline vu vec_select(uint32_t bits, vu yes, vu no)
{
    const vu places = {1, 2, 4, 8, 16, 32, 64, 128};
    return vec_choose((vu)(((bits - (vu){0}) & places) != 0), yes, no);
}

static inline vf vec_fma(vf a, vf b, vf c)
{
    return (vf)_mm256_fmadd_ps((__m256)a, (__m256)b, (__m256)c);
}

static inline vf vec_from_half(vu half)
{
    const __m128i low = _mm256_castsi256_si128((__m256i)half), high = _mm256_extracti128_si256((__m256i)half, 1);
    return (vf)_mm256_cvtph_ps(_mm_packus_epi32(low, high));
}

static inline vu vec_to_half(vf value)
{
    return (vu)_mm256_cvtepu16_epi32(_mm256_cvtps_ph((__m256)value, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC));
}

/* Rounding to whole numbers. */
#define ROUND(name, way)                                                                                                         \
    static inline vf name(vf x)                                                                                                  \
    {                                                                                                                            \
        return (vf)_mm256_round_ps((__m256)x, (way) | _MM_FROUND_NO_EXC);                                                        \
    }
ROUND(vec_floor, _MM_FROUND_TO_NEG_INF)
ROUND(vec_ceil, _MM_FROUND_TO_POS_INF)
ROUND(vec_trunc, _MM_FROUND_TO_ZERO)
ROUND(vec_rint, _MM_FROUND_TO_NEAREST_INT)
#undef ROUND

/* Converts the first and the last lanes to doubles, and back. */
static inline vd vec_wide_low(vf x)
{
    return (vd)_mm256_cvtps_pd(_mm256_castps256_ps128((__m256)x));
}

static inline vd vec_wide_high(vf x)
{
    return (vd)_mm256_cvtps_pd(_mm256_extractf128_ps((__m256)x, 1));
}

static inline vf vec_narrow(vd low, vd high)
{
    return (vf)_mm256_insertf128_ps(_mm256_castps128_ps256(_mm256_cvtpd_ps((__m256d)low)), _mm256_cvtpd_ps((__m256d)high), 1);
}

static inline vd vec_wide_fma(vd a, vd b, vd c)
{
    return (vd)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c);
}

static inline vd vec_inverse_root(vd x)
{
    return 1.0 / (vd)_mm256_sqrt_pd((__m256d)x);
}

/* Bytes at base + offset of active lanes, 0 for others; offsets are below 2^31. */
static inline vu vec_gather(const uint8_t *base, vu offset, uint32_t active, unsigned item)
{
    if (item != 4)
        return gather_each(base, offset, active, item);
    const vu on = vec_select(active, (vu){0} - 1, (vu){0});
    return (vu)_mm256_mask_i32gather_epi32(_mm256_setzero_si256(), (const int *)(const void *)base, (__m256i)offset, (__m256i)on,
                                           1);
}

/* Loads contiguous words of active lanes only. */
static inline vu vec_load_active(const uint8_t *from, uint32_t active)
{
    const vu on = vec_select(active, (vu){0} - 1, (vu){0});
    return (vu)_mm256_maskload_epi32((const int *)(const void *)from, (__m256i)on);
}

#include "units/gpu/gpu_vector_flush.h"

#include "units/gpu/gpu_vector_body.h"

const struct gpu_vector_set gpu_vectors_avx2 = VECTOR_SET("avx2");
