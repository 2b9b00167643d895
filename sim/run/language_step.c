#include "sim/run/language_step.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct placed_matrix {
    struct language_buffer data, bias; /* bias host NULL = none */
    const char *format;
    uint64_t rows;
    unsigned columns;
};

struct placed_norm {
    struct language_buffer scale, shift; /* shift host NULL = none */
};

struct placed_layer {
    struct placed_norm attention_norm, feed_forward_norm, query_norm, key_norm;
    struct placed_matrix query, key, value, output, gate, up, down;
    struct language_buffer keys, values; /* [token][head][d] */
};

struct language_stepper {
    const struct language_model *model;
    const struct language_shape *shape;
    struct language_unit *unit;
    enum orch_part part;
    unsigned context, position;
    struct decoder_ends ends;
    struct placed_layer *layer;
    struct placed_matrix head;
    struct placed_norm last_norm;
    struct language_buffer stream, normed, query, turned, key, attended, mixed, gate, up, logits, index, row, table_row, scale;
    uint64_t weight_bytes, cache_bytes;
    struct language_sum *sum; /* of the step in work, as is the next */
    struct orch_error *error;
};

/* ---- memory ---- */

static bool place(struct language_stepper *s, const void *from, uint64_t bytes, struct language_buffer *buffer)
{
    return language_unit_place(s->unit, from, bytes, buffer, s->error);
}

static bool place_values(struct language_stepper *s, uint64_t count, struct language_buffer *buffer)
{
    return place(s, NULL, sizeof(float) * count, buffer);
}

static bool has_products(const char *format)
{
    static const char *const names[] = {"f32", "f16", "bf16", "q4_0", "q8_0", "q4_k"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i], format) == 0)
            return true;
    return false;
}

static bool place_matrix(struct language_stepper *s, const struct decoder_matrix *m, struct placed_matrix *to)
{
    const uint64_t bytes = m->tensor ? m->rows * decoder_matrix_row_bytes(m) : 0;
    if (!m->tensor)
        return true;
    *to = (struct placed_matrix){.format = m->tensor->format->name, .rows = m->rows, .columns = m->columns};
    if (!has_products(to->format))
        return orch_fail(s->error, ORCH_UNMODELLED,
                         "%s: tensor '%s' is in %s; products of the units have f32, f16, bf16, q4_0, q8_0 and q4_k",
                         s->model->name, m->tensor->name, to->format);
    s->weight_bytes += bytes;
    return place(s, decoder_matrix_data(m), bytes, &to->data) &&
           (!m->bias || place(s, m->bias, sizeof(float) * m->rows, &to->bias));
}

static bool place_norm(struct language_stepper *s, const struct decoder_norm *n, unsigned count, struct placed_norm *to)
{
    const uint64_t bytes = sizeof(float) * (uint64_t)count;
    return (!n->scale || place(s, n->scale, bytes, &to->scale)) && (!n->shift || place(s, n->shift, bytes, &to->shift));
}

static bool place_layer(struct language_stepper *s, unsigned number)
{
    const struct decoder_layer *const l = decoder_layer_at(s->model->weights, number);
    struct placed_layer *const to = &s->layer[number];
    const struct language_shape *const p = s->shape;
    const uint64_t row = (uint64_t)p->kv_heads * p->head_size;
    s->cache_bytes += 2 * sizeof(float) * row * s->context;
    return place_norm(s, &l->attention_norm, p->width, &to->attention_norm) &&
           place_norm(s, &l->feed_forward_norm, p->width, &to->feed_forward_norm) &&
           place_norm(s, &l->query_norm, p->head_size, &to->query_norm) &&
           place_norm(s, &l->key_norm, p->head_size, &to->key_norm) && place_matrix(s, &l->query, &to->query) &&
           place_matrix(s, &l->key, &to->key) && place_matrix(s, &l->value, &to->value) &&
           place_matrix(s, &l->output, &to->output) && place_matrix(s, &l->gate, &to->gate) && place_matrix(s, &l->up, &to->up) &&
           place_matrix(s, &l->down, &to->down) && place_values(s, row * s->context, &to->keys) &&
           place_values(s, row * s->context, &to->values);
}

