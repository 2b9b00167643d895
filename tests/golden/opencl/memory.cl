// Address spaces, tables, structures, unions, private arrays, pointers.
//: moved_char2 out:char:128 in:char:128 local:64 grid:64 group:32
//: moved_uchar3 out:uchar:192 in:uchar:192 local:96 grid:64 group:32
//: moved_short4 out:short:256 in:short:256 local:256 grid:64 group:32
//: moved_ushort8 out:ushort:512 in:ushort:512 local:512 grid:64 group:32
//: moved_int16 out:int:1024 in:int:1024 local:2048 grid:64 group:32
//: moved_uint3 out:uint:192 in:uint:192 local:384 grid:64 group:32
//: moved_int2 out:int:128 in:int:128 local:256 grid:64 group:32
//: moved_long2 out:long:128 in:long:128 local:512 grid:64 group:32
//: moved_ulong4 out:ulong:256 in:ulong:256 local:1024 grid:64 group:32
//: moved_uchar16 out:uchar:1024 in:uchar:1024 local:512 grid:64 group:32
//: moved_uint4 out:uint:256 in:uint:256 local:512 grid:64 group:32
//: moved_short3 out:short:192 in:short:192 local:192 grid:64 group:32
//: halves_loaded out:float:2048 in:half:256
//: halves_stored out:half:1024 in:float:256
//: halves_stored_rtz out:half:256 in:float:256
//: halves_stored_rtp out:half:256 in:float:256
//: halves_stored_rtn out:half:256 in:float:256
//: constant_tables out:int:256 in:uint:256
//: constant_floats out:float:256 in:float:256:small ulp:2 abs:1e-5
//: constant_text out:uchar:512 in:uchar:256
//: constant_pointers out:int:256 in:int:32 in:uint:256
//: constant_structures out:int:256 in:uint:256
//: structures io:int:3072:zero in:float:256:small
//: structures_returned out:ulong:256 in:int:256
//: structures_passed out:float:256 val:int:7,1065353216,196610,5,6 in:float:256:small ulp:2
//: structures_copied out:int:256 in:int:256
//: unions out:uint:256 in:uint:256
//: private_arrays out:int:256 in:int:256
//: private_bytes out:uchar:256 in:uchar:256
//: private_shorts out:short:256 in:short:256
//: private_longs out:long:256 in:int:256
//: matrices_in_arrays out:float:256 in:float:256:small ulp:1
//: vectors_in_arrays out:int:1024 in:int:256 
//: pointer_steps out:int:256 in:int:512
//: pointers_to_pointers out:int:256 in:int:256
//: pointers_into_bytes out:uint:256 in:uchar:1024
//: negative_indices out:int:256 in:int:256:small
//: wide_indices out:ulong:256 in:ulong:256
//: pointers_to_functions_arguments out:int:256 in:int:256
//: copies_in_groups out:int:256 in:int:256 local:256
//: strided_copies out:int:256 in:int:256
//: prefetched out:int:256 in:int:256
//: shuffled out:int:256 in:int:256 in:uint:256 grid:64 group:32
//: volatile_memory out:int:256 io:int:256:small
//: restricted out:int:1024 in:int:256:small

#define I const size_t i = get_global_id(0)

#define VECTOR_MEMORY(T, N)                                                                                  \
    kernel void moved_##T##N(global T *o, global const T *a, local T *s)                                     \
    {                                                                                                        \
        I;                                                                                                   \
        const size_t l = get_local_id(0);                                                                    \
        T keep[N * 2];                                                                                       \
        vstore##N(vload##N(i, a), l, s);                                                                     \
        barrier(CLK_LOCAL_MEM_FENCE);                                                                        \
        vstore##N(vload##N(l ^ 1, s), 1, keep);                                                              \
        vstore##N(vload##N(i, a), 0, keep);                                                                  \
        vstore##N(vload##N(1, keep) ^ vload##N(0, keep), i, o);                                              \
    }
VECTOR_MEMORY(char, 2)
VECTOR_MEMORY(uchar, 3)
VECTOR_MEMORY(short, 4)
VECTOR_MEMORY(ushort, 8)
VECTOR_MEMORY(int, 16)
VECTOR_MEMORY(uint, 3)
VECTOR_MEMORY(int, 2)
VECTOR_MEMORY(long, 2)
VECTOR_MEMORY(ulong, 4)
VECTOR_MEMORY(uchar, 16)
VECTOR_MEMORY(uint, 4)
VECTOR_MEMORY(short, 3)

kernel void halves_loaded(global float *o, global const half *a)
{
    I;
    o[i * 8] = vload_half(i, a);
    vstore2(vload_half2(i >> 1, a), 0, o + i * 8 + 1);
    vstore4(vload_half4(i >> 2, a), 0, o + i * 8 + 3);
    o[i * 8 + 7] = vloada_half3(i >> 2, a).z;
}

kernel void halves_stored(global half *o, global const float *a)
{
    I;
    vstore_half(a[i], i * 4, o);
    vstore_half_rte(a[i], i * 4 + 1, o);
    vstore_half2((float2)(a[i], -a[i]), i * 2 + 1, o);
}

