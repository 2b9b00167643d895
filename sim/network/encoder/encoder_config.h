/* What config.json and 1_Pooling/config.json of an encoder say, or the metadata of a GGUF file. */
#ifndef ORCHARD_SIM_NETWORK_ENCODER_ENCODER_CONFIG_H
#define ORCHARD_SIM_NETWORK_ENCODER_ENCODER_CONFIG_H

#include "sim/language/gguf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What files call the tensors of a model: %u stands for the layer. NULL = models of the family have none. */
struct encoder_names {
    const char *words, *places, *kinds, *first_norm;
    const char *query, *key, *value, *attended, *attended_norm, *up, *down, *norm, *pooler;
    /* What some files have: queries, keys and values in one matrix, norms of queries and keys, a norm behind the residual, a
     * gate. */
    const char *fused, *query_norm, *key_norm, *second_norm, *gate;
};

/* How a token's place in the text is heard. */
enum encoder_distances { ENCODER_TABLE, ENCODER_ROTATION, ENCODER_SLOPES };

/* What the models of a kind call their dimensions and tensors. */
struct encoder_family {
    const char *types; /* model_type, or general.architecture of GGUF files, separated by spaces */
    const struct encoder_names *names;
    enum encoder_distances distances;
    bool bare;                                                                /* products may have no bias */
    const char *layers, *width, *heads, *feed_forward, *activation, *epsilon; /* members of a config.json */
    bool kinds;                                                               /* tokens have kinds */
    bool behind_padding; /* places are counted from behind the number of the token that fills texts up */
};

enum encoder_pooling { ENCODER_MEAN, ENCODER_FIRST, ENCODER_NONE };

struct encoder_config {
    const struct encoder_family *family;
    unsigned layers, width, heads, feed_forward, vocabulary, places, kinds, first_place;
    double epsilon, rotation_base;
    char activation[16]; /* "Gelu", "Gelu tanh", "Relu", "Swish" */
    enum encoder_pooling pooling;
    bool unit_length; /* embeddings are divided by their length */
};

/* Of the text of a config.json; NULL = it is none of an encoder. */
const struct encoder_family *encoder_family_of(const char *text, size_t size);
/* Of the folder; false with an error that names file and member. */
bool encoder_config_read(const char *folder, struct encoder_config *config, struct orch_error *error);
/* The same of texts, of which `pooling` may be NULL. */
bool encoder_config_parse(const char *file, const char *text, size_t size, struct encoder_config *config,
                          struct orch_error *error);
bool encoder_pooling_parse(const char *file, const char *text, size_t size, struct encoder_config *config,
                           struct orch_error *error);

/* Of general.architecture of a GGUF file; NULL = it is none of an encoder. */
const struct encoder_family *encoder_gguf_family(const char *architecture);
bool encoder_gguf_config(const struct gguf *gguf, struct encoder_config *config, struct orch_error *error);

#endif
