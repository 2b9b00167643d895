/* Shapes from the metadata of GGUF files. Keys: ggml, docs/gguf.md, section "LLM". */
#include "sim/language/gguf_keys.h"
#include "sim/language/rotation.h"
#include "sim/language/shape.h"

#include <float.h>
#include <stdio.h>
#include <string.h>

/* Keys of llama.cpp (gguf-py/gguf/constants.py). attn_factor is what is left beside YaRN's own. */
static void read_yarn(struct gguf_keys *k, struct language_shape *s)
{
    s->scaling = SHAPE_SCALING_YARN;
    s->scaling_low = gguf_key_number(k, "rope.scaling.yarn_beta_slow", 1e-3, 1e6, 1);
    s->scaling_high = gguf_key_number(k, "rope.scaling.yarn_beta_fast", 1e-3, 1e6, 32);
    s->scaling_attention =
        gguf_key_number(k, "rope.scaling.attn_factor", 1e-3, 1e3, 1) * rotation_yarn_attention(s->scaling_factor);
    if (k->ok && !(s->scaling_factor > 0))
        k->ok = orch_fail(k->error, ORCH_USAGE, "metadata: %s.rope.scaling.factor is missing", k->architecture);
}

static void read_factors(struct gguf_keys *k, const char *name, const struct language_shape *s, float *to)
{
    const struct weight_tensor *const t = weight_find(gguf_weights(k->gguf), name);
    const unsigned pairs = s->rope_size / 2;
    if (!k->ok)
        return;
    if (!t || pairs > SHAPE_PAIRS_MAX || t->dims != 1 || t->count != pairs || !t->format->decode) {
        k->ok = orch_fail(k->error, ORCH_USAGE, "tensor '%s': expected a number for each of %u pairs, up to %d", name, pairs,
                          SHAPE_PAIRS_MAX);
        return;
    }
    weight_row(t, 0, to);
    for (unsigned i = 0; k->ok && i < pairs; i++)
        if (!(to[i] > 0))
            k->ok = orch_fail(k->error, ORCH_USAGE, "tensor '%s', value %u: expected a number above 0", name, i);
}

static void read_long(struct gguf_keys *k, struct language_shape *s)
{
    const double longer = (double)s->context / s->scaling_context;
    s->scaling = SHAPE_SCALING_LONGROPE;
    read_factors(k, "rope_factors_short.weight", s, s->scaling_short);
    read_factors(k, "rope_factors_long.weight", s, s->scaling_long);
    s->scaling_attention =
        gguf_key_number(k, "rope.scaling.attn_factor", 1e-3, 1e3, rotation_long_attention(longer, s->scaling_context));
}

static void read_rotation(struct gguf_keys *k, struct language_shape *s)
{
    char key[GGUF_KEY_BYTES], type[32];
    s->rope = s->family->rope;
    if (s->rope == SHAPE_ROPE_NONE)
        return;
    s->rope_size = gguf_key_whole(k, "rope.dimension_count", s->head_size ? s->head_size : 1, s->head_size ? s->head_size : 1);
    s->rope_base = gguf_key_number(k, "rope.freq_base", 1, 1e12, 10000);
    gguf_text(gguf_key(k, "rope.scaling.type", key), type, sizeof type);
    s->scaling_factor = gguf_key_number(k, "rope.scaling.factor", 1e-3, 1e6, 0);
    s->scaling_context = gguf_key_whole(k, "rope.scaling.original_context_length", UINT32_MAX, s->context ? s->context : 1);
    const struct weight_list *const weights = gguf_weights(k->gguf);
    const bool lists = weight_find(weights, "rope_factors_long.weight") && weight_find(weights, "rope_factors_short.weight");
    if (lists || strcmp(type, "longrope") == 0)
        read_long(k, s);
    else if (strcmp(type, "linear") == 0)
        s->scaling = SHAPE_SCALING_LINEAR;
    else if (strcmp(type, "yarn") == 0)
        read_yarn(k, s);
    else if (*type && strcmp(type, "none") != 0)
        k->ok =
            k->ok && orch_fail(k->error, ORCH_UNMODELLED,
                               "metadata: %s.rope.scaling.type '%s' is none of linear, yarn and longrope", k->architecture, type);
    /* The factors of Llama 3 stand in a tensor, which the decoder takes as they are. */
}

/* A text of T5 is encoded by as many layers as decode it, unless the file says otherwise. Keys: llama.cpp,
 * gguf-py/gguf/constants.py (relative_buckets_count, decoder_start_token_id, decoder_block_count). Files of T5 1.1 and Flan-T5
 * have gates. */
