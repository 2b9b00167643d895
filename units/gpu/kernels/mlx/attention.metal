// MLX's fused attention (mlx/backend/metal/scaled_dot_product_attention.cpp and kernels, 0.24 to 0.30.1): few queries, a threadgroup
// each, whose simdgroups take turns of the keys; and many, 32 to a threadgroup, by products of 8x8 matrices.
#include "tile.metalh"

struct attention_sizes {
    uint queries, keys, heads_a_key; // of a head; query heads that share keys
    uint q_head, q_next, k_head, k_next, v_head, v_next, out_head, out_next; // elements from one head and one token to the next
    uint causal;                     // the last query sees all keys, those before it one less each
    float scale;
    uint parts; // of the keys
};

// ---- few queries ----

// A lane has D / 32 elements of the head. BN simdgroups.
template <typename T, uint D, uint BN>
struct one_query {
    static constant constexpr uint EACH = D / 32;
    float q[EACH], o[EACH], most, sum;

    void begin(device const T *query, float scale, uint lane)
    {
        most = -INFINITY;
        sum = 0;
#pragma unroll
        for (uint e = 0; e < EACH; e++) {
            q[e] = scale * (float)query[lane * EACH + e];
            o[e] = 0;
        }
    }
    void take(device const T *key, device const T *value)
    {
        float score = 0;
#pragma unroll
        for (uint e = 0; e < EACH; e++)
            score += q[e] * (float)key[e];
        score = simd_sum(score);
        const float larger = max(most, score), factor = exp(most - larger), weight = exp(score - larger);
        most = larger;
        sum = sum * factor + weight;
#pragma unroll
        for (uint e = 0; e < EACH; e++)
            o[e] = o[e] * factor + weight * (float)value[e];
    }
    void take_all(device const T *keys, device const T *values, constant attention_sizes &s, uint first, uint end, uint simdgroup,
                  uint lane)
    {
        keys += (ulong)(first + simdgroup) * s.k_next + lane * EACH;
        values += (ulong)(first + simdgroup) * s.v_next + lane * EACH;
        for (uint i = first + simdgroup; i < end; i += BN) {
            take(keys, values);
            keys += BN * s.k_next;
            values += BN * s.v_next;
        }
    }
};

#define QUERY(T, OUT) \
    device const T *q [[buffer(0)]], device const T *k [[buffer(1)]], device const T *v [[buffer(2)]], device OUT *out [[buffer(3)]]
#define WHERE \
    uint3 group [[threadgroup_position_in_grid]], uint simdgroup [[simdgroup_index_in_threadgroup]], \
        uint lane [[thread_index_in_simdgroup]]

// Keys that a query sees.
static uint seen(constant attention_sizes &s, uint query)
{
    return s.causal ? s.keys + 1 + query - s.queries : s.keys;
}

