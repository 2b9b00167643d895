// Matrix times vector as MLX has it (mlx/backend/metal/kernels/gemv.metal): rows as outputs, and columns as outputs.
#include <metal_simdgroup>
#include <metal_stdlib>
using namespace metal;

struct gemv_sizes {
    uint in, out, pitch;                            // elements of a sum, results, from one row of the matrix to the next
    uint batch_matrix, batch_vector, batch_out;     // from one of a batch to the next
    uint source_step;                               // of what is added
    float alpha, beta;
};

// EDGE: what is beyond `count` counts as zeros.
template <typename T, uint TN, bool EDGE>
static void load(thread float (&to)[TN], device const T *from, uint first, uint count)
{
    device const T *const at = from + first;
#pragma unroll
    for (uint i = 0; i < TN; i++)
        to[i] = !EDGE || first + i < count ? (float)at[i] : 0.0f;
}

// Four rows of four columns, from column `first` on.
template <typename T, bool STAGED, bool EDGE>
static void gemv_round(thread float (&sum)[4], threadgroup float *staged, device const T *matrix, device const T *vector,
                       constant gemv_sizes &s, uint first, uint place, bool stages)
{
    float x[4], y[4];
    if (STAGED) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (stages) {
            load<T, 4, EDGE>(x, vector, first, s.in);
#pragma unroll
            for (uint i = 0; i < 4; i++)
                staged[place + i] = x[i];
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
        for (uint i = 0; i < 4; i++)
            x[i] = staged[place + i];
    } else {
        load<T, 4, EDGE>(x, vector, first, s.in);
    }
#pragma unroll
    for (uint m = 0; m < 4; m++) {
        if (EDGE && m >= s.out)
            continue;
        load<T, 4, EDGE>(y, matrix + (ulong)m * s.pitch, first, s.in);
#pragma unroll
        for (uint i = 0; i < 4; i++)
            sum[m] += x[i] * y[i];
    }
}

// Results are rows. BM x BN simdgroups, of which each is SM x SN lanes; a lane has TM rows and TN columns at a time. STAGED: the
// first simdgroup puts the piece of the vector into threadgroup memory, between two barriers.
template <typename T, uint BM, uint BN, uint SM, uint SN, bool STAGED, bool ADDS>
[[kernel, max_total_threads_per_threadgroup(BM * BN * 32)]] void gemv(
    device const T *matrix [[buffer(0)]], device const T *vector [[buffer(1)]], device T *out [[buffer(2)]],
    device const T *source [[buffer(3)]], constant gemv_sizes &s [[buffer(4)]], uint3 group [[threadgroup_position_in_grid]],
    uint simdgroup [[simdgroup_index_in_threadgroup]], uint lane [[thread_index_in_simdgroup]])
{
    constexpr uint TM = 4, TN = 4, ROUND = BN * SN * TN;
    threadgroup float staged[STAGED ? ROUND : 1];
    threadgroup float sums[BN > 1 ? BM * BN * SM * TM : 1];
    matrix += (ulong)group.z * s.batch_matrix;
    vector += (ulong)group.z * s.batch_vector;
    out += (ulong)group.z * s.batch_out;
    const uint down = simdgroup / BN, across = simdgroup % BN;
    const uint row_lane = lane / SN, column_lane = lane % SN;
    uint row = group.x * BM * SM * TM + (down * SM + row_lane) * TM;
    if (row >= s.out && !STAGED && BN == 1)
        return;
    const uint own = row; // the last rows are computed twice; what is added to is written once
    row = row + TM <= s.out ? row : s.out < TM ? 0 : s.out - TM;
    matrix += (ulong)row * s.pitch;
    float sum[TM] = {0, 0, 0, 0};
    const uint at = (across * SN + column_lane) * TN;
    uint round = 0;
    for (; round + ROUND <= s.in && s.out >= TM; round += ROUND)
        gemv_round<T, STAGED, false>(sum, staged, matrix, vector, s, round + at, column_lane * TN, simdgroup == 0);
    for (; round < s.in; round += ROUND)
        gemv_round<T, STAGED, true>(sum, staged, matrix, vector, s, round + at, column_lane * TN, simdgroup == 0);
#pragma unroll
    for (uint m = 0; m < TM; m++) {
        if (SN == 32) {
            sum[m] = simd_sum(sum[m]);
        } else {
#pragma unroll
            for (uint step = SN / 2; step; step /= 2)
                sum[m] += simd_shuffle_down(sum[m], step);
        }
    }
    if (BN > 1) {
        if (column_lane == 0)
#pragma unroll
            for (uint m = 0; m < TM; m++)
                sums[((down * SM + row_lane) * TM + m) * BN + across] = sum[m];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (across == 0)
#pragma unroll
            for (uint m = 0; m < TM; m++)
                for (uint i = 1; i < BN; i++)
                    sum[m] += sums[((down * SM + row_lane) * TM + m) * BN + i];
    }
    if (across || column_lane)
        return;
#pragma unroll
    for (uint m = 0; m < TM; m++)
        if (row + m < s.out && (!ADDS || row + m >= own))
            out[row + m] = (T)(ADDS ? s.alpha * sum[m] + s.beta * (float)source[(row + m) * s.source_step] : sum[m]);
}

