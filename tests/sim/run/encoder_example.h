/* Tiny models with an encoder and random weights, as GGUF files. */
#ifndef ORCHARD_TESTS_SIM_RUN_ENCODER_EXAMPLE_H
#define ORCHARD_TESTS_SIM_RUN_ENCODER_EXAMPLE_H

#include "tests/sim/language/language_example.h"
#include "units/ane/ane_numeric.h"

#include <math.h>

enum encoder_kind { TEXT_PLAIN, TEXT_GATED, SOUND };
enum { MADE_TENSORS = 160, MADE_VOCABULARY = 40, MADE_ENCODER_LAYERS = 2, MADE_LAYERS = 3, MADE_FORWARD = 44, MADE_PLACES = 24 };
enum { MADE_DISTANCES = 16, MADE_CHANNELS = 5, MADE_FRAMES = 24, MADE_CONTEXT = 32 };

struct made_tensor {
    char name[64];
    unsigned dims;
    uint64_t shape[3], count;
    float *value;
};

struct made_model {
    enum encoder_kind kind;
    bool halves;        /* matrices are float16 */
    const char *cached; /* type of the decoder's keys and values: f16, q8_0; NULL = as computed */
    unsigned width, heads, size;
    uint64_t state;
    struct made_tensor tensor[MADE_TENSORS];
    size_t tensors;
    uint8_t *bytes; /* the file */
    size_t file_size;
};

/* ---- weights ---- */

static inline void made_add(struct made_model *m, const char *name, unsigned dims, const uint64_t *shape, double middle,
                            double most)
{
    struct made_tensor *const t = &m->tensor[m->tensors++];
    *t = (struct made_tensor){.dims = dims, .count = 1};
    snprintf(t->name, sizeof t->name, "%s", name);
    for (unsigned i = 0; i < dims; i++)
        t->count *= t->shape[i] = shape[i];
    t->value = malloc(t->count * sizeof *t->value);
    for (uint64_t i = 0; i < t->count; i++) {
        t->value[i] = (float)(middle + most * (2 * (double)(suite_random(&m->state) >> 11) * 0x1p-53 - 1));
        if (m->halves && dims > 1)
            t->value[i] = ane_half_to_float(ane_float_to_half(t->value[i]));
    }
}

static inline void made_vector(struct made_model *m, const char *layer, const char *part, const char *end, uint64_t values,
                               double middle)
{
    char name[64];
    snprintf(name, sizeof name, "%s%s.%s", layer, part, end);
    made_add(m, name, 1, &values, middle, 0.3);
}

static inline void made_matrix(struct made_model *m, const char *layer, const char *part, uint64_t rows, uint64_t columns,
                               bool bias)
{
    char name[64];
    const uint64_t shape[] = {columns, rows};
    snprintf(name, sizeof name, "%s%s.weight", layer, part);
    made_add(m, name, 2, shape, 0, 1.7 / sqrt((double)columns));
    if (bias)
        made_vector(m, layer, part, "bias", rows, 0);
}

static inline void made_norm(struct made_model *m, const char *layer, const char *part)
{
    made_vector(m, layer, part, "weight", m->width, 1);
    if (m->kind == SOUND)
        made_vector(m, layer, part, "bias", m->width, 0);
}

/* Names of the parts of a layer, of text and sound. */
static const char *const made_parts[][2] = {{"attn_norm", "attn_ln"},
                                            {"attn_q", "attn.query"},
                                            {"attn_k", "attn.key"},
                                            {"attn_v", "attn.value"},
                                            {"attn_o", "attn.out"},
                                            {"cross_attn_norm", "cross_attn_ln"},
                                            {"cross_attn_q", "cross_attn.query"},
                                            {"cross_attn_k", "cross_attn.key"},
                                            {"cross_attn_v", "cross_attn.value"},
                                            {"cross_attn_o", "cross_attn.out"},
                                            {"ffn_norm", "mlp_ln"},
                                            {"ffn_up", "mlp.0"},
                                            {"ffn_down", "mlp.2"},
                                            {"ffn_gate", NULL}};
enum { P_NORM, P_Q, P_K, P_V, P_O, P_CROSS, P_FED = 10, P_UP, P_DOWN, P_GATE };

static inline const char *made_part(const struct made_model *m, unsigned part)
{
    return made_parts[part][m->kind == SOUND];
}

static inline void made_layer_name(const struct made_model *m, bool encodes, unsigned number, char *name, size_t size)
{
    if (m->kind == SOUND)
        snprintf(name, size, "%s.blocks.%u.", encodes ? "encoder" : "decoder", number);
    else
        snprintf(name, size, "%s.blk.%u.", encodes ? "enc" : "dec", number);
}

