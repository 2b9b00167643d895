// The library of real numbers. What results may be off is what OpenCL 3.0 says in its section 7.4.
//: math_acos out:float:1024 in:float:1024:-1~1 grid:1024 ulp:4 ref:acos
//: math_acosh out:float:1024 in:float:1024:1~1e6 grid:1024 ulp:4 ref:acosh
//: math_acospi out:float:1024 in:float:1024:-1~1 grid:1024 ulp:5 ref:acospi
//: math_asin out:float:1024 in:float:1024:-1~1 grid:1024 ulp:4 ref:asin
//: math_asinh out:float:1024 in:float:1024:-1e6~1e6 grid:1024 ulp:4 ref:asinh
//: math_asinpi out:float:1024 in:float:1024:-1~1 grid:1024 ulp:5 ref:asinpi
//: math_atan out:float:1024 in:float:1024:any grid:1024 ulp:5 ref:atan
//: math_atanh out:float:1024 in:float:1024:-1~1 grid:1024 ulp:5 ref:atanh
//: math_atanpi out:float:1024 in:float:1024:any grid:1024 ulp:5 ref:atanpi
//: math_cbrt out:float:1024 in:float:1024:any grid:1024 ulp:2 ref:cbrt
//: math_ceil out:float:1024 in:float:1024:any grid:1024
//: math_cos out:float:1024 in:float:1024:-100~100 grid:1024 ulp:4 ref:cos
//: math_cosh out:float:1024 in:float:1024:-90~90 grid:1024 ulp:4 ref:cosh
//: math_cospi out:float:1024 in:float:1024:-100~100 grid:1024 ulp:4 ref:cospi
//: math_erf out:float:1024 in:float:1024:-5~5 grid:1024 ulp:16 ref:erf
//: math_erfc out:float:1024 in:float:1024:-5~9 grid:1024 ulp:16 ref:erfc
//: math_exp out:float:1024 in:float:1024:-100~100 grid:1024 ulp:3 ref:exp
//: math_exp2 out:float:1024 in:float:1024:-140~140 grid:1024 ulp:3 ref:exp2
//: math_exp10 out:float:1024 in:float:1024:-45~45 grid:1024 ulp:3 ref:exp10
//: math_expm1 out:float:1024 in:float:1024:-20~90 grid:1024 ulp:3 ref:expm1
//: math_fabs out:float:1024 in:float:1024:any grid:1024
//: math_floor out:float:1024 in:float:1024:any grid:1024
//: math_lgamma out:float:1024 in:float:1024:0.1~30 grid:1024 ulp:16 abs:4e-6 ref:lgamma
//: math_log out:float:1024 in:float:1024:any grid:1024 ulp:3 ref:log
//: math_log2 out:float:1024 in:float:1024:any grid:1024 ulp:3 ref:log2
//: math_log10 out:float:1024 in:float:1024:any grid:1024 ulp:3 ref:log10
//: math_log1p out:float:1024 in:float:1024:-0.9~1000 grid:1024 ulp:2 ref:log1p
//: math_logb out:float:1024 in:float:1024:any grid:1024
//: math_rint out:float:1024 in:float:1024:any grid:1024
//: math_round out:float:1024 in:float:1024:any grid:1024
//: math_rsqrt out:float:1024 in:float:1024:any grid:1024 ulp:2 ref:rsqrt
//: math_sin out:float:1024 in:float:1024:-100~100 grid:1024 ulp:4 ref:sin
//: math_sinh out:float:1024 in:float:1024:-90~90 grid:1024 ulp:4 ref:sinh
//: math_sinpi out:float:1024 in:float:1024:-100~100 grid:1024 ulp:4 ref:sinpi
//: math_sqrt out:float:1024 in:float:1024:any grid:1024 ulp:3 ref:sqrt
//: math_tan out:float:1024 in:float:1024:-100~100 grid:1024 ulp:5 ref:tan
//: math_tanh out:float:1024 in:float:1024:-12~12 grid:1024 ulp:5 ref:tanh
//: math_tanpi out:float:1024 in:float:1024:-100~100 grid:1024 ulp:6 ref:tanpi
//: math_tgamma out:float:1024 in:float:1024:0.1~30 grid:1024 ulp:16 ref:tgamma
//: math_trunc out:float:1024 in:float:1024:any grid:1024
//: math_atan2 out:float:1024 in:float:1024:any in:float:1024:any grid:1024 ulp:6 ref:atan2
//: math_atan2pi out:float:1024 in:float:1024:any in:float:1024:any grid:1024 ulp:6 ref:atan2pi
//: math_copysign out:float:1024 in:float:1024:any in:float:1024:any grid:1024
//: math_fdim out:float:1024 in:float:1024:any in:float:1024:any grid:1024
//: math_fmax out:float:1024 in:float:1024:any in:float:1024:any grid:1024
//: math_fmin out:float:1024 in:float:1024:any in:float:1024:any grid:1024
//: math_fmod out:float:1024 in:float:1024:any in:float:1024:any grid:1024
//: math_hypot out:float:1024 in:float:1024:any in:float:1024:any grid:1024 ulp:4 ref:hypot
//: math_maxmag out:float:1024 in:float:1024:any in:float:1024:any grid:1024
//: math_minmag out:float:1024 in:float:1024:any in:float:1024:any grid:1024
//: math_nextafter out:float:1024 in:float:1024:real in:float:1024:real grid:1024
//: math_pow out:float:1024 in:float:1024:0~20 in:float:1024:-20~20 grid:1024 ulp:16 ref:pow
//: math_powr out:float:1024 in:float:1024:0~20 in:float:1024:-20~20 grid:1024 ulp:16 ref:powr
//: math_remainder out:float:1024 in:float:1024:any in:float:1024:any grid:1024
//: math_fma out:float:1024 in:float:1024 in:float:1024 in:float:1024 grid:1024
//: math_pow_any out:float:1024 in:float:1024 in:float:1024 grid:1024 ulp:16 ref:pow
//: math_powr_any out:float:1024 in:float:1024 in:float:1024 grid:1024 ulp:16 ref:powr
//: math_sin_far out:float:256 in:float:256:-1e5~1e5 ulp:4 ref:sin
//: math_exp_any out:float:256 in:float:256 ulp:3 ref:exp
//: math_sqrt_half out:float:256 in:float:256:positive ulp:3
//: mad_of out:float:256 in:float:256:small in:float:256:small ulp:1
//: divided out:float:1024 in:float:1024 in:float:1024 grid:1024 ulp:2.5 ref:divide
//: reciprocal out:float:1024 in:float:1024 grid:1024 ulp:2.5 ref:recip
//: exact_arithmetic out:float:4096 in:float:1024 in:float:1024 grid:1024
//: powers_of_whole out:float:256 in:float:256:-8~8 in:int:256:small ulp:16
//: roots out:float:256 in:float:256:positive in:int:256:small ulp:16
//: scaled out:float:256 in:float:256:real in:int:256:small
//: exponents out:int:256 in:float:256
//: taken_apart out:float:256 out:int:256 in:float:256:real
//: fractions out:float:1024 in:float:256
//: both_sine_and_cosine out:float:512 in:float:256:-100~100 ulp:4
//: with_quotient out:float:256 out:int:256 in:float:256:-1000~1000 in:float:256:1~50
//: signed_gamma out:float:256 out:int:256 in:float:256:0.2~20 ulp:16 abs:4e-6
//: not_numbers out:int:256 in:uint:256
//: constants out:float:8 grid:1 group:1
//: native_functions out:float:2048 in:float:256:-3~3 ulp:8192 abs:1e-3
//: half_functions out:float:1024 in:float:256:-3~3 ulp:8192 abs:1e-3
//: math_vectors2 out:float:128 in:float:128:small in:float:128:small grid:64 group:32 ulp:4 abs:1e-3
//: math_vectors3 out:float:192 in:float:192:small in:float:192:small grid:64 group:32 ulp:4 abs:1e-3
//: math_vectors4 out:float:256 in:float:256:small in:float:256:small grid:64 group:32 ulp:4 abs:1e-3
//: math_vectors8 out:float:512 in:float:512:small in:float:512:small grid:64 group:32 ulp:4 abs:1e-3
//: math_vectors16 out:float:1024 in:float:1024:small in:float:1024:small grid:64 group:32 ulp:4 abs:1e-3
//: math_vectors_of out:float:256 in:float:256:-5~5 grid:64 group:32 ulp:64 abs:1e-4
//: common_functions out:float:2048 in:float:256:-50~50 in:float:256:-50~50 ulp:4 abs:1e-5
//: common_vectors out:float:256 in:float:256:small in:float:256:small grid:64 group:32 ulp:4 abs:1e-5

