/* Part of runtime.c, which includes it. Functions of angles. */
#ifndef ORCHARD_SIM_WORKLOAD_CPU_NATIVE_RUNTIME_CIRCLES_H
#define ORCHARD_SIM_WORKLOAD_CPU_NATIVE_RUNTIME_CIRCLES_H

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

#endif
