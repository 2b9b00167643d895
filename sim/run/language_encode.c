/* What stands before a decoder: an encoder of a text or a sound, as kernels on a unit. Its tokens all see one another; each layer
 * of the decoder keeps keys and values of what it made. */
#include "sim/base/distance_bucket.h"
#include "sim/run/language_step_internal.h"
#include "units/ane/ane_numeric.h"

/* Rows of a table by number, zeros for numbers beyond it. */
static bool gather(struct language_stepper *s, const char *title, const struct language_buffer *table, unsigned rows,
                   unsigned columns, uint64_t count, const struct language_buffer *to)
{
    const struct language_buffer from = language_values(s, table, (uint64_t)rows * columns),
                                 index = language_part(&s->numbers, 0, sizeof(uint32_t) * count),
                                 out = language_values(s, to, count * columns);
    const struct language_call call = {.title = title,
                                       .precision = s->values,
                                       .part = language_rest_part(s),
                                       .input = {&from, &index},
                                       .inputs = 2,
                                       .result = &out,
                                       .result_place = 2};
    return language_unit_call(s->unit, &call, s->sum, s->error, "gather:%ux%ux%llu", rows, columns, (unsigned long long)count);
}

bool language_find_biases(struct language_stepper *s, unsigned first, unsigned queries, unsigned keys, bool encodes)
{
    const struct language_shape *const p = s->shape;
    uint32_t *const number = s->numbers.host;
    if (!p->family->distance_bias)
        return true;
    for (unsigned q = 0; q < queries; q++)
        for (unsigned k = 0; k < keys; k++)
            number[(uint64_t)q * keys + k] = (uint32_t)distance_bucket((int64_t)k - first - q, p->distances, encodes);
    return gather(s, "position_bias", encodes ? &s->encoder_distances : &s->distances, p->distances, p->heads,
                  (uint64_t)queries * keys, &s->bias);
}

/* Each frame beside its neighbours, multiplied by all filters; `stride` frames apart. */
static bool convolve(struct language_stepper *s, const char *title, const struct placed_matrix *filters, unsigned given,
                     unsigned stride, const struct language_buffer *from, const struct language_buffer *to)
{
    enum { TAPS = 3 };
    const unsigned frames = given / stride, channels = filters->columns / TAPS;
    const uint64_t values = (uint64_t)frames * s->shape->width;
    uint32_t *const number = s->numbers.host;
    for (unsigned f = 0; f < frames; f++)
        for (unsigned tap = 0; tap < TAPS; tap++)
            number[TAPS * f + tap] = f * stride + tap - 1; /* before the first: a number beyond all */
    return gather(s, "conv_columns", from, given, channels, (uint64_t)TAPS * frames, &s->columns) &&
           language_multiply(s, title, filters, 0, frames, &s->columns, to) &&
           language_combine(s, "conv_act", "gelu", values, 0, to, NULL, to);
}

/* Two convolutions, the second of which leaves every other frame, and positions. */
static bool listen(struct language_stepper *s, const float *sound)
{
    const unsigned frames = 2 * s->encoded, channels = s->shape->encoder_channels;
    for (uint64_t i = 0; i < (uint64_t)frames * channels; i++) {
        const float value = sound[i % channels * frames + i / channels]; /* channels lie one after another */
        if (s->value_bytes == sizeof(float))
            ((float *)s->frames.host)[i] = value;
        else
            ((uint16_t *)s->frames.host)[i] = ane_float_to_half(value);
    }
    return convolve(s, "conv1", &s->front[0], frames, 1, &s->frames, &s->filtered) &&
           convolve(s, "conv2", &s->front[1], frames, 2, &s->filtered, &s->stream) &&
           language_combine(s, "position_embd", "add", (uint64_t)s->encoded * s->shape->width, 0, &s->stream,
                            &s->encoder_positions, &s->stream);
}

