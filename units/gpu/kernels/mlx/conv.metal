// Convolutions as MLX makes them (framework-kernels.md, section 4): images N H W C, weights O R S C.
#include "tile.metalh"

struct conv_sizes {
    uint channels, height, width;         // of the image
    uint filters, rows, columns;          // results of a pixel, of the filter
    uint out_height, out_width, pixels;   // of the result; of all images
    uint stride, pad;
};

template <typename T>
[[kernel]] void fill(device T *out [[buffer(0)]], uint at [[thread_position_in_grid]])
{
    out[at] = (T)0;
}

// Into the middle of a larger image: x counts elements of a row, y rows, z images.
struct pad_sizes {
    uint row, height, pitch, rows, first; // of the image; of the larger one: row, rows; where the image begins in it
};
template <typename T>
[[kernel]] void put_inside(device const T *in [[buffer(0)]], device T *out [[buffer(1)]], constant pad_sizes &s [[buffer(2)]],
                           uint3 at [[thread_position_in_grid]])
{
    out[((ulong)at.z * s.rows + at.y) * s.pitch + s.first + at.x] = in[((ulong)at.z * s.height + at.y) * s.row + at.x];
}

// The general copy of a strided view: rows of the filter in y, its columns and the channels in x, pixels in z.
template <typename T>
[[kernel]] void unfold_view(device const T *in [[buffer(0)]], device T *out [[buffer(1)]], constant conv_sizes &s [[buffer(2)]],
                            uint3 at [[thread_position_in_grid]])
{
    const uint x = at.z % s.out_width, row = at.z / s.out_width, y = row % s.out_height, image = row / s.out_height;
    const uint line = s.columns * s.channels;
    const ulong from = (((ulong)image * s.height + y * s.stride + at.y) * s.width + x * s.stride) * s.channels + at.x;
    out[((ulong)at.z * s.rows + at.y) * line + at.x] = in[from];
}

// The kernel that unfolds from 0.5 on: channels in x, taps in y, pixels in z.
template <typename T>
[[kernel]] void unfold(device const T *in [[buffer(0)]], device T *out [[buffer(1)]], constant conv_sizes &s [[buffer(2)]],
                       uint3 at [[thread_position_in_grid]])
{
    const uint x = at.z % s.out_width, row = at.z / s.out_width, y = row % s.out_height, image = row / s.out_height;
    const int iy = (int)(y * s.stride + at.y / s.columns) - (int)s.pad, ix = (int)(x * s.stride + at.y % s.columns) - (int)s.pad;
    const bool inside = iy >= 0 && iy < (int)s.height && ix >= 0 && ix < (int)s.width;
    T value = (T)0;
    if (inside)
        value = in[(((ulong)image * s.height + (uint)iy) * s.width + (uint)ix) * s.channels + at.x];
    out[((ulong)at.z * s.rows * s.columns + at.y) * s.channels + at.x] = value;
}

