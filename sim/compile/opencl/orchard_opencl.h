/* Functions of OpenCL C that the compiler has no instructions for, in OpenCL C. Every source gets them (-include), and what is
 * not called vanishes. Nobody else's text: each is made of its definition and of series; the polynomial of erfc is a Chebyshev
 * interpolation of log(erfc(x) / t) + x * x, with t = 2 / (2 + x). */
#ifndef ORCHARD_OPENCL_H
#define ORCHARD_OPENCL_H

#define ORCHARD_CL static inline __attribute__((overloadable, always_inline))

/* ---- remainders: exact, one bit of the quotient at a time ---- */

/* The remainder of the magnitudes; *quotient gets the lowest bits of the quotient. Subnormal numbers count as zeros. */
ORCHARD_CL float orchard_cl_rest(float x, float y, uint *quotient)
{
    const uint a = as_uint(x) & 0x7fffffffu, b = as_uint(y) & 0x7fffffffu;
    *quotient = 0;
    if (a >= 0x7f800000u || b > 0x7f800000u || b < 0x00800000u)
        return NAN;
    if (a < b)
        return as_float(a);
    uint rest = (a & 0x7fffffu) | 0x800000u, n = 0;
    const uint by = (b & 0x7fffffu) | 0x800000u;
    for (uint left = (a >> 23) - (b >> 23);; left--) {
        const bool fits = rest >= by;
        rest = fits ? rest - by : rest;
        n = n << 1 | fits;
        if (left == 0)
            break;
        rest <<= 1;
    }
    *quotient = n;
    const int up = (int)clz(rest) - 8, exponent = (int)(b >> 23) - up;
    return rest == 0 || exponent <= 0 ? 0.0f : as_float((uint)exponent << 23 | ((rest << up) & 0x7fffffu));
}

ORCHARD_CL float fmod(float x, float y)
{
    uint quotient;
    return copysign(orchard_cl_rest(x, y, &quotient), x);
}

ORCHARD_CL float orchard_cl_remquo(float x, float y, int *quotient)
{
    uint n;
    float rest = orchard_cl_rest(x, y, &n);
    const float size = fabs(y);
    const bool small = size < 0x1p-120f, above = small ? rest + rest > size : rest > 0.5f * size;
    const bool same = small ? rest + rest == size : rest == 0.5f * size;
    if (above || (same && (n & 1))) {
        rest -= size;
        n++;
    }
    n &= 0x7fffffu;
    *quotient = signbit(x) != signbit(y) ? -(int)n : (int)n;
    return rest == 0 ? copysign(0.0f, x) : signbit(x) ? -rest : rest;
}

ORCHARD_CL float remainder(float x, float y)
{
    int quotient;
    return orchard_cl_remquo(x, y, &quotient);
}

/* ---- inverse hyperbolic functions ---- */

ORCHARD_CL float asinh(float x)
{
    const float a = fabs(x);
    if (a >= 0x1p12f)
        return copysign(log(a) + 0x1.62e43p-1f, x);
    return a < 0x1p-12f ? x : copysign(log1p(a + a * a / (1.0f + sqrt(fma(a, a, 1.0f)))), x);
}

ORCHARD_CL float acosh(float x)
{
    const float t = x - 1.0f;
    return x >= 0x1p12f ? log(x) + 0x1.62e43p-1f : log1p(t + sqrt(fma(t, t, t + t)));
}

ORCHARD_CL float atanh(float x)
{
    const float a = fabs(x);
    return a < 0x1p-12f ? x : copysign(0.5f * log1p((a + a) / (1.0f - a)), x);
}

/* ---- error functions ---- */

