// Products as MLX multiplies them: tiles, copies and order of work of mlx/backend/metal/kernels/steel/gemm, 0.2.0 to 0.30.1.
//
// A threadgroup of WM x WN simdgroups computes BM x BN of the result. For each BK of k all threads copy a block of both operands to
// threadgroup memory, between two barriers and without a second buffer. The 8x8 matrices of a simdgroup are interleaved with those
// of the others: 8 WM rows and 8 WN columns from one to the next.
#include "tile.metalh"

struct gemm_sizes {
    uint m, n, k;
    uint lda, ldb, ldc;             // elements from one row to the next, as they are stored
    uint batch_a, batch_b, batch_c; // from one matrix of a batch to the next
    uint guarded;                   // whether every threadgroup looks at the edges
    uint part, parts;               // whole steps of k of one part of a split, but the last
    float alpha, beta;
    uint source_row, source_column, source_batch; // of what is added
};

// One thread's share of copying ROWS x COLUMNS: a piece of one row.
template <typename T, uint ROWS, uint COLUMNS, uint PITCH, uint THREADS>
struct block_copy {
    static constant constexpr uint PIECE = ROWS * COLUMNS / THREADS;
    static constant constexpr uint ACROSS = COLUMNS / PIECE;
    device const T *from; // this thread's piece
    uint row, column, to;

    void begin(device const T *start, uint stride, uint thread_index)
    {
        row = thread_index / ACROSS;
        column = thread_index % ACROSS * PIECE;
        from = start + (ulong)row * stride + column;
        to = row * PITCH + column;
    }
    void whole(threadgroup T *block)
    {
        threadgroup T *const put = block + to;
        T piece[PIECE];
#pragma unroll
        for (uint i = 0; i < PIECE; i++)
            piece[i] = from[i];
#pragma unroll
        for (uint i = 0; i < PIECE; i++)
            put[i] = piece[i];
    }
    // A thread whose piece lies outside loads nothing. Of others, what lies outside is read from the piece's first place and
    // counts as zero.
    void edge(threadgroup T *block, uint rows, uint columns)
    {
        threadgroup T *const put = block + to;
        if (row >= rows || column >= columns) {
#pragma unroll
            for (uint i = 0; i < PIECE; i++)
                put[i] = (T)0;
            return;
        }
        T piece[PIECE];
#pragma unroll
        for (uint i = 0; i < PIECE; i++)
            piece[i] = from[column + i < columns ? i : 0];
#pragma unroll
        for (uint i = 0; i < PIECE; i++)
            put[i] = column + i < columns ? piece[i] : (T)0;
    }
    void advance(ulong step)
    {
        from += step;
    }
};

template <typename T, typename OUT, uint BM, uint BN, uint BK, uint WM, uint WN, bool TA, bool TB, bool ADDS, bool SPLIT>
static void multiply(device const T *a, device const T *b, device OUT *c, device const T *source, constant gemm_sizes &s,
                     threadgroup T *block_a, threadgroup T *block_b, uint3 group, uint thread_index, uint simdgroup, uint lane)
{
    typedef product<T, BM, BN, BK, WM, WN, TA, TB> P;
    const uint row0 = group.y * BM, column0 = group.x * BN;
    const uint rows = min(BM, s.m - row0), columns = min(BN, s.n - column0);
    const uint first = SPLIT ? group.z * s.part : 0;
    const bool last = !SPLIT || group.z + 1 == s.parts;
    const uint whole_steps = SPLIT && !last ? s.part : s.k / BK - first, rest = last ? s.k % BK : 0;
    a += (SPLIT ? (ulong)(first * BK) * (TA ? s.lda : 1) : (ulong)group.z * s.batch_a) + (ulong)row0 * (TA ? 1 : s.lda);
    b += (SPLIT ? (ulong)(first * BK) * (TB ? 1 : s.ldb) : (ulong)group.z * s.batch_b) + (ulong)column0 * (TB ? s.ldb : 1);
    c += (ulong)group.z * s.batch_c + (ulong)row0 * s.ldc + column0;
    block_copy<T, P::ROWS_A, P::COLUMNS_A, P::PITCH_A, P::THREADS> copy_a;
    block_copy<T, P::ROWS_B, P::COLUMNS_B, P::PITCH_B, P::THREADS> copy_b;
    copy_a.begin(a, s.lda, thread_index);
    copy_b.begin(b, s.ldb, thread_index);
    const ulong next_a = TA ? (ulong)BK * s.lda : (ulong)BK, next_b = TB ? (ulong)BK : (ulong)BK * s.ldb;
    const lane_place at = place_of(lane);
    const uint sm = simdgroup / WN * 8, sn = simdgroup % WN * 8;
    const uint at_a = TA ? at.column * P::PITCH_A + sm + at.row : (sm + at.row) * P::PITCH_A + at.column;
    const uint at_b = TB ? (sn + at.column) * P::PITCH_B + at.row : at.row * P::PITCH_B + sn + at.column;
    simdgroup_float8x8 sum[P::TM][P::TN];
#pragma unroll
    for (uint i = 0; i < P::TM; i++)
#pragma unroll
        for (uint j = 0; j < P::TN; j++)
            sum[i][j] = simdgroup_float8x8(0);
    const bool inside = rows == BM && columns == BN && !s.guarded;
    const uint steps = whole_steps + (rest ? 1 : 0);
    uint step = 0;
    for (; inside && step < whole_steps; step++) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        copy_a.whole(block_a);
        copy_b.whole(block_b);
        copy_a.advance(next_a);
        copy_b.advance(next_b);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        P::step(sum, block_a + at_a, block_b + at_b);
    }
    for (; !P::LATE && rows == BM && !s.guarded && step < whole_steps; step++) {
        threadgroup_barrier(mem_flags::mem_threadgroup);
        copy_a.whole(block_a);
        copy_b.edge(block_b, TB ? columns : BK, TB ? BK : columns);
        copy_a.advance(next_a);
        copy_b.advance(next_b);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        P::step(sum, block_a + at_a, block_b + at_b);
    }
    for (; step < steps; step++) {
        const uint deep = step < whole_steps ? BK : rest;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        copy_a.edge(block_a, TA ? deep : rows, TA ? rows : deep);
        copy_b.edge(block_b, TB ? columns : deep, TB ? deep : columns);
        copy_a.advance(next_a);
        copy_b.advance(next_b);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        P::step(sum, block_a + at_a, block_b + at_b);
    }
    c += (ulong)(sm + at.row) * s.ldc + sn + at.column;
    if (ADDS)
        source += (ulong)group.z * s.source_batch + (ulong)(row0 + sm + at.row) * s.source_row +
                  (ulong)(column0 + sn + at.column) * s.source_column;
