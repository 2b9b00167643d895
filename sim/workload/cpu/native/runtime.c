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

/* ---- parts of numbers ---- */

#define INF ((double)__builtin_inff())
#define NOT (__builtin_nan(""))

static uint64_t bits_of(double x)
{
    uint64_t u;
    __builtin_memcpy(&u, &x, 8);
    return u;
}

static double of_bits(uint64_t u)
{
    double x;
    __builtin_memcpy(&x, &u, 8);
    return x;
}

static double size_of(double x)
{
    return of_bits(bits_of(x) & INT64_MAX);
}

static int is_odd(double whole)
{
    return size_of(whole) < 9007199254740992.0 && ((int64_t)whole & 1);
}

/* x 2^n, rounded once. */
PUBLIC double F(ldexp)(double x, int n)
{
    if (n > 1023) {
        x *= 0x1p1023, n -= 1023;
        if (n > 1023)
            x *= 0x1p1023, n = n - 1023 > 1023 ? 1023 : n - 1023;
    } else if (n < -1022) {
        x *= 0x1p-969, n += 969;
        if (n < -1022)
            x *= 0x1p-969, n = n + 969 < -1022 ? -1022 : n + 969;
    }
    return x * of_bits((uint64_t)(1023 + n) << 52);
}

/* x = m 2^e with m in [sqrt(1/2), sqrt(2)). */
static double split(double x, int *e)
{
    uint64_t u = bits_of(x);
    *e = 0;
    if (u < UINT64_C(0x0010000000000000))
        u = bits_of(x * 0x1p54), *e = -54;
    u += UINT64_C(0x3ff0000000000000) - UINT64_C(0x3fe6a09e667f3bcd);
    *e += (int)(u >> 52) - 1023;
    return of_bits((u & UINT64_C(0x000fffffffffffff)) + UINT64_C(0x3fe6a09e667f3bcd));
}

PUBLIC double F(fabs)(double x)
{
    return size_of(x);
}
PUBLIC double F(sqrt)(double x)
{
    return __builtin_sqrt(x);
}
PUBLIC double F(fma)(double x, double y, double z)
{
    return __builtin_fma(x, y, z);
}
PUBLIC double F(floor)(double x)
{
    return __builtin_floor(x);
}
PUBLIC double F(ceil)(double x)
{
    return __builtin_ceil(x);
}
PUBLIC double F(trunc)(double x)
{
    return __builtin_trunc(x);
}
PUBLIC double F(rint)(double x)
{
    return __builtin_rint(x);
}
PUBLIC double F(nearbyint)(double x)
{
    return __builtin_rint(x);
}
PUBLIC double F(copysign)(double x, double y)
{
    return of_bits((bits_of(x) & INT64_MAX) | (bits_of(y) & (uint64_t)INT64_MIN));
}
PUBLIC double F(fmin)(double x, double y)
{
    return x != x || y < x ? y : x;
}
PUBLIC double F(fmax)(double x, double y)
{
    return x != x || y > x ? y : x;
}

PUBLIC double F(round)(double x)
{
    const double t = __builtin_trunc(x);
    return size_of(x - t) >= 0.5 ? t + F(copysign)(1, x) : t;
}

/* ---- pairs of doubles: the sum of a number and a small rest ---- */

struct pair {
    double high, low;
};

static struct pair add2(double a, double b)
{
    const double s = a + b, t = s - a;
    return (struct pair){s, (a - (s - t)) + (b - t)};
}

static struct pair times(struct pair a, struct pair b)
{
    const double p = a.high * b.high;
    return (struct pair){p, __builtin_fma(a.high, b.high, -p) + (a.high * b.low + a.low * b.high)};
}

static struct pair plus(struct pair a, struct pair b)
{
    const struct pair s = add2(a.high, b.high);
    const double low = s.low + (a.low + b.low), high = s.high + low;
    return (struct pair){high, low - (high - s.high)};
}

/* ---- exponentials and logarithms ---- */

/* exp(r) - 1 for |r| <= 0.35. */
static double exp_rest(double r)
{
    static const double c[] = {1 / 6227020800.0, 1 / 479001600.0, 1 / 39916800.0, 1 / 3628800.0, 1 / 362880.0, 1 / 40320.0,
                               1 / 5040.0,       1 / 720.0,       1 / 120.0,      1 / 24.0,      1 / 6.0,      0.5};
    double p = 1 / 87178291200.0;
    for (int i = 0; i < 12; i++)
        p = __builtin_fma(p, r, c[i]);
    return __builtin_fma(p * r, r, r);
}

/* exp(x + rest) with a small rest. */
static double exp_pair(double x, double rest)
{
    if (x != x)
        return x;
    if (x > 709.8)
        return INF;
    if (x < -745.2)
        return 0;
    const double n = __builtin_rint(x * 1.4426950408889634);
    double r = __builtin_fma(-n, 0.6931471805599453, x);
    r = r + __builtin_fma(-n, 2.3190468138462996e-17, rest);
    return F(ldexp)(1 + exp_rest(r), (int)n);
}

