// Conversions between all scalar types, with roundings and saturation; reinterpretation.
//: from_char io:uchar:2048:zero in:char:64 grid:64 group:32
//: from_char_sat io:uchar:2048:zero in:char:64 grid:64 group:32
//: from_uchar io:uchar:2048:zero in:uchar:64 grid:64 group:32
//: from_uchar_sat io:uchar:2048:zero in:uchar:64 grid:64 group:32
//: from_short io:uchar:2048:zero in:short:64 grid:64 group:32
//: from_short_sat io:uchar:2048:zero in:short:64 grid:64 group:32
//: from_ushort io:uchar:2048:zero in:ushort:64 grid:64 group:32
//: from_ushort_sat io:uchar:2048:zero in:ushort:64 grid:64 group:32
//: from_int io:uchar:2048:zero in:int:64 grid:64 group:32
//: from_int_sat io:uchar:2048:zero in:int:64 grid:64 group:32
//: from_uint io:uchar:2048:zero in:uint:64 grid:64 group:32
//: from_uint_sat io:uchar:2048:zero in:uint:64 grid:64 group:32
//: from_long io:uchar:2048:zero in:long:64 grid:64 group:32
//: from_long_sat io:uchar:2048:zero in:long:64 grid:64 group:32
//: from_ulong io:uchar:2048:zero in:ulong:64 grid:64 group:32
//: from_ulong_sat io:uchar:2048:zero in:ulong:64 grid:64 group:32
//: from_float_sat io:uchar:8192:zero in:float:256:any
//: from_float_sat_rte io:uchar:8192:zero in:float:256:any
//: from_float_sat_rtz io:uchar:8192:zero in:float:256:any
//: from_float_sat_rtp io:uchar:8192:zero in:float:256:any
//: from_float_sat_rtn io:uchar:8192:zero in:float:256:any
//: fitting_float out:int:1024 in:float:256:-90~90
//: fitting_float_rte out:int:1024 in:float:256:-90~90
//: fitting_float_rtz out:int:1024 in:float:256:-90~90
//: fitting_float_rtp out:int:1024 in:float:256:-90~90
//: fitting_float_rtn out:int:1024 in:float:256:-90~90
//: float_of_char out:float:256 in:char:256
//: float_of_uchar out:float:256 in:uchar:256
//: float_of_short out:float:256 in:short:256
//: float_of_ushort out:float:256 in:ushort:256
//: float_of_int out:float:256 in:int:256
//: float_of_int_rtz out:float:256 in:int:256
//: float_of_int_rtp out:float:256 in:int:256
//: float_of_int_rtn out:float:256 in:int:256
//: float_of_uint out:float:256 in:uint:256
//: float_of_uint_rtz out:float:256 in:uint:256
//: float_of_uint_rtp out:float:256 in:uint:256
//: float_of_uint_rtn out:float:256 in:uint:256
//: float_of_long out:float:256 in:long:256
//: float_of_long_rtz out:float:256 in:long:256
//: float_of_long_rtp out:float:256 in:long:256
//: float_of_long_rtn out:float:256 in:long:256
//: float_of_ulong out:float:256 in:ulong:256
//: float_of_ulong_rtz out:float:256 in:ulong:256
//: float_of_ulong_rtp out:float:256 in:ulong:256
//: float_of_ulong_rtn out:float:256 in:ulong:256
//: casts out:int:1536 in:float:256:-2e9~2e9 in:int:256
//: reinterpreted out:uint:256 in:uint:256 grid:64 group:32
//: vectors_between out:int:256 in:float:256 in:int:256 grid:64 group:32
//: wide_vectors out:float:1024 in:uchar:1024 grid:64 group:32

