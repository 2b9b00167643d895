/* Finds the tensors of a model. Names: llama.cpp, src/llama-arch.cpp. */
#include "sim/language/decoder_internal.h"

#include "isa/list_grow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Names of one thing in each kind of file; %u stands for the layer, and in front of "dec" and "decoder" an encoder has "enc" and
 * "encoder". NULL = such files have none. Names of T5: llama.cpp; of Whisper: openai/whisper, model.py, as whisper.cpp has them.
 */
struct names {
    const char *gguf, *t5, *whisper;
};

static const struct names embedding = {"token_embd", "token_embd", "decoder.token_embedding"}, head = {"output", "output", NULL},
                          positions = {"position_embd", NULL, "decoder.positional_embedding"},
                          last_norm = {"output_norm", "dec.output_norm", "decoder.ln"},
                          attention_norm = {"blk.%u.attn_norm", "dec.blk.%u.attn_norm", "decoder.blocks.%u.attn_ln"},
                          feed_forward_norm = {"blk.%u.ffn_norm", "dec.blk.%u.ffn_norm", "decoder.blocks.%u.mlp_ln"},
                          post_attention_norm = {"blk.%u.post_attention_norm", NULL, NULL},
                          sinks = {"blk.%u.attn_sinks", NULL, NULL}, query_norm = {"blk.%u.attn_q_norm", NULL, NULL},
                          key_norm = {"blk.%u.attn_k_norm", NULL, NULL},
                          query = {"blk.%u.attn_q", "dec.blk.%u.attn_q", "decoder.blocks.%u.attn.query"},
                          key = {"blk.%u.attn_k", "dec.blk.%u.attn_k", "decoder.blocks.%u.attn.key"},
                          value = {"blk.%u.attn_v", "dec.blk.%u.attn_v", "decoder.blocks.%u.attn.value"},
                          all_three = {"blk.%u.attn_qkv", NULL, NULL},
                          output = {"blk.%u.attn_output", "dec.blk.%u.attn_o", "decoder.blocks.%u.attn.out"},
                          gate = {"blk.%u.ffn_gate", "dec.blk.%u.ffn_gate", NULL},
                          up = {"blk.%u.ffn_up", "dec.blk.%u.ffn_up", "decoder.blocks.%u.mlp.0"},
                          down = {"blk.%u.ffn_down", "dec.blk.%u.ffn_down", "decoder.blocks.%u.mlp.2"},
                          router = {"blk.%u.ffn_gate_inp", NULL, NULL}, gates = {"blk.%u.ffn_gate_exps", NULL, NULL},
                          ups = {"blk.%u.ffn_up_exps", NULL, NULL}, downs = {"blk.%u.ffn_down_exps", NULL, NULL},
                          cross_norm = {NULL, "dec.blk.%u.cross_attn_norm", "decoder.blocks.%u.cross_attn_ln"},
                          cross_query = {NULL, "dec.blk.%u.cross_attn_q", "decoder.blocks.%u.cross_attn.query"},
                          cross_key = {NULL, "dec.blk.%u.cross_attn_k", "decoder.blocks.%u.cross_attn.key"},
                          cross_value = {NULL, "dec.blk.%u.cross_attn_v", "decoder.blocks.%u.cross_attn.value"},
                          cross_output = {NULL, "dec.blk.%u.cross_attn_o", "decoder.blocks.%u.cross_attn.out"},
                          distances = {NULL, "dec.blk.0.attn_rel_b", NULL},
                          encoded_norm = {NULL, "dec.output_norm", "decoder.ln_post"},
                          front[] = {{NULL, NULL, "decoder.conv1"}, {NULL, NULL, "decoder.conv2"}};

struct search {
    struct decoder *d;
    unsigned layer;
    bool encodes; /* tensors of the encoder are looked for */
    struct orch_error *error;
    bool ok;
};

static const char *form_of(const struct search *s, const struct names *names)
{
    const struct shape_family *const f = s->d->shape.family;
    return f->encodes_text ? names->t5 : f->encoder ? names->whisper : names->gguf;
}

