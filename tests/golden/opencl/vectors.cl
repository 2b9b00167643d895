// Vectors: elementwise operators, swizzles, literals, comparisons.
//: vector_char2 out:char:128 in:char:128 in:char:128 grid:64 group:32
//: vector_char3 out:char:192 in:char:192 in:char:192 grid:64 group:32
//: vector_char4 out:char:256 in:char:256 in:char:256 grid:64 group:32
//: vector_char8 out:char:512 in:char:512 in:char:512 grid:64 group:32
//: vector_char16 out:char:1024 in:char:1024 in:char:1024 grid:64 group:32
//: vector_uchar4 out:uchar:256 in:uchar:256 in:uchar:256 grid:64 group:32
//: vector_short4 out:short:256 in:short:256 in:short:256 grid:64 group:32
//: vector_ushort2 out:ushort:128 in:ushort:128 in:ushort:128 grid:64 group:32
//: vector_ushort3 out:ushort:192 in:ushort:192 in:ushort:192 grid:64 group:32
//: vector_ushort4 out:ushort:256 in:ushort:256 in:ushort:256 grid:64 group:32
//: vector_ushort8 out:ushort:512 in:ushort:512 in:ushort:512 grid:64 group:32
//: vector_ushort16 out:ushort:1024 in:ushort:1024 in:ushort:1024 grid:64 group:32
//: vector_int2 out:int:128 in:int:128 in:int:128 grid:64 group:32
//: vector_int3 out:int:192 in:int:192 in:int:192 grid:64 group:32
//: vector_int4 out:int:256 in:int:256 in:int:256 grid:64 group:32
//: vector_int8 out:int:512 in:int:512 in:int:512 grid:64 group:32
//: vector_int16 out:int:1024 in:int:1024 in:int:1024 grid:64 group:32
//: vector_uint2 out:uint:128 in:uint:128 in:uint:128 grid:64 group:32
//: vector_uint3 out:uint:192 in:uint:192 in:uint:192 grid:64 group:32
//: vector_uint4 out:uint:256 in:uint:256 in:uint:256 grid:64 group:32
//: vector_uint8 out:uint:512 in:uint:512 in:uint:512 grid:64 group:32
//: vector_uint16 out:uint:1024 in:uint:1024 in:uint:1024 grid:64 group:32
//: vector_long4 out:long:256 in:long:256 in:long:256 grid:64 group:32
//: vector_ulong2 out:ulong:128 in:ulong:128 in:ulong:128 grid:64 group:32
//: vector_ulong3 out:ulong:192 in:ulong:192 in:ulong:192 grid:64 group:32
//: vector_ulong4 out:ulong:256 in:ulong:256 in:ulong:256 grid:64 group:32
//: vector_ulong8 out:ulong:512 in:ulong:512 in:ulong:512 grid:64 group:32
//: vector_ulong16 out:ulong:1024 in:ulong:1024 in:ulong:1024 grid:64 group:32
//: vector_float2 out:float:128 in:float:128:real in:float:128:real grid:64 group:32 ulp:1
//: vector_float3 out:float:192 in:float:192:real in:float:192:real grid:64 group:32 ulp:1
//: vector_float4 out:float:256 in:float:256:real in:float:256:real grid:64 group:32 ulp:1
//: vector_float8 out:float:512 in:float:512:real in:float:512:real grid:64 group:32 ulp:1
//: vector_float16 out:float:1024 in:float:1024:real in:float:1024:real grid:64 group:32 ulp:1
//: swizzles out:int:512 in:int:256:small grid:64 group:32
//: swizzles16 out:short:1024 in:short:1024 grid:64 group:32
//: literals out:float:512 in:float:128:small val:float:1,2,3,4 val:float:0.25,8 grid:64 group:32
//: components_by_index out:int:64 in:int:512 grid:64 group:32
//: vector_compares out:int:256 in:float:256 in:float:256 grid:64 group:32
//: vector_shifts out:uint:256 in:uint:256 in:uint:256:shift grid:64 group:32
//: vector_division out:int:256 in:int:256 in:int:256:nonzero grid:64 group:32
//: vector_of_three out:int:192 in:int:256 grid:64 group:32
//: passed_vectors out:int:256 val:int:1,-2,3,-4 val:uint:5,6 val:short:1,2,3,4,5,6,7,-8 val:short:1,2,-3 grid:64 group:32
//: vector_functions out:int:256 in:int:256 grid:64 group:32

#define I const size_t i = get_global_id(0)

#define ELEMENTWISE(T, U, N)                                                                                   \
    kernel void vector_##T##N(global T *o, global const T *p, global const T *q)                             \
    {                                                                                                        \
        I;                                                                                                   \
        const T##N a = vload##N(i, p), b = vload##N(i, q);                                                   \
        const U##N x = as_##U##N(a), y = as_##U##N(b);                                                       \
        T##N r = as_##T##N(x + y * (U)3 - (x ^ y));                                                          \
        r ^= (a & b) | ~a;                                                                                   \
        r = a < b ? r : b;                                                                                   \
        vstore##N(as_##T##N(as_##U##N(r) + as_##U##N(a == b) + as_##U##N(!a)), i, o);                        \
    }
