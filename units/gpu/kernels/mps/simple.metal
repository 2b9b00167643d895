// A guess at kernels of Apple's closed MPS, of those that do without matrices of simdgroups: a thread for each result. Why such
// kernels are assumed, and for which shapes, is told in sim/workload/gpu/frameworks/mps.c.
#include <metal_math>
#include <metal_simdgroup>
#include <metal_stdlib>
using namespace metal;

struct product_sizes {
    uint m, n, k;
    uint row_a, k_a, k_b, column_b;  // elements from one row, place of k or column to the next
    uint batch_a, batch_b, batch_c;  // from one matrix of a batch to the next
    float alpha, beta;
};

// 64 rows and 16 or 32 columns of the result, four rows and one or two columns a thread. For 16 of k both operands pass through threadgroup
// memory; of the left side a thread reads four neighbours at a time.
template <typename T, uint COLUMNS, bool ADDS>
[[kernel, max_total_threads_per_threadgroup(256)]] void tiled(
    device const T *a [[buffer(0)]], device const T *b [[buffer(1)]], device T *c [[buffer(2)]],
    constant product_sizes &s [[buffer(3)]], uint3 group [[threadgroup_position_in_grid]],
    uint3 at [[thread_position_in_threadgroup]])
{
    constexpr uint ROWS = 4, SIDE = 16;
    threadgroup float4 block_a[ROWS * SIDE][SIDE / 4];
    threadgroup float block_b[SIDE][COLUMNS * SIDE];
    threadgroup float *const put_a = (threadgroup float *)&block_a[at.y][0] + at.x;
    const uint row = group.y * ROWS * SIDE + at.y, column = group.x * COLUMNS * SIDE + at.x;
    device const T *from_a[ROWS], *from_b[COLUMNS];
    float sum[ROWS][COLUMNS] = {};
#pragma unroll
    for (uint r = 0; r < ROWS; r++)
        from_a[r] = a + (ulong)group.z * s.batch_a + (ulong)(row + r * SIDE < s.m ? row + r * SIDE : 0) * s.row_a;
#pragma unroll
    for (uint j = 0; j < COLUMNS; j++)
        from_b[j] = b + (ulong)group.z * s.batch_b + (ulong)(column + j * SIDE < s.n ? column + j * SIDE : 0) * s.column_b;
    for (uint first = 0; first < s.k; first += SIDE) {
        const bool deep_a = first + at.x < s.k, deep_b = first + at.y < s.k;
        const uint k_a = (deep_a ? first + at.x : 0) * s.k_a, k_b = (deep_b ? first + at.y : 0) * s.k_b;
        float left[ROWS], right[COLUMNS];
#pragma unroll
        for (uint r = 0; r < ROWS; r++)
            left[r] = (float)from_a[r][k_a];
#pragma unroll
        for (uint j = 0; j < COLUMNS; j++)
            right[j] = (float)from_b[j][k_b];
#pragma unroll
        for (uint r = 0; r < ROWS; r++)
            put_a[r * SIDE * SIDE] = row + r * SIDE < s.m && deep_a ? left[r] : 0.0f;
#pragma unroll
        for (uint j = 0; j < COLUMNS; j++)
            block_b[at.y][at.x + j * SIDE] = column + j * SIDE < s.n && deep_b ? right[j] : 0.0f;
        threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
        for (uint k = 0; k < SIDE / 4; k++) {
            float4 piece[ROWS];
#pragma unroll
            for (uint r = 0; r < ROWS; r++)
                piece[r] = block_a[at.y + r * SIDE][k];
#pragma unroll
            for (uint i = 0; i < 4; i++)
#pragma unroll
                for (uint j = 0; j < COLUMNS; j++) {
                    const float factor = block_b[4 * k + i][at.x + j * SIDE];
#pragma unroll
                    for (uint r = 0; r < ROWS; r++)
                        sum[r][j] = fma(piece[r][i], factor, sum[r][j]);
                }
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    c += (ulong)group.z * s.batch_c + (ulong)row * s.n + column;
#pragma unroll
    for (uint r = 0; r < ROWS; r++)
#pragma unroll
        for (uint j = 0; j < COLUMNS; j++) {
            device T *const to = c + (ulong)(r * SIDE) * s.n + j * SIDE;
            if (row + r * SIDE < s.m && column + j * SIDE < s.n)
                to[0] = (T)(ADDS ? s.alpha * sum[r][j] + s.beta * (float)to[0] : sum[r][j]);
        }
}

// The same without threadgroup memory: both operands come from device memory, element by element.
template <typename T, bool ADDS>
[[kernel]] void direct(device const T *a [[buffer(0)]], device const T *b [[buffer(1)]], device T *c [[buffer(2)]],
                       constant product_sizes &s [[buffer(3)]], uint3 at [[thread_position_in_grid]])
{
    a += (ulong)at.z * s.batch_a + (ulong)at.y * s.row_a;
    b += (ulong)at.z * s.batch_b + (ulong)at.x * s.column_b;
    float sum = 0;
    for (uint k = 0; k < s.k; k++)
        sum = fma((float)a[(ulong)k * s.k_a], (float)b[(ulong)k * s.k_b], sum);
    device T *const to = c + (ulong)at.z * s.batch_c + (ulong)at.y * s.n + at.x;
    to[0] = (T)(ADDS ? s.alpha * sum + s.beta * (float)to[0] : sum);
}

// Parts of a softmax, an element a thread: exponentials below a row's largest, quotients by a row's sum. x counts elements of a
// row, y rows.
template <typename T>
[[kernel]] void exp_less(device const T *in [[buffer(0)]], device const float *most [[buffer(1)]], device T *out [[buffer(2)]],
                         constant uint &length [[buffer(3)]], uint2 at [[thread_position_in_grid]])
{
    const ulong place = (ulong)at.y * length + at.x;
    out[place] = (T)exp((float)in[place] - most[at.y]);
}
template <typename T>
[[kernel]] void over(device T *out [[buffer(0)]], device const float *sum [[buffer(1)]], constant uint &length [[buffer(2)]],
                     uint2 at [[thread_position_in_grid]])
{
    const ulong place = (ulong)at.y * length + at.x;
    out[place] = (T)((float)out[place] / sum[at.y]);
}

// Short rows, several in a simdgroup: an element a lane, in pieces of `width` lanes, a power of two.
struct short_sizes {
    uint rows, length, width;
};
template <typename T>
[[kernel]] void softmax_short(device const T *in [[buffer(0)]], device T *out [[buffer(1)]], constant short_sizes &s [[buffer(2)]],
                              uint at [[thread_position_in_grid]])
{
    const uint row = at / s.width, element = at % s.width;
    const bool there = row < s.rows && element < s.length;
    const ulong place = there ? (ulong)row * s.length + element : 0;
    const float x = there ? (float)in[place] : -INFINITY;
    float most = x;
    for (ushort step = (ushort)(s.width / 2); step; step /= 2)
        most = max(most, simd_shuffle_xor(most, step));
    const float power = exp(x - most);
    float sum = power;
    for (ushort step = (ushort)(s.width / 2); step; step /= 2)
        sum += simd_shuffle_xor(sum, step);
    if (there)
        out[place] = (T)(power / sum);
}

// Long rows in one kernel: a threadgroup reads its row three times.
static float largest(float value, threadgroup float *of, uint lane, uint simdgroup, uint simdgroups)
{
    value = simd_max(value);
    if (lane == 0)
        of[simdgroup] = value;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    return simd_max(lane < simdgroups ? of[lane] : -INFINITY);
}
static float total(float value, threadgroup float *of, uint lane, uint simdgroup, uint simdgroups)
{
    value = simd_sum(value);
    if (lane == 0)
        of[simdgroup] = value;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    return simd_sum(lane < simdgroups ? of[lane] : 0.0f);
}
template <typename T>
[[kernel]] void softmax_passes(device const T *in [[buffer(0)]], device T *out [[buffer(1)]],
                               constant uint &length [[buffer(2)]], uint row [[threadgroup_position_in_grid]],
                               uint thread_index [[thread_index_in_threadgroup]], uint threads [[threads_per_threadgroup]],
                               uint lane [[thread_index_in_simdgroup]], uint simdgroup [[simdgroup_index_in_threadgroup]],
                               uint simdgroups [[simdgroups_per_threadgroup]])
{
    threadgroup float most_of[32], sum_of[32];
    in += (ulong)row * length;
    out += (ulong)row * length;
    float most = -INFINITY, sum = 0;
    for (uint i = thread_index; i < length; i += threads) {
        const float x = (float)in[i];
        most = x > most ? x : most;
    }
    most = largest(most, most_of, lane, simdgroup, simdgroups);
    for (uint i = thread_index; i < length; i += threads)
        sum += exp((float)in[i] - most);
    sum = 1 / total(sum, sum_of, lane, simdgroup, simdgroups);
    for (uint i = thread_index; i < length; i += threads)
        out[i] = (T)(exp((float)in[i] - most) * sum);
}

// The place of the largest or smallest of what lies `step` apart: a result a thread.
struct place_sizes {
    uint length, step;      // elements of a result, and how far apart they are
    uint inner, outer_step; // results that lie side by side, and from one such row to the next
};
template <typename T, bool MAX>
[[kernel]] void place_of(device const T *in [[buffer(0)]], device uint *out [[buffer(1)]], constant place_sizes &s [[buffer(2)]],
                         uint result [[thread_position_in_grid]])
{
    in += (ulong)(result / s.inner) * s.outer_step + result % s.inner;
    float best = (float)in[0];
    uint place = 0;
    for (uint i = 1; i < s.length; i++) {
        const float x = (float)in[(ulong)i * s.step];
        const bool wins = MAX ? x > best : x < best;
        best = wins ? x : best;
        place = wins ? i : place;
    }
    out[result] = place;
}

// Images N H W C as N C H W: x counts pixels, y channels, z images.
template <typename T>
[[kernel]] void channels_first(device const T *in [[buffer(0)]], device T *out [[buffer(1)]], constant uint2 &size [[buffer(2)]],
                               uint3 at [[thread_position_in_grid]])
{
    const uint pixels = size.x, channels = size.y;
    out[((ulong)at.z * channels + at.y) * pixels + at.x] = in[((ulong)at.z * pixels + at.x) * channels + at.y];
}

// A convolution of few channels or filters, images N H W C and weights O R S C: a pixel a thread, or two, and eight filters at a time, whose
// weights pass through threadgroup memory, as many taps at a time as find room. Channels come in fours, which are loaded together, or
// are three.
struct few_sizes {
    uint images, channels, height, width, filters, rows, columns, stride, pad, out_height, out_width;
    uint taps; // at a time
};
template <uint EACH>
static void load(float value[EACH], device const float *from)
{
    if (EACH == 4) {
        const float4 four = *(device const float4 *)from;
        value[0] = four.x, value[1] = four.y, value[2] = four.z, value[3] = four.w;
    } else {
#pragma unroll
        for (uint i = 0; i < EACH; i++)
            value[i] = from[i];
    }
}
template <uint EACH>
static void load(float value[EACH], device const half *from)
{
    if (EACH == 4) {
        const half4 four = *(device const half4 *)from;
        value[0] = (float)four.x, value[1] = (float)four.y, value[2] = (float)four.z, value[3] = (float)four.w;
    } else {
#pragma unroll
        for (uint i = 0; i < EACH; i++)
            value[i] = (float)from[i];
    }
}
template <typename T, uint EACH, uint PIXELS>
[[kernel, max_total_threads_per_threadgroup(256)]] void conv_few(
    device const T *in [[buffer(0)]], device const T *weights [[buffer(1)]], device T *out [[buffer(2)]],
    constant few_sizes &s [[buffer(3)]], uint3 group [[threadgroup_position_in_grid]],
    uint thread_index [[thread_index_in_threadgroup]])
{
    threadgroup float4 weight[2 * 256]; // of so many channels and taps
    threadgroup float *const put = (threadgroup float *)&weight[0];
    const uint depth = s.rows * s.columns * s.channels, filter = group.y * 8, step = s.taps * s.channels;
    const uint first_pixel = group.x * 256 * PIXELS + thread_index, pixels = s.images * s.out_height * s.out_width;
    int left[PIXELS], top[PIXELS];
    uint image[PIXELS];
    float4 sum_1[PIXELS], sum_2[PIXELS];
#pragma unroll
    for (uint p = 0; p < PIXELS; p++) {
        const uint pixel = first_pixel + p * 256 < pixels ? first_pixel + p * 256 : 0, line = pixel / s.out_width;
        image[p] = line / s.out_height;
        left[p] = (int)(pixel % s.out_width * s.stride) - (int)s.pad;
        top[p] = (int)(line % s.out_height * s.stride) - (int)s.pad;
        sum_1[p] = sum_2[p] = 0;
    }
    uint row = 0, column = 0;
    for (uint first = 0; first < depth; first += step) {
        const uint deep = min(step, depth - first);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint i = thread_index; i < 8 * deep; i += 256)
            put[i] = filter + i % 8 < s.filters ? (float)weights[(filter + i % 8) * depth + first + i / 8] : 0.0f;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        for (uint k = 0; k < deep;) {
            device const T *from[PIXELS];
            bool inside[PIXELS];
#pragma unroll
            for (uint p = 0; p < PIXELS; p++) {
                const int y = top[p] + (int)row, x = left[p] + (int)column;
                inside[p] = y >= 0 && y < (int)s.height && x >= 0 && x < (int)s.width;
                from[p] = in + (((ulong)image[p] * s.height + (uint)(inside[p] ? y : 0)) * s.width + (uint)(inside[p] ? x : 0)) *
                                   s.channels;
            }
            for (uint c = 0; c < s.channels; c += EACH, k += EACH) {
                float value[PIXELS][EACH];
#pragma unroll
                for (uint p = 0; p < PIXELS; p++)
                    load<EACH>(value[p], from[p] + c);
#pragma unroll
                for (uint i = 0; i < EACH; i++) {
                    const float4 weight_1 = weight[2 * (k + i)], weight_2 = weight[2 * (k + i) + 1];
#pragma unroll
                    for (uint p = 0; p < PIXELS; p++) {
                        const float part = inside[p] ? value[p][i] : 0.0f;
                        sum_1[p] += part * weight_1;
                        sum_2[p] += part * weight_2;
                    }
                }
            }
            column = column + 1 == s.columns ? 0 : column + 1;
            row += column == 0 ? 1 : 0;
        }
    }
#pragma unroll
    for (uint p = 0; p < PIXELS; p++) {
        device T *const to = out + (ulong)(first_pixel + p * 256) * s.filters + filter;
#pragma unroll
        for (uint i = 0; i < 8; i++)
            if (first_pixel + p * 256 < pixels && filter + i < s.filters)
                to[i] = (T)(i < 4 ? sum_1[p][i % 4] : sum_2[p][i % 4]);
    }
}

#define TILED(name, T, ...) \
    template [[host_name(name)]] kernel void tiled<T, __VA_ARGS__>(device const T *, device const T *, device T *, \
                                                                   constant product_sizes &, uint3, uint3);
#define ALL(T) \
    template [[host_name("mps_conv_few_" #T)]] kernel void conv_few<T, 4, 1>(device const T *, device const T *, device T *, \
                                                                          constant few_sizes &, uint3, uint); \
    template [[host_name("mps_conv_three_" #T)]] kernel void conv_few<T, 3, 2>(device const T *, device const T *, device T *, \
                                                                           constant few_sizes &, uint3, uint); \
    TILED("mps_tiled_1_" #T, T, 1, false) TILED("mps_tiled_add_1_" #T, T, 1, true) \
    TILED("mps_tiled_2_" #T, T, 2, false) TILED("mps_tiled_add_2_" #T, T, 2, true) \
    template [[host_name("mps_direct_" #T)]] kernel void direct<T, false>(device const T *, device const T *, device T *, \
                                                                          constant product_sizes &, uint3); \
    template [[host_name("mps_direct_add_" #T)]] kernel void direct<T, true>(device const T *, device const T *, device T *, \
                                                                             constant product_sizes &, uint3); \
    template [[host_name("mps_softmax_short_" #T)]] kernel void softmax_short<T>(device const T *, device T *, \
                                                                                 constant short_sizes &, uint); \
    template [[host_name("mps_exp_less_" #T)]] kernel void exp_less<T>(device const T *, device const float *, device T *, \
                                                                       constant uint &, uint2); \
    template [[host_name("mps_over_" #T)]] kernel void over<T>(device T *, device const float *, constant uint &, uint2); \
    template [[host_name("mps_softmax_passes_" #T)]] kernel void softmax_passes<T>(device const T *, device T *, constant uint &, \
                                                                                   uint, uint, uint, uint, uint, uint); \
    template [[host_name("mps_argmax_" #T)]] kernel void place_of<T, true>(device const T *, device uint *, \
                                                                           constant place_sizes &, uint); \
    template [[host_name("mps_argmin_" #T)]] kernel void place_of<T, false>(device const T *, device uint *, \
                                                                            constant place_sizes &, uint); \
    template [[host_name("mps_channels_first_" #T)]] kernel void channels_first<T>(device const T *, device T *, \
                                                                                   constant uint2 &, uint3);
ALL(float)
ALL(half)