#pragma unroll
    for (uint i = 0; i < P::TM; i++)
#pragma unroll
        for (uint j = 0; j < P::TN; j++) {
            const uint row = i * 8 * WM, column = j * 8 * WN;
            device OUT *const to = c + (ulong)row * s.ldc + column;
            OUT value[2];
#pragma unroll
            for (uint e = 0; e < 2; e++) {
                const bool there = inside || (sm + at.row + row < rows && sn + at.column + column + e < columns);
                const float adds =
                    ADDS && there ? (float)source[(ulong)row * s.source_row + (column + e) * s.source_column] : 0.0f;
                const float product = sum[i][j].thread_elements()[e];
                value[e] = (OUT)(ADDS ? s.alpha * product + s.beta * adds : product);
            }
            if (inside) {
                to[0] = value[0];
                to[1] = value[1];
            } else if (sm + at.row + row < rows) {
                if (sn + at.column + column < columns)
                    to[0] = value[0];
                if (sn + at.column + column + 1 < columns)
                    to[1] = value[1];
            }
        }
}

#define BLOCKS \
    typedef product<T, BM, BN, BK, WM, WN, TA, TB> P; \
    threadgroup T block_a[P::ROWS_A * P::PITCH_A]; \
    threadgroup T block_b[P::ROWS_B * P::PITCH_B];

template <typename T, uint BM, uint BN, uint BK, uint WM, uint WN, bool TA, bool TB>
[[kernel, max_total_threads_per_threadgroup(WM * WN * 32)]] void gemm(
    device const T *a [[buffer(0)]], device const T *b [[buffer(1)]], device T *c [[buffer(2)]],
    constant gemm_sizes &s [[buffer(3)]], uint3 group [[threadgroup_position_in_grid]],
    uint thread_index [[thread_index_in_threadgroup]], uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint lane [[thread_index_in_simdgroup]])
{
    BLOCKS
    multiply<T, T, BM, BN, BK, WM, WN, TA, TB, false, false>(a, b, c, a, s, block_a, block_b, group, thread_index, simdgroup, lane);
}

// alpha a b + beta source, whose rows may all be one.
template <typename T, uint BM, uint BN, uint BK, uint WM, uint WN, bool TA, bool TB>
[[kernel, max_total_threads_per_threadgroup(WM * WN * 32)]] void addmm(
    device const T *a [[buffer(0)]], device const T *b [[buffer(1)]], device T *c [[buffer(2)]],
    device const T *source [[buffer(3)]], constant gemm_sizes &s [[buffer(4)]], uint3 group [[threadgroup_position_in_grid]],
    uint thread_index [[thread_index_in_threadgroup]], uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint lane [[thread_index_in_simdgroup]])
{
    BLOCKS
    multiply<T, T, BM, BN, BK, WM, WN, TA, TB, true, false>(a, b, c, source, s, block_a, block_b, group, thread_index, simdgroup,
                                                            lane);
}

