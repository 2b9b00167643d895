// Convolutions of 3 x 3 as MLX does them by Winograd's method F(6 x 6, 3 x 3): transforms of the filters, of tiles of 8 x 8 pixels that
// overlap by two, and of the products. A transform is two products of matrices, of one channel and one tile; 32 channels at a time
// pass through threadgroup memory.
#include "tile.metalh"

struct winograd_sizes {
    uint channels, filters, tiles;   // tiles: of all images
    uint across, down;               // tiles of an image
    uint row, image;                 // elements from one row and image of pixels to the next: padded, or of the result
    uint height, width;              // of the result
};

enum { BLOCK = 32, SIDE = 8, TILE = 6, TAPS = 3, SIMDGROUPS = 4 };

// What a lane has of a matrix of the table, or of that matrix turned.
template <typename T>
static simdgroup_matrix<T, 8, 8> read_matrix(device const float *matrix, lane_place at, bool turned)
{
    simdgroup_matrix<T, 8, 8> m;
#pragma unroll
    for (uint e = 0; e < 2; e++)
        m.thread_elements()[e] = (T)matrix[turned ? (at.column + e) * SIDE + at.row : at.row * SIDE + at.column + e];
    return m;
}

// A simdgroup a filter. Out: place in the tile x channel x filter.
template <typename T>
[[kernel, max_total_threads_per_threadgroup(128)]] void weights(
    device const T *in [[buffer(0)]], device T *out [[buffer(1)]], device const float *matrix [[buffer(2)]],
    constant winograd_sizes &s [[buffer(3)]], uint group [[threadgroup_position_in_grid]],
    uint simdgroup [[simdgroup_index_in_threadgroup]], uint lane [[thread_index_in_simdgroup]])
{
    threadgroup T taps[SIMDGROUPS][TAPS][TAPS][BLOCK];
    const lane_place at = place_of(lane);
    const simdgroup_matrix<T, 8, 8> g = read_matrix<T>(matrix, at, false), turned = read_matrix<T>(matrix, at, true);
    const uint filter = group * SIMDGROUPS + simdgroup;
    const ulong plane = (ulong)s.channels * s.filters;
    in += (ulong)filter * TAPS * TAPS * s.channels;
    device T *to = out + (ulong)(at.row * SIDE + at.column) * plane + filter;
    for (uint first = 0; first < s.channels; first += BLOCK) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
        for (uint i = 0; i < TAPS * TAPS; i++)
            taps[simdgroup][i / TAPS][i % TAPS][lane] = in[i * s.channels + lane];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint c = 0; c < BLOCK; c++) {
            simdgroup_matrix<T, 8, 8> tap;
#pragma unroll
            for (uint e = 0; e < 2; e++)
                tap.thread_elements()[e] =
                    at.row < TAPS && at.column + e < TAPS ? taps[simdgroup][at.row][at.column + e][c] : (T)0;
            const simdgroup_matrix<T, 8, 8> done = (g * tap) * turned;
            to[(ulong)c * s.filters] = done.thread_elements()[0];
            to[(ulong)c * s.filters + plane] = done.thread_elements()[1];
        }
        in += BLOCK;
        to += (ulong)BLOCK * s.filters;
    }
}

