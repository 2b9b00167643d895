/* Where weights, cache and values of a language model lie in the memory of its units. */
#include "sim/language/rotation.h"
#include "sim/run/language/language_step_internal.h"
#include "units/ane/ane_numeric.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool place(struct language_stepper *s, const void *from, uint64_t bytes, struct language_buffer *buffer)
{
    return language_unit_place(s->unit, from, bytes, buffer, s->error);
}

static bool place_values(struct language_stepper *s, uint64_t count, struct language_buffer *buffer)
{
    return place(s, NULL, s->value_bytes * count, buffer);
}

/* Vectors of the file, in the type of values. */
static bool place_vector(struct language_stepper *s, const float *from, uint64_t count, struct language_buffer *buffer)
{
    if (s->value_bytes == sizeof(float))
        return place(s, from, sizeof(float) * count, buffer);
    if (!place_values(s, count, buffer))
        return false;
    for (uint64_t i = 0; i < count; i++)
        ((uint16_t *)buffer->host)[i] = ane_float_to_half(from[i]);
    return true;
}

/* ---- units ---- */

void language_enter(struct language_stepper *s, enum orch_part part)
{
    s->part = part;
    s->turned = part == PART_ANE;
    s->values = s->turned ? "f16" : "f32";
    s->value_bytes = s->turned ? 2 : 4;
}

enum orch_part language_layer_part(const struct language_stepper *s, unsigned layer)
{
    return s->shards.count ? language_shards_part(&s->shards, layer) : s->part;
}

static bool has_engine(const struct language_stepper *s)
{
    return s->shards.count ? language_shards_have(&s->shards, PART_ANE) : s->turned;
}

/* A unit whose values are float32: buffers that all share have room for these. */
static enum orch_part widest_part(const struct language_stepper *s)
{
    for (unsigned i = 0; i < s->shards.count; i++)
        if (s->shards.shard[i].part != PART_ANE)
            return s->shards.shard[i].part;
    return s->part;
}

/* ---- weights ---- */

static bool is_one_of(const char *format, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], format) == 0)
            return true;
    return false;
}

bool language_format_widens(const char *format)
{
    static const char *const names[] = {"f16", "bf16", "q4_0", "q8_0"};
    return is_one_of(format, names, sizeof names / sizeof *names);
}

/* Rows become columns when a program for the Neural Engine is made. `first` is the row that begins an expert. */
static bool turn(struct language_stepper *s, const struct decoder_matrix *m, uint64_t first, uint64_t rows, uint16_t *to)
{
    uint16_t *const halves = malloc(m->columns * sizeof *halves);
    bool ok = halves || orch_no_memory(s->error);
    for (uint64_t r = 0; ok && r < rows; r++) {
        if (language_is_halved(s, m))
            ok = language_halve_row(s, m, first + r, halves);
        else
            memcpy(halves, decoder_matrix_data(m) + (first + r) * decoder_matrix_row_bytes(m), m->columns * sizeof *halves);
        for (unsigned c = 0; ok && c < m->columns; c++)
            to[c * rows + r] = halves[c];
    }
    free(halves);
    return ok;
}

/* `experts` matrices stand one behind another. */
static bool place_matrix(struct language_stepper *s, const struct decoder_matrix *m, unsigned experts, struct placed_matrix *to)
{
    if (!m->tensor)
        return true;
    const char *const restated = language_is_halved(s, m) ? "f16" : language_restated(m);
    const struct block_format *const format = block_format_named(restated);
    const bool own = format == m->tensor->format;
    const uint64_t bytes = m->rows * (m->columns / format->values) * format->bytes;
    *to = (struct placed_matrix){.format = restated, .rows = m->rows / experts, .columns = m->columns};
    s->weight_bytes += bytes;
    if (language_format_widens(to->format) && to->rows * to->columns > s->widened_values)
        s->widened_values = to->rows * to->columns;
    if (!place(s, s->turned || !own ? NULL : decoder_matrix_data(m), bytes, &to->data))
        return false;
    if (!s->turned && !own)
        language_restate(m, restated, to->data.host);
    for (unsigned e = 0; s->turned && e < experts; e++)
        if (!turn(s, m, e * to->rows, to->rows, (uint16_t *)to->data.host + e * to->rows * to->columns))
            return false;
    return !m->bias || place_vector(s, m->bias, m->rows, &to->bias);
}

