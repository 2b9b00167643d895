/* Kernels on AVX-512: 16 columns per vector. Each further product of a group costs six instructions on two ports: the product,
 * the magnitude of the larger operand (vrangeps), its binade (vpternlogd), and three to add on its grid.
 */
#include "units/ane/ane_kernel_set.h"

#if defined(__AVX512F__) && defined(__AVX512DQ__)
#include <immintrin.h>

enum {
    RANGE_SIZE = 0x0b,   /* vrangeps: the larger by magnitude, sign cleared */
    LOGIC_AND_OR = 0xea, /* vpternlogd: a & b | c */
    CSR_FLUSH = 0x8040   /* zero products: 1.5 times a binade of zero is denormal, which is slow */
};

static bool usable(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
}

struct grid {
    __m512i binade, half;
    __m512 align;
};

/* Returns sum + product, both rounded to multiples of the last place of the larger. */
static inline __m512 join(const struct grid *g, __m512 sum, __m512 product)
{
    const __m512i larger = _mm512_castps_si512(_mm512_range_ps(sum, product, RANGE_SIZE));
    const __m512 unit = _mm512_castsi512_ps(_mm512_ternarylogic_epi32(larger, g->binade, g->half, LOGIC_AND_OR));
    const __m512 raised = _mm512_add_ps(_mm512_fmadd_ps(unit, g->align, sum), product);
    return _mm512_fnmadd_ps(unit, g->align, raised);
}

#define ROWS 4
#define STEP _Pragma("GCC unroll 8")

/* Adds groups of four products: `rows` (a constant) rows of both vectors of the panel, in step, so that the host finds
 * independent instructions. */
static inline __attribute__((always_inline)) void four_products(const struct grid *g, const float *panel, const float *w,
                                                                size_t pitch, const int rows, __m512 sum[2 * ROWS])
{
    STEP for (int i = 0; i < 2 * rows; i++) sum[i] =
        _mm512_mul_ps(_mm512_load_ps(panel + 16 * (i & 1)), _mm512_set1_ps(w[(size_t)(i / 2) * pitch]));
    STEP for (int k = 1; k < 4; k++)
    {
        __m512 product[2 * ROWS], unit[2 * ROWS];
        panel += ANE_MAC_LANES;
        STEP for (int i = 0; i < 2 * rows; i++) product[i] =
            _mm512_mul_ps(_mm512_load_ps(panel + 16 * (i & 1)), _mm512_set1_ps(w[(size_t)(i / 2) * pitch + (size_t)k]));
        STEP for (int i = 0; i < 2 * rows; i++) unit[i] = _mm512_range_ps(sum[i], product[i], RANGE_SIZE);
        STEP for (int i = 0; i < 2 * rows; i++) unit[i] =
            _mm512_castsi512_ps(_mm512_ternarylogic_epi32(_mm512_castps_si512(unit[i]), g->binade, g->half, LOGIC_AND_OR));
        STEP for (int i = 0; i < 2 * rows; i++) sum[i] = _mm512_fmadd_ps(unit[i], g->align, sum[i]);
        STEP for (int i = 0; i < 2 * rows; i++) sum[i] = _mm512_add_ps(sum[i], product[i]);
        STEP for (int i = 0; i < 2 * rows; i++) sum[i] = _mm512_fnmadd_ps(unit[i], g->align, sum[i]);
    }
}

static inline __attribute__((always_inline)) void fours(const struct ane_mac_block *b, size_t row, const int rows,
                                                        const bool peaks)
{
    const struct grid g = {_mm512_set1_epi32(0x7f800000), _mm512_set1_epi32(0x00400000), _mm512_set1_ps(b->align)};
    const float *w = b->weight + row * b->k;
    __m512 sum[2 * ROWS], peak[2 * ROWS], part[2 * ROWS];
    STEP for (int i = 0; i < 2 * rows; i++) sum[i] = peak[i] = _mm512_setzero_ps();
    for (size_t k = 0; k < b->k; k += 4) {
        four_products(&g, b->panel + k * ANE_MAC_LANES, w + k, b->k, rows, part);
        STEP for (int i = 0; i < 2 * rows; i++) sum[i] = _mm512_add_ps(sum[i], part[i]);
        if (peaks) {
            STEP for (int i = 0; i < 2 * rows; i++) peak[i] = _mm512_range_ps(peak[i], sum[i], RANGE_SIZE);
        }
    }
    STEP for (int i = 0; i < 2 * rows; i++)
    {
        _mm512_storeu_ps(b->out + row * ANE_MAC_LANES + 16 * (size_t)i, sum[i]);
        if (peaks)
            _mm512_storeu_ps(b->peak + row * ANE_MAC_LANES + 16 * (size_t)i, peak[i]);
    }
}

