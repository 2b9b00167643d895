/* Handlers on AVX-512: 16 lanes a vector, denormals flushed by the host. */
#include "units/gpu/gpu_exec.h"
#include "units/gpu/gpu_vector_sets.h"

#include <immintrin.h>

#define VECTOR_BYTES 64
#define HOST_FLUSHES 1
typedef uint32_t vu __attribute__((vector_size(VECTOR_BYTES)));
typedef int32_t vi __attribute__((vector_size(VECTOR_BYTES)));
typedef float vf __attribute__((vector_size(VECTOR_BYTES)));

#include "units/gpu/gpu_vector_common.h"

static inline vu vec_select(uint32_t bits, vu yes, vu no)
{
    return (vu)_mm512_mask_mov_epi32((__m512i)no, (__mmask16)bits, (__m512i)yes);
}

static inline uint32_t vec_bits(vu lanes)
{
    return _mm512_movepi32_mask((__m512i)lanes);
}

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

/* Bytes at base + offset of active lanes, others 0; offsets below 2^31. */
static inline vu vec_gather(const uint8_t *base, vu offset, uint32_t active, unsigned item)
{
    if (item == 4)
        return (vu)_mm512_mask_i32gather_epi32(_mm512_setzero_si512(), (__mmask16)active, (__m512i)offset, base, 1);
    return gather_each(base, offset, active, item);
}

#include "units/gpu/gpu_vector_flush.h"

#include "units/gpu/gpu_vector_body.h"

const struct gpu_vector_set gpu_vectors_avx512 = VECTOR_SET("avx512");
