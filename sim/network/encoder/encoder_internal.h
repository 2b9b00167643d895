/* What the files of the importer of encoders share: a model while it is built. */
#ifndef ORCHARD_SIM_NETWORK_ENCODER_ENCODER_INTERNAL_H
#define ORCHARD_SIM_NETWORK_ENCODER_ENCODER_INTERNAL_H

#include "sim/language/weights.h"
#include "sim/network/encoder/encoder.h"
#include "sim/network/encoder/encoder_config.h"

enum { ENCODER_NAME_BYTES = 200, ENCODER_OPSET = 20 };

struct encoder {
    struct encoder_config config;
    const struct weight_list *list;
    char prefix[64]; /* of the names of tensors */
    bool *used;      /* by tensor */
    struct net_model *model;
    unsigned nodes;
    net_id ids, mask, length, seen;        /* length: of the texts; seen: the mask as numbers */
    net_id hidden, distance, cosine, sine; /* added to scores; what heads turn by. NET_NONE = the model has none */
    bool starved;
    struct orch_error *error;
};

/* A tensor, or some rows of it: a matrix, or with rows 0 a list of numbers. */
struct encoder_part {
    const char *stem, *end, *old_end; /* "x", "weight"; another end that files of the first generation have, or NULL */
    unsigned rows, columns;
    bool turns;            /* columns become rows */
    unsigned first, whole; /* where the rows, or numbers, begin in a tensor of so many; whole 0 = they are all */
};

/* Files call their tensors as they like in front of what the family calls them. */
bool encoder_find_prefix(struct encoder *e);
/* NULL when there is none; else it counts as used. */
const struct weight_tensor *encoder_find(struct encoder *e, const char *stem, const char *end);
/* NET_NONE, and `starved`, with an error that names the tensor. */
net_id encoder_constant(struct encoder *e, const struct encoder_part *part);
/* Whether each tensor has a place in the model, or belongs to another task. */
bool encoder_all_used(struct encoder *e);
/* Adds the graph; `starved` tells whether something was missing. */
void encoder_add_all(struct encoder *e);

#endif