#define I const size_t i = get_global_id(0)

#define ONE(F)                                                                                               \
    kernel void math_##F(global float *o, global const float *a)                                             \
    {                                                                                                        \
        I;                                                                                                   \
        o[i] = F(a[i]);                                                                                      \
    }
#define TWO(F)                                                                                               \
    kernel void math_##F(global float *o, global const float *a, global const float *b)                      \
    {                                                                                                        \
        I;                                                                                                   \
        o[i] = F(a[i], b[i]);                                                                                \
    }
#define THREE(F)                                                                                             \
    kernel void math_##F(global float *o, global const float *a, global const float *b, global const float *c) \
    {                                                                                                        \
        I;                                                                                                   \
        o[i] = F(a[i], b[i], c[i]);                                                                          \
    }
ONE(acos)
ONE(acosh)
ONE(acospi)
ONE(asin)
ONE(asinh)
ONE(asinpi)
ONE(atan)
ONE(atanh)
ONE(atanpi)
ONE(cbrt)
ONE(ceil)
ONE(cos)
ONE(cosh)
ONE(cospi)
ONE(erf)
ONE(erfc)
ONE(exp)
ONE(exp2)
ONE(exp10)
ONE(expm1)
ONE(fabs)
ONE(floor)
ONE(lgamma)
ONE(log)
ONE(log2)
ONE(log10)
ONE(log1p)
ONE(logb)
ONE(rint)
ONE(round)
ONE(rsqrt)
ONE(sin)
ONE(sinh)
ONE(sinpi)
ONE(sqrt)
ONE(tan)
ONE(tanh)
ONE(tanpi)
ONE(tgamma)
ONE(trunc)
TWO(atan2)
TWO(atan2pi)
TWO(copysign)
TWO(fdim)
TWO(fmax)
TWO(fmin)
TWO(fmod)
TWO(hypot)
TWO(maxmag)
TWO(minmag)
TWO(nextafter)
TWO(pow)
TWO(powr)
TWO(remainder)
THREE(fma)