static bool place_norm(struct language_stepper *s, const struct decoder_norm *n, unsigned count, struct placed_norm *to)
{
    return (!n->scale || place_vector(s, n->scale, count, &to->scale)) &&
           (!n->shift || place_vector(s, n->shift, count, &to->shift));
}

/* Of a layer, also of an encoder. */
static bool place_weights(struct language_stepper *s, const struct decoder_layer *l, struct placed_layer *to)
{
    const struct language_shape *const p = s->shape;
    const unsigned experts = p->experts ? p->experts : 1;
    return place_norm(s, &l->attention_norm, p->width, &to->attention_norm) &&
           place_norm(s, &l->feed_forward_norm, p->width, &to->feed_forward_norm) &&
           place_norm(s, &l->query_norm, p->head_size, &to->query_norm) &&
           place_norm(s, &l->key_norm, p->head_size, &to->key_norm) && place_matrix(s, &l->query, 1, &to->query) &&
           place_matrix(s, &l->key, 1, &to->key) && place_matrix(s, &l->value, 1, &to->value) &&
           place_matrix(s, &l->output, 1, &to->output) && place_matrix(s, &l->gate, experts, &to->gate) &&
           place_matrix(s, &l->up, experts, &to->up) && place_matrix(s, &l->down, experts, &to->down) &&
           place_matrix(s, &l->router, 1, &to->router) && place_norm(s, &l->cross_norm, p->width, &to->cross_norm) &&
           place_matrix(s, &l->cross_query, 1, &to->cross_query) && place_matrix(s, &l->cross_key, 1, &to->cross_key) &&
           place_matrix(s, &l->cross_value, 1, &to->cross_value) && place_matrix(s, &l->cross_output, 1, &to->cross_output);
}

static bool place_layer(struct language_stepper *s, unsigned number)
{
    language_enter(s, language_layer_part(s, number));
    struct placed_layer *const to = &s->layer[number];
    const uint64_t cache = language_cached_row(s) * language_cached_rows(s),
                   across = language_cached_row(s) * s->encoded * s->lanes;
    s->cache_bytes += 2 * (cache + across);
    return place_weights(s, decoder_layer_at(s->model->weights, number), to) && place(s, NULL, cache, &to->keys) &&
           place(s, NULL, cache, &to->values) &&
           language_place_sinks(s, decoder_layer_at(s->model->weights, number), &to->sinks) &&
           (!across || (place(s, NULL, across, &to->cross_keys) && place(s, NULL, across, &to->cross_values)));
}

/* ---- an encoder ---- */

static bool put_weight(struct language_stepper *s, const struct decoder_matrix *from, const struct placed_matrix *m, uint64_t row,
                       uint64_t column, float value)
{
    const uint64_t at = s->turned ? column * m->rows + row : row * m->columns + column;
    if (language_is_halved(s, from))
        return language_halve(s, from, row, value, (uint16_t *)m->data.host + at);
    if (strcmp(m->format, "f16") == 0)
        ((uint16_t *)m->data.host)[at] = ane_float_to_half(value);
    else
        ((float *)m->data.host)[at] = value;
    return true;
}

/* Values of a filter are laid tap by tap, as frames lie side by side; other formats than f16 become f32, or f16 for the
 * Neural Engine. */
static bool place_filters(struct language_stepper *s, const struct decoder_matrix *m, struct placed_matrix *to)
{
    const unsigned taps = m->columns, width = s->shape->width, channels = (unsigned)(m->rows / width);
    const bool halves = s->turned || strcmp(m->tensor->format->name, "f16") == 0;
    float value[WEIGHT_DIMS_MAX];
    *to = (struct placed_matrix){.format = halves ? "f16" : "f32", .rows = width, .columns = taps * channels};
    s->weight_bytes += m->tensor->bytes;
    if (halves && to->rows * to->columns > s->widened_values)
        s->widened_values = to->rows * to->columns;
    if (!place(s, NULL, (halves ? 2 : 4) * to->rows * to->columns, &to->data) || !place_vector(s, m->bias, width, &to->bias))
        return false;
    for (uint64_t row = 0; row < m->rows; row++) {
        weight_row(m->tensor, row, value);
        for (unsigned tap = 0; tap < taps; tap++)
            if (!put_weight(s, m, to, row / channels, tap * channels + row % channels, value[tap]))
                return false;
    }
    return true;
}

