// Products as ggml has them (ggml-org/llama.cpp, ggml-metal.metal at 8e672ef): weights in rows, in float16 or blocks.
#include <metal_simdgroup>
#include <metal_simdgroup_matrix>
#include <metal_stdlib>
using namespace metal;

struct vector_sizes {
    uint in, out; // elements of a row, rows
};

struct block_q4_0 {
    half scale;
    ushort pair[8]; // byte i: element i low, element 16 + i high
};
struct block_q8_0 {
    half scale;
    char value[32];
};
struct block_q4_k {
    half scale, least;
    uchar part[12];  // six bits of scale and of minimum for each of eight parts
    uchar pair[128]; // 32 bytes for each 64 elements: the first 32 low, the others high
};

struct block_q6_k {
    uchar pair[128]; // of each half: 32 bytes of the first and third group, 32 of the second and fourth
    uchar upper[64]; // two bits above each nibble
    char part[16];   // scales
    half scale;
};

// Where the rows of a simdgroup begin, in elements of 16 bits; rows behind the last one are read as the last one.
template <uint ROWS> static void begin_rows(thread uint *at, uint row, uint first_block, uint unit, constant vector_sizes &s)
{
#pragma unroll
    for (uint r = 0; r < ROWS; r++)
        at[r] = (min(row + r, s.out - 1) * (s.in / 32) + first_block) * unit;
}

// What a lane has of a block in each row: all loads are under way before the first is used.
template <uint ROWS>
static void load_rows(thread ushort (*pairs)[4], thread half *scale, thread uint *at, device const ushort *halves, uint part,
                      uint step)
{
#pragma unroll
    for (uint r = 0; r < ROWS; r++) {
        device const ushort *const from = halves + at[r] + 1 + part * 4;
        scale[r] = as_type<half>(halves[at[r]]);
#pragma unroll
        for (uint i = 0; i < 4; i++)
            pairs[r][i] = from[i];
        at[r] += step;
    }
}

template <uint ROWS> static void end_rows(thread const float *sum, uint row, uint lane, constant vector_sizes &s, device float *out)
{
#pragma unroll
    for (uint r = 0; r < ROWS; r++) {
        const float all = simd_sum(sum[r]);
        if (lane == 0 && row + r < s.out)
            out[row + r] = all;
    }
}

// The first kernel: a row for each threadgroup of 8 x 8 threads. Four of the eight of a column share a block, four bytes each,
// which a compiler may read at once, because loads need elements aligned, no more; sums of threads meet in threadgroup memory in
// three steps.
[[kernel]] [[host_name("ggml_mul_mv_q4_0_first")]] void vector_q4_0_first(
    device const block_q4_0 *matrix [[buffer(0)]], device const float *vector [[buffer(1)]], device float *out [[buffer(2)]],
    constant vector_sizes &s [[buffer(3)]], uint row [[threadgroup_position_in_grid]],
    uint thread_number [[thread_index_in_threadgroup]])
{
    constexpr uint BYTES = sizeof(block_q4_0), SIDE = 8;
    threadgroup float sums[SIDE * SIDE];
    const uint blocks = s.in / 32, column = thread_number % SIDE, second = thread_number / SIDE / 4,
               first = thread_number / SIDE % 4 * 4, slot = column * SIDE + thread_number / SIDE;
    device const uchar *const bytes = (device const uchar *)matrix + row * blocks * BYTES;
    float sum = 0;
    for (uint b = 2 * column + second; b < blocks; b += 2 * SIDE) {
        const float scale = *(device const half *)(bytes + b * BYTES);
        device const ushort *const pair = (device const ushort *)(bytes + b * BYTES + 2 + first);
        device const float *const x = vector + b * 32 + first;
        float low = 0, high = 0;
#pragma unroll
        for (uint i = 0; i < 4; i++) {
            const uint nibbles = pair[i / 2] >> i % 2 * 8;
            low += x[i] * (float)((int)(nibbles & 15) - 8);
            high += x[16 + i] * (float)((int)(nibbles >> 4 & 15) - 8);
        }
        sum += scale * (low + high);
    }
    sums[slot] = sum;
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (slot % 4 == 0)
        sums[slot] += sums[slot + 1] + sums[slot + 2] + sums[slot + 3];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (slot % 16 == 0)
        sums[slot] += sums[slot + 4] + sums[slot + 8] + sums[slot + 12];
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (slot == 0)
        out[row] = sums[0] + sums[16] + sums[32] + sums[48];
}

