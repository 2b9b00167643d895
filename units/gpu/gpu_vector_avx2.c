/* Handlers on AVX2, FMA and F16C: 8 lanes a vector, denormals flushed by the host. */
#include "units/gpu/gpu_exec.h"
#include "units/gpu/gpu_vector_sets.h"

#include <immintrin.h>

#define VECTOR_BYTES 32
#define HOST_FLUSHES 1
typedef uint32_t vu __attribute__((vector_size(VECTOR_BYTES)));
typedef int32_t vi __attribute__((vector_size(VECTOR_BYTES)));
typedef float vf __attribute__((vector_size(VECTOR_BYTES)));

static inline uint32_t vec_bits(vu lanes)
{
    return (uint32_t)_mm256_movemask_ps((__m256)lanes);
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

/* Bytes at base + offset of active lanes, others 0; offsets below 2^31. */
static inline vu vec_gather(const uint8_t *base, vu offset, uint32_t active, unsigned item)
{
    if (item != 4)
        return gather_each(base, offset, active, item);
    const vu on = vec_select(active, (vu){0} - 1, (vu){0});
    return (vu)_mm256_mask_i32gather_epi32(_mm256_setzero_si256(), (const int *)(const void *)base, (__m256i)offset, (__m256i)on, 1);
}

/* Words side by side, active lanes only. */
static inline vu vec_load_active(const uint8_t *from, uint32_t active)
{
    const vu on = vec_select(active, (vu){0} - 1, (vu){0});
    return (vu)_mm256_maskload_epi32((const int *)(const void *)from, (__m256i)on);
}

#include "units/gpu/gpu_vector_flush.h"

#include "units/gpu/gpu_vector_body.h"

const struct gpu_vector_set gpu_vectors_avx2 = VECTOR_SET("avx2");
