// Reductions as MLX launches them (mlx/backend/metal/reduce.cpp and kernels/reduce.metal, 0.0.7 to 0.30.1).
#include <metal_atomic>
#include <metal_simdgroup>
#include <metal_stdlib>
using namespace metal;

struct op_sum {
    static constexpr constant float start = 0;
    static float of(float a, float b) { return a + b; }
    static float lanes(float a) { return simd_sum(a); }
    static void to(device atomic_float *out, float value) { atomic_fetch_add_explicit(out, value, memory_order_relaxed); }
};
// Largest and smallest are kept by comparing and exchanging.
template <bool MAX>
struct op_extreme {
    static constexpr constant float start = MAX ? -INFINITY : INFINITY;
    static float of(float a, float b) { return (MAX ? a > b : a < b) ? a : b; }
    static float lanes(float a) { return MAX ? simd_max(a) : simd_min(a); }
    static void to(device atomic_float *out, float value)
    {
        float there = atomic_load_explicit(out, memory_order_relaxed);
        while ((MAX ? value > there : value < there) &&
               !atomic_compare_exchange_weak_explicit(out, &there, value, memory_order_relaxed, memory_order_relaxed))
            ;
    }
};
typedef op_extreme<true> op_max;
typedef op_extreme<false> op_min;

// ---- the place of the largest or smallest ----

// Sizes and steps have 64 bits, and the places of a result are found dimension by dimension, in both arrays: for short reductions
// that is most of the work.
struct arg_sizes {
    ulong length, step;          // elements of a reduction, and how far apart they are
    ulong in_step[2], out_step[2]; // what remains, slowest first: from one place of a dimension to the next
    int shape[2];
    uint dimensions;
};
static ulong place_of(uint result, constant arg_sizes &s, constant ulong *step)
{
    ulong place = 0;
#pragma unroll
    for (int i = 1; i >= 0; i--) {
        if ((uint)i >= s.dimensions)
            continue;
        place += (result % (uint)s.shape[i]) * step[i];
        result /= (uint)s.shape[i];
    }
    return place;
}
struct found {
    uint place;
    float value;
};
template <bool MAX>
static found better(found a, found b)
{
    const bool wins = (MAX ? b.value > a.value : b.value < a.value) || (b.value == a.value && b.place < a.place);
    return found{wins ? b.place : a.place, wins ? b.value : a.value};
}
template <bool MAX>
static found over_lanes(found a)
{
#pragma unroll
    for (ushort step = 16; step; step /= 2)
        a = better<MAX>(a, found{simd_shuffle_down(a.place, step), simd_shuffle_down(a.value, step)});
    return a;
}

// A threadgroup for each result; four elements a thread and round.
template <typename T, bool MAX>
[[kernel]] void arg(device const T *in [[buffer(0)]], device uint *out [[buffer(1)]], constant arg_sizes &s [[buffer(2)]],
                    uint at [[thread_position_in_grid]], uint thread_index [[thread_index_in_threadgroup]],
                    uint threads [[threads_per_threadgroup]], uint lane [[thread_index_in_simdgroup]],
                    uint simdgroup [[simdgroup_index_in_threadgroup]])
{
    threadgroup found best_of[32];
    const ulong from = place_of(at / threads, s, s.in_step), to = place_of(at / threads, s, s.out_step);
    found best = {0, MAX ? -INFINITY : INFINITY};
    const ulong rounds = (s.length + 4 * threads - 1) / (4 * threads);
    for (uint round = 0; round < rounds; round++) {
        const uint first = (round * threads + thread_index) * 4;
        device const T *next = in + from + first * s.step;
        float value[4];
#pragma unroll
        for (uint i = 0; i < 4; i++, next += s.step)
            value[i] = first + i < s.length ? (float)*next : (MAX ? -INFINITY : INFINITY);
#pragma unroll
        for (uint i = 0; i < 4; i++) {
            const bool wins = MAX ? value[i] > best.value : value[i] < best.value;
            best.place = wins ? first + i : best.place;
            best.value = wins ? value[i] : best.value;
        }
    }
    best = over_lanes<MAX>(best);
    if (lane == 0)
        best_of[simdgroup] = best;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (simdgroup)
        return;
    best = found{0, MAX ? -INFINITY : INFINITY};
    if (lane < (threads + 31) / 32)
        best = best_of[lane];
    best = over_lanes<MAX>(best);
    if (thread_index == 0)
        out[to] = best.place;
}