/* The name of a tensor; without an end it has none. */
static void write_name(const struct search *s, const char *form, const char *end, char *full, size_t size)
{
    const char *const layer = strstr(form, "%u");
    const char *const before = s->encodes ? "enc" : "", *const rest = s->encodes ? form + strlen("dec") : form;
    if (layer)
        snprintf(full, size, "%s%.*s%u%s%s%s", before, (int)(layer - rest), rest, s->layer, layer + 2, *end ? "." : "", end);
    else
        snprintf(full, size, "%s%s%s%s", before, rest, *end ? "." : "", end);
}

/* A tensor of that name and end; a missing one is an error. It has `rows` rows (0 = it is a vector) of `columns` values. */
static const struct weight_tensor *find(struct search *s, const struct names *names, const char *end, uint64_t rows,
                                        uint64_t columns)
{
    char full[160];
    const char *const form = form_of(s, names);
    if (!s->ok)
        return NULL;
    if (!form) {
        s->ok =
            orch_fail(s->error, ORCH_UNMODELLED, "%s with %s: such a model is not known", s->d->shape.family->name, names->gguf);
        return NULL;
    }
    write_name(s, form, end, full, sizeof full);
    const struct weight_tensor *const t = weight_find(s->d->weights, full);
    if (!t) {
        s->ok = orch_fail(s->error, ORCH_USAGE, "tensor '%s' is missing", full);
        return NULL;
    }
    const uint64_t expected = rows ? rows * columns : columns;
    if (t->dims == 0 || t->shape[0] != columns || t->count != expected)
        s->ok = orch_fail(s->error, ORCH_USAGE, "tensor '%s': expected %llu rows of %llu values, got %llu of %llu", full,
                          (unsigned long long)(rows ? rows : 1), (unsigned long long)columns,
                          (unsigned long long)(t->dims ? t->count / t->shape[0] : 0),
                          (unsigned long long)(t->dims ? t->shape[0] : 1));
    else if (!t->format->decode)
        s->ok =
            orch_fail(s->error, ORCH_UNMODELLED, "tensor '%s': type %s is not decoded; convert the file", full, t->format->name);
    return s->ok ? t : NULL;
}

/* The values of a tensor, which the decoder keeps; `rows` 0 = it is a vector. */
static const float *read_values(struct search *s, const struct names *names, const char *end, uint64_t rows, uint64_t columns)
{
    struct decoder *const d = s->d;
    const struct weight_tensor *const t = find(s, names, end, rows, columns);
    const uint64_t values = (rows ? rows : 1) * columns;
    if (!t)
        return NULL;
    float **const grown = list_grow(d->vector, d->vectors, &d->vector_room, sizeof *grown);
    float *const vector = malloc(values * sizeof *vector);
    if (grown)
        d->vector = grown;
    if (!grown || !vector) {
        free(vector);
        s->ok = orch_no_memory(s->error);
        return NULL;
    }
    d->vector[d->vectors++] = vector;
    for (uint64_t row = 0; row < values / columns; row++)
        weight_row(t, row, vector + row * columns);
    return vector;
}

static const float *read_vector(struct search *s, const struct names *names, const char *end, uint64_t values)
{
    return read_values(s, names, end, 0, values);
}

static struct decoder_norm read_norm(struct search *s, const struct names *names, uint64_t values)
{
    const struct language_shape *const shape = &s->d->shape;
    struct decoder_norm norm = {.scale = read_vector(s, names, "weight", values)};
    if (shape->family->norm == SHAPE_LAYER_NORM)
        norm.shift = read_vector(s, names, "bias", values);
    return norm;
}

static struct decoder_matrix read_matrix(struct search *s, const struct names *names, uint64_t rows, unsigned columns, bool bias)
{
    const struct weight_tensor *const t = find(s, names, "weight", rows, columns);
    return (struct decoder_matrix){t, 0, rows, columns, bias ? read_vector(s, names, "bias", rows) : NULL};
}

/* Matrices of experts one behind another, whose biases are a row of each. */
static struct decoder_matrix read_matrices(struct search *s, const struct names *names, uint64_t rows, unsigned columns)
{
    const struct language_shape *const shape = &s->d->shape;
    struct decoder_matrix all = read_matrix(s, names, shape->experts * rows, columns, false);
    if (shape->family->feed_forward_bias)
        all.bias = read_values(s, names, "bias", shape->experts, rows);
    return all;
}

