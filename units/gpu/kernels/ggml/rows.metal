// Rows as ggml has them (ggml-org/llama.cpp, ggml-metal.metal at 8e672ef).
#include <metal_math>
#include <metal_simdgroup>
#include <metal_stdlib>
using namespace metal;

struct row_sizes {
    uint length;
    float eps; // of norms; of a masked softmax what scores are multiplied by
};

static float over_simdgroups(float value, threadgroup float *of, uint lane, uint simdgroup, uint simdgroups)
{
    value = simd_sum(value);
    if (lane == 0)
        of[simdgroup] = value;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    return simd_sum(lane < simdgroups ? of[lane] : 0.0f);
}

// Rows of whole fours. WEIGHTS: times a weight of each column, which older builds do in a launch of its own.
template <bool WEIGHTS>
[[kernel]] void rms_norm(device const float *in [[buffer(0)]], device float *out [[buffer(1)]], device const float *weight [[buffer(2)]],
                         constant row_sizes &s [[buffer(3)]], uint row [[threadgroup_position_in_grid]],
                         uint thread_index [[thread_index_in_threadgroup]], uint threads [[threads_per_threadgroup]],
                         uint lane [[thread_index_in_simdgroup]], uint simdgroup [[simdgroup_index_in_threadgroup]],
                         uint simdgroups [[simdgroups_per_threadgroup]])
{
    threadgroup float sums[32];
    device const float4 *const from = (device const float4 *)(in + (ulong)row * s.length);
    device float4 *const to = (device float4 *)(out + (ulong)row * s.length);
    float sum = 0;
    for (uint i = thread_index; i < s.length / 4; i += threads)
        sum += dot(from[i], from[i]);
    sum = over_simdgroups(sum, sums, lane, simdgroup, simdgroups);
    const float scale = rsqrt(sum / (float)s.length + s.eps);
    for (uint i = thread_index; i < s.length / 4; i += threads)
        to[i] = WEIGHTS ? from[i] * scale * ((device const float4 *)weight)[i] : from[i] * scale;
}

// A threadgroup of one thread for each four elements.
[[kernel]] void ggml_mul_row(device const float4 *in [[buffer(0)]], device float4 *out [[buffer(1)]],
                             device const float4 *weight [[buffer(2)]], constant uint &fours [[buffer(3)]],
                             uint at [[thread_position_in_grid]])
{
    out[at] = in[at] * weight[at % fours];
}

// Three passes over the row in memory: by one simdgroup and fours, or by more threads one by one.
template <uint WIDE>
[[kernel]] void soft_max(device const float *in [[buffer(0)]], device float *out [[buffer(1)]], constant row_sizes &s [[buffer(2)]],
                         uint row [[threadgroup_position_in_grid]], uint thread_index [[thread_index_in_threadgroup]],
                         uint threads [[threads_per_threadgroup]], uint lane [[thread_index_in_simdgroup]],
                         uint simdgroup [[simdgroup_index_in_threadgroup]], uint simdgroups [[simdgroups_per_threadgroup]])
{
    threadgroup float most_of[32], sum_of[32];
    in += (ulong)row * s.length;
    out += (ulong)row * s.length;
    float most = -INFINITY, sum = 0;
    for (uint at = thread_index * WIDE; at < s.length; at += threads * WIDE)
#pragma unroll
        for (uint i = 0; i < WIDE; i++)
            most = max(most, in[at + i]);
    most = simd_max(most);
    if (WIDE == 1) {
        if (lane == 0)
            most_of[simdgroup] = most;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        most = simd_max(lane < simdgroups ? most_of[lane] : -INFINITY);
    }
    for (uint at = thread_index * WIDE; at < s.length; at += threads * WIDE) {
        float x[WIDE];
#pragma unroll
        for (uint i = 0; i < WIDE; i++)
            x[i] = exp(in[at + i] - most);
#pragma unroll
        for (uint i = 0; i < WIDE; i++) {
            sum += x[i];
            out[at + i] = x[i];
        }
    }
    sum = 1 / (WIDE == 1 ? over_simdgroups(sum, sum_of, lane, simdgroup, simdgroups) : simd_sum(sum));
    for (uint at = thread_index * WIDE; at < s.length; at += threads * WIDE) {
        float x[WIDE];
#pragma unroll
        for (uint i = 0; i < WIDE; i++)
            x[i] = out[at + i] * sum;
#pragma unroll
        for (uint i = 0; i < WIDE; i++)
            out[at + i] = x[i];
    }
}

// Since 2023-12 scores are scaled and masked where they are read, in the first pass and again in the second; rows of fours have several
// simdgroups, too.
template <uint WIDE>
[[kernel]] void soft_max_masked(device const float *in [[buffer(0)]], device const float *mask [[buffer(1)]],
                                device float *out [[buffer(2)]], constant row_sizes &s [[buffer(3)]],
                                uint row [[threadgroup_position_in_grid]], uint thread_index [[thread_index_in_threadgroup]],
                                uint threads [[threads_per_threadgroup]], uint lane [[thread_index_in_simdgroup]],
                                uint simdgroup [[simdgroup_index_in_threadgroup]], uint simdgroups [[simdgroups_per_threadgroup]])
{
    threadgroup float most_of[32], sum_of[32];
    in += (ulong)row * s.length;
    out += (ulong)row * s.length;
    float most = -INFINITY, sum = 0;
    for (uint at = thread_index * WIDE; at < s.length; at += threads * WIDE)
#pragma unroll
        for (uint i = 0; i < WIDE; i++)
            most = max(most, in[at + i] * s.eps + mask[at + i]);
    most = simd_max(most);
    if (lane == 0)
        most_of[simdgroup] = most;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    most = simd_max(lane < simdgroups ? most_of[lane] : -INFINITY);
    for (uint at = thread_index * WIDE; at < s.length; at += threads * WIDE) {
        float x[WIDE];
#pragma unroll
        for (uint i = 0; i < WIDE; i++)
            x[i] = exp(in[at + i] * s.eps + mask[at + i] - most);
#pragma unroll
        for (uint i = 0; i < WIDE; i++) {
            sum += x[i];
            out[at + i] = x[i];
        }
    }
    sum = 1 / over_simdgroups(sum, sum_of, lane, simdgroup, simdgroups);
    for (uint at = thread_index * WIDE; at < s.length; at += threads * WIDE) {
        float x[WIDE];
#pragma unroll
        for (uint i = 0; i < WIDE; i++)
            x[i] = out[at + i] * sum;
#pragma unroll
        for (uint i = 0; i < WIDE; i++)
            out[at + i] = x[i];
    }
}

#define ROW(name, function, ...) \
    template [[host_name(name)]] kernel void function(__VA_ARGS__ constant row_sizes &, uint, uint, uint, uint, uint, uint);
ROW("ggml_rms_norm", rms_norm<false>, device const float *, device float *, device const float *, )
ROW("ggml_rms_norm_mul", rms_norm<true>, device const float *, device float *, device const float *, )
ROW("ggml_soft_max_4", soft_max<4>, device const float *, device float *, )
ROW("ggml_soft_max", soft_max<1>, device const float *, device float *, )
ROW("ggml_soft_max_masked_4", soft_max_masked<4>, device const float *, device const float *, device float *, )
ROW("ggml_soft_max_masked", soft_max_masked<1>, device const float *, device const float *, device float *, )
