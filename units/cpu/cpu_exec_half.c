/* Half precision, conversions between formats, and the architecture's estimates. */
#include "isa/float_bits.h"
#include "units/cpu/cpu_exec_arith.h"

#include <math.h>

double cpu_half_value(uint16_t bits, bool alternative)
{
    const uint64_t sign = (uint64_t)(bits >> 15) << 63;
    const unsigned exponent = bits >> 10 & 31;
    const uint64_t fraction = bits & 1023;
    if (exponent == 31 && !alternative)
        return f64_of_bits(sign | UINT64_C(0x7ff) << 52 | fraction << 42);
    if (exponent == 0)
        return f64_of_bits(sign | f64_bits((double)fraction * 0x1p-24));
    return f64_of_bits(sign | (uint64_t)(exponent + 1023 - 15) << 52 | fraction << 42);
}

/* True when the bits that are cut off round the magnitude up. `rest` is compared with `half`; twice the half is one unit. */
static bool rounds_up(enum cpu_rounding mode, bool negative, bool odd, uint64_t rest, uint64_t half)
{
    switch (mode) {
    case CPU_ROUND_EVEN: return rest > half || (rest == half && odd);
    case CPU_ROUND_AWAY: return rest >= half;
    case CPU_ROUND_UP: return rest && !negative;
    case CPU_ROUND_DOWN: return rest && negative;
    default: return false;
    }
}

static uint16_t overflow(enum cpu_rounding mode, uint16_t sign, bool alternative)
{
    if (alternative)
        return sign | 0x7fff;
    const bool infinite =
        mode == CPU_ROUND_EVEN || mode == CPU_ROUND_AWAY || (mode == CPU_ROUND_UP && !sign) || (mode == CPU_ROUND_DOWN && sign);
    return sign | (infinite ? 0x7c00 : 0x7bff);
}

uint16_t cpu_half_round(const struct cpu_core *core, double value, bool alternative, bool flush)
{
    const enum cpu_rounding mode = cpu_rounding_of(core);
    const uint64_t bits = f64_bits(value), fraction = bits & ((UINT64_C(1) << 52) - 1);
    const uint16_t sign = (uint16_t)(bits >> 48 & 0x8000);
    const int exponent = (int)(bits >> 52 & 0x7ff) - 1023;
    if (exponent == 1024)
        return fraction ? sign | 0x7e00 : alternative ? sign | 0x7fff : sign | 0x7c00;
    if (exponent == -1023) /* zero, or a double denormal: far below */
        return fraction && !flush && rounds_up(mode, sign, false, 1, 2) ? sign | 1 : sign;
    if (exponent < -14 && flush && core->fpcr & CPU_FPCR_FZ16)
        return sign;
    /* The unit of the result is 2^(exponent-10), at least 2^-24. */
    const int unit = exponent < -14 ? -24 : exponent - 10;
    const unsigned shift = (unsigned)(unit - (exponent - 52));
    const uint64_t significand = UINT64_C(1) << 52 | fraction;
    uint64_t kept = shift > 60 ? 0 : significand >> shift;
    const uint64_t rest = shift > 60 ? 1 : significand & ((UINT64_C(1) << shift) - 1);
    const uint64_t half = shift > 60 ? 2 : UINT64_C(1) << (shift - 1);
    kept += rounds_up(mode, sign, kept & 1, rest, half);
    if (exponent < -14)
        return (uint16_t)(sign | kept); /* a carry yields the smallest normal number by itself */
    const uint64_t result = ((uint64_t)(exponent + 15) << 10) + (kept - 1024);
    return result >= (alternative ? 0x8000u : 0x7c00u) ? overflow(mode, sign, alternative) : (uint16_t)(sign | result);
}

double cpu_round_integral(double x, enum cpu_rounding mode)
{
    if (!(fabs(x) < 0x1p52))
        return x;
    const double below = floor(x), part = x - below; /* exact, or close to 1 for tiny negative x */
    double r;
    switch (mode) {
    case CPU_ROUND_UP: r = ceil(x); break;
    case CPU_ROUND_DOWN: r = below; break;
    case CPU_ROUND_ZERO: r = trunc(x); break;
    case CPU_ROUND_AWAY: r = part > 0.5 || (part == 0.5 && x > 0) ? ceil(x) : below; break;
    default: r = part > 0.5 || (part == 0.5 && fmod(below, 2) != 0) ? ceil(x) : below; break;
    }
    return copysign(r, x);
}

unsigned cpu_recip_estimate(unsigned a)
{
    a = a * 2 + 1;
    const unsigned b = (1u << 19) / a;
    return (b + 1) / 2;
}

unsigned cpu_rsqrt_estimate(unsigned a)
{
    a = a < 256 ? a * 2 + 1 : (((a >> 1) << 1) + 1) * 2;
    unsigned b = 512;
    while (a * (b + 1) * (b + 1) < 1u << 28)
        b++;
    return (b + 1) / 2;
}