// Four columns of every fourth row of a team, from `row` on.
template <typename T, bool EDGE>
static void columns_of(thread float (&sum)[4], device const T *matrix, device const T *vector, constant gemv_sizes &s, uint column,
                       uint row)
{
    float x[4], y[4];
    load<T, 4, EDGE>(x, vector, row, s.in);
#pragma unroll
    for (uint m = 0; m < 4; m++) {
        if (EDGE && row + m >= s.in)
            continue;
        load<T, 4, EDGE>(y, matrix + (ulong)(row + m) * s.pitch, column, s.out);
#pragma unroll
        for (uint i = 0; i < 4; i++)
            sum[i] += x[m] * y[i];
    }
}
template <typename T>
static void columns(thread float (&sum)[4], device const T *matrix, device const T *vector, constant gemv_sizes &s, uint column,
                    uint row, uint step, bool there)
{
    for (; there && s.out >= 4 && row + 4 <= s.in; row += step)
        columns_of<T, false>(sum, matrix, vector, s, column, row);
    for (; there && row < s.in; row += step)
        columns_of<T, true>(sum, matrix, vector, s, column, row);
}

// Results are columns, as versions up to 0.15.1 have it: BM x BN threads, partial sums of the BM rows through threadgroup memory.
template <typename T, uint BN, bool ADDS>
[[kernel, max_total_threads_per_threadgroup(8 * BN)]] void gemv_columns(
    device const T *matrix [[buffer(0)]], device const T *vector [[buffer(1)]], device T *out [[buffer(2)]],
    device const T *source [[buffer(3)]], constant gemv_sizes &s [[buffer(4)]], uint3 group [[threadgroup_position_in_grid]],
    uint2 thread_place [[thread_position_in_threadgroup]])
{
    constexpr uint BM = 8, TM = 4, TN = 4;
    threadgroup float sums[BM * BN * TN];
    matrix += (ulong)group.z * s.batch_matrix;
    vector += (ulong)group.z * s.batch_vector;
    out += (ulong)group.z * s.batch_out;
    uint column = (group.x * BN + thread_place.x) * TN;
    const bool there = column < s.out;
    const uint own = column;
    column = column + TN <= s.out ? column : s.out < TN ? 0 : s.out - TN;
    float sum[TN] = {0, 0, 0, 0};
    columns<T>(sum, matrix, vector, s, column, thread_place.y * TM, BM * TM, there);
#pragma unroll
    for (uint i = 0; i < TN; i++)
        sums[(thread_place.y * BN + thread_place.x) * TN + i] = sum[i];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (thread_place.y || !there)
        return;
#pragma unroll
    for (uint i = 0; i < TN; i++) {
        for (uint m = 1; m < BM; m++)
            sum[i] += sums[(m * BN + thread_place.x) * TN + i];
        if (column + i < s.out && (!ADDS || column + i >= own))
            out[column + i] =
                (T)(ADDS ? s.alpha * sum[i] + s.beta * (float)source[(column + i) * s.source_step] : sum[i]);
    }
}

