/* The shape of a language model: which architecture, and its dimensions. From the metadata of a GGUF file, from a config.json, or
 * from the zoo of published models.
 */
#ifndef ORCHARD_SIM_LANGUAGE_SHAPE_H
#define ORCHARD_SIM_LANGUAGE_SHAPE_H

#include "sim/language/gguf.h"

enum shape_norm { SHAPE_RMS_NORM, SHAPE_LAYER_NORM };
enum shape_rope { SHAPE_ROPE_NONE, SHAPE_ROPE_INTERLEAVED, SHAPE_ROPE_HALVES };
enum shape_activation { SHAPE_SILU, SHAPE_GELU, SHAPE_GELU_TANH, SHAPE_RELU };
enum shape_scaling {
    SHAPE_SCALING_NONE,
    SHAPE_SCALING_LINEAR,
    SHAPE_SCALING_LLAMA3,
    SHAPE_SCALING_YARN,
    SHAPE_SCALING_LONGROPE,
    SHAPE_SCALING_DYNAMIC
};

enum { SHAPE_PAIRS_MAX = 128 };  /* of a head, whose speeds a file lists */
enum { SHAPE_DISTANCES = 32 };   /* of a bias of scores, of all published models */
enum { SHAPE_WINDOW_EVERY = 2 }; /* gpt-oss: layers with a window and without one take turns (transformers, layer_types) */

/* What all models of one architecture have in common. */
struct shape_family {
    const char *name;   /* general.architecture of GGUF files */
    const char *config; /* model_type of config.json files, separated by spaces */
    enum shape_norm norm;
    enum shape_rope rope; /* in GGUF files; in the others heads are always rotated by halves */
    enum shape_activation activation;
    bool gated;    /* the feed-forward network multiplies two projections */
    bool parallel; /* attention and feed-forward read the same norm */
    bool qkv_bias, output_bias, feed_forward_bias, head_bias;
    bool qk_norm;           /* heads of queries and keys are normalised */
    bool positions;         /* learned positions are added to the embedding */
    bool scaled_embedding;  /* embeddings are multiplied by the square root of the width */
    bool one_qkv, one_gate; /* GGUF files hold queries, keys and values, or gate and up, in one tensor */
    bool sinks;             /* each head has a logit that takes part in the softmax without a value; windows alternate */
    bool clamped_gate;      /* the gate is limited and shifted, as in gpt-oss */
    bool encoder;           /* an encoder stands before it, of sound (Whisper) or text (T5) */
    bool encodes_text;      /* it has no convolutions and positions; its length is that of the text */
    bool distance_bias;     /* scores have a bias by distance, the same in all layers, and nothing else scales them */
    bool decodes;           /* the reference decoder computes it */
};

struct language_shape {
    char name[64];
    const struct shape_family *family;
    unsigned layers, width, heads, kv_heads, head_size, feed_forward, vocabulary, context;
    unsigned experts, experts_used; /* 0 = one feed-forward network, of all tokens */
    bool tied;                      /* the output matrix is the embedding */
    double epsilon;                 /* of the norms */
    enum shape_rope rope;
    unsigned rope_size; /* of the values of a head that are rotated */
    double rope_base;
    enum shape_scaling scaling;
    double scaling_factor, scaling_low, scaling_high; /* of frequencies; low and high: where they begin and end (rotation.h) */
    double scaling_attention;                         /* cosines and sines are multiplied by it; 0 = 1 */
    float scaling_short[SHAPE_PAIRS_MAX], scaling_long[SHAPE_PAIRS_MAX]; /* of LongRoPE */
    unsigned scaling_context;                                            /* for which the model was trained at first */
    bool scaling_between;                                                /* YaRN's ramp may begin between pairs */
    unsigned window;                                                     /* attention reaches so many tokens back; 0 = all */
    unsigned window_every; /* of so many layers the last one has no window; 0 = all have it */
    unsigned encoder_layers, encoder_context, encoder_channels;
    unsigned distances;   /* that a bias of scores tells apart */
    uint32_t first_token; /* of what a decoder of texts says before anything else */
};

/* NULL past the last, or when there is none of that name. */
const struct shape_family *shape_family_at(size_t index);
const struct shape_family *shape_family_named(const char *name);

/* False with ORCH_UNMODELLED for an architecture that is not known, and with the key that is missing or makes no sense. Where the
 * file holds tensors, they decide whether the output matrix is the embedding. */
bool shape_of_gguf(const struct gguf *gguf, struct language_shape *shape, struct orch_error *error);
/* Text of a config.json, with a NUL behind it. */
bool shape_of_config(const char *file, const char *text, size_t size, struct language_shape *shape, struct orch_error *error);
/* Dimensions that contradict one another are refused. */
bool shape_is_sound(const struct language_shape *shape, struct orch_error *error);

/* How many tokens back attention of a layer reaches; 0 = all. */
unsigned shape_window_of(const struct language_shape *shape, unsigned layer);

/* ---- the zoo ---- */

struct shape_published {
    const char *name, *family;
    unsigned layers, width, heads, kv_heads, head_size, feed_forward, vocabulary, context, experts, experts_used;
    bool tied;
    double rope_base, rope_share;   /* the share of a head that is rotated */
    double epsilon, scaling_factor; /* of Llama 3; 0 = none */
    unsigned encoder_context, encoder_channels, window;
    uint64_t parameters; /* as published */
    const char *source;
};

/* NULL past the last, or when there is none of that name. */
const struct shape_published *shape_published_at(size_t index);
const struct shape_published *shape_published_named(const char *name);
void shape_of_published(const struct shape_published *published, struct language_shape *shape);

/* ---- sizes ---- */

/* Weights by what they are for; a tied output matrix counts once. */
struct shape_sizes {
    uint64_t parameters;        /* all */
    uint64_t matrix_parameters; /* in matrices, which formats of blocks store; the rest is stored as float32 */
    uint64_t active_parameters; /* that one token passes through: of experts those that are used; without the embedding's rows */
};
struct shape_sizes shape_sizes(const struct language_shape *shape);
/* What stores rows of so many values when a format is wanted: for rows that are no multiple of 256 another format of about the
 * same size, for rows that no block fits f16. */
const struct block_format *shape_format_of(const struct block_format *wanted, uint64_t columns);
/* What stores a head that is no embedding: in files of four to five bits a weight q6_k, for rows of whole blocks of it. */
const struct block_format *shape_head_format_of(const struct block_format *wanted, uint64_t columns);
/* Bytes of all weights with matrices in one format, as far as rows are multiples of its block, and the head in its own. */
uint64_t shape_bytes(const struct language_shape *shape, const struct block_format *format);
/* Keys and values of one token of the context, in bytes of `value_bytes` a number. */
uint64_t shape_cache_bytes(const struct language_shape *shape, unsigned value_bytes);

#endif
