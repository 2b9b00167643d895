/* Kernels on AVX2, FMA and F16C: 8 columns per vector, the four vectors of a row of the panel in step. Each further product of a
 * group costs eight instructions: the product, the exponents of both operands, the larger one, one and a half times its binade,
 * and three to add on its grid.
 */
#include "units/ane/ane_kernel_set.h"

#if defined(__AVX2__) && defined(__FMA__) && defined(__F16C__)
#include <immintrin.h>
#include <string.h>

enum {
    LANES = 8,
    VECTORS = ANE_MAC_LANES / LANES,
    CSR_FLUSH = 0x8040 /* zero products: 1.5 times a binade of zero is denormal, which is slow */
};
#define ALWAYS static inline __attribute__((always_inline))
#define EACH   _Pragma("GCC unroll 4") for (int i = 0; i < VECTORS; i++)

static bool usable(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("f16c");
}

ALWAYS __m256i bits_of(__m256 value, int32_t mask)
{
    return _mm256_and_si256(_mm256_castps_si256(value), _mm256_set1_epi32(mask));
}

/* Returns sum + product, both rounded to multiples of the last place of the larger. */
ALWAYS __m256 join(__m256 align, __m256 sum, __m256 product)
{
    const __m256i binade = _mm256_max_epi32(bits_of(sum, 0x7f800000), bits_of(product, 0x7f800000));
    const __m256 unit = _mm256_castsi256_ps(_mm256_or_si256(binade, _mm256_set1_epi32(0x00400000)));
    return _mm256_fnmadd_ps(unit, align, _mm256_add_ps(_mm256_fmadd_ps(unit, align, sum), product));
}

ALWAYS void row_of(const struct ane_mac_block *b, size_t row, const size_t group, const bool peaks)
{
    const __m256 align = _mm256_set1_ps(b->align);
    const float *w = b->weight + row * b->k, *x = b->panel;
    __m256 sum[VECTORS], part[VECTORS];
    __m256i peak[VECTORS];
    EACH
    {
        sum[i] = _mm256_setzero_ps();
        peak[i] = _mm256_setzero_si256();
    }
    for (size_t k = 0; k < b->k; k += group) {
        __m256 weight = _mm256_broadcast_ss(w + k);
        EACH part[i] = _mm256_mul_ps(_mm256_load_ps(x + LANES * i), weight);
        x += ANE_MAC_LANES;
        for (size_t more = 1; more < group; more++, x += ANE_MAC_LANES) {
            weight = _mm256_broadcast_ss(w + k + more);
            EACH part[i] = join(align, part[i], _mm256_mul_ps(_mm256_load_ps(x + LANES * i), weight));
        }
        EACH sum[i] = _mm256_add_ps(sum[i], part[i]);
        if (peaks)
            EACH peak[i] = _mm256_max_epi32(peak[i], bits_of(sum[i], 0x7fffffff));
    }
    EACH
    {
        _mm256_storeu_ps(b->out + row * ANE_MAC_LANES + LANES * i, sum[i]);
        if (peaks)
            _mm256_storeu_ps(b->peak + row * ANE_MAC_LANES + LANES * i, _mm256_castsi256_ps(peak[i]));
    }
}

static void mac(const struct ane_mac_block *b)
{
    const unsigned csr = _mm_getcsr();
    _mm_setcsr(csr | CSR_FLUSH);
    for (size_t row = 0; row < b->rows; row++) {
        if (b->group == 4 && b->peak)
            row_of(b, row, 4, true);
        else if (b->group == 4)
            row_of(b, row, 4, false);
        else
            row_of(b, row, b->group, b->peak != NULL);
    }
    _mm_setcsr(csr);
}

static __m256 expand8(const struct ane_numeric *rules, bool mac_rules, __m128i half)
{
    __m256 value = _mm256_cvtph_ps(half);
    if (rules->nan_to_infinity || mac_rules) { /* a minimum takes the second operand when the first is a NaN */
        value = _mm256_min_ps(value, _mm256_set1_ps(65536));
        value = _mm256_max_ps(value, _mm256_set1_ps(-65536));
    }
    if (mac_rules && rules->mac_flush_denormals) {
        const __m256 size = _mm256_castsi256_ps(bits_of(value, 0x7fffffff));
        value = _mm256_and_ps(value, _mm256_cmp_ps(size, _mm256_set1_ps(0x1p-14f), _CMP_GE_OQ));
    }
    return value;
}

static void expand(const struct ane_numeric *rules, bool mac_rules, const uint8_t *from, float *to, size_t count)
{
    size_t i = 0;
    for (; i + LANES <= count; i += LANES)
        _mm256_storeu_ps(to + i, expand8(rules, mac_rules, _mm_loadu_si128((const __m128i *)(const void *)(from + 2 * i))));
    if (i < count) {
        uint16_t rest[LANES] = {0};
        float value[LANES];
        memcpy(rest, from + 2 * i, 2 * (count - i));
        _mm256_storeu_ps(value, expand8(rules, mac_rules, _mm_loadu_si128((const __m128i *)(const void *)rest)));
        memcpy(to + i, value, (count - i) * sizeof *to);
    }
}

static __m128i reduce8(const struct ane_numeric *rules, __m256 value)
{
    const __m256i unordered = _mm256_castps_si256(_mm256_cmp_ps(value, value, _CMP_UNORD_Q));
    const __m128i nan = _mm_packs_epi32(_mm256_castsi256_si128(unordered), _mm256_extracti128_si256(unordered, 1));
    __m128i half = _mm256_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    half = _mm_blendv_epi8(half, _mm_set1_epi16(rules->nan_to_infinity ? 0 : 0x7e00), nan);
    if (!rules->negative_zero)
        half = _mm_andnot_si128(_mm_cmpeq_epi16(half, _mm_set1_epi16((short)0x8000)), half);
    return half;
}

static void reduce(const struct ane_numeric *rules, const float *from, uint8_t *to, size_t count)
{
    size_t i = 0;
    for (; i + LANES <= count; i += LANES)
        _mm_storeu_si128((__m128i *)(void *)(to + 2 * i), reduce8(rules, _mm256_loadu_ps(from + i)));
    if (i < count) {
        float rest[LANES] = {0};
        uint16_t half[LANES];
        memcpy(rest, from + i, (count - i) * sizeof *from);
        _mm_storeu_si128((__m128i *)(void *)half, reduce8(rules, _mm256_loadu_ps(rest)));
        memcpy(to + 2 * i, half, 2 * (count - i));
    }
}

const struct ane_kernel_set ane_set_avx2 = {"avx2", usable, mac, expand, reduce};

#else

static bool usable(void)
{
    return false;
}

const struct ane_kernel_set ane_set_avx2 = {"avx2", usable, 0, 0, 0};

#endif
