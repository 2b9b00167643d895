/* What stands before a decoder: an encoder of texts or sounds, as kernels on a unit. Tokens of each all see one another; each
 * layer of the decoder keeps keys and values of what it made. Those of several sequences lie one after another: products multiply
 * them together, and attention has each by itself. */
#include "sim/base/distance_bucket.h"
#include "sim/run/language/language_step_internal.h"
#include "units/ane/ane_numeric.h"

#include <stdlib.h>
#include <string.h>

bool language_gather(struct language_stepper *s, const char *title, const struct language_buffer *table, unsigned rows,
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
    const uint64_t biases = (uint64_t)queries * keys * p->heads;
    if (!p->family->distance_bias)
        return true;
    const struct language_buffer to = language_part(&s->bias, s->value_bytes * s->bias_first, s->value_bytes * biases);
    for (unsigned q = 0; q < queries; q++)
        for (unsigned k = 0; k < keys; k++)
            number[(uint64_t)q * keys + k] = (uint32_t)distance_bucket((int64_t)k - first - q, p->distances, encodes);
    return language_gather(s, "position_bias", encodes ? &s->encoder_distances : &s->distances, p->distances, p->heads,
                           (uint64_t)queries * keys, &to);
}

/* Sequences that are in the encoder. */
struct encoding {
    unsigned sources, lane[LANGUAGE_SOURCES], first[LANGUAGE_SOURCES], count[LANGUAGE_SOURCES];
};

/* Each frame beside its neighbours, multiplied by all filters; `stride` frames apart. Sounds of so many frames each do not touch
 * one another. */
static bool convolve(struct language_stepper *s, const char *title, const struct placed_matrix *filters, unsigned given,
                     unsigned stride, unsigned sounds, const struct language_buffer *from, const struct language_buffer *to)
{
    enum { TAPS = 3 };
    const unsigned each = given / stride, frames = each * sounds, channels = filters->columns / TAPS;
    const uint64_t values = (uint64_t)frames * s->shape->width;
    uint32_t *const number = s->numbers.host;
    for (unsigned f = 0; f < frames; f++)
        for (unsigned tap = 0; tap < TAPS; tap++) {
            const unsigned at = f % each * stride + tap - 1; /* before the first: a number beyond all */
            number[TAPS * f + tap] = at < given ? f / each * given + at : UINT32_MAX;
        }
    return language_gather(s, "conv_columns", from, given * sounds, channels, (uint64_t)TAPS * frames, &s->columns) &&
           language_multiply(s, title, filters, 0, frames, &s->columns, to) &&
           language_combine(s, "conv_act", "gelu", values, 0, to, NULL, to);
}

/* Frames of a sound, side by side; its channels lie one after another. */
static void take_sound(const struct language_stepper *s, const float *sound, uint64_t first)
{
    const unsigned frames = 2 * s->encoded, channels = s->shape->encoder_channels;
    for (uint64_t i = 0; i < (uint64_t)frames * channels; i++) {
        const float value = sound[i % channels * frames + i / channels];
        if (s->value_bytes == sizeof(float))
            ((float *)s->frames.host)[first + i] = value;
        else
            ((uint16_t *)s->frames.host)[first + i] = ane_float_to_half(value);
    }
}

/* Two convolutions, the second of which leaves every other frame, and positions. */
static bool listen(struct language_stepper *s, const struct language_source *source, unsigned sounds)
{
    const unsigned frames = 2 * s->encoded;
    const uint64_t values = (uint64_t)s->encoded * s->shape->width;
    for (unsigned i = 0; i < sounds; i++)
        take_sound(s, source[i].sound, (uint64_t)i * frames * s->shape->encoder_channels);
    return convolve(s, "conv1", &s->front[0], frames, 1, sounds, &s->frames, &s->filtered) &&
           convolve(s, "conv2", &s->front[1], frames, 2, sounds, &s->filtered, &s->stream) &&
           language_combine(s, "position_embd", "add", values * sounds, sounds > 1 ? values : 0, &s->stream,
                            &s->encoder_positions, &s->stream);
}

