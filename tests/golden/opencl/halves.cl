// Half precision.
//: half_sums out:half:1024 in:half:256 in:half:256
//: half_quotients out:half:256 in:half:256 in:half:256 ulp:1
//: half_compares out:int:256 in:half:256 in:half:256
//: half_to_others out:int:1024 in:half:256:-60000~60000
//: half_of_others out:half:768 in:float:256 in:int:256 in:ushort:256
//: half_functions_exact out:half:2048 in:half:256:real in:half:256:real
//: half_functions_near out:half:1536 in:half:256:0.01~60 ulp:2 abs:1e-3
//: half_chosen out:half:256 in:half:256:small in:half:256:small
//: half_vectors out:half:1024 in:half:1024
//: half_fused out:half:256 in:half:256:-8~8 in:half:256:-8~8 ulp:1
//: half_local out:half:256 in:half:256

#define I const size_t i = get_global_id(0)

#ifdef NATIVE /* in single precision, each result rounded to half: this rounds as half precision does */
#define H(x) rounded(x)
float rounded(float x)
{
    ushort h;
    vstore_half(x, 0, (half *)&h);
    return vload_half(0, (const half *)&h);
}
typedef float real;
#define GET(i, p) vload_half(i, p)
#define PUT(x, i, p) vstore_half(x, i, p)
#else
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define H(x) (x)
typedef half real;
#define GET(i, p) p[i]
#define PUT(x, i, p) p[i] = x
#endif

#pragma OPENCL FP_CONTRACT OFF

kernel void half_sums(global half *o, global const half *a, global const half *b)
{
    I;
    const real x = GET(i, a), y = GET(i, b);
    PUT(H(x + y), i * 4, o);
    PUT(H(x - y), i * 4 + 1, o);
    PUT(H(x * y), i * 4 + 2, o);
    PUT(H(H(x * (real)0.5f) + (real)1), i * 4 + 3, o);
}

kernel void half_quotients(global half *o, global const half *a, global const half *b)
{
    I;
    PUT(H(GET(i, a) / GET(i, b)), i, o);
}

kernel void half_compares(global int *o, global const half *a, global const half *b)
{
    I;
    const real x = GET(i, a), y = GET(i, b);
    o[i] = (x < y) + 2 * (x > y) + 4 * (x == y) + 8 * (x != y) + 16 * (x <= y) + 32 * isnan(x) + 64 * isinf(y);
}

kernel void half_to_others(global int *o, global const half *a)
{
    I;
    const real x = GET(i, a);
    o[i * 4] = (int)x;
    o[i * 4 + 1] = as_int((float)x);
    o[i * 4 + 2] = (short)(x * (real)0.25f);
    o[i * 4 + 3] = x < 0 ? 0 : (uchar)(x * (real)0.00390625f);
}

kernel void half_of_others(global half *o, global const float *f, global const int *n, global const ushort *u)
{
    I;
    PUT((real)f[i], i * 3, o);
    PUT((real)(n[i] >> 16), i * 3 + 1, o);
    PUT((real)(u[i] & 0x7ff), i * 3 + 2, o);
}

kernel void half_functions_exact(global half *o, global const half *a, global const half *b)
{
    I;
    const real x = GET(i, a), y = GET(i, b);
    PUT(floor(x), i * 8, o);
    PUT(ceil(y), i * 8 + 1, o);
    PUT(fmax(x, y), i * 8 + 2, o);
    PUT(fmin(x, y), i * 8 + 3, o);
    PUT(fabs(x), i * 8 + 4, o);
    PUT(trunc(y), i * 8 + 5, o);
    PUT(rint(x), i * 8 + 6, o);
    PUT(copysign(x, y), i * 8 + 7, o);
}

kernel void half_functions_near(global half *o, global const half *a)
{
    I;
    const real x = GET(i, a);
    PUT(sqrt(x), i * 6, o);
    PUT(exp(x * (real)0.125f), i * 6 + 1, o);
    PUT(log(x), i * 6 + 2, o);
    PUT(sin(x), i * 6 + 3, o);
    PUT(cos(x), i * 6 + 4, o);
    PUT(rsqrt(x), i * 6 + 5, o);
}

kernel void half_chosen(global half *o, global const half *a, global const half *b)
{
    I;
    real x = GET(i, a), y = GET(i, b);
    for (int k = 0; k < 5 && x < y; k++)
        x = H(x + (real)1.5f);
    PUT(x > y ? x : i & 1 ? -y : y, i, o);
}

#ifndef NATIVE
kernel void half_vectors(global half *o, global const half *a)
{
    I;
    half4 v = vload4(i, a);
    v.xy = v.yx * (half2)(0.5h, 2.0h);
    vstore4(v + v.wzyx, i, o);
}

kernel void half_fused(global half *o, global const half *a, global const half *b)
{
    I;
    o[i] = fma(a[i], b[i], a[i ^ 1]);
}

kernel void half_local(global half *o, global const half *a)
{
    local half s[64];
    I;
    s[get_local_id(0)] = a[i] * 2.0h;
    barrier(CLK_LOCAL_MEM_FENCE);
    o[i] = s[63 - get_local_id(0)];
}
#else
kernel void half_vectors(global half *o, global const half *a)
{
    I;
    float4 v = vload_half4(i, a);
    v.xy = v.yx * (float2)(0.5f, 2.0f);
    v = (float4)(H(v.x), H(v.y), H(v.z), H(v.w));
    vstore_half4(v + v.wzyx, i, o);
}

kernel void half_fused(global half *o, global const half *a, global const half *b)
{
    I;
    PUT(fma(GET(i, a), GET(i, b), GET(i ^ 1, a)), i, o);
}

kernel void half_local(global half *o, global const half *a)
{
    I;
    PUT(GET(i ^ 63, a) * 2.0f, i, o);
}
#endif
