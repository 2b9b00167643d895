// c = a b in float32, row-major, as the GPU kernel of the library does it: 128 threads compute 64 x 64 of the result, each of the
// four simdgroups 32 x 32 in sixteen 8 x 8 matrices. 16 of k pass through threadgroup memory at a time, in two blocks: one is
// multiplied while the next comes from device memory. Rows of a and b are multiples of 64, k is a multiple of 32.
//
//   orchard run gemm.metal --grid 4096x32 --group 128 --args f32:2048x2048:rand:1 --args f32:2048x2048:rand:2
//       --args f32:2048x2048 --args u32:1:fill:2048 --args u32:1:fill:2048 --chip m1-max-32
#include <metal_simdgroup_matrix>
#include <metal_stdlib>
using namespace metal;

constant constexpr uint TILE = 64, STEP = 16;
constant constexpr uint PITCH_A = STEP + 4, PITCH_B = TILE + 4; // so that lanes of a load use different banks

struct block {
    float a[TILE * PITCH_A];
    float b[STEP * PITCH_B];
};

struct mover { // one thread's share of moving blocks
    device const float *from_a, *from_b;
    uint k, n, to_a, to_b;
    float4 next_a[2], next_b[2];

    void load()
    {
#pragma unroll
        for (uint p = 0; p < 2; p++) {
            next_a[p] = *(device const float4 *)(from_a + p * 32 * k);
            next_b[p] = *(device const float4 *)(from_b + p * 8 * n);
        }
        from_a += STEP;
        from_b += STEP * n;
    }
    void put(threadgroup block &to)
    {
#pragma unroll
        for (uint p = 0; p < 2; p++) {
            *(threadgroup float4 *)(to.a + to_a + 32 * p * PITCH_A) = next_a[p];
            *(threadgroup float4 *)(to.b + to_b + 8 * p * PITCH_B) = next_b[p];
        }
    }
};

static void multiply(thread simdgroup_float8x8 (&sum)[4][4], threadgroup const block &from, uint tile_row, uint tile_column)
{
#pragma unroll
    for (uint depth = 0; depth < STEP; depth += 8) {
        simdgroup_float8x8 left, right[4];
#pragma unroll
        for (uint i = 0; i < 4; i++)
            simdgroup_load(right[i], from.b + depth * PITCH_B + tile_column + 8 * i, PITCH_B);
#pragma unroll
        for (uint i = 0; i < 4; i++) {
            simdgroup_load(left, from.a + (tile_row + 8 * i) * PITCH_A + depth, PITCH_A);
#pragma unroll
            for (uint j = 0; j < 4; j++)
                simdgroup_multiply_accumulate(sum[i][j], left, right[j], sum[i][j]);
        }
    }
}

[[kernel, max_total_threads_per_threadgroup(128)]] void gemm(
    device const float *a [[buffer(0)]], device const float *b [[buffer(1)]], device float *c [[buffer(2)]],
    constant uint &n [[buffer(3)]], constant uint &k [[buffer(4)]], uint2 group [[threadgroup_position_in_grid]],
    uint thread_index [[thread_index_in_threadgroup]], uint simdgroup [[simdgroup_index_in_threadgroup]])
{
    threadgroup block blocks[2];
    const uint row_a = thread_index / 4, column_a = thread_index % 4 * 4;
    const uint row_b = thread_index / 16, column_b = thread_index % 16 * 4;
    const uint tile_row = simdgroup / 2 * 32, tile_column = simdgroup % 2 * 32;
    mover m;
    m.from_a = a + (group.y * TILE + row_a) * k + column_a;
    m.from_b = b + row_b * n + group.x * TILE + column_b;
    m.k = k;
    m.n = n;
    m.to_a = row_a * PITCH_A + column_a;
    m.to_b = row_b * PITCH_B + column_b;
    simdgroup_float8x8 sum[4][4];
#pragma unroll
    for (uint i = 0; i < 16; i++)
        sum[i / 4][i % 4] = make_filled_simdgroup_matrix<float, 8, 8>(0.0f);

    m.load();
    m.put(blocks[0]);
    m.load();
    threadgroup_barrier(mem_flags::mem_threadgroup);
    for (uint step = 2 * STEP; step < k; step += 2 * STEP) {
        multiply(sum, blocks[0], tile_row, tile_column);
        m.put(blocks[1]);
        m.load();
        threadgroup_barrier(mem_flags::mem_threadgroup);
        multiply(sum, blocks[1], tile_row, tile_column);
        m.put(blocks[0]);
        m.load();
        threadgroup_barrier(mem_flags::mem_threadgroup);
    }
    multiply(sum, blocks[0], tile_row, tile_column);
    m.put(blocks[1]);
    threadgroup_barrier(mem_flags::mem_threadgroup);
    multiply(sum, blocks[1], tile_row, tile_column);
    device float *to = c + (group.y * TILE + tile_row) * n + group.x * TILE + tile_column;
#pragma unroll
    for (uint i = 0; i < 4; i++)
#pragma unroll
        for (uint j = 0; j < 4; j++)
            simdgroup_store(sum[i][j], to + 8 * i * n + 8 * j, n);
}