kernel void math_pow_any(global float *o, global const float *a, global const float *b)
{
    I;
    o[i] = pow(a[i], b[i]);
}

kernel void math_powr_any(global float *o, global const float *a, global const float *b)
{
    I;
    o[i] = powr(a[i], b[i]);
}

kernel void math_sin_far(global float *o, global const float *a)
{
    I;
    o[i] = sin(a[i]);
}

kernel void math_exp_any(global float *o, global const float *a)
{
    I;
    o[i] = exp(a[i]);
}

kernel void math_sqrt_half(global float *o, global const float *a)
{
    I;
    o[i] = sqrt(a[i]) * 0.5f + rsqrt(a[i]);
}

kernel void mad_of(global float *o, global const float *a, global const float *b)
{
    I;
    o[i] = mad(a[i], b[i], 1.0f);
}

kernel void divided(global float *o, global const float *a, global const float *b)
{
    I;
    o[i] = a[i] / b[i];
}

kernel void reciprocal(global float *o, global const float *a)
{
    I;
    o[i] = 1.0f / a[i];
}

kernel void exact_arithmetic(global float *o, global const float *a, global const float *b)
{
#pragma OPENCL FP_CONTRACT OFF
    I;
    o[i * 4] = a[i] + b[i];
    o[i * 4 + 1] = a[i] - b[i];
    o[i * 4 + 2] = a[i] * b[i];
    o[i * 4 + 3] = -a[i] + fabs(b[i]) * 0.5f;
}

kernel void powers_of_whole(global float *o, global const float *a, global const int *n)
{
    I;
    o[i] = pown(a[i], n[i] % 20);
}

kernel void roots(global float *o, global const float *a, global const int *n)
{
    I;
    o[i] = rootn(a[i], 2 + n[i] % 5);
}

kernel void scaled(global float *o, global const float *a, global const int *n)
{
    I;
    o[i] = ldexp(a[i], n[i] - 50);
}

kernel void exponents(global int *o, global const float *a)
{
    I;
    o[i] = ilogb(a[i]);
}

kernel void taken_apart(global float *o, global int *n, global const float *a)
{
    I;
    int e;
    o[i] = frexp(a[i], &e);
    n[i] = e;
}

kernel void fractions(global float *o, global const float *a)
{
    I;
    float whole, part;
    const float f = fract(a[i], &part);
    o[i * 4] = modf(a[i], &whole);
    o[i * 4 + 1] = whole;
    o[i * 4 + 2] = f;
    o[i * 4 + 3] = part;
}

kernel void both_sine_and_cosine(global float *o, global const float *a)
{
    I;
    float c;
    o[i * 2] = sincos(a[i], &c);
    o[i * 2 + 1] = c;
}

