/* Encoders in GGUF files. Sources: llama.cpp, gguf-py/gguf/constants.py (keys, tensors, pooling types), src/llama-model.cpp and
 * src/models/bert.cpp (what the architectures compute; its GELU is the one with tanh). */
#include "isa/array_count.h"
#include "sim/language/gguf_keys.h"
#include "sim/network/encoder/encoder_config.h"

#include <stdio.h>
#include <string.h>

static const struct encoder_names names = {
    .words = "token_embd",
    .places = "position_embd",
    .kinds = "token_types",
    .first_norm = "token_embd_norm",
    .query = "blk.%u.attn_q",
    .key = "blk.%u.attn_k",
    .value = "blk.%u.attn_v",
    .attended = "blk.%u.attn_output",
    .attended_norm = "blk.%u.attn_output_norm",
    .up = "blk.%u.ffn_up",
    .down = "blk.%u.ffn_down",
    .norm = "blk.%u.layer_output_norm",
    .fused = "blk.%u.attn_qkv",
    .query_norm = "blk.%u.attn_q_norm",
    .key_norm = "blk.%u.attn_k_norm",
    .second_norm = "blk.%u.attn_norm_2",
    .gate = "blk.%u.ffn_gate",
};

static const struct encoder_family families[] = {
    {.types = "bert", .names = &names, .distances = ENCODER_TABLE},
    {.types = "nomic-bert", .names = &names, .distances = ENCODER_ROTATION, .bare = true},
    {.types = "jina-bert-v2", .names = &names, .distances = ENCODER_SLOPES, .bare = true},
};

const struct encoder_family *encoder_gguf_family(const char *architecture)
{
    for (size_t i = 0; i < ARRAY_COUNT(families); i++)
        if (strcmp(families[i].types, architecture) == 0)
            return &families[i];
    return NULL;
}

static void refuse(struct gguf_keys *k, const char *name, const char *what)
{
    k->ok = k->ok && orch_fail(k->error, ORCH_UNMODELLED, "metadata: %s.%s: %s", k->architecture, name, what);
}

static void read_sizes(struct gguf_keys *k, struct encoder_config *c)
{
    enum { LAYERS = 512, WIDTH = 1 << 16, ROWS = 1 << 24, PLACES = 1 << 17 };
    const struct gguf_value *const tokens = gguf_find(k->gguf, "tokenizer.ggml.tokens");
    const uint64_t listed = tokens && tokens->type == GGUF_ARRAY && tokens->count <= ROWS ? tokens->count : 0;
    c->layers = gguf_key_whole(k, "block_count", LAYERS, 0);
    c->width = gguf_key_whole(k, "embedding_length", WIDTH, 0);
    c->heads = gguf_key_whole(k, "attention.head_count", WIDTH, 0);
    c->feed_forward = gguf_key_whole(k, "feed_forward_length", 4 * WIDTH, 0);
    c->places = gguf_key_whole(k, "context_length", PLACES, 0);
    c->vocabulary = gguf_key_whole(k, "vocab_size", ROWS, (unsigned)listed);
    c->epsilon = gguf_key_number(k, "attention.layer_norm_epsilon", 0, 1, 1e-12);
    if (k->ok && c->width % c->heads)
        k->ok = orch_fail(k->error, ORCH_USAGE, "metadata: %s.attention.head_count: %u heads do not divide a width of %u",
                          k->architecture, c->heads, c->width);
    if (k->ok && gguf_key_whole(k, "attention.head_count_kv", WIDTH, c->heads) != c->heads)
        refuse(k, "attention.head_count_kv", "heads that share keys are not modelled in encoders");
}

/* Both halves of a head turn together, so all of it has to turn. */
static void read_rotation(struct gguf_keys *k, struct encoder_config *c)
{
    enum { ANGLES = 1 << 26 };
    char key[GGUF_KEY_BYTES], type[32];
    const unsigned size = c->width / c->heads;
    c->rotation_base = gguf_key_number(k, "rope.freq_base", 1, 1e12, 10000);
    if (k->ok && (size % 2 || gguf_key_whole(k, "rope.dimension_count", 1 << 16, size) != size))
        refuse(k, "rope.dimension_count", "heads that turn in part are not modelled in encoders");
    gguf_text(gguf_key(k, "rope.scaling.type", key), type, sizeof type);
    if (*type && strcmp(type, "none") != 0)
        refuse(k, "rope.scaling.type", "stretched rotations are not modelled in encoders");
    if (k->ok && (uint64_t)c->places * size > ANGLES)
        refuse(k, "context_length", "so many places of heads so wide are not modelled");
}

/* llama.cpp, llama_pooling_type. */
static void read_pooling(struct gguf_keys *k, struct encoder_config *c)
{
    static const enum encoder_pooling known[] = {ENCODER_NONE, ENCODER_MEAN, ENCODER_FIRST};
    const unsigned type = (unsigned)gguf_key_number(k, "pooling_type", 0, 4, 0);
    if (type < ARRAY_COUNT(known))
        c->pooling = known[type];
    else
        refuse(k, "pooling_type", type == 3 ? "the last token is not modelled" : "ranks of pairs of texts are not modelled");
}

/* Rows of the kinds of tokens: as many as the tensor has, if there is one. */
static unsigned kinds_of(const struct gguf *gguf, unsigned width)
{
    enum { KINDS = 1 << 10 };
    const struct weight_tensor *const t = weight_find(gguf_weights(gguf), "token_types.weight");
    return t && t->count / width <= KINDS ? (unsigned)(t->count / width) : 0;
}

bool encoder_gguf_config(const struct gguf *gguf, struct encoder_config *config, struct orch_error *error)
{
    char architecture[GGUF_ARCHITECTURE_BYTES];
    struct gguf_keys k = {gguf, architecture, error, true};
    gguf_architecture(gguf, architecture);
    *config = (struct encoder_config){.family = encoder_gguf_family(architecture)};
    if (!config->family)
        return orch_fail(error, ORCH_UNMODELLED, "metadata: general.architecture '%.40s' is none of an encoder", architecture);
    const bool silu = config->family->distances == ENCODER_ROTATION;
    snprintf(config->activation, sizeof config->activation, "%s", silu ? "Swish" : "Gelu tanh");
    read_sizes(&k, config);
    if (k.ok && silu)
        read_rotation(&k, config);
    if (k.ok)
        read_pooling(&k, config);
    if (k.ok && gguf_key_number(&k, "attention.causal", 0, 1, 0) != 0)
        refuse(&k, "attention.causal", "texts that are read in one direction are not modelled in encoders");
    if (k.ok && gguf_key_number(&k, "expert_count", 0, 65536, 0) != 0)
        refuse(&k, "expert_count", "experts are not modelled in encoders");
    if (k.ok)
        config->kinds = kinds_of(gguf, config->width);
    return k.ok;
}
