/* The last tokens of a text attend to all tokens so far, whose keys and values are in a cache; sums in f32, compiled for each
 * type of elements. Operands are [token][head][d]. A query and a head meet the keys four at a time; the powers of the scores lie
 * in the thread's memory, and sixteen columns of the result are summed over all values at a time. Keys and values may lie in
 * pages, whose places a table has. */
#include "units/cpu/kernels/native/neon.h"
#include "units/cpu/kernels/native/attention_scores.h"

/* ORDER: cpu_kernel_attention.c. */
struct cache {
    const element *q, *k, *v;
    element *out;
    char *own;                                                 /* of each thread: scores of all tokens, in whole fours */
    int64_t own_bytes, heads, kv_heads, tokens, depth, before; /* before: tokens that the first query sees besides one */
    double scale;
    const element *bias; /* of each query, token and head; NULL = none */
    struct paged paged;  /* of functions for pages alone */
};
void NAME(neon_attention_cache)(const struct cache *c, uint64_t first, uint64_t end, uint64_t thread);
void NAME(neon_attention_cache_paged)(const struct cache *c, uint64_t first, uint64_t end, uint64_t thread);
void NAME(neon_attention_cache_paged_biased)(const struct cache *c, uint64_t first, uint64_t end, uint64_t thread);

/* Four scores; keys behind the last one repeat it. */
static INLINE float32x4_t scores(const struct cache *c, bool paged, const element *q, const element *k, int64_t key, int64_t seen)
{
    const int64_t step = c->kv_heads * c->depth, moved = paged ? row_in_pages(&c->paged, key) - key : 0;
    const element *at[KEYS];
    float32x4_t sum[KEYS];
    int64_t i = 0;
    for (int n = 0; n < KEYS; n++) {
        at[n] = k + (moved + least(key + n, seen - 1)) * step;
        sum[n] = four(0);
    }
    for (; i + 4 <= c->depth; i += 4) {
        const float32x4_t x = load4(q + i);
        for (int n = 0; n < KEYS; n++)
            sum[n] = vfmaq_f32(sum[n], load4(at[n] + i), x);
    }
    if (i < c->depth) {
        const float32x4_t x = load_part(q + i, c->depth - i);
        for (int n = 0; n < KEYS; n++)
            sum[n] = vfmaq_f32(sum[n], load_part(at[n] + i, c->depth - i), x);
    }
    return vmulq_f32(vpaddq_f32(vpaddq_f32(sum[0], sum[1]), vpaddq_f32(sum[2], sum[3])), four((float)c->scale));
}

/* Adds up to four columns of so many values that follow one another, or all sixteen. */
static INLINE void add_columns(const struct cache *c, const float *power, const element *v, int64_t count, int64_t used,
                               float32x4_t *sum)
{
    const int64_t step = c->kv_heads * c->depth;
    for (int64_t j = 0; j < count; j++)
        if (used == COLUMNS)
            for (int i = 0; i < 4; i++)
                sum[i] = vfmaq_f32(sum[i], load4(v + j * step + 4 * i), four(power[j]));
        else
            sum[0] = vfmaq_f32(sum[0], used == 4 ? load4(v + j * step) : load_part(v + j * step, used), four(power[j]));
}

static INLINE void sum_columns(const struct cache *c, bool paged, const float *power, const element *v, int64_t seen,
                               int64_t used, float32x4_t *sum)
{
    const int64_t step = c->kv_heads * c->depth, page = paged ? INT64_C(1) << c->paged.bits : seen;
    if (paged)
        for (int64_t j = 0; j < seen; j += page)
            add_columns(c, power + j, v + row_in_pages(&c->paged, j) * step, least(page, seen - j), used, sum);
    else
        add_columns(c, power, v, seen, used, sum);
}

/* Up to sixteen columns of the result, from values at `v`. */
static INLINE void write_columns(const struct cache *c, bool paged, const float *power, const element *v, int64_t seen,
                                 int64_t columns, float share, element *out)
{
    float32x4_t sum[4] = {four(0), four(0), four(0), four(0)};
    if (columns == COLUMNS) {
        sum_columns(c, paged, power, v, seen, COLUMNS, sum);
        for (int i = 0; i < 4; i++)
            store4(out + 4 * i, vmulq_f32(sum[i], four(share)));
        return;
    }
    for (int64_t i = 0; i < columns; i += 4) {
        const int64_t used = least(4, columns - i);
        sum[0] = four(0);
        sum_columns(c, paged, power, v + i, seen, used, sum);
        store_part(out + i, vmulq_f32(sum[0], four(share)), used);
    }
}

/* Four scores and their biases; those behind the last key are left out afterwards. */
static INLINE float32x4_t with_bias(const struct cache *c, float32x4_t score, int64_t at, int64_t key, int64_t seen)
{
    const element *const of_query = c->bias + at / c->heads * c->tokens * c->heads + at % c->heads;
    float bias[KEYS];
    for (int n = 0; n < KEYS; n++)
        bias[n] = load1(of_query + least(key + n, seen - 1) * c->heads);
    return vaddq_f32(score, vld1q_f32(bias));
}

/* Items are heads of queries. */
static INLINE void over_cache(const struct cache *c, bool paged, bool biased, uint64_t first, uint64_t end, uint64_t thread)
{
    float *const score = (float *)(c->own + thread * (uint64_t)c->own_bytes);
    for (int64_t at = (int64_t)first; at < (int64_t)end; at++) {
        const int64_t head = at % c->heads / (c->heads / c->kv_heads) * c->depth;
        const int64_t seen = least(c->tokens, c->before + at / c->heads + 1);
        for (int64_t key = 0; key < seen; key += KEYS) {
            const float32x4_t four_scores = scores(c, paged, c->q + at * c->depth, c->k + head, key, seen);
            vst1q_f32(score + key, biased && c->bias ? with_bias(c, four_scores, at, key, seen) : four_scores);
        }
        const float share = soften(score, seen);
        for (int64_t i = 0; i < c->depth; i += COLUMNS)
            write_columns(c, paged, score, c->v + head + i, seen, least(COLUMNS, c->depth - i), share,
                          c->out + at * c->depth + i);
    }
}

void NAME(neon_attention_cache)(const struct cache *c, uint64_t first, uint64_t end, uint64_t thread)
{
    over_cache(c, false, true, first, end, thread);
}

void NAME(neon_attention_cache_paged)(const struct cache *c, uint64_t first, uint64_t end, uint64_t thread)
{
    over_cache(c, true, false, first, end, thread);
}

void NAME(neon_attention_cache_paged_biased)(const struct cache *c, uint64_t first, uint64_t end, uint64_t thread)
{
    over_cache(c, true, true, first, end, thread);
}
