// C = A B with tiles of 16 x 16 in threadgroup memory; n is a multiple of 16.
#include <metal_stdlib>
using namespace metal;

#define TILE 16

kernel void matmul(device const float *a, device const float *b, device float *c, constant uint &n,
                   uint2 at [[thread_position_in_grid]], uint2 in [[thread_position_in_threadgroup]])
{
    threadgroup float left[TILE][TILE], right[TILE][TILE];
    float sum = 0;
    for (uint k = 0; k < n; k += TILE) {
        left[in.y][in.x] = a[at.y * n + k + in.x];
        right[in.y][in.x] = b[(k + in.y) * n + at.x];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint i = 0; i < TILE; i++)
            sum = fma(left[in.y][i], right[i][in.x], sum);
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    c[at.y * n + at.x] = sum;
}