static void read_text_encoder(struct gguf_keys *k, struct language_shape *s)
{
    if (weight_find(gguf_weights(k->gguf), "enc.blk.0.ffn_gate.weight"))
        s->family = shape_family_named("t5-gated");
    s->encoder_layers = s->layers;
    s->layers = gguf_key_whole(k, "decoder_block_count", 65536, s->layers ? s->layers : 1);
    s->encoder_context = s->context;
    s->distances = gguf_key_whole(k, "attention.relative_buckets_count", 4096, SHAPE_DISTANCES);
    s->first_token = (uint32_t)gguf_key_number(k, "decoder_start_token_id", 0, INT32_MAX, 0);
    if (k->ok && s->distances % 4)
        k->ok = orch_fail(k->error, ORCH_USAGE, "metadata: %s.attention.relative_buckets_count: %u is no multiple of 4",
                          k->architecture, s->distances);
}

/* Keys of both halves of Whisper: ggml, docs/gguf.md, section "Whisper". */
static void read_sound_encoder(struct gguf_keys *k, struct language_shape *s)
{
    struct gguf_keys encoder = {k->gguf, "whisper.encoder", k->error, k->ok};
    const unsigned width = gguf_key_whole(&encoder, "embedding_length", 1 << 24, s->width ? s->width : 1);
    s->encoder_layers = gguf_key_whole(&encoder, "block_count", 65536, 0);
    s->encoder_context = gguf_key_whole(&encoder, "context_length", 1 << 20, 0);
    s->encoder_channels = gguf_key_whole(&encoder, "mels_count", 65536, 0);
    k->ok = encoder.ok;
    if (k->ok && width != s->width)
        k->ok = orch_fail(k->error, ORCH_UNMODELLED, "metadata: an encoder of width %u before a decoder of %u is not modelled",
                          width, s->width);
}

static void read_dimensions(struct gguf_keys *k, struct language_shape *s)
{
    const struct gguf_value *const tokens = gguf_find(k->gguf, "tokenizer.ggml.tokens");
    const unsigned listed = tokens && tokens->type == GGUF_ARRAY && tokens->count <= INT32_MAX ? (unsigned)tokens->count : 0;
    s->layers = gguf_key_whole(k, "block_count", 65536, 0);
    s->width = gguf_key_whole(k, "embedding_length", 1 << 24, 0);
    s->heads = gguf_key_whole(k, "attention.head_count", 65536, 0);
    s->kv_heads = gguf_key_whole(k, "attention.head_count_kv", 65536, s->heads);
    s->head_size = gguf_key_whole(k, "attention.key_length", 65536, s->heads && s->width >= s->heads ? s->width / s->heads : 1);
    s->feed_forward = gguf_key_whole(k, "feed_forward_length", 1 << 24, s->family->positions ? 4 * s->width : 0);
    s->context = gguf_key_whole(k, "context_length", UINT32_MAX, 0);
    s->vocabulary = gguf_key_whole(k, "vocab_size", INT32_MAX, listed);
    s->epsilon = gguf_key_number(
        k, s->family->norm == SHAPE_LAYER_NORM ? "attention.layer_norm_epsilon" : "attention.layer_norm_rms_epsilon", 0, 1, 1e-5);
    /* 0 experts and no window are written as 0 by some converters. */
    s->experts = (unsigned)gguf_key_number(k, "expert_count", 0, 65536, 0);
    s->experts_used = s->experts ? gguf_key_whole(k, "expert_used_count", s->experts, 0) : 0;
    if (s->experts)
        s->feed_forward = gguf_key_whole(k, "expert_feed_forward_length", 1 << 24, s->feed_forward ? s->feed_forward : 1);
    s->window = (unsigned)gguf_key_number(k, "attention.sliding_window", 0, INT32_MAX, 0);
    s->window_every = s->family->sinks ? SHAPE_WINDOW_EVERY : 0; /* llama.cpp, src/llama-hparams.cpp: its files do not say */
}

bool shape_of_gguf(const struct gguf *gguf, struct language_shape *shape, struct orch_error *error)
{
    char architecture[GGUF_ARCHITECTURE_BYTES];
    *shape = (struct language_shape){0};
    gguf_architecture(gguf, architecture);
    if (!*architecture)
        return orch_fail(error, ORCH_USAGE,
                         "%.300s: metadata: general.architecture is missing; the file does not describe its model",
                         gguf_name(gguf));
    shape->family = shape_family_named(architecture);
    if (!shape->family)
        return orch_fail(error, ORCH_UNMODELLED, "%.300s: metadata: general.architecture '%.40s' is not modelled",
                         gguf_name(gguf), architecture);
    const bool sound = shape->family->encoder && !shape->family->encodes_text;
    struct gguf_keys k = {gguf, sound ? "whisper.decoder" : architecture, error, true};
    read_dimensions(&k, shape);
    if (k.ok && shape->family->encoder)
        (sound ? read_sound_encoder : read_text_encoder)(&k, shape);
    if (k.ok)
        read_rotation(&k, shape);
    gguf_text(gguf_find(gguf, "general.name"), shape->name, sizeof shape->name);
    shape->tied = gguf_weights(gguf)->count && !weight_find(gguf_weights(gguf), "output.weight");
    return (k.ok && shape_is_sound(shape, error)) || orch_fail_in(error, "%.300s", gguf_name(gguf));
}
