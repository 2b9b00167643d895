// Products as metal-flash-attention multiplies them (philipturner/metal-flash-attention at 8671cdd, GEMMDescriptor.swift).
//
// Up to Apple8 a threadgroup of 2 x 2 simdgroups computes BM x BN of the result, each simdgroup a quarter that lies together. For each BK
// of k a block of both operands is copied to threadgroup memory; there the original has a copy engine do it, for which no public
// instruction is known, and here all threads copy. On Apple9 a simdgroup alone computes 32 x 32 and reads its matrices where they
// are; only what is left of k passes through threadgroup memory. A block over the lower or right edge moves back inside; when it
// adds, it leaves alone what its neighbour has there. In a result of less than a block all of k passes through threadgroup memory.
#include <metal_simdgroup_matrix>
#include <metal_stdlib>
using namespace metal;

struct gemm_sizes {
    uint m, n, k;
    uint lda, ldb, ldc;             // elements from one row to the next, as they are stored
    uint batch_a, batch_b, batch_c; // from one matrix of a batch to the next
};

// The rows and columns of an 8x8 matrix that a lane holds: one row, two columns from an even one on.
static ushort2 place_of(ushort lane)
{
    const ushort quad = lane / 4;
    return ushort2((quad & 2) * 2 + lane % 2 * 2, (quad & 4) + lane / 2 % 4);
}

// Where a block of `size` begins that was to begin at `from`, when `part` is what a simdgroup has of it.
static uint inside(uint from, uint all, uint size, uint part)
{
    const uint over = all % part;
    return all >= size && over && from + size > all ? from - (part - over) : from;
}

// One thread's share of copying ROWS x COLUMNS: four neighbours at a time, neighbouring threads beside one another, so that a
// simdgroup touches few lines. Threads go down by a power of two; those for which it leaves nothing do nothing.
template <typename T, uint ROWS, uint COLUMNS, uint PITCH, uint THREADS>
struct block_copy {
    static constant constexpr uint ACROSS = COLUMNS / 4, MOST = THREADS / ACROSS, DOWN = MOST >= 16 ? 16 : MOST >= 8 ? 8 : 4;
    static constant constexpr uint TURNS = ROWS / DOWN;
    T piece[TURNS][4];
    uint row, column;

    void begin(uint thread_index)
    {
        row = thread_index / ACROSS;
        column = thread_index % ACROSS * 4;
    }
    void load(device const T *from, uint stride)
    {
        device const T *const get = from + row * stride + column;
        if (row >= DOWN)
            return;
#pragma unroll
        for (uint i = 0; i < TURNS; i++) {
            device const T *const line = get + i * DOWN * stride;
#pragma unroll
            for (uint e = 0; e < 4; e++)
                piece[i][e] = line[e];
        }
    }
    // The same of a block that is not there as a whole: what lies outside counts as zero, and its first element is read instead.
    void load_edge(device const T *from, uint stride, uint rows, uint columns)
    {
        if (row >= DOWN)
            return;
#pragma unroll
        for (uint i = 0; i < TURNS; i++)
#pragma unroll
            for (uint e = 0; e < 4; e++) {
                const bool there = row + i * DOWN < rows && column + e < columns;
                const T value = from[there ? (row + i * DOWN) * stride + column + e : 0];
                piece[i][e] = there ? value : (T)0;
            }
    }
    void store(threadgroup T *block)
    {
        threadgroup T *const put = block + row * PITCH + column;
        if (row >= DOWN)
            return;
#pragma unroll
        for (uint i = 0; i < TURNS; i++)
#pragma unroll
            for (uint e = 0; e < 4; e++)
                put[i * DOWN * PITCH + e] = piece[i][e];
    }
    // Only the first `deep` columns, a multiple of four, of all rows.
    void part(threadgroup T *block, device const T *from, uint stride, uint deep)
    {
        if (column >= deep)
            return;
        load(from, stride);
        store(block);
    }
    // Both in one for a block that is not there as a whole, with fewer registers.
    void edge(threadgroup T *block, device const T *from, uint stride, uint rows, uint columns)
    {
        const uint there = column < columns ? min(4u, columns - column) : 0;
        if (row >= DOWN)
            return;
#pragma unroll 1
        for (uint i = row; i < ROWS; i += DOWN) {
            threadgroup T *const put = block + i * PITCH + column;
            device const T *const get = from + i * stride + column;
            T few[4];
            if (i < rows && there == 4) {
#pragma unroll
                for (uint e = 0; e < 4; e++)
                    few[e] = get[e];
            } else {
#pragma unroll
                for (uint e = 0; e < 4; e++)
                    few[e] = i < rows && e < there ? get[e] : (T)0;
            }
#pragma unroll
            for (uint e = 0; e < 4; e++)
                put[e] = few[e];
        }
    }
};