template <typename T, uint D>
[[kernel, max_total_threads_per_threadgroup(1024)]] void vector_attention(QUERY(T, T), constant attention_sizes &s [[buffer(4)]],
                                                                          WHERE)
{
    constexpr uint BN = 32;
    threadgroup float turned[BN * 32], largest[BN], sums[BN];
    one_query<T, D, BN> one;
    const uint head = group.x, query = group.y;
    one.begin(q + (ulong)head * s.q_head + (ulong)query * s.q_next, s.scale, lane);
    one.take_all(k + (ulong)(head / s.heads_a_key) * s.k_head, v + (ulong)(head / s.heads_a_key) * s.v_head, s, 0, seen(s, query),
                 simdgroup, lane);
    if (lane == 0) {
        largest[simdgroup] = one.most;
        sums[simdgroup] = one.sum;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    const float most = simd_max(largest[lane]), factor = exp(largest[lane] - most), sum = simd_sum(sums[lane] * factor);
    out += (ulong)head * s.out_head + (ulong)query * s.out_next + simdgroup * one.EACH;
#pragma unroll
    for (uint e = 0; e < D / 32; e++) {
        turned[lane * 32 + simdgroup] = one.o[e];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        const float value = simd_sum(turned[simdgroup * 32 + lane] * factor) / sum;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (lane == 0)
            out[e] = (T)value;
    }
}

// Parts of the keys, a threadgroup each: what comes out is not divided by the sum yet.
template <typename T, uint D>
[[kernel, max_total_threads_per_threadgroup(256)]] void vector_parts(QUERY(T, float), device float *sum_of [[buffer(4)]],
                                                                     device float *most_of [[buffer(5)]],
                                                                     constant attention_sizes &s [[buffer(6)]], WHERE)
{
    constexpr uint BN = 8;
    threadgroup float turned[32 * BN], largest[BN], sums[BN];
    one_query<T, D, BN> one;
    const uint head = group.x, query = group.y, each = (s.keys + s.parts - 1) / s.parts;
    const uint first = group.z * each, end = min(first + each, seen(s, query));
    const ulong place = ((ulong)head * s.queries + query) * s.parts + group.z;
    one.begin(q + (ulong)head * s.q_head + (ulong)query * s.q_next, s.scale, lane);
    one.most = -1e9f; // a part may be empty
    one.take_all(k + (ulong)(head / s.heads_a_key) * s.k_head, v + (ulong)(head / s.heads_a_key) * s.v_head, s, first, end,
                 simdgroup, lane);
    if (lane == 0) {
        largest[simdgroup] = one.most;
        sums[simdgroup] = one.sum;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    const float mine = lane < BN ? largest[lane] : -1e9f, most = simd_max(mine);
    const float sum = simd_sum(lane < BN ? sums[lane] * exp(mine - most) : 0.0f);
    const float factor = exp(largest[simdgroup] - most);
    if (simdgroup == 0 && lane == 0) {
        sum_of[place] = sum;
        most_of[place] = most;
    }
    out += place * D + lane * one.EACH;
#pragma unroll
    for (uint e = 0; e < D / 32; e++) {
        turned[lane * BN + simdgroup] = one.o[e] * factor;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (simdgroup == 0) {
            float value = turned[lane * BN];
#pragma unroll
            for (uint j = 1; j < BN; j++)
                value += turned[lane * BN + j];
            out[e] = value;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
}

template <typename T, uint D>
[[kernel, max_total_threads_per_threadgroup(1024)]] void vector_joined(
    device const float *part [[buffer(0)]], device const float *sum_of [[buffer(1)]], device const float *most_of [[buffer(2)]],
    device T *out [[buffer(3)]], constant attention_sizes &s [[buffer(4)]], WHERE)
{
    constexpr uint EACH = D / 32, PARTS = 32;
    threadgroup float turned[PARTS * 32];
    const uint head = group.x, query = group.y;
    const ulong first = ((ulong)head * s.queries + query) * PARTS;
    const float mine = most_of[first + lane], most = simd_max(mine), factor = exp(mine - most);
    const float sum = simd_sum(sum_of[first + lane] * factor);
    part += (first + simdgroup) * D + lane * EACH;
    out += (ulong)head * s.out_head + (ulong)query * s.out_next + simdgroup * EACH;
#pragma unroll
    for (uint e = 0; e < EACH; e++) {
        turned[lane * 32 + simdgroup] = part[e];
        threadgroup_barrier(mem_flags::mem_threadgroup);
        const float value = simd_sum(turned[simdgroup * 32 + lane] * factor) / sum;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (lane == 0)
            out[e] = (T)value;
    }
}

// ---- many queries ----

// A row piece a thread; rows that are not there count as zero.
template <typename T, uint ROWS, uint COLUMNS, uint STEP, uint STEP_COLUMN>
static void copy_rows(threadgroup T *block, device const T *from, uint stride, uint rows, uint thread_index, float factor)
{
    constexpr uint PIECE = ROWS * COLUMNS / 128, ACROSS = COLUMNS / PIECE;
    const uint row = thread_index / ACROSS, column = thread_index % ACROSS * PIECE;
    threadgroup T *const put = block + row * STEP + column * STEP_COLUMN;
    device const T *const get = from + (ulong)row * stride + column;
    if (row < rows) {
#pragma unroll
        for (uint e = 0; e < PIECE; e++)
            put[e * STEP_COLUMN] = (T)((float)get[e] * factor);
    } else {
#pragma unroll
        for (uint e = 0; e < PIECE; e++)
            put[e * STEP_COLUMN] = (T)0;
    }
}

static float over_row(float value, bool adds)
{
    const float one = simd_shuffle_xor(value, 1), two = adds ? value + one : max(value, one), four = simd_shuffle_xor(two, 8);
    return adds ? two + four : max(two, four);
}

// Four simdgroups with eight queries each. Keys and then values of a block share threadgroup memory.
template <typename T, uint BK, uint BD>
[[kernel, max_total_threads_per_threadgroup(128)]] void full_attention(QUERY(T, T), constant attention_sizes &s [[buffer(4)]], WHERE)
{
    constexpr uint BQ = 32, PAD = 16 / sizeof(T), TK = BK / 8, TD = BD / 8, PITCH = BD + PAD, PITCH_K = BK + PAD;
    constexpr uint ROOM_K = BD * PITCH_K, ROOM_V = BK * PITCH;
    threadgroup T block_q[BQ * PITCH];
    threadgroup T block[ROOM_K > ROOM_V ? ROOM_K : ROOM_V];
    const uint thread_index = simdgroup * 32 + lane, first = group.x * BQ, head = group.y;
    const lane_place at = place_of(lane);
    const uint row = simdgroup * 8 + at.row, before = s.keys - s.queries;
    k += (ulong)(head / s.heads_a_key) * s.k_head;
    v += (ulong)(head / s.heads_a_key) * s.v_head;
    copy_rows<T, BQ, BD, PITCH, 1>(block_q, q + (ulong)head * s.q_head + (ulong)first * s.q_next, s.q_next, s.queries - first,
                                   thread_index, s.scale * 1.44269504f);
    simdgroup_float8x8 sum[TD];
    float most = -INFINITY, weights = 0;
#pragma unroll
    for (uint d = 0; d < TD; d++)
        sum[d] = simdgroup_float8x8(0);
    const uint end = s.causal ? min(s.keys, first + BQ + before) : s.keys;
    for (uint key = 0; key < end; key += BK) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        copy_rows<T, BK, BD, 1, PITCH_K>(block, k + (ulong)key * s.k_next, s.k_next, s.keys - key, thread_index, 1.0f);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        simdgroup_float8x8 score[TK];
#pragma unroll
        for (uint j = 0; j < TK; j++)
            score[j] = simdgroup_float8x8(0);
#pragma unroll 1
        for (uint d = 0; d < BD; d += 8) {
            simdgroup_float8x8 left, right[TK];
            simdgroup_barrier(mem_flags::mem_none);
#pragma unroll
            for (uint e = 0; e < 2; e++)
                left.thread_elements()[e] = (float)block_q[row * PITCH + d + at.column + e];
#pragma unroll
            for (uint j = 0; j < TK; j++)
#pragma unroll
                for (uint e = 0; e < 2; e++)
                    right[j].thread_elements()[e] = (float)block[(d + at.row) * PITCH_K + j * 8 + at.column + e];
            simdgroup_barrier(mem_flags::mem_none);
#pragma unroll
            for (uint j = 0; j < TK; j++)
                simdgroup_multiply_accumulate(score[j], left, right[j], score[j]);
        }
        const uint sees = s.causal ? min(s.keys, first + row + before + 1) : s.keys;
        if (key + BK > s.keys || (s.causal && key + BK > first + before)) {
#pragma unroll
            for (uint j = 0; j < TK; j++)
#pragma unroll
                for (uint e = 0; e < 2; e++)
                    if (key + j * 8 + at.column + e >= sees)
                        score[j].thread_elements()[e] = -INFINITY;
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
        copy_rows<T, BK, BD, PITCH, 1>(block, v + (ulong)key * s.v_next, s.v_next, s.keys - key, thread_index, 1.0f);
        float larger = most, more = 0;
#pragma unroll
        for (uint j = 0; j < TK; j++)
            larger = max(larger, max(score[j].thread_elements()[0], score[j].thread_elements()[1]));
        larger = max(most, over_row(larger, false));
        const float factor = exp2(most - larger);
        most = larger;
#pragma unroll
        for (uint j = 0; j < TK; j++)
#pragma unroll
            for (uint e = 0; e < 2; e++) {
                const float weight = exp2(score[j].thread_elements()[e] - larger);
                score[j].thread_elements()[e] = weight;
                more += weight;
            }
        weights = weights * factor + over_row(more, true);
#pragma unroll
        for (uint d = 0; d < TD; d++)
#pragma unroll
            for (uint e = 0; e < 2; e++)
                sum[d].thread_elements()[e] *= factor;
        threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
        for (uint j = 0; j < TK; j++)
#pragma unroll
            for (uint d = 0; d < TD; d++) {
                simdgroup_float8x8 value;
#pragma unroll
                for (uint e = 0; e < 2; e++)
                    value.thread_elements()[e] = (float)block[(j * 8 + at.row) * PITCH + d * 8 + at.column + e];
                simdgroup_multiply_accumulate(sum[d], score[j], value, sum[d]);
            }
    }
    if (first + row >= s.queries)
        return;
    device T *const to = out + (ulong)head * s.out_head + (ulong)(first + row) * s.out_next + at.column;
#pragma unroll
    for (uint d = 0; d < TD; d++) {
        to[d * 8] = (T)(sum[d].thread_elements()[0] / weights);
        to[d * 8 + 1] = (T)(sum[d].thread_elements()[1] / weights);
    }
}

#define TYPES(T, OUT) device const T *, device const T *, device const T *, device OUT *
#define VECTOR(T, D) \
    template [[host_name("mlx_attention_vector_" #T "_" #D)]] kernel void vector_attention<T, D>( \
        TYPES(T, T), constant attention_sizes &, uint3, uint, uint); \
    template [[host_name("mlx_attention_parts_" #T "_" #D)]] kernel void vector_parts<T, D>( \
        TYPES(T, float), device float *, device float *, constant attention_sizes &, uint3, uint, uint); \
    template [[host_name("mlx_attention_joined_" #T "_" #D)]] kernel void vector_joined<T, D>( \
        device const float *, device const float *, device const float *, device T *, constant attention_sizes &, uint3, uint, uint);
#define FULL(T, BK, BD) \
    template [[host_name("mlx_attention_" #T "_" #BK "_" #BD)]] kernel void full_attention<T, BK, BD>( \
        TYPES(T, T), constant attention_sizes &, uint3, uint, uint);
#define ALL(T) VECTOR(T, 64) VECTOR(T, 96) VECTOR(T, 128) VECTOR(T, 256) FULL(T, 32, 64) FULL(T, 32, 80) FULL(T, 16, 128)
ALL(float)
ALL(half)
