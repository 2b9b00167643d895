// Softmax of rows as MLX launches it (mlx/backend/metal/softmax.cpp and kernels/softmax.metal).
#include <metal_math>
#include <metal_simdgroup>
#include <metal_stdlib>
using namespace metal;

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

// The same where the first simdgroup alone combines and tells the others: places are set, left, combined and read, a barrier
// after each but the last.
template <bool MAX>
static float over_lanes(float value)
{
    return MAX ? simd_max(value) : simd_sum(value);
}
template <bool MAX>
static float combined(float value, threadgroup float *of, uint lane, uint simdgroup)
{
    value = over_lanes<MAX>(value);
    if (lane == 0)
        of[simdgroup] = value;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (simdgroup == 0) {
        value = over_lanes<MAX>(of[lane]);
        if (lane == 0)
            of[0] = value;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    return of[0];
}

// A threadgroup has a whole row in registers, four neighbours a thread.
template <typename T>
[[kernel]] void single(device const T *in [[buffer(0)]], device T *out [[buffer(1)]], constant uint &length [[buffer(2)]],
                       uint row [[threadgroup_position_in_grid]], uint thread_index [[thread_index_in_threadgroup]],
                       uint lane [[thread_index_in_simdgroup]], uint simdgroup [[simdgroup_index_in_threadgroup]])
{
    threadgroup float most_of[32], sum_of[32];
    const uint first = thread_index * 4;
    const ulong at = (ulong)row * length + first;
    float x[4], most = -INFINITY, sum = 0;
    if (first + 4 <= length) {
        device const T *const from = in + at;
#pragma unroll
        for (uint i = 0; i < 4; i++)
            x[i] = (float)from[i];
    } else {
#pragma unroll
        for (uint i = 0; i < 4; i++)
            x[i] = first + i < length ? (float)in[at + i] : -INFINITY;
    }
    if (simdgroup == 0) {
        most_of[lane] = -INFINITY;
        sum_of[lane] = 0;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
    for (uint i = 0; i < 4; i++)
        most = x[i] > most ? x[i] : most;
    most = combined<true>(most, most_of, lane, simdgroup);
#pragma unroll
    for (uint i = 0; i < 4; i++) {
        x[i] = exp(x[i] - most);
        sum += x[i];
    }
    sum = 1 / combined<false>(sum, sum_of, lane, simdgroup);
    if (first + 4 <= length) {
        device T *const to = out + at;
#pragma unroll
        for (uint i = 0; i < 4; i++)
            to[i] = (T)(x[i] * sum);
    } else {
#pragma unroll
        for (uint i = 0; i < 4; i++)
            if (first + i < length)
                out[at + i] = (T)(x[i] * sum);
    }
}

// Rows that do not fit: the largest and the sum together in one pass, and results in a second one.
template <typename T>
[[kernel]] void looped(device const T *in [[buffer(0)]], device T *out [[buffer(1)]], constant uint &length [[buffer(2)]],
                       uint row [[threadgroup_position_in_grid]], uint thread_index [[thread_index_in_threadgroup]],
                       uint threads [[threads_per_threadgroup]], uint lane [[thread_index_in_simdgroup]],
                       uint simdgroup [[simdgroup_index_in_threadgroup]], uint simdgroups [[simdgroups_per_threadgroup]])
{
    threadgroup float most_of[32], sum_of[32];
    in += (ulong)row * length;
    out += (ulong)row * length;
    float most = -3.0e38f, sum = 0;
    for (uint first = thread_index * 4; first < length; first += threads * 4) {
        float x[4];
        if (first + 4 <= length) {
            device const T *const from = in + first;
#pragma unroll
            for (uint i = 0; i < 4; i++)
                x[i] = (float)from[i];
        } else {
#pragma unroll
            for (uint i = 0; i < 4; i++)
                x[i] = first + i < length ? (float)in[first + i] : -INFINITY;
        }
        const float before = most;
#pragma unroll
        for (uint i = 0; i < 4; i++)
            most = x[i] > most ? x[i] : most;
        sum *= exp(before - most);
#pragma unroll
        for (uint i = 0; i < 4; i++)
            sum += exp(x[i] - most);
    }
    const float own = most;
    most = largest(most, most_of, lane, simdgroup, simdgroups);
    sum = 1 / total(sum * exp(own - most), sum_of, lane, simdgroup, simdgroups);
    for (uint first = thread_index * 4; first < length; first += threads * 4) {
        if (first + 4 <= length) {
            device const T *const from = in + first;
            device T *const to = out + first;
            float x[4];
#pragma unroll
            for (uint i = 0; i < 4; i++)
                x[i] = (float)from[i];
#pragma unroll
            for (uint i = 0; i < 4; i++)
                to[i] = (T)(exp(x[i] - most) * sum);
        } else {
            for (uint i = first; i < length; i++)
                out[i] = (T)(exp((float)in[i] - most) * sum);
        }
    }
}

#define SOFTMAX(T) \
    template [[host_name("mlx_softmax_" #T)]] kernel void single<T>(device const T *, device T *, constant uint &, uint, uint, uint, \
                                                                    uint); \
    template [[host_name("mlx_softmax_looped_" #T)]] kernel void looped<T>(device const T *, device T *, constant uint &, uint, \
                                                                           uint, uint, uint, uint, uint);
SOFTMAX(float)
SOFTMAX(half)
