/* The cache of keys and values: in the type of values, or in halves or blocks of q8_0 that kernels make of them. */
#include "sim/run/language/language_step_internal.h"

#include <stdio.h>

uint64_t language_cached_row(const struct language_stepper *s)
{
    const uint64_t values = (uint64_t)s->shape->kv_heads * s->shape->head_size;
    return s->cached ? values / s->cached->values * s->cached->bytes : values * s->value_bytes;
}

/* Of a sequence; beside its tokens there may be keys of zeros. */
static uint64_t rows_of_lane(const struct language_stepper *s)
{
    return (uint64_t)s->context + (s->shape->family->sinks ? LANGUAGE_SINK_ROWS : 0);
}

uint64_t language_cached_rows(const struct language_stepper *s)
{
    return s->cache.page ? (uint64_t)s->cache.page * s->cache.pages : rows_of_lane(s) * s->lanes;
}

/* Row of a token, and how many follow one another from it on. */
static uint64_t row_of(const struct language_stepper *s, unsigned first, unsigned count, unsigned *together)
{
    *together = count;
    return s->pages ? language_pages_row(s->pages, s->kept, first, count, together)
                    : s->kept * rows_of_lane(s) + first + s->shape->family->sinks;
}

unsigned language_cached_together(const struct language_stepper *s, unsigned first, unsigned count)
{
    unsigned together;
    row_of(s, first, count, &together);
    return together;
}

struct language_buffer language_cached(const struct language_stepper *s, const struct language_buffer *rows, unsigned first,
                                       unsigned count)
{
    const uint64_t row = language_cached_row(s);
    unsigned together;
    const uint64_t at = row_of(s, first, count, &together);
    return language_part(rows, row * at, row * together);
}

bool language_copy(struct language_stepper *s, const char *title, unsigned values, const struct language_buffer *from,
                   const struct language_buffer *to)
{
    const struct language_call call = {.title = title,
                                       .precision = s->values,
                                       .part = language_rest_part(s),
                                       .input = {from},
                                       .inputs = 1,
                                       .result = to,
                                       .result_place = 1};
    return language_unit_call(s->unit, &call, s->sum, s->error, "slice:1x%u,h=1,w=%u", values, values);
}

/* Of tokens that follow one another in the cache. */
static bool keep_piece(struct language_stepper *s, const char *title, unsigned tokens, const struct language_buffer *from,
                       const struct language_buffer *to)
{
    const unsigned values = tokens * s->shape->kv_heads * s->shape->head_size;
    const struct language_buffer in = language_values(s, from, values);
    const struct language_call call = {.title = title,
                                       .precision = s->cached ? s->cached->name : s->values,
                                       .part = language_rest_part(s),
                                       .input = {&in},
                                       .inputs = 1,
                                       .result = to,
                                       .result_place = 1};
    if (!s->cached)
        return language_copy(s, title, values, from, to);
    return language_unit_call(s->unit, &call, s->sum, s->error, "quantise:%u", values);
}

bool language_keep(struct language_stepper *s, const char *title, const struct language_buffer *from,
                   const struct language_buffer *rows)
{
    const uint64_t row = (uint64_t)s->value_bytes * s->shape->kv_heads * s->shape->head_size;
    bool ok = true;
    for (unsigned done = 0, some; ok && done < s->count; done += some) {
        some = language_cached_together(s, s->position + done, s->count - done);
        const struct language_buffer piece = language_part(from, row * done, row * some),
                                     to = language_cached(s, rows, s->position + done, some);
        ok = keep_piece(s, title, some, &piece, &to);
    }
    return ok;
}

bool language_keep_across(struct language_stepper *s, const char *title, unsigned tokens, const struct language_buffer *from,
                          const struct language_buffer *rows)
{
    return keep_piece(s, title, tokens, from, rows);
}

/* Of the sequence in work. */
static struct language_buffer biases_of(const struct language_stepper *s, unsigned queries, unsigned keys)
{
    const struct shape_family *const f = s->shape->family;
    const uint64_t biases = f->distance_bias || f->sinks ? (uint64_t)queries * keys * s->shape->heads : 0;
    return language_part(&s->bias, s->value_bytes * s->bias_first, s->value_bytes * biases);
}

