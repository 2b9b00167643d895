/* Bodies of cpu_exec_arith.h for one width. The including file defines
 *   W           16, 32 or 64
 *   UINT        unsigned type of the width
 *   VALUE       type arithmetic is done in
 *   EXP_BITS, FRAC_BITS
 *   TO_VALUE(bits), TO_BITS(core, value)   between bits and VALUE; TO_BITS rounds where VALUE is wider
 *   FMA(n, m, d), SQRT(n)                  in VALUE
 *   FLUSH                                  FPCR bit that flushes denormals of this width
 * No include guard: included several times. */

#define PASTE2(a, b) a##_##b
#define PASTE(a, b)  PASTE2(a, b)
#define FN(name)     PASTE(name, W)

#define SIGN_BIT    ((UINT)((UINT)1 << (W - 1)))
#define EXP_MASK    ((UINT)((((UINT)1 << EXP_BITS) - 1) << FRAC_BITS))
#define FRAC_MASK   ((UINT)(((UINT)1 << FRAC_BITS) - 1))
#define QUIET_BIT   ((UINT)((UINT)1 << (FRAC_BITS - 1)))
#define DEFAULT_NAN ((UINT)(EXP_MASK | QUIET_BIT))
#define MIN_NORMAL  ((UINT)((UINT)1 << FRAC_BITS))
#define EXP_BIAS    ((1 << (EXP_BITS - 1)) - 1)

static inline UINT FN(magnitude)(UINT a)
{
    return (UINT)(a & ~SIGN_BIT);
}
static inline bool FN(is_nan)(UINT a)
{
    return FN(magnitude)(a) > EXP_MASK;
}
static inline bool FN(is_snan)(UINT a)
{
    return FN(is_nan)(a) && !(a & QUIET_BIT);
}
static inline bool FN(is_inf)(UINT a)
{
    return FN(magnitude)(a) == EXP_MASK;
}
static inline bool FN(is_zero)(UINT a)
{
    return FN(magnitude)(a) == 0;
}

static inline bool FN(flushes)(const struct cpu_core *core)
{
    return __builtin_expect(core->fp_special, 0) && core->fpcr & FLUSH;
}
static inline UINT FN(input)(const struct cpu_core *core, uint64_t a)
{
    const UINT bits = (UINT)a;
    return FN(flushes)(core) && !(bits & EXP_MASK) ? (UINT)(bits & SIGN_BIT) : bits;
}

static UINT FN(quiet)(const struct cpu_core *core, UINT nan)
{
    return core->fpcr & CPU_FPCR_DN ? DEFAULT_NAN : (UINT)(nan | QUIET_BIT);
}
/* Returns the NaN that an operation on a and b yields: a signalling one first, then in operand order, or the default NaN. */
static UINT FN(nan_of_2)(const struct cpu_core *core, UINT a, UINT b)
{
    if (FN(is_snan)(a) || (FN(is_nan)(a) && !FN(is_snan)(b)))
        return FN(quiet)(core, a);
    return FN(is_nan)(b) ? FN(quiet)(core, b) : DEFAULT_NAN;
}
static UINT FN(nan_of_3)(const struct cpu_core *core, UINT a, UINT b, UINT c)
{
    if (FN(is_snan)(a))
        return FN(quiet)(core, a);
    if (FN(is_snan)(b) || FN(is_snan)(c))
        return FN(nan_of_2)(core, b, c);
    return FN(is_nan)(a) ? FN(quiet)(core, a) : FN(nan_of_2)(core, b, c);
}

/* Finishes a result that is no NaN: it is flushed when it was below the normal range before rounding. `again` computes it rounded
 * toward zero, which shows whether it was rounded up into the range. */
#define FINISH(core, r, again)                                                                                                   \
    do {                                                                                                                         \
        UINT finished = TO_BITS(core, r);                                                                                        \
        if (FN(flushes)(core) && FN(magnitude)(finished) <= MIN_NORMAL && finished & ~SIGN_BIT) {                                \
            if (FN(magnitude)(finished) == MIN_NORMAL) {                                                                         \
                const int mode = fegetround();                                                                                   \
                fesetround(FE_TOWARDZERO);                                                                                       \
                HIDE(x);                                                                                                         \
                VALUE truncated = (again);                                                                                       \
                HIDE(truncated);                                                                                                 \
                fesetround(mode);                                                                                                \
                if ((truncated < 0 ? -truncated : truncated) >= TO_VALUE(MIN_NORMAL))                                            \
                    return finished;                                                                                             \
            }                                                                                                                    \
            return finished & SIGN_BIT;                                                                                          \
        }                                                                                                                        \
        return finished;                                                                                                         \
    } while (0)
