/* Part of runtime.c, which includes it. Parts of numbers, exponentials and logarithms. */
#ifndef ORCHARD_SIM_WORKLOAD_CPU_NATIVE_RUNTIME_NUMBERS_H
#define ORCHARD_SIM_WORKLOAD_CPU_NATIVE_RUNTIME_NUMBERS_H

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

#endif