// A simdgroup has ROWS rows. Two lanes share a block: each has 16 of the vector in registers, divided by the places of the bits that
// they meet.
template <uint ROWS, uint GROUPS>
[[kernel]] void vector_q4_0(device const block_q4_0 *matrix [[buffer(0)]], device const float *vector [[buffer(1)]],
                            device float *out [[buffer(2)]], constant vector_sizes &s [[buffer(3)]],
                            uint group [[threadgroup_position_in_grid]], uint simdgroup [[simdgroup_index_in_threadgroup]],
                            uint lane [[thread_index_in_simdgroup]])
{
    constexpr uint UNIT = sizeof(block_q4_0) / 2;
    device const ushort *const halves = (device const ushort *)matrix;
    const uint blocks = s.in / 32, row = (group * GROUPS + simdgroup) * ROWS, part = lane % 2;
    uint at[ROWS], x = lane / 2 * 32 + part * 8;
    float sum[ROWS] = {};
    begin_rows<ROWS>(at, row, lane / 2, UNIT, s);
    for (uint b = lane / 2; b < blocks; b += 16) {
        device const float4 *const from = (device const float4 *)(vector + x);
        ushort pairs[ROWS][4];
        half scale[ROWS];
        load_rows<ROWS>(pairs, scale, at, halves, part, 16 * UNIT);
        const float4 four[4] = {from[0], from[1], from[4], from[5]};
        float low[8], high[8], all = 0;
#pragma unroll
        for (uint i = 0; i < 8; i++) {
            low[i] = four[i / 4][i % 4];
            high[i] = four[2 + i / 4][i % 4];
        }
#pragma unroll
        for (uint i = 0; i < 8; i++) {
            all += low[i] + high[i];
            low[i] *= i % 2 ? 1.0f / 256 : 1.0f;
            high[i] *= i % 2 ? 1.0f / 4096 : 1.0f / 16;
        }
#pragma unroll
        for (uint r = 0; r < ROWS; r++) {
            float product = all * -8;
#pragma unroll
            for (uint i = 0; i < 4; i++) {
                const ushort q = pairs[r][i];
                product += low[2 * i] * (float)(ushort)(q & 0x000f) + low[2 * i + 1] * (float)(ushort)(q & 0x0f00) +
                           high[2 * i] * (float)(ushort)(q & 0x00f0) + high[2 * i + 1] * (float)(ushort)(q & 0xf000);
            }
            sum[r] += (float)scale[r] * product;
        }
        x += 16 * 32;
    }
    end_rows<ROWS>(sum, row, lane, s, out);
}

