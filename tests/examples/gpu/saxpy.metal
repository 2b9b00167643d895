// y = a x + y, a thread for each element.
#include <metal_stdlib>
using namespace metal;

kernel void saxpy(device const float *x [[buffer(0)]],
                  device float *y [[buffer(1)]],
                  constant float &a [[buffer(2)]],
                  constant uint &count [[buffer(3)]],
                  uint i [[thread_position_in_grid]])
{
    if (i < count)
        y[i] = a * x[i] + y[i];
}

// The largest magnitude of each threadgroup's elements.
kernel void peak(device const float *y [[buffer(0)]], device float *out [[buffer(1)]], uint i [[thread_position_in_grid]],
                 uint lane [[thread_index_in_threadgroup]], uint group [[threadgroup_position_in_grid]])
{
    threadgroup float best[32];
    const float mine = simd_max(abs(y[i]));
    best[lane / 32] = mine;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (lane == 0) {
        float most = 0;
        for (uint k = 0; k < 8; k++) // threadgroups of 256
            most = max(most, best[k]);
        out[group] = most;
    }
}
