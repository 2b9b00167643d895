/* Handlers for frequent FP and SIMD forms: whole vectors at once, for the default FPCR. Anything unusual (another FPCR, a NaN in
 * the result) is left to the general handler, which starts from the untouched registers. Compiled once for the host's base
 * instruction set and once with FMA; the including file defines FAST_LOOKUP, the name of the lookup function. Loops have constant
 * counts over all 16 bytes, so that the compiler turns them into vector instructions; lanes above a 64-bit vector are computed
 * and cleared. */
#include "units/cpu/cpu_exec_fast.h"
#include "units/cpu/cpu_exec_lanes.h"

#include <math.h>
#include <string.h>
#ifdef __F16C__
#include <immintrin.h>
#endif

static bool nan_f32(const union cpu_vec *r)
{
#ifdef __SSE__ /* one instruction gathers the comparisons of all lanes */
    typedef float lanes __attribute__((vector_size(16)));
    lanes all;
    memcpy(&all, r->f32, sizeof all);
    return __builtin_ia32_movmskps((lanes)(all != all)) != 0;
#else
    int bad = 0;
    for (unsigned i = 0; i < 4; i++)
        bad |= r->f32[i] != r->f32[i];
    return bad;
#endif
}

static bool nan_f64(const union cpu_vec *r)
{
    return r->f64[0] != r->f64[0] || r->f64[1] != r->f64[1];
}