static inline void made_attention(struct made_model *m, const char *layer, unsigned norm)
{
    const unsigned inner = m->heads * m->size;
    const bool bias = m->kind == SOUND;
    made_norm(m, layer, made_part(m, norm));
    made_matrix(m, layer, made_part(m, norm + P_Q), inner, m->width, bias);
    made_matrix(m, layer, made_part(m, norm + P_K), inner, m->width, false);
    made_matrix(m, layer, made_part(m, norm + P_V), inner, m->width, bias);
    made_matrix(m, layer, made_part(m, norm + P_O), m->width, inner, bias);
}

static inline void made_layer(struct made_model *m, bool encodes, unsigned number)
{
    char layer[32];
    const bool bias = m->kind == SOUND;
    const unsigned forward = bias ? 4 * m->width : MADE_FORWARD;
    made_layer_name(m, encodes, number, layer, sizeof layer);
    made_attention(m, layer, P_NORM);
    if (!encodes)
        made_attention(m, layer, P_CROSS);
    made_norm(m, layer, made_part(m, P_FED));
    made_matrix(m, layer, made_part(m, P_UP), forward, m->width, bias);
    made_matrix(m, layer, made_part(m, P_DOWN), m->width, forward, bias);
    if (m->kind == TEXT_GATED)
        made_matrix(m, layer, made_part(m, P_GATE), forward, m->width, false);
    if (m->kind != SOUND && number == 0)
        made_matrix(m, layer, "attn_rel_b", MADE_DISTANCES, m->heads, false);
}

static inline void made_ends(struct made_model *m)
{
    const uint64_t w = m->width, places[] = {w, MADE_CONTEXT}, heard[] = {w, MADE_FRAMES / 2}, first[] = {3, MADE_CHANNELS, w},
                   second[] = {3, w, w};
    made_matrix(m, "", m->kind == SOUND ? "decoder.token_embedding" : "token_embd", MADE_VOCABULARY, w, false);
    made_norm(m, "", m->kind == SOUND ? "decoder.ln" : "dec.output_norm");
    made_norm(m, "", m->kind == SOUND ? "encoder.ln_post" : "enc.output_norm");
    if (m->kind == TEXT_GATED)
        made_matrix(m, "", "output", MADE_VOCABULARY, w, false);
    if (m->kind != SOUND)
        return;
    made_add(m, "decoder.positional_embedding", 2, places, 0, 0.5);
    made_add(m, "encoder.positional_embedding", 2, heard, 0, 0.5);
    made_add(m, "encoder.conv1.weight", 3, first, 0, 0.5);
    made_vector(m, "", "encoder.conv1", "bias", w, 0);
    made_add(m, "encoder.conv2.weight", 3, second, 0, 0.3);
    made_vector(m, "", "encoder.conv2", "bias", w, 0);
}

/* ---- the file ---- */

static inline unsigned made_texts(struct example_writer *w, const struct made_model *m)
{
    static char word[MADE_VOCABULARY][16];
    const char *item[MADE_VOCABULARY];
    for (unsigned i = 0; i < MADE_VOCABULARY; i++) {
        snprintf(word[i], sizeof word[i],
                 i == 0   ? "<pad>"
                 : i == 1 ? "</s>"
                 : i == 2 ? "<unk>"
                          : "%c%c",
                 'a' + i % 26, 'a' + i / 26);
        item[i] = word[i];
    }
    if (m->kind == SOUND) {
        item[3] = "<|startoftranscript|>";
        item[4] = "<|en|>";
        item[5] = "<|transcribe|>";
        item[6] = "<|notimestamps|>";
    } else {
        item[3] = "\xe2\x96\x81";
    }
    example_text(w, "tokenizer.ggml.model", m->kind == SOUND ? "gpt2" : "t5");
    example_strings(w, "tokenizer.ggml.tokens", item, MADE_VOCABULARY);
    example_key(w, "tokenizer.ggml.token_type", GGUF_ARRAY);
    example_u32(w, GGUF_I32);
    example_u64(w, MADE_VOCABULARY);
    for (unsigned i = 0; i < MADE_VOCABULARY; i++)
        example_u32(w, i < 3 || (m->kind == SOUND && i < 7) ? 3 : 1);
    example_number(w, "tokenizer.ggml.unknown_token_id", 2);
    example_number(w, "tokenizer.ggml.eos_token_id", 1);
    if (m->kind == SOUND) {
        const char *const merges[] = {"a a"};
        example_text(w, "tokenizer.ggml.pre", "gpt-2");
        example_strings(w, "tokenizer.ggml.merges", merges, 1);
        return 7;
    }
    example_key(w, "tokenizer.ggml.scores", GGUF_ARRAY);
    example_u32(w, GGUF_F32);
    example_u64(w, MADE_VOCABULARY);
    for (unsigned i = 0; i < MADE_VOCABULARY; i++) {
        const float score = -1 - (float)i / 8;
        example_bytes(w, &score, sizeof score);
    }
    example_key(w, "tokenizer.ggml.add_eos_token", GGUF_BOOL);
    example_bytes(w, "\1", 1);
    return 7;
}