// Four lanes share a block, eight numbers each. The even ones of a word are made positive, the odd ones stay where they are.
template <uint ROWS, uint GROUPS>
[[kernel]] void vector_q8_0(device const block_q8_0 *matrix [[buffer(0)]], device const float *vector [[buffer(1)]],
                            device float *out [[buffer(2)]], constant vector_sizes &s [[buffer(3)]],
                            uint group [[threadgroup_position_in_grid]], uint simdgroup [[simdgroup_index_in_threadgroup]],
                            uint lane [[thread_index_in_simdgroup]])
{
    constexpr uint UNIT = sizeof(block_q8_0) / 2;
    device const ushort *const halves = (device const ushort *)matrix;
    const uint blocks = s.in / 32, row = (group * GROUPS + simdgroup) * ROWS, part = lane % 4;
    uint at[ROWS], x = lane / 4 * 32 + part * 8;
    float sum[ROWS] = {};
    begin_rows<ROWS>(at, row, lane / 4, UNIT, s);
    for (uint b = lane / 4; b < blocks; b += 8) {
        device const float4 *const from = (device const float4 *)(vector + x);
        ushort pairs[ROWS][4];
        half scale[ROWS];
        load_rows<ROWS>(pairs, scale, at, halves, part, 8 * UNIT);
        const float4 four[2] = {from[0], from[1]};
        float even[4], odd[4], all = 0;
#pragma unroll
        for (uint i = 0; i < 4; i++) {
            even[i] = four[i / 2][i % 2 * 2];
            odd[i] = four[i / 2][i % 2 * 2 + 1] * (1.0f / 256);
            all += even[i];
        }
#pragma unroll
        for (uint r = 0; r < ROWS; r++) {
            float product = all * -128;
#pragma unroll
            for (uint i = 0; i < 4; i++) {
                const ushort q = pairs[r][i];
                product += even[i] * (float)(ushort)((q ^ 0x80) & 0xff) + odd[i] * (float)(short)(q & 0xff00);
            }
            sum[r] += (float)scale[r] * product;
        }
        x += 8 * 32;
    }
    end_rows<ROWS>(sum, row, lane, s, out);
}

// Eight lanes share a block of 256: 16 elements of two of its parts each.
template <uint ROWS, uint GROUPS>
[[kernel]] void vector_q4_k(device const block_q4_k *matrix [[buffer(0)]], device const float *vector [[buffer(1)]],
                            device float *out [[buffer(2)]], constant vector_sizes &s [[buffer(3)]],
                            uint group [[threadgroup_position_in_grid]], uint simdgroup [[simdgroup_index_in_threadgroup]],
                            uint lane [[thread_index_in_simdgroup]])
{
    const uint blocks = s.in / 256, row = (group * GROUPS + simdgroup) * ROWS;
    const uint which = lane % 8 / 2, begin = lane % 2 * 16, part = 2 * which;
    float sum[ROWS];
#pragma unroll
    for (uint r = 0; r < ROWS; r++)
        sum[r] = 0;
    for (uint b = lane / 8; b < blocks; b += 4) {
        device const float *const at = vector + b * 256 + which * 64 + begin;
        float low[16], high[16], low_all = 0, high_all = 0;
#pragma unroll
        for (uint i = 0; i < 16; i++) {
            low[i] = at[i];
            high[i] = at[i + 32];
        }
#pragma unroll
        for (uint i = 0; i < 16; i++) {
            low_all += low[i];
            high_all += high[i];
            high[i] *= 1.0f / 16;
        }
#pragma unroll
        for (uint r = 0; r < ROWS; r++) {
            if (row + r >= s.out)
                continue;
            device const block_q4_k *const from = matrix + (ulong)(row + r) * blocks + b;
            float scale[2], least[2];
#pragma unroll
            for (uint i = 0; i < 2; i++) {
                const uint p = part + i, q = p % 4, first = from->part[q], second = from->part[q + 4], third = from->part[q + 8];
                const uint late_scale = first >> 6 << 4 | (third & 15), late_least = second >> 6 << 4 | third >> 4;
                scale[i] = (float)(p < 4 ? first & 63 : late_scale);
                least[i] = (float)(p < 4 ? second & 63 : late_least);
            }
            device const uchar *const pair = from->pair + which * 32 + begin;
            float a = 0, c = 0;
#pragma unroll
            for (uint i = 0; i < 16; i++) {
                const uint q = pair[i];
                a += low[i] * (float)(q & 0x0f);
                c += high[i] * (float)(q & 0xf0);
            }
            sum[r] += (float)from->scale * (scale[0] * a + scale[1] * c) -
                      (float)from->least * (least[0] * low_all + least[1] * high_all);
        }
    }
#pragma unroll
    for (uint r = 0; r < ROWS; r++) {
        const float all = simd_sum(sum[r]);
        if (lane == 0 && row + r < s.out)
            out[row + r] = all;
    }
}

