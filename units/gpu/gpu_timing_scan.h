/* Finds those of a scheduler's simdgroups that can issue: searches over its places, with the host's vectors where the including
 * file is compiled for them. Every variant gives the same answer. */
#ifndef ORCHARD_UNITS_GPU_GPU_TIMING_SCAN_H
#define ORCHARD_UNITS_GPU_GPU_TIMING_SCAN_H

#include "units/gpu/gpu_timing_state.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

_Static_assert(GPU_SIMDS_MAX == 32, "a place is a bit of 32");

/* The set of places whose simdgroup is ready at `now`. */
static inline uint32_t gpu_scan_ready(const struct gpu_scheduler *s, double now)
{
    uint32_t set = 0;
#if defined(__AVX512F__)
    const __m512d at = _mm512_set1_pd(now);
#pragma GCC unroll 4
    for (unsigned i = 0; i < GPU_SIMDS_MAX; i += 8)
        set |= (uint32_t)_mm512_cmp_pd_mask(_mm512_loadu_pd(&s->ready[i]), at, _CMP_LE_OQ) << i;
#elif defined(__AVX2__)
    const __m256d at = _mm256_set1_pd(now);
    for (unsigned i = 0; i < s->count; i += 4)
        set |= (uint32_t)_mm256_movemask_pd(_mm256_cmp_pd(_mm256_loadu_pd(&s->ready[i]), at, _CMP_LE_OQ)) << i;
#elif defined(__SSE2__)
    const __m128d at = _mm_set1_pd(now);
    for (unsigned i = 0; i < s->count; i += 2)
        set |= (uint32_t)_mm_movemask_pd(_mm_cmple_pd(_mm_loadu_pd(&s->ready[i]), at)) << i;
#else
    for (unsigned i = 0; i < s->count; i++)
        set |= (uint32_t)(s->ready[i] <= now) << i;
#endif
    return set;
}

/* The set of places that want one of the pipes of a set. */
static inline uint32_t gpu_scan_pipes(const struct gpu_scheduler *s, uint8_t pipe_bits)
{
#if defined(__AVX512BW__) && defined(__AVX512VL__)
    __m256i wanted;
    memcpy(&wanted, s->pipe_bit, sizeof wanted);
    return _mm256_test_epi8_mask(wanted, _mm256_set1_epi8((char)pipe_bits));
#elif defined(__AVX2__)
    __m256i wanted;
    memcpy(&wanted, s->pipe_bit, sizeof wanted);
    wanted = _mm256_and_si256(wanted, _mm256_set1_epi8((char)pipe_bits));
    return ~(uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(wanted, _mm256_setzero_si256()));
#elif defined(__SSE2__)
    uint32_t none = 0;
    for (unsigned i = 0; i < GPU_SIMDS_MAX; i += 16) {
        __m128i wanted;
        memcpy(&wanted, &s->pipe_bit[i], sizeof wanted);
        wanted = _mm_and_si128(wanted, _mm_set1_epi8((char)pipe_bits));
        none |= (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(wanted, _mm_setzero_si128())) << i;
    }
    return ~none;
#else
    uint32_t set = 0;
    for (unsigned i = 0; i < s->count; i++)
        set |= (uint32_t)((s->pipe_bit[i] & pipe_bits) != 0) << i;
    return set;
#endif
}

/* When a pipe takes work again. Memory pipes take it ahead of time, as far as their queue reaches. */
static inline double gpu_pipe_takes(const struct gpu_core_timing *core, const struct gpu_scheduler *s, unsigned pipe)
{
    return pipe < GPU_PIPE_SHARED ? s->pipe_free[pipe] : core->pipe_free[pipe] - core->pipe_ahead[pipe];
}

/* The set of pipes that take no work at the scheduler's time. Not a vector: reading a vector right after writing one of its parts
 * stalls most hosts. */
static inline uint8_t gpu_scan_blocked(const struct gpu_core_timing *core, const struct gpu_scheduler *s)
{
    const double now = s->time;
    unsigned blocked = 0;
#pragma GCC unroll 8
    for (unsigned pipe = GPU_PIPE_NONE + 1; pipe < GPU_PIPE_COUNT; pipe++)
        blocked |= (unsigned)(gpu_pipe_takes(core, s, pipe) > now) << pipe;
    return (uint8_t)blocked;
}

/* True when all places want this one pipe. */
static inline bool gpu_scan_all_want(const struct gpu_scheduler *s, uint8_t pipe_bit)
{
    const uint32_t all = s->count < 32 ? (1u << s->count) - 1 : UINT32_MAX;
    return (gpu_scan_pipes(s, pipe_bit) & all) == all;
}

