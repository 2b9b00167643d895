// Atomic operations.
//: counted io:int:9:zero in:int:256
//: counted_unsigned io:uint:4:zero in:uint:256
//: old_values out:int:1 io:int:1:zero io:int:256:zero
//: exchanged io:int:16:zero io:int:16:zero grid:16 group:16
//: exchanged_floats out:float:256 io:float:256:small
//: compared out:uint:256 io:uint:1:zero in:uint:256
//: histograms io:uint:16:zero in:uchar:256
//: local_atomics out:int:32 in:int:256
//: local_old_values out:int:4
//: float_sums io:float:1:zero in:int:256
//: atomics_of_c11 out:int:256 io:int:260:zero in:int:256
//: compared_of_c11 out:int:256 io:uint:1:zero in:uint:256

#define I const size_t i = get_global_id(0)

kernel void counted(global int *o, global const int *a)
{
    I;
    atomic_inc(o);
    atomic_add(o + 1, a[i] & 15);
    atomic_sub(o + 2, a[i] & 7);
    atomic_max(o + 3, a[i]);
    atomic_min(o + 4, a[i]);
    atomic_or(o + 5, 1 << (a[i] & 31));
    atomic_and(o + 6, ~(1 << (a[i] & 31)));
    atomic_xor(o + 7, a[i]);
    atomic_dec(o + 8);
}

kernel void counted_unsigned(global uint *o, global const uint *a)
{
    I;
    atomic_max(o, a[i]);
    atomic_min(o + 1, a[i]);
    atomic_add(o + 2, a[i]);
    atomic_xor(o + 3, a[i]);
}

kernel void old_values(global int *o, global int *n, global int *seen)
{
    const int before = atomic_add(n, 1);
    atomic_inc(seen + before);
    if (before == 255)
        o[0] = n[0];
}

kernel void exchanged(global int *o, global int *places)
{
    I;
    const int old = atomic_xchg(places + (i & 15), (int)i + 1);
    atomic_add(o + (i & 15), old);
}

kernel void exchanged_floats(global float *o, global float *places)
{
    I;
    const float old = atomic_xchg(places + i, (float)i);
    o[i] = old;
}

kernel void compared(global uint *o, global uint *n, global const uint *a)
{
    I;
    uint old, seen = *n;
    do {
        old = seen;
        seen = atomic_cmpxchg(n, old, old + (a[i] & 255));
    } while (seen != old);
    o[i] = 1;
}

kernel void histograms(global uint *o, global const uchar *a)
{
    local uint bins[16];
    I;
    const size_t l = get_local_id(0);
    if (l < 16)
        bins[l] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_inc(&bins[a[i] & 15]);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 16)
        atomic_add(&o[l], bins[l]);
}

kernel void local_atomics(global int *o, global const int *a)
{
    local int s[8];
    I;
    const size_t l = get_local_id(0);
    if (l < 8)
        s[l] = l == 2 ? INT_MAX : l == 1 ? INT_MIN : 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    atomic_add(&s[0], a[i] & 1023);
    atomic_max(&s[1], a[i]);
    atomic_min(&s[2], a[i]);
    atomic_or(&s[3], a[i] & 0xf0f0);
    atomic_xor(&s[4], a[i]);
    atomic_sub(&s[5], 3);
    atomic_inc(&s[6]);
    atomic_xchg(&s[7], 42);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (l < 8)
        o[get_group_id(0) * 8 + l] = s[l];
}

kernel void local_old_values(global int *o)
{
    local int n, sum;
    if (get_local_id(0) == 0)
        n = sum = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    const int mine = atomic_inc(&n);
    atomic_add(&sum, mine * mine);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (get_local_id(0) == 0)
        o[get_group_id(0)] = sum;
}

kernel void float_sums(global float *o, global const int *a)
{
    I;
    union {
        uint bits;
        float real;
    } old, next;
    do {
        old.real = *(volatile global float *)o;
        next.real = old.real + (float)(a[i] & 7);
    } while (atomic_cmpxchg((volatile global uint *)o, old.bits, next.bits) != old.bits);
}

#ifdef NATIVE /* PoCL 3.1 has the functions of OpenCL 1.2 */
#define atomic_int int
#define atomic_uint uint
#define atomic_fetch_add(p, x) atomic_add((volatile global int *)p, x)
#define atomic_fetch_max_explicit(p, x, o, s) atomic_max((volatile global int *)p, x)
#define atomic_fetch_xor(p, x) atomic_xor((volatile global int *)p, x)
#define atomic_load(p) *(p)
#define atomic_store_explicit(p, x, o, s) (void)atomic_xchg((volatile global int *)p, x)
#define atomic_exchange(p, x) atomic_xchg((volatile global int *)p, x)
#endif

kernel void atomics_of_c11(global int *o, global atomic_int *n, global const int *a)
{
    I;
    atomic_fetch_add(n, a[i] & 3);
    atomic_fetch_max_explicit(n + 1, a[i], memory_order_relaxed, memory_scope_device);
    atomic_fetch_xor(n + 2, a[i]);
    atomic_store_explicit(n + 3, 9, memory_order_release, memory_scope_device);
    o[i] = atomic_exchange(n + 4 + i, a[i]) + 1;
}

#ifdef NATIVE
kernel void compared_of_c11(global int *o, global uint *n, global const uint *a)
{
    I;
    atomic_add(n, a[i] & 15);
    o[i] = 1;
}
#else
kernel void compared_of_c11(global int *o, global atomic_uint *n, global const uint *a)
{
    I;
    uint old = atomic_load_explicit(n, memory_order_relaxed, memory_scope_device);
    while (!atomic_compare_exchange_strong_explicit(n, &old, old + (a[i] & 15), memory_order_relaxed, memory_order_relaxed,
                                                    memory_scope_device))
        ;
    o[i] = 1;
}
#endif
