// c = a b of row-major matrices, m x k and k x n, by tiles of 16 x 16: a threadgroup of 16 x 16 threads makes one of c.
// Arguments are those of the operator gemm: orchard run gemm:256x256x256 --kernel gemm=matmul.metal --grid 256x256
#include <metal_stdlib>
using namespace metal;

constant uint TILE = 16;

[[max_total_threads_per_threadgroup(256)]]
kernel void matmul(device const float *a, device const float *b, device float *c,
                   constant uint &m, constant uint &n, constant uint &k,
                   uint2 at [[thread_position_in_grid]], uint2 in [[thread_position_in_threadgroup]])
{
    threadgroup float left[TILE][TILE], right[TILE][TILE];
    float sum = 0;
    for (uint step = 0; step < k; step += TILE) {
        left[in.y][in.x] = at.y < m && step + in.x < k ? a[at.y * k + step + in.x] : 0.0f;
        right[in.y][in.x] = at.x < n && step + in.y < k ? b[(step + in.y) * n + at.x] : 0.0f;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint i = 0; i < TILE; i++)
            sum += left[in.y][i] * right[i][in.x];
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    if (at.x < n && at.y < m)
        c[at.y * n + at.x] = sum;
}