/* Texts one after another. */
static bool read(struct language_stepper *s, const struct language_source *source, unsigned texts)
{
    uint32_t *const token = malloc(sizeof *token * s->count);
    if (!token)
        return orch_no_memory(s->error);
    for (unsigned i = 0, at = 0; i < texts; at += (unsigned)source[i++].count)
        memcpy(token + at, source[i].token, sizeof *token * source[i].count);
    const bool ok = language_look_up(s, "token_embd", &s->ends.embedding, token, s->count, &s->stream);
    free(token);
    return ok;
}

/* Where biases of a sequence begin. */
static uint64_t first_bias(const struct language_stepper *s, unsigned source)
{
    return (uint64_t)source * s->encoded * s->encoded * s->shape->heads;
}

static bool find_biases(struct language_stepper *s, const struct encoding *e)
{
    bool ok = true;
    for (unsigned i = 0; ok && i < e->sources; i++) {
        s->bias_first = first_bias(s, i);
        ok = language_find_biases(s, 0, e->count[i], e->count[i], true);
    }
    s->bias_first = 0;
    return ok;
}

/* Tokens of a sequence among themselves. */
static bool attend_source(struct language_stepper *s, const struct encoding *e, unsigned source)
{
    const unsigned count = e->count[source];
    const uint64_t row = (uint64_t)s->value_bytes * s->shape->heads * s->shape->head_size, at = row * e->first[source];
    const struct language_buffer query = language_part(&s->query, at, row * count), key = language_part(&s->key, at, row * count),
                                 value = language_part(&s->turned_query, at, row * count),
                                 to = language_part(&s->attended, at, row * count);
    const struct language_attention all = {.title = "attention",
                                           .query = &query,
                                           .keys = &key,
                                           .values = &value,
                                           .to = &to,
                                           .queries = count,
                                           .seen = count,
                                           .all = true,
                                           .biased = s->shape->family->distance_bias};
    s->bias_first = first_bias(s, source);
    const bool ok = language_attend(s, &all);
    s->bias_first = 0;
    return ok;
}

static bool attend_sources(struct language_stepper *s, const struct encoding *e)
{
    bool ok = true;
    for (unsigned i = 0; ok && i < e->sources; i++)
        ok = attend_source(s, e, i);
    return ok;
}

/* Keys and values are made where nothing else is: no model with an encoder rotates, and none shares keys among heads. */
static bool attend(struct language_stepper *s, const struct placed_layer *l, const struct encoding *e)
{
    return language_multiply(s, "attn_q", &l->query, 0, s->count, &s->normed, &s->query) &&
           language_multiply(s, "attn_k", &l->key, 0, s->count, &s->normed, &s->key) &&
           language_multiply(s, "attn_v", &l->value, 0, s->count, &s->normed, &s->turned_query) && attend_sources(s, e) &&
           language_multiply(s, "attn_output", &l->output, 0, s->count, &s->attended, &s->mixed);
}

static bool run_layer(struct language_stepper *s, const struct placed_layer *l, const struct encoding *e)
{
    const uint64_t values = (uint64_t)s->count * s->shape->width;
    return language_normalise(s, "attn_norm", &l->attention_norm, s->count, &s->stream, &s->normed) && attend(s, l, e) &&
           language_combine(s, "residual", "add", values, 0, &s->stream, &s->mixed, &s->stream) &&
           language_normalise(s, "ffn_norm", &l->feed_forward_norm, s->count, &s->stream, &s->normed) &&
           language_feed_forward(s, l) && language_combine(s, "residual", "add", values, 0, &s->stream, &s->mixed, &s->stream);
}

/* Where keys or values of what the encoder made are, of a lane; so many tokens of them. */
static struct language_buffer across_of(const struct language_stepper *s, const struct language_buffer *rows, unsigned lane,
                                        unsigned count)
{
    const uint64_t row = language_cached_row(s);
    return language_part(rows, row * s->encoded * lane, row * count);
}

/* Keys, or values, of a layer for all sequences: one alone is made where it stays, unless that is of another type. */
static bool make_across(struct language_stepper *s, const struct encoding *e, const char *title, const char *keeps,
                        const struct placed_matrix *m, const struct language_buffer *made, const struct language_buffer *rows)
{
    const uint64_t row = (uint64_t)s->value_bytes * m->rows;
    const bool stays = !s->cached && e->sources == 1;
    const struct language_buffer only = across_of(s, rows, e->lane[0], e->count[0]);
    bool ok = language_multiply(s, title, m, 0, s->count, &s->normed, stays ? &only : made);
    for (unsigned i = 0; ok && !stays && i < e->sources; i++) {
        const struct language_buffer from = language_part(made, row * e->first[i], row * e->count[i]),
                                     to = across_of(s, rows, e->lane[i], e->count[i]);
        ok = language_keep_across(s, keeps, e->count[i], &from, &to);
    }
    return ok;
}

