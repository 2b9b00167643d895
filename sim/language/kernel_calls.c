#include "sim/language/kernel_calls.h"

#include "isa/array_count.h"
#include "isa/list_grow.h"
#include "sim/language/rotation.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* What kernels of the GPU library lack for language models; `kernel_calls_of` says where. */
static const char gemv_formats[] = "gemv in this format", gemm_formats[] = "gemm with a quantised matrix",
                  mixed_types[] = "values of another type than the matrix", gather_formats[] = "gather of quantised rows",
                  head_strides[] = "operands as [token][head][d]", window_reach[] = "a window of keys",
                  logit_sinks[] = "a logit a head without a value", far_positions[] = "positions beyond 8192 (offset=)",
                  clamped_gate[] = "a gate that is limited and shifted",
                  chosen_matrix[] = "a matrix chosen by a number in memory",
                  top_places[] = "the places of the k largest of each row";

enum { ROPE_POSITIONS = 8192 /* of the kernel rope */, GGML_KEYS_LEAST = 32 };

struct pass {
    const struct language_shape *s;
    const struct block_format *matrices;
    unsigned past, times;
    unsigned sequences, each, tokens; /* tokens of a sequence, of all */
    bool encodes;                     /* the tokens of a text that all see one another, and that no cache keeps */
    const char *values;               /* type of what is not a weight */
    const char *cached;               /* of keys and values in the cache */
    unsigned least_keys;
    struct kernel_calls *calls;
    struct orch_error *error;
    bool ok;
};

static void call(struct pass *p, const char *what, const char *precision, const char *missing, double macs, const char *format,
                 ...) __attribute__((format(printf, 6, 7)));

static void call(struct pass *p, const char *what, const char *precision, const char *missing, double macs, const char *format,
                 ...)
{
    struct kernel_call *const grown = p->ok ? list_grow(p->calls->call, p->calls->count, &p->calls->room, sizeof *grown) : NULL;
    if (!grown) {
        p->ok = p->ok && orch_no_memory(p->error);
        return;
    }
    p->calls->call = grown;
    struct kernel_call *const c = &grown[p->calls->count++];
    *c = (struct kernel_call){.what = what, .times = p->times, .precision = precision, .missing = missing, .macs = macs};
    va_list args;
    va_start(args, format);
    vsnprintf(c->kernel, sizeof c->kernel, format, args);
    va_end(args);
}

/* ---- weights ---- */

static bool is_one_of(const char *name, const char *const *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return true;
    return false;
}

/* Whether a matrix takes and gives values of its own type. */
static bool is_plain(const char *format)
{
    static const char *const plain[] = {"f32", "f16", "bf16"};
    return is_one_of(format, plain, ARRAY_COUNT(plain));
}

/* y = A x for each token, and the bias. One token reads each weight once: gemv; several share them: gemm. */
static void project(struct pass *p, const char *what, unsigned tokens, uint64_t rows, unsigned columns, bool bias,
                    const char *missing)
{
    static const char *const quantised[] = {"q4_0", "q8_0", "q4_k", "q6_k"};
    const char *const format = shape_format_of(p->matrices, columns)->name;
    const double macs = (double)tokens * (double)rows * columns;
    const unsigned long long many = rows;
    if (!missing && is_plain(format))
        missing = tokens == 1 || strcmp(format, p->values) == 0 ? NULL : mixed_types;
    else if (!missing && tokens > 1)
        missing = gemm_formats;
    else if (!missing)
        missing = is_one_of(format, quantised, ARRAY_COUNT(quantised)) ? NULL : gemv_formats;
    if (tokens == 1)
        call(p, what, format, missing, macs, "gemv:%llux%u%s", many, columns,
             is_plain(format) && strcmp(format, p->values) != 0 ? ",vectors=f32" : "");
    else
        call(p, what, format, missing, macs, "gemm:%ux%llux%u,tb=1", tokens, many, columns);
    if (bias)
        call(p, what, p->values, NULL, 0, "elementwise:%llu,op=add,period=%llu", tokens * many, many);
}

