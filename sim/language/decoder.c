#include "sim/language/decoder_internal.h"
#include "sim/language/rotation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- memory ---- */

static unsigned most(unsigned a, unsigned b)
{
    return a > b ? a : b;
}

static bool allocate(struct decoder *d, struct orch_error *error)
{
    const struct language_shape *const s = &d->shape;
    const size_t heads = (size_t)s->heads * s->head_size, cached = (size_t)d->context * s->kv_heads * s->head_size;
    const struct {
        float **vector;
        size_t values;
    } vectors[] = {
        {&d->stream, s->width},
        {&d->normed, s->width},
        {&d->mixed, s->width},
        {&d->queries, heads},
        {&d->gathered, heads},
        {&d->inner, s->feed_forward},
        {&d->gated, s->feed_forward},
        {&d->scores, most(d->context + 1, s->experts)},
        {&d->row, most(most(s->width, s->feed_forward), (unsigned)heads)},
    };
    d->layer = calloc(s->layers, sizeof *d->layer);
    d->encoder.layer = calloc(s->encoder_layers + 1, sizeof *d->encoder.layer);
    d->frequency = calloc(s->rope_size / 2 + 1, sizeof *d->frequency);
    bool ok = d->layer && d->frequency && d->encoder.layer;
    for (size_t i = 0; ok && i < sizeof vectors / sizeof *vectors; i++)
        ok = (*vectors[i].vector = calloc(vectors[i].values, sizeof(float))) != NULL;
    for (unsigned i = 0; ok && i < s->layers; i++) {
        d->layer[i].keys = calloc(cached, sizeof(float));
        d->layer[i].values = calloc(cached, sizeof(float));
        ok = d->layer[i].keys && d->layer[i].values;
    }
    return ok || orch_no_memory(error);
}

static bool can_decode(const struct language_shape *s, unsigned context, struct orch_error *error)
{
    if (!s->family->decodes && !s->family->encoder)
        return orch_fail(error, ORCH_UNMODELLED, "architecture %s is not computed by the reference decoder", s->family->name);
    if (s->experts_used > EXPERTS_MAX)
        return orch_fail(error, ORCH_UNMODELLED, "%u experts a token; up to %d are computed", s->experts_used, EXPERTS_MAX);
    if (context == 0 || (s->family->positions && context > s->context))
        return orch_fail(error, ORCH_USAGE, "a context of %u tokens; the model has positions for 1 to %u", context, s->context);
    return true;
}

void decoder_speeds(const struct decoder *decoder, unsigned context, double *speed)
{
    rotation_speeds(&decoder->shape, context, speed);
    for (unsigned i = 0; decoder->factor && i < decoder->shape.rope_size / 2; i++)
        speed[i] /= (double)decoder->factor[i];
}

struct decoder *decoder_create(const struct language_shape *shape, const struct weight_list *weights, unsigned context,
                               struct orch_error *error)
{
    if (!can_decode(shape, context, error))
        return NULL;
    struct decoder *const d = calloc(1, sizeof *d);
    if (!d) {
        orch_no_memory(error);
        return NULL;
    }
    d->shape = *shape;
    d->weights = weights;
    d->context = context;
    if (allocate(d, error) && decoder_find_weights(d, error)) {
        decoder_speeds(d, context, d->frequency);
        return d;
    }
    decoder_free(d);
    return NULL;
}

void decoder_free(struct decoder *decoder)
{
    if (!decoder)
        return;
    struct decoder *const d = decoder;
    for (unsigned i = 0; d->layer && i < d->shape.layers; i++) {
        free(d->layer[i].keys);
        free(d->layer[i].values);
    }
    for (size_t i = 0; i < d->vectors; i++)
        free(d->vector[i]);
    float *const vectors[] = {d->stream, d->normed, d->mixed, d->queries, d->gathered, d->inner, d->gated, d->scores, d->row};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++)
        free(vectors[i]);
    free(d->vector);
    free(d->frequency);
    free(d->encoder.layer);
    free(d->layer);
    free(d);
}

void decoder_round(struct decoder *decoder, void (*round)(float *values, size_t count))
{
    decoder->round = round;
}

unsigned decoder_position(const struct decoder *decoder)
{
    return decoder->position;
}

void decoder_rewind(struct decoder *decoder, unsigned position)
{
    decoder->position = position < decoder->position ? position : decoder->position;
}

/* ---- a step ---- */

static void embed(struct decoder *d, uint32_t token)
{
    const struct language_shape *const s = &d->shape;
    weight_row(d->embedding.tensor, token, d->stream);
    if (s->family->scaled_embedding)
        for (unsigned i = 0; i < s->width; i++)
            d->stream[i] = (float)(d->stream[i] * sqrt(s->width));
    if (!s->family->positions)
        return;
    weight_row(d->positions.tensor, d->position, d->row);
    for (unsigned i = 0; i < s->width; i++)
        d->stream[i] += d->row[i];
}

static void add(float *to, const float *what, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        to[i] += what[i];
}

static void run_layer(struct decoder *d, struct decoder_layer *layer, float *attended, float *fed)
{
    const unsigned width = d->shape.width;
    decoder_normalise(d, &layer->attention_norm, d->stream, width, d->normed);
    decoder_attend(d, layer, d->normed, attended);
    if (!d->shape.family->parallel) {
        add(d->stream, attended, width);
        decoder_normalise(d, &layer->feed_forward_norm, d->stream, width, d->normed);
    }
    decoder_feed_forward(d, layer, d->normed, fed);
    if (d->shape.family->parallel)
        add(d->stream, attended, width);
    add(d->stream, fed, width);
}

bool decoder_step(struct decoder *decoder, uint32_t token, float *logits, struct orch_error *error)
{
    struct decoder *const d = decoder;
    const unsigned width = d->shape.width;
    if (!d->shape.family->decodes)
        return orch_fail(error, ORCH_UNMODELLED, "architecture %s is not computed by the reference decoder",
                         d->shape.family->name);
    if (token >= d->shape.vocabulary)
        return orch_fail(error, ORCH_USAGE, "token %u: the vocabulary has %u tokens", token, d->shape.vocabulary);
    if (d->position == d->context)
        return orch_fail(error, ORCH_USAGE, "the context of %u tokens is full", d->context);
    float *const room = malloc(2ull * width * sizeof *room);
    if (!room)
        return orch_no_memory(error);
    embed(d, token);
    for (unsigned i = 0; i < d->shape.layers; i++)
        run_layer(d, &d->layer[i], room, room + width);
    free(room);
    d->position++;
    if (!logits)
        return true;
    decoder_normalise(d, &d->last_norm, d->stream, width, d->normed);
    decoder_multiply(d, &d->head, 0, d->shape.vocabulary, d->normed, logits);
    return true;
}
