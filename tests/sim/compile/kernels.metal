// Kernels in the ways that people write Metal; test_metal_clang.c compiles them.
#include <metal_stdlib>
#include <metal_simdgroup_matrix>
using namespace metal;
constant bool causal [[function_constant(3)]];
constant int rows [[function_constant(4)]];
constant bool both = is_function_constant_defined(causal) ? causal : true;
struct params { uint n; float a; float4 bias; packed_float3 p; };
kernel void saxpy(device const float *x [[buffer(0)]], device float *y [[buffer(1)]], constant params &q [[buffer(2)]], uint i [[thread_position_in_grid]]) {
    if (i < q.n) y[i] = q.a * x[i] + y[i] + q.bias.x * 1.0 + q.p.y;
}
#define TILE 16
kernel void tiled(device const float *a, device const float *b, device float *c, constant uint &n,
                  uint2 gid [[thread_position_in_grid]], uint2 lid [[thread_position_in_threadgroup]]) {
    threadgroup float as[TILE][TILE];
    threadgroup float bs[TILE][TILE];
    float sum = 0.0;
    for (uint t = 0; t < n / TILE; t++) {
        as[lid.y][lid.x] = a[gid.y * n + t * TILE + lid.x];
        bs[lid.y][lid.x] = b[(t * TILE + lid.y) * n + gid.x];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint k = 0; k < TILE; k++) sum = fma(as[lid.y][k], bs[k][lid.x], sum);
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    c[gid.y * n + gid.x] = sum;
}
[[kernel]] void mm(device const half *a [[buffer(0)]], device const half *b [[buffer(1)]], device float *c [[buffer(2)]], constant uint3 &mnk [[buffer(3)]], uint2 g [[threadgroup_position_in_grid]]) {
    simdgroup_float8x8 acc = make_filled_simdgroup_matrix<float, 8>(0.f);
    for (uint k = 0; k < mnk.z; k += 8) {
        simdgroup_half8x8 ma, mb;
        simdgroup_load(ma, a + g.y * 8 * mnk.z + k, mnk.z);
        simdgroup_load(mb, b + k * mnk.y + g.x * 8, mnk.y);
        simdgroup_multiply_accumulate(acc, ma, mb, acc);
    }
    simdgroup_store(acc, c + g.y * 8 * mnk.y + g.x * 8, mnk.y);
}
template <typename T, int N>
[[kernel]] void softmax(device const T *x [[buffer(0)]], device T *y [[buffer(1)]], constant int &n [[buffer(2)]], threadgroup float *part [[threadgroup(0)]],
    uint row [[threadgroup_position_in_grid]], uint lid [[thread_position_in_threadgroup]], uint lane [[thread_index_in_simdgroup]], uint sg [[simdgroup_index_in_threadgroup]]) {
    float m = -INFINITY, v[N];
    for (int i = 0; i < N; i++) { int at = lid * N + i; v[i] = at < n ? float(x[row * n + at]) : -INFINITY; m = max(m, v[i]); }
    m = simd_max(m);
    if (lane == 0) part[sg] = m;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    m = simd_max(part[lane]);
    float s = 0;
    for (int i = 0; i < N; i++) { v[i] = fast::exp(v[i] - m); s += v[i]; }
    s = simd_sum(s);
    for (int i = 0; i < N; i++) { int at = lid * N + i; if (at < n) y[row * n + at] = T(v[i] / s); }
}
#define inst(name, ...) template [[host_name("softmax_" #name)]] [[kernel]] decltype(softmax<__VA_ARGS__>) softmax<__VA_ARGS__>;
inst(f32, float, 4)
inst(f16, half, 4)
inst(bf16, bfloat, 8)
template <typename T> struct acc { T v; acc() thread : v(0) {} acc() threadgroup : v(0) {}  T get() const thread { return v; } T get() const device { return v; } void put(T x) thread { v += x; } };
template <typename T> kernel void swz(device vec<T, 4> *a, constant const int strides[2], device atomic_uint *hist, uint3 tid [[thread_position_in_grid]], uint3 tpg [[threads_per_grid]]) {
    typedef vec<T, 4> V; V v = a[tid.x]; v.xy += v.zw; V u = a[tid.y]; u.xy = u.zw + v.xy; acc<T> s; s.put(v.x);
    v = strides[0] > 2 ? a[tid.z] : v; a[0] = v * s.get() + 1.5h + u; a[1].xyz = v.zyx;
    atomic_fetch_add_explicit(&hist[tid.x & 15], 1u, memory_order_relaxed);
    if (causal) a[2] = (V)float4(rows);
    if (both) a[3] = V(tpg.x);
}
template [[host_name("swz_f32")]] kernel void swz<float>(device float4 *, constant const int *, device atomic_uint *, uint3, uint3);
vertex float4 vs(uint i [[vertex_id]]) { return float4(i); }
kernel void arithmetic(device float4 *v, device half4 *h, device bfloat *b, device int4 *i, device ulong *l, device packed_float3 *p,
                       uint at [[thread_position_in_grid]]) {
    v[at] = precise::sin(v[at]) + pow(v[at + 1], 2.0f) + float4(h[at]) * mix(v[0], v[1], 0.5);
    v[at].xyz = cross(v[at].xyz, normalize(v[at].zyx)) + p[at] * 2;
    h[at] = half4(clamp(v[at], 0.0f, 1.0f)) + h[at].wzyx;
    b[at] = b[at] * b[at + 1] + bfloat(v[at].x);
    b[at + 1] = at > 2 ? b[at] : bfloat(1.5f);
    i[at] = select(i[at], int4(as_type<uint4>(v[at])), i[at] < 3) + popcount(i[at].x) + abs(i[at]);
    l[at] = mulhi(l[at], l[at + 1]) + clz(l[at + 2]) + rotate(uint(at), 3u);
    float4x4 m = float4x4(v[0], v[1], v[2], v[3]);
    v[at + 1] = m * v[at] + transpose(m)[1] * determinant(m);
    v[at + 2] = at & 1 ? v[at] : float4(h[at]);
}
kernel void together(device atomic_uint *count, device atomic_float *sum, device float *x, threadgroup atomic_int *local_count [[threadgroup(0)]],
                     uint at [[thread_position_in_grid]], uint lane [[thread_index_in_simdgroup]], uint lanes [[threads_per_simdgroup]]) {
    const float v = simd_shuffle_xor(x[at], 1) + simd_prefix_inclusive_sum(x[at]) + quad_sum(x[at]) + simd_broadcast_first(x[at]);
    if (simd_any(v > 3.0f)) atomic_fetch_add_explicit(count, 1u, memory_order_relaxed);
    atomic_fetch_add_explicit(sum, v, memory_order_relaxed);
    atomic_fetch_max_explicit(local_count, int(v), memory_order_relaxed);
    simdgroup_barrier(mem_flags::mem_threadgroup);
    if (lane == lanes - 1) x[at] = float(atomic_load_explicit(local_count, memory_order_relaxed)) + simd_shuffle_down(v, 4);
}