// Sixteen lanes share a block of 256: four neighbours of each of four groups of 32, in one half of it. ggml says bytes; they are read as
// words of 16 bits, as its other kernels do, which Apple's compiler is taken to make of them.
template <uint ROWS, uint GROUPS>
[[kernel]] void vector_q6_k(device const block_q6_k *matrix [[buffer(0)]], device const float *vector [[buffer(1)]],
                            device float *out [[buffer(2)]], constant vector_sizes &s [[buffer(3)]],
                            uint group [[threadgroup_position_in_grid]], uint simdgroup [[simdgroup_index_in_threadgroup]],
                            uint lane [[thread_index_in_simdgroup]])
{
    constexpr uint UNIT = sizeof(block_q6_k), UPPER = 128, SCALES = 192, SCALE = 208;
    device const uchar *const bytes = (device const uchar *)matrix;
    device const half *const halves = (device const half *)matrix;
    const uint blocks = s.in / 256, row = (group * GROUPS + simdgroup) * ROWS;
    const uint place = lane / 2, half_of = place / 8, begin = place % 8 * 4;
    const uint low = half_of * 64 + begin, up = UPPER + half_of * 32 + begin, own = SCALES + half_of * 8 + begin / 16;
    uint at[ROWS], x = lane % 2 * 256 + half_of * 128 + begin;
    float sum[ROWS] = {};
#pragma unroll
    for (uint r = 0; r < ROWS; r++)
        at[r] = (min(row + r, s.out - 1) * blocks + lane % 2) * UNIT;
    for (uint b = lane % 2; b < blocks; b += 2) {
        device const float4 *const from = (device const float4 *)(vector + x);
        const float4 values[4] = {from[0], from[8], from[16], from[24]};
#pragma unroll
        for (uint r = 0; r < ROWS; r++) {
            device const ushort *const first = (device const ushort *)(bytes + (at[r] + low)),
                                *const upper = (device const ushort *)(bytes + (at[r] + up));
            device const char *const scale = (device const char *)bytes + (at[r] + own);
            float four[4] = {};
#pragma unroll
            for (uint i = 0; i < 4; i++) {
                const uint down = i % 2 * 8, a = first[i / 2] >> down, c = first[16 + i / 2] >> down, u = upper[i / 2] >> down;
                four[0] += values[0][i] * (float)(short)((a & 15 | (u & 3) << 4) - 32);
                four[1] += values[1][i] * (float)(short)((c & 15 | (u & 12) << 2) - 32);
                four[2] += values[2][i] * (float)(short)((a >> 4 & 15 | u & 48) - 32);
                four[3] += values[3][i] * (float)(short)((c >> 4 & 15 | (u & 192) >> 2) - 32);
            }
            float all = 0;
#pragma unroll
            for (uint i = 0; i < 4; i++)
                all += four[i] * (float)scale[2 * i];
            sum[r] += (float)halves[(at[r] + SCALE) / 2] * all;
            at[r] += 2 * UNIT;
        }
        x += 2 * 256;
    }
    end_rows<ROWS>(sum, row, lane, s, out);
}

