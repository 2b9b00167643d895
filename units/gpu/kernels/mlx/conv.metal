// Convolutions as MLX makes them (mlx/backend/metal/conv.cpp, 0.0.7 to 0.30.1): images N H W C, weights O R S C.
#include "tile.metalh"

// Numbers are signed, and strides have 64 bits, dilations and turned filters count although nobody uses them: the arithmetic of
// places is a large part of these kernels' work.
struct conv_sizes {
    int images, channels, filters;          // of a pixel; results of a pixel
    int height, width, rows, columns;       // of the image, of the filter
    int out_height, out_width;              // of the result
    int stride, pad, dilation, spread, turned; // spread: of the image
    ulong image_step, row_step, pixel_step; // elements of the image
    ulong filter_step, tap_row_step, tap_step; // of the weights
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

// The general copy of a strided view: rows of the filter in y, its columns and the channels in x, pixels in z. The places in both
// arrays are found dimension by dimension.
template <typename T>
[[kernel]] void unfold_view(device const T *in [[buffer(0)]], device T *out [[buffer(1)]], constant conv_sizes &s [[buffer(2)]],
                            uint3 at [[thread_position_in_grid]])
{
    const uint x = at.z % (uint)s.out_width, row = at.z / (uint)s.out_width, y = row % (uint)s.out_height,
               image = row / (uint)s.out_height;
    const ulong line = (ulong)(s.columns * s.channels), window = line * (ulong)s.rows, row_of_windows = window * (ulong)s.out_width;
    const ulong from = at.x + at.y * s.row_step + x * (s.pixel_step * (ulong)s.stride) + y * (s.row_step * (ulong)s.stride) +
                       image * s.image_step;
    out[at.x + at.y * line + x * window + y * row_of_windows + image * (row_of_windows * (ulong)s.out_height)] = in[from];
}

// The kernel that unfolds from 0.5 on: channels in x, taps in y, pixels in z. The image may be spread, so places are divided.
template <typename T>
[[kernel]] void unfold(device const T *in [[buffer(0)]], device T *out [[buffer(1)]], constant conv_sizes &s [[buffer(2)]],
                       uint3 at [[thread_position_in_grid]])
{
    const uint out_pixels = (uint)(s.out_height * s.out_width);
    const int image = (int)(at.z / out_pixels), pixel = (int)(at.z % out_pixels), tap = (int)at.y;
    int tx = tap % s.columns, ty = tap / s.columns % s.rows;
    tx = s.turned ? s.columns - tx - 1 : tx;
    ty = s.turned ? s.rows - ty - 1 : ty;
    const int x = pixel % s.out_width * s.stride - s.pad + tx * s.dilation;
    const int y = pixel / s.out_width % s.out_height * s.stride - s.pad + ty * s.dilation;
    const bool inside = image < s.images && x >= 0 && x < 1 + s.spread * (s.width - 1) && x % s.spread == 0 && y >= 0 &&
                        y < 1 + s.spread * (s.height - 1) && y % s.spread == 0;
    const int ix = x / s.spread, iy = y / s.spread;
    out += at.z * (uint)(s.channels * s.rows * s.columns) + at.y * (uint)s.channels;
    if (inside)
        out[at.x] = in[(ulong)image * s.image_step + (ulong)iy * s.row_step + (ulong)ix * s.pixel_step + at.x];
    else
        out[at.x] = (T)0;
}

// A share of a block of 16 columns: pieces of V elements, in rows that lie DOWN apart.
template <uint ROWS, uint V, uint THREADS>
struct share {
    static constant constexpr uint ACROSS = 16 / V, DOWN = THREADS / ACROSS, COUNT = (ROWS + DOWN - 1) / DOWN;
};

// Where a thread's pieces of the image are copied from: the place of a pixel's window.
template <typename T>
struct window {
    device const T *image; // FEW, general: the image or its first place; else this step's place
    int images, left, top; // of the image; of the window
    uint rows, columns;    // a bit for each row and column of the filter that lies inside
};

// Implicit products: BM pixels x BN filters, 16 of taps and channels at a time; taps follow one another before the next channels
// do. FEW: so many channels, of which three count as four; 0 = any number of whole 16. A piece of the image is put into
// threadgroup memory before the next one is loaded. GENERAL: any number of channels, images may be spread, and places are found
// again in each step.
template <typename T, uint BM, uint BN, uint WM, uint WN, uint FEW, bool GENERAL>
static void multiply(device const T *in, device const T *weights, device T *out, constant conv_sizes &s, threadgroup T *block_a,
                     threadgroup T *block_b, uint2 group, uint thread_index, uint simdgroup, uint lane)
{
    constexpr uint BK = 16, THREADS = WM * WN * 32, V = FEW == 0 || FEW == 3 ? 4 : FEW, VB = FEW ? V : BN == 8 ? 1 : 4;
    typedef product<T, BM, BN, BK, WM, WN, false, true> P;
    typedef share<BM, V, THREADS> A;
    typedef share<BN, VB, THREADS> B;
    const uint row_a = thread_index / A::ACROSS, k_a = thread_index % A::ACROSS * V;
    const uint row_b = thread_index / B::ACROSS, k_b = thread_index % B::ACROSS * VB;
    const int taps = s.rows * s.columns, out_pixels = s.out_height * s.out_width;
    threadgroup T *const put_a = block_a + row_a * P::PITCH_A + k_a, *const put_b = block_b + row_b * P::PITCH_B + k_b;
    window<T> from[A::COUNT];
#pragma unroll
    for (uint i = 0; i < A::COUNT; i++) {
        const int pixel = (int)(group.y * BM + row_a + i * A::DOWN), image = pixel / out_pixels, rest = pixel % out_pixels;
        const int top = rest / s.out_width * s.stride - s.pad, left = rest % s.out_width * s.stride - s.pad;
        from[i].images = image;
        from[i].top = top;
        from[i].left = left;
        from[i].image = in + (ulong)image * s.image_step + (FEW ? 0 : k_a);
        if (GENERAL)
            continue;
        from[i].image += (ulong)(top + (!FEW && s.turned ? (s.rows - 1) * s.dilation : 0)) * s.row_step +
                         (ulong)(left + (!FEW && s.turned ? (s.columns - 1) * s.dilation : 0)) * s.pixel_step;
        from[i].rows = from[i].columns = 0;
        for (int r = 0; !FEW && r < s.rows; r++) {
            const int y = top + (s.turned ? s.rows - r - 1 : r) * s.dilation;
            from[i].rows |= (uint)(image < s.images && y >= 0 && y < s.height) << r;
        }
        for (int c = 0; !FEW && c < s.columns; c++) {
            const int x = left + (s.turned ? s.columns - c - 1 : c) * s.dilation;
            from[i].columns |= (uint)(x >= 0 && x < s.width) << c;
        }
    }
    const int first_filter = (int)(group.x * BN + row_b);
    device const T *filter_weights = weights + (ulong)first_filter * s.filter_step + (FEW ? 0 : k_b);
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
    const int blocks = (s.channels + (int)BK - 1) / (int)BK;
    const int steps = FEW ? ((int)V * taps + (int)BK - 1) / (int)BK : taps * blocks;
    const long next_column = (long)s.pixel_step * (s.turned ? -s.dilation : s.dilation);
    const long next_row = (long)s.row_step * (s.turned ? -s.dilation : s.dilation) - (s.columns - 1) * next_column;
    const long next_block = (long)BK - (s.rows - 1) * (next_row + (s.columns - 1) * next_column) - (s.columns - 1) * next_column;
    int row = 0, column = 0, tap_a = (int)(k_a / V), tap_b = (int)(k_b / VB), left_over = s.channels;
    for (int step = 0; step < steps; step++) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        const bool any_a = !FEW || tap_a < taps;
        const int tap_y = FEW ? tap_a / s.columns : row, tap_x = FEW ? tap_a % s.columns : column;
        const int ty = s.turned ? s.rows - tap_y - 1 : tap_y, tx = s.turned ? s.columns - tap_x - 1 : tap_x;
        const int y_off = ty * s.dilation, x_off = tx * s.dilation;
#pragma unroll
        for (uint i = 0; i < A::COUNT; i++) {
            threadgroup T *const to = put_a + i * A::DOWN * P::PITCH_A;
            device const T *place = from[i].image;
            bool inside = (from[i].rows & 1u << row) && (from[i].columns & 1u << column);
            if (FEW) {
                const int y = from[i].top + y_off, x = from[i].left + x_off;
                inside = any_a && from[i].images < s.images && y >= 0 && y < s.height && x >= 0 && x < s.width;
                place += (ulong)y_off * s.row_step + (ulong)x_off * s.pixel_step;
            } else if (GENERAL) {
                const int spread_y = from[i].top + y_off, spread_x = from[i].left + x_off;
                const int y = spread_y / s.spread, x = spread_x / s.spread;
                inside = from[i].images < s.images && spread_y >= 0 && y < s.height && spread_x >= 0 && x < s.width;
                place += (ulong)y * s.row_step + (ulong)x * s.pixel_step;
            }
            T piece[V];
#pragma unroll
            for (uint j = 0; j < V; j++)
                piece[j] = (T)0;
            if (inside && (!GENERAL || (int)(k_a + V) <= left_over)) {
#pragma unroll
                for (uint j = 0; j < (FEW ? FEW : V); j++)
                    piece[j] = place[j];
            } else if (GENERAL && inside) {
#pragma unroll
                for (uint j = 0; j < V; j++)
                    if ((int)(k_a + j) < left_over)
                        piece[j] = place[j];
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
            device const T *place = filter_weights + (ulong)(i * B::DOWN) * s.filter_step;
            if (FEW)
                place += tap_b * s.channels;
            if (GENERAL)
                place += (ulong)row * s.tap_row_step + (ulong)column * s.tap_step;
            T piece[VB];
#pragma unroll
            for (uint j = 0; j < VB; j++)
                piece[j] = (T)0;
            const bool inside = first_filter + (int)(i * B::DOWN) < s.filters && (!FEW || tap_b < taps);
            if (inside && (!GENERAL || (int)(k_b + VB) <= left_over)) {
#pragma unroll
                for (uint j = 0; j < (FEW ? FEW : VB); j++)
                    piece[j] = place[j];
            } else if (GENERAL && inside) {
#pragma unroll
                for (uint j = 0; j < VB; j++)
                    if ((int)(k_b + j) < left_over)
                        piece[j] = place[j];
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
        long image_step = GENERAL ? 0 : next_column, weights_step = GENERAL ? 0 : (long)s.tap_step;
        if (++column == s.columns) {
            column = 0;
            image_step = GENERAL ? 0 : next_row;
            if (++row == s.rows) {
                row = 0;
                left_over -= BK;
                image_step = GENERAL ? (long)BK : next_block;
                weights_step = GENERAL ? (long)BK : (long)BK - (taps - 1) * (long)s.tap_step;
            }
        }
#pragma unroll
        for (uint i = 0; i < A::COUNT; i++)
            from[i].image += image_step;
        filter_weights += weights_step;
    }
#pragma unroll
    for (uint i = 0; i < P::TM; i++) {
        const int p = (int)(group.y * BM + sm + i * 8 * WM + at.row);
        if (p >= s.images * out_pixels)
            continue;
#pragma unroll
        for (uint j = 0; j < P::TN; j++)
#pragma unroll
            for (uint e = 0; e < 2; e++) {
                const int f = (int)(group.x * BN + sn + j * 8 * WN + at.column + e);
                if (f < s.filters)
                    out[(ulong)p * (ulong)s.filters + (ulong)f] = (T)sum[i][j].thread_elements()[e];
            }
    }
}

template <typename T, uint BM, uint BN, uint WM, uint WN, uint FEW, bool GENERAL>
[[kernel, max_total_threads_per_threadgroup(WM * WN * 32)]] void implicit(
    device const T *in [[buffer(0)]], device const T *weights [[buffer(1)]], device T *out [[buffer(2)]],
    constant conv_sizes &s [[buffer(3)]], uint2 group [[threadgroup_position_in_grid]],
    uint thread_index [[thread_index_in_threadgroup]], uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint lane [[thread_index_in_simdgroup]])
{
    typedef product<T, BM, BN, 16, WM, WN, false, true> P;
    threadgroup T block_a[BM * P::PITCH_A];
    threadgroup T block_b[BN * P::PITCH_B];
    multiply<T, BM, BN, WM, WN, FEW, GENERAL>(in, weights, out, s, block_a, block_b, group, thread_index, simdgroup, lane);
}

#define IMPLICIT(T, BM, BN, WM, WN, channels, FEW, GENERAL) \
    template [[host_name("mlx_conv_" channels "_" #T "_" #BM "x" #BN "_" #WM "x" #WN)]] kernel void \
    implicit<T, BM, BN, WM, WN, FEW, GENERAL>(device const T *, device const T *, device T *, constant conv_sizes &, uint2, uint, uint, uint);
#define FEW_CHANNELS(T, channels, FEW) \
    IMPLICIT(T, 32, 8, 4, 1, channels, FEW, false) IMPLICIT(T, 32, 32, 2, 2, channels, FEW, false) IMPLICIT(T, 32, 64, 2, 2, channels, FEW, false)
#define ALL(T) \
    template [[host_name("mlx_fill_" #T)]] kernel void fill<T>(device T *, uint); \
    template [[host_name("mlx_put_inside_" #T)]] kernel void put_inside<T>(device const T *, device T *, constant pad_sizes &, uint3); \
    template [[host_name("mlx_unfold_view_" #T)]] kernel void unfold_view<T>(device const T *, device T *, constant conv_sizes &, \
                                                                             uint3); \
    template [[host_name("mlx_unfold_" #T)]] kernel void unfold<T>(device const T *, device T *, constant conv_sizes &, uint3); \
    FEW_CHANNELS(T, "1", 1) FEW_CHANNELS(T, "2", 2) FEW_CHANNELS(T, "4", 4) \
    IMPLICIT(T, 32, 8, 4, 1, "any", 0, false) IMPLICIT(T, 64, 8, 4, 1, "any", 0, false) IMPLICIT(T, 32, 32, 2, 2, "any", 0, false) \
    IMPLICIT(T, 32, 64, 2, 2, "any", 0, false) IMPLICIT(T, 64, 64, 2, 2, "any", 0, false) \
    IMPLICIT(T, 32, 32, 2, 2, "general", 0, true) IMPLICIT(T, 64, 32, 2, 2, "general", 0, true) \
    IMPLICIT(T, 64, 64, 2, 2, "general", 0, true)
ALL(float)
FEW_CHANNELS(float, "3", 3)
ALL(half)