/* Keeps the compiler from reusing a value that it computed under another rounding mode. */
#define HIDE(v) __asm__ volatile("" : "+m"(v))

#define BINARY(name, expr)                                                                                                       \
    uint64_t FN(name)(struct cpu_core * core, uint64_t n, uint64_t m)                                                            \
    {                                                                                                                            \
        const UINT a = FN(input)(core, n), b = FN(input)(core, m);                                                               \
        VALUE x = TO_VALUE(a), y = TO_VALUE(b);                                                                                  \
        const VALUE r = (expr);                                                                                                  \
        if (__builtin_expect(r != r, 0))                                                                                         \
            return FN(nan_of_2)(core, a, b);                                                                                     \
        FINISH(core, r, expr);                                                                                                   \
    }
BINARY(fp_add, x + y)
BINARY(fp_sub, x - y)
BINARY(fp_mul, x *y)
BINARY(fp_div, x / y)

uint64_t FN(fp_abs)(struct cpu_core *core, uint64_t n)
{
    (void)core;
    return FN(magnitude)((UINT)n);
}

uint64_t FN(fp_neg)(struct cpu_core *core, uint64_t n)
{
    (void)core;
    return (UINT)((UINT)n ^ SIGN_BIT);
}

uint64_t FN(fp_abd)(struct cpu_core *core, uint64_t n, uint64_t m)
{
    return FN(fp_abs)(core, FN(fp_sub)(core, n, m));
}

uint64_t FN(fp_nmul)(struct cpu_core *core, uint64_t n, uint64_t m)
{
    return FN(fp_neg)(core, FN(fp_mul)(core, n, m));
}

uint64_t FN(fp_fma)(struct cpu_core *core, uint64_t d, uint64_t n, uint64_t m)
{
    const UINT c = FN(input)(core, d), a = FN(input)(core, n), b = FN(input)(core, m);
    VALUE x = TO_VALUE(a), y = TO_VALUE(b), z = TO_VALUE(c);
    const VALUE r = FMA(x, y, z);
    if (__builtin_expect(r != r, 0)) {
        const bool invalid = (FN(is_inf)(a) && FN(is_zero)(b)) || (FN(is_zero)(a) && FN(is_inf)(b));
        return invalid && !FN(is_snan)(c) ? DEFAULT_NAN : FN(nan_of_3)(core, c, a, b);
    }
    FINISH(core, r, FMA(x, y, z));
}

uint64_t FN(fp_fms)(struct cpu_core *core, uint64_t d, uint64_t n, uint64_t m)
{
    return FN(fp_fma)(core, d, n ^ SIGN_BIT, m);
}

uint64_t FN(fp_fnma)(struct cpu_core *core, uint64_t d, uint64_t n, uint64_t m)
{
    return FN(fp_fma)(core, d ^ SIGN_BIT, n ^ SIGN_BIT, m);
}

uint64_t FN(fp_fnms)(struct cpu_core *core, uint64_t d, uint64_t n, uint64_t m)
{
    return FN(fp_fma)(core, d ^ SIGN_BIT, n, m);
}

uint64_t FN(fp_sqrt)(struct cpu_core *core, uint64_t n)
{
    const UINT a = FN(input)(core, n);
    if (FN(is_nan)(a))
        return FN(quiet)(core, a);
    if (a & SIGN_BIT && !FN(is_zero)(a)) {
        feraiseexcept(FE_INVALID);
        return DEFAULT_NAN;
    }
    return TO_BITS(core, SQRT(TO_VALUE(a)));
}

