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

#define HAVE_LEAST
static inline uint32_t vec_least(vu value, uint32_t lanes)
{
    const vu places = {1, 2, 4, 8, 16, 32, 64, 128};
    const __m256i off = (__m256i)(((lanes - (vu){0}) & places) == 0); /* all ones: larger than any lane that counts */
    const __m256i counted = _mm256_or_si256((__m256i)value, off);
    __m128i least = _mm_min_epu32(_mm256_castsi256_si128(counted), _mm256_extracti128_si256(counted, 1));
    least = _mm_min_epu32(least, _mm_shuffle_epi32(least, 0x4e));
    least = _mm_min_epu32(least, _mm_shuffle_epi32(least, 0xb1));
    return (uint32_t)_mm_cvtsi128_si32(least);
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

/* Lanes `index` (0..31) of four parts: one of eight by the low bits, then the part by bits 3 and 4, moved to the sign. */
#define HAVE_PICK
static inline vu vec_pick(const vu *from, vu index)
{
    __m256 of[4];
    _Pragma("GCC unroll 4") for (unsigned part = 0; part < 4; part++) of[part] =
        _mm256_permutevar8x32_ps((__m256)from[part], (__m256i)index);
    const __m256 bit3 = (__m256)(index << 28), bit4 = (__m256)(index << 27);
    return (vu)_mm256_blendv_ps(_mm256_blendv_ps(of[0], of[1], bit3), _mm256_blendv_ps(of[2], of[3], bit3), bit4);
}

/* What 8x8 matrices need: every even (or odd) lane twice; the k-th two lanes four times. */
#define HAVE_MATRIX_PARTS
static inline vu vec_twins(vu from, bool odd)
{
    return (vu)(odd ? _mm256_movehdup_ps((__m256)from) : _mm256_moveldup_ps((__m256)from));
}

static inline vu vec_fourth(vu from, unsigned k)
{
    const __m256d two = (__m256d)from;
    return (vu)(k == 0   ? _mm256_permute4x64_pd(two, 0x00)
                : k == 1 ? _mm256_permute4x64_pd(two, 0x55)
                : k == 2 ? _mm256_permute4x64_pd(two, 0xaa)
                         : _mm256_permute4x64_pd(two, 0xff));
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

static inline __m256 two_records(const uint8_t *low, const uint8_t *high)
{
    return _mm256_loadu2_m128((const float *)(const void *)high, (const float *)(const void *)low);
}

/* Records of four words (16 bytes) of all lanes: each record is one load, and words of a kind are brought together. */
#define HAVE_GATHER_RECORDS
static inline void vec_gather_four(const uint8_t *base, vu offset, vu *out)
{
    uint32_t at[VECTOR_BYTES / 4];
    __m256 lane[4], low[2], high[2]; /* lane i and lane i + 4 in the halves */
    memcpy(at, &offset, sizeof at);
    _Pragma("GCC unroll 4") for (unsigned i = 0; i < 4; i++) lane[i] = two_records(base + at[i], base + at[i + 4]);
    _Pragma("GCC unroll 2") for (unsigned i = 0; i < 2; i++)
    {
        low[i] = _mm256_unpacklo_ps(lane[2 * i], lane[2 * i + 1]);
        high[i] = _mm256_unpackhi_ps(lane[2 * i], lane[2 * i + 1]);
    }
    out[0] = (vu)_mm256_unpacklo_pd((__m256d)low[0], (__m256d)low[1]);
    out[1] = (vu)_mm256_unpackhi_pd((__m256d)low[0], (__m256d)low[1]);
    out[2] = (vu)_mm256_unpacklo_pd((__m256d)high[0], (__m256d)high[1]);
    out[3] = (vu)_mm256_unpackhi_pd((__m256d)high[0], (__m256d)high[1]);
}

static inline __m128 two_pairs(const uint8_t *low, const uint8_t *high)
{
    const __m128d first = _mm_load_sd((const double *)(const void *)low);
    return (__m128)_mm_loadh_pd(first, (const double *)(const void *)high);
}

/* The same of records of two words. */
static inline void vec_gather_two(const uint8_t *base, vu offset, vu *out)
{
    uint32_t at[VECTOR_BYTES / 4];
    memcpy(at, &offset, sizeof at);
    const __m256 a = _mm256_set_m128(two_pairs(base + at[4], base + at[5]), two_pairs(base + at[0], base + at[1]));
    const __m256 b = _mm256_set_m128(two_pairs(base + at[6], base + at[7]), two_pairs(base + at[2], base + at[3]));
    out[0] = (vu)_mm256_shuffle_ps(a, b, 0x88);
    out[1] = (vu)_mm256_shuffle_ps(a, b, 0xdd);
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
