// Operators on scalars of every integer type.
//: arithmetic_char out:char:2048 in:char:256 in:char:256
//: division_char out:char:1536 in:char:256 in:char:256:nonzero
//: shifts_char out:char:1536 in:char:256 in:char:256:shift
//: compares_char out:int:1024 in:char:256 in:char:256
//: arithmetic_uchar out:uchar:2048 in:uchar:256 in:uchar:256
//: division_uchar out:uchar:1536 in:uchar:256 in:uchar:256:nonzero
//: shifts_uchar out:uchar:1536 in:uchar:256 in:uchar:256:shift
//: compares_uchar out:int:1024 in:uchar:256 in:uchar:256
//: arithmetic_short out:short:2048 in:short:256 in:short:256
//: division_short out:short:1536 in:short:256 in:short:256:nonzero
//: shifts_short out:short:1536 in:short:256 in:short:256:shift
//: compares_short out:int:1024 in:short:256 in:short:256
//: arithmetic_ushort out:ushort:2048 in:ushort:256 in:ushort:256
//: division_ushort out:ushort:1536 in:ushort:256 in:ushort:256:nonzero
//: shifts_ushort out:ushort:1536 in:ushort:256 in:ushort:256:shift
//: compares_ushort out:int:1024 in:ushort:256 in:ushort:256
//: arithmetic_int out:int:2048 in:int:256 in:int:256
//: division_int out:int:1536 in:int:256 in:int:256:nonzero
//: shifts_int out:int:1536 in:int:256 in:int:256:shift
//: compares_int out:int:1024 in:int:256 in:int:256
//: arithmetic_uint out:uint:2048 in:uint:256 in:uint:256
//: division_uint out:uint:1536 in:uint:256 in:uint:256:nonzero
//: shifts_uint out:uint:1536 in:uint:256 in:uint:256:shift
//: compares_uint out:int:1024 in:uint:256 in:uint:256
//: arithmetic_long out:long:2048 in:long:256 in:long:256
//: division_long out:long:1536 in:long:256 in:long:256:nonzero
//: shifts_long out:long:1536 in:long:256 in:long:256:shift
//: compares_long out:int:1024 in:long:256 in:long:256
//: arithmetic_ulong out:ulong:2048 in:ulong:256 in:ulong:256
//: division_ulong out:ulong:1536 in:ulong:256 in:ulong:256:nonzero
//: shifts_ulong out:ulong:1536 in:ulong:256 in:ulong:256:shift
//: compares_ulong out:int:1024 in:ulong:256 in:ulong:256
//: mixed_widths out:long:1536 in:char:256 in:ushort:256 in:int:256 in:ulong:256
//: increments out:int:256 in:int:256
//: booleans out:int:256 in:int:256 in:float:256
//: comma_and_sizes out:int:256 in:int:256

#define I const size_t i = get_global_id(0)

/* Signed arithmetic must not overflow: it is done on the unsigned type. */
#define ARITHMETIC(T, U)                                                                                     \
    kernel void arithmetic_##T(global T *o, global const T *a, global const T *b)                            \
    {                                                                                                        \
        I;                                                                                                   \
        T c = a[i];                                                                                          \
        o[i * 8] = (T)((U)a[i] + (U)b[i]);                                                                   \
        o[i * 8 + 1] = (T)((U)a[i] - (U)b[i]);                                                               \
        o[i * 8 + 2] = (T)((ulong)a[i] * (ulong)b[i]);                                                       \
        o[i * 8 + 3] = (T)(0 - (U)a[i]);                                                                     \
        o[i * 8 + 4] = ~a[i];                                                                                \
        o[i * 8 + 5] = !a[i] + 2 * !!b[i];                                                                   \
        c ^= b[i];                                                                                           \
        c |= 5;                                                                                              \
        c &= ~(T)2;                                                                                          \
        o[i * 8 + 6] = c;                                                                                    \
        o[i * 8 + 7] = (T)((ulong)a[i] * 37 + (ulong)b[i] * 91 + 11);                                        \
    }
#define DIVISION(T)                                                                                          \
    kernel void division_##T(global T *o, global const T *a, global const T *b)                              \
    {                                                                                                        \
        I;                                                                                                   \
        const T d = b[i] == (T)-1 ? (T)3 : b[i];                                                             \
        o[i * 6] = a[i] / d;                                                                                 \
        o[i * 6 + 1] = a[i] % d;                                                                             \
        o[i * 6 + 2] = a[i] / (T)10;                                                                         \
        o[i * 6 + 3] = a[i] % (T)7;                                                                          \
        o[i * 6 + 4] = a[i] / (T)64;                                                                         \
        o[i * 6 + 5] = a[i] % (T)32;                                                                         \
    }