static UINT FN(larger)(UINT a, UINT b) /* no NaN; +0 above -0 */
{
    const VALUE x = TO_VALUE(a), y = TO_VALUE(b);
    return x == y ? (UINT)(a & b) : x > y ? a : b;
}
static UINT FN(smaller)(UINT a, UINT b)
{
    const VALUE x = TO_VALUE(a), y = TO_VALUE(b);
    return x == y ? (UINT)(a | b) : x < y ? a : b;
}
#define CHOICE(name, nm, pick)                                                                                                   \
    uint64_t FN(name)(struct cpu_core * core, uint64_t n, uint64_t m)                                                            \
    {                                                                                                                            \
        const UINT a = FN(input)(core, n), b = FN(input)(core, m);                                                               \
        const bool nan_a = FN(is_nan)(a), nan_b = FN(is_nan)(b);                                                                 \
        if (__builtin_expect(!nan_a && !nan_b, 1))                                                                               \
            return FN(pick)(a, b);                                                                                               \
        if (nm && nan_a != nan_b && !FN(is_snan)(a) && !FN(is_snan)(b))                                                          \
            return nan_a ? b : a;                                                                                                \
        return FN(nan_of_2)(core, a, b);                                                                                         \
    }
CHOICE(fp_max, false, larger)
CHOICE(fp_min, false, smaller)
CHOICE(fp_maxnm, true, larger)
CHOICE(fp_minnm, true, smaller)

static bool FN(inf_times_zero)(UINT a, UINT b)
{
    return (FN(is_inf)(a) && FN(is_zero)(b)) || (FN(is_zero)(a) && FN(is_inf)(b));
}

uint64_t FN(fp_mulx)(struct cpu_core *core, uint64_t n, uint64_t m)
{
    const UINT a = FN(input)(core, n), b = FN(input)(core, m);
    if (FN(inf_times_zero)(a, b))
        return (UINT)((a ^ b) & SIGN_BIT) | TO_BITS(core, (VALUE)2);
    return FN(fp_mul)(core, a, b);
}

/* 2 - n m */
uint64_t FN(fp_recps)(struct cpu_core *core, uint64_t n, uint64_t m)
{
    const UINT a = (UINT)(FN(input)(core, n) ^ SIGN_BIT), b = FN(input)(core, m);
    if (FN(is_nan)(a) || FN(is_nan)(b))
        return FN(nan_of_2)(core, a, b);
    VALUE x = TO_VALUE(a), y = TO_VALUE(b);
    if (FN(inf_times_zero)(a, b))
        return TO_BITS(core, (VALUE)2);
    const VALUE r = FMA(x, y, (VALUE)2);
    FINISH(core, r, FMA(x, y, (VALUE)2));
}

/* (3 - n m) / 2 with one rounding: half of the larger factor is exact where it matters. */
uint64_t FN(fp_rsqrts)(struct cpu_core *core, uint64_t n, uint64_t m)
{
    const UINT a = (UINT)(FN(input)(core, n) ^ SIGN_BIT), b = FN(input)(core, m);
    if (FN(is_nan)(a) || FN(is_nan)(b))
        return FN(nan_of_2)(core, a, b);
    if (FN(inf_times_zero)(a, b))
        return TO_BITS(core, (VALUE)1.5);
    VALUE x = TO_VALUE(a), y = TO_VALUE(b);
    if (FN(magnitude)(a) > FN(magnitude)(b))
        x *= (VALUE)0.5;
    else
        y *= (VALUE)0.5;
    const VALUE r = FMA(x, y, (VALUE)1.5);
    FINISH(core, r, FMA(x, y, (VALUE)1.5));
}

#define COMPARE(name, expr)                                                                                                      \
    uint64_t FN(name)(struct cpu_core * core, uint64_t n, uint64_t m)                                                            \
    {                                                                                                                            \
        const VALUE x = TO_VALUE(FN(input)(core, n)), y = TO_VALUE(FN(input)(core, m));                                          \
        return (expr) ? (UINT) ~(UINT)0 : 0;                                                                                     \
    }
COMPARE(fp_cmeq, x == y)
COMPARE(fp_cmge, x >= y)
COMPARE(fp_cmgt, x > y)
COMPARE(fp_acge, (x < 0 ? -x : x) >= (y < 0 ? -y : y))
COMPARE(fp_acgt, (x < 0 ? -x : x) > (y < 0 ? -y : y))

unsigned FN(fp_compare)(struct cpu_core *core, uint64_t n, uint64_t m)
{
    const VALUE x = TO_VALUE(FN(input)(core, n)), y = TO_VALUE(FN(input)(core, m));
    return x == y ? 6 : x < y ? 8 : x > y ? 2 : 3;
}

