/* Functions of four numbers in float32. Bounds: units/routines/function_truth.c. */
#ifndef ORCHARD_UNITS_CPU_KERNELS_NATIVE_NEON_MATH_H
#define ORCHARD_UNITS_CPU_KERNELS_NATIVE_NEON_MATH_H

#include <arm_neon.h>
#include <stdint.h>

/* Two-part constants: value = high + low. */
#define LN2_HIGH 0x1.62e4p-1F
#define LN2_LOW  0x1.7f7d1cp-20F
#define LOG2E    0x1.715476p+0F

static inline float32x4_t four(float x)
{
    return vdupq_n_f32(x);
}

/* c[0] + c[1] x + ... */
static inline float32x4_t polynomial(float32x4_t x, const float *c, int count)
{
    float32x4_t sum = four(c[count - 1]);
    for (int i = count - 1; i-- > 0;)
        sum = vfmaq_f32(four(c[i]), sum, x);
    return sum;
}

/* x 2^n for |n| up to 250, in two steps, so that it may overflow or vanish only at the end. */
static inline float32x4_t scale2(float32x4_t x, int32x4_t n)
{
    const int32x4_t half = vshrq_n_s32(n, 1), rest = vsubq_s32(n, half), one = vdupq_n_s32(127);
    x = vmulq_f32(x, vreinterpretq_f32_s32(vshlq_n_s32(vaddq_s32(half, one), 23)));
    return vmulq_f32(x, vreinterpretq_f32_s32(vshlq_n_s32(vaddq_s32(rest, one), 23)));
}

/* e^r for |r| <= ln2 / 2: the series, whose rest is below u / 10. */
static inline float32x4_t exp_near_0(float32x4_t r)
{
    static const float c[] = {1, 1, 0x1p-1F, 0x1.555556p-3F, 0x1.555556p-5F, 0x1.111112p-7F, 0x1.6c16c2p-10F, 0x1.a01a02p-13F};
    return polynomial(r, c, 8);
}

static inline float32x4_t exp4(float32x4_t x)
{
    const float32x4_t limited = vminq_f32(vmaxq_f32(x, four(-110)), four(90)), n = vrndnq_f32(vmulq_f32(limited, four(LOG2E)));
    float32x4_t r = vfmsq_f32(limited, n, four(LN2_HIGH));
    r = vfmsq_f32(r, n, four(LN2_LOW));
    return scale2(exp_near_0(r), vcvtq_s32_f32(n));
}

static inline float32x4_t exp2_4(float32x4_t x)
{
    const float32x4_t limited = vminq_f32(vmaxq_f32(x, four(-160)), four(130)), n = vrndnq_f32(limited);
    return scale2(exp_near_0(vmulq_f32(vsubq_f32(limited, n), four(0x1.62e43p-1F))), vcvtq_s32_f32(n));
}

/* The logarithm of m in [sqrt 1/2, sqrt 2) as *high + result, and the exponent: x = m 2^e. log(1 + f) = f - (f f / 2 - s (f f / 2
 * + R)), s = f / (2 + f), R the series of 2 artanh s beyond its first term. */
static inline float32x4_t log_parts(float32x4_t x, float32x4_t *exponent, float32x4_t *high)
{
    static const float c[] = {0x1.555556p-1F, 0x1.99999ap-2F, 0x1.249249p-2F, 0x1.c71c72p-3F, 0x1.745d18p-3F};
    const uint32x4_t tiny = vcltq_f32(x, four(0x1p-126F));
    x = vbslq_f32(tiny, vmulq_f32(x, four(0x1p25F)), x);
    const int32x4_t bits = vsubq_s32(vreinterpretq_s32_f32(x), vdupq_n_s32(0x3f3504f3));
    const float32x4_t less = vbslq_f32(tiny, four(25), four(0));
    *exponent = vsubq_f32(vcvtq_f32_s32(vshrq_n_s32(bits, 23)), less);
    const int32x4_t m = vaddq_s32(vandq_s32(bits, vdupq_n_s32(0x7fffff)), vdupq_n_s32(0x3f3504f3));
    const float32x4_t f = vsubq_f32(vreinterpretq_f32_s32(m), four(1)), s = vdivq_f32(f, vaddq_f32(f, four(2)));
    const float32x4_t z = vmulq_f32(s, s), r = vmulq_f32(z, polynomial(z, c, 5)), half = vmulq_f32(vmulq_f32(f, f), four(0.5F));
    *high = f;
    return vfmsq_f32(vmulq_f32(s, vaddq_f32(half, r)), half, four(1));
}

