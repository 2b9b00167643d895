/* Finds the tensors of a model. Names: llama.cpp, src/llama-arch.cpp; transformers, modeling_NAME.py. */
#include "sim/language/decoder_internal.h"

#include "isa/list_grow.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Names of one thing in both worlds; %u stands for the layer. NULL = that world has none. */
struct names {
    const char *gguf, *transformers;
};

static const struct names embedding = {"token_embd", "model.embed_tokens"}, head = {"output", "lm_head"},
                          positions = {"position_embd", NULL}, last_norm = {"output_norm", "model.norm"},
                          attention_norm = {"blk.%u.attn_norm", "model.layers.%u.input_layernorm"},
                          feed_forward_norm = {"blk.%u.ffn_norm", "model.layers.%u.post_attention_layernorm"},
                          query_norm = {"blk.%u.attn_q_norm", "model.layers.%u.self_attn.q_norm"},
                          key_norm = {"blk.%u.attn_k_norm", "model.layers.%u.self_attn.k_norm"},
                          query = {"blk.%u.attn_q", "model.layers.%u.self_attn.q_proj"},
                          key = {"blk.%u.attn_k", "model.layers.%u.self_attn.k_proj"},
                          value = {"blk.%u.attn_v", "model.layers.%u.self_attn.v_proj"}, all_three = {"blk.%u.attn_qkv", NULL},
                          output = {"blk.%u.attn_output", "model.layers.%u.self_attn.o_proj"},
                          gate = {"blk.%u.ffn_gate", "model.layers.%u.mlp.gate_proj"},
                          up = {"blk.%u.ffn_up", "model.layers.%u.mlp.up_proj"},
                          down = {"blk.%u.ffn_down", "model.layers.%u.mlp.down_proj"}, router = {"blk.%u.ffn_gate_inp", NULL},
                          gates = {"blk.%u.ffn_gate_exps", NULL}, ups = {"blk.%u.ffn_up_exps", NULL},
                          downs = {"blk.%u.ffn_down_exps", NULL};

struct search {
    struct decoder *d;
    unsigned layer;
    struct orch_error *error;
    bool ok;
};

/* A tensor of that name and end; a missing one is an error. It has `rows` rows (0 = it is a vector) of `columns` values. */
static const struct weight_tensor *find(struct search *s, const struct names *names, const char *end, uint64_t rows,
                                        uint64_t columns)
{
    char name[128], full[160];
    const char *const form = s->d->transformers ? names->transformers : names->gguf;
    if (!s->ok)
        return NULL;
    if (!form) {
        s->ok = orch_fail(s->error, ORCH_UNMODELLED,
                          "%s: tensors named by transformers are read for llama, qwen2, qwen3 and gemma without experts; convert "
                          "the file to GGUF",
                          s->d->shape.family->name);
        return NULL;
    }
    const char *const layer = strstr(form, "%u");
    if (layer)
        snprintf(name, sizeof name, "%.*s%u%s", (int)(layer - form), form, s->layer, layer + 2);
    else
        snprintf(name, sizeof name, "%s", form);
    snprintf(full, sizeof full, "%s.%s", name, end);
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

/* The values of a vector, which the decoder keeps. `add` is added to each. */
static const float *read_vector(struct search *s, const struct names *names, const char *end, uint64_t values, float add)
{
    struct decoder *const d = s->d;
    const struct weight_tensor *const t = find(s, names, end, 0, values);
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
    weight_row(t, 0, vector);
    for (uint64_t i = 0; i < values; i++)
        vector[i] += add;
    return vector;
}

/* transformers stores the scales of Gemma's norms less one. */
static struct decoder_norm read_norm(struct search *s, const struct names *names, uint64_t values)
{
    const struct language_shape *const shape = &s->d->shape;
    const float add = s->d->transformers && shape->family->scaled_embedding ? 1 : 0;
    struct decoder_norm norm = {.scale = read_vector(s, names, "weight", values, add)};
    if (shape->family->norm == SHAPE_LAYER_NORM)
        norm.shift = read_vector(s, names, "bias", values, 0);
    return norm;
}

static struct decoder_matrix read_matrix(struct search *s, const struct names *names, uint64_t rows, unsigned columns, bool bias)
{
    const struct weight_tensor *const t = find(s, names, "weight", rows, columns);
    return (struct decoder_matrix){t, 0, rows, columns, bias ? read_vector(s, names, "bias", rows, 0) : NULL};
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
        l->key = read_matrix(s, &key, keys, shape->width, f->qkv_bias);
        l->value = read_matrix(s, &value, keys, shape->width, f->qkv_bias);
    }
    if (f->qk_norm) {
        l->query_norm = read_norm(s, &query_norm, shape->head_size);
        l->key_norm = read_norm(s, &key_norm, shape->head_size);
    }
    l->output = read_matrix(s, &output, shape->width, queries, f->output_bias);
}

