/* out = softmax(q k^T / sqrt(d)) v, in f32; compiled for each type of elements.
 *
 * Keys and values are packed once into the panels of gemm_tile.h: keys 12 to a panel, values 12 columns to a panel. A block of
 * eight queries meets all its keys; the scores lie in the thread's memory, eight queries side by side, so that softmax works on
 * all eight at once and the powers are at the same time the packed left side of the product with the values. */
#include "units/cpu/kernels/native/arguments.h"
#include "units/cpu/kernels/native/gemm_tile.h"
#include "units/cpu/kernels/native/neon_math.h"
#include "units/cpu/kernels/native/neon_pack.h"

/* Panels have 12 keys or columns. Of each thread: scores [s rounded up to 12][8], then queries [d][8]. */
void NAME(neon_attention_keys)(const struct attention *a, uint64_t first, uint64_t end, uint64_t thread);
void NAME(neon_attention_values)(const struct attention *a, uint64_t first, uint64_t end, uint64_t thread);
void NAME(neon_attention)(const struct attention *a, uint64_t first, uint64_t end, uint64_t thread);

static int64_t panels_of(int64_t count)
{
    return (count + TILE_COLUMNS - 1) / TILE_COLUMNS;
}

/* Items are panels of keys. */
void NAME(neon_attention_keys)(const struct attention *a, uint64_t first, uint64_t end, uint64_t thread)
{
    const int64_t panels = panels_of(a->length);
    (void)thread;
    for (int64_t at = (int64_t)first; at < (int64_t)end; at++) {
        const int64_t key = at % panels * TILE_COLUMNS;
        pack_along(a->keys + at * a->depth * TILE_COLUMNS, a->k + (at / panels * a->length + key) * a->depth, a->depth,
                   least(TILE_COLUMNS, a->length - key), TILE_COLUMNS, a->depth);
    }
}

/* Items are panels of columns of values. */
void NAME(neon_attention_values)(const struct attention *a, uint64_t first, uint64_t end, uint64_t thread)
{
    const int64_t panels = panels_of(a->depth);
    (void)thread;
    for (int64_t at = (int64_t)first; at < (int64_t)end; at++) {
        const int64_t column = at % panels * TILE_COLUMNS, used = least(TILE_COLUMNS, a->depth - column);
        pack_across(a->values + at * a->length * TILE_COLUMNS, a->v + at / panels * a->length * a->depth + column, a->depth, used,
                    TILE_COLUMNS, a->length);
    }
}

/* A block of queries, scaled: to[i * 8 + query], zeros behind the last one. */
static void take_queries(const struct attention *a, const element *q, int64_t used, float *to)
{
    pack_along(to, q, a->depth, used, TILE_ROWS, a->depth);
    for (int64_t i = 0; i < a->depth * TILE_ROWS; i += 4)
        vst1q_f32(to + i, vmulq_f32(vld1q_f32(to + i), four((float)a->scale)));
}

/* to[key * 8 + query] = tile[query * 12 + key] */
static void turn_tile(const float *tile, float *to)
{
    for (int j = 0; j < TILE_COLUMNS; j += 4)
        for (int n = 0; n < TILE_ROWS; n += 4) {
            const float *const at = tile + n * TILE_COLUMNS + j;
            turn4(to + j * TILE_ROWS + n, TILE_ROWS, vld1q_f32(at), vld1q_f32(at + TILE_COLUMNS),
                  vld1q_f32(at + 2 * TILE_COLUMNS), vld1q_f32(at + 3 * TILE_COLUMNS));
        }
}

/* score[key * 8 + query] for all keys; keys that a query must not see get minus infinity. */
static void find_scores(const struct attention *a, const float *queries, const float *keys, int64_t seen, int64_t query,
                        float *score)
{
    for (int64_t key = 0; key < seen; key += TILE_COLUMNS, keys += a->depth * TILE_COLUMNS) {
        float tile[TILE_ROWS * TILE_COLUMNS];
        neon_tile_f32(a->depth, queries, keys, tile, false);
        turn_tile(tile, score + key * TILE_ROWS);
    }
    for (int64_t key = query + 1; a->causal && key < seen; key++)
        for (int64_t n = 0; n < key - query && n < TILE_ROWS; n++)
            score[key * TILE_ROWS + n] = -__builtin_inff();
}

