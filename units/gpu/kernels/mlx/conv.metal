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

// A share of a block of 16 columns: pieces of V elements, in rows that lie DOWN apart.
template <uint ROWS, uint V, uint THREADS>
struct share {
    static constant constexpr uint ACROSS = 16 / V, DOWN = THREADS / ACROSS, COUNT = (ROWS + DOWN - 1) / DOWN;
};

// Implicit products: BM pixels x BN filters, 16 of taps and channels at a time; taps follow one another before the next channels
// do. FEW: so many channels, of which three count as four; 0 = any number of whole 16. A piece of the image is put into threadgroup
// memory before the next one is loaded.
template <typename T, uint BM, uint BN, uint WM, uint WN, uint FEW>
[[kernel, max_total_threads_per_threadgroup(WM * WN * 32)]] void implicit(
    device const T *in [[buffer(0)]], device const T *weights [[buffer(1)]], device T *out [[buffer(2)]],
    constant conv_sizes &s [[buffer(3)]], uint2 group [[threadgroup_position_in_grid]],
    uint thread_index [[thread_index_in_threadgroup]], uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint lane [[thread_index_in_simdgroup]])
{
    constexpr uint BK = 16, THREADS = WM * WN * 32, V = FEW == 0 || FEW == 3 ? 4 : FEW, VB = FEW ? V : BN == 8 ? 1 : 4;
    typedef product<T, BM, BN, BK, WM, WN, false, true> P;
    typedef share<BM, V, THREADS> A;
    typedef share<BN, VB, THREADS> B;
    threadgroup T block_a[BM * P::PITCH_A];
    threadgroup T block_b[BN * P::PITCH_B];
    const uint row_a = thread_index / A::ACROSS, k_a = thread_index % A::ACROSS * V;
    const uint row_b = thread_index / B::ACROSS, k_b = thread_index % B::ACROSS * VB;
    const uint taps = s.rows * s.columns;
    threadgroup T *const put_a = block_a + row_a * P::PITCH_A + k_a, *const put_b = block_b + row_b * P::PITCH_B + k_b;
    // the pixels whose pieces this thread copies
    device const T *image[A::COUNT];
    int left[A::COUNT], top[A::COUNT];
    uint inside_rows[A::COUNT], inside_columns[A::COUNT]; // a bit for each row and column of the filter
#pragma unroll
    for (uint i = 0; i < A::COUNT; i++) {
        const uint pixel = group.y * BM + row_a + i * A::DOWN, x = pixel % s.out_width, line = pixel / s.out_width;
        left[i] = (int)(x * s.stride) - (int)s.pad;
        top[i] = (int)(line % s.out_height * s.stride) - (int)s.pad;
        image[i] = in + (ulong)(line / s.out_height) * s.height * s.width * s.channels;
        image[i] += (top[i] * (int)s.width + left[i]) * (int)s.channels + (FEW ? 0 : (int)k_a);
        inside_rows[i] = inside_columns[i] = 0;
        for (uint r = 0; !FEW && r < s.rows; r++)
            inside_rows[i] |= (uint)(pixel < s.pixels && top[i] + (int)r >= 0 && top[i] + (int)r < (int)s.height) << r;
        for (uint c = 0; !FEW && c < s.columns; c++)
            inside_columns[i] |= (uint)(left[i] + (int)c >= 0 && left[i] + (int)c < (int)s.width) << c;
        if (FEW && pixel >= s.pixels)
            top[i] = INT_MIN / 2;
    }
    const uint first_filter = group.x * BN + row_b;
    device const T *filter_weights = weights + (ulong)first_filter * taps * s.channels + (FEW ? 0 : k_b);
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
    const uint steps = FEW ? (V * taps + BK - 1) / BK : taps * s.channels / BK;
    const int next_row = (int)((s.width - s.columns + 1) * s.channels);
    const int next_block = (int)BK - (int)(((s.rows - 1) * s.width + s.columns - 1) * s.channels);
    uint row = 0, column = 0, tap_a = k_a / V, tap_b = k_b / VB;
    for (uint step = 0; step < steps; step++) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        const uint ty = FEW ? tap_a / s.columns : row, tx = FEW ? tap_a - ty * s.columns : column;
#pragma unroll
        for (uint i = 0; i < A::COUNT; i++) {
            threadgroup T *const to = put_a + i * A::DOWN * P::PITCH_A;
            const int iy = top[i] + (int)ty, ix = left[i] + (int)tx;
            const bool inside = FEW ? tap_a < taps && iy >= 0 && iy < (int)s.height && ix >= 0 && ix < (int)s.width
                                    : (inside_rows[i] & 1u << row) && (inside_columns[i] & 1u << column);
            T piece[V];
#pragma unroll
            for (uint j = 0; j < V; j++)
                piece[j] = (T)0;
            if (inside) {
                device const T *const from = FEW ? image[i] + (int)((ty * s.width + tx) * FEW) : image[i];
#pragma unroll
                for (uint j = 0; j < (FEW ? FEW : V); j++)
                    piece[j] = from[j];
            }
#pragma unroll
            for (uint j = 0; j < V; j++)
                to[j] = piece[j];
        }
#pragma unroll
        for (uint i = 0; i < B::COUNT; i++) {
            if (B::DOWN > BN && row_b >= BN)
                break;
            threadgroup T *const to = put_b + i * B::DOWN * P::PITCH_B;
            T piece[VB];
#pragma unroll
            for (uint j = 0; j < VB; j++)
                piece[j] = (T)0;
            if (first_filter + i * B::DOWN < s.filters && (!FEW || tap_b < taps)) {
                device const T *const from = filter_weights + (ulong)i * B::DOWN * taps * s.channels + (FEW ? tap_b * FEW : 0);
#pragma unroll
                for (uint j = 0; j < (FEW ? FEW : VB); j++)
                    piece[j] = from[j];
            }
#pragma unroll
            for (uint j = 0; j < VB; j++)
                to[j] = piece[j];
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        P::step(sum, from_a, from_b);
        if (FEW) {
            tap_a += A::ACROSS;
            tap_b += B::ACROSS;
            continue;
        }
        int image_step = (int)s.channels, weights_step = (int)s.channels;
        if (++column == s.columns) {
            column = 0;
            image_step = next_row;
            if (++row == s.rows) {
                row = 0;
                image_step = next_block;
                weights_step = (int)BK - (int)((taps - 1) * s.channels);
            }
        }
#pragma unroll
        for (uint i = 0; i < A::COUNT; i++)
            image[i] += image_step;
        filter_weights += weights_step;
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