ORCHARD_CL float orchard_cl_erf_small(float x)
{
    const float s = x * x;
    float r = -1.4925650e-5f; /* 2 / sqrt(pi) * (-1)^n / (n! * (2 * n + 1)), n = 7 ... 1 */
    r = fma(r, s, 1.2055332e-4f);
    r = fma(r, s, -8.5483270e-4f);
    r = fma(r, s, 5.2239776e-3f);
    r = fma(r, s, -2.6866170e-2f);
    r = fma(r, s, 1.1283791e-1f);
    r = fma(r, s, -3.7612638e-1f);
    return fma(r * s, x, fma(x, 1.2837917e-1f, x)); /* 2 / sqrt(pi) = 1.128... */
}

/* From 0.7 to where the result is zero. */
ORCHARD_CL float orchard_cl_erfc_large(float x)
{
    const float t = 2.0f / (2.0f + x), u = (t - 0.45167118f) * 3.459375f, head = as_float(as_uint(x) & 0xfffff000u);
    float p = 3.5344868e-6f;
    p = fma(p, u, -7.9718489e-6f);
    p = fma(p, u, -4.2033438e-5f);
    p = fma(p, u, 1.2044131e-4f);
    p = fma(p, u, 4.7485106e-4f);
    p = fma(p, u, -1.5434113e-3f);
    p = fma(p, u, -8.1725852e-3f);
    p = fma(p, u, 2.0158710e-2f);
    p = fma(p, u, 3.8285300e-1f);
    p = fma(p, u, -7.3632646e-1f);
    return x > 10.2f ? 0.0f : t * exp(-head * head) * exp(fma(head - x, head + x, p));
}

ORCHARD_CL float erf(float x)
{
    const float a = fabs(x);
    if (isnan(x))
        return x;
    return a < 0.75f ? orchard_cl_erf_small(x) : copysign(a > 4.0f ? 1.0f : 1.0f - orchard_cl_erfc_large(a), x);
}

ORCHARD_CL float erfc(float x)
{
    const float a = fabs(x);
    if (isnan(x))
        return x;
    if (a < 0.75f)
        return 1.0f - orchard_cl_erf_small(x);
    const float r = orchard_cl_erfc_large(a);
    return x < 0 ? 2.0f - r : r;
}

/* ---- gamma ---- */

/* log(gamma(2 + z)), |z| <= 0.5: the series of zeta(k) - 1. */
ORCHARD_CL float orchard_cl_lgamma_two(float z)
{
    float r = -9.4394883e-6f;
    r = fma(r, z, 2.0507213e-5f);
    r = fma(r, z, -4.4926237e-5f);
    r = fma(r, z, 9.9457513e-5f);
    r = fma(r, z, -2.2315475e-4f);
    r = fma(r, z, 5.0966952e-4f);
    r = fma(r, z, -1.1927539e-3f);
    r = fma(r, z, 2.8905103e-3f);
    r = fma(r, z, -7.3855510e-3f);
    r = fma(r, z, 2.0580808e-2f);
    r = fma(r, z, -6.7352301e-2f);
    r = fma(r, z, 3.2246703e-1f);
    return z * fma(r, z, 4.2278434e-1f);
}

/* 1 / (12 x) - 1 / (360 x^3) + 1 / (1260 x^5) */
ORCHARD_CL float orchard_cl_stirling(float x)
{
    const float r = 1.0f / x, s = r * r;
    return r * fma(s, fma(s, 7.9365079e-4f, -2.7777778e-3f), 8.3333333e-2f);
}

ORCHARD_CL float orchard_cl_lgamma_positive(float x)
{
    if (x < 0.5f)
        return orchard_cl_lgamma_two(x) - log1p(x) - log(x);
    if (x < 1.5f)
        return orchard_cl_lgamma_two(x - 1.0f) - log1p(x - 1.0f);
    if (x <= 2.5f)
        return orchard_cl_lgamma_two(x - 2.0f);
    if (x > 6.5f)
        return fma(x - 0.5f, log(x) - 1.0f, 0.41893853f + orchard_cl_stirling(x));
    float by = 1.0f;
    while (x > 2.5f) {
        x -= 1.0f;
        by *= x;
    }
    return orchard_cl_lgamma_two(x - 2.0f) + log(by);
}