// ---- up to 0.16: results are set first, and each threadgroup adds its part by an atomic operation ----

template <typename OP>
[[kernel]] void init(device float *out [[buffer(0)]], uint at [[thread_position_in_grid]])
{
    out[at] = OP::start;
}

template <typename OP>
static float over_simdgroups(float sum, threadgroup float *sums, uint lane, uint simdgroup, uint simdgroups)
{
    sum = OP::lanes(sum);
    if (lane == 0)
        sums[simdgroup] = sum;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    return OP::lanes(lane < simdgroups ? sums[lane] : OP::start);
}

struct all_sizes {
    uint count, stride; // elements; of all threads together, from one round to the next
};
template <typename T, typename OP>
[[kernel]] void all_atomic(device const T *in [[buffer(0)]], device atomic_float *out [[buffer(1)]],
                           constant all_sizes &s [[buffer(2)]], uint at [[thread_position_in_grid]],
                           uint thread_index [[thread_index_in_threadgroup]], uint lane [[thread_index_in_simdgroup]],
                           uint simdgroup [[simdgroup_index_in_threadgroup]], uint simdgroups [[simdgroups_per_threadgroup]])
{
    threadgroup float sums[32];
    float sum = OP::start;
    uint first = at * 16;
    for (; first < s.count && s.count - first >= 16; first += s.stride) {
        device const T *const from = in + first;
        float value[16];
#pragma unroll
        for (uint i = 0; i < 16; i++)
            value[i] = (float)from[i];
#pragma unroll
        for (uint i = 0; i < 16; i++)
            sum = OP::of(sum, value[i]);
    }
    for (uint i = first; i < s.count && i < first + 16; i++)
        sum = OP::of(sum, (float)in[i]);
    sum = over_simdgroups<OP>(sum, sums, lane, simdgroup, simdgroups);
    if (thread_index == 0)
        OP::to(out, sum);
}

// A threadgroup for each row, 16 elements a thread and round.
template <typename T, typename OP>
[[kernel]] void row_atomic(device const T *in [[buffer(0)]], device atomic_float *out [[buffer(1)]], constant uint &length
                           [[buffer(2)]], uint row [[threadgroup_position_in_grid]],
                           uint thread_index [[thread_index_in_threadgroup]], uint threads [[threads_per_threadgroup]],
                           uint lane [[thread_index_in_simdgroup]], uint simdgroup [[simdgroup_index_in_threadgroup]],
                           uint simdgroups [[simdgroups_per_threadgroup]])
{
    threadgroup float sums[32];
    float sum = OP::start;
    in += (ulong)row * length;
    uint first = thread_index * 16;
    for (; first + 16 <= length; first += threads * 16) {
        device const T *const from = in + first;
        float value[16];
#pragma unroll
        for (uint i = 0; i < 16; i++)
            value[i] = (float)from[i];
#pragma unroll
        for (uint i = 0; i < 16; i++)
            sum = OP::of(sum, value[i]);
    }
    for (uint i = first; i < length && i < first + 16; i++)
        sum = OP::of(sum, (float)in[i]);
    sum = over_simdgroups<OP>(sum, sums, lane, simdgroup, simdgroups);
    if (thread_index == 0)
        OP::to(out + row, sum);
}

// 128 columns and 16 ROWS rows: 16 elements of a column a thread, then the first row of threads adds the others' sums.
struct column_sizes {
    uint rows, columns;
    uint outer_step; // z: from one matrix to the next
};
template <typename T, typename OP, uint ROWS>
[[kernel]] void column_atomic(device const T *in [[buffer(0)]], device atomic_float *out [[buffer(1)]],
                              constant column_sizes &s [[buffer(2)]], uint3 at [[thread_position_in_grid]],
                              uint2 in_group [[thread_position_in_threadgroup]])
{
    threadgroup float sums[128 * ROWS];
    float sum = OP::start;
    const uint column = at.x, row = at.y * 16;
    in += (ulong)at.z * s.outer_step;
    if (column < s.columns && row + 16 <= s.rows) {
        device const T *const from = in + (ulong)row * s.columns + column;
#pragma unroll
        for (uint i = 0; i < 16; i++)
            sum = OP::of(sum, (float)from[(ulong)i * s.columns]);
    } else if (column < s.columns) {
        for (uint i = row; i < s.rows; i++)
            sum = OP::of(sum, (float)in[(ulong)i * s.columns + column]);
    }
    sums[in_group.y * 128 + in_group.x] = sum;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (in_group.y || column >= s.columns)
        return;
#pragma unroll
    for (uint i = 1; i < ROWS; i++)
        sum = OP::of(sum, sums[i * 128 + in_group.x]);
    OP::to(out + at.z * s.columns + column, sum);
}

