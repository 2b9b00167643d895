// Integers of 64 bits.
//: products_of_128 out:ulong:512 in:ulong:256 in:ulong:256
//: carries out:ulong:512 in:ulong:256 in:ulong:256
//: long_divisions out:long:1024 in:long:256 in:long:256:nonzero
//: long_chosen out:long:256 in:long:256 in:long:256
//: generators out:ulong:256 in:ulong:256
//: long_shuffles out:ulong:256 in:ulong:256 in:uint:256
//: powers_modulo out:ulong:256 in:ulong:256 in:uint:256
//: long_floats out:float:512 in:long:256 in:ulong:256
//: floats_to_longs out:long:512 in:float:256:-9e18~9e18
//: long_vectors out:long:1024 in:long:1024 in:long:1024
//: long_private out:ulong:256 in:ulong:256
//: long_local out:ulong:256 in:ulong:256
//: long_switches out:long:256 in:long:256 val:long:-5000000000 val:ulong:12345678901

#define I const size_t i = get_global_id(0)

kernel void products_of_128(global ulong *o, global const ulong *a, global const ulong *b)
{
    I;
    o[i * 2] = a[i] * b[i];
    o[i * 2 + 1] = mul_hi(a[i], b[i]);
}

kernel void carries(global ulong *o, global const ulong *a, global const ulong *b)
{
    I;
    ulong low = a[i] + b[i], carry = low < a[i], high = a[i ^ 1] + b[i ^ 1] + carry;
    o[i * 2] = low ^ high;
    o[i * 2 + 1] = a[i] - b[i] - (a[i] < b[i]);
}

kernel void long_divisions(global long *o, global const long *a, global const long *b)
{
    I;
    const long d = b[i] == -1 ? 7 : b[i];
    o[i * 4] = a[i] / d;
    o[i * 4 + 1] = a[i] % d;
    o[i * 4 + 2] = (long)((ulong)a[i] / 1000000007ul);
    o[i * 4 + 3] = a[i] / 1000;
}

kernel void long_chosen(global long *o, global const long *a, global const long *b)
{
    I;
    long x = a[i] > b[i] ? a[i] : b[i];
    if (a[i] == b[i] || a[i] < 0)
        x = ~x;
    while (x > 1000)
        x >>= 7;
    o[i] = x;
}

kernel void generators(global ulong *o, global const ulong *a)
{
    I;
    ulong z = a[i] + 0x9E3779B97F4A7C15ul;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ul;
    z = (z ^ z >> 27) * 0x94D049BB133111EBul;
    z ^= z >> 31;
    ulong s = z;
    for (int k = 0; k < 10; k++) {
        s ^= s << 13;
        s ^= s >> 7;
        s ^= s << 17;
    }
    o[i] = s;
}

kernel void long_shuffles(global ulong *o, global const ulong *a, global const uint *n)
{
    I;
    const uint by = n[i] & 63;
    const ulong x = a[i], r = rotate(x, (ulong)by);
    o[i] = (x << by | x >> (64 - by & 63)) == r ? r ^ x >> 32 : 1;
    o[i] += as_ulong(as_uint2(x).yx) ^ as_ulong(as_uchar8(x).s76543210);
}

kernel void powers_modulo(global ulong *o, global const ulong *a, global const uint *b)
{
    I;
    const ulong m = 0xfffffffbul;
    ulong r = 1, x = a[i] % m;
    for (uint e = b[i] & 0xff; e; e >>= 1) {
        if (e & 1)
            r = r * x % m;
        x = x * x % m;
    }
    o[i] = r;
}

kernel void long_floats(global float *o, global const long *a, global const ulong *b)
{
    I;
    o[i * 2] = (float)a[i] * 0.5f;
    o[i * 2 + 1] = (float)b[i];
}

kernel void floats_to_longs(global long *o, global const float *a)
{
    I;
    o[i * 2] = (long)a[i];
    o[i * 2 + 1] = (long)(ulong)fabs(a[i]);
}

kernel void long_vectors(global long *o, global const long *a, global const long *b)
{
    I;
    const long4 x = vload4(i, a), y = vload4(i, b);
    const long4 r = (x > y) & x | ~(x > y) & y;
    vstore4(as_long4(as_ulong4(r) * 3ul + as_ulong4(x.wzyx)) >> (y & 63), i, o);
}

kernel void long_private(global ulong *o, global const ulong *a)
{
    I;
    ulong fib[16];
    fib[0] = a[i];
    fib[1] = a[i ^ 1];
    for (int k = 2; k < 16; k++)
        fib[k] = fib[k - 1] + fib[k - 2] * (k & 3);
    o[i] = fib[a[i] & 15] + fib[15];
}

kernel void long_local(global ulong *o, global const ulong *a)
{
    local ulong s[64];
    I;
    s[get_local_id(0)] = a[i] * 3;
    barrier(CLK_LOCAL_MEM_FENCE);
    o[i] = s[get_local_id(0) ^ 21] - a[i];
}

kernel void long_switches(global long *o, global const long *a, long n, ulong m)
{
    I;
    long x = a[i];
    switch (x & 3) {
    case 0: x = (long)((ulong)x + (ulong)n); break;
    case 1: x ^= (long)m; break;
    case 2: x = (long)((ulong)x * m); break;
    }
    o[i] = x;
}