ORCHARD_CL float orchard_cl_lgamma(float x, int *sign)
{
    *sign = 1;
    if (isnan(x))
        return x;
    if (isinf(x))
        return INFINITY;
    if (x > 0)
        return orchard_cl_lgamma_positive(x);
    const float s = sinpi(x);
    if (s == 0)
        return INFINITY;
    *sign = s < 0 ? -1 : 1;
    return log(0x1.921fb6p+1f / fabs(x * s)) - orchard_cl_lgamma_positive(-x);
}

ORCHARD_CL float lgamma(float x)
{
    int sign;
    return orchard_cl_lgamma(x, &sign);
}

/* Stirling's formula from 8 on, to which smaller numbers are moved; what the moving rounds off comes back through the slope. */
ORCHARD_CL float orchard_cl_tgamma_positive(float x)
{
    float by = 1.0f, up = 0.0f;
    for (float at = x; at < 8.0f; at += 1.0f) {
        by *= x + up;
        up += 1.0f;
    }
    const float y = x + up, lost = x - (y - up), slope = log(y) - 0.5f / y;
    const float half_power = pow(y, fma(0.5f, y, -0.25f));
    const float r = 2.5066283f * half_power * exp(-y) * half_power * exp(orchard_cl_stirling(y));
    return fma(r * lost, slope, r) / by;
}

ORCHARD_CL float tgamma(float x)
{
    if (isnan(x) || x == INFINITY || x == 0)
        return x == 0 ? copysign(INFINITY, x) : x;
    if (x > 36.0f)
        return INFINITY;
    if (x > 0)
        return orchard_cl_tgamma_positive(x);
    const float s = sinpi(x);
    if (s == 0 || x == -INFINITY)
        return NAN;
    return x < -42.0f ? copysign(0.0f, s) : 0x1.921fb6p+1f / -x / s / orchard_cl_tgamma_positive(-x);
}

/* ---- halves and vectors ---- */