PUBLIC double F(exp)(double x)
{
    return exp_pair(x, 0);
}

PUBLIC double F(exp2)(double x)
{
    const double n = __builtin_rint(x), f = x - n, high = f * 0.6931471805599453;
    if (!(size_of(x) < 1100))
        return x != x ? x : x > 0 ? INF : 0;
    const double low = __builtin_fma(f, 0.6931471805599453, -high) + f * 2.3190468138462996e-17;
    return F(ldexp)(exp_pair(high, low), (int)n);
}

PUBLIC double F(expm1)(double x)
{
    return size_of(x) < 0.35 ? exp_rest(x) : exp_pair(x, 0) - 1;
}

/* log(x) for positive finite x, as e log(2) + 2 artanh(s), s = (m - 1) / (m + 1). */
static struct pair log_pair(double x)
{
    static const struct pair ln2 = {0.6931471805599453, 2.3190468138462996e-17};
    static const struct pair two_thirds = {0.6666666666666666, 3.700743415417188e-17};
    static const double c[] = {2 / 23.0, 2 / 21.0, 2 / 19.0, 2 / 17.0, 2 / 15.0, 2 / 13.0, 2 / 11.0, 2 / 9.0, 2 / 7.0, 2 / 5.0};
    int e;
    const double m = split(x, &e), f = m - 1, high = f / (2 + f);
    const struct pair below = add2(2, f);
    const double low = (__builtin_fma(-high, below.high, f) - high * below.low) / below.high;
    const struct pair s = {high, low}, z = times(s, s);
    double p = 2 / 25.0;
    for (int i = 0; i < 10; i++)
        p = __builtin_fma(p, z.high, c[i]);
    const struct pair tail = {z.high * p, 0};
    const struct pair cubic = times(times(s, z), plus(two_thirds, tail));
    const struct pair twice = {2 * s.high, 2 * s.low};
    const double e_high = e * ln2.high;
    const struct pair whole = {e_high, __builtin_fma(e, ln2.high, -e_high) + e * ln2.low};
    return plus(whole, plus(twice, cubic));
}

static double log_in(double x, struct pair unit)
{
    if (!(x > 0) || x == INF)
        return x == 0 ? -INF : x > 0 || x != x ? x : NOT;
    const struct pair l = times(log_pair(x), unit);
    return l.high + l.low;
}

PUBLIC double F(log)(double x)
{
    return log_in(x, (struct pair){1, 0});
}
PUBLIC double F(log2)(double x)
{
    return log_in(x, (struct pair){1.4426950408889634, 2.0355273740931033e-17});
}
PUBLIC double F(log10)(double x)
{
    return log_in(x, (struct pair){0.4342944819032518, 1.098319650216765e-17});
}

PUBLIC double F(log1p)(double x)
{
    const double u = 1 + x;
    if (u == 1 || x == INF)
        return x;
    return F(log)(u) + (u > 0 ? (x - (u - 1)) / u : 0);
}

static double pow_special(double x, double y)
{
    if (x != x || y != y)
        return x + y;
    const int odd = y == __builtin_trunc(y) && is_odd(y), negative = bits_of(x) >> 63;
    if (size_of(y) == INF)
        return size_of(x) == 1 ? 1 : (size_of(x) > 1) == (y > 0) ? INF : 0;
    const double size = (x == 0) == (y > 0) ? 0 : INF;
    return negative && odd ? -size : size;
}

PUBLIC double F(pow)(double x, double y)
{
    if (y == 0 || x == 1)
        return 1;
    if (x != x || y != y || x == 0 || size_of(x) == INF || size_of(y) == INF)
        return pow_special(x, y);
    const int whole = y == __builtin_trunc(y), negative = x < 0;
    if (negative && !whole)
        return NOT;
    const struct pair l = log_pair(size_of(x));
    const double high = y * l.high;
    const double result =
        size_of(high) > 800 ? (high > 0 ? INF : 0) : exp_pair(high, __builtin_fma(y, l.high, -high) + y * l.low);
    return negative && is_odd(y) ? -result : result;
}

PUBLIC double F(cbrt)(double x)
{
    if (x == 0 || x != x || size_of(x) == INF)
        return x;
    double y = F(pow)(size_of(x), 1 / 3.0);
    y = y - (y - size_of(x) / (y * y)) / 3;
    return F(copysign)(y, x);
}

static double half_exp(double x)
{
    return x > 709 ? exp_pair(x - 1, 0) * 1.3591409142295225 : exp_pair(x, 0) * 0.5;
}

PUBLIC double F(sinh)(double x)
{
    if (size_of(x) < 0.35) {
        const double t = exp_rest(x);
        return (t + t / (1 + t)) / 2;
    }
    const double half = half_exp(size_of(x)), y = half - 0.25 / half;
    return F(copysign)(y, x);
}