static void normalise(struct pass *p, const char *what, unsigned rows, unsigned columns)
{
    const bool layer = p->s->family->norm == SHAPE_LAYER_NORM;
    call(p, what, p->values, NULL, 0, "%s:%ux%u,eps=%g", layer ? "layernorm" : "rmsnorm", rows, columns, p->s->epsilon);
}

static void add(struct pass *p, const char *what, uint64_t values)
{
    call(p, what, p->values, NULL, 0, "elementwise:%llu,op=add", (unsigned long long)values);
}

/* ---- a layer ---- */

static void rotate(struct pass *p, const char *what, unsigned heads)
{
    const struct language_shape *const s = p->s;
    const bool far = p->past + p->each > ROPE_POSITIONS;
    char part[24] = "";
    if (s->rope_size != s->head_size)
        snprintf(part, sizeof part, ",part=%u", s->rope_size);
    if (s->rope != SHAPE_ROPE_NONE)
        call(p, what, p->values, far ? far_positions : NULL, 0, "rope:h=%u,s=%u,d=%u,base=%g,offset=%u,style=%s%s%s%s", heads,
             p->tokens, s->head_size, s->rope_base, p->past, s->rope == SHAPE_ROPE_HALVES ? "halves" : "interleaved",
             p->tokens > 1 ? ",order=tokens" : "", part, s->scaling != SHAPE_SCALING_NONE ? ",scales=1" : "");
}

/* Keys or values of all tokens go into the cache. */
static void keep(struct pass *p, const char *what)
{
    const unsigned long long values = (unsigned long long)p->tokens * p->s->kv_heads * p->s->head_size;
    const struct block_format *const own = p->calls->cached;
    if (own)
        call(p, what, own->name, NULL, 0, "quantise:%llu", values);
    else
        call(p, what, p->cached, NULL, 0, "copy:%llu", values * (strcmp(p->cached, "f32") == 0 ? 4 : 2));
}

/* What a layer's queries look at: as many tokens, and a key of zeros where heads may look at nothing. */
static void look_back(struct pass *p, unsigned window)
{
    const struct language_shape *const s = p->s;
    const struct shape_family *const f = s->family;
    const struct block_format *const own = p->calls->cached;
    const unsigned all = p->past + p->each; /* one token finds the last ones of the window side by side in the cache */
    const unsigned reached = p->each == 1 && window && all > window ? window : all;
    const unsigned keys = (reached < p->least_keys ? p->least_keys : reached) + f->sinks;
    const char *const missing = window && !f->sinks && keys > window   ? window_reach
                                : f->sinks && p->calls->as_ggml        ? logit_sinks
                                : !p->past && p->each > 1 && !f->sinks ? head_strides
                                                                       : NULL;
    const double macs = 2.0 * s->heads * p->each * (keys - (p->each - 1) / 2.0) * s->head_size;
    char pages[64] = "";
    if (p->calls->page)
        snprintf(pages, sizeof pages, ",page=%u,pages=%u%s", p->calls->page, p->calls->pages,
                 f->distance_bias ? ",bias=1,scale=one" : "");
    else if (f->distance_bias)
        snprintf(pages, sizeof pages, ",bias=1,scale=one");
    else if (f->sinks && !p->calls->as_ggml)
        snprintf(pages, sizeof pages, ",bias=1");
    if (p->past || p->each == 1 || f->encoder || f->sinks) /* scores with biases are those of a cache */
        call(p, "attention", own ? "f32" : p->cached, missing, macs, "cache-attention:h=%u,s=%u,d=%u,kvh=%u,q=%u%s%s%s", s->heads,
             keys, s->head_size, s->kv_heads, p->each, own ? ",cached=" : "", own ? own->name : "", pages);
    else
        call(p, "attention", p->values, missing, macs, "attention:h=%u,s=%u,d=%u,causal=1,kvh=%u", s->heads, keys, s->head_size,
             s->kv_heads);
}

/* A cache of a type of its own is met by queries in f32. Layers with a window and without may take turns. */
static void attend(struct pass *p)
{
    const struct language_shape *const s = p->s;
    const unsigned times = p->times, every = s->window_every, without = every ? times / every : 0;
    keep(p, "cache_k");
    keep(p, "cache_v");
    p->times = (times - without) * p->sequences; /* over caches of their own */
    look_back(p, s->window);
    p->times = without * p->sequences;
    if (without)
        look_back(p, 0);
    p->times = times;
}