static bool encode(struct language_stepper *s, const struct language_source *source, const struct encoding *e)
{
    bool ok = (source->sound ? listen : read)(s, source, e->sources) && find_biases(s, e);
    for (unsigned i = 0; ok && i < s->shape->encoder_layers; i++)
        ok = run_layer(s, &s->encoder[i], e);
    ok = ok && language_normalise(s, "encoder_norm", &s->encoder_norm, s->count, &s->stream, &s->normed);
    for (unsigned i = 0; ok && i < s->shape->layers; i++) {
        const struct placed_layer *const l = &s->layer[i];
        ok = make_across(s, e, "cross_k", "cross_cache_k", &l->cross_key, &s->key, &l->cross_keys) &&
             make_across(s, e, "cross_v", "cross_cache_v", &l->cross_value, &s->turned_query, &l->cross_values);
    }
    return ok;
}

bool language_encode(struct language_stepper *s, const struct language_source *source, unsigned sources, struct language_sum *sum,
                     struct orch_error *error)
{
    struct language_sum pass = {0};
    struct encoding e = {.sources = sources};
    s->error = error;
    s->count = 0;
    if (sources > s->sources)
        return orch_fail(error, ORCH_INTERNAL, "%u sequences before an encoder that takes %u", sources, s->sources);
    for (unsigned i = 0; i < sources; i++) {
        const size_t count = source[i].sound ? s->encoded : source[i].count;
        if (!source[i].sound && !language_check_tokens(s, source[i].token, count))
            return false;
        if (!count || count > s->encoded)
            return orch_fail(error, ORCH_INTERNAL, "%zu tokens before an encoder of %u", count, s->encoded);
        e.lane[i] = source[i].lane;
        e.first[i] = s->count;
        e.count[i] = s->seen[e.lane[i]] = (unsigned)count;
        s->count += (unsigned)count;
    }
    s->sum = &pass;
    const bool ok = encode(s, source, &e) && language_unit_close_steps(s->unit, &pass, 1, error);
    if (ok)
        language_sum_add(sum, &pass);
    return ok;
}

/* So many tokens of a lane, of the pass from `t` on, look at what the encoder made for it. */
static bool look_across_lane(struct language_stepper *s, const struct placed_layer *l, unsigned lane, unsigned t, unsigned count)
{
    const uint64_t row = (uint64_t)s->value_bytes * s->shape->heads * s->shape->head_size;
    const struct language_buffer query = language_part(&s->query, row * t, row * count),
                                 keys = across_of(s, &l->cross_keys, lane, s->seen[lane]),
                                 values = across_of(s, &l->cross_values, lane, s->seen[lane]),
                                 to = language_part(&s->attended, row * t, row * count);
    const struct language_attention across = {.title = "cross_attention",
                                              .query = &query,
                                              .keys = &keys,
                                              .values = &values,
                                              .to = &to,
                                              .queries = count,
                                              .seen = s->seen[lane],
                                              .all = true,
                                              .kept = true};
    return language_attend(s, &across);
}

static bool look_across_lanes(struct language_stepper *s, const struct placed_layer *l)
{
    bool ok = true;
    if (!s->side)
        return look_across_lane(s, l, s->lane, 0, s->count);
    for (unsigned t = 0, some; ok && t < s->count; t += some) {
        some = language_tokens_of_lane(s, t, s->count);
        ok = look_across_lane(s, l, s->side[t].lane, t, some);
    }
    return ok;
}

bool language_look_across(struct language_stepper *s, const struct placed_layer *l)
{
    return language_normalise(s, "cross_norm", &l->cross_norm, s->count, &s->stream, &s->normed) &&
           language_multiply(s, "cross_q", &l->cross_query, 0, s->count, &s->normed, &s->query) && look_across_lanes(s, l) &&
           language_multiply(s, "cross_output", &l->cross_output, 0, s->count, &s->attended, &s->mixed) &&
           language_combine(s, "residual", "add", (uint64_t)s->count * s->shape->width, 0, &s->stream, &s->mixed, &s->stream);
}