#define I const size_t i = get_global_id(0)
#define TO_EACH(R, S)                                                                                        \
    kernel void from_##S##R(global uchar *o, global const S *a)                                           \
    {                                                                                                        \
        I;                                                                                                   \
        const S x = a[i];                                                                                    \
        global uchar *const at = o + i * 32;                                                                 \
        at[0] = convert_uchar##R(x);                                                                         \
        at[1] = as_uchar(convert_char##R(x));                                                                \
        *(global ushort *)(at + 2) = convert_ushort##R(x);                                                   \
        *(global short *)(at + 4) = convert_short##R(x);                                                     \
        *(global uint *)(at + 8) = convert_uint##R(x);                                                       \
        *(global int *)(at + 12) = convert_int##R(x);                                                        \
        *(global ulong *)(at + 16) = convert_ulong##R(x);                                                    \
        *(global long *)(at + 24) = convert_long##R(x);                                                      \
    }
TO_EACH(, char)
TO_EACH(_sat, char)
TO_EACH(, uchar)
TO_EACH(_sat, uchar)
TO_EACH(, short)
TO_EACH(_sat, short)
TO_EACH(, ushort)
TO_EACH(_sat, ushort)
TO_EACH(, int)
TO_EACH(_sat, int)
TO_EACH(, uint)
TO_EACH(_sat, uint)
TO_EACH(, long)
TO_EACH(_sat, long)
TO_EACH(, ulong)
TO_EACH(_sat, ulong)
TO_EACH(_sat, float)
TO_EACH(_sat_rte, float)
TO_EACH(_sat_rtz, float)
TO_EACH(_sat_rtp, float)
TO_EACH(_sat_rtn, float)

/* Without _sat, only of what fits. */
#define WITHIN(R)                                                                                            \
    kernel void fitting_float##R(global int *o, global const float *a)                                       \
    {                                                                                                        \
        I;                                                                                                   \
        o[i * 4] = convert_char##R(a[i]) + convert_uchar##R(fabs(a[i]));                                     \
        o[i * 4 + 1] = convert_short##R(a[i] * 300) ^ convert_ushort##R(fabs(a[i]) * 700);                   \
        o[i * 4 + 2] = convert_int##R(a[i] * 1234567);                                                       \
        o[i * 4 + 3] = (int)(convert_long##R(a[i] * 0x1p50f) >> 20);                                         \
    }
WITHIN()
WITHIN(_rte)
WITHIN(_rtz)
WITHIN(_rtp)
WITHIN(_rtn)

#define TO_FLOAT(R, S)                                                                                       \
    kernel void float_of_##S##R(global float *o, global const S *a)                                          \
    {                                                                                                        \
        I;                                                                                                   \
        o[i] = convert_float##R(a[i]);                                                                       \
    }
TO_FLOAT(, char)
TO_FLOAT(, uchar)
TO_FLOAT(, short)
TO_FLOAT(, ushort)
TO_FLOAT(, int)
TO_FLOAT(_rtz, int)
TO_FLOAT(_rtp, int)
TO_FLOAT(_rtn, int)
TO_FLOAT(, uint)
TO_FLOAT(_rtz, uint)
TO_FLOAT(_rtp, uint)
TO_FLOAT(_rtn, uint)
TO_FLOAT(, long)
TO_FLOAT(_rtz, long)
TO_FLOAT(_rtp, long)
TO_FLOAT(_rtn, long)
TO_FLOAT(, ulong)
TO_FLOAT(_rtz, ulong)
TO_FLOAT(_rtp, ulong)
TO_FLOAT(_rtn, ulong)

kernel void casts(global int *o, global const float *a, global const int *b)
{
    I;
    o[i * 6] = (int)a[i];
    o[i * 6 + 1] = (uchar)b[i];
    o[i * 6 + 2] = (short)b[i];
    o[i * 6 + 3] = (int)(float)(b[i] >> 1);
    o[i * 6 + 4] = as_int((float)(uint)b[i]);
    o[i * 6 + 5] = (int)(uint)fabs(a[i]);
}

kernel void reinterpreted(global uint *o, global const uint *a)
{
    I;
    const uint4 v = vload4(i, a);
    const float4 f = as_float4(v & 0x3fffffffu | 0x20000000u);
    const ushort8 s = as_ushort8(v);
    const uchar16 b = as_uchar16(v);
    const ulong2 w = as_ulong2(v);
    o[i * 4] = as_uint(f.x) ^ s.s1;
    o[i * 4 + 1] = as_uint(b.s4567) + as_uint(s.s67);
    o[i * 4 + 2] = (uint)(w.y >> 24);
    o[i * 4 + 3] = as_uint(as_char4(v.w).wzyx);
}

kernel void vectors_between(global int *o, global const float *a, global const int *b)
{
    I;
    const float4 f = vload4(i, a);
    const int4 n = vload4(i, b);
    const uchar4 u = convert_uchar4_sat(f);
    const short4 s = convert_short4_sat_rte(f * 1000.0f);
    const char4 c = convert_char4_sat(n);
    vstore4(convert_int4(u) + convert_int4(s) * 256 + convert_int4(c), i, o);
}

kernel void wide_vectors(global float *o, global const uchar *a)
{
    I;
    vstore16(convert_float16(vload16(i, a)) * 0.5f, i, o);
}