/* Tokens of an encoder see all others. */
static void attend_all(struct pass *p)
{
    const struct language_shape *const s = p->s;
    p->times *= p->sequences;
    call(p, "attention", p->values, NULL, 2.0 * s->heads * p->each * p->each * s->head_size,
         "cache-attention:h=%u,s=%u,d=%u,kvh=%u,q=%u,seen=all%s", s->heads, p->each, s->head_size, s->kv_heads, p->each,
         s->family->distance_bias ? ",bias=1,scale=one" : "");
    p->times /= p->sequences;
}

/* Each layer of a decoder with an encoder also looks at what that made, whose keys and values are there (kernel_calls_encode). */
static void cross_part(struct pass *p)
{
    const struct language_shape *const s = p->s;
    const struct shape_family *const f = s->family;
    const struct block_format *const own = p->calls->cached;
    const unsigned keys = kernel_calls_encoded(s, p->calls);
    normalise(p, "cross_norm", p->tokens, s->width);
    project(p, "cross_q", p->tokens, (uint64_t)s->heads * s->head_size, s->width, f->qkv_bias, NULL);
    p->times *= p->sequences;
    call(p, "cross_attention", own ? "f32" : p->cached, NULL, 2.0 * s->heads * p->each * keys * s->head_size,
         "cache-attention:h=%u,s=%u,d=%u,kvh=%u,q=%u,seen=all%s%s%s", s->heads, keys, s->head_size, s->kv_heads, p->each,
         own ? ",cached=" : "", own ? own->name : "", s->family->distance_bias ? ",scale=one" : "");
    p->times /= p->sequences;
    project(p, "cross_output", p->tokens, s->width, s->heads * s->head_size, f->output_bias, NULL);
    add(p, "residual", (uint64_t)p->tokens * s->width);
}

static void attention_part(struct pass *p)
{
    const struct language_shape *const s = p->s;
    const struct shape_family *const f = s->family;
    project(p, "attn_q", p->tokens, (uint64_t)s->heads * s->head_size, s->width, f->qkv_bias, NULL);
    project(p, "attn_k", p->tokens, (uint64_t)s->kv_heads * s->head_size, s->width, f->qkv_bias && !f->encoder, NULL);
    project(p, "attn_v", p->tokens, (uint64_t)s->kv_heads * s->head_size, s->width, f->qkv_bias, NULL);
    if (f->qk_norm) {
        normalise(p, "attn_q_norm", p->tokens * s->heads, s->head_size);
        normalise(p, "attn_k_norm", p->tokens * s->kv_heads, s->head_size);
    }
    rotate(p, "rope_q", s->heads);
    if (rotation_attention(s) != 1 && !p->calls->as_ggml) /* ggml's kernel does it on its way */
        call(p, "rope_scale", p->values, NULL, 0, "elementwise:%llu,op=mul,period=1",
             (unsigned long long)p->tokens * s->heads * s->head_size);
    rotate(p, "rope_k", s->kv_heads);
    (p->encodes ? attend_all : attend)(p);
    project(p, "attn_output", p->tokens, s->width, s->heads * s->head_size, f->output_bias, NULL);
}

static const char *activation(const struct shape_family *f)
{
    static const char *const names[] = {
        [SHAPE_SILU] = "silu", [SHAPE_GELU] = "gelu", [SHAPE_GELU_TANH] = "gelu_tanh", [SHAPE_RELU] = "relu"};
    return names[f->activation];
}