/* Zero, infinities, negative numbers and NaN, which log_parts does not know. */
static inline float32x4_t log_ends(float32x4_t x, float32x4_t y)
{
    const float32x4_t infinity = four(__builtin_inff());
    y = vbslq_f32(vceqq_f32(x, infinity), x, y);
    y = vbslq_f32(vceqzq_f32(x), vnegq_f32(infinity), y);
    return vbslq_f32(vcgeq_f32(x, four(0)), y, four(__builtin_nanf("")));
}

static inline float32x4_t log4(float32x4_t x)
{
    float32x4_t e, f;
    const float32x4_t rest = log_parts(x, &e, &f);
    return log_ends(x, vfmaq_f32(vaddq_f32(vfmaq_f32(rest, e, four(LN2_LOW)), f), e, four(LN2_HIGH)));
}

/* f log2(e) in two parts: the high one has few bits, so that the product with e's sum is exact enough near 1. */
static inline float32x4_t log2_4(float32x4_t x)
{
    float32x4_t e, f;
    const float32x4_t rest = log_parts(x, &e, &f);
    const float32x4_t low = vfmaq_f32(vmulq_f32(f, four(0x1.4ae0cp-26F)), rest, four(LOG2E));
    return log_ends(x, vaddq_f32(e, vfmaq_f32(low, f, four(LOG2E))));
}

static inline float32x4_t sigmoid4(float32x4_t x)
{
    return vdivq_f32(four(1), vaddq_f32(four(1), exp4(vnegq_f32(x))));
}

/* x sigmoid(x), which is 0 where e^-x overflows. */
static inline float32x4_t silu4(float32x4_t x)
{
    return vdivq_f32(x, vaddq_f32(four(1), exp4(vnegq_f32(x))));
}

static inline float32x4_t gelu_tanh4(float32x4_t x)
{
    const float32x4_t z = vmulq_f32(vfmaq_f32(four(1.59576912F), vmulq_f32(x, x), four(0.0713548163F)), x);
    return vdivq_f32(x, vaddq_f32(four(1), exp4(vnegq_f32(z))));
}

/* erfc(z) for z >= 0 is P(t) e^(-z z), t = 1 / (1 + 0.4 z); P, a minimax fit, is within 0.03 u. */
static inline float32x4_t erfc4(float32x4_t z)
{
    static const float p[] = {0.225077517F,  0.235331982F, 0.14323996F,   0.403749898F,
                              -0.372310702F, 0.687840724F, -0.398430963F, 0.0755015823F};
    z = vminq_f32(z, four(10.5F));
    const float32x4_t t = vdivq_f32(four(1), vfmaq_f32(four(1), z, four(0.4F)));
    return vmulq_f32(vmulq_f32(polynomial(t, p, 8), t), exp4(vnegq_f32(vmulq_f32(z, z))));
}

static inline float32x4_t with_sign(float32x4_t size, float32x4_t x)
{
    return vbslq_f32(vdupq_n_u32(0x80000000), x, size);
}

static inline float32x4_t erf4(float32x4_t x)
{
    return with_sign(vsubq_f32(four(1), erfc4(vabsq_f32(x))), x);
}

/* max(x, 0) - |x| erfc(|x| / sqrt 2) / 2: no cancellation on either side. */
static inline float32x4_t gelu4(float32x4_t x)
{
    const float32x4_t size = vabsq_f32(x), tail = erfc4(vmulq_f32(size, four(0.707106781F)));
    return vfmsq_f32(vmaxq_f32(x, four(0)), vmulq_f32(tail, size), four(0.5F));
}

/* |x| < 0.6: x + x^3 P(x^2), within 0.05 u; otherwise 1 - 2 / (e^2|x| + 1). */
static inline float32x4_t tanh4(float32x4_t x)
{
    static const float p[] = {-0.333332993F, 0.133319582F, -0.0537866814F, 0.0208053776F, -0.0059058607F};
    const float32x4_t square = vmulq_f32(x, x), size = vabsq_f32(x);
    const float32x4_t near = vfmaq_f32(x, vmulq_f32(polynomial(square, p, 5), square), x);
    const float32x4_t power = exp4(vaddq_f32(size, size)),
                      far = vsubq_f32(four(1), vdivq_f32(four(2), vaddq_f32(power, four(1))));
    return vbslq_f32(vcltq_f32(size, four(0.6F)), near, with_sign(far, x));
}