/* NaNs keep their sign and leading fraction bits and become quiet. frac: fraction bits of the formats. */
static uint64_t convert_nan(const struct cpu_core *core, uint64_t nan, unsigned from_width, unsigned from_frac, unsigned to_width,
                            unsigned to_frac)
{
    const uint64_t ones = (UINT64_C(1) << (to_width - 1 - to_frac)) - 1;
    const uint64_t quiet = ones << to_frac | UINT64_C(1) << (to_frac - 1);
    if (core->fpcr & CPU_FPCR_DN)
        return quiet;
    const uint64_t fraction = nan & ((UINT64_C(1) << from_frac) - 1);
    return quiet | (nan >> (from_width - 1)) << (to_width - 1) |
           (to_frac > from_frac ? fraction << (to_frac - from_frac) : fraction >> (from_frac - to_frac));
}

static bool flush(const struct cpu_core *core)
{
    return core->fpcr & CPU_FPCR_FZ;
}

static uint64_t single_in(const struct cpu_core *core, uint64_t n)
{
    return flush(core) && !(n & 0x7f800000) ? n & 0x80000000 : n;
}

static uint64_t double_in(const struct cpu_core *core, uint64_t n)
{
    return flush(core) && !(n & UINT64_C(0x7ff) << 52) ? n & UINT64_C(1) << 63 : n;
}

static bool half_is_nan(const struct cpu_core *core, uint64_t n)
{
    return (n & 0x7fff) > 0x7c00 && !(core->fpcr & CPU_FPCR_AHP);
}

uint64_t fp_16_to_32(struct cpu_core *core, uint64_t n)
{
    if (half_is_nan(core, n))
        return convert_nan(core, n, 16, 10, 32, 23);
    return f32_bits((float)cpu_half_value((uint16_t)n, core->fpcr & CPU_FPCR_AHP));
}

uint64_t fp_16_to_64(struct cpu_core *core, uint64_t n)
{
    if (half_is_nan(core, n))
        return convert_nan(core, n, 16, 10, 64, 52);
    return f64_bits(cpu_half_value((uint16_t)n, core->fpcr & CPU_FPCR_AHP));
}

uint64_t fp_32_to_64(struct cpu_core *core, uint64_t n)
{
    const uint64_t a = single_in(core, n);
    if ((a & 0x7fffffff) > 0x7f800000)
        return convert_nan(core, a, 32, 23, 64, 52);
    return f64_bits((double)f32_of_bits((uint32_t)a));
}

/* The alternative half format has no NaN: a NaN becomes a zero of its sign. */
uint64_t fp_32_to_16(struct cpu_core *core, uint64_t n)
{
    const uint64_t a = single_in(core, n);
    if ((a & 0x7fffffff) > 0x7f800000)
        return core->fpcr & CPU_FPCR_AHP ? a >> 16 & 0x8000 : convert_nan(core, a, 32, 23, 16, 10);
    return cpu_half_round(core, (double)f32_of_bits((uint32_t)a), core->fpcr & CPU_FPCR_AHP, false);
}

static bool double_is_nan(uint64_t a)
{
    return (a & ~(UINT64_C(1) << 63)) > UINT64_C(0x7ff) << 52;
}

uint64_t fp_64_to_16(struct cpu_core *core, uint64_t n)
{
    const uint64_t a = double_in(core, n);
    if (double_is_nan(a))
        return core->fpcr & CPU_FPCR_AHP ? a >> 48 & 0x8000 : convert_nan(core, a, 64, 52, 16, 10);
    return cpu_half_round(core, f64_of_bits(a), core->fpcr & CPU_FPCR_AHP, false);
}

uint64_t fp_64_to_32(struct cpu_core *core, uint64_t n)
{
    const uint64_t a = double_in(core, n);
    if (double_is_nan(a))
        return convert_nan(core, a, 64, 52, 32, 23);
    const double value = f64_of_bits(a);
    const uint32_t r = f32_bits((float)value);
    return flush(core) && fabs(value) < 0x1p-126 ? r & 0x80000000 : r;
}

/* FCVTXN: truncates, and sets the last bit when anything was cut off. */
uint64_t fp_64_to_32_odd(struct cpu_core *core, uint64_t n)
{
    const uint64_t a = double_in(core, n);
    if (double_is_nan(a))
        return convert_nan(core, a, 64, 52, 32, 23);
    const double value = f64_of_bits(a);
    if (flush(core) && fabs(value) < 0x1p-126)
        return a >> 32 & 0x80000000;
    float r = (float)value;
    if ((double)r == value)
        return f32_bits(r);
    uint32_t bits = f32_bits(r);
    if (fabs((double)r) > fabs(value))
        bits--; /* one step toward zero */
    return bits | 1;
}

uint64_t fp_half_input(const struct cpu_core *core, uint64_t n)
{
    return core->fpcr & CPU_FPCR_FZ16 && !(n & 0x7c00) ? n & 0x8000 : n;
}

/* The factors are exact in single precision, and so are NaNs, signalling ones included: the rules of the fused sum hold. */
static uint64_t widen_keeping_nan(uint64_t n)
{
    if ((n & 0x7fff) > 0x7c00)
        return (n & 0x8000) << 16 | 0x7f800000 | (n & 0x3ff) << 13;
    return f32_bits((float)cpu_half_value((uint16_t)n, false));
}

uint64_t fp_widening_fma(struct cpu_core *core, uint64_t d, uint64_t n, uint64_t m)
{
    return fp_fma_32(core, d, widen_keeping_nan(n), widen_keeping_nan(m));
}