// Rows and columns of a result, counted from the lane's own.
struct range {
    int first_row, rows, first_column, columns; // the first that is in, the first that is not any more
    bool has(int row, int column) const
    {
        return row >= first_row && row < rows && column >= first_column && column < columns;
    }
};

template <typename T, typename SUM, uint TM, uint TN, bool TA, bool TB>
struct quarter {
    typedef simdgroup_matrix<T, 8, 8> operand;
    typedef simdgroup_matrix<SUM, 8, 8> result;
    result sum[TM][TN];

    // Eight of k. The operands are at the lane's place of their first matrices.
    template <typename FROM>
    void step(FROM a, uint pitch_a, FROM b, uint pitch_b)
    {
        operand left[TM], right[TN];
#pragma unroll
        for (uint i = 0; i < TM; i++) {
            const FROM line = TA ? a + i * 8 : a + i * 8 * pitch_a;
            left[i].thread_elements()[0] = line[0];
            left[i].thread_elements()[1] = TA ? line[pitch_a] : line[1];
        }
#pragma unroll
        for (uint j = 0; j < TN; j++)
#pragma unroll
            for (uint e = 0; e < 2; e++)
                right[j].thread_elements()[e] = TB ? b[(j * 8 + e) * pitch_b] : b[j * 8 + e];
#pragma unroll
        for (uint i = 0; i < TM; i++)
#pragma unroll
            for (uint j = 0; j < TN; j++)
                simdgroup_multiply_accumulate(sum[i][j], left[i], right[j], sum[i][j]);
    }
    // Of the lane's results those in `part` are read and written; `whole` says that this is all of them.
    void begin(device const T *c, uint ldc, bool whole, range part, bool adds)
    {
#pragma unroll
        for (uint i = 0; i < TM; i++)
#pragma unroll
            for (uint j = 0; j < TN; j++)
                sum[i][j] = result(0);
        if (!adds)
            return;
        if (whole) {
#pragma unroll
            for (uint i = 0; i < TM; i++) {
                device const T *const line = c + i * 8 * ldc;
#pragma unroll
                for (uint j = 0; j < TN; j++)
#pragma unroll
                    for (uint e = 0; e < 2; e++)
                        sum[i][j].thread_elements()[e] = (SUM)line[j * 8 + e];
            }
            return;
        }
#pragma unroll
        for (uint i = 0; i < TM; i++)
#pragma unroll
            for (uint j = 0; j < TN; j++)
#pragma unroll
                for (uint e = 0; e < 2; e++)
                    if (part.has(i * 8, j * 8 + e))
                        sum[i][j].thread_elements()[e] = (SUM)c[i * 8 * ldc + j * 8 + e];
    }
    // Of the products of a row its number is subtracted; then they gate what is there.
    void begin_less(device const float *d)
    {
#pragma unroll
        for (uint i = 0; i < TM; i++) {
            const float less = d[i * 8];
#pragma unroll
            for (uint j = 0; j < TN; j++)
#pragma unroll
                for (uint e = 0; e < 2; e++)
                    sum[i][j].thread_elements()[e] = (SUM)-less;
        }
    }
    void gate(device const T *c, uint ldc)
    {
#pragma unroll
        for (uint i = 0; i < TM; i++) {
            device const T *const line = c + i * 8 * ldc;
#pragma unroll
            for (uint j = 0; j < TN; j++)
#pragma unroll
                for (uint e = 0; e < 2; e++)
                    sum[i][j].thread_elements()[e] *= (SUM)line[j * 8 + e];
        }
    }
    void put(threadgroup T *block, uint pitch)
    {
#pragma unroll
        for (uint i = 0; i < TM; i++)
#pragma unroll
            for (uint j = 0; j < TN; j++)
#pragma unroll
                for (uint e = 0; e < 2; e++)
                    block[i * 8 * pitch + j * 8 + e] = (T)sum[i][j].thread_elements()[e];
    }
    void end(device T *c, uint ldc, bool whole, range part)
    {
        if (whole) {
#pragma unroll
            for (uint i = 0; i < TM; i++) {
                device T *const line = c + i * 8 * ldc;
#pragma unroll
                for (uint j = 0; j < TN; j++)
#pragma unroll
                    for (uint e = 0; e < 2; e++)
                        line[j * 8 + e] = (T)sum[i][j].thread_elements()[e];
            }
            return;
        }
#pragma unroll
        for (uint i = 0; i < TM; i++)
#pragma unroll
            for (uint j = 0; j < TN; j++)
#pragma unroll
                for (uint e = 0; e < 2; e++)
                    if (part.has(i * 8, j * 8 + e))
                        c[i * 8 * ldc + j * 8 + e] = (T)sum[i][j].thread_elements()[e];
    }
};