static bool place_all(struct language_stepper *s)
{
    const struct language_shape *const p = s->shape;
    const uint64_t queries = (uint64_t)p->heads * p->head_size, keys = (uint64_t)p->kv_heads * p->head_size;
    const float scale = (float)sqrt(p->width);
    bool ok = place_matrix(s, &s->ends.head, &s->head) && place_norm(s, &s->ends.last_norm, p->width, &s->last_norm) &&
              place_values(s, p->width, &s->stream) && place_values(s, p->width, &s->normed) &&
              place_values(s, p->width, &s->mixed) && place_values(s, queries, &s->query) &&
              place_values(s, queries, &s->turned) && place_values(s, queries, &s->attended) && place_values(s, keys, &s->key) &&
              place_values(s, p->feed_forward, &s->gate) && place_values(s, p->feed_forward, &s->up) &&
              place_values(s, p->vocabulary, &s->logits) && place_values(s, 1, &s->index) && place_values(s, p->width, &s->row) &&
              place_values(s, p->width, &s->table_row) && place(s, &scale, sizeof scale, &s->scale);
    for (unsigned i = 0; ok && i < p->layers; i++)
        ok = place_layer(s, i);
    return ok;
}

struct language_stepper *language_stepper_create(const struct language_model *model, struct language_unit *unit,
                                                 enum orch_part part, unsigned context, struct orch_error *error)
{
    struct language_stepper *const s = calloc(1, sizeof *s);
    if (!s) {
        orch_no_memory(error);
        return NULL;
    }
    *s = (struct language_stepper){.model = model,
                                   .shape = &model->shape,
                                   .unit = unit,
                                   .part = part,
                                   .context = context,
                                   .ends = decoder_ends(model->weights),
                                   .error = error};
    s->layer = calloc(model->shape.layers, sizeof *s->layer);
    if (!s->layer)
        orch_no_memory(error);
    if (s->layer && place_all(s))
        return s;
    language_stepper_free(s);
    return NULL;
}

void language_stepper_free(struct language_stepper *stepper)
{
    if (!stepper)
        return;
    free(stepper->layer);
    free(stepper);
}

uint64_t language_stepper_weight_bytes(const struct language_stepper *stepper)
{
    return stepper->weight_bytes;
}

uint64_t language_stepper_cache_bytes(const struct language_stepper *stepper)
{
    return stepper->cache_bytes;
}

/* ---- kernels ---- */

/* Rows of the AMX block's kernels do not pay for one token: CPU cores have what is no product. */
static enum orch_part rest_part(const struct language_stepper *s)
{
    return s->part == PART_GPU ? PART_GPU : PART_CPU;
}

/* The AMX block has products with vectors in f32. */
static enum orch_part product_part(const struct language_stepper *s, const char *format)
{
    return s->part == PART_AMX && strcmp(format, "f32") != 0 ? PART_CPU : s->part;
}

static bool multiply(struct language_stepper *s, const char *title, const struct placed_matrix *m,
                     const struct language_buffer *from, const struct language_buffer *to)
{
    const bool wide = strcmp(m->format, "f16") == 0 || strcmp(m->format, "bf16") == 0;
    const struct language_call product = {.title = title,
                                          .precision = m->format,
                                          .part = product_part(s, m->format),
                                          .input = {&m->data, from},
                                          .inputs = 2,
                                          .result = to,
                                          .result_place = 2};
    const struct language_call bias = {
        .title = title, .part = rest_part(s), .input = {to, &m->bias}, .inputs = 2, .result = to, .result_place = 2};
    return language_unit_call(s->unit, &product, s->sum, s->error, "gemv:%llux%u%s", (unsigned long long)m->rows, m->columns,
                              wide ? ",vectors=f32" : "") &&
           (!m->bias.host ||
            language_unit_call(s->unit, &bias, s->sum, s->error, "elementwise:%llu,op=add", (unsigned long long)m->rows));
}

