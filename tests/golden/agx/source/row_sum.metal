#include <metal_stdlib>
using namespace metal;
constant uint WIDTH [[function_constant(0)]];
template <typename T>
kernel void row_sum(device const T *x [[buffer(0)]], device T *y [[buffer(1)]], uint g [[threadgroup_position_in_grid]], uint l [[thread_index_in_threadgroup]], uint lane [[thread_index_in_simdgroup]], uint sg [[simdgroup_index_in_threadgroup]])
{
    threadgroup T part[4];
    T sum = 0;
    for (uint i = l; i < WIDTH; i += 128)
        sum += x[g * WIDTH + i];
    sum = simd_sum(sum);
    if (lane == 0)
        part[sg] = sum;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (l == 0)
        y[g] = part[0] + part[1] + part[2] + part[3];
}
template [[host_name("row_sum_f32")]] [[kernel]] decltype(row_sum<float>) row_sum<float>;
template [[host_name("row_sum_i32")]] [[kernel]] decltype(row_sum<int>) row_sum<int>;