// The same from 0.15.2 on: BN simdgroups of SM x SN lanes, sums over the rows of a simdgroup by shuffles.
template <typename T, uint BN, uint SM, uint SN, bool ADDS>
[[kernel, max_total_threads_per_threadgroup(BN * 32)]] void gemv_lanes(
    device const T *matrix [[buffer(0)]], device const T *vector [[buffer(1)]], device T *out [[buffer(2)]],
    device const T *source [[buffer(3)]], constant gemv_sizes &s [[buffer(4)]], uint3 group [[threadgroup_position_in_grid]],
    uint simdgroup [[simdgroup_index_in_threadgroup]], uint lane [[thread_index_in_simdgroup]])
{
    constexpr uint TM = 4, TN = 4;
    matrix += (ulong)group.z * s.batch_matrix;
    vector += (ulong)group.z * s.batch_vector;
    out += (ulong)group.z * s.batch_out;
    const uint row_lane = lane / SN;
    uint column = ((group.x * BN + simdgroup) * SN + lane % SN) * TN;
    const bool there = column < s.out;
    const uint own = column;
    column = column + TN <= s.out ? column : s.out < TN ? 0 : s.out - TN;
    float sum[TN] = {0, 0, 0, 0};
    columns<T>(sum, matrix, vector, s, column, row_lane * TM, SM * TM, there);
#pragma unroll
    for (uint i = 0; i < TN; i++)
#pragma unroll
        for (uint step = SM / 2; step; step /= 2)
            sum[i] += simd_shuffle_down(sum[i], SN * step);
    if (row_lane || !there)
        return;
#pragma unroll
    for (uint i = 0; i < TN; i++)
        if (column + i < s.out && (!ADDS || column + i >= own))
            out[column + i] =
                (T)(ADDS ? s.alpha * sum[i] + s.beta * (float)source[(column + i) * s.source_step] : sum[i]);
}

#define TYPES(T) device const T *, device const T *, device T *, device const T *, constant gemv_sizes &, uint3
#define ROWS(T, BM, BN, SM, SN, staged, STAGED) \
    template [[host_name("mlx_gemv" staged "_" #T "_" #BM "x" #BN "_" #SM "x" #SN)]] kernel void \
    gemv<T, BM, BN, SM, SN, STAGED, false>(TYPES(T), uint, uint); \
    template [[host_name("mlx_gemv_add" staged "_" #T "_" #BM "x" #BN "_" #SM "x" #SN)]] kernel void \
    gemv<T, BM, BN, SM, SN, STAGED, true>(TYPES(T), uint, uint);
#define COLUMNS(T, BN) \
    template [[host_name("mlx_gemv_t_" #T "_8x" #BN)]] kernel void gemv_columns<T, BN, false>(TYPES(T), uint2); \
    template [[host_name("mlx_gemv_t_add_" #T "_8x" #BN)]] kernel void gemv_columns<T, BN, true>(TYPES(T), uint2);
#define LANES(T, BN, SM, SN) \
    template [[host_name("mlx_gemv_t_" #T "_" #BN "_" #SM "x" #SN)]] kernel void gemv_lanes<T, BN, SM, SN, false>( \
        TYPES(T), uint, uint); \
    template [[host_name("mlx_gemv_t_add_" #T "_" #BN "_" #SM "x" #SN)]] kernel void gemv_lanes<T, BN, SM, SN, true>( \
        TYPES(T), uint, uint);
#define ALL(T) \
    ROWS(T, 4, 1, 1, 32, "_staged", true) ROWS(T, 8, 1, 1, 32, "_staged", true) ROWS(T, 4, 1, 1, 32, "", false) \
    ROWS(T, 8, 1, 1, 32, "", false) ROWS(T, 1, 1, 8, 4, "", false) ROWS(T, 1, 8, 1, 32, "", false) \
    COLUMNS(T, 8) COLUMNS(T, 16) COLUMNS(T, 64) COLUMNS(T, 128) \
    LANES(T, 2, 8, 4) LANES(T, 4, 8, 4) LANES(T, 16, 8, 4) LANES(T, 2, 4, 8) LANES(T, 4, 4, 8) LANES(T, 16, 4, 8)

ALL(float)
ALL(half)