/* Floating-point vectors: a, b, c are lanes of n, m, d. */
#define FP_VECTOR(name, M, count, second, expr)                                                                                  \
    static void name(struct cpu_core *core, const struct a64_insn *insn)                                                         \
    {                                                                                                                            \
        const union cpu_vec n = core->v[insn->rn], m = core->v[insn->rm], d = core->v[insn->rd];                                 \
        union cpu_vec r;                                                                                                         \
        (void)d;                                                                                                                 \
        for (unsigned i = 0; i < count; i++) {                                                                                   \
            const __typeof__(n.M[0]) a = n.M[i], b = m.M[second], c = d.M[i];                                                    \
            (void)c;                                                                                                             \
            r.M[i] = (expr);                                                                                                     \
        }                                                                                                                        \
        if (__builtin_expect(core->fp_special || nan_##M(&r), 0))                                                                \
            cpu_fp_general(core, insn);                                                                                          \
        else                                                                                                                     \
            cpu_set_vector(core, insn, r);                                                                                       \
    }
#define FP_VECTORS(name, expr32, expr64) FP_VECTOR(name##_4s, f32, 4, i, expr32) FP_VECTOR(name##_2d, f64, 2, i, expr64)
#define FP_ELEMENTS(name, expr32, expr64)                                                                                        \
    FP_VECTOR(name##_4s_e, f32, 4, insn->amount, expr32) FP_VECTOR(name##_2d_e, f64, 2, insn->amount, expr64)
FP_VECTORS(v_fadd, a + b, a + b)
FP_VECTORS(v_fsub, a - b, a - b)
FP_VECTORS(v_fmul, a *b, a *b)
FP_VECTORS(v_fmla, fmaf(a, b, c), fma(a, b, c))
FP_VECTORS(v_fmls, fmaf(-a, b, c), fma(-a, b, c))
FP_ELEMENTS(v_fmul, a *b, a *b)
FP_ELEMENTS(v_fmla, fmaf(a, b, c), fma(a, b, c))
FP_ELEMENTS(v_fmls, fmaf(-a, b, c), fma(-a, b, c))

#ifdef __F16C__
/* a * b + c in half precision, rounded once. The product of two halves is exact in single precision. Their sum is rounded to odd
 * there: where that loses something, of the two neighbours the one whose last bit is set, so that rounding to half sees on which
 * side of a midpoint the sum lies. */
static __m128i half_fma(__m128i a, __m128i b, __m128i c)
{
    const __m256 product = _mm256_mul_ps(_mm256_cvtph_ps(a), _mm256_cvtph_ps(b)), addend = _mm256_cvtph_ps(c);
    const __m256 sum = _mm256_add_ps(product, addend), back = _mm256_sub_ps(sum, product);
    const __m256 lost = _mm256_add_ps(_mm256_sub_ps(product, _mm256_sub_ps(sum, back)), _mm256_sub_ps(addend, back));
    const __m256i inexact = _mm256_castps_si256(_mm256_cmp_ps(lost, _mm256_setzero_ps(), _CMP_NEQ_OQ));
    const __m256i bits = _mm256_castps_si256(sum), one = _mm256_set1_epi32(1);
    const __m256i even = _mm256_cmpeq_epi32(_mm256_and_si256(bits, one), _mm256_setzero_si256());
    /* 1 where the rest has the sign of the sum, -1 where it has not */
    const __m256i apart = _mm256_srai_epi32(_mm256_xor_si256(bits, _mm256_castps_si256(lost)), 31);
    const __m256i step = _mm256_and_si256(_mm256_or_si256(apart, one), _mm256_and_si256(inexact, even));
    return _mm256_cvtps_ph(_mm256_castsi256_ps(_mm256_add_epi32(bits, step)), _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

static void half_fma_vectors(struct cpu_core *core, const struct a64_insn *insn, __m128i m)
{
    const __m128i n = _mm_loadu_si128((const __m128i *)(const void *)&core->v[insn->rn]);
    const __m128i d = _mm_loadu_si128((const __m128i *)(const void *)&core->v[insn->rd]), r = half_fma(n, m, d);
    const __m128i size = _mm_and_si128(r, _mm_set1_epi16(0x7fff));
    union cpu_vec result;
    memcpy(&result, &r, sizeof result);
    if (__builtin_expect(core->fp_special || _mm_movemask_epi8(_mm_cmpgt_epi16(size, _mm_set1_epi16(0x7c00))), 0))
        cpu_fp_general(core, insn);
    else
        cpu_set_vector(core, insn, result);
}

static void v_fmla_8h(struct cpu_core *core, const struct a64_insn *insn)
{
    half_fma_vectors(core, insn, _mm_loadu_si128((const __m128i *)(const void *)&core->v[insn->rm]));
}

static void v_fmla_8h_e(struct cpu_core *core, const struct a64_insn *insn)
{
    half_fma_vectors(core, insn, _mm_set1_epi16((short)core->v[insn->rm].u16[insn->amount]));
}
#else
#define v_fmla_8h   NULL
#define v_fmla_8h_e NULL
#endif

/* Scalars: a, b, c are n, m and the accumulator. */
#define FP_SCALAR(name, M, expr)                                                                                                 \
    static void name(struct cpu_core *core, const struct a64_insn *insn)                                                         \
    {                                                                                                                            \
        const __typeof__(core->v[0].M[0]) a = core->v[insn->rn].M[0], b = core->v[insn->rm].M[0], c = core->v[insn->ra].M[0];    \
        (void)b, (void)c;                                                                                                        \
        union cpu_vec r = {.u64 = {0, 0}};                                                                                       \
        r.M[0] = (expr);                                                                                                         \
        if (__builtin_expect(core->fp_special || r.M[0] != r.M[0], 0))                                                           \
            cpu_fp_general(core, insn);                                                                                          \
        else                                                                                                                     \
            core->v[insn->rd] = r;                                                                                               \
    }
#define FP_SCALARS(name, expr32, expr64) FP_SCALAR(name##_s, f32, expr32) FP_SCALAR(name##_d, f64, expr64)
FP_SCALARS(s_fadd, a + b, a + b)
FP_SCALARS(s_fsub, a - b, a - b)
FP_SCALARS(s_fmul, a *b, a *b)
FP_SCALARS(s_fdiv, a / b, a / b)
FP_SCALARS(s_fsqrt, sqrtf(a), sqrt(a))
FP_SCALARS(s_fmadd, fmaf(a, b, c), fma(a, b, c))
FP_SCALARS(s_fmsub, fmaf(-a, b, c), fma(-a, b, c))
FP_SCALARS(s_fnmadd, fmaf(-a, b, -c), fma(-a, b, -c))
FP_SCALARS(s_fnmsub, fmaf(a, b, -c), fma(a, b, -c))

#define COMPARE(name, M, with)                                                                                                   \
    static void name(struct cpu_core *core, const struct a64_insn *insn)                                                         \
    {                                                                                                                            \
        const __typeof__(core->v[0].M[0]) a = core->v[insn->rn].M[0], b = (with);                                                \
        if (__builtin_expect(core->fp_special, 0)) {                                                                             \
            cpu_fp_general(core, insn);                                                                                          \
            return;                                                                                                              \
        }                                                                                                                        \
        core->flags.n = a < b ? -1 : 0;                                                                                          \
        core->flags.z = !(a == b);                                                                                               \
        core->flags.c = !(a < b);                                                                                                \
        core->flags.v = a != a || b != b;                                                                                        \
    }
COMPARE(fcmp_s, f32, core->v[insn->rm].f32[0])
COMPARE(fcmp_d, f64, core->v[insn->rm].f64[0])
COMPARE(fcmp0_s, f32, 0)
COMPARE(fcmp0_d, f64, 0)

/* Integer vectors: a, b, c are lanes of n, m, d; s is the immediate. */
#define INT_VECTOR(name, M, T, expr)                                                                                             \
    static void name(struct cpu_core *core, const struct a64_insn *insn)                                                         \
    {                                                                                                                            \
        const union cpu_vec n = core->v[insn->rn], m = core->v[insn->rm], d = core->v[insn->rd];                                 \
        const unsigned s = insn->amount;                                                                                         \
        union cpu_vec r;                                                                                                         \
        (void)m, (void)d, (void)s;                                                                                               \
        for (unsigned i = 0; i < 16 / sizeof(T); i++) {                                                                          \
            const T a = n.M[i], b = m.M[i], c = d.M[i];                                                                          \
            (void)a, (void)b, (void)c;                                                                                           \
            r.M[i] = (T)(expr);                                                                                                  \
        }                                                                                                                        \
        cpu_set_vector(core, insn, r);                                                                                           \
    }
/* clang-format off */
#define UNSIGNED(name, expr) \
    INT_VECTOR(name##_0, u8, uint8_t, expr) INT_VECTOR(name##_1, u16, uint16_t, expr) \
    INT_VECTOR(name##_2, u32, uint32_t, expr) INT_VECTOR(name##_3, u64, uint64_t, expr)
/* clang-format on */
/* clang-format off */
#define SIGNED(name, expr) \
    INT_VECTOR(name##_0, s8, int8_t, expr) INT_VECTOR(name##_1, s16, int16_t, expr) \
    INT_VECTOR(name##_2, s32, int32_t, expr) INT_VECTOR(name##_3, s64, int64_t, expr)
/* clang-format on */
#define TABLE(name)                                                                                                              \
    {                                                                                                                            \
        name##_0, name##_1, name##_2, name##_3                                                                                   \
    }
UNSIGNED(i_add, a + b)
UNSIGNED(i_sub, a - b)
UNSIGNED(i_mul, (uint64_t)a *b)
UNSIGNED(i_mla, c + (uint64_t)a * b)
UNSIGNED(i_mls, c - (uint64_t)a * b)
UNSIGNED(i_cmeq, a == b ? -1 : 0)
UNSIGNED(i_cmhi, a > b ? -1 : 0)
UNSIGNED(i_cmhs, a >= b ? -1 : 0)
UNSIGNED(i_cmtst, (a & b) != 0 ? -1 : 0)
SIGNED(i_cmgt, a > b ? -1 : 0)
SIGNED(i_cmge, a >= b ? -1 : 0)
UNSIGNED(i_cmeq0, a == 0 ? -1 : 0)
UNSIGNED(i_umax, a > b ? a : b)
UNSIGNED(i_umin, a < b ? a : b)
SIGNED(i_smax, a > b ? a : b)
SIGNED(i_smin, a < b ? a : b)
UNSIGNED(i_shl, (uint64_t)a << s)
UNSIGNED(i_ushr, s < 8 * sizeof a ? a >> (s & 63) : 0)
SIGNED(i_sshr, a >> (s < 8 * sizeof a ? s : 8 * sizeof a - 1))
UNSIGNED(i_usra, c + (s < 8 * sizeof a ? a >> (s & 63) : 0))
UNSIGNED(i_not, ~a)
UNSIGNED(i_neg, (uint64_t)0 - a)

/* Widening operations on the lower or upper half of the sources. A: narrow member, B: wide member, T: wide type. */
#define INT_LONG(name, A, B, T, expr)                                                                                            \
    static void name(struct cpu_core *core, const struct a64_insn *insn)                                                         \
    {                                                                                                                            \
        const union cpu_vec n = core->v[insn->rn], m = core->v[insn->rm], d = core->v[insn->rd];                                 \
        const unsigned s = insn->amount, count = 16 / sizeof(T), upper = insn->q ? count : 0;                                    \
        union cpu_vec r;                                                                                                         \
        (void)m, (void)d, (void)s;                                                                                               \
        for (unsigned i = 0; i < 16 / sizeof(T); i++) {                                                                          \
            const T a = n.A[i + upper], b = m.A[i + upper], w = n.B[i], c = d.B[i];                                              \
            (void)a, (void)b, (void)c, (void)w;                                                                                  \
            r.B[i] = (T)(expr);                                                                                                  \
        }                                                                                                                        \
        core->v[insn->rd] = r;                                                                                                   \
    }
/* clang-format off */
#define LONG_UNSIGNED(name, expr) \
    INT_LONG(name##_0, u8, u16, uint16_t, expr) INT_LONG(name##_1, u16, u32, uint32_t, expr) INT_LONG(name##_2, u32, u64, uint64_t, expr)
/* clang-format on */
/* clang-format off */
#define LONG_SIGNED(name, expr) \
    INT_LONG(name##_0, s8, u16, uint16_t, expr) INT_LONG(name##_1, s16, u32, uint32_t, expr) INT_LONG(name##_2, s32, u64, uint64_t, expr)
/* clang-format on */
#define TABLE_LONG(name)                                                                                                         \
    {                                                                                                                            \
        name##_0, name##_1, name##_2, NULL                                                                                       \
    }
LONG_UNSIGNED(l_ushll, (uint64_t)a << s)
LONG_SIGNED(l_sshll, (uint64_t)a << s)
LONG_UNSIGNED(l_uaddl, a + b)
LONG_SIGNED(l_saddl, a + b)
LONG_UNSIGNED(l_uaddw, w + b)
LONG_SIGNED(l_saddw, w + b)
LONG_UNSIGNED(l_umull, (uint64_t)a *b)
LONG_SIGNED(l_smull, (uint64_t)a *b)
LONG_UNSIGNED(l_umlal, c + (uint64_t)a * b)
LONG_SIGNED(l_smlal, c + (uint64_t)a * b)

struct fast_entry {
    cpu_handler *of[4]; /* by size; NULL = the general handler */
};
#define FP(name)                                                                                                                 \
    {                                                                                                                            \
        NULL, NULL, name##_4s, name##_2d                                                                                         \
    }
#define FPE(name)                                                                                                                \
    {                                                                                                                            \
        NULL, NULL, name##_4s_e, name##_2d_e                                                                                     \
    }
#define FPS(name)                                                                                                                \
    {                                                                                                                            \
        NULL, NULL, name##_s, name##_d                                                                                           \
    }

static const struct fast_entry fast[A64_FORM_COUNT] = {
    [A64_FADD_V] = {FP(v_fadd)},
    [A64_FSUB_V] = {FP(v_fsub)},
    [A64_FMUL_V] = {FP(v_fmul)},
    [A64_FMLA_V] = {{NULL, v_fmla_8h, v_fmla_4s, v_fmla_2d}},
    [A64_FMLS_V] = {FP(v_fmls)},
    [A64_FMUL_E] = {FPE(v_fmul)},
    [A64_FMLA_E] = {FPE(v_fmla)},
    [A64_FMLA_EH] = {{NULL, v_fmla_8h_e, NULL, NULL}},
    [A64_FMLS_E] = {FPE(v_fmls)},
    [A64_FADD] = {FPS(s_fadd)},
    [A64_FSUB] = {FPS(s_fsub)},
    [A64_FMUL] = {FPS(s_fmul)},
    [A64_FDIV] = {FPS(s_fdiv)},
    [A64_FSQRT] = {FPS(s_fsqrt)},
    [A64_FMADD] = {FPS(s_fmadd)},
    [A64_FMSUB] = {FPS(s_fmsub)},
    [A64_FNMADD] = {FPS(s_fnmadd)},
    [A64_FNMSUB] = {FPS(s_fnmsub)},
    [A64_FCMP] = {FPS(fcmp)},
    [A64_FCMPE] = {FPS(fcmp)},
    [A64_FCMP_0] = {FPS(fcmp0)},
    [A64_FCMPE_0] = {FPS(fcmp0)},
    [A64_ADD_V] = {TABLE(i_add)},
    [A64_SUB_V] = {TABLE(i_sub)},
    [A64_MUL_V] = {TABLE(i_mul)},
    [A64_MLA_V] = {TABLE(i_mla)},
    [A64_MLS_V] = {TABLE(i_mls)},
    [A64_CMEQ_V] = {TABLE(i_cmeq)},
    [A64_CMHI_V] = {TABLE(i_cmhi)},
    [A64_CMHS_V] = {TABLE(i_cmhs)},
    [A64_CMTST_V] = {TABLE(i_cmtst)},
    [A64_CMGT_V] = {TABLE(i_cmgt)},
    [A64_CMGE_V] = {TABLE(i_cmge)},
    [A64_CMEQ_0_V] = {TABLE(i_cmeq0)},
    [A64_UMAX_V] = {TABLE(i_umax)},
    [A64_UMIN_V] = {TABLE(i_umin)},
    [A64_SMAX_V] = {TABLE(i_smax)},
    [A64_SMIN_V] = {TABLE(i_smin)},
    [A64_SHL_V] = {TABLE(i_shl)},
    [A64_USHR_V] = {TABLE(i_ushr)},
    [A64_SSHR_V] = {TABLE(i_sshr)},
    [A64_USRA_V] = {TABLE(i_usra)},
    [A64_NOT_V] = {TABLE(i_not)},
    [A64_NEG_V] = {TABLE(i_neg)},
    [A64_USHLL_V] = {TABLE_LONG(l_ushll)},
    [A64_SSHLL_V] = {TABLE_LONG(l_sshll)},
    [A64_UADDL_V] = {TABLE_LONG(l_uaddl)},
    [A64_SADDL_V] = {TABLE_LONG(l_saddl)},
    [A64_UADDW_V] = {TABLE_LONG(l_uaddw)},
    [A64_SADDW_V] = {TABLE_LONG(l_saddw)},
    [A64_UMULL_V] = {TABLE_LONG(l_umull)},
    [A64_SMULL_V] = {TABLE_LONG(l_smull)},
    [A64_UMLAL_V] = {TABLE_LONG(l_umlal)},
    [A64_SMLAL_V] = {TABLE_LONG(l_smlal)},
};

cpu_handler *FAST_LOOKUP(const struct a64_insn *insn)
{
    return insn->size < 4 ? fast[insn->form].of[insn->size] : NULL;
}
