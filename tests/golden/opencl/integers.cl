// The library of integers.
//: integers_char out:char:4096 in:char:256 in:char:256 in:char:256
//: saturating_char out:char:512 in:char:256 in:char:256 in:char:256
//: integers_uchar out:uchar:4096 in:uchar:256 in:uchar:256 in:uchar:256
//: saturating_uchar out:uchar:512 in:uchar:256 in:uchar:256 in:uchar:256
//: integers_short out:short:4096 in:short:256 in:short:256 in:short:256
//: saturating_short out:short:512 in:short:256 in:short:256 in:short:256
//: integers_ushort out:ushort:4096 in:ushort:256 in:ushort:256 in:ushort:256
//: saturating_ushort out:ushort:512 in:ushort:256 in:ushort:256 in:ushort:256
//: integers_int out:int:4096 in:int:256 in:int:256 in:int:256
//: saturating_int out:int:512 in:int:256 in:int:256 in:int:256
//: integers_uint out:uint:4096 in:uint:256 in:uint:256 in:uint:256
//: saturating_uint out:uint:512 in:uint:256 in:uint:256 in:uint:256
//: integers_long out:long:4096 in:long:256 in:long:256 in:long:256
//: saturating_long out:long:512 in:long:256 in:long:256 in:long:256
//: integers_ulong out:ulong:4096 in:ulong:256 in:ulong:256 in:ulong:256
//: saturating_ulong out:ulong:512 in:ulong:256 in:ulong:256 in:ulong:256
//: integers_char4 out:char:256 in:char:256 in:char:256 in:char:256 grid:64 group:32
//: integers_uchar16 out:uchar:1024 in:uchar:1024 in:uchar:1024 in:uchar:1024 grid:64 group:32
//: integers_short8 out:short:512 in:short:512 in:short:512 in:short:512 grid:64 group:32
//: integers_ushort2 out:ushort:128 in:ushort:128 in:ushort:128 in:ushort:128 grid:64 group:32
//: integers_int3 out:int:192 in:int:192 in:int:192 in:int:192 grid:64 group:32
//: integers_uint4 out:uint:256 in:uint:256 in:uint:256 in:uint:256 grid:64 group:32
//: integers_long2 out:long:128 in:long:128 in:long:128 in:long:128 grid:64 group:32
//: integers_ulong4 out:ulong:256 in:ulong:256 in:ulong:256 in:ulong:256 grid:64 group:32
//: trailing_char out:char:256 in:char:256
//: trailing_ushort out:ushort:256 in:ushort:256
//: trailing_int out:int:256 in:int:256
//: trailing_uint out:uint:256 in:uint:256
//: trailing_long out:long:256 in:long:256
//: trailing_ulong out:ulong:256 in:ulong:256
//: products24 out:int:1024 in:int:256 in:int:256 in:uint:256
//: widened out:ulong:1024 in:uchar:256 in:ushort:256 in:uint:256
//: bit_tricks out:uint:512 in:uint:256

#define I const size_t i = get_global_id(0)
#define INTEGERS(T, U)                                                                                       \
    kernel void integers_##T(global T *o, global const T *a, global const T *b, global const T *c)           \
    {                                                                                                        \
        I;                                                                                                   \
        const T x = a[i], y = b[i], z = c[i], low = min(y, z), high = max(y, z);                             \
        o[i * 16] = (T)abs(x);                                                                               \
        o[i * 16 + 1] = (T)abs_diff(x, y);                                                                   \
        o[i * 16 + 2] = add_sat(x, y);                                                                       \
        o[i * 16 + 3] = sub_sat(x, y);                                                                       \
        o[i * 16 + 4] = hadd(x, y);                                                                          \
        o[i * 16 + 5] = rhadd(x, y);                                                                         \
        o[i * 16 + 6] = clamp(x, low, high);                                                                 \
        o[i * 16 + 7] = clz(x);                                                                              \
        o[i * 16 + 8] = popcount(x);                                                                         \
        o[i * 16 + 9] = mul_hi(x, y);                                                                        \
        o[i * 16 + 10] = low;                                                                                \
        o[i * 16 + 11] = high;                                                                               \
        o[i * 16 + 12] = rotate(x, y);                                                                       \
        o[i * 16 + 13] = rotate(x, (T)3);                                                                    \
        o[i * 16 + 14] = 0;                                                                                  \
        o[i * 16 + 15] = 0;                                                                                  \
    }                                                                                                        \
    kernel void saturating_##T(global T *o, global const T *a, global const T *b, global const T *c)         \
    {                                                                                                        \
        I;                                                                                                   \
        o[i * 2] = mad_sat(a[i], b[i], c[i]);                                                                \
        o[i * 2 + 1] = mad_hi(a[i], b[i], (T)(c[i] >> 2));                                                   \
    }