/* Keys and values are made where nothing else is: no model with an encoder rotates. */
static bool attend(struct language_stepper *s, const struct placed_layer *l)
{
    const struct language_attention all = {.title = "attention",
                                           .query = &s->query,
                                           .keys = &s->key,
                                           .values = &s->turned_query,
                                           .to = &s->attended,
                                           .queries = s->count,
                                           .seen = s->count,
                                           .all = true,
                                           .biased = s->shape->family->distance_bias};
    return language_multiply(s, "attn_q", &l->query, 0, s->count, &s->normed, &s->query) &&
           language_multiply(s, "attn_k", &l->key, 0, s->count, &s->normed, &s->key) &&
           language_multiply(s, "attn_v", &l->value, 0, s->count, &s->normed, &s->turned_query) && language_attend(s, &all) &&
           language_multiply(s, "attn_output", &l->output, 0, s->count, &s->attended, &s->mixed);
}

static bool run_layer(struct language_stepper *s, const struct placed_layer *l)
{
    const uint64_t values = (uint64_t)s->count * s->shape->width;
    return language_normalise(s, "attn_norm", &l->attention_norm, s->count, &s->stream, &s->normed) && attend(s, l) &&
           language_combine(s, "residual", "add", values, 0, &s->stream, &s->mixed, &s->stream) &&
           language_normalise(s, "ffn_norm", &l->feed_forward_norm, s->count, &s->stream, &s->normed) &&
           language_feed_forward(s, l) && language_combine(s, "residual", "add", values, 0, &s->stream, &s->mixed, &s->stream);
}

static bool encode(struct language_stepper *s, const uint32_t *token, const float *sound)
{
    bool ok = (sound ? listen(s, sound) : language_look_up(s, "token_embd", &s->ends.embedding, token, s->count, &s->stream)) &&
              language_find_biases(s, 0, s->count, s->count, true);
    for (unsigned i = 0; ok && i < s->shape->encoder_layers; i++)
        ok = run_layer(s, &s->encoder[i]);
    ok = ok && language_normalise(s, "encoder_norm", &s->encoder_norm, s->count, &s->stream, &s->normed);
    for (unsigned i = 0; ok && i < s->shape->layers; i++) {
        const struct placed_layer *const l = &s->layer[i];
        const struct language_buffer *const keys = s->cached ? &s->key : &l->cross_keys;
        const struct language_buffer *const values = s->cached ? &s->turned_query : &l->cross_values;
        ok = language_multiply(s, "cross_k", &l->cross_key, 0, s->count, &s->normed, keys) &&
             language_multiply(s, "cross_v", &l->cross_value, 0, s->count, &s->normed, values) &&
             (!s->cached || (language_keep_across(s, "cross_cache_k", keys, &l->cross_keys) &&
                             language_keep_across(s, "cross_cache_v", values, &l->cross_values)));
    }
    return ok;
}

bool language_encode(struct language_stepper *s, const uint32_t *token, size_t count, const float *sound,
                     struct language_sum *sum, struct orch_error *error)
{
    struct language_sum pass = {0};
    s->error = error;
    if (!sound && !language_check_tokens(s, token, count))
        return false;
    if (!sound && count != s->encoded)
        return orch_fail(error, ORCH_INTERNAL, "%zu tokens before an encoder of %u", count, s->encoded);
    s->count = s->encoded;
    s->sum = &pass;
    const bool ok = encode(s, token, sound) && language_unit_close_steps(s->unit, &pass, 1, error);
    if (ok)
        language_sum_add(sum, &pass);
    return ok;
}

bool language_look_across(struct language_stepper *s, const struct placed_layer *l)
{
    const struct language_attention across = {.title = "cross_attention",
                                              .query = &s->query,
                                              .keys = &l->cross_keys,
                                              .values = &l->cross_values,
                                              .to = &s->attended,
                                              .queries = s->count,
                                              .seen = s->encoded,
                                              .all = true,
                                              .kept = true};
    return language_normalise(s, "cross_norm", &l->cross_norm, s->count, &s->stream, &s->normed) &&
           language_multiply(s, "cross_q", &l->cross_query, 0, s->count, &s->normed, &s->query) && language_attend(s, &across) &&
           language_multiply(s, "cross_output", &l->cross_output, 0, s->count, &s->attended, &s->mixed) &&
           language_combine(s, "residual", "add", (uint64_t)s->count * s->shape->width, 0, &s->stream, &s->mixed, &s->stream);
}
