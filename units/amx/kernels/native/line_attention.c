/* attention on the AMX block, sums in f32; compiled for each type of elements.
 *
 * Keys and values are packed once into panels of sixteen. A block of 64 queries stands in the lanes all the way: scores are lines
 * of 64 queries, one for each key, so that the largest, the powers and their sum need no sum over lanes, and the powers are rows
 * of the second product as they are. Only results are turned, by the core, which also divides. */
#include "units/amx/kernels/native/line_elements.h"
#include "units/amx/kernels/native/line_function.h"
#include "units/amx/kernels/native/line_outer.h"
#include "units/cpu/kernels/native/arguments.h"

/* Panels have 16 keys or columns. Of each thread: */
struct own {
    float *queries; /* [d][64], times scale */
    float *scores;  /* [key, padded to panels][64] */
};
void NAME(amx_attention_keys)(const struct attention *a, uint64_t first, uint64_t end, uint64_t thread);
void NAME(amx_attention_values)(const struct attention *a, uint64_t first, uint64_t end, uint64_t thread);
void NAME(amx_attention)(const struct attention *a, uint64_t first, uint64_t end, uint64_t thread);

static int64_t panels_of(int64_t count)
{
    return (count + OUTER - 1) / OUTER;
}

/* Items are panels of 16 keys of all heads. */
void NAME(amx_attention_keys)(const struct attention *a, uint64_t first, uint64_t end, uint64_t thread)
{
    const int64_t panels = panels_of(a->length);
    (void)thread;
    for (int64_t at = (int64_t)first; at < (int64_t)end; at++) {
        const int64_t key = at % panels * OUTER;
        const element *const k = a->k + (at / panels * a->length + key) * a->depth;
        float *to = a->keys + at * a->depth * OUTER;
        for (int64_t i = 0; i < a->depth; i++)
            for (int64_t j = 0; j < OUTER; j++)
                *to++ = key + j < a->length ? load1(k + j * a->depth + i) : 0;
    }
}

/* Items are panels of 16 columns of values of all heads. */
void NAME(amx_attention_values)(const struct attention *a, uint64_t first, uint64_t end, uint64_t thread)
{
    const int64_t panels = panels_of(a->depth);
    (void)thread;
    for (int64_t at = (int64_t)first; at < (int64_t)end; at++) {
        const int64_t column = at % panels * OUTER;
        const element *const v = a->v + at / panels * a->length * a->depth + column;
        float *to = a->values + at * a->length * OUTER;
        for (int64_t i = 0; i < a->length; i++)
            for (int64_t j = 0; j < OUTER; j++)
                *to++ = column + j < a->depth ? load1(v + i * a->depth + j) : 0;
    }
}

static void pack_queries(const struct attention *a, const struct own *o, const element *q, int64_t queries)
{
    const float scale = (float)a->scale;
    for (int64_t i = 0; i < a->depth; i++)
        for (int64_t j = 0; j < VARIABLE; j++)
            o->queries[i * VARIABLE + j] = j < queries ? load1(q + j * a->depth + i) * scale : 0;
}

/* Scores of the block with the first `keys` keys; what a causal mask hides is minus infinity. */
static void score(const struct attention *a, const struct own *o, const float *keys, int64_t query, int64_t count)
{
    for (int64_t p = 0; p < panels_of(count); p++) {
        line_outer(o->queries, keys + p * a->depth * OUTER, a->depth);
        for (unsigned i = 0; i < OUTER; i++)
            line_store(o->scores + (p * OUTER + i) * VARIABLE, i);
    }
    for (int64_t key = query + 1; a->causal && key < count; key++)
        for (int64_t j = 0; j < key - query; j++)
            o->scores[key * VARIABLE + j] = -__builtin_inff();
}

enum { X, LATEST, TOTAL = 8, MOST };
static const line nothing = EVERYWHERE(0);

/* Turns scores into powers, and `share` into what each query's powers are divided by. */
static void powers(float *scores, int64_t count, float *share)
{
    line_load(MOST, scores);
    for (int64_t key = 1; key < count; key++) {
        line_load(LATEST, scores + key * VARIABLE);
        line_max(MOST, LATEST);
    }
    line_set(TOTAL, nothing);
    for (int64_t key = 0; key < count; key++) {
        line_load(X, scores + key * VARIABLE);
        line_sub(X, MOST);
        line_exp();
        line_add(TOTAL, X);
        line_store(scores + key * VARIABLE, X);
    }
    line_store(share, TOTAL);
    for (int i = 0; i < VARIABLE; i += 4)
        vst1q_f32(share + i, vdivq_f32(vdupq_n_f32(1), vld1q_f32(share + i)));
}

/* Sixteen columns of the block's results. */
static void results(const struct attention *a, const float *scores, const float *values, int64_t count, const float *share,
                    element *out, int64_t queries, int64_t columns)
{
    float sums[OUTER][VARIABLE] __attribute__((aligned(64)));
    line_outer(scores, values, count);
    for (unsigned i = 0; i < OUTER; i++)
        line_store(sums[i], i);
    for (int64_t j = 0; j < queries; j++)
        for (int64_t i = 0; i < columns; i++)
            store1(out + j * a->depth + i, sums[i][j] * share[j]);
}

/* Items are blocks of 64 queries of all heads. */
void NAME(amx_attention)(const struct attention *a, uint64_t first, uint64_t end, uint64_t thread)
{
    const int64_t blocks = (a->length + VARIABLE - 1) / VARIABLE;
    float *const own = own_floats(a->own, a->own_bytes, thread);
    const struct own o = {.queries = own, .scores = own + a->depth * VARIABLE};
    float share[VARIABLE] __attribute__((aligned(64)));
    line_enter();
    for (int64_t at = (int64_t)first; at < (int64_t)end; at++) {
        const int64_t head = at / blocks, query = at % blocks * VARIABLE, queries = least(VARIABLE, a->length - query);
        const int64_t kv = head / a->heads * a->kv_heads + head % a->heads / (a->heads / a->kv_heads);
        const int64_t count = a->causal ? query + queries : a->length, place = (head * a->length + query) * a->depth;
        pack_queries(a, &o, a->q + place, queries);
        score(a, &o, a->keys + kv * panels_of(a->length) * a->depth * OUTER, query, count);
        powers(o.scores, count, share);
        for (int64_t p = 0; p < panels_of(a->depth); p++)
            results(a, o.scores, a->values + (kv * panels_of(a->depth) + p) * a->length * OUTER, count, share,
                    a->out + place + p * OUTER, queries, least(OUTER, a->depth - p * OUTER));
    }
    line_leave();
}