#define ORCHARD_CL_LANES_1(f, T)                                                                                                 \
    ORCHARD_CL T##2 f(T##2 x)                                                                                                    \
    {                                                                                                                            \
        return (T##2)(f(x.x), f(x.y));                                                                                           \
    }                                                                                                                            \
    ORCHARD_CL T##3 f(T##3 x)                                                                                                    \
    {                                                                                                                            \
        return (T##3)(f(x.x), f(x.y), f(x.z));                                                                                   \
    }                                                                                                                            \
    ORCHARD_CL T##4 f(T##4 x)                                                                                                    \
    {                                                                                                                            \
        return (T##4)(f(x.lo), f(x.hi));                                                                                         \
    }                                                                                                                            \
    ORCHARD_CL T##8 f(T##8 x)                                                                                                    \
    {                                                                                                                            \
        return (T##8)(f(x.lo), f(x.hi));                                                                                         \
    }                                                                                                                            \
    ORCHARD_CL T##16 f(T##16 x)                                                                                                  \
    {                                                                                                                            \
        return (T##16)(f(x.lo), f(x.hi));                                                                                        \
    }
#define ORCHARD_CL_LANES_2(f, T)                                                                                                 \
    ORCHARD_CL T##2 f(T##2 x, T##2 y)                                                                                            \
    {                                                                                                                            \
        return (T##2)(f(x.x, y.x), f(x.y, y.y));                                                                                 \
    }                                                                                                                            \
    ORCHARD_CL T##3 f(T##3 x, T##3 y)                                                                                            \
    {                                                                                                                            \
        return (T##3)(f(x.x, y.x), f(x.y, y.y), f(x.z, y.z));                                                                    \
    }                                                                                                                            \
    ORCHARD_CL T##4 f(T##4 x, T##4 y)                                                                                            \
    {                                                                                                                            \
        return (T##4)(f(x.lo, y.lo), f(x.hi, y.hi));                                                                             \
    }                                                                                                                            \
    ORCHARD_CL T##8 f(T##8 x, T##8 y)                                                                                            \
    {                                                                                                                            \
        return (T##8)(f(x.lo, y.lo), f(x.hi, y.hi));                                                                             \
    }                                                                                                                            \
    ORCHARD_CL T##16 f(T##16 x, T##16 y)                                                                                         \
    {                                                                                                                            \
        return (T##16)(f(x.lo, y.lo), f(x.hi, y.hi));                                                                            \
    }
/* f(x, address) by g(x, private address); results through the address. */
#define ORCHARD_CL_OUT_1(f, g, A, T)                                                                                             \
    ORCHARD_CL T f(T x, A int *p)                                                                                                \
    {                                                                                                                            \
        int n;                                                                                                                   \
        const T r = g(x, &n);                                                                                                    \
        *p = n;                                                                                                                  \
        return r;                                                                                                                \
    }                                                                                                                            \
    ORCHARD_CL T##2 f(T##2 x, A int2 *p)                                                                                         \
    {                                                                                                                            \
        int a, b;                                                                                                                \
        const T##2 r = (T##2)(g(x.x, &a), g(x.y, &b));                                                                           \
        *p = (int2)(a, b);                                                                                                       \
        return r;                                                                                                                \
    }                                                                                                                            \
    ORCHARD_CL T##3 f(T##3 x, A int3 *p)                                                                                         \
    {                                                                                                                            \
        int a, b, c;                                                                                                             \
        const T##3 r = (T##3)(g(x.x, &a), g(x.y, &b), g(x.z, &c));                                                               \
        *p = (int3)(a, b, c);                                                                                                    \
        return r;                                                                                                                \
    }
#define ORCHARD_CL_OUT_1_WIDE(f, A, T, W, H)                                                                                     \
    ORCHARD_CL T##W f(T##W x, A int##W *p)                                                                                       \
    {                                                                                                                            \
        int##H a, b;                                                                                                             \
        const T##W r = (T##W)(f(x.lo, &a), f(x.hi, &b));                                                                         \
        *p = (int##W)(a, b);                                                                                                     \
        return r;                                                                                                                \
    }
#define ORCHARD_CL_OUT_2(f, g, A, T)                                                                                             \
    ORCHARD_CL T f(T x, T y, A int *p)                                                                                           \
    {                                                                                                                            \
        int n;                                                                                                                   \
        const T r = g(x, y, &n);                                                                                                 \
        *p = n;                                                                                                                  \
        return r;                                                                                                                \
    }                                                                                                                            \
    ORCHARD_CL T##2 f(T##2 x, T##2 y, A int2 *p)                                                                                 \
    {                                                                                                                            \
        int a, b;                                                                                                                \
        const T##2 r = (T##2)(g(x.x, y.x, &a), g(x.y, y.y, &b));                                                                 \
        *p = (int2)(a, b);                                                                                                       \
        return r;                                                                                                                \
    }                                                                                                                            \
    ORCHARD_CL T##3 f(T##3 x, T##3 y, A int3 *p)                                                                                 \
    {                                                                                                                            \
        int a, b, c;                                                                                                             \
        const T##3 r = (T##3)(g(x.x, y.x, &a), g(x.y, y.y, &b), g(x.z, y.z, &c));                                                \
        *p = (int3)(a, b, c);                                                                                                    \
        return r;                                                                                                                \
    }
#define ORCHARD_CL_OUT_2_WIDE(f, A, T, W, H)                                                                                     \
    ORCHARD_CL T##W f(T##W x, T##W y, A int##W *p)                                                                               \
    {                                                                                                                            \
        int##H a, b;                                                                                                             \
        const T##W r = (T##W)(f(x.lo, y.lo, &a), f(x.hi, y.hi, &b));                                                             \
        *p = (int##W)(a, b);                                                                                                     \
        return r;                                                                                                                \
    }
#define ORCHARD_CL_OUT(A, T)                                                                                                     \
    ORCHARD_CL_OUT_1(lgamma_r, orchard_cl_lgamma, A, T)                                                                          \
    ORCHARD_CL_OUT_1_WIDE(lgamma_r, A, T, 4, 2)                                                                                  \
    ORCHARD_CL_OUT_1_WIDE(lgamma_r, A, T, 8, 4)                                                                                  \
    ORCHARD_CL_OUT_1_WIDE(lgamma_r, A, T, 16, 8)                                                                                 \
    ORCHARD_CL_OUT_2(remquo, orchard_cl_remquo, A, T)                                                                            \
    ORCHARD_CL_OUT_2_WIDE(remquo, A, T, 4, 2)                                                                                    \
    ORCHARD_CL_OUT_2_WIDE(remquo, A, T, 8, 4)                                                                                    \
    ORCHARD_CL_OUT_2_WIDE(remquo, A, T, 16, 8)

#define ORCHARD_CL_EACH_1(f)                                                                                                     \
    ORCHARD_CL_LANES_1(f, float)                                                                                                 \
    ORCHARD_CL_HALF_1(f)
#define ORCHARD_CL_EACH_2(f)                                                                                                     \
    ORCHARD_CL_LANES_2(f, float)                                                                                                 \
    ORCHARD_CL_HALF_2(f)
#ifdef cl_khr_fp16
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define ORCHARD_CL_HALF_1(f)                                                                                                     \
    ORCHARD_CL half f(half x)                                                                                                    \
    {                                                                                                                            \
        return (half)f((float)x);                                                                                                \
    }                                                                                                                            \
    ORCHARD_CL_LANES_1(f, half)
#define ORCHARD_CL_HALF_2(f)                                                                                                     \
    ORCHARD_CL half f(half x, half y)                                                                                            \
    {                                                                                                                            \
        return (half)f((float)x, (float)y);                                                                                      \
    }                                                                                                                            \
    ORCHARD_CL_LANES_2(f, half)
ORCHARD_CL half orchard_cl_lgamma(half x, int *sign)
{
    return (half)orchard_cl_lgamma((float)x, sign);
}
ORCHARD_CL half orchard_cl_remquo(half x, half y, int *n)
{
    return (half)orchard_cl_remquo((float)x, (float)y, n);
}
#else
#define ORCHARD_CL_HALF_1(f)
#define ORCHARD_CL_HALF_2(f)
#endif

ORCHARD_CL_EACH_2(fmod)
ORCHARD_CL_EACH_2(remainder)
ORCHARD_CL_EACH_1(asinh)
ORCHARD_CL_EACH_1(acosh)
ORCHARD_CL_EACH_1(atanh)
ORCHARD_CL_EACH_1(erf)
ORCHARD_CL_EACH_1(erfc)
ORCHARD_CL_EACH_1(lgamma)
ORCHARD_CL_EACH_1(tgamma)

#ifdef __opencl_c_generic_address_space
#define ORCHARD_CL_SPACES(T) ORCHARD_CL_OUT(__generic, T)
#else
#define ORCHARD_CL_SPACES(T)                                                                                                     \
    ORCHARD_CL_OUT(__private, T)                                                                                                 \
    ORCHARD_CL_OUT(__local, T)                                                                                                   \
    ORCHARD_CL_OUT(__global, T)
#endif
ORCHARD_CL_SPACES(float)
#ifdef cl_khr_fp16
ORCHARD_CL_SPACES(half)
#endif

#undef ORCHARD_CL
#undef ORCHARD_CL_LANES_1
#undef ORCHARD_CL_LANES_2
#undef ORCHARD_CL_OUT_1
#undef ORCHARD_CL_OUT_1_WIDE
#undef ORCHARD_CL_OUT_2
#undef ORCHARD_CL_OUT_2_WIDE
#undef ORCHARD_CL_OUT
#undef ORCHARD_CL_EACH_1
#undef ORCHARD_CL_EACH_2
#undef ORCHARD_CL_HALF_1
#undef ORCHARD_CL_HALF_2
#undef ORCHARD_CL_SPACES
#endif
