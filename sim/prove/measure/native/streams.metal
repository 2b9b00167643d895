/* The streams of orchard's GPU library as Metal source: 16 bytes of each operand a thread, threadgroups of 256. */
#include <metal_stdlib>
using namespace metal;

kernel void copy(device const float4 *a [[buffer(0)]], device float4 *out [[buffer(2)]], uint i [[thread_position_in_grid]])
{
    const float4 v = a[i];
    out[i] = v;
}

kernel void scale_f32(device const float4 *a [[buffer(0)]], device float4 *out [[buffer(2)]],
                      uint i [[thread_position_in_grid]])
{
    out[i] = a[i] * 3.0f;
}

kernel void add_f32(device const float4 *a [[buffer(0)]], device const float4 *b [[buffer(1)]], device float4 *out [[buffer(2)]],
                    uint i [[thread_position_in_grid]])
{
    out[i] = a[i] + b[i];
}

kernel void triad_f32(device const float4 *a [[buffer(0)]], device const float4 *b [[buffer(1)]],
                      device float4 *out [[buffer(2)]], uint i [[thread_position_in_grid]])
{
    out[i] = fma(b[i], float4(3.0f), a[i]);
}