/* Groups of other sizes than four. */
static void any_group(const struct ane_mac_block *b, size_t row)
{
    const struct grid g = {_mm512_set1_epi32(0x7f800000), _mm512_set1_epi32(0x00400000), _mm512_set1_ps(b->align)};
    const float *w = b->weight + row * b->k;
    for (size_t v = 0; v < ANE_MAC_LANES; v += 16) {
        __m512 sum = _mm512_setzero_ps(), peak = sum;
        for (size_t k = 0; k < b->k; k += b->group) {
            const float *x = b->panel + k * ANE_MAC_LANES + v;
            __m512 s = _mm512_mul_ps(_mm512_load_ps(x), _mm512_set1_ps(w[k]));
            for (size_t i = 1; i < b->group; i++)
                s = join(&g, s, _mm512_mul_ps(_mm512_load_ps(x + i * ANE_MAC_LANES), _mm512_set1_ps(w[k + i])));
            sum = _mm512_add_ps(sum, s);
            peak = _mm512_range_ps(peak, sum, RANGE_SIZE);
        }
        _mm512_storeu_ps(b->out + row * ANE_MAC_LANES + v, sum);
        if (b->peak)
            _mm512_storeu_ps(b->peak + row * ANE_MAC_LANES + v, peak);
    }
}

static inline __attribute__((always_inline)) void all_fours(const struct ane_mac_block *b, const bool peaks)
{
    size_t row = 0;
    for (; row + ROWS <= b->rows; row += ROWS)
        fours(b, row, ROWS, peaks);
    if (b->rows - row == 3)
        fours(b, row, 3, peaks);
    else if (b->rows - row == 2)
        fours(b, row, 2, peaks);
    else if (b->rows - row == 1)
        fours(b, row, 1, peaks);
}

static void mac(const struct ane_mac_block *b)
{
    const unsigned csr = _mm_getcsr();
    _mm_setcsr(csr | CSR_FLUSH);
    if (b->group == 4 && b->peak)
        all_fours(b, true);
    else if (b->group == 4)
        all_fours(b, false);
    else
        for (size_t row = 0; row < b->rows; row++)
            any_group(b, row);
    _mm_setcsr(csr);
}

static inline __m512 expand16(const struct ane_numeric *rules, bool mac_rules, __m256i half)
{
    __m512 value = _mm512_cvtph_ps(half);
    if (rules->nan_to_infinity || mac_rules) { /* a minimum takes the second operand when the first is a NaN */
        value = _mm512_min_ps(value, _mm512_set1_ps(65536));
        value = _mm512_max_ps(value, _mm512_set1_ps(-65536));
    }
    if (mac_rules && rules->mac_flush_denormals) {
        const __mmask16 normal = _mm512_cmp_ps_mask(_mm512_abs_ps(value), _mm512_set1_ps(0x1p-14f), _CMP_GE_OQ);
        value = _mm512_maskz_mov_ps(normal, value);
    }
    return value;
}

static void expand(const struct ane_numeric *rules, bool mac_rules, const uint8_t *from, float *to, size_t count)
{
    size_t i = 0;
    for (; i + 16 <= count; i += 16)
        _mm512_storeu_ps(to + i, expand16(rules, mac_rules, _mm256_loadu_si256((const __m256i *)(const void *)(from + 2 * i))));
    if (i < count) {
        const __mmask16 rest = (__mmask16)((1u << (count - i)) - 1);
        _mm512_mask_storeu_ps(to + i, rest, expand16(rules, mac_rules, _mm256_maskz_loadu_epi16(rest, from + 2 * i)));
    }
}

static inline __m256i reduce16(const struct ane_numeric *rules, __m512 value)
{
    const __mmask16 nan = _mm512_cmp_ps_mask(value, value, _CMP_UNORD_Q);
    __m256i half = _mm512_cvtps_ph(value, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    half = _mm256_mask_mov_epi16(half, nan, _mm256_set1_epi16(rules->nan_to_infinity ? 0 : 0x7e00));
    if (!rules->negative_zero)
        half = _mm256_maskz_mov_epi16(_mm256_cmpneq_epi16_mask(half, _mm256_set1_epi16((short)0x8000)), half);
    return half;
}

static void reduce(const struct ane_numeric *rules, const float *from, uint8_t *to, size_t count)
{
    size_t i = 0;
    for (; i + 16 <= count; i += 16)
        _mm256_storeu_si256((__m256i *)(void *)(to + 2 * i), reduce16(rules, _mm512_loadu_ps(from + i)));
    if (i < count) {
        const __mmask16 rest = (__mmask16)((1u << (count - i)) - 1);
        _mm256_mask_storeu_epi16(to + 2 * i, rest, reduce16(rules, _mm512_maskz_loadu_ps(rest, from + i)));
    }
}

const struct ane_kernel_set ane_set_avx512 = {"avx512", usable, mac, expand, reduce};

#else

static bool usable(void)
{
    return false;
}

const struct ane_kernel_set ane_set_avx512 = {"avx512", usable, 0, 0, 0};

#endif