#define HALF_ROUNDED(R)                                                                                      \
    kernel void halves_stored##R(global half *o, global const float *a)                                      \
    {                                                                                                        \
        I;                                                                                                   \
        vstore_half##R(a[i], i, o);                                                                          \
    }
HALF_ROUNDED(_rtz)
HALF_ROUNDED(_rtp)
HALF_ROUNDED(_rtn)

constant int primes[16] = {2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53};
constant float weights[4] = {0.125f, 0.375f, 0.375f, 0.125f};
constant uchar nibbles[] = "0123456789abcdef";

kernel void constant_tables(global int *o, global const uint *a)
{
    I;
    o[i] = primes[a[i] & 15] * primes[a[i] >> 28];
}

kernel void constant_floats(global float *o, global const float *a)
{
    I;
    float sum = 0;
    for (int k = 0; k < 4; k++)
        sum += weights[(k + i) & 3] * a[(i + k) & 255];
    o[i] = sum;
}

kernel void constant_text(global uchar *o, global const uchar *a)
{
    I;
    o[i * 2] = nibbles[a[i] >> 4];
    o[i * 2 + 1] = nibbles[a[i] & 15];
}

kernel void constant_pointers(global int *o, constant int *table, global const uint *a)
{
    I;
    constant int *p = a[i] & 1 ? table : table + 16;
    o[i] = p[a[i] >> 1 & 15] - p[0];
}

kernel void constant_structures(global int *o, global const uint *a)
{
    constant static struct {
        int base;
        short step[2];
    } rows[3] = {{1, {2, 3}}, {40, {50, 60}}, {700, {800, 900}}};
    I;
    o[i] = rows[a[i] % 3].base + rows[a[i] / 3 % 3].step[a[i] >> 31];
}

struct particle {
    float3 place;
    float mass;
    int kind;
    uchar flags[3];
};

kernel void structures(global struct particle *p, global const float *a)
{
    I;
    struct particle q = {(float3)(a[i], 1.0f, 2.0f), a[i] * 2.0f, (int)i, {1, 2, 3}};
    if (i & 1)
        q.place.yz = q.place.zy;
    q.flags[i % 3] += (uchar)i;
    p[i].place.x = q.place.x;
    p[i].place.y = q.place.y;
    p[i].place.z = q.place.z;
    p[i].mass = q.mass;
    p[i].kind = q.kind;
    for (int k = 0; k < 3; k++)
        p[i].flags[k] = q.flags[k];
}

struct pair {
    int a;
    short b;
    ulong c;
};

struct pair swapped(struct pair p, int by)
{
    const struct pair r = {p.b, (short)p.a, p.c + by};
    return r;
}

kernel void structures_returned(global ulong *o, global const int *a)
{
    I;
    struct pair p = {a[i], 5, 6};
    for (int k = 0; k < 3; k++)
        p = swapped(p, k);
    o[i] = p.a + p.b * 3 + p.c;
}

struct settings {
    int count;
    float scale;
    short2 sides;
    uint bits[2];
};

kernel void structures_passed(global float *o, const struct settings s, global const float *a)
{
    I;
    o[i] = a[i] * s.scale + s.count + s.sides.y + s.bits[i & 1];
}

kernel void structures_copied(global int *o, global const int *a)
{
    struct big {
        int n[8];
        char4 c;
    } x, y;
    I;
    for (int k = 0; k < 8; k++)
        x.n[k] = a[(i + k) & 255];
    x.c = (char4)(1, 2, 3, 4);
    y = x;
    x.n[i & 7] = 0;
    int sum = y.c.z;
    for (int k = 0; k < 8; k++)
        sum = (int)((uint)sum * 3 + (uint)y.n[k] - (uint)x.n[7 - k]);
    o[i] = sum;
}

union word {
    uint whole;
    uchar byte[4];
    ushort half_[2];
    float real;
};

kernel void unions(global uint *o, global const uint *a)
{
    I;
    union word w = {.whole = a[i]};
    w.byte[1] ^= w.byte[3];
    const ushort h = w.half_[1];
    w.half_[0] += h;
    union word f = {.real = (float)(i + 1)};
    o[i] = w.whole + f.byte[3] + (uint)f.half_[1];
}

kernel void private_arrays(global int *o, global const int *a)
{
    I;
    int stack[32], top = 0;
    for (int k = 0; k < 32; k++) {
        const int v = a[(i + k) & 255];
        if (v & 1 && top)
            top--;
        else
            stack[top++] = v;
    }
    int sum = top;
    while (top)
        sum = (int)((uint)sum * 7 + (uint)stack[--top]);
    o[i] = sum;
}

kernel void private_bytes(global uchar *o, global const uchar *a)
{
    I;
    uchar s[16];
    for (int k = 0; k < 16; k++)
        s[k] = a[(i + k) & 255];
    for (int k = 0; k < 16; k++) {
        const uchar t = s[k], j = s[(k * 5) & 15] & 15;
        s[k] = s[j];
        s[j] = t;
    }
    uchar x = 0;
    for (int k = 0; k < 16; k++)
        x = (uchar)(x * 3 + s[k]);
    o[i] = x;
}