/* Scores become powers; returns one over their sums. Even and odd keys are added apart, so that additions overlap. */
static void soften(float *score, int64_t seen, float32x4_t share[2])
{
    float32x4_t most[2] = {vld1q_f32(score), vld1q_f32(score + 4)}, sum[4] = {four(0), four(0), four(0), four(0)};
    const int64_t even = seen & ~INT64_C(1);
    for (int64_t j = 0; j < seen; j++)
        for (int half = 0; half < 2; half++)
            most[half] = vmaxq_f32(most[half], vld1q_f32(score + j * TILE_ROWS + 4 * half));
    for (int64_t j = 0; j < even; j += 2)
        for (int i = 0; i < 4; i++) {
            const float32x4_t power = exp4(vsubq_f32(vld1q_f32(score + j * TILE_ROWS + 4 * i), most[i % 2]));
            sum[i] = vaddq_f32(sum[i], power);
            vst1q_f32(score + j * TILE_ROWS + 4 * i, power);
        }
    for (int half = 0; half < 2; half++) {
        if (even < seen) {
            const float32x4_t power = exp4(vsubq_f32(vld1q_f32(score + even * TILE_ROWS + 4 * half), most[half]));
            sum[half] = vaddq_f32(sum[half], power);
            vst1q_f32(score + even * TILE_ROWS + 4 * half, power);
        }
        share[half] = vdivq_f32(four(1), vaddq_f32(sum[half], sum[half + 2]));
    }
}

/* Twelve columns of the result of eight queries. */
static void write_columns(const struct attention *a, element *out, int64_t used, int64_t columns, const float *tile,
                          const float32x4_t share[2])
{
    float factor[TILE_ROWS];
    vst1q_f32(factor, share[0]);
    vst1q_f32(factor + 4, share[1]);
    for (int64_t n = 0; n < used; n++, out += a->depth, tile += TILE_COLUMNS)
        for (int64_t j = 0; j < columns; j += 4) {
            const float32x4_t x = vmulq_f32(vld1q_f32(tile + j), four(factor[n]));
            if (j + 4 <= columns)
                store4(out + j, x);
            else
                store_part(out + j, x, columns - j);
        }
}

/* Items are blocks of eight queries of a head. */
void NAME(neon_attention)(const struct attention *a, uint64_t first, uint64_t end, uint64_t thread)
{
    const int64_t blocks = (a->length + TILE_ROWS - 1) / TILE_ROWS, panels = panels_of(a->depth), keys = panels_of(a->length);
    float *const score = own_floats(a->own, a->own_bytes, thread), *const queries = score + keys * TILE_COLUMNS * TILE_ROWS;
    for (int64_t at = (int64_t)first; at < (int64_t)end; at++) {
        const int64_t head = at / blocks, query = at % blocks * TILE_ROWS, used = least(TILE_ROWS, a->length - query);
        const int64_t kv = head / a->heads * a->kv_heads + head % a->heads / (a->heads / a->kv_heads);
        const int64_t seen = a->causal ? query + used : a->length;
        const int64_t place = (head * a->length + query) * a->depth;
        float32x4_t share[2];
        take_queries(a, a->q + place, used, queries);
        find_scores(a, queries, a->keys + kv * keys * a->depth * TILE_COLUMNS, seen, query, score);
        soften(score, seen, share);
        for (int64_t p = 0; p < panels; p++) {
            const float *const v = a->values + (kv * panels + p) * a->length * TILE_COLUMNS;
            float tile[TILE_ROWS * TILE_COLUMNS];
            neon_tile_f32(seen, score, v, tile, false);
            write_columns(a, a->out + place + p * TILE_COLUMNS, used, least(TILE_COLUMNS, a->depth - p * TILE_COLUMNS), tile,
                          share);
        }
    }
}
