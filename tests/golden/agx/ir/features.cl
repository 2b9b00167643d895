#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
struct P {
    float4 a;
    int n;
    uchar c[3];
};
typedef struct {
    char a;
    float3 v;
} Q;
__constant float table[4] = {1.0f, 2.5f, -0.0f, 1e-40f};
__constant char text[] = "hi\n\"q\\";
__constant Q qs[2] = {{1, {1, 2, 3}}, {0, {0, 0, 0}}};
kernel void s(global int *a, int n)
{
    int i = get_global_id(0);
    switch (a[i]) {
    case 1: a[i] = 5; break;
    case -7: a[i] = 6;
    case 9: a[i]++; break;
    case 10:
    case 11: a[i] = 0; break;
    default: n++;
    }
    int x = 0;
    for (int k = 0; k < n; k++) {
        if (k == 7)
            break;
        if (a[k] > 3)
            continue;
        x += a[k];
        if (x == 99)
            goto out;
    }
    a[i] = x;
out:
    a[i + 1] = n;
}
kernel void st(global struct P *p, struct P q, global Q *z, local float *l)
{
    int i = get_global_id(0);
    p[i].a = q.a.wzyx * 2;
    p[i].c[1] = q.c[i & 1];
    z[i].v += qs[i & 1].v;
    l[i] = table[i & 3] + text[i & 3];
    float v[8];
    for (int k = 0; k < 8; k++)
        v[k] = l[k];
    p[i].a.x = v[q.n & 7];
}
kernel void vec(global float4 *a, global half8 *h, global double *d, global uchar4 *u, global long *g)
{
    int i = get_global_id(0);
    float4 x = a[i];
    a[i] = select(x, x.yyxx, x > 1.0f);
    h[i] = h[i] * (half)1.5h + (half8)(0.1h);
    d[i] = d[i] * 3.25 + 0.1;
    u[i] = convert_uchar4_sat(convert_float4(u[i])) + (uchar4)(1, 2, 3, 4);
    g[i] = g[i] / 7 + ((long)i << 40);
    a[i] = fma(x, x, x);
    a[i] = -x;
    a[i].x = as_float(i);
    a[i].y = fmod(x.y, 2.0f);
    a[i].z = (float)(ulong)g[i];
    u[i].x = x.x < 1 || isnan(x.y);
}
kernel void at(global atomic_int *a, volatile global uint *b, local atomic_uint *c)
{
    int e = 5;
    atomic_fetch_add(a, 1);
    atomic_compare_exchange_strong(a, &e, 6);
    atomic_inc(b);
    atomic_min(b, 3u);
    atomic_store(c, 1u);
    atomic_exchange(c, 2u);
    __atomic_fetch_max((volatile global int *)b, e, __ATOMIC_SEQ_CST);
    __atomic_fetch_add(b, 3, __ATOMIC_RELAXED);
    uint w = __atomic_load_n(b, __ATOMIC_ACQUIRE);
    __atomic_store_n(b, w, __ATOMIC_RELEASE);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    uint ex = 1;
    __atomic_compare_exchange_n(b, &ex, 9u, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
    if (ex == 3)
        __builtin_unreachable();
}
kernel void grp(global int *a)
{
    local int t[64];
    local struct P lp;
    int i = get_local_id(0);
    t[i] = a[i];
    lp.n = i;
    barrier(CLK_LOCAL_MEM_FENCE);
    a[i] = t[63 - i] + lp.n + sub_group_reduce_add(a[i]);
    generic int *gp = i ? (generic int *)a : (generic int *)t;
    *gp = 3;
}
/* Locations of inlined code, and of code from another file. */
static float inlined(float x)
{
    return x * 3.0f + 1.0f;
}
#line 500 "other.h"
static float elsewhere(float x)
{
    return x / 7.0f;
}
kernel void places(global float *a)
{
    a[0] = inlined(a[1]);
#line 900 "third.h"
    a[2] = elsewhere(a[3]);
}
