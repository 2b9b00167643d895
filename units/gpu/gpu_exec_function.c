#include "units/gpu/gpu_exec_function.h"

#include "isa/agx/agx_isa.h"
#include "units/gpu/gpu_exec_numeric.h"

/* True for a double so near the middle between two floats that its own error (a few units in the last place) decides the
 * rounding. */
static bool undecided(double value)
{
    const int64_t rest = (int64_t)(f64_bits(value) & 0x1fffffff) - 0x10000000;
    return rest >= -16 && rest <= 16;
}

/* Rounds the exact value that `value` approximates within a few units in the last place of double, and `precise` to 2^-60. */
static uint32_t round_function(double value, long double (*precise)(double argument), double argument)
{
    if (!isfinite(value) || fabs(value) < 0x1p-126 || !undecided(value))
        return gpu_float_from_double(value, false);
    return f32_bits((float)precise(argument));
}

static long double precise_exp2(double x)
{
    return exp2l((long double)x);
}

static long double precise_log2(double x)
{
    return log2l((long double)x);
}

static const long double half_pi = 1.57079632679489661923132169163975144L;

static long double precise_sinc(double x)
{
    return x == 0 ? half_pi : sinl((long double)x * half_pi) / (long double)x;
}

static uint32_t reciprocal(float x)
{
    return gpu_finish32(f32_bits(1.0f / x), GPU_ONE32, GPU_ONE32, GPU_ONE32); /* 1/x never lies just below 2^-126 */
}

/* 1/sqrt(x) lies on the same side of the middle m of two floats as 1 does of m*m*x. m has 25 bits, so both products are exact
 * where it matters (fma). */
static uint32_t reciprocal_root(float x)
{
    if (isnan(x) || x < 0)
        return GPU_NAN32;
    if (x == 0)
        return signbit(x) ? GPU_INF32 | GPU_SIGN32 : GPU_INF32;
    const double value = 1.0 / sqrt((double)x);
    if (!undecided(value) || !isfinite(value))
        return gpu_float_from_double(value, false);
    const double middle = f64_of_bits((f64_bits(value) & ~UINT64_C(0x1fffffff)) | 0x10000000);
    const bool above = fma(middle * middle, (double)x, -1.0) < 0;
    const uint32_t lower = f32_bits((float)f64_of_bits(f64_bits(value) & ~UINT64_C(0x1fffffff)));
    return above ? lower + 1 : lower;
}

/* Times x this is sqrt(x), for 0 and infinity, too. The constants used there are not published; any finite positive one works. */
static uint32_t reciprocal_root_special(float x)
{
    return x == 0 || (isinf(x) && x > 0) ? GPU_ONE32 : reciprocal_root(x);
}

/* Folds an angle in quarter turns, 0 <= t < 4 (dougallj/applegpu, Mesa agx_lower_sincos; exact in float32). */
static uint32_t fold(float t)
{
    if (t < 1)
        return f32_bits(t);
    return t < 3 ? f32_bits(2.0f - t) : f32_bits(t - 4.0f);
}

static uint32_t sinc(float x)
{
    if (isinf(x))
        return GPU_NAN32;
    const double turn = x == 0 ? (double)half_pi : sin((double)x * (double)half_pi) / (double)x;
    /* Far from the quarter turn the rounding of the argument grows: take the long way. */
    if (fabsf(x) > 2)
        return gpu_float_from_double((double)precise_sinc((double)x), false);
    return round_function(turn, precise_sinc, (double)x);
}

static uint32_t logarithm(float x)
{
    if (x == 0)
        return GPU_INF32 | GPU_SIGN32;
    return x < 0 ? GPU_NAN32 : round_function(log2((double)x), precise_log2, (double)x);
}

uint32_t gpu_function(unsigned op, uint32_t bits)
{
    const float x = f32_of_bits(bits);
    if (gpu_is_nan32(bits))
        return GPU_NAN32;
    switch (op) {
    case AGX_OP_FLOOR: return f32_bits(floorf(x));
    case AGX_OP_CEIL: return f32_bits(ceilf(x));
    case AGX_OP_TRUNC: return f32_bits(truncf(x));
    case AGX_OP_RINT: return f32_bits(rintf(x));
    case AGX_OP_RCP: return reciprocal(x);
    case AGX_OP_RSQRT: return reciprocal_root(x);
    case AGX_OP_RSQRT_SPECIAL: return reciprocal_root_special(x);
    case AGX_OP_SIN_PT_1: return isinf(x) ? GPU_NAN32 : gpu_flush32(fold(x));
    case AGX_OP_SIN_PT_2: return sinc(x);
    case AGX_OP_LOG2: return logarithm(x);
    default: return round_function(exp2((double)x), precise_exp2, (double)x);
    }
}