/* Returns what an overflow becomes: infinity or the largest number, by sign and rounding. */
static UINT FN(overflowed)(const struct cpu_core *core, UINT sign)
{
    static const bool to_infinity[4][2] = {{true, true}, {true, false}, {false, true}, {false, false}};
    return (UINT)(sign | (to_infinity[cpu_rounding_of(core)][sign != 0] ? EXP_MASK : (UINT)(EXP_MASK - 1)));
}

uint64_t FN(fp_recpe)(struct cpu_core *core, uint64_t n)
{
    const UINT a = FN(input)(core, n), sign = a & SIGN_BIT;
    if (FN(is_nan)(a))
        return FN(quiet)(core, a);
    if (FN(is_inf)(a))
        return sign;
    if (FN(is_zero)(a))
        return sign | EXP_MASK;
    int exponent = (int)(a >> FRAC_BITS & ((1u << EXP_BITS) - 1));
    uint64_t fraction = (uint64_t)(a & FRAC_MASK) << (52 - FRAC_BITS);
    if (exponent == 0 && fraction >> 50 == 0)
        return FN(overflowed)(core, sign);
    if (FN(flushes)(core) && exponent >= 2 * EXP_BIAS - 1)
        return sign;
    if (exponent == 0) {
        exponent = fraction >> 51 ? 0 : -1;
        fraction = fraction << (fraction >> 51 ? 1 : 2) & ((UINT64_C(1) << 52) - 1);
    }
    const unsigned estimate = cpu_recip_estimate(256 | (unsigned)(fraction >> 44));
    uint64_t result = (uint64_t)(estimate & 255) << 44;
    int out = 2 * EXP_BIAS - 1 - exponent;
    if (out <= 0) {
        result = (UINT64_C(1) << 52 | result) >> (1 - out);
        out = 0;
    }
    return (UINT)(sign | (UINT)((UINT)out << FRAC_BITS) | (UINT)(result >> (52 - FRAC_BITS)));
}

uint64_t FN(fp_rsqrte)(struct cpu_core *core, uint64_t n)
{
    const UINT a = FN(input)(core, n);
    if (FN(is_nan)(a))
        return FN(quiet)(core, a);
    if (FN(is_zero)(a))
        return (UINT)(a | EXP_MASK);
    if (a & SIGN_BIT)
        return DEFAULT_NAN;
    if (FN(is_inf)(a))
        return 0;
    int exponent = (int)(a >> FRAC_BITS & ((1u << EXP_BITS) - 1));
    uint64_t fraction = (uint64_t)(a & FRAC_MASK) << (52 - FRAC_BITS);
    if (exponent == 0) {
        while (!(fraction >> 51 & 1)) {
            fraction <<= 1;
            exponent--;
        }
        fraction = fraction << 1 & ((UINT64_C(1) << 52) - 1);
    }
    const unsigned scaled = exponent & 1 ? 128 | (unsigned)(fraction >> 45) : 256 | (unsigned)(fraction >> 44);
    const int out = (3 * EXP_BIAS - 1 - exponent) / 2;
    const uint64_t result = (uint64_t)(cpu_rsqrt_estimate(scaled) & 255) << 44;
    return (UINT)((UINT)((UINT)out << FRAC_BITS) | (UINT)(result >> (52 - FRAC_BITS)));
}

uint64_t FN(fp_recpx)(struct cpu_core *core, uint64_t n)
{
    const UINT a = FN(input)(core, n);
    if (FN(is_nan)(a))
        return FN(quiet)(core, a);
    const UINT exponent = a & EXP_MASK;
    return (UINT)((a & SIGN_BIT) | (exponent ? (UINT)(~exponent & EXP_MASK) : (UINT)(EXP_MASK - MIN_NORMAL)));
}