// Implicit products: BM pixels x BN filters, 16 of taps and channels at a time. FEW: so many channels, which count as four; 0 = any
// number of whole 16.
template <typename T, uint BM, uint BN, uint WM, uint WN, uint FEW>
[[kernel, max_total_threads_per_threadgroup(WM * WN * 32)]] void implicit(
    device const T *in [[buffer(0)]], device const T *weights [[buffer(1)]], device T *out [[buffer(2)]],
    constant conv_sizes &s [[buffer(3)]], uint2 group [[threadgroup_position_in_grid]],
    uint thread_index [[thread_index_in_threadgroup]], uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint lane [[thread_index_in_simdgroup]])
{
    constexpr uint BK = 16, THREADS = WM * WN * 32, PIECE_A = BM * BK / THREADS, PIECE_B = BN * BK / THREADS;
    typedef product<T, BM, BN, BK, WM, WN, false, true> P;
    threadgroup T block_a[BM * P::PITCH_A];
    threadgroup T block_b[BN * P::PITCH_B];
    const uint row_a = thread_index / (BK / PIECE_A), k_a = thread_index % (BK / PIECE_A) * PIECE_A;
    const uint row_b = thread_index / (BK / PIECE_B), k_b = thread_index % (BK / PIECE_B) * PIECE_B;
    // the pixel whose piece this thread copies
    const uint pixel = group.y * BM + row_a, x = pixel % s.out_width, line = pixel / s.out_width, y = line % s.out_height;
    const int left = (int)(x * s.stride) - (int)s.pad, top = (int)(y * s.stride) - (int)s.pad;
    device const T *const image = in + (ulong)(line / s.out_height) * s.height * s.width * s.channels;
    const uint filter = group.x * BN + row_b, taps = s.rows * s.columns;
    device const T *const filter_weights = weights + (ulong)filter * taps * s.channels;
    threadgroup T *const put_a = block_a + row_a * P::PITCH_A + k_a, *const put_b = block_b + row_b * P::PITCH_B + k_b;
    const lane_place at = place_of(lane);
    const uint sm = simdgroup / WN * 8, sn = simdgroup % WN * 8;
    threadgroup const T *const from_a = block_a + (sm + at.row) * P::PITCH_A + at.column;
    threadgroup const T *const from_b = block_b + (sn + at.column) * P::PITCH_B + at.row;
    simdgroup_float8x8 sum[P::TM][P::TN];
#pragma unroll
    for (uint i = 0; i < P::TM; i++)
#pragma unroll
        for (uint j = 0; j < P::TN; j++)
            sum[i][j] = simdgroup_float8x8(0);
    const uint steps = FEW ? (4 * taps + BK - 1) / BK : taps * s.channels / BK;
    uint row = 0, column = 0, channel = 0;
    for (uint step = 0; step < steps; step++) {
        T piece_a[PIECE_A], piece_b[PIECE_B];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (FEW) {
            const uint tap = step * 4 + k_a / 4, ty = tap / s.columns;
            const int iy = top + (int)ty, ix = left + (int)(tap - ty * s.columns);
            const bool inside = tap < taps && pixel < s.pixels && iy >= 0 && iy < (int)s.height && ix >= 0 && ix < (int)s.width;
            device const T *const from = image + (int)((iy * (int)s.width + ix) * (int)FEW);
#pragma unroll
            for (uint i = 0; i < PIECE_A; i++)
                piece_a[i] = (T)0;
            if (inside)
#pragma unroll
                for (uint i = 0; i < FEW; i++)
                    piece_a[i] = from[i];
#pragma unroll
            for (uint i = 0; i < PIECE_B; i++) {
                const uint k = step * BK + k_b + i, t = k / 4, c = k % 4;
                piece_b[i] = t < taps && c < FEW && filter < s.filters ? filter_weights[t * FEW + c] : (T)0;
            }
        } else {
            const int iy = top + (int)row, ix = left + (int)column;
            const bool inside = pixel < s.pixels && iy >= 0 && iy < (int)s.height && ix >= 0 && ix < (int)s.width;
            device const T *const from = image + ((ulong)(uint)iy * s.width + (uint)ix) * s.channels + channel + k_a;
#pragma unroll
            for (uint i = 0; i < PIECE_A; i++)
                piece_a[i] = (T)0;
            if (inside)
#pragma unroll
                for (uint i = 0; i < PIECE_A; i++)
                    piece_a[i] = from[i];
#pragma unroll
            for (uint i = 0; i < PIECE_B; i++)
                piece_b[i] = (T)0;
            if (filter < s.filters)
#pragma unroll
                for (uint i = 0; i < PIECE_B; i++)
                    piece_b[i] = (filter_weights + step * BK + k_b)[i];
            channel += BK;
            if (channel == s.channels) {
                channel = 0;
                column++;
                if (column == s.columns) {
                    column = 0;
                    row++;
                }
            }
        }
#pragma unroll
        for (uint i = 0; i < PIECE_A; i++)
            put_a[i] = piece_a[i];
#pragma unroll
        for (uint i = 0; i < PIECE_B; i++)
            put_b[i] = piece_b[i];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        P::step(sum, from_a, from_b);
    }
#pragma unroll
    for (uint i = 0; i < P::TM; i++)
#pragma unroll
        for (uint j = 0; j < P::TN; j++)
#pragma unroll
            for (uint e = 0; e < 2; e++) {
                const uint p = group.y * BM + sm + i * 8 * WM + at.row, f = group.x * BN + sn + j * 8 * WN + at.column + e;
                if (p < s.pixels && f < s.filters)
                    out[(ulong)p * s.filters + f] = (T)sum[i][j].thread_elements()[e];
            }
}

#define IMPLICIT(T, BM, BN, WM, WN, channels, FEW) \
    template [[host_name("mlx_conv_" channels "_" #T "_" #BM "x" #BN "_" #WM "x" #WN)]] kernel void \
    implicit<T, BM, BN, WM, WN, FEW>(device const T *, device const T *, device T *, constant conv_sizes &, uint2, uint, uint, uint);
#define FEW_CHANNELS(T, channels, FEW) \
    IMPLICIT(T, 32, 8, 4, 1, channels, FEW) IMPLICIT(T, 32, 32, 2, 2, channels, FEW) IMPLICIT(T, 32, 64, 2, 2, channels, FEW)
#define ALL(T) \
    template [[host_name("mlx_fill_" #T)]] kernel void fill<T>(device T *, uint); \
    template [[host_name("mlx_put_inside_" #T)]] kernel void put_inside<T>(device const T *, device T *, constant pad_sizes &, uint3); \
    template [[host_name("mlx_unfold_view_" #T)]] kernel void unfold_view<T>(device const T *, device T *, constant conv_sizes &, \
                                                                             uint3); \
    template [[host_name("mlx_unfold_" #T)]] kernel void unfold<T>(device const T *, device T *, constant conv_sizes &, uint3); \
    FEW_CHANNELS(T, "1", 1) FEW_CHANNELS(T, "2", 2) FEW_CHANNELS(T, "4", 4) \
    IMPLICIT(T, 32, 8, 4, 1, "any", 0) IMPLICIT(T, 64, 8, 4, 1, "any", 0) IMPLICIT(T, 32, 32, 2, 2, "any", 0) \
    IMPLICIT(T, 32, 64, 2, 2, "any", 0) IMPLICIT(T, 64, 64, 2, 2, "any", 0)
ALL(float)
FEW_CHANNELS(float, "3", 3)
ALL(half)
