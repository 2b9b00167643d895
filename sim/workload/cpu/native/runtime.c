/* What functions of objects usually need from a C library: memory, strings, mathematics. Linked when an object asks for it and
 * nothing else defines it, so every name here is weak.
 *
 * `make runtime` compiles this for AArch64 into cpu/program_runtime.inc, which is checked in: no cross compiler is needed to
 * use it. The suite program_runtime compiles it for the host as well (RUNTIME_PREFIX) and compares with the host's library.
 *
 * Errors of functions of double: exp, log, log2, log10, sin, cos, tanh, sqrt ... about one unit in the last place; pow, tan,
 * asin, acos, atan, sinh, cosh, erf two or three. Those of float are computed in double. sin, cos and tan answer NaN beyond 1.6
 * million.
 */
#include <stddef.h>
#include <stdint.h>

#ifdef RUNTIME_PREFIX
#define JOIN2(a, b) a##b
#define JOIN(a, b)  JOIN2(a, b)
#define F(name)     JOIN(RUNTIME_PREFIX, name)
#define PUBLIC      static __attribute__((unused))
#else
#define F(name) name
#define PUBLIC  __attribute__((weak, visibility("default")))
#endif

/* ---- memory and strings ---- */

PUBLIC void *F(memmove)(void *to, const void *from, size_t bytes)
{
    uint8_t *a = to;
    const uint8_t *b = from;
    if (a < b || a >= b + bytes) {
        for (; bytes >= 16; bytes -= 16, a += 16, b += 16) {
            uint64_t low, high;
            __builtin_memcpy(&low, b, 8);
            __builtin_memcpy(&high, b + 8, 8);
            __builtin_memcpy(a, &low, 8);
            __builtin_memcpy(a + 8, &high, 8);
        }
        while (bytes--)
            *a++ = *b++;
    } else {
        for (; bytes >= 16; bytes -= 16) {
            uint64_t low, high;
            __builtin_memcpy(&low, b + bytes - 16, 8);
            __builtin_memcpy(&high, b + bytes - 8, 8);
            __builtin_memcpy(a + bytes - 16, &low, 8);
            __builtin_memcpy(a + bytes - 8, &high, 8);
        }
        while (bytes--)
            a[bytes] = b[bytes];
    }
    return to;
}

PUBLIC void *F(memcpy)(void *to, const void *from, size_t bytes)
{
    return F(memmove)(to, from, bytes);
}

PUBLIC void *F(memset)(void *to, int value, size_t bytes)
{
    uint8_t *a = to;
    const uint64_t word = (uint8_t)value * UINT64_C(0x0101010101010101);
    for (; bytes >= 16; bytes -= 16, a += 16) {
        __builtin_memcpy(a, &word, 8);
        __builtin_memcpy(a + 8, &word, 8);
    }
    while (bytes--)
        *a++ = (uint8_t)value;
    return to;
}

PUBLIC int F(memcmp)(const void *x, const void *y, size_t bytes)
{
    const uint8_t *a = x, *b = y;
    for (size_t i = 0; i < bytes; i++)
        if (a[i] != b[i])
            return a[i] < b[i] ? -1 : 1;
    return 0;
}

PUBLIC size_t F(strlen)(const char *text)
{
    size_t n = 0;
    while (text[n])
        n++;
    return n;
}

PUBLIC int F(strcmp)(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return (uint8_t)*a - (uint8_t)*b;
}

PUBLIC int F(strncmp)(const char *a, const char *b, size_t n)
{
    while (n && *a && *a == *b)
        a++, b++, n--;
    return n ? (uint8_t)*a - (uint8_t)*b : 0;
}

PUBLIC char *F(strcpy)(char *to, const char *from)
{
    char *a = to;
    while ((*a++ = *from++))
        continue;
    return to;
}

/* ---- mathematics ---- */

#include "sim/workload/cpu/native/runtime_numbers.h"
#include "sim/workload/cpu/native/runtime_circles.h"

/* ---- others ---- */

PUBLIC double F(fmod)(double x, double y)
{
    uint64_t a = bits_of(x) & INT64_MAX, b = bits_of(y) & INT64_MAX;
    if (!b || a >= UINT64_C(0x7ff0000000000000) || b > UINT64_C(0x7ff0000000000000))
        return NOT;
    double left = of_bits(a);
    const double of = of_bits(b);
    while (left >= of) {
        const int gap = (int)(bits_of(left) >> 52) - (int)(b >> 52);
        double step = F(ldexp)(of, gap > 0 ? gap : 0);
        if (step > left)
            step *= 0.5;
        left -= step;
    }
    return F(copysign)(left, x);
}

PUBLIC double F(hypot)(double x, double y)
{
    const double a = F(fmax)(size_of(x), size_of(y)), b = F(fmin)(size_of(x), size_of(y));
    if (a == INF || a == 0)
        return a;
    if (x != x || y != y)
        return x + y;
    const double q = b / a;
    return a * __builtin_sqrt(__builtin_fma(q, q, 1));
}

PUBLIC double F(erf)(double x)
{
    const double a = size_of(x), z = a * a;
    double sum = 0;
    if (x != x)
        return x;
    if (a > 6)
        return F(copysign)(1, x);
    if (a < 2.5) {
        double term = a;
        for (int n = 1; n < 60; n++) {
            sum += term;
            term *= 2 * z / (2 * n + 1);
        }
        return F(copysign)(1.1283791670955126 * sum * F(exp)(-z), x);
    }
    for (int n = 60; n > 0; n--)
        sum = 0.5 * n / (a + sum);
    return F(copysign)(1 - F(exp)(-z) * 0.5641895835477563 / (a + sum), x);
}

/* ---- the same in float ---- */

#define FLOAT1(name)                                                                                                             \
    PUBLIC float F(name##f)(float x)                                                                                             \
    {                                                                                                                            \
        return (float)F(name)(x);                                                                                                \
    }
#define FLOAT2(name)                                                                                                             \
    PUBLIC float F(name##f)(float x, float y)                                                                                    \
    {                                                                                                                            \
        return (float)F(name)(x, y);                                                                                             \
    }
FLOAT1(fabs)
FLOAT1(floor)
FLOAT1(ceil)
FLOAT1(trunc)
FLOAT1(rint)
FLOAT1(nearbyint)
FLOAT1(round)
FLOAT1(exp)
FLOAT1(exp2)
FLOAT1(expm1)
FLOAT1(log)
FLOAT1(log2)
FLOAT1(log10)
FLOAT1(log1p)
FLOAT1(cbrt)
FLOAT1(sinh)
FLOAT1(cosh)
FLOAT1(tanh)
FLOAT1(sin)
FLOAT1(cos)
FLOAT1(tan)
FLOAT1(atan)
FLOAT1(asin)
FLOAT1(acos)
FLOAT1(erf)
FLOAT2(pow)
FLOAT2(atan2)
FLOAT2(fmod)
FLOAT2(hypot)
FLOAT2(copysign)
FLOAT2(fmin)
FLOAT2(fmax)
PUBLIC float F(sqrtf)(float x)
{
    return __builtin_sqrtf(x);
}
PUBLIC float F(fmaf)(float x, float y, float z)
{
    return __builtin_fmaf(x, y, z);
}
PUBLIC float F(ldexpf)(float x, int n)
{
    return (float)F(ldexp)(x, n);
}
