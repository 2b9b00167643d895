// A guess at kernels of Apple's closed MPS, of those that do without matrices of simdgroups: a thread for each result. Why such
// kernels are assumed, and for which shapes, is told in sim/workload/gpu/frameworks/mps.c.
#include <metal_math>
#include <metal_simdgroup>
#include <metal_stdlib>
using namespace metal;

struct product_sizes {
    uint m, n, k;
    uint row_a, k_a, k_b, column_b;  // elements from one row, place of k or column to the next
    uint batch_a, batch_b, batch_c;  // from one matrix of a batch to the next
    float alpha, beta;
};

// 32 rows and 16 columns of the result, two rows a thread. For 16 of k both operands pass through threadgroup memory; of the left
// side a thread reads four neighbours at a time.
template <typename T, bool ADDS>
[[kernel, max_total_threads_per_threadgroup(256)]] void tiled(
    device const T *a [[buffer(0)]], device const T *b [[buffer(1)]], device T *c [[buffer(2)]],
    constant product_sizes &s [[buffer(3)]], uint3 group [[threadgroup_position_in_grid]],
    uint3 at [[thread_position_in_threadgroup]])
{
    threadgroup float4 block_a[32][4];
    threadgroup float block_b[16][16];
    threadgroup float *const put_a = (threadgroup float *)&block_a[at.y][0] + at.x;
    const uint row = group.y * 32 + at.y, column = group.x * 16 + at.x;
    const bool there_1 = row < s.m, there_2 = row + 16 < s.m, there = column < s.n;
    device const T *const a_1 = a + (ulong)group.z * s.batch_a + (ulong)(there_1 ? row : 0) * s.row_a;
    device const T *const a_2 = a + (ulong)group.z * s.batch_a + (ulong)(there_2 ? row + 16 : 0) * s.row_a;
    b += (ulong)group.z * s.batch_b + (ulong)(there ? column : 0) * s.column_b;
    float sum_1 = 0, sum_2 = 0;
    for (uint first = 0; first < s.k; first += 16) {
        const bool deep_a = first + at.x < s.k, deep_b = first + at.y < s.k;
        const uint k_a = (deep_a ? first + at.x : 0) * s.k_a, k_b = (deep_b ? first + at.y : 0) * s.k_b;
        const float one = (float)a_1[k_a], two = (float)a_2[k_a], three = (float)b[k_b];
        put_a[0] = there_1 && deep_a ? one : 0.0f;
        put_a[16 * 16] = there_2 && deep_a ? two : 0.0f;
        block_b[at.y][at.x] = there && deep_b ? three : 0.0f;
        threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
        for (uint k = 0; k < 4; k++) {
            const float4 piece_1 = block_a[at.y][k], piece_2 = block_a[at.y + 16][k];
#pragma unroll
            for (uint i = 0; i < 4; i++) {
                const float right = block_b[4 * k + i][at.x];
                sum_1 = fma(piece_1[i], right, sum_1);
                sum_2 = fma(piece_2[i], right, sum_2);
            }
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    c += (ulong)group.z * s.batch_c + (ulong)row * s.n + column;
    if (there && there_1)
        c[0] = (T)(ADDS ? s.alpha * sum_1 + s.beta * (float)c[0] : sum_1);
    if (there && there_2)
        c[(ulong)16 * s.n] = (T)(ADDS ? s.alpha * sum_2 + s.beta * (float)c[(ulong)16 * s.n] : sum_2);
}

// The same without threadgroup memory: both operands come from device memory, element by element.
template <typename T, bool ADDS>
[[kernel]] void direct(device const T *a [[buffer(0)]], device const T *b [[buffer(1)]], device T *c [[buffer(2)]],
                       constant product_sizes &s [[buffer(3)]], uint3 at [[thread_position_in_grid]])
{
    a += (ulong)at.z * s.batch_a + (ulong)at.y * s.row_a;
    b += (ulong)at.z * s.batch_b + (ulong)at.x * s.column_b;
    float sum = 0;
    for (uint k = 0; k < s.k; k++)
        sum = fma((float)a[(ulong)k * s.k_a], (float)b[(ulong)k * s.k_b], sum);
    device T *const to = c + (ulong)at.z * s.batch_c + (ulong)at.y * s.n + at.x;
    to[0] = (T)(ADDS ? s.alpha * sum + s.beta * (float)to[0] : sum);
}

// Parts of a softmax, an element a thread: exponentials below a row's largest, quotients by a row's sum. x counts elements of a
// row, y rows.
template <typename T>
[[kernel]] void exp_less(device const T *in [[buffer(0)]], device const float *most [[buffer(1)]], device T *out [[buffer(2)]],
                         constant uint &length [[buffer(3)]], uint2 at [[thread_position_in_grid]])
{
    const ulong place = (ulong)at.y * length + at.x;
    out[place] = (T)exp((float)in[place] - most[at.y]);
}
template <typename T>
[[kernel]] void over(device T *out [[buffer(0)]], device const float *sum [[buffer(1)]], constant uint &length [[buffer(2)]],
                     uint2 at [[thread_position_in_grid]])
{
    const ulong place = (ulong)at.y * length + at.x;
    out[place] = (T)((float)out[place] / sum[at.y]);
}

// Short rows, several in a simdgroup: an element a lane, in pieces of `width` lanes, a power of two.
struct short_sizes {
    uint rows, length, width;
};
template <typename T>
[[kernel]] void softmax_short(device const T *in [[buffer(0)]], device T *out [[buffer(1)]], constant short_sizes &s [[buffer(2)]],
                              uint at [[thread_position_in_grid]])
{
    const uint row = at / s.width, element = at % s.width;
    const bool there = row < s.rows && element < s.length;
    const ulong place = there ? (ulong)row * s.length + element : 0;
    const float x = there ? (float)in[place] : -INFINITY;
    float most = x;
    for (ushort step = (ushort)(s.width / 2); step; step /= 2)
        most = max(most, simd_shuffle_xor(most, step));
    const float power = exp(x - most);
    float sum = power;
    for (ushort step = (ushort)(s.width / 2); step; step /= 2)
        sum += simd_shuffle_xor(sum, step);
    if (there)
        out[place] = (T)(power / sum);
}

// Long rows in one kernel: a threadgroup reads its row three times.
static float largest(float value, threadgroup float *of, uint lane, uint simdgroup, uint simdgroups)
{
    value = simd_max(value);
    if (lane == 0)
        of[simdgroup] = value;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    return simd_max(lane < simdgroups ? of[lane] : -INFINITY);
}
static float total(float value, threadgroup float *of, uint lane, uint simdgroup, uint simdgroups)
{
    value = simd_sum(value);
    if (lane == 0)
        of[simdgroup] = value;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    return simd_sum(lane < simdgroups ? of[lane] : 0.0f);
}
template <typename T>
[[kernel]] void softmax_passes(device const T *in [[buffer(0)]], device T *out [[buffer(1)]],
                               constant uint &length [[buffer(2)]], uint row [[threadgroup_position_in_grid]],
                               uint thread_index [[thread_index_in_threadgroup]], uint threads [[threads_per_threadgroup]],
                               uint lane [[thread_index_in_simdgroup]], uint simdgroup [[simdgroup_index_in_threadgroup]],
                               uint simdgroups [[simdgroups_per_threadgroup]])
{
    threadgroup float most_of[32], sum_of[32];
    in += (ulong)row * length;
    out += (ulong)row * length;
    float most = -INFINITY, sum = 0;
    for (uint i = thread_index; i < length; i += threads) {
        const float x = (float)in[i];
        most = x > most ? x : most;
    }
    most = largest(most, most_of, lane, simdgroup, simdgroups);
    for (uint i = thread_index; i < length; i += threads)
        sum += exp((float)in[i] - most);
    sum = 1 / total(sum, sum_of, lane, simdgroup, simdgroups);
    for (uint i = thread_index; i < length; i += threads)
        out[i] = (T)(exp((float)in[i] - most) * sum);
}

// The place of the largest or smallest of what lies `step` apart: a result a thread.
struct place_sizes {
    uint length, step;      // elements of a result, and how far apart they are
    uint inner, outer_step; // results that lie side by side, and from one such row to the next
};
template <typename T, bool MAX>
[[kernel]] void place_of(device const T *in [[buffer(0)]], device uint *out [[buffer(1)]], constant place_sizes &s [[buffer(2)]],
                         uint result [[thread_position_in_grid]])
{
    in += (ulong)(result / s.inner) * s.outer_step + result % s.inner;
    float best = (float)in[0];
    uint place = 0;
    for (uint i = 1; i < s.length; i++) {
        const float x = (float)in[(ulong)i * s.step];
        const bool wins = MAX ? x > best : x < best;
        best = wins ? x : best;
        place = wins ? i : place;
    }
    out[result] = place;
}

// Images N H W C as N C H W: x counts pixels, y channels, z images.
template <typename T>
[[kernel]] void channels_first(device const T *in [[buffer(0)]], device T *out [[buffer(1)]], constant uint2 &size [[buffer(2)]],
                               uint3 at [[thread_position_in_grid]])
{
    const uint pixels = size.x, channels = size.y;
    out[((ulong)at.z * channels + at.y) * pixels + at.x] = in[((ulong)at.z * pixels + at.x) * channels + at.y];
}

#define ALL(T) \
    template [[host_name("mps_tiled_" #T)]] kernel void tiled<T, false>(device const T *, device const T *, device T *, \
                                                                        constant product_sizes &, uint3, uint3); \
    template [[host_name("mps_tiled_add_" #T)]] kernel void tiled<T, true>(device const T *, device const T *, device T *, \
                                                                           constant product_sizes &, uint3, uint3); \
    template [[host_name("mps_direct_" #T)]] kernel void direct<T, false>(device const T *, device const T *, device T *, \
                                                                          constant product_sizes &, uint3); \
    template [[host_name("mps_direct_add_" #T)]] kernel void direct<T, true>(device const T *, device const T *, device T *, \
                                                                             constant product_sizes &, uint3); \
    template [[host_name("mps_softmax_short_" #T)]] kernel void softmax_short<T>(device const T *, device T *, \
                                                                                 constant short_sizes &, uint); \
    template [[host_name("mps_exp_less_" #T)]] kernel void exp_less<T>(device const T *, device const float *, device T *, \
                                                                       constant uint &, uint2); \
    template [[host_name("mps_over_" #T)]] kernel void over<T>(device T *, device const float *, constant uint &, uint2); \
    template [[host_name("mps_softmax_passes_" #T)]] kernel void softmax_passes<T>(device const T *, device T *, constant uint &, \
                                                                                   uint, uint, uint, uint, uint, uint); \
    template [[host_name("mps_argmax_" #T)]] kernel void place_of<T, true>(device const T *, device uint *, \
                                                                           constant place_sizes &, uint); \
    template [[host_name("mps_argmin_" #T)]] kernel void place_of<T, false>(device const T *, device uint *, \
                                                                            constant place_sizes &, uint); \
    template [[host_name("mps_channels_first_" #T)]] kernel void channels_first<T>(device const T *, device T *, \
                                                                                   constant uint2 &, uint3);
ALL(float)
ALL(half)