ELEMENTWISE(char, uchar, 2)
ELEMENTWISE(char, uchar, 3)
ELEMENTWISE(char, uchar, 4)
ELEMENTWISE(char, uchar, 8)
ELEMENTWISE(char, uchar, 16)
ELEMENTWISE(uchar, uchar, 4)
ELEMENTWISE(short, ushort, 4)
ELEMENTWISE(ushort, ushort, 2)
ELEMENTWISE(ushort, ushort, 3)
ELEMENTWISE(ushort, ushort, 4)
ELEMENTWISE(ushort, ushort, 8)
ELEMENTWISE(ushort, ushort, 16)
ELEMENTWISE(int, uint, 2)
ELEMENTWISE(int, uint, 3)
ELEMENTWISE(int, uint, 4)
ELEMENTWISE(int, uint, 8)
ELEMENTWISE(int, uint, 16)
ELEMENTWISE(uint, uint, 2)
ELEMENTWISE(uint, uint, 3)
ELEMENTWISE(uint, uint, 4)
ELEMENTWISE(uint, uint, 8)
ELEMENTWISE(uint, uint, 16)
ELEMENTWISE(long, ulong, 4)
ELEMENTWISE(ulong, ulong, 2)
ELEMENTWISE(ulong, ulong, 3)
ELEMENTWISE(ulong, ulong, 4)
ELEMENTWISE(ulong, ulong, 8)
ELEMENTWISE(ulong, ulong, 16)

#define FLOATS(N)                                                                                              \
    kernel void vector_float##N(global float *o, global const float *p, global const float *q)               \
    {                                                                                                        \
        I;                                                                                                   \
        const float##N a = vload##N(i, p), b = vload##N(i, q);                                               \
        float##N r = a * b + 2.0f;                                                                           \
        r -= b;                                                                                              \
        r = a < b ? r : -a;                                                                                  \
        vstore##N(r + convert_float##N(a != b), i, o);                                                       \
    }
FLOATS(2)
FLOATS(3)
FLOATS(4)
FLOATS(8)
FLOATS(16)

kernel void swizzles(global int *o, global const int *p)
{
    I;
    const int4 v = vload4(i, p);
    int4 w = v.wzyx;
    w.xz = v.yy;
    w.lo += v.hi;
    w.even = v.odd - w.even;
    w.s3 ^= v.s0;
    const int8 e = (int8)(v, w.yxwz);
    o[i * 8] = e.s7 + e.s0 * 3;
    vstore3(e.s514, 0, o + i * 8 + 1);
    vstore4(e.lo.wxzy ^ e.odd, 0, o + i * 8 + 4);
}

kernel void swizzles16(global short *o, global const short *p)
{
    I;
    short16 v = vload16(i, p);
    v.s0123 = v.sfedc;
    v.hi.lo = v.lo.even;
    v.sAb = v.sBA;
    vstore16(v.s0f1e2d3c4b5a6978, i, o);
}

kernel void literals(global float *o, global const float *p, float4 all, float2 half_of)
{
    I;
    const float2 a = vload2(i, p);
    const float4 b = (float4)(a, 1.0f, a.x), c = (float4)(2.0f), d = (float4)(1.0f, a.yx, 3.0f);
    const float8 e = (float8)(b + c, d * all);
    vstore8(e + (float8)((float4)half_of.x, (float2)(half_of.y, 0.5f), a), i, o);
}

kernel void components_by_index(global int *o, global const int *p)
{
    I;
    union {
        int8 v;
        int n[8];
    } u;
    u.v = vload8(i, p);
    int sum = 0;
    for (int k = 0; k < 8; k++)
        sum = (int)((uint)sum * 31 + (uint)u.n[(k * 3 + i) & 7]);
    o[i] = sum;
}

kernel void vector_compares(global int *o, global const float *p, global const float *q)
{
    I;
    const float4 a = vload4(i, p), b = vload4(i, q);
    const int4 r = (a < b) + 2 * (a <= b) + 4 * (a > b) + 8 * (a >= b) + 16 * (a == b) + 32 * (a != b);
    vstore4(r + 64 * (!a) + 128 * (a && b) + 256 * (a || b), i, o);
}

kernel void vector_shifts(global uint *o, global const uint *p, global const uint *q)
{
    I;
    const uint4 a = vload4(i, p), s = vload4(i, q);
    vstore4((a << s) ^ (a >> s) + (as_uint4(as_int4(a) >> as_int4(s))) - (a << 7u), i, o);
}

kernel void vector_division(global int *o, global const int *p, global const int *q)
{
    I;
    const int4 a = vload4(i, p) >> 1, b = vload4(i, q);
    vstore4(a / b + a % b * 3, i, o);
}

kernel void vector_of_three(global int *o, global const int3 *p)
{
    I;
    int3 v = p[i];
    v.yz = v.zy;
    vstore3(v + (int3)(1, 2, 3), i, o);
}

kernel void passed_vectors(global int *o, int4 a, uint2 b, short8 c, short3 d)
{
    I;
    vstore4(a + (int4)(convert_int2(b), c.s7, d.z) + (int)i, i, o);
}

int4 twist(int4 v, int turns)
{
    while (turns--)
        v = v.yzwx ^ turns;
    return v;
}

kernel void vector_functions(global int *o, global const int *p)
{
    I;
    vstore4(twist(vload4(i, p), i & 3), i, o);
}