/* A table whose rows are added, or looked up, as values. */
static bool place_table(struct language_stepper *s, const struct decoder_matrix *m, struct language_buffer *to)
{
    if (!m->tensor)
        return true;
    float *const value = malloc(m->rows * m->columns * sizeof *value);
    s->weight_bytes += m->tensor->bytes;
    for (uint64_t row = 0; value && row < m->rows; row++)
        weight_row(m->tensor, row, value + row * m->columns);
    const bool ok = value ? place_vector(s, value, m->rows * m->columns, to) : orch_no_memory(s->error);
    free(value);
    return ok;
}

/* Biases of an encoder, or of all tokens of a pass of the decoder. */
static bool place_biases(struct language_stepper *s, const struct decoder_encoder *e)
{
    const uint64_t of_pass = (uint64_t)s->batch * s->context, of_texts = (uint64_t)s->encoded * s->encoded * s->sources;
    const uint64_t scores = of_pass > of_texts ? of_pass : of_texts, frames = 6 * (uint64_t)s->encoded * s->sources;
    return place_table(s, &s->ends.distances, &s->distances) && place_table(s, &e->distances, &s->encoder_distances) &&
           (!e->distances.tensor || place_values(s, scores * s->shape->heads, &s->bias)) &&
           place(s, NULL, sizeof(uint32_t) * (e->distances.tensor ? scores : frames), &s->numbers);
}

static bool place_encoder(struct language_stepper *s)
{
    const struct decoder_encoder *const e = decoder_encoder(s->model->weights);
    const struct language_shape *const p = s->shape;
    const uint64_t made = (uint64_t)s->encoded * s->sources, frames = 2 * made, channels = p->encoder_channels;
    if (!e)
        return true;
    s->encoder = calloc(p->encoder_layers, sizeof *s->encoder);
    bool ok = (s->encoder || orch_no_memory(s->error)) && place_biases(s, e) &&
              place_norm(s, &e->last_norm, p->width, &s->encoder_norm);
    if (ok && e->front[0].tensor)
        ok = place_filters(s, &e->front[0], &s->front[0]) && place_filters(s, &e->front[1], &s->front[1]) &&
             place_table(s, &e->positions, &s->encoder_positions) && place_values(s, frames * channels, &s->frames) &&
             place_values(s, frames * p->width, &s->filtered) &&
             place_values(s, 3 * (frames * channels + made * p->width), &s->columns);
    for (unsigned i = 0; ok && i < p->encoder_layers; i++)
        ok = place_weights(s, &e->layer[i], &s->encoder[i]);
    return ok;
}

/* ---- values ---- */

/* Cosines and sines that are multiplied by a number multiply scores by its square, which queries take here; where a part of a
 * head turns, that part alone. */
static bool place_attention(struct language_stepper *s)
{
    const struct language_shape *const p = s->shape;
    const double attention = rotation_attention(p);
    const float squared = (float)(attention * attention);
    const unsigned values = p->rope_size == p->head_size ? 1 : p->head_size;
    if (attention == 1)
        return true;
    if (!place(s, NULL, sizeof(float) * values, &s->attention[0]) || !place(s, NULL, sizeof(uint16_t) * values, &s->attention[1]))
        return false;
    for (unsigned i = 0; i < values; i++) {
        const float by = i < p->rope_size ? squared : 1;
        ((float *)s->attention[0].host)[i] = by;
        ((uint16_t *)s->attention[1].host)[i] = ane_float_to_half(by);
    }
    return true;
}

/* Speeds of the pairs of a head, as multiples of what the base alone gives. */
static bool place_speeds(struct language_stepper *s)
{
    const struct language_shape *const p = s->shape;
    const unsigned pairs = p->rope == SHAPE_ROPE_NONE ? 0 : p->rope_size / 2;
    double *const speed = calloc(pairs + 1, sizeof *speed);
    if (!speed)
        return orch_no_memory(s->error);
    decoder_speeds(s->model->weights, s->context, speed);
    if (!pairs || !place(s, NULL, sizeof(float) * pairs, &s->speeds)) {
        free(speed);
        return !pairs;
    }
    for (unsigned i = 0; i < pairs; i++) {
        const double scale = speed[i] / pow(p->rope_base, -2.0 * i / p->rope_size);
        s->scaled |= fabs(scale - 1) > 1e-12;
        ((float *)s->speeds.host)[i] = (float)scale;
    }
    free(speed);
    return place_attention(s);
}

