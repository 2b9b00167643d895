// Copies between places of arrays, one element a thread (mlx/backend/metal/copy.cpp).
#include <metal_stdlib>
using namespace metal;

struct copy_sizes {
    uint in_row, out_row; // elements from one row to the next
};

// The grid is what is copied: rows in y.
template <typename T>
[[kernel]] void copy_rows(device const T *in [[buffer(0)]], device T *out [[buffer(1)]], constant copy_sizes &s [[buffer(2)]],
                          uint2 at [[thread_position_in_grid]])
{
    out[(ulong)at.y * s.out_row + at.x] = in[(ulong)at.y * s.in_row + at.x];
}

template <typename T>
[[kernel]] void copy_line(device const T *in [[buffer(0)]], device T *out [[buffer(1)]], uint at [[thread_position_in_grid]])
{
    out[at] = in[at];
}

#define COPIES(T) \
    template [[host_name("mlx_copy_rows_" #T)]] kernel void copy_rows<T>(device const T *, device T *, constant copy_sizes &, uint2); \
    template [[host_name("mlx_copy_line_" #T)]] kernel void copy_line<T>(device const T *, device T *, uint);
COPIES(float)
COPIES(half)