/* Cuts `rows` rows off the beginning of what is left of a matrix. */
static struct decoder_matrix cut(struct decoder_matrix *left, uint64_t rows)
{
    struct decoder_matrix part = *left;
    part.rows = rows;
    left->first_row += rows;
    left->rows -= rows;
    left->bias = left->bias ? left->bias + rows : NULL;
    return part;
}

static void find_attention(struct search *s, struct decoder_layer *l)
{
    const struct language_shape *const shape = &s->d->shape;
    const struct shape_family *const f = shape->family;
    const unsigned queries = shape->heads * shape->head_size, keys = shape->kv_heads * shape->head_size;
    if (f->one_qkv) {
        struct decoder_matrix all = read_matrix(s, &all_three, queries + 2 * keys, shape->width, f->qkv_bias);
        l->query = cut(&all, queries);
        l->key = cut(&all, keys);
        l->value = all;
    } else {
        l->query = read_matrix(s, &query, queries, shape->width, f->qkv_bias);
        l->key = read_matrix(s, &key, keys, shape->width, f->qkv_bias && !f->encoder); /* Whisper's keys have none */
        l->value = read_matrix(s, &value, keys, shape->width, f->qkv_bias);
    }
    if (f->qk_norm) {
        l->query_norm = read_norm(s, &query_norm, shape->head_size);
        l->key_norm = read_norm(s, &key_norm, shape->head_size);
    }
    l->output = read_matrix(s, &output, shape->width, queries, f->output_bias);
    if (f->sinks)
        l->sinks = read_vector(s, &sinks, "weight", shape->heads);
}

/* A layer of the decoder looks at what the encoder made. */
static void find_cross(struct search *s, struct decoder_layer *l)
{
    const struct language_shape *const shape = &s->d->shape;
    const struct shape_family *const f = shape->family;
    const unsigned queries = shape->heads * shape->head_size, keys = shape->kv_heads * shape->head_size;
    l->cross_norm = read_norm(s, &cross_norm, shape->width);
    l->cross_query = read_matrix(s, &cross_query, queries, shape->width, f->qkv_bias);
    l->cross_key = read_matrix(s, &cross_key, keys, shape->width, false);
    l->cross_value = read_matrix(s, &cross_value, keys, shape->width, f->qkv_bias);
    l->cross_output = read_matrix(s, &cross_output, shape->width, queries, f->output_bias);
}

static void find_feed_forward(struct search *s, struct decoder_layer *l)
{
    const struct language_shape *const shape = &s->d->shape;
    const struct shape_family *const f = shape->family;
    const bool bias = f->feed_forward_bias;
    if (shape->experts) {
        l->router = read_matrix(s, &router, shape->experts, shape->width, bias);
        if (f->gated)
            l->gate = read_matrices(s, &gates, shape->feed_forward, shape->width);
        l->up = read_matrices(s, &ups, shape->feed_forward, shape->width);
        l->down = read_matrices(s, &downs, shape->width, shape->feed_forward);
        return;
    }
    if (f->one_gate) {
        struct decoder_matrix both = read_matrix(s, &up, 2ull * shape->feed_forward, shape->width, false);
        l->gate = cut(&both, shape->feed_forward);
        l->up = both;
    } else {
        if (f->gated)
            l->gate = read_matrix(s, &gate, shape->feed_forward, shape->width, bias);
        l->up = read_matrix(s, &up, shape->feed_forward, shape->width, bias);
    }
    l->down = read_matrix(s, &down, shape->width, shape->feed_forward, bias);
}

static void find_layer(struct search *s, struct decoder_layer *l)
{
    const struct language_shape *const shape = &s->d->shape;
    l->attention_norm = read_norm(s, &attention_norm, shape->width);
    if (!shape->family->parallel) /* files of gpt-oss name it after what stands before it */
        l->feed_forward_norm = read_norm(s, shape->family->sinks ? &post_attention_norm : &feed_forward_norm, shape->width);
    find_attention(s, l);
    if (shape->family->encoder && !s->encodes)
        find_cross(s, l);
    find_feed_forward(s, l);
}