static uint64_t FN(rint)(struct cpu_core *core, uint64_t n, enum cpu_rounding mode)
{
    const UINT a = FN(input)(core, n);
    if (FN(is_nan)(a))
        return FN(quiet)(core, a);
    return TO_BITS(core, (VALUE)cpu_round_integral((double)TO_VALUE(a), mode));
}
uint64_t FN(fp_rint_even)(struct cpu_core *core, uint64_t n)
{
    return FN(rint)(core, n, CPU_ROUND_EVEN);
}
uint64_t FN(fp_rint_up)(struct cpu_core *core, uint64_t n)
{
    return FN(rint)(core, n, CPU_ROUND_UP);
}
uint64_t FN(fp_rint_down)(struct cpu_core *core, uint64_t n)
{
    return FN(rint)(core, n, CPU_ROUND_DOWN);
}
uint64_t FN(fp_rint_zero)(struct cpu_core *core, uint64_t n)
{
    return FN(rint)(core, n, CPU_ROUND_ZERO);
}
uint64_t FN(fp_rint_away)(struct cpu_core *core, uint64_t n)
{
    return FN(rint)(core, n, CPU_ROUND_AWAY);
}
uint64_t FN(fp_rint_mode)(struct cpu_core *core, uint64_t n)
{
    return FN(rint)(core, n, cpu_rounding_of(core));
}

#if W != 16
/* To an integer that fits `bits` bits with a sign; what does not fit becomes the smallest one. */
static uint64_t FN(rint_within)(struct cpu_core *core, uint64_t n, enum cpu_rounding mode, unsigned bits)
{
    const UINT a = FN(input)(core, n);
    const double limit = cpu_power_of_two((int)bits - 1);
    const double r = FN(is_nan)(a) ? limit : cpu_round_integral((double)TO_VALUE(a), mode);
    if (r >= -limit && r < limit)
        return TO_BITS(core, (VALUE)r);
    feraiseexcept(FE_INVALID);
    return TO_BITS(core, (VALUE)-limit);
}
uint64_t FN(fp_rint_32_zero)(struct cpu_core *core, uint64_t n)
{
    return FN(rint_within)(core, n, CPU_ROUND_ZERO, 32);
}
uint64_t FN(fp_rint_32_mode)(struct cpu_core *core, uint64_t n)
{
    return FN(rint_within)(core, n, cpu_rounding_of(core), 32);
}
uint64_t FN(fp_rint_64_zero)(struct cpu_core *core, uint64_t n)
{
    return FN(rint_within)(core, n, CPU_ROUND_ZERO, 64);
}
uint64_t FN(fp_rint_64_mode)(struct cpu_core *core, uint64_t n)
{
    return FN(rint_within)(core, n, cpu_rounding_of(core), 64);
}
#endif

uint64_t FN(fp_to_int)(struct cpu_core *core, uint64_t n, enum cpu_rounding mode, unsigned width, bool is_signed,
                       unsigned fraction)
{
    const UINT a = FN(input)(core, n);
    if (FN(is_nan)(a))
        return 0;
    const double r = cpu_round_integral((double)TO_VALUE(a) * cpu_power_of_two((int)fraction), mode);
    const double limit = cpu_power_of_two((int)width - (is_signed ? 1 : 0));
    const uint64_t most = (is_signed ? UINT64_C(1) << (width - 1) : (UINT64_C(2) << (width - 1))) - 1;
    if (r >= limit)
        return most;
    if (is_signed)
        return (r < -limit ? ~most : (uint64_t)(int64_t)r) & ((UINT64_C(2) << (width - 1)) - 1);
    return r < 0 ? 0 : (uint64_t)r;
}

/* Sticky conversion: a double that rounds to any narrower format as the integer itself would. */
#if W == 16
static double sticky_double(uint64_t magnitude)
{
    if (magnitude >> 53)
        return (double)(magnitude >> 11 | ((magnitude & 2047) != 0)) * 2048;
    return (double)magnitude;
}
#endif

uint64_t FN(fp_from_int)(struct cpu_core *core, uint64_t value, bool is_signed, unsigned fraction)
{
#if W == 16
    const bool negative = is_signed && (int64_t)value < 0;
    const double magnitude = sticky_double(negative ? 0 - value : value) * cpu_power_of_two(-(int)fraction);
    return cpu_half_round(core, negative ? -magnitude : magnitude, false, true);
#else
    (void)core;
    const VALUE v = is_signed ? (VALUE)(int64_t)value : (VALUE)value;
    return TO_BITS(core, (VALUE)(v * (VALUE)cpu_power_of_two(-(int)fraction)));
#endif
}

#undef PASTE2
#undef PASTE
#undef FN
#undef SIGN_BIT
#undef EXP_MASK
#undef FRAC_MASK
#undef QUIET_BIT
#undef DEFAULT_NAN
#undef MIN_NORMAL
#undef EXP_BIAS
#undef FINISH
#undef HIDE
#undef BINARY
#undef CHOICE
#undef COMPARE