static bool normalise(struct language_stepper *s, const char *title, const struct placed_norm *n, unsigned rows,
                      const struct language_buffer *from, const struct language_buffer *to)
{
    const bool layer = n->shift.host != NULL;
    const unsigned columns = (unsigned)(n->scale.bytes / sizeof(float));
    const struct language_call call = {.title = title,
                                       .part = rest_part(s),
                                       .input = {from, &n->scale, &n->shift},
                                       .inputs = layer ? 3 : 2,
                                       .result = to,
                                       .result_place = 1};
    return language_unit_call(s->unit, &call, s->sum, s->error, "%s:%ux%u,eps=%.9g", layer ? "layernorm" : "rmsnorm", rows,
                              columns, s->shape->epsilon);
}

/* to = op(a, b) */
static bool combine(struct language_stepper *s, const char *title, const char *op, const struct language_buffer *a,
                    const struct language_buffer *b, const struct language_buffer *to)
{
    const struct language_call call = {
        .title = title, .part = rest_part(s), .input = {a, b}, .inputs = b ? 2 : 1, .result = to, .result_place = b ? 2 : 1};
    return language_unit_call(s->unit, &call, s->sum, s->error, "elementwise:%llu,op=%s",
                              (unsigned long long)(to->bytes / sizeof(float)), op);
}

static bool rotate(struct language_stepper *s, const char *title, unsigned heads, const struct language_buffer *from,
                   const struct language_buffer *to)
{
    const struct language_shape *const p = s->shape;
    const struct language_call call = {
        .title = title, .part = rest_part(s), .input = {from}, .inputs = 1, .result = to, .result_place = 1};
    return language_unit_call(s->unit, &call, s->sum, s->error, "rope:h=%u,s=1,d=%u,base=%.9g,offset=%u,style=%s", heads,
                              p->head_size, p->rope_base, s->position, p->rope == SHAPE_ROPE_HALVES ? "halves" : "interleaved");
}

/* ---- a token ---- */

/* One row is the table of the kernel, whose rows are read where the file has them. CPU cores do it, as llama.cpp has it. */
static bool look_up(struct language_stepper *s, const char *title, const struct decoder_matrix *table, uint32_t row,
                    const struct language_buffer *to)
{
    const uint64_t bytes = decoder_matrix_row_bytes(table);
    struct language_buffer data = language_part(&s->table_row, 0, bytes);
    memcpy(data.host, decoder_matrix_data(table) + row * bytes, bytes);
    const struct language_call call = {.title = title,
                                       .precision = table->tensor->format->name,
                                       .part = PART_CPU,
                                       .input = {&data, &s->index},
                                       .inputs = 2,
                                       .result = to,
                                       .result_place = 2};
    return language_unit_call(s->unit, &call, s->sum, s->error, "embedding:1x%ux1", table->columns);
}

static bool embed(struct language_stepper *s, uint32_t token)
{
    const struct shape_family *const f = s->shape->family;
    if (!look_up(s, "token_embd", &s->ends.embedding, token, &s->stream))
        return false;
    if (f->scaled_embedding) {
        const struct language_call call = {.title = "embedding_scale",
                                           .part = rest_part(s),
                                           .input = {&s->stream, &s->scale},
                                           .inputs = 2,
                                           .result = &s->stream,
                                           .result_place = 2};
        if (!language_unit_call(s->unit, &call, s->sum, s->error, "elementwise:%u,op=mul,period=1", s->shape->width))
            return false;
    }
    return !f->positions || (look_up(s, "position_embd", &s->ends.positions, s->position, &s->row) &&
                             combine(s, "position_embd", "add", &s->stream, &s->row, &s->stream));
}