/* With experts, the matrices of the chosen ones, once for each token: their numbers are only known in memory. */
static void feed_forward_part(struct pass *p)
{
    const struct language_shape *const s = p->s;
    const struct shape_family *const f = s->family;
    const unsigned before = p->times, tokens = s->experts ? 1 : p->tokens;
    const char *const missing = s->experts ? chosen_matrix : NULL;
    if (s->experts) {
        project(p, "ffn_gate_inp", p->tokens, s->experts, s->width, f->feed_forward_bias, NULL);
        call(p, "experts", p->values, top_places, 0, "sort:%ux%u,descending=1", p->tokens, s->experts);
        call(p, "expert_weights", p->values, NULL, 0, "softmax:%ux%u", p->tokens, s->experts_used);
        p->times *= s->experts_used * p->tokens;
    }
    if (f->gated)
        project(p, "ffn_gate", tokens, s->feed_forward, s->width, f->feed_forward_bias, missing);
    project(p, "ffn_up", tokens, s->feed_forward, s->width, f->feed_forward_bias, missing);
    call(p, "ffn_act", p->values, f->clamped_gate ? clamped_gate : NULL, 0, "elementwise:%llu,op=%s%s",
         (unsigned long long)tokens * s->feed_forward, activation(f), f->gated ? "+mul" : "");
    project(p, "ffn_down", tokens, s->width, s->feed_forward, f->feed_forward_bias, missing);
    if (s->experts)
        call(p, "expert_sum", p->values, NULL, 0, "elementwise:%u,op=mul+add", s->width);
    p->times = before;
}

static void layer(struct pass *p)
{
    const struct language_shape *const s = p->s;
    const uint64_t values = (uint64_t)p->tokens * s->width;
    normalise(p, "attn_norm", p->tokens, s->width);
    attention_part(p);
    add(p, "residual", values);
    if (s->family->encoder && !p->encodes)
        cross_part(p);
    if (!s->family->parallel)
        normalise(p, "ffn_norm", p->tokens, s->width);
    feed_forward_part(p);
    add(p, "residual", values);
}

static void embed(struct pass *p)
{
    const struct language_shape *const s = p->s;
    const char *const format = shape_format_of(p->matrices, s->width)->name;
    const char *const missing = !is_plain(format) ? gather_formats : strcmp(format, p->values) == 0 ? NULL : mixed_types;
    const unsigned long long values = (unsigned long long)p->tokens * s->width;
    call(p, "token_embd", format, missing, 0, "gather:%ux%ux%u", s->vocabulary, s->width, p->tokens);
    if (s->family->scaled_embedding)
        call(p, "embedding_scale", p->values, NULL, 0, "elementwise:%llu,op=mul,period=1", values);
    if (s->family->positions) {
        call(p, "position_embd", p->values, NULL, 0, "gather:%ux%ux%u", s->context, s->width, p->tokens);
        add(p, "position_embd", values);
    }
}

/* The bias of each query and token, of all heads: rows of a table of distances, for all layers. */
static void find_biases(struct pass *p)
{
    const unsigned keys = p->encodes ? p->each : p->past + p->each;
    if (p->s->family->distance_bias)
        call(p, "position_bias", p->values, NULL, 0, "gather:%ux%ux%llu", p->s->distances, p->s->heads,
             (unsigned long long)p->each * keys);
}

unsigned kernel_calls_encoded(const struct language_shape *shape, const struct kernel_calls *calls)
{
    return calls->encoded ? calls->encoded : shape->encoder_context;
}

static struct pass begin_pass(const struct language_shape *shape, const struct block_format *matrices, unsigned past,
                              unsigned tokens, struct kernel_calls *calls, struct orch_error *error)
{
    const unsigned sequences = calls->sequences ? calls->sequences : 1;
    /* gemv takes vectors of the type of a plain matrix, and f32 with quantised ones. */
    const bool plain = matrices->values == 1, ggml = calls->as_ggml && tokens * sequences == 1;
    const char *const values = plain && !ggml ? matrices->name : "f32";
    return (struct pass){.s = shape,
                         .matrices = matrices,
                         .past = past,
                         .sequences = sequences,
                         .each = tokens,
                         .tokens = tokens * sequences,
                         .times = 1,
                         .values = values,
                         .cached = ggml ? "f16" : values,
                         .least_keys = ggml ? GGML_KEYS_LEAST : 0,
                         .calls = calls,
                         .error = error,
                         .ok = true};
}