// ---- from 0.7: short rows ----

template <typename T, typename OP>
[[kernel]] void row_small(device const T *in [[buffer(0)]], device float *out [[buffer(1)]], constant uint &length [[buffer(2)]],
                          uint row [[thread_position_in_grid]])
{
    float sum = OP::start;
    in += (ulong)row * length;
    for (uint i = 0; i < length; i++)
        sum = OP::of(sum, (float)in[i]);
    out[row] = sum;
}

template <typename T, typename OP>
[[kernel]] void row_medium(device const T *in [[buffer(0)]], device float *out [[buffer(1)]], constant uint2 &sizes [[buffer(2)]],
                           uint group [[threadgroup_position_in_grid]], uint lane [[thread_index_in_simdgroup]],
                           uint simdgroup [[simdgroup_index_in_threadgroup]], uint simdgroups [[simdgroups_per_threadgroup]])
{
    const uint row = group * simdgroups + simdgroup;
    float sum = OP::start;
    if (row >= sizes.y)
        return;
    in += (ulong)row * sizes.x;
    for (uint i = lane; i < sizes.x; i += 32)
        sum = OP::of(sum, (float)in[i]);
    sum = OP::lanes(sum);
    if (lane == 0)
        out[row] = sum;
}

// ---- from 0.17: two passes without atomic operations ----

// A threadgroup for each row of `row` elements, four a thread and round.
struct pass_sizes {
    uint count, row;
};
template <typename T, typename OP>
[[kernel]] void all_pass(device const T *in [[buffer(0)]], device float *out [[buffer(1)]], constant pass_sizes &s [[buffer(2)]],
                         uint3 group [[threadgroup_position_in_grid]], uint thread_index [[thread_index_in_threadgroup]],
                         uint3 threads [[threads_per_threadgroup]], uint lane [[thread_index_in_simdgroup]],
                         uint simdgroup [[simdgroup_index_in_threadgroup]], uint simdgroups [[simdgroups_per_threadgroup]])
{
    threadgroup float sums[32];
    float sum = OP::start;
    const uint begin = group.y * s.row, length = min(s.row, s.count > begin ? s.count - begin : 0);
    in += begin;
    uint first = thread_index * 4;
    for (; first + 4 <= length; first += threads.x * 4) {
        device const T *const from = in + first;
        float value[4];
#pragma unroll
        for (uint i = 0; i < 4; i++)
            value[i] = (float)from[i];
#pragma unroll
        for (uint i = 0; i < 4; i++)
            sum = OP::of(sum, value[i]);
    }
    for (uint i = first; i < length && i < first + 4; i++)
        sum = OP::of(sum, (float)in[i]);
    sum = over_simdgroups<OP>(sum, sums, lane, simdgroup, simdgroups);
    if (thread_index == 0)
        out[group.y] = sum;
}