static void find_feed_forward(struct search *s, struct decoder_layer *l)
{
    const struct language_shape *const shape = &s->d->shape;
    const struct shape_family *const f = shape->family;
    const uint64_t copies = shape->experts ? shape->experts : 1;
    if (shape->experts)
        l->router = read_matrix(s, &router, shape->experts, shape->width, false);
    if (f->one_gate) {
        struct decoder_matrix both = read_matrix(s, &up, 2ull * shape->feed_forward, shape->width, false);
        l->gate = cut(&both, shape->feed_forward);
        l->up = both;
    } else {
        if (f->gated)
            l->gate =
                read_matrix(s, shape->experts ? &gates : &gate, copies * shape->feed_forward, shape->width, f->feed_forward_bias);
        l->up = read_matrix(s, shape->experts ? &ups : &up, copies * shape->feed_forward, shape->width, f->feed_forward_bias);
    }
    l->down = read_matrix(s, shape->experts ? &downs : &down, copies * shape->width, shape->feed_forward, f->feed_forward_bias);
}

/* Llama 3's files hold a factor for the wave length of each pair. */
static void take_factors(struct search *s)
{
    struct decoder *const d = s->d;
    static const struct names factors = {"rope_freqs", NULL};
    if (d->transformers || !weight_find(d->weights, "rope_freqs.weight"))
        return;
    const float *const factor = read_vector(s, &factors, "weight", d->shape.rope_size / 2, 0);
    for (unsigned i = 0; factor && i < d->shape.rope_size / 2; i++)
        d->frequency[i] /= factor[i];
}

bool decoder_find_weights(struct decoder *d, struct orch_error *error)
{
    const struct language_shape *const shape = &d->shape;
    struct search search = {.d = d, .error = error, .ok = true}, *const s = &search;
    d->transformers = !weight_find(d->weights, "token_embd.weight") && weight_find(d->weights, "model.embed_tokens.weight");
    d->embedding = read_matrix(s, &embedding, shape->vocabulary, shape->width, false);
    d->head = shape->tied ? d->embedding : read_matrix(s, &head, shape->vocabulary, shape->width, shape->family->head_bias);
    if (shape->family->positions)
        d->positions = read_matrix(s, &positions, shape->context, shape->width, false);
    d->last_norm = read_norm(s, &last_norm, shape->width);
    for (s->layer = 0; s->ok && s->layer < shape->layers; s->layer++) {
        struct decoder_layer *const l = &d->layer[s->layer];
        l->attention_norm = read_norm(s, &attention_norm, shape->width);
        if (!shape->family->parallel)
            l->feed_forward_norm = read_norm(s, &feed_forward_norm, shape->width);
        find_attention(s, l);
        find_feed_forward(s, l);
    }
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
    return (struct decoder_ends){decoder->embedding, decoder->positions, decoder->head, decoder->last_norm};
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

const double *decoder_speeds(const struct decoder *decoder)
{
    return decoder->frequency;
}