// A threadgroup of one simdgroup for each row, whose lanes take four elements in each step. ggml says no more; what Apple's compiler made of
// f16 times f32 in 2024-04 has more steps under way at once: its pipeline takes 768 threads on M1 (llama.cpp's own tests at 74d57f9,
// kernel_mul_mv_f16_f32_1row), so a thread has 130 to 136 half registers, of which eight steps need 96: by eight LLVM unrolls loops of
// unknown length (LoopUnrollPass.cpp). That of f16 times f16 took 1024 then, and from 2025-01 on both do (llama-cpp-python on M2 Max).
template <typename T, typename V, uint AHEAD>
[[kernel]] void vector_plain(device const T *matrix [[buffer(0)]], device const V *vector [[buffer(1)]], device V *out [[buffer(2)]],
                             constant vector_sizes &s [[buffer(3)]], uint row [[threadgroup_position_in_grid]],
                             uint lane [[thread_index_in_simdgroup]])
{
    constexpr uint STEP = 128, LAST = (AHEAD - 1) * STEP + 4;
    float sum = 0;
    device const T *const from = matrix + (ulong)row * s.in;
    uint i = lane * 4;
    for (; AHEAD > 1 && i + LAST <= s.in; i += AHEAD * STEP) {
        vec<T, 4> a[AHEAD];
        vec<V, 4> x[AHEAD];
#pragma unroll
        for (uint k = 0; k < AHEAD; k++) {
            a[k] = *(device const vec<T, 4> *)(from + i + k * STEP);
            x[k] = *(device const vec<V, 4> *)(vector + i + k * STEP);
        }
#pragma unroll
        for (uint k = 0; k < AHEAD; k++)
#pragma unroll
            for (uint e = 0; e < 4; e++)
                sum += (float)a[k][e] * (float)x[k][e];
    }
    for (; i + 4 <= s.in; i += STEP) {
        device const T *const a = from + i;
        device const V *const x = vector + i;
#pragma unroll
        for (uint e = 0; e < 4; e++)
            sum += (float)a[e] * (float)x[e];
    }
    for (; i < s.in; i++)
        sum += (float)from[i] * (float)vector[i];
    sum = simd_sum(sum);
    if (lane == 0)
        out[row] = (V)sum;
}

struct matrix_sizes {
    uint tokens, rows, depth;
    uint batch_tokens, batch_rows, batch_out;
};