// Four rows a threadgroup.
template <typename T, typename OP>
[[kernel]] void row_simple(device const T *in [[buffer(0)]], device float *out [[buffer(1)]], constant uint2 &sizes [[buffer(2)]],
                           uint group [[threadgroup_position_in_grid]], uint thread_index [[thread_index_in_threadgroup]],
                           uint threads [[threads_per_threadgroup]], uint lane [[thread_index_in_simdgroup]],
                           uint simdgroup [[simdgroup_index_in_threadgroup]], uint simdgroups [[simdgroups_per_threadgroup]])
{
    threadgroup float sums[4][32];
    const uint length = sizes.x, row0 = min(group * 4, sizes.y < 4 ? 0 : sizes.y - 4);
    float sum[4];
    in += (ulong)row0 * length;
#pragma unroll
    for (uint m = 0; m < 4; m++) {
        sum[m] = OP::start;
        if (row0 + m >= sizes.y)
            continue;
        device const T *const row = in + (ulong)m * length;
        uint first = thread_index * 4;
        for (; first + 4 <= length; first += threads * 4)
#pragma unroll
            for (uint i = 0; i < 4; i++)
                sum[m] = OP::of(sum[m], (float)row[first + i]);
        for (uint i = first; i < length && i < first + 4; i++)
            sum[m] = OP::of(sum[m], (float)row[i]);
        sum[m] = OP::lanes(sum[m]);
        if (lane == 0)
            sums[m][simdgroup] = sum[m];
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
    for (uint m = 0; m < 4; m++) {
        const float all = OP::lanes(lane < simdgroups ? sums[m][lane] : OP::start);
        if (thread_index == 0 && row0 + m < sizes.y)
            out[row0 + m] = all;
    }
}

// Tiles of 32 columns: 256 threads, eight rows of four neighbouring columns at a time each.
template <typename T, typename OP>
[[kernel]] void column_looped(device const T *in [[buffer(0)]], device float *out [[buffer(1)]],
                              constant column_sizes &s [[buffer(2)]], uint3 group [[threadgroup_position_in_grid]],
                              uint thread_index [[thread_index_in_threadgroup]])
{
    threadgroup float sums[32 * 32];
    const uint column = group.x * 32 + thread_index % 8 * 4, part = thread_index / 8;
    float sum[4] = {OP::start, OP::start, OP::start, OP::start};
    in += (ulong)group.z * s.outer_step;
    for (uint row = part; row < s.rows; row += 32) {
        device const T *const from = in + (ulong)row * s.columns + column;
        if (column + 4 <= s.columns) {
#pragma unroll
            for (uint i = 0; i < 4; i++)
                sum[i] = OP::of(sum[i], (float)from[i]);
        } else {
#pragma unroll
            for (uint i = 0; i < 4; i++)
                if (column + i < s.columns)
                    sum[i] = OP::of(sum[i], (float)from[i]);
        }
    }
#pragma unroll
    for (uint i = 0; i < 4; i++)
        sums[part * 32 + thread_index % 8 * 4 + i] = sum[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (thread_index >= 32 || group.x * 32 + thread_index >= s.columns)
        return;
    float all = OP::start;
    for (uint i = 0; i < 32; i++)
        all = OP::of(all, sums[i * 32 + thread_index]);
    out[(ulong)group.z * s.columns + group.x * 32 + thread_index] = all;
}

#define ARG(name, T, MAX) \
    template [[host_name(name)]] kernel void arg<T, MAX>(device const T *, device uint *, constant arg_sizes &, uint, uint, uint, \
                                                         uint, uint);
ARG("mlx_argmax_float", float, true)
ARG("mlx_argmin_float", float, false)
ARG("mlx_argmax_half", half, true)
ARG("mlx_argmin_half", half, false)

#define ALL(op, T) \
    template [[host_name("mlx_init_" #op)]] kernel void init<op_##op>(device float *, uint); \
    template [[host_name("mlx_all_atomic_" #op)]] kernel void all_atomic<T, op_##op>( \
        device const T *, device atomic_float *, constant all_sizes &, uint, uint, uint, uint, uint); \
    template [[host_name("mlx_row_atomic_" #op)]] kernel void row_atomic<T, op_##op>( \
        device const T *, device atomic_float *, constant uint &, uint, uint, uint, uint, uint, uint); \
    template [[host_name("mlx_column_atomic_" #op "_4")]] kernel void column_atomic<T, op_##op, 4>( \
        device const T *, device atomic_float *, constant column_sizes &, uint3, uint2); \
    template [[host_name("mlx_column_atomic_" #op "_8")]] kernel void column_atomic<T, op_##op, 8>( \
        device const T *, device atomic_float *, constant column_sizes &, uint3, uint2); \
    template [[host_name("mlx_row_small_" #op)]] kernel void row_small<T, op_##op>(device const T *, device float *, \
                                                                                   constant uint &, uint); \
    template [[host_name("mlx_row_medium_" #op)]] kernel void row_medium<T, op_##op>(device const T *, device float *, \
                                                                                     constant uint2 &, uint, uint, uint, uint); \
    template [[host_name("mlx_all_pass_" #op)]] kernel void all_pass<T, op_##op>( \
        device const T *, device float *, constant pass_sizes &, uint3, uint, uint3, uint, uint, uint); \
    template [[host_name("mlx_row_simple_" #op)]] kernel void row_simple<T, op_##op>( \
        device const T *, device float *, constant uint2 &, uint, uint, uint, uint, uint, uint); \
    template [[host_name("mlx_column_looped_" #op)]] kernel void column_looped<T, op_##op>( \
        device const T *, device float *, constant column_sizes &, uint3, uint);
ALL(sum, float)
ALL(max, float)
ALL(min, float)