#define INTEGER_VECTORS(T, N)                                                                                \
    kernel void integers_##T##N(global T *o, global const T *a, global const T *b, global const T *c)        \
    {                                                                                                        \
        I;                                                                                                   \
        const T##N x = vload##N(i, a), y = vload##N(i, b), z = vload##N(i, c);                               \
        T##N r = add_sat(x, y) ^ sub_sat(y, z);                                                              \
        r ^= hadd(x, z) ^ rhadd(y, z) ^ min(x, y) ^ max(x, (T)9) ^ rotate(y, z);                             \
        r ^= clz(x) ^ popcount(z) ^ mul_hi(x, z);                                                            \
        vstore##N(r, i, o);                                                                                  \
    }
INTEGERS(char, uchar)
INTEGERS(uchar, uchar)
INTEGERS(short, ushort)
INTEGERS(ushort, ushort)
INTEGERS(int, uint)
INTEGERS(uint, uint)
INTEGERS(long, ulong)
INTEGERS(ulong, ulong)
INTEGER_VECTORS(char, 4)
INTEGER_VECTORS(uchar, 16)
INTEGER_VECTORS(short, 8)
INTEGER_VECTORS(ushort, 2)
INTEGER_VECTORS(int, 3)
INTEGER_VECTORS(uint, 4)
INTEGER_VECTORS(long, 2)
INTEGER_VECTORS(ulong, 4)

#define TRAILING(T)                                                                                          \
    kernel void trailing_##T(global T *o, global const T *a)                                                 \
    {                                                                                                        \
        I;                                                                                                   \
        o[i] = ctz(a[i]);                                                                                    \
    }
TRAILING(char)
TRAILING(ushort)
TRAILING(int)
TRAILING(uint)
TRAILING(long)
TRAILING(ulong)

kernel void products24(global int *o, global const int *a, global const int *b, global const uint *c)
{
    I;
    const int x = a[i] << 8 >> 8, y = b[i] << 8 >> 8;
    o[i * 4] = mul24(x & 0x7fff, y & 0xffff);
    o[i * 4 + 1] = mad24(x, y & 3, 77);
    o[i * 4 + 2] = as_int(mul24(c[i] & 0xffff, c[i] >> 16));
    o[i * 4 + 3] = as_int(mad24(c[i] & 0xffffff, 5u, c[i]));
}

kernel void widened(global ulong *o, global const uchar *a, global const ushort *b, global const uint *c)
{
    I;
    o[i * 4] = upsample(a[i], a[i ^ 1]);
    o[i * 4 + 1] = upsample((short)b[i], b[i ^ 1]);
    o[i * 4 + 2] = upsample(c[i], c[i ^ 1]);
    o[i * 4 + 3] = upsample((int)c[i], c[i ^ 3]);
}

kernel void bit_tricks(global uint *o, global const uint *a)
{
    I;
    uint x = a[i];
    x = (x & 0x55555555u) << 1 | (x >> 1 & 0x55555555u);
    x = (x & 0x33333333u) << 2 | (x >> 2 & 0x33333333u);
    x = (x & 0x0f0f0f0fu) << 4 | (x >> 4 & 0x0f0f0f0fu);
    x = x << 24 | (x & 0xff00u) << 8 | (x >> 8 & 0xff00u) | x >> 24;
    o[i * 2] = x;
    o[i * 2 + 1] = (a[i] & -a[i]) + (a[i] & (a[i] - 1)) + (32 - clz(a[i])) + (a[i] << 13 | a[i] >> 19) + (a[i] >> 7 & 0x1f);
}
