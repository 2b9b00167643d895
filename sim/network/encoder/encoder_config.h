/* What config.json and 1_Pooling/config.json of an encoder say. */
#ifndef ORCHARD_SIM_NETWORK_ENCODER_ENCODER_CONFIG_H
#define ORCHARD_SIM_NETWORK_ENCODER_ENCODER_CONFIG_H

#include "sim/base/error.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the models of a kind call their dimensions, and their tensors: %u stands for the layer. */
struct encoder_family {
    const char *types; /* model_type, separated by spaces */
    const char *layers, *width, *heads, *feed_forward, *activation, *epsilon;
    const char *query, *key, *value, *attended, *attended_norm, *up, *down, *norm;
    bool kinds;          /* tokens have kinds, and a pooler may follow */
    bool behind_padding; /* places are counted from behind the number of the token that fills texts up */
};

enum encoder_pooling { ENCODER_MEAN, ENCODER_FIRST };

struct encoder_config {
    const struct encoder_family *family;
    unsigned layers, width, heads, feed_forward, vocabulary, places, kinds, first_place;
    double epsilon;
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

#endif
