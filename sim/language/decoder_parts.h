/* Where a model's weights are, by what they are for: found and checked once, for the reference decoder and for units alike. */
#ifndef ORCHARD_SIM_LANGUAGE_DECODER_PARTS_H
#define ORCHARD_SIM_LANGUAGE_DECODER_PARTS_H

#include "sim/language/weights.h"

struct decoder;

/* The gate of gpt-oss: both halves are limited, the first passes x sigmoid(slope x), and one is added to the second
 * (transformers, modeling_gpt_oss.py). */
#define DECODER_GATE_LIMIT 7.0f
#define DECODER_GATE_SLOPE 1.702f

/* Rows of a tensor: all, or a part where several matrices stand in one. */
struct decoder_matrix {
    const struct weight_tensor *tensor;
    uint64_t first_row, rows;
    unsigned columns;
    const float *bias; /* of its rows; NULL = none */
};

struct decoder_norm {
    const float *scale, *shift; /* shift NULL = none */
};

struct decoder_layer {
    struct decoder_norm attention_norm, feed_forward_norm, query_norm, key_norm;
    struct decoder_matrix query, key, value, output;
    /* What looks at what an encoder made; tensors NULL = there is none. */
    struct decoder_norm cross_norm;
    struct decoder_matrix cross_query, cross_key, cross_value, cross_output;
    /* Of experts the matrices of all stand one behind another. */
    struct decoder_matrix gate, up, down, router;
    const float *sinks;   /* a logit of each head; NULL = there are none */
    float *keys, *values; /* the cache of the reference decoder: kv_heads * head_size values a token */
};

/* What is not of a layer; the tensor of `positions` is NULL when the model learned none. */
struct decoder_ends {
    struct decoder_matrix embedding, positions, head;
    struct decoder_norm last_norm;
    struct decoder_matrix distances; /* a row of biases of all heads for each step of distance; tensor NULL = there are none */
};

/* What stands before a decoder: layers whose tokens all see one another, behind an embedding, or behind two convolutions of width
 * 3 and positions. */
struct decoder_encoder {
    struct decoder_layer *layer;
    struct decoder_norm last_norm;
    struct decoder_matrix distances, positions;
    struct decoder_matrix front[2]; /* rows of three values, of all channels of a filter one after another */
};

/* Valid as long as the decoder. */
const struct decoder_layer *decoder_layer_at(const struct decoder *decoder, unsigned layer);
struct decoder_ends decoder_ends(const struct decoder *decoder);
const struct decoder_encoder *decoder_encoder(const struct decoder *decoder); /* NULL = there is none */
/* Of its first row. */
const uint8_t *decoder_matrix_data(const struct decoder_matrix *matrix);
uint64_t decoder_matrix_row_bytes(const struct decoder_matrix *matrix);
/* Radians a position, for each pair of a head that turns, in a cache of so many tokens. */
void decoder_speeds(const struct decoder *decoder, unsigned context, double *speed);

#endif