/* Filters of a convolution of width 3, whose values are three by three. */
static struct decoder_matrix read_filters(struct search *s, const struct names *names, unsigned channels)
{
    const unsigned width = s->d->shape.width;
    const struct weight_tensor *const t = find(s, names, "weight", (uint64_t)width * channels, 3);
    return (struct decoder_matrix){t, 0, (uint64_t)width * channels, 3, read_vector(s, names, "bias", width)};
}

/* A table of positions, whose name has no end. */
static struct decoder_matrix read_positions(struct search *s, unsigned rows)
{
    const unsigned width = s->d->shape.width;
    return (struct decoder_matrix){find(s, &positions, s->d->shape.family->encoder ? "" : "weight", rows, width), 0, rows, width,
                                   NULL};
}

static void find_encoder(struct search *s)
{
    struct decoder *const d = s->d;
    struct decoder_encoder *const e = &d->encoder;
    const struct language_shape *const shape = &d->shape;
    const struct shape_family *const f = shape->family;
    if (f->distance_bias)
        d->distances = read_matrix(s, &distances, shape->distances, shape->heads, false);
    s->encodes = true;
    if (f->distance_bias)
        e->distances = read_matrix(s, &distances, shape->distances, shape->heads, false);
    if (!f->encodes_text) {
        e->front[0] = read_filters(s, &front[0], shape->encoder_channels);
        e->front[1] = read_filters(s, &front[1], shape->width);
        e->positions = read_positions(s, shape->encoder_context);
    }
    e->last_norm = read_norm(s, &encoded_norm, shape->width);
    for (s->layer = 0; s->ok && s->layer < shape->encoder_layers; s->layer++)
        find_layer(s, &e->layer[s->layer]);
    s->encodes = false;
}

/* Llama 3's files hold a factor for the wave length of each pair. */
static void take_factors(struct search *s)
{
    struct decoder *const d = s->d;
    static const struct names factors = {"rope_freqs", NULL, NULL};
    if (!weight_find(d->weights, "rope_freqs.weight"))
        return;
    d->factor = read_vector(s, &factors, "weight", d->shape.rope_size / 2);
}

bool decoder_find_weights(struct decoder *d, struct orch_error *error)
{
    const struct language_shape *const shape = &d->shape;
    struct search search = {.d = d, .error = error, .ok = true}, *const s = &search;
    d->embedding = read_matrix(s, &embedding, shape->vocabulary, shape->width, false);
    d->head = shape->tied ? d->embedding : read_matrix(s, &head, shape->vocabulary, shape->width, shape->family->head_bias);
    if (shape->family->positions)
        d->positions = read_positions(s, shape->context);
    d->last_norm = read_norm(s, &last_norm, shape->width);
    for (s->layer = 0; s->ok && s->layer < shape->layers; s->layer++)
        find_layer(s, &d->layer[s->layer]);
    if (s->ok && shape->family->encoder)
        find_encoder(s);
    if (s->ok)
        take_factors(s);
    return s->ok;
}

/* ---- for others ---- */

const struct decoder_layer *decoder_layer_at(const struct decoder *decoder, unsigned layer)
{
    return &decoder->layer[layer];
}

struct decoder_ends decoder_ends(const struct decoder *decoder)
{
    return (struct decoder_ends){decoder->embedding, decoder->positions, decoder->head, decoder->last_norm, decoder->distances};
}

const struct decoder_encoder *decoder_encoder(const struct decoder *decoder)
{
    return decoder->shape.family->encoder ? &decoder->encoder : NULL;
}

uint64_t decoder_matrix_row_bytes(const struct decoder_matrix *matrix)
{
    const struct block_format *const f = matrix->tensor->format;
    return matrix->columns / f->values * f->bytes;
}

const uint8_t *decoder_matrix_data(const struct decoder_matrix *matrix)
{
    return matrix->tensor->data + matrix->first_row * decoder_matrix_row_bytes(matrix);
}