// A threadgroup a tile. Out: place in the tile x tile x channel.
template <typename T>
[[kernel, max_total_threads_per_threadgroup(128)]] void pixels(
    device const T *in [[buffer(0)]], device T *out [[buffer(1)]], device const float *matrix [[buffer(2)]],
    constant winograd_sizes &s [[buffer(3)]], uint3 group [[threadgroup_position_in_grid]],
    uint simdgroup [[simdgroup_index_in_threadgroup]], uint lane [[thread_index_in_simdgroup]])
{
    constexpr uint HALF = SIDE / 2;
    threadgroup T tile[SIDE][SIDE][BLOCK];
    const lane_place at = place_of(lane);
    const simdgroup_matrix<T, 8, 8> left = read_matrix<T>(matrix, at, false), right = read_matrix<T>(matrix, at, true);
    const uint row = simdgroup / 2 * HALF, column = simdgroup % 2 * HALF;
    const ulong plane = (ulong)s.tiles * s.channels;
    in += (ulong)group.z * s.image + (group.y * TILE + row) * s.row + (group.x * TILE + column) * s.channels;
    device T *to = out + (ulong)(at.row * SIDE + at.column) * plane +
                   (ulong)((group.z * s.down + group.y) * s.across + group.x) * s.channels;
    for (uint first = 0; first < s.channels; first += BLOCK) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
        for (uint h = 0; h < HALF; h++)
#pragma unroll
            for (uint w = 0; w < HALF; w++)
                tile[row + h][column + w][lane] = in[h * s.row + w * s.channels + lane];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint c = simdgroup; c < BLOCK; c += SIMDGROUPS) {
            simdgroup_matrix<T, 8, 8> image;
#pragma unroll
            for (uint e = 0; e < 2; e++)
                image.thread_elements()[e] = tile[at.row][at.column + e][c];
            const simdgroup_matrix<T, 8, 8> done = (left * image) * right;
            to[c] = done.thread_elements()[0];
            to[c + plane] = done.thread_elements()[1];
        }
        in += BLOCK;
        to += BLOCK;
    }
}

// A threadgroup a tile of 6 x 6 results.
template <typename T>
[[kernel, max_total_threads_per_threadgroup(128)]] void results(
    device const T *in [[buffer(0)]], device T *out [[buffer(1)]], device const float *matrix [[buffer(2)]],
    constant winograd_sizes &s [[buffer(3)]], uint3 group [[threadgroup_position_in_grid]],
    uint simdgroup [[simdgroup_index_in_threadgroup]], uint lane [[thread_index_in_simdgroup]])
{
    constexpr uint HALF = TILE / 2;
    threadgroup T tile[TILE][TILE][BLOCK];
    const lane_place at = place_of(lane);
    const simdgroup_matrix<T, 8, 8> left = read_matrix<T>(matrix, at, false), right = read_matrix<T>(matrix, at, true);
    const uint row = simdgroup / 2 * HALF, column = simdgroup % 2 * HALF;
    const uint y = group.y * TILE + row, x = group.x * TILE + column;
    const ulong plane = (ulong)s.tiles * s.filters;
    in += (ulong)(at.row * SIDE + at.column) * plane + (ulong)((group.z * s.down + group.y) * s.across + group.x) * s.filters;
    out += (ulong)group.z * s.image + y * s.row + x * s.filters;
    for (uint first = 0; first < s.filters; first += BLOCK) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint c = simdgroup; c < BLOCK; c += SIMDGROUPS) {
            simdgroup_matrix<T, 8, 8> product;
            product.thread_elements()[0] = in[c];
            product.thread_elements()[1] = in[c + plane];
            const simdgroup_matrix<T, 8, 8> done = left * (product * right);
#pragma unroll
            for (uint e = 0; e < 2; e++)
                if (at.row < TILE && at.column + e < TILE)
                    tile[at.row][at.column + e][c] = done.thread_elements()[e];
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
        for (uint h = 0; h < HALF; h++)
#pragma unroll
            for (uint w = 0; w < HALF; w++)
                if (y + h < s.height && x + w < s.width)
                    out[h * s.row + w * s.filters + lane] = tile[row + h][column + w][lane];
        in += BLOCK;
        out += BLOCK;
    }
}

#define ONE(name, T, group) \
    template [[host_name("mlx_winograd_" #name "_" #T)]] kernel void name<T>(device const T *, device T *, device const float *, \
                                                                             constant winograd_sizes &, group, uint, uint);
#define ALL(T) ONE(weights, T, uint) ONE(pixels, T, uint3) ONE(results, T, uint3)
ALL(float)
ALL(half)
