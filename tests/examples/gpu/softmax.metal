// Softmax of each row by a threadgroup of 256; arguments of the operator softmax.
#include <metal_stdlib>
using namespace metal;

// What all threads of the threadgroup have, by simdgroup; everybody gets it.
template <typename Combine>
float together(float mine, threadgroup float *part, uint lane, Combine combine)
{
    if (lane % 32 == 0)
        part[lane / 32] = mine;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    float all = part[0];
    for (uint i = 1; i < 8; i++)
        all = combine(all, part[i]);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    return all;
}

kernel void softmax(device const float *x, device float *out, constant uint &rows, constant uint &columns,
                    uint row [[threadgroup_position_in_grid]], uint lane [[thread_index_in_threadgroup]])
{
    threadgroup float part[8];
    device const float *in = x + row * columns;
    float most = -INFINITY, sum = 0;
    for (uint i = lane; i < columns; i += 256)
        most = max(most, in[i]);
    most = together(simd_max(most), part, lane, [](float a, float b) { return max(a, b); });
    for (uint i = lane; i < columns; i += 256)
        sum += exp(in[i] - most);
    sum = together(simd_sum(sum), part, lane, [](float a, float b) { return a + b; });
    for (uint i = lane; i < columns; i += 256)
        out[row * columns + i] = exp(in[i] - most) / sum;
}