// From the lane's row and column on, what there is of the result.
static uint left_of(uint all, uint from)
{
    return from < all ? all - from : 0;
}

#define ARGUMENTS(T) \
    device const T *a [[buffer(0)]], device const T *b [[buffer(1)]], device T *c [[buffer(2)]], \
        constant gemm_sizes &s [[buffer(3)]], uint3 group [[threadgroup_position_in_grid]], \
        ushort simdgroup [[simdgroup_index_in_threadgroup]], ushort lane [[thread_index_in_simdgroup]]

template <typename T, typename SUM, uint BM, uint BN, uint BK, uint PITCH_A, uint PITCH_B, bool TA, bool TB, bool ADDS>
[[kernel, max_total_threads_per_threadgroup(128)]] void copied(ARGUMENTS(T))
{
    constexpr uint ROWS_A = TA ? BK : BM, ROWS_B = TB ? BN : BK, M = BM / 2, N = BN / 2;
    threadgroup T block_a[ROWS_A * PITCH_A];
    threadgroup T block_b[ROWS_B * PITCH_B];
    const uint thread_index = simdgroup * 32 + lane;
    const uint row0 = ADDS ? group.y * BM : inside(group.y * BM, s.m, BM, M);
    const uint column0 = ADDS ? group.x * BN : inside(group.x * BN, s.n, BN, N);
    const uint rows = min(BM, s.m - row0), columns = min(BN, s.n - column0);
    const ushort2 at = place_of(lane);
    const uint row = simdgroup / 2 * M, column = simdgroup % 2 * N;
    // what this one would compute lies outside, or is another threadgroup's
    const bool works = group.y * BM + row < s.m && group.x * BN + column < s.n;
    quarter<T, SUM, M / 8, N / 8, TA, TB> q;
    a += (ulong)group.z * s.batch_a + (TA ? row0 : row0 * s.lda);
    b += (ulong)group.z * s.batch_b + (TB ? column0 * s.ldb : column0);
    c += (ulong)group.z * s.batch_c + (row0 + row + at.y) * s.ldc + column0 + column + at.x;
    const uint rest_m = works ? left_of(rows, row + at.y) : 0, rest_n = left_of(columns, column + at.x);
    const bool whole = rows == BM && columns == BN;
    const range part = {0, (int)rest_m, 0, (int)rest_n};
    q.begin(c, s.ldc, whole, part, ADDS);
    threadgroup const T *const get_a = block_a + (TA ? at.x * PITCH_A + row + at.y : (row + at.y) * PITCH_A + at.x);
    threadgroup const T *const get_b = block_b + (TB ? (column + at.x) * PITCH_B + at.y : at.y * PITCH_B + column + at.x);
    block_copy<T, ROWS_A, TA ? BM : BK, PITCH_A, 128> copy_a;
    block_copy<T, ROWS_B, TB ? BK : BN, PITCH_B, 128> copy_b;
    copy_a.begin(thread_index);
    copy_b.begin(thread_index);
    for (uint first = 0; first < s.k; first += BK) {
        const uint deep = min(BK, s.k - first);
        if (whole && deep == BK) {
            copy_a.load(a, s.lda);
            copy_b.load(b, s.ldb);
            copy_a.store(block_a);
            copy_b.store(block_b);
        } else {
            copy_a.edge(block_a, a, s.lda, TA ? deep : rows, TA ? rows : deep);
            copy_b.edge(block_b, b, s.ldb, TB ? columns : deep, TB ? deep : columns);
        }
        a += TA ? BK * s.lda : BK;
        b += TB ? BK : BK * s.ldb;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (works) {
#pragma unroll
            for (uint k = 0; k < BK; k += 8)
                if (k < deep)
                    q.step(get_a + (TA ? k * PITCH_A : k), PITCH_A, get_b + (TB ? k : k * PITCH_B), PITCH_B);
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    q.end(c, s.ldc, whole, part);
}

// What is left of k of an operand for 32 rows or columns of the result, fewer than eight of k: a lane copies four pairs that lie
// eight apart, with zeros behind the end. ALONG: k runs along the rows of the operand.
template <typename T, bool ALONG>
struct rest_copy {
    static constant constexpr uint PITCH = ALONG ? 8 : 32;
    T piece[4][2];

    // A pair that the end cuts is read from one element before, which is there when k is 2 at least.
    void load(device const T *from, uint stride, int deep, ushort lane)
    {
        const int line = lane / 4, pair = lane % 4 * 2, first = ALONG ? min(pair, deep - 2) : pair;
        const int moved = pair - first, row = ALONG ? line : min(line, deep - 1);
        device const T *const get = from + row * (int)stride + first;
#pragma unroll
        for (int i = 0; i < 4; i++) {
            const T one = get[ALONG ? i * 8 * (int)stride : i * 8], two = get[ALONG ? i * 8 * (int)stride + 1 : i * 8 + 1];
            if (ALONG) {
                piece[i][0] = moved == 0 ? one : moved == 1 ? two : (T)0;
                piece[i][1] = moved == 0 ? two : (T)0;
            } else {
                piece[i][0] = line < deep ? one : (T)0;
                piece[i][1] = line < deep ? two : (T)0;
            }
        }
    }
    void store(threadgroup T *block, ushort lane)
    {
        threadgroup T *const put = block + lane / 4 * PITCH + lane % 4 * 2;
#pragma unroll
        for (uint i = 0; i < 4; i++)
#pragma unroll
            for (uint e = 0; e < 2; e++)
                put[(ALONG ? i * 8 * PITCH : i * 8) + e] = piece[i][e];
    }
};

template <typename T, typename SUM, bool TA, bool TB, bool ADDS>
[[kernel, max_total_threads_per_threadgroup(32)]] void direct(ARGUMENTS(T))
{
    constexpr uint SIZE = 32, PITCH_A = TA ? SIZE : 8, PITCH_B = TB ? 8 : SIZE;
    threadgroup T block_a[SIZE * 8];
    threadgroup T block_b[SIZE * 8];
    const uint row0 = inside(group.y * SIZE, s.m, SIZE, SIZE), column0 = inside(group.x * SIZE, s.n, SIZE, SIZE);
    const uint rows = min(SIZE, s.m - row0), columns = min(SIZE, s.n - column0);
    const ushort2 at = place_of(lane);
    quarter<T, SUM, 4, 4, TA, TB> q;
    a += (ulong)group.z * s.batch_a + (TA ? row0 : row0 * s.lda);
    b += (ulong)group.z * s.batch_b + (TB ? column0 * s.ldb : column0);
    c += (ulong)group.z * s.batch_c + (row0 + at.y) * s.ldc + column0 + at.x;
    const bool there = rows == SIZE && columns == SIZE;
    const int before_m = ADDS ? group.y * SIZE - row0 : 0, before_n = ADDS ? group.x * SIZE - column0 : 0;
    const bool whole = there && before_m == 0 && before_n == 0;
    const range part = {before_m - at.y, (int)rows - at.y, before_n - at.x, (int)columns - at.x};
    q.begin(c, s.ldc, whole, part, ADDS);
    const uint in_place = there && s.k > 1 ? s.k / 8 * 8 : 0;
    device const T *get_a = a + (TA ? at.x * s.lda + at.y : at.y * s.lda + at.x);
    device const T *get_b = b + (TB ? at.x * s.ldb + at.y : at.y * s.ldb + at.x);
    for (uint k = 0; k < in_place; k += 8) {
        q.step(get_a, s.lda, get_b, s.ldb);
        get_a += TA ? 8 * s.lda : 8;
        get_b += TB ? 8 : 8 * s.ldb;
    }
    threadgroup const T *const from_a = block_a + (TA ? at.x * PITCH_A + at.y : at.y * PITCH_A + at.x);
    threadgroup const T *const from_b = block_b + (TB ? at.x * PITCH_B + at.y : at.y * PITCH_B + at.x);
    a += TA ? in_place * s.lda : in_place;
    b += TB ? in_place : in_place * s.ldb;
    if (there && s.k > 1) {
        if (in_place == s.k)
            return q.end(c, s.ldc, whole, part);
        rest_copy<T, !TA> copy_a;
        rest_copy<T, TB> copy_b;
        copy_a.load(a, s.lda, s.k - in_place, lane);
        copy_b.load(b, s.ldb, s.k - in_place, lane);
        copy_a.store(block_a, lane);
        copy_b.store(block_b, lane);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        q.step(from_a, PITCH_A, from_b, PITCH_B);
        return q.end(c, s.ldc, whole, part);
    }
    block_copy<T, TA ? 8 : SIZE, PITCH_A, PITCH_A, 32> copy_a;
    block_copy<T, TB ? SIZE : 8, PITCH_B, PITCH_B, 32> copy_b;
    copy_a.begin(lane);
    copy_b.begin(lane);
#pragma unroll 1
    for (uint k = 0; k < s.k; k += 8) {
        const uint deep = min(8u, s.k - k);
        copy_a.load_edge(a, s.lda, TA ? deep : rows, TA ? rows : deep);
        copy_b.load_edge(b, s.ldb, TB ? columns : deep, TB ? deep : columns);
        copy_a.store(block_a);
        copy_b.store(block_b);
        a += TA ? 8 * s.lda : 8;
        b += TB ? 8 : 8 * s.ldb;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        q.step(from_a, PITCH_A, from_b, PITCH_B);
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    q.end(c, s.ldc, whole, part);
}

// A block of results from threadgroup memory to its place, where the original has a copy engine do it: rows and columns from
// `first` to `last`.
template <typename T, uint SIZE, uint THREADS>
static void copy_out(threadgroup const T *block, device T *c, uint ldc, uint thread_index, uint2 first, uint2 last)
{
    constexpr uint ACROSS = SIZE / 4, DOWN = THREADS / ACROSS;
    const uint row = thread_index / ACROSS, column = thread_index % ACROSS * 4;
    if (first.x == 0 && first.y == 0 && last.x == SIZE && last.y == SIZE) {
        if (row >= DOWN)
            return;
#pragma unroll
        for (uint i = 0; i < SIZE / DOWN * DOWN; i += DOWN) {
            threadgroup const T *const get = block + (row + i) * SIZE + column;
            device T *const to = c + (row + i) * ldc + column;
#pragma unroll
            for (uint e = 0; e < 4; e++)
                to[e] = get[e];
        }
        if (SIZE % DOWN && row + SIZE / DOWN * DOWN < SIZE)
            for (uint e = 0; e < 4; e++)
                c[(row + SIZE / DOWN * DOWN) * ldc + column + e] = block[(row + SIZE / DOWN * DOWN) * SIZE + column + e];
        return;
    }
    if (row >= DOWN)
        return;
#pragma unroll 1
    for (uint i = row; i < last.y; i += DOWN)
        for (uint e = 0; e < 4; e++)
            if (i >= first.y && column + e >= first.x && column + e < last.x)
                c[i * ldc + column + e] = block[i * SIZE + column + e];
}

#define GATE_ARGUMENTS(T) \
    device const T *a [[buffer(0)]], device const T *b [[buffer(1)]], device T *c [[buffer(2)]], \
        device const float *d [[buffer(3)]], constant gemm_sizes &s [[buffer(4)]], \
        uint3 group [[threadgroup_position_in_grid]], ushort simdgroup [[simdgroup_index_in_threadgroup]], \
        ushort lane [[thread_index_in_simdgroup]]

// The gradient of a softmax's scores: c = c * (a times the rows of b - d), d a number for each row. The results pass through
// threadgroup memory. Results have the size of a block at least.
template <typename T, typename SUM, uint BM, uint BK, uint PITCH_B>
[[kernel, max_total_threads_per_threadgroup(128)]] void gate_copied(GATE_ARGUMENTS(T))
{
    constexpr uint M = BM / 2, OPERANDS = BM * BK + BM * PITCH_B, RESULTS = BM * BM;
    threadgroup T block[OPERANDS > RESULTS ? OPERANDS : RESULTS];
    threadgroup T *const block_a = block, *const block_b = block + BM * BK;
    const uint thread_index = simdgroup * 32 + lane;
    const uint row0 = inside(group.y * BM, s.m, BM, M), column0 = inside(group.x * BM, s.n, BM, M);
    const uint rows = min(BM, s.m - row0), columns = min(BM, s.n - column0);
    const ushort2 at = place_of(lane);
    const uint row = simdgroup / 2 * M, column = simdgroup % 2 * M;
    const bool works = group.y * BM + row < s.m && group.x * BM + column < s.n;
    quarter<T, SUM, M / 8, M / 8, false, true> q;
    a += (ulong)group.z * s.batch_a + row0 * s.lda;
    b += (ulong)group.z * s.batch_b + column0 * s.ldb;
    c += (ulong)group.z * s.batch_c;
    d += group.z * s.m;
    const uint first_row = works ? row0 + row : 0, first_column = works ? column0 + column : 0;
    q.begin_less(d + first_row + at.y);
    threadgroup const T *const get_a = block_a + (row + at.y) * BK + at.x;
    threadgroup const T *const get_b = block_b + (column + at.x) * PITCH_B + at.y;
    block_copy<T, BM, BK, BK, 128> copy_a;
    block_copy<T, BM, BK, PITCH_B, 128> copy_b;
    copy_a.begin(thread_index);
    copy_b.begin(thread_index);
    for (uint first = 0; first < s.k; first += BK) {
        const uint deep = min(BK, s.k - first);
        if (rows == BM && columns == BM && deep == BK) {
            copy_a.load(a, s.lda);
            copy_b.load(b, s.ldb);
            copy_a.store(block_a);
            copy_b.store(block_b);
        } else if (rows == BM && columns == BM && deep % 8 == 0) {
            copy_a.part(block_a, a, s.lda, deep);
            copy_b.part(block_b, b, s.ldb, deep);
        } else {
            copy_a.edge(block_a, a, s.lda, rows, deep);
            copy_b.edge(block_b, b, s.ldb, columns, deep);
        }
        a += BK;
        b += BK;
        threadgroup_barrier(mem_flags::mem_threadgroup);
        if (works) {
#pragma unroll
            for (uint k = 0; k < BK; k += 8)
                if (k < deep)
                    q.step(get_a + k, BK, get_b + k, PITCH_B);
        }
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    if (works) {
        q.gate(c + (first_row + at.y) * s.ldc + first_column + at.x, s.ldc);
        q.put(block + (row + at.y) * BM + column + at.x, BM);
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    copy_out<T, BM, 128>(block, c + row0 * s.ldc + column0, s.ldc, thread_index,
                         uint2(group.x * BM - column0, group.y * BM - row0), uint2(columns, rows));
}

template <typename T, typename SUM>
[[kernel, max_total_threads_per_threadgroup(32)]] void gate_direct(GATE_ARGUMENTS(T))
{
    constexpr uint SIZE = 32;
    threadgroup T block[SIZE * SIZE];
    const uint row0 = inside(group.y * SIZE, s.m, SIZE, SIZE), column0 = inside(group.x * SIZE, s.n, SIZE, SIZE);
    const ushort2 at = place_of(lane);
    quarter<T, SUM, 4, 4, false, true> q;
    a += (ulong)group.z * s.batch_a + row0 * s.lda;
    b += (ulong)group.z * s.batch_b + column0 * s.ldb;
    c += (ulong)group.z * s.batch_c + row0 * s.ldc + column0;
    q.begin_less(d + group.z * s.m + row0 + at.y);
    const uint in_place = s.k / 8 * 8;
    device const T *get_a = a + at.y * s.lda + at.x;
    device const T *get_b = b + at.x * s.ldb + at.y;
    for (uint k = 0; k < in_place; k += 8) {
        q.step(get_a, s.lda, get_b, s.ldb);
        get_a += 8;
        get_b += 8;
    }
    if (in_place < s.k) {
        rest_copy<T, true> copy_a, copy_b;
        copy_a.load(a + in_place, s.lda, s.k - in_place, lane);
        copy_b.load(b + in_place, s.ldb, s.k - in_place, lane);
        copy_a.store(block, lane);
        copy_b.store(block + SIZE * 8, lane);
        threadgroup_barrier(mem_flags::mem_threadgroup);
        q.step(block + at.y * 8 + at.x, 8, block + SIZE * 8 + at.x * 8 + at.y, 8);
    }
    q.gate(c + at.y * s.ldc + at.x, s.ldc);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    q.put(block + at.y * SIZE + at.x, SIZE);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    copy_out<T, SIZE, 32>(block, c, s.ldc, lane, uint2(group.x * SIZE - column0, group.y * SIZE - row0), uint2(SIZE, SIZE));
}

#define TYPES(T) device const T *, device const T *, device T *, constant gemm_sizes &, uint3, ushort, ushort
#define COPIED(name, T, ...) template [[host_name(name)]] kernel void copied<T, __VA_ARGS__>(TYPES(T));
#define DIRECT(name, T, ...) template [[host_name(name)]] kernel void direct<T, __VA_ARGS__>(TYPES(T));
#define BLOCK(T, SUM, B, K, AN, AT, BN, BT) \
    COPIED("mfa_gemm_nn_" #T "_" #B "x" #B "x" #K, T, SUM, B, B, K, AN, BN, false, false, false) \
    COPIED("mfa_gemm_nt_" #T "_" #B "x" #B "x" #K, T, SUM, B, B, K, AN, BT, false, true, false) \
    COPIED("mfa_gemm_tn_" #T "_" #B "x" #B "x" #K, T, SUM, B, B, K, AT, BN, true, false, false) \
    COPIED("mfa_gemm_tt_" #T "_" #B "x" #B "x" #K, T, SUM, B, B, K, AT, K, true, true, false) \
    COPIED("mfa_gemm_add_nn_" #T "_" #B "x" #B "x" #K, T, SUM, B, B, K, AN, BN, false, false, true) \
    COPIED("mfa_gemm_add_nt_" #T "_" #B "x" #B "x" #K, T, SUM, B, B, K, AN, BT, false, true, true)
#define DIRECTS(T, SUM) \
    DIRECT("mfa_gemm_nn_" #T "_direct", T, SUM, false, false, false) \
    DIRECT("mfa_gemm_nt_" #T "_direct", T, SUM, false, true, false) \
    DIRECT("mfa_gemm_tn_" #T "_direct", T, SUM, true, false, false) \
    DIRECT("mfa_gemm_tt_" #T "_direct", T, SUM, true, true, false) \
    DIRECT("mfa_gemm_add_nn_" #T "_direct", T, SUM, false, false, true) \
    DIRECT("mfa_gemm_add_nt_" #T "_direct", T, SUM, false, true, true)

BLOCK(float, float, 48, 24, 24, 52, 48, 28)
BLOCK(float, float, 32, 32, 32, 32, 32, 32)
BLOCK(half, half, 48, 32, 32, 48, 48, 32)
BLOCK(half, half, 32, 32, 32, 32, 32, 32)
DIRECTS(float, float)
DIRECTS(half, half)

#define GATE_TYPES(T) device const T *, device const T *, device T *, device const float *, constant gemm_sizes &, uint3, ushort, ushort
#define GATES(T, DEEP, PITCH) \
    template [[host_name("mfa_gate_" #T "_direct")]] kernel void gate_direct<T, float>(GATE_TYPES(T)); \
    template [[host_name("mfa_gate_" #T "_48x48x" #DEEP)]] kernel void gate_copied<T, float, 48, DEEP, PITCH>(GATE_TYPES(T)); \
    template [[host_name("mfa_gate_" #T "_32x32x32")]] kernel void gate_copied<T, float, 32, 32, 32>(GATE_TYPES(T));
GATES(float, 24, 28)
GATES(half, 32, 32)