/* Tokens of a pass of the decoder or of the encoder. */
static uint64_t tokens_together(const struct language_stepper *s)
{
    const uint64_t encoded = (uint64_t)s->encoded * s->sources;
    return s->batch > encoded ? s->batch : encoded;
}

/* Numbers of rows in order, for the tokens of a pass and for the rows of a matrix. */
static bool place_index(struct language_stepper *s)
{
    uint64_t rows = tokens_together(s);
    for (unsigned i = 0; i < s->shape->layers; i++) {
        const struct placed_layer *const l = &s->layer[i];
        const struct placed_matrix *const all[] = {&l->query, &l->key, &l->value, &l->output, &l->gate, &l->up, &l->down};
        for (size_t k = 0; k < sizeof all / sizeof *all; k++)
            rows = all[k]->rows > rows ? all[k]->rows : rows;
    } /* those of an encoder are of the same shapes */
    rows = s->head.rows > rows ? s->head.rows : rows;
    if (!place(s, NULL, sizeof(uint32_t) * rows, &s->index))
        return false;
    for (uint64_t i = 0; i < rows; i++)
        ((uint32_t *)s->index.host)[i] = (uint32_t)i;
    return true;
}

static bool place_experts(struct language_stepper *s)
{
    const struct language_shape *const p = s->shape;
    return !p->experts ||
           (place_values(s, (uint64_t)s->batch * p->experts, &s->router) && place_values(s, p->experts_used, &s->chosen) &&
            place_values(s, p->experts_used, &s->weights) && place_values(s, p->width, &s->weighed));
}

static bool place_all(struct language_stepper *s)
{
    const struct language_shape *const p = s->shape;
    const uint64_t n = tokens_together(s), queries = n * p->heads * p->head_size, keys = n * p->kv_heads * p->head_size;
    const float scale =
        (float)(p->family->distance_bias ? 1 / sqrt(p->width) : sqrt(p->width)); /* of the head, or the embedding */
    language_enter(s, language_layer_part(s, p->layers));
    bool ok = place_matrix(s, &s->ends.head, 1, &s->head) && place_norm(s, &s->ends.last_norm, p->width, &s->last_norm);
    language_enter(s, widest_part(s));
    ok = ok && place_values(s, n * p->width, &s->stream) && place_values(s, n * p->width, &s->normed) &&
         place_values(s, n * p->width, &s->mixed) && place_values(s, queries, &s->query) &&
         place_values(s, queries, &s->turned_query) && place_values(s, queries, &s->attended) && place_values(s, keys, &s->key) &&
         (!(s->cached || s->cache.page) || place_values(s, keys, &s->turned_key)) &&
         place_values(s, n * p->feed_forward, &s->gate) && place_values(s, n * p->feed_forward, &s->up) &&
         place_values(s, p->vocabulary, &s->logits) && place_values(s, n * p->width, &s->row) &&
         place(s, NULL, sizeof(float) * n * p->width, &s->table);
    language_enter(s, language_layer_part(s, 0));
    ok = ok && place_vector(s, &scale, 1, &s->scale);
    language_enter(s, widest_part(s));
    ok = ok && place_speeds(s) && place_experts(s) && language_place_gate(s);
    for (unsigned i = 0; ok && i < p->layers; i++)
        ok = place_layer(s, i);
    language_enter(s, widest_part(s));
    ok = ok && place_encoder(s);
    return ok && place_index(s) &&
           (!s->widened_values || widest_part(s) == PART_ANE || place(s, NULL, sizeof(float) * s->widened_values, &s->widened));
}