/* e^x - 1 for x <= 0: x + x^2 P(x) down to -0.5, within u / 1000. */
static inline float32x4_t expm1_4(float32x4_t x)
{
    static const float p[] = {0.499999997F, 0.166666565F, 0.0416653322F, 0.00832528146F, 0.00136413722F, 0.000160247256F};
    const float32x4_t near = vfmaq_f32(x, vmulq_f32(polynomial(x, p, 6), x), x);
    return vbslq_f32(vcgtq_f32(x, four(-0.5F)), near, vsubq_f32(exp4(x), four(1)));
}

static inline float32x4_t elu4(float32x4_t x, float scale, float alpha)
{
    const float32x4_t low = vmulq_f32(expm1_4(vminq_f32(x, four(0))), four(alpha));
    return vmulq_f32(vbslq_f32(vcgtq_f32(x, four(0)), x, low), four(scale));
}

/* max(x, 0) + log(w), w = 1 + e^-|x| rounded, corrected by what the rounding lost, divided by w. */
static inline float32x4_t softplus4(float32x4_t x)
{
    const float32x4_t p = exp4(vnegq_f32(vabsq_f32(x))), w = vaddq_f32(p, four(1));
    const float32x4_t lost = vsubq_f32(p, vsubq_f32(w, four(1)));
    return vaddq_f32(vmaxq_f32(x, four(0)), vaddq_f32(log4(w), vdivq_f32(lost, w)));
}

/* x tanh(log(1 + e^x)) = x n / (n + 2), n = e^x (e^x + 2); beyond 20 that is x. */
static inline float32x4_t mish4(float32x4_t x)
{
    const float32x4_t p = exp4(vminq_f32(x, four(20))), n = vmulq_f32(p, vaddq_f32(p, four(2)));
    return vmulq_f32(x, vdivq_f32(n, vaddq_f32(n, four(2))));
}

static inline float32x4_t hard_sigmoid4(float32x4_t x)
{
    const float32x4_t limited = vminq_f32(vmaxq_f32(vaddq_f32(x, four(3)), four(0)), four(6));
    return vmulq_f32(limited, four(1.0F / 6.0F));
}

/* ---- sine and cosine: x = n pi/2 + r, |r| <= pi/4, n pi/2 subtracted in three parts ---- */

static inline float32x4_t sine_of(float32x4_t x, int quarter)
{
    static const float s[] = {-0x1.555556p-3F, 0x1.111112p-7F, -0x1.a01a02p-13F, 0x1.71de3ap-19F};
    static const float c[] = {-0.5F, 0x1.555556p-5F, -0x1.6c16c2p-10F, 0x1.a01a02p-16F, -0x1.27e4fcp-22F};
    const float32x4_t n = vrndnq_f32(vmulq_f32(x, four(0.636619772F)));
    float32x4_t r = vfmsq_f32(x, n, four(0x1.92p+0F));
    r = vfmsq_f32(r, n, four(0x1.fb4p-12F));
    r = vfmsq_f32(r, n, four(0x1.4442d2p-24F));
    const int32x4_t turn = vaddq_s32(vcvtq_s32_f32(n), vdupq_n_s32(quarter));
    const float32x4_t z = vmulq_f32(r, r);
    const float32x4_t sine = vfmaq_f32(r, vmulq_f32(polynomial(z, s, 4), z), r);
    const float32x4_t cosine = vfmaq_f32(four(1), polynomial(z, c, 5), z);
    const uint32x4_t odd = vtstq_s32(turn, vdupq_n_s32(1));
    const uint32x4_t sign = vreinterpretq_u32_s32(vshlq_n_s32(vandq_s32(turn, vdupq_n_s32(2)), 30));
    return vreinterpretq_f32_u32(veorq_u32(vreinterpretq_u32_f32(vbslq_f32(odd, cosine, sine)), sign));
}

static inline float32x4_t sin4(float32x4_t x)
{
    return sine_of(x, 0);
}

static inline float32x4_t cos4(float32x4_t x)
{
    return sine_of(x, 1);
}

/* 2^(y log2 x), x >= 0; NaN for negative x. */
static inline float32x4_t pow4(float32x4_t x, float32x4_t y)
{
    return vbslq_f32(vceqzq_f32(y), four(1), exp2_4(vmulq_f32(log2_4(x), y)));
}

#endif
