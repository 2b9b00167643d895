/* The cache of keys and values: in the type of values, or in halves or blocks of q8_0 that kernels make of them. */
#include "sim/run/language_step_internal.h"

#include <stdio.h>

uint64_t language_cached_row(const struct language_stepper *s)
{
    const uint64_t values = (uint64_t)s->shape->kv_heads * s->shape->head_size;
    return s->cached ? values / s->cached->values * s->cached->bytes : values * s->value_bytes;
}

struct language_buffer language_cached(const struct language_stepper *s, const struct language_buffer *rows, uint64_t first,
                                       uint64_t count)
{
    const uint64_t row = language_cached_row(s);
    return language_part(rows, row * (s->first + first), row * count);
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

bool language_keep(struct language_stepper *s, const char *title, unsigned tokens, const struct language_buffer *from,
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

/* A window leaves the oldest out, and only single tokens have one. */
bool language_look_back(struct language_stepper *s, const struct placed_layer *l, const struct language_buffer *query,
                        const struct language_buffer *attended)
{
    const struct language_shape *const p = s->shape;
    const unsigned end = s->position + s->count, seen = p->window && end > p->window ? p->window : end;
    const struct language_buffer keys = language_cached(s, &l->keys, end - seen, seen),
                                 values = language_cached(s, &l->values, end - seen, seen);
    const uint64_t queries = (uint64_t)s->count * p->heads * p->head_size;
    const struct language_buffer from = language_values(s, query, queries), to = language_values(s, attended, queries);
    const struct language_call call = {.title = "attention",
                                       .precision = s->values,
                                       .part = language_rest_part(s),
                                       .input = {&from, &keys, &values},
                                       .inputs = 3,
                                       .result = &to,
                                       .result_place = 3};
    return language_unit_call(s->unit, &call, s->sum, s->error, "cache-attention:h=%u,s=%u,d=%u,kvh=%u,q=%u%s%s", p->heads, seen,
                              p->head_size, p->kv_heads, s->count, s->cached ? ",cached=" : "", s->cached ? s->cached->name : "");
}