/* Queries over the pages of the sequence, which its table names. */
static bool look_back_in_pages(struct language_stepper *s, const struct placed_layer *l, const struct language_buffer *from,
                               const struct language_buffer *to)
{
    const struct language_shape *const p = s->shape;
    const unsigned end = s->position + s->count, page = s->cache.page;
    const struct language_buffer table = language_part(&s->page_table, sizeof(uint32_t) * language_pages_first(s->pages, s->kept),
                                                       sizeof(uint32_t) * ((end + page - 1) / page));
    const bool biased = p->family->distance_bias;
    const struct language_buffer bias = biases_of(s, s->count, end);
    const struct language_call call = {.title = "attention",
                                       .precision = s->values,
                                       .part = language_rest_part(s),
                                       .input = {from, &l->keys, &l->values, &table, &bias},
                                       .inputs = biased ? 5 : 4,
                                       .result = to,
                                       .result_place = biased ? 5 : 4};
    return language_unit_call(s->unit, &call, s->sum, s->error,
                              "cache-attention:h=%u,s=%u,d=%u,kvh=%u,q=%u%s%s,page=%u,pages=%u%s", p->heads, end, p->head_size,
                              p->kv_heads, s->count, s->cached ? ",cached=" : "", s->cached ? s->cached->name : "", page,
                              s->cache.pages, biased ? ",bias=1,scale=one" : "");
}

bool language_attend(struct language_stepper *s, const struct language_attention *a)
{
    const struct language_shape *const p = s->shape;
    const uint64_t queries = (uint64_t)a->queries * p->heads * p->head_size;
    const char *const type = a->kept && s->cached ? s->cached->name : NULL;
    const uint64_t of_values = (uint64_t)s->value_bytes * p->kv_heads * p->head_size;
    const uint64_t kept = (type ? language_cached_row(s) : of_values) * a->seen;
    const struct language_buffer from = language_values(s, a->query, queries), to = language_values(s, a->to, queries),
                                 keys = language_part(a->keys, 0, kept), values = language_part(a->values, 0, kept),
                                 bias = biases_of(s, a->queries, a->seen);
    const struct language_call call = {.title = a->title,
                                       .precision = s->values,
                                       .part = language_rest_part(s),
                                       .input = {&from, &keys, &values, &bias},
                                       .inputs = a->biased ? 4 : 3,
                                       .result = &to,
                                       .result_place = a->biased ? 4 : 3};
    return language_unit_call(s->unit, &call, s->sum, s->error, "cache-attention:h=%u,s=%u,d=%u,kvh=%u,q=%u%s%s%s%s%s", p->heads,
                              a->seen, p->head_size, p->kv_heads, a->queries, type ? ",cached=" : "", type ? type : "",
                              a->all ? ",seen=all" : "", a->biased ? ",bias=1" : "",
                              p->family->distance_bias ? ",scale=one" : "");
}

/* A window leaves the oldest out, and only single tokens have one. */
bool language_look_back(struct language_stepper *s, const struct placed_layer *l, const struct language_buffer *query,
                        const struct language_buffer *attended)
{
    const struct language_shape *const p = s->shape;
    const unsigned window = shape_window_of(p, (unsigned)(l - s->layer));
    const unsigned end = s->position + s->count, seen = window && end > window ? window : end;
    const uint64_t queries = (uint64_t)s->count * p->heads * p->head_size;
    const struct language_buffer from = language_values(s, query, queries), to = language_values(s, attended, queries);
    if (s->pages)
        return look_back_in_pages(s, l, &from, &to);
    if (p->family->sinks)
        return language_look_back_at_sinks(s, l, &from, &to);
    const struct language_buffer keys = language_cached(s, &l->keys, end - seen, seen),
                                 values = language_cached(s, &l->values, end - seen, seen);
    const struct language_attention a = {.title = "attention",
                                         .query = &from,
                                         .keys = &keys,
                                         .values = &values,
                                         .to = &to,
                                         .queries = s->count,
                                         .seen = seen,
                                         .biased = p->family->distance_bias,
                                         .kept = true};
    return language_attend(s, &a);
}