/* As many tokens as the caches hold; beside sinks there is a bias for each of their keys and heads. */
static unsigned most_in_pass(const struct shape_family *f, unsigned context, unsigned lanes)
{
    enum { BESIDE_SINKS = 64 };
    const uint64_t all = (uint64_t)context * lanes, most = f->sinks ? BESIDE_SINKS : LANGUAGE_BATCH;
    return (unsigned)(all < most ? all : most);
}

/* Tables of pages lie where kernels read them. */
static bool place_pages(struct language_stepper *s)
{
    const struct language_cache_form *const f = &s->cache;
    if (!f->page)
        return true;
    const uint64_t bytes = sizeof(uint32_t) * language_pages_table_words(f->page, s->context, s->lanes);
    if (!place(s, NULL, bytes, &s->page_table))
        return false;
    s->pages = language_pages_create(f->page, f->pages, s->context, s->lanes, s->page_table.host);
    return s->pages || orch_no_memory(s->error);
}

/* Kernels of the cache take queries in f32, heads of whole fours, and tokens of whole blocks. */
static bool check_cached(const struct language_stepper *s)
{
    const struct language_shape *const p = s->shape;
    if (!s->cached)
        return true;
    if (has_engine(s))
        return orch_fail(s->error, ORCH_UNMODELLED, ORCH_OPTION("kv-cache") " %s: keys and values of the Neural Engine are f16",
                         s->cached->name);
    return (p->head_size % 4 == 0 && p->kv_heads * p->head_size % s->cached->values == 0) ||
           orch_fail(s->error, ORCH_UNMODELLED,
                     ORCH_OPTION("kv-cache") " %s: %u heads of %u values a token are no whole blocks of %u", s->cached->name,
                     p->kv_heads, p->head_size, s->cached->values);
}

struct language_stepper *language_stepper_create(const struct language_model *model, struct language_unit *unit,
                                                 enum orch_part part, const struct language_room *room, struct orch_error *error)
{
    struct language_stepper *const s = calloc(1, sizeof *s);
    if (!s) {
        orch_no_memory(error);
        return NULL;
    }
    *s = (struct language_stepper){.model = model,
                                   .shape = &model->shape,
                                   .unit = unit,
                                   .shards = room->shards ? *room->shards : (struct language_shards){.count = 0},
                                   .context = room->context,
                                   .lanes = room->lanes,
                                   .cached = room->cache.type,
                                   .cache = room->cache,
                                   .answers = 1,
                                   .encoded = room->encoded,
                                   .sources = room->sources ? room->sources : 1,
                                   .batch = most_in_pass(model->shape.family, room->context, room->lanes),
                                   .ends = decoder_ends(model->weights),
                                   .error = error};
    language_enter(s, s->shards.count ? s->shards.shard[0].part : part);
    s->layer = calloc(model->shape.layers, sizeof *s->layer);
    s->shown = calloc(model->shape.vocabulary, sizeof *s->shown);
    s->places = calloc(room->lanes, sizeof *s->places);
    s->seen = calloc(room->lanes, sizeof *s->seen);
    if (!s->layer || !s->shown || !s->places || !s->seen)
        orch_no_memory(error);
    else if (check_cached(s) && place_pages(s) && place_all(s))
        return s;
    language_stepper_free(s);
    return NULL;
}

bool language_stepper_answer(struct language_stepper *s, unsigned tokens, struct orch_error *error)
{
    const uint64_t values = (uint64_t)tokens * s->shape->vocabulary;
    s->error = error;
    float *const shown = realloc(s->shown, values * sizeof *shown);
    if (!shown)
        return orch_no_memory(error);
    s->shown = shown;
    s->answers = tokens;
    language_enter(s, language_layer_part(s, s->shape->layers));
    return place_values(s, values, &s->logits);
}

void language_stepper_free(struct language_stepper *stepper)
{
    if (!stepper)
        return;
    free(stepper->layer);
    free(stepper->encoder);
    free(stepper->shown);
    free(stepper->places);
    free(stepper->seen);
    language_pages_free(stepper->pages);
    free(stepper);
}

uint64_t language_stepper_weight_bytes(const struct language_stepper *stepper)
{
    return stepper->weight_bytes;
}

const struct language_pages *language_stepper_pages(const struct language_stepper *stepper)
{
    return stepper->pages;
}

uint64_t language_stepper_cache_bytes(const struct language_stepper *stepper)
{
    return stepper->cache_bytes;
}
