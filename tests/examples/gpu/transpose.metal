// out (columns x rows) = x (rows x columns), by tiles of 32 x 32 that go through threadgroup memory; arguments of the operator
// transpose. A threadgroup of 32 x 8 threads moves a tile; sizes are multiples of 32.
#include <metal_stdlib>
using namespace metal;

kernel void transpose(device const float *x, device float *out, constant uint &rows, constant uint &columns,
                      uint2 group [[threadgroup_position_in_grid]], uint2 in [[thread_position_in_threadgroup]])
{
    threadgroup float tile[32][33]; // a column more, so that no two lanes meet in a bank
    for (uint i = in.y; i < 32; i += 8)
        tile[i][in.x] = x[(group.y * 32 + i) * columns + group.x * 32 + in.x];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint i = in.y; i < 32; i += 8)
        out[(group.x * 32 + i) * rows + group.y * 32 + in.x] = tile[in.x][i];
}