kernel void with_quotient(global float *o, global int *n, global const float *a, global const float *b)
{
    I;
    int q;
    o[i] = remquo(a[i], b[i], &q);
    n[i] = q & 7;
}

kernel void signed_gamma(global float *o, global int *n, global const float *a)
{
    I;
    int s;
    o[i] = lgamma_r(a[i], &s);
    n[i] = s;
}

kernel void not_numbers(global int *o, global const uint *a)
{
    I;
    o[i] = isnan(nan(a[i])) + 2 * isnan(a[i] * 0.0f) + 4 * isinf(INFINITY) + 8 * (HUGE_VALF > MAXFLOAT);
}

kernel void constants(global float *o)
{
    o[0] = M_PI_F;
    o[1] = M_E_F;
    o[2] = M_SQRT2_F;
    o[3] = M_LN10_F;
    o[4] = FLT_MAX;
    o[5] = FLT_MIN;
    o[6] = FLT_EPSILON;
    o[7] = FLT_DIG + FLT_MANT_DIG + INT_MAX / 3 + CHAR_BIT;
}

kernel void native_functions(global float *o, global const float *a)
{
    I;
    const float x = a[i];
    o[i * 8] = native_sin(x);
    o[i * 8 + 1] = native_cos(x);
    o[i * 8 + 2] = native_exp(x);
    o[i * 8 + 3] = native_log(x + 4);
    o[i * 8 + 4] = native_sqrt(x + 4);
    o[i * 8 + 5] = native_rsqrt(x + 4);
    o[i * 8 + 6] = native_recip(x + 4);
    o[i * 8 + 7] = native_divide(x, x + 5) + native_powr(x + 4, 1.5f) + native_exp2(x) + native_log2(x + 4) + native_exp10(x) + native_log10(x + 4) + native_tan(x * 0.25f);
}

kernel void half_functions(global float *o, global const float *a)
{
    I;
    const float x = a[i];
    o[i * 4] = half_sin(x) + half_cos(x);
    o[i * 4 + 1] = half_exp(x) + half_log(x + 4) + half_exp2(x) + half_log2(x + 4);
    o[i * 4 + 2] = half_sqrt(x + 4) + half_rsqrt(x + 4) + half_recip(x + 4);
    o[i * 4 + 3] = half_divide(x, x + 5) + half_powr(x + 4, 1.5f) + half_exp10(x) + half_log10(x + 4) + half_tan(x * 0.25f);
}

#define MATH_VECTORS(N)                                                                                      \
    kernel void math_vectors##N(global float *o, global const float *a, global const float *b)               \
    {                                                                                                        \
        I;                                                                                                   \
        const float##N x = vload##N(i, a), y = vload##N(i, b);                                               \
        vstore##N(floor(x) + ceil(y) + fmax(x, y) * rint(x) + fmin(y, 0.5f) + trunc(x * 3.0f) + copysign(x, y), i, o); \
    }
MATH_VECTORS(2)
MATH_VECTORS(3)
MATH_VECTORS(4)
MATH_VECTORS(8)
MATH_VECTORS(16)

kernel void math_vectors_of(global float *o, global const float *a)
{
    I;
    const float4 x = vload4(i, a);
    float4 whole, c;
    int4 e;
    const float4 s = sincos(x, &c), f = fract(x, &whole), m = frexp(x, &e);
    vstore4(exp(x) + sqrt(fabs(x)) + s * c + f + whole + m + convert_float4(e) + ldexp(x, 3) + pown(x, (int4)(2)) + log(fabs(x) + 1.0f), i, o);
}

kernel void common_functions(global float *o, global const float *a, global const float *b)
{
    I;
    const float x = a[i], y = b[i];
    o[i * 8] = clamp(x, -1.0f, 2.0f);
    o[i * 8 + 1] = degrees(x);
    o[i * 8 + 2] = radians(x);
    o[i * 8 + 3] = mix(x, y, 0.25f);
    o[i * 8 + 4] = step(x, y);
    o[i * 8 + 5] = smoothstep(-10.0f, 10.0f, x);
    o[i * 8 + 6] = sign(x);
    o[i * 8 + 7] = max(x, y) - min(x, y);
}

kernel void common_vectors(global float *o, global const float *a, global const float *b)
{
    I;
    const float4 x = vload4(i, a), y = vload4(i, b);
    vstore4(clamp(x, -1.0f, 2.0f) + mix(x, y, (float4)(0.5f)) + step(0.25f, y) + sign(x) + max(x, 0.5f) + min(x, y), i, o);
}