bool kernel_calls_of(const struct language_shape *shape, const struct block_format *matrices, unsigned past, unsigned tokens,
                     struct kernel_calls *calls, struct orch_error *error)
{
    struct pass pass = begin_pass(shape, matrices, past, tokens, calls, error), *const p = &pass;
    if (tokens == 0 || past > shape->context || tokens > shape->context - past)
        return orch_fail(error, ORCH_USAGE, "%u tokens behind %u others: the context is %u", tokens, past, shape->context);
    embed(p);
    find_biases(p);
    p->times = shape->layers;
    layer(p);
    p->times = 1;
    if (calls->as_ggml)
        p->values = "f32";
    normalise(p, "output_norm", p->sequences, shape->width); /* only what follows the last token of each is asked for */
    if (shape->tied && shape->family->distance_bias)
        call(p, "output_scale", p->values, NULL, 0, "elementwise:%llu,op=mul,period=1",
             (unsigned long long)p->sequences * shape->width);
    if (!shape->tied)
        p->matrices = shape_head_format_of(matrices, shape->width);
    project(p, "output", p->sequences, shape->vocabulary, shape->width, shape->family->head_bias, NULL);
    call(p, "argmax", p->values, NULL, 0, "reduce:%ux%u,op=argmax", p->sequences, shape->vocabulary);
    return p->ok;
}

/* ---- encoders ---- */

/* Each frame and its neighbours side by side, zeros beyond the ends, are multiplied by all filters. */
static void convolve(struct pass *p, const char *what, unsigned given, unsigned frames, unsigned inputs)
{
    const struct language_shape *const s = p->s;
    call(p, "conv_columns", p->values, NULL, 0, "gather:%ux%ux%u", given, inputs, 3 * frames);
    project(p, what, frames, s->width, 3 * inputs, true, NULL);
    call(p, "conv_act", p->values, NULL, 0, "elementwise:%llu,op=%s", (unsigned long long)frames * s->width,
         activation(s->family));
}

/* Convolutions of width 3 over the spectrum, the second of which leaves every other frame; then positions. */
static void listen(struct pass *p)
{
    const struct language_shape *const s = p->s;
    convolve(p, "conv1", 2 * p->tokens, 2 * p->tokens, s->encoder_channels);
    convolve(p, "conv2", 2 * p->tokens, p->tokens, s->width);
    add(p, "position_embd", (uint64_t)p->tokens * s->width);
}

/* Keys or values of what was encoded stay where they are made, unless the cache has another type or several sequences have theirs
 * apart. */
static void keep_across(struct pass *p, const char *what, uint64_t keys)
{
    const struct block_format *const own = p->calls->cached;
    const unsigned long long values = (unsigned long long)p->each * keys;
    p->times *= p->sequences;
    if (own)
        call(p, what, own->name, NULL, 0, "quantise:%llu", values);
    else if (p->sequences > 1)
        call(p, what, p->values, NULL, 0, "copy:%llu", values * (strcmp(p->values, "f32") == 0 ? 4 : 2));
    p->times /= p->sequences;
}

bool kernel_calls_encode(const struct language_shape *shape, const struct block_format *matrices, struct kernel_calls *calls,
                         struct orch_error *error)
{
    const unsigned tokens = kernel_calls_encoded(shape, calls);
    struct pass pass = begin_pass(shape, matrices, 0, tokens, calls, error), *const p = &pass;
    const uint64_t keys = (uint64_t)shape->kv_heads * shape->head_size;
    p->encodes = true;
    (shape->family->encodes_text ? embed : listen)(p);
    find_biases(p);
    p->times = shape->encoder_layers;
    layer(p);
    p->times = 1;
    normalise(p, "encoder_norm", p->tokens, shape->width);
    p->times = shape->layers; /* of the decoder, each of which has matrices of its own */
    project(p, "cross_k", p->tokens, keys, shape->width, false, NULL);
    keep_across(p, "cross_cache_k", keys);
    project(p, "cross_v", p->tokens, keys, shape->width, shape->family->qkv_bias, NULL);
    keep_across(p, "cross_cache_v", keys);
    return p->ok;
}

void kernel_calls_free(struct kernel_calls *calls)
{
    free(calls->call);
    *calls = (struct kernel_calls){0};
}