static inline void made_metadata(struct example_writer *w, const struct made_model *m)
{
    const float epsilon = 1e-6F;
    example_header(w, 3, m->tensors, m->kind == SOUND ? 11 + 7 : 11 + 7);
    if (m->kind == SOUND) {
        example_text(w, "general.architecture", "whisper");
        example_number(w, "whisper.encoder.context_length", MADE_FRAMES / 2);
        example_number(w, "whisper.encoder.embedding_length", m->width);
        example_number(w, "whisper.encoder.block_count", MADE_ENCODER_LAYERS);
        example_number(w, "whisper.encoder.mels_count", MADE_CHANNELS);
        example_number(w, "whisper.encoder.attention.head_count", m->heads);
        example_number(w, "whisper.decoder.context_length", MADE_CONTEXT);
        example_number(w, "whisper.decoder.embedding_length", m->width);
        example_number(w, "whisper.decoder.block_count", MADE_LAYERS);
        example_number(w, "whisper.decoder.attention.head_count", m->heads);
        example_number(w, "whisper.vocab_size", MADE_VOCABULARY);
    } else {
        example_text(w, "general.architecture", "t5");
        example_number(w, "t5.context_length", MADE_CONTEXT);
        example_number(w, "t5.embedding_length", m->width);
        example_number(w, "t5.feed_forward_length", MADE_FORWARD);
        example_number(w, "t5.block_count", MADE_ENCODER_LAYERS);
        example_number(w, "t5.decoder_block_count", MADE_LAYERS);
        example_number(w, "t5.attention.head_count", m->heads);
        example_number(w, "t5.attention.key_length", m->size);
        example_key(w, "t5.attention.layer_norm_rms_epsilon", GGUF_F32);
        example_bytes(w, &epsilon, sizeof epsilon);
        example_number(w, "t5.attention.relative_buckets_count", MADE_DISTANCES);
        example_number(w, "t5.decoder_start_token_id", 0);
    }
    made_texts(w, m);
}

static inline bool made_is_half(const struct made_model *m, const struct made_tensor *t)
{
    return m->halves && t->dims > 1;
}

static inline void made_write(struct made_model *m)
{
    enum { F32 = 0, F16 = 1 };
    static struct example_writer w;
    uint64_t offset = 0;
    made_metadata(&w, m);
    for (size_t i = 0; i < m->tensors; i++) {
        const struct made_tensor *const t = &m->tensor[i];
        example_tensor(&w, t->name, t->dims, t->shape, made_is_half(m, t) ? F16 : F32, offset);
        offset += ((made_is_half(m, t) ? 2 : 4) * t->count + 31) / 32 * 32;
    }
    example_align(&w);
    CU_ASSERT_TRUE_FATAL(w.size <= sizeof w.bytes);
    m->file_size = w.size + offset;
    m->bytes = calloc(1, m->file_size);
    memcpy(m->bytes, w.bytes, w.size);
    uint8_t *at = m->bytes + w.size;
    for (size_t i = 0; i < m->tensors; i++) {
        const struct made_tensor *const t = &m->tensor[i];
        const bool half = made_is_half(m, t);
        for (uint64_t k = 0; k < t->count; k++) {
            const uint16_t bits = ane_float_to_half(t->value[k]);
            memcpy(at + (half ? 2 : 4) * k, half ? (const void *)&bits : &t->value[k], half ? 2 : 4);
        }
        at += ((half ? 2 : 4) * t->count + 31) / 32 * 32;
    }
}

static inline void made_create(struct made_model *m, enum encoder_kind kind, bool halves, uint64_t seed)
{
    static const unsigned heads[] = {3, 8, 4}, size[] = {12, 4, 8}; /* the latter two: whole blocks of 32 a token */
    *m = (struct made_model){.kind = kind,
                             .halves = halves,
                             .width = kind == SOUND ? 32 : 24,
                             .heads = heads[kind],
                             .size = size[kind],
                             .state = seed};
    made_ends(m);
    for (unsigned i = 0; i < MADE_ENCODER_LAYERS; i++)
        made_layer(m, true, i);
    for (unsigned i = 0; i < MADE_LAYERS; i++)
        made_layer(m, false, i);
    made_write(m);
}

static inline void made_free(struct made_model *m)
{
    for (size_t i = 0; i < m->tensors; i++)
        free(m->tensor[i].value);
    free(m->bytes);
}

#endif