static bool attend(struct language_stepper *s, struct placed_layer *l)
{
    const struct language_shape *const p = s->shape;
    const uint64_t row = sizeof(float) * (uint64_t)p->kv_heads * p->head_size, seen = s->position + 1;
    const bool turns = p->rope != SHAPE_ROPE_NONE;
    const struct language_buffer keys = language_part(&l->keys, 0, row * seen), values = language_part(&l->values, 0, row * seen);
    const struct language_buffer key = language_part(&l->keys, row * s->position, row),
                                 value = language_part(&l->values, row * s->position, row);
    const struct language_buffer *const query = turns ? &s->turned : &s->query;
    const struct language_call call = {.title = "attention",
                                       .part = rest_part(s),
                                       .input = {query, &keys, &values},
                                       .inputs = 3,
                                       .result = &s->attended,
                                       .result_place = 3};
    if (!multiply(s, "attn_q", &l->query, &s->normed, &s->query) ||
        !multiply(s, "attn_k", &l->key, &s->normed, turns ? &s->key : &key) ||
        !multiply(s, "attn_v", &l->value, &s->normed, &value))
        return false;
    if (p->family->qk_norm &&
        (!normalise(s, "attn_q_norm", &l->query_norm, p->heads, &s->query, &s->query) ||
         !normalise(s, "attn_k_norm", &l->key_norm, p->kv_heads, turns ? &s->key : &key, turns ? &s->key : &key)))
        return false;
    return (!turns ||
            (rotate(s, "rope_q", p->heads, &s->query, &s->turned) && rotate(s, "rope_k", p->kv_heads, &s->key, &key))) &&
           language_unit_call(s->unit, &call, s->sum, s->error, "cache-attention:h=%u,s=%u,d=%u,kvh=%u,q=1", p->heads,
                              (unsigned)seen, p->head_size, p->kv_heads) &&
           multiply(s, "attn_output", &l->output, &s->attended, &s->mixed);
}

static bool feed_forward(struct language_stepper *s, const struct placed_layer *l)
{
    const struct shape_family *const f = s->shape->family;
    const char *const function = f->activation == SHAPE_SILU ? "silu" : f->activation == SHAPE_GELU ? "gelu" : "gelu_tanh";
    char op[32];
    snprintf(op, sizeof op, "%s%s", function, f->gated ? "+mul" : "");
    if (f->gated)
        return multiply(s, "ffn_gate", &l->gate, &s->normed, &s->gate) && multiply(s, "ffn_up", &l->up, &s->normed, &s->up) &&
               combine(s, "ffn_act", op, &s->gate, &s->up, &s->gate) && multiply(s, "ffn_down", &l->down, &s->gate, &s->mixed);
    return multiply(s, "ffn_up", &l->up, &s->normed, &s->up) && combine(s, "ffn_act", op, &s->up, NULL, &s->up) &&
           multiply(s, "ffn_down", &l->down, &s->up, &s->mixed);
}

/* With both parts side by side (phi-2), both read the norm before the first is added. */
static bool run_layer(struct language_stepper *s, struct placed_layer *l)
{
    return normalise(s, "attn_norm", &l->attention_norm, 1, &s->stream, &s->normed) && attend(s, l) &&
           combine(s, "residual", "add", &s->stream, &s->mixed, &s->stream) &&
           (s->shape->family->parallel || normalise(s, "ffn_norm", &l->feed_forward_norm, 1, &s->stream, &s->normed)) &&
           feed_forward(s, l) && combine(s, "residual", "add", &s->stream, &s->mixed, &s->stream);
}

bool language_step(struct language_stepper *s, uint32_t token, const float **logits, struct language_sum *sum,
                   struct orch_error *error)
{
    if (token >= s->shape->vocabulary)
        return orch_fail(error, ORCH_USAGE, "token %u: the vocabulary has %u tokens", token, s->shape->vocabulary);
    if (s->position == s->context)
        return orch_fail(error, ORCH_USAGE, "the context of %u tokens is full", s->context);
    s->sum = sum;
    s->error = error;
    if (!embed(s, token))
        return false;
    for (unsigned i = 0; i < s->shape->layers; i++)
        if (!run_layer(s, &s->layer[i]))
            return false;
    s->position++;
    if (!logits)
        return true;
    *logits = s->logits.host;
    return normalise(s, "output_norm", &s->last_norm, 1, &s->stream, &s->normed) &&
           multiply(s, "output", &s->head, &s->normed, &s->logits);
}