/* When the first simdgroup can issue, pipes included; *earliest is the set of all that can issue then. */
#if defined(__AVX512F__)
static inline double gpu_scan_earliest(const struct gpu_core_timing *core, const struct gpu_scheduler *s, uint8_t blocked,
                                       uint32_t *earliest)
{
    enum { VECTORS = GPU_SIMDS_MAX / 8 };
    __m512d at[VECTORS];
#pragma GCC unroll 4
    for (unsigned i = 0; i < VECTORS; i++)
        at[i] = _mm512_loadu_pd(&s->ready[8 * i]);
    for (unsigned left = blocked; left; left &= left - 1) {
        const unsigned pipe = (unsigned)__builtin_ctz(left);
        const uint32_t places = gpu_scan_pipes(s, (uint8_t)(1u << pipe));
        const __m512d takes = _mm512_set1_pd(gpu_pipe_takes(core, s, pipe));
        for (unsigned i = 0; i < VECTORS; i++)
            at[i] = _mm512_mask_max_pd(at[i], (__mmask8)(places >> 8 * i), at[i], takes);
    }
    const double first = _mm512_reduce_min_pd(_mm512_min_pd(_mm512_min_pd(at[0], at[1]), _mm512_min_pd(at[2], at[3])));
    *earliest = 0;
#pragma GCC unroll 4
    for (unsigned i = 0; i < VECTORS; i++)
        *earliest |= (uint32_t)_mm512_cmp_pd_mask(at[i], _mm512_set1_pd(first), _CMP_EQ_OQ) << 8 * i;
    return first;
}
#elif defined(__AVX2__)
/* Places i to i + 3 that want a pipe, as all ones. */
static inline __m256d gpu_scan_want(const struct gpu_scheduler *s, unsigned i, unsigned pipe)
{
    int32_t bits;
    memcpy(&bits, &s->pipe_bit[i], sizeof bits);
    const __m256i bit = _mm256_set1_epi64x((int64_t)(1u << pipe)), wanted = _mm256_cvtepu8_epi64(_mm_cvtsi32_si128(bits));
    return _mm256_castsi256_pd(_mm256_cmpeq_epi64(_mm256_and_si256(wanted, bit), bit));
}

static inline double gpu_scan_earliest(const struct gpu_core_timing *core, const struct gpu_scheduler *s, uint8_t blocked,
                                       uint32_t *earliest)
{
    __m256d at[GPU_SIMDS_MAX / 4], first = _mm256_set1_pd(GPU_NEVER);
    for (unsigned i = 0; i < s->count; i += 4) {
        __m256d here = _mm256_loadu_pd(&s->ready[i]);
        for (unsigned left = blocked; left; left &= left - 1) {
            const unsigned pipe = (unsigned)__builtin_ctz(left);
            const __m256d takes = _mm256_max_pd(here, _mm256_set1_pd(gpu_pipe_takes(core, s, pipe)));
            here = _mm256_blendv_pd(here, takes, gpu_scan_want(s, i, pipe));
        }
        at[i / 4] = here;
        first = _mm256_min_pd(first, here);
    }
    first = _mm256_min_pd(first, _mm256_permute4x64_pd(first, 0x4e));
    first = _mm256_min_pd(first, _mm256_permute_pd(first, 5));
    *earliest = 0;
    for (unsigned i = 0; i < s->count; i += 4)
        *earliest |= (uint32_t)_mm256_movemask_pd(_mm256_cmp_pd(at[i / 4], first, _CMP_EQ_OQ)) << i;
    return _mm256_cvtsd_f64(first);
}
#else
static inline double gpu_scan_earliest(const struct gpu_core_timing *core, const struct gpu_scheduler *s, uint8_t blocked,
                                       uint32_t *earliest)
{
    double at[GPU_SIMDS_MAX], first = GPU_NEVER;
    memcpy(at, s->ready, sizeof at);
    for (unsigned left = blocked; left; left &= left - 1) {
        const unsigned pipe = (unsigned)__builtin_ctz(left);
        const double takes = gpu_pipe_takes(core, s, pipe);
        for (uint32_t places = gpu_scan_pipes(s, (uint8_t)(1u << pipe)); places; places &= places - 1) {
            const unsigned i = (unsigned)__builtin_ctz(places);
            at[i] = gpu_later(at[i], takes);
        }
    }
    for (unsigned i = 0; i < s->count; i++)
        first = at[i] < first ? at[i] : first;
    *earliest = 0;
    for (unsigned i = 0; i < s->count; i++)
        *earliest |= (uint32_t)(at[i] == first) << i;
    return first;
}
#endif

#endif