PUBLIC double F(cosh)(double x)
{
    const double half = half_exp(size_of(x));
    return half + 0.25 / half;
}

PUBLIC double F(tanh)(double x)
{
    if (size_of(x) > 22)
        return x != x ? x : F(copysign)(1, x);
    const double t = F(expm1)(2 * size_of(x));
    return F(copysign)(t / (t + 2), x);
}

/* ---- circles ---- */

/* x = n pi/2 + r, in three steps of 33 bits of pi/2 each. Returns n mod 4; -1 when x is too large. */
static int quarter(double x, struct pair *r)
{
    static const double part[] = {1.57079632673412561417e+00, 6.07710050630396597660e-11, 2.02226624871116645580e-21};
    const double n = __builtin_rint(x * 0.6366197723675814), last = 8.47842766036889956997e-32;
    if (!(size_of(x) < 1600000))
        return -1;
    const struct pair first = add2(x - n * part[0], -n * part[1]);
    const struct pair second = add2(first.high, first.low - n * part[2] - n * last);
    *r = second;
    return (int)((int64_t)n & 3);
}

static double sin_part(struct pair r)
{
    static const double c[] = {1 / 355687428096000.0, -1 / 1307674368000.0, 1 / 6227020800.0, -1 / 39916800.0,
                               1 / 362880.0,          -1 / 5040.0,          1 / 120.0,        -1 / 6.0};
    const double z = r.high * r.high;
    double p = -1 / 121645100408832000.0;
    for (int i = 0; i < 8; i++)
        p = __builtin_fma(p, z, c[i]);
    return r.high + (p * z * r.high + r.low * (1 - 0.5 * z));
}

static double cos_part(struct pair r)
{
    static const double c[] = {1 / 20922789888000.0, -1 / 87178291200.0, 1 / 479001600.0, -1 / 3628800.0,
                               1 / 40320.0,          -1 / 720.0,         1 / 24.0};
    const double z = r.high * r.high;
    double p = -1 / 6402373705728000.0;
    for (int i = 0; i < 7; i++)
        p = __builtin_fma(p, z, c[i]);
    const double half = 0.5 * z, one = 1 - half;
    return one + (((1 - one) - half) + (p * z * z - r.high * r.low));
}

static double circle(double x, int turn)
{
    struct pair r;
    const int n = quarter(x, &r);
    if (n < 0)
        return NOT;
    const int at = (n + turn) & 3;
    const double y = at & 1 ? cos_part(r) : sin_part(r);
    return at & 2 ? -y : y;
}

PUBLIC double F(sin)(double x)
{
    return x == 0 ? x : circle(x, 0);
}
PUBLIC double F(cos)(double x)
{
    return circle(x, 1);
}
PUBLIC double F(tan)(double x)
{
    return x == 0 ? x : circle(x, 0) / circle(x, 1);
}

PUBLIC void F(sincos)(double x, double *s, double *c)
{
    *s = F(sin)(x);
    *c = F(cos)(x);
}

/* atan(x) = atan(k/4) + atan((x - k/4) / (1 + x k/4)) for 0 <= x <= 1. */
static double atan_part(double x)
{
    static const double at[] = {0, 0.24497866312686415, 0.4636476090008061, 0.6435011087932844, 0.7853981633974483};
    const int k = (int)(4 * x + 0.5);
    const double c = k * 0.25, t = (x - c) / (1 + x * c), z = t * t;
    double p = 1 / 17.0;
    for (int d = 15; d >= 3; d -= 2)
        p = __builtin_fma(p, z, (d & 2 ? -1.0 : 1.0) / d);
    return at[k] + __builtin_fma(p * z, t, t);
}

PUBLIC double F(atan)(double x)
{
    const double size = size_of(x);
    if (x != x)
        return x;
    return F(copysign)(size <= 1 ? atan_part(size) : 1.5707963267948966 - (atan_part(1 / size) - 6.123233995736766e-17), x);
}

PUBLIC double F(atan2)(double y, double x)
{
    const double pi = 3.141592653589793;
    if (x != x || y != y)
        return x + y;
    const int left = bits_of(x) >> 63;
    if (size_of(x) == INF && size_of(y) == INF)
        return F(copysign)(left ? 0.75 * pi : 0.25 * pi, y);
    if (y == 0 || size_of(x) == INF)
        return F(copysign)(left ? pi : 0, y);
    if (x == 0 || size_of(y) == INF)
        return F(copysign)(0.5 * pi, y);
    const double a = F(atan)(size_of(y / x));
    return F(copysign)(left ? pi - (a - 1.2246467991473532e-16) : a, y);
}

PUBLIC double F(asin)(double x)
{
    return size_of(x) > 1 ? NOT : F(atan2)(x, __builtin_sqrt((1 - x) * (1 + x)));
}
PUBLIC double F(acos)(double x)
{
    return size_of(x) > 1 ? NOT : 2 * F(atan2)(__builtin_sqrt(1 - x), __builtin_sqrt(1 + x));
}

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
