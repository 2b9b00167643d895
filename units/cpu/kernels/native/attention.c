/* out = softmax(q k^T / sqrt(d)) v, in f32; compiled for each type of elements.
 *
 * Keys and values are packed once into the panels of gemm_tile.h: keys 12 to a panel, values 12 columns to a panel. A block of
 * eight queries meets all its keys; the scores lie in the thread's memory, eight queries side by side, so that softmax works on
 * all eight at once and the powers are at the same time the packed left side of the product with the values. */
#include "units/cpu/kernels/native/gemm_tile.h"
#include "units/cpu/kernels/native/neon.h"
#include "units/cpu/kernels/native/neon_math.h"

/* ORDER: cpu_kernel_attention.c. */
struct attention {
    const element *q, *k, *v;
    element *out;
    float *keys;   /* [b * kvh][panel][d][12] */
    float *values; /* [b * kvh][panel of d][s][12] */
    char *own;     /* of each thread: scores [s rounded up to 12][8], then queries [d][8] */
    int64_t own_bytes, heads, kv_heads, length, depth, causal;
    double scale;
};
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
        const element *const k = a->k + (at / panels * a->length + key) * a->depth;
        float *const to = a->keys + at * a->depth * TILE_COLUMNS;
        for (int64_t j = 0; j < TILE_COLUMNS; j++)
            for (int64_t i = 0; i < a->depth; i++)
                to[i * TILE_COLUMNS + j] = key + j < a->length ? load1(k + j * a->depth + i) : 0;
    }
}

/* Items are panels of columns of values. */
void NAME(neon_attention_values)(const struct attention *a, uint64_t first, uint64_t end, uint64_t thread)
{
    const int64_t panels = panels_of(a->depth);
    (void)thread;
    for (int64_t at = (int64_t)first; at < (int64_t)end; at++) {
        const int64_t column = at % panels * TILE_COLUMNS, used = least(TILE_COLUMNS, a->depth - column);
        const element *v = a->v + at / panels * a->length * a->depth + column;
        float *to = a->values + at * a->length * TILE_COLUMNS;
        for (int64_t row = 0; row < a->length; row++, v += a->depth, to += TILE_COLUMNS)
            for (int64_t j = 0; j < TILE_COLUMNS; j += 4)
                vst1q_f32(to + j, j + 4 <= used ? load4(v + j) : load_part(v + j, used - j));
    }
}

/* A block of queries, scaled: to[i * 8 + query], zeros behind the last one. */
static void take_queries(const struct attention *a, const element *q, int64_t used, float *to)
{
    for (int64_t n = 0; n < TILE_ROWS; n++)
        for (int64_t i = 0; i < a->depth; i++)
            to[i * TILE_ROWS + n] = n < used ? load1(q + n * a->depth + i) * (float)a->scale : 0;
}

/* score[key * 8 + query] for all keys; keys that a query must not see get minus infinity. */
static void find_scores(const struct attention *a, const float *queries, const float *keys, int64_t seen, int64_t query,
                        float *score)
{
    for (int64_t key = 0; key < seen; key += TILE_COLUMNS, keys += a->depth * TILE_COLUMNS) {
        float tile[TILE_ROWS * TILE_COLUMNS];
        neon_tile_f32(a->depth, queries, keys, tile, false);
        const int64_t used = least(TILE_COLUMNS, seen - key);
        for (int64_t j = 0; j < used; j++)
            for (int64_t n = 0; n < TILE_ROWS; n++) {
                const bool hidden = a->causal && key + j > query + n;
                score[(key + j) * TILE_ROWS + n] = hidden ? -__builtin_inff() : tile[n * TILE_COLUMNS + j];
            }
    }
}

/* Scores become powers; returns one over their sums. */
static void soften(float *score, int64_t seen, float32x4_t share[2])
{
    for (int half = 0; half < 2; half++) {
        float *const at = score + 4 * half;
        float32x4_t most = vld1q_f32(at), sum = four(0);
        for (int64_t j = 1; j < seen; j++)
            most = vmaxq_f32(most, vld1q_f32(at + j * TILE_ROWS));
        for (int64_t j = 0; j < seen; j++) {
            const float32x4_t power = exp4(vsubq_f32(vld1q_f32(at + j * TILE_ROWS), most));
            sum = vaddq_f32(sum, power);
            vst1q_f32(at + j * TILE_ROWS, power);
        }
        share[half] = vdivq_f32(four(1), sum);
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
    float *const score = (float *)(a->own + thread * (uint64_t)a->own_bytes), *const queries =
                                                                                  score + keys * TILE_COLUMNS * TILE_ROWS;
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
