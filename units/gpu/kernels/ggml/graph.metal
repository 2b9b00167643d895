// What stands between the products of ggml's graph for one token (ggml-org/llama.cpp, ggml-metal.m and llama.cpp at 8e672ef): each
// operation is a launch.
#include <metal_math>
#include <metal_simdgroup>
#include <metal_stdlib>
using namespace metal;

// ---- threadgroups of one thread, which has four elements ----

[[kernel]] void ggml_add_row(device const float4 *in [[buffer(0)]], device const float4 *other [[buffer(1)]],
                             device float4 *out [[buffer(2)]], constant uint &fours [[buffer(3)]],
                             uint at [[thread_position_in_grid]])
{
    out[at] = in[at] + other[at % fours];
}

[[kernel]] void ggml_scale_4(device const float4 *in [[buffer(0)]], device float4 *out [[buffer(1)]],
                             constant float &scale [[buffer(2)]], uint at [[thread_position_in_grid]])
{
    out[at] = in[at] * scale;
}

[[kernel]] void ggml_silu(device const float4 *in [[buffer(0)]], device float4 *out [[buffer(1)]],
                          uint at [[thread_position_in_grid]])
{
    const float4 x = in[at];
    out[at] = x / (1.0f + exp(-x));
}

// ---- threadgroups of a row ----

// Rows of the second operand are repeated.
[[kernel]] void ggml_add(device const float *in [[buffer(0)]], device const float *other [[buffer(1)]],
                         device float *out [[buffer(2)]], constant uint2 &s [[buffer(3)]], // elements of a row, rows of other
                         uint row [[threadgroup_position_in_grid]], uint thread_index [[thread_index_in_threadgroup]],
                         uint threads [[threads_per_threadgroup]])
{
    in += row * s.x;
    out += row * s.x;
    other += row % s.y * s.x;
    for (uint i = thread_index; i < s.x; i += threads)
        out[i] = in[i] + other[i];
}

template <typename T>
[[kernel]] void copy_rows(device const T *in [[buffer(0)]], device T *out [[buffer(1)]], constant uint &length [[buffer(2)]],
                          uint row [[threadgroup_position_in_grid]], uint thread_index [[thread_index_in_threadgroup]],
                          uint threads [[threads_per_threadgroup]])
{
    in += row * length;
    out += row * length;
    for (uint i = thread_index; i < length; i += threads)
        out[i] = in[i];
}

// ---- rotation ----

struct rope_sizes {
    uint depth, part, halves, offset;
    float exponent; // of two, for each pair
    uint heads;
};

// As many threads as a head has elements; those of the first half have a pair each.
[[kernel]] void ggml_rope(device const float *in [[buffer(0)]], device float *out [[buffer(1)]], constant rope_sizes &s [[buffer(2)]],
                          uint2 group [[threadgroup_position_in_grid]], uint thread_index [[thread_index_in_threadgroup]],
                          uint threads [[threads_per_threadgroup]])
{
    const uint head = group.y * s.heads + group.x;
    in += head * s.depth;
    out += head * s.depth;
    const float position = (float)(s.offset + group.y);
    for (uint i = 2 * thread_index; i < s.depth; i += 2 * threads) {
        if (i < s.part) {
            const uint pair = i / 2, first = s.halves ? pair : i, second = s.halves ? pair + s.part / 2 : i + 1;
            const float angle = position * exp2(s.exponent * (float)pair), cosine = cos(angle), sine = sin(angle);
            const float x = in[first], y = in[second];
            out[first] = x * cosine - y * sine;
            out[second] = x * sine + y * cosine;
        } else {
            out[i] = in[i];
            out[i + 1] = in[i + 1];
        }
    }
}

// ---- attention of one token: a simdgroup for each score, and for each element of the result ----

struct attention_sizes {
    uint depth, keys, share, kv_heads; // share: heads that have the same keys
};

// Heads of 128 elements and more: fours.
template <typename T, bool WIDE>
[[kernel]] void key_query(device const T *query [[buffer(0)]], device const T *key [[buffer(1)]], device float *score [[buffer(2)]],
                          constant attention_sizes &s [[buffer(3)]], uint3 group [[threadgroup_position_in_grid]],
                          uint lane [[thread_index_in_simdgroup]])
{
    device const T *const a = key + (group.x * s.kv_heads + group.z / s.share) * s.depth;
    device const T *const x = query + group.z * s.depth;
    float sum = 0;
    if (WIDE) {
        for (uint i = lane * 4; i < s.depth; i += 128)
#pragma unroll
            for (uint e = 0; e < 4; e++)
                sum += (float)a[i + e] * (float)x[i + e];
    } else {
        for (uint i = lane; i < s.depth; i += 32)
            sum += (float)a[i] * (float)x[i];
    }
    sum = simd_sum(sum);
    if (lane == 0)
        score[group.z * s.keys + group.x] = sum;
}

// TURNED: values lie as [head][d][token], and 128 tokens and more are read by fours.
template <typename T, bool TURNED, bool WIDE>
[[kernel]] void weights_values(device const float *weight [[buffer(0)]], device const T *value [[buffer(1)]],
                               device float *out [[buffer(2)]], constant attention_sizes &s [[buffer(3)]],
                               uint3 group [[threadgroup_position_in_grid]], uint lane [[thread_index_in_simdgroup]])
{
    const uint head = group.z / s.share, stride = TURNED ? 1 : s.kv_heads * s.depth;
    device const T *const a = value + (TURNED ? (head * s.depth + group.x) * s.keys : head * s.depth + group.x);
    device const float *const x = weight + group.z * s.keys;
    float sum = 0;
    uint i = lane * (WIDE ? 4 : 1);
    if (WIDE)
        for (; i + 4 <= s.keys; i += 128)
#pragma unroll
            for (uint e = 0; e < 4; e++)
                sum += (float)a[i + e] * x[i + e];
    for (; i < s.keys; i += 32)
        sum += (float)a[i * stride] * x[i];
    sum = simd_sum(sum);
    if (lane == 0)
        out[group.z * s.depth + group.x] = sum;
}

template <typename T>
[[kernel]] void permute(device const float *in [[buffer(0)]], device T *out [[buffer(1)]], constant uint &length [[buffer(2)]],
                        uint row [[threadgroup_position_in_grid]], uint thread_index [[thread_index_in_threadgroup]],
                        uint threads [[threads_per_threadgroup]])
{
    for (uint i = thread_index; i < length; i += threads)
        out[row * length + i] = (T)in[row * length + i];
}

#define EACH(T) \
    template [[host_name("ggml_copy_" #T)]] kernel void copy_rows<T>(device const T *, device T *, constant uint &, uint, uint, \
                                                                     uint); \
    template [[host_name("ggml_kq_" #T)]] kernel void key_query<T, false>(device const T *, device const T *, device float *, \
                                                                          constant attention_sizes &, uint3, uint); \
    template [[host_name("ggml_kq_4_" #T)]] kernel void key_query<T, true>(device const T *, device const T *, device float *, \
                                                                           constant attention_sizes &, uint3, uint); \
    template [[host_name("ggml_cont_" #T)]] kernel void permute<T>(device const float *, device T *, constant uint &, uint, uint, \
                                                                   uint);
EACH(half)
EACH(float)
#define VALUES(name, T, ...) \
    template [[host_name("ggml_kqv_" name)]] kernel void weights_values<T, __VA_ARGS__>( \
        device const float *, device const T *, device float *, constant attention_sizes &, uint3, uint);
VALUES("half", half, true, false)
VALUES("4_half", half, true, true)
VALUES("float", float, false, false)