// 64 rows of weights x 32 tokens, 32 of the depth at a time. Weights become float16 in the order in which 8x8 matrices are read,
// tokens stay float32. A simdgroup has 32 rows x 16 tokens.
[[kernel, max_total_threads_per_threadgroup(128)]] void ggml_mul_mm_half(
    device const half *tokens [[buffer(0)]], device const half *weights [[buffer(1)]], device half *out [[buffer(2)]],
    constant matrix_sizes &s [[buffer(3)]], uint3 group [[threadgroup_position_in_grid]],
    uint thread_index [[thread_index_in_threadgroup]], uint simdgroup [[simdgroup_index_in_threadgroup]],
    uint lane [[thread_index_in_simdgroup]])
{
    constexpr uint ROWS = 64, TOKENS = 32, DEPTH = 32;
    threadgroup float memory[2048]; // 4 KiB of weights, 4 KiB of tokens; at an edge, results
    threadgroup half *const block_w = (threadgroup half *)memory;
    threadgroup float *const block_t = memory + 1024;
    const uint row0 = group.y * ROWS, token0 = group.x * TOKENS;
    const uint rows = min(ROWS, s.rows - row0), there = min(TOKENS, s.tokens - token0);
    // what this thread copies: half of a row of weights, a quarter of a token; beyond the edge the last one again
    const uint row = min(thread_index / 2, rows - 1), token = min(thread_index / 4, there - 1);
    device const half *from_w = weights + (ulong)group.z * s.batch_rows + (ulong)(row0 + row) * s.depth + thread_index % 2 * 16;
    device const half *from_t = tokens + (ulong)group.z * s.batch_tokens + (ulong)(token0 + token) * s.depth + thread_index % 4 * 8;
    simdgroup_float8x8 sum[2][4];
#pragma unroll
    for (uint i = 0; i < 8; i++)
        sum[i / 4][i % 4] = simdgroup_float8x8(0);
    const uint own_row = thread_index / 2, own_token = thread_index / 4;
    for (uint k = 0; k < s.depth; k += DEPTH) {
        half w[16];
        float t[8];
        threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
        for (uint i = 0; i < 16; i++)
            w[i] = from_w[i];
#pragma unroll
        for (uint i = 0; i < 8; i++)
            t[i] = (float)from_t[i];
        // matrix (k / 8, row / 8), k in rows
#pragma unroll
        for (uint i = 0; i < 16; i++)
            block_w[((thread_index % 2 * 2 + i / 8) * 8 + own_row / 8) * 64 + i % 8 * 8 + own_row % 8] = w[i];
        threadgroup float *const put = block_t + ((thread_index % 4) * 4 + own_token / 8) * 64 + own_token % 8 * 8;
#pragma unroll
        for (uint i = 0; i < 8; i++)
            put[i] = t[i];
        from_w += DEPTH;
        from_t += DEPTH;
        threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
        for (uint step = 0; step < 4; step++) {
            simdgroup_half8x8 left_h[4];
            simdgroup_float8x8 right[2];
#pragma unroll
            for (uint i = 0; i < 4; i++)
                simdgroup_load(left_h[i], block_w + (step * 8 + simdgroup % 2 * 4 + i) * 64, 8);
#pragma unroll
            for (uint j = 0; j < 2; j++)
                simdgroup_load(right[j], block_t + (step * 4 + simdgroup / 2 * 2 + j) * 64, 8);
#pragma unroll
            for (uint j = 0; j < 2; j++)
#pragma unroll
                for (uint i = 0; i < 4; i++)
                    simdgroup_multiply_accumulate(sum[j][i], right[j], left_h[i], sum[j][i]);
        }
    }
    const uint quad = lane / 4, fragment_row = (quad & 4) + lane / 2 % 4, fragment_column = (quad & 2) * 2 + lane % 2 * 2;
    const uint first_token = simdgroup / 2 * 16 + fragment_row, first_row = simdgroup % 2 * 32 + fragment_column;
    out += (ulong)group.z * s.batch_out + (ulong)token0 * s.rows + row0;
    if (rows == ROWS && there == TOKENS) {
#pragma unroll
        for (uint j = 0; j < 2; j++)
#pragma unroll
            for (uint i = 0; i < 4; i++) {
                device half *const to = out + (ulong)(first_token + 8 * j) * s.rows + first_row + 8 * i;
                to[0] = (half)sum[j][i].thread_elements()[0];
                to[1] = (half)sum[j][i].thread_elements()[1];
            }
        return;
    }
    threadgroup_barrier(mem_flags::mem_threadgroup);
#pragma unroll
    for (uint j = 0; j < 2; j++)
#pragma unroll
        for (uint i = 0; i < 4; i++) {
            memory[(first_token + 8 * j) * ROWS + first_row + 8 * i] = sum[j][i].thread_elements()[0];
            memory[(first_token + 8 * j) * ROWS + first_row + 8 * i + 1] = sum[j][i].thread_elements()[1];
        }
    threadgroup_barrier(mem_flags::mem_threadgroup);
    if (simdgroup)
        return;
    for (uint t = 0; t < there; t++)
        for (uint r = lane; r < rows; r += 32)
            out[(ulong)t * s.rows + r] = (half)memory[t * ROWS + r];
}

#define VECTOR(type, ROWS, GROUPS) \
    template [[host_name("ggml_mul_mv_" #type "_" #ROWS "x" #GROUPS)]] kernel void vector_##type<ROWS, GROUPS>( \
        device const block_##type *, device const float *, device float *, constant vector_sizes &, uint, uint, uint);
VECTOR(q4_0, 4, 2)
VECTOR(q8_0, 4, 2)
VECTOR(q8_0, 2, 4)
VECTOR(q4_k, 4, 1)
VECTOR(q4_k, 2, 2)
VECTOR(q6_k, 1, 2)
VECTOR(q6_k, 2, 2)
#define PLAIN(name, T, V, AHEAD) \
    template [[host_name("ggml_mul_mv_" name)]] kernel void vector_plain<T, V, AHEAD>( \
        device const T *, device const V *, device V *, constant vector_sizes &, uint, uint);
PLAIN("half", half, half, 1)
PLAIN("half_float", half, float, 1)
PLAIN("half_float_8", half, float, 8)
PLAIN("float", float, float, 1)