#define SHIFTS(T, U)                                                                                         \
    kernel void shifts_##T(global T *o, global const T *a, global const T *s)                                \
    {                                                                                                        \
        I;                                                                                                   \
        o[i * 6] = (T)((U)a[i] << s[i]);                                                                     \
        o[i * 6 + 1] = a[i] >> s[i];                                                                         \
        o[i * 6 + 2] = (T)((U)a[i] << 3);                                                                    \
        o[i * 6 + 3] = a[i] >> 5;                                                                            \
        o[i * 6 + 4] = (T)((U)a[i] >> s[i]);                                                                 \
        o[i * 6 + 5] = (T)(((U)a[i] << 2 | (U)a[i] >> 1) ^ ((U)a[i] >> s[i] & 0x55));                        \
    }
#define COMPARES(T)                                                                                          \
    kernel void compares_##T(global int *o, global const T *a, global const T *b)                            \
    {                                                                                                        \
        I;                                                                                                   \
        o[i * 4] = (a[i] < b[i]) | (a[i] <= b[i]) << 1 | (a[i] > b[i]) << 2 | (a[i] >= b[i]) << 3 | (a[i] == b[i]) << 4 | \
                   (a[i] != b[i]) << 5;                                                                      \
        o[i * 4 + 1] = a[i] < b[i] ? 10 : a[i] > b[i] ? 20 : 30;                                             \
        o[i * 4 + 2] = (a[i] && b[i]) + 2 * (a[i] || b[i]) + 4 * (a[i] > (T)5 && b[i] < (T)100);             \
        o[i * 4 + 3] = (int)(a[i] > b[i] ? a[i] : b[i]) - (a[i] == (T)3);                                    \
    }
ARITHMETIC(char, uchar)
DIVISION(char)
SHIFTS(char, uchar)
COMPARES(char)
ARITHMETIC(uchar, uchar)
DIVISION(uchar)
SHIFTS(uchar, uchar)
COMPARES(uchar)
ARITHMETIC(short, ushort)
DIVISION(short)
SHIFTS(short, ushort)
COMPARES(short)
ARITHMETIC(ushort, ushort)
DIVISION(ushort)
SHIFTS(ushort, ushort)
COMPARES(ushort)
ARITHMETIC(int, uint)
DIVISION(int)
SHIFTS(int, uint)
COMPARES(int)
ARITHMETIC(uint, uint)
DIVISION(uint)
SHIFTS(uint, uint)
COMPARES(uint)
ARITHMETIC(long, ulong)
DIVISION(long)
SHIFTS(long, ulong)
COMPARES(long)
ARITHMETIC(ulong, ulong)
DIVISION(ulong)
SHIFTS(ulong, ulong)
COMPARES(ulong)

kernel void mixed_widths(global long *o, global const char *c, global const ushort *s, global const int *n, global const ulong *w)
{
    I;
    o[i * 6] = c[i] + s[i] * 3 - (n[i] & 0xffff);
    o[i * 6 + 1] = (long)c[i] << 20 ^ s[i];
    o[i * 6 + 2] = (uint)n[i] + w[i];
    o[i * 6 + 3] = (n[i] < 0) == (c[i] < 0) ? (short)s[i] : (uchar)c[i];
    o[i * 6 + 4] = (uchar)(c[i] + 200) + (char)(s[i] >> 1);
    o[i * 6 + 5] = (uint)c[i] > s[i];
}

kernel void increments(global int *o, global const int *a)
{
    I;
    int x = a[i] & 1023, y = x++ + ++x, z = y-- - --x;
    uchar narrow = (uchar)a[i];
    narrow += 200;
    narrow -= x;
    narrow *= 3;
    narrow <<= 1;
    short s = (short)a[i];
    s >>= 2;
    s %= 17;
    s /= 3;
    o[i] = x + y * 3 + z * 5 + narrow * 7 + s * 11;
}

kernel void booleans(global int *o, global const int *a, global const float *f)
{
    I;
    const bool p = a[i], q = f[i], r = a[i] > 3;
    bool s = p ^ r;
    s |= q;
    o[i] = p + 2 * q + 4 * r + 8 * s + 16 * (p == q) + 32 * (p && (q || !r)) + (bool)(a[i] & 6) * 64;
}

kernel void comma_and_sizes(global int *o, global const int *a)
{
    I;
    int x = a[i] & 15, y;
    y = (x += 3, x * 2);
    o[i] = y + sizeof(x) + sizeof(float3) * 100 + sizeof(o[0]) + (int)sizeof(char16);
}