// Parts of k: z counts them, and their products are added by the next kernel.
template <typename T, uint BM, uint BN, uint BK, uint WM, uint WN, bool TA, bool TB>
[[kernel, max_total_threads_per_threadgroup(WM * WN * 32)]] void part(
    device const T *a [[buffer(0)]], device const T *b [[buffer(1)]], device float *c [[buffer(2)]],
    constant gemm_sizes &s [[buffer(3)]], uint3 group [[threadgroup_position_in_grid]],
    uint thread_index [[thread_index_in_threadgroup]], uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint lane [[thread_index_in_simdgroup]])
{
    BLOCKS
    multiply<T, float, BM, BN, BK, WM, WN, TA, TB, false, true>(a, b, c, a, s, block_a, block_b, group, thread_index, simdgroup,
                                                                lane);
}

struct part_sizes {
    uint width, parts, stride, source_row, source_column;
    float alpha, beta;
};
template <typename T, bool ADDS>
[[kernel]] void add_parts(device const float *part [[buffer(0)]], device T *c [[buffer(1)]], device const T *source [[buffer(2)]],
                          constant part_sizes &s [[buffer(3)]], uint2 at [[thread_position_in_grid]])
{
    const uint place = at.y * s.width + at.x;
    float sum = 0;
    for (uint i = 0; i < s.parts; i++)
        sum += part[(ulong)i * s.stride + place];
    if (ADDS)
        sum = s.alpha * sum + s.beta * (float)source[at.y * s.source_row + at.x * s.source_column];
    c[place] = (T)sum;
}

#define SIZES(T) constant gemm_sizes &, uint3, uint, uint, uint
#define ONE(name, kernel_name, T, OUT, ...) \
    template [[host_name(name)]] kernel void kernel_name<T, __VA_ARGS__>(device const T *, device const T *, device OUT *, \
                                                                        SIZES(T));
#define TWO(name, T, ...) \
    template [[host_name(name)]] kernel void addmm<T, __VA_ARGS__>(device const T *, device const T *, device T *, \
                                                                   device const T *, SIZES(T));
#define TILE(T, BM, BN, BK, WM, WN) \
    ONE("mlx_gemm_nn_" #T "_" #BM "x" #BN "x" #BK "_" #WM "x" #WN, gemm, T, T, BM, BN, BK, WM, WN, false, false) \
    ONE("mlx_gemm_nt_" #T "_" #BM "x" #BN "x" #BK "_" #WM "x" #WN, gemm, T, T, BM, BN, BK, WM, WN, false, true) \
    ONE("mlx_gemm_tn_" #T "_" #BM "x" #BN "x" #BK "_" #WM "x" #WN, gemm, T, T, BM, BN, BK, WM, WN, true, false) \
    ONE("mlx_gemm_tt_" #T "_" #BM "x" #BN "x" #BK "_" #WM "x" #WN, gemm, T, T, BM, BN, BK, WM, WN, true, true) \
    TWO("mlx_addmm_nn_" #T "_" #BM "x" #BN "x" #BK "_" #WM "x" #WN, T, BM, BN, BK, WM, WN, false, false) \
    TWO("mlx_addmm_nt_" #T "_" #BM "x" #BN "x" #BK "_" #WM "x" #WN, T, BM, BN, BK, WM, WN, false, true)
#define PART(T, BM, BN) \
    ONE("mlx_part_nn_" #T "_" #BM "x" #BN, part, T, float, BM, BN, 16, 2, 2, false, false) \
    ONE("mlx_part_nt_" #T "_" #BM "x" #BN, part, T, float, BM, BN, 16, 2, 2, false, true) \
    ONE("mlx_part_tn_" #T "_" #BM "x" #BN, part, T, float, BM, BN, 16, 2, 2, true, false) \
    ONE("mlx_part_tt_" #T "_" #BM "x" #BN, part, T, float, BM, BN, 16, 2, 2, true, true)
#define PARTS(T) \
    PART(T, 16, 16) PART(T, 16, 32) PART(T, 32, 16) PART(T, 32, 32) \
    template [[host_name("mlx_parts_" #T)]] kernel void add_parts<T, false>(device const float *, device T *, device const T *, \
                                                                            constant part_sizes &, uint2); \
    template [[host_name("mlx_parts_add_" #T)]] kernel void add_parts<T, true>(device const float *, device T *, \
                                                                               device const T *, constant part_sizes &, uint2);

TILE(float, 64, 64, 16, 2, 2)
TILE(float, 32, 32, 16, 2, 2)
TILE(float, 64, 32, 32, 2, 2)
TILE(float, 32, 64, 16, 1, 2)
PARTS(float)
TILE(half, 64, 64, 16, 2, 2)
TILE(half, 32, 32, 16, 2, 2)
TILE(half, 64, 32, 32, 2, 2)
TILE(half, 64, 64, 16, 1, 2)
TILE(half, 32, 64, 16, 1, 2)
PARTS(half)