kernel void private_shorts(global short *o, global const short *a)
{
    I;
    short s[8] = {0};
    for (int k = 0; k < 16; k++)
        s[a[(i + k) & 255] & 7] += (short)k;
    o[i] = s[i & 7] * 10 + s[(i + 3) & 7];
}

kernel void private_longs(global long *o, global const int *a)
{
    I;
    long s[6];
    for (int k = 0; k < 6; k++)
        s[k] = (long)a[(i + k) & 255] << k * 4;
    o[i] = s[a[i] & 3] ^ s[(uint)a[i] % 6];
}

kernel void matrices_in_arrays(global float *o, global const float *a)
{
    I;
    float m[3][3], r[3][3];
    for (int y = 0; y < 3; y++)
        for (int x = 0; x < 3; x++)
            m[y][x] = a[(i + y * 3 + x) & 255];
    for (int y = 0; y < 3; y++)
        for (int x = 0; x < 3; x++) {
            r[y][x] = 0;
            for (int k = 0; k < 3; k++)
                r[y][x] = fma(m[y][k], m[k][x], r[y][x]);
        }
    o[i] = r[i % 3][i / 3 % 3];
}

kernel void vectors_in_arrays(global int *o, global const int *a)
{
    I;
    int4 v[4];
    for (int k = 0; k < 4; k++)
        v[k] = vload4((i + k) & 63, a);
    int4 r = v[i & 3];
    r.y = v[(i + 1) & 3].x;
    v[a[i] & 3] = r;
    vstore4(v[0] ^ v[3], i, o);
}

kernel void pointer_steps(global int *o, global const int *a)
{
    I;
    global const int *p = a + i, *const end = a + 256;
    int sum = 0;
    while (p < end && sum < 100000) {
        sum += *p++ & 1023;
        p += *p & 3;
    }
    o[i] = sum + (int)(p - a);
}

void put(global int *p, int x, int *count)
{
    *p = x;
    ++*count;
}

kernel void pointers_to_pointers(global int *o, global const int *a)
{
    I;
    int n = 0, other = 100, *which = a[i] & 1 ? &n : &other, **again = &which;
    put(o + i, a[i] >> 3, which);
    **again += 10;
    o[i] += n * 1000 + other;
}

kernel void pointers_into_bytes(global uint *o, global const uchar *a)
{
    I;
    global const uint *w = (global const uint *)(a + i * 4);
    global const ushort *h = (global const ushort *)w;
    o[i] = *w ^ h[1] ^ ((global const char *)h)[1];
}

kernel void negative_indices(global int *o, global const int *a)
{
    I;
    global const int *p = a + 255;
    const int back = -(int)i;
    o[i] = p[back] + p[-3] + (p - 10)[back / 2];
}

kernel void wide_indices(global ulong *o, global const ulong *a)
{
    I;
    const long at = (long)i * 3 - 5;
    o[i] = at >= 0 && at < 256 ? a[at] + a[at >> 2] : 0;
    o[i] += a[(ulong)i * i & 255];
}

void add_to(int *p, int by)
{
    *p += by;
}

int sum_of(global const int *p, int n)
{
    int sum = 0;
    for (int k = 0; k < n; k++)
        sum += p[k] & 255;
    return sum;
}

kernel void pointers_to_functions_arguments(global int *o, global const int *a)
{
    I;
    int x = sum_of(a + (i & 127), 5);
    add_to(&x, 3);
    o[i] = x;
}

kernel void copies_in_groups(global int *o, global const int *a, local int *s)
{
    I;
    const size_t l = get_local_id(0);
    event_t e = async_work_group_copy(s, a + get_group_id(0) * 64, 64, 0);
    wait_group_events(1, &e);
    o[i] = s[63 - l];
}

kernel void strided_copies(global int *o, global const int *a)
{
    local int s[64];
    event_t e = async_work_group_strided_copy(s, a + get_group_id(0), 64, 3, 0);
    wait_group_events(1, &e);
    o[get_global_id(0)] = s[get_local_id(0)];
}

kernel void prefetched(global int *o, global const int *a)
{
    I;
    prefetch(a + i, 1);
    o[i] = a[i] + 1;
}

kernel void shuffled(global int *o, global const int *a, global const uint *m)
{
    I;
    const int4 x = vload4(i, a), y = vload4(i ^ 1, a);
    const uint4 mask = vload4(i, m);
    vstore4(shuffle(x, mask) ^ shuffle2(x, y, mask), i, o);
}

kernel void volatile_memory(global int *o, volatile global int *a)
{
    I;
    a[i] = a[i] + 1;
    o[i] = a[i] * 2;
}

kernel void restricted(global int *restrict o, global const int *restrict a)
{
    I;
    for (int k = 0; k < 4; k++)
        o[i * 4 + k] = a[(i + k) & 255] * k;
}
