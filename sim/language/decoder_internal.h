/* What the files of the decoder share. */
#ifndef ORCHARD_SIM_LANGUAGE_DECODER_INTERNAL_H
#define ORCHARD_SIM_LANGUAGE_DECODER_INTERNAL_H

#include "sim/language/decoder.h"
#include "sim/language/decoder_parts.h"

enum { EXPERTS_MAX = 64 }; /* that one token uses */

struct decoder {
    struct language_shape shape;
    const struct weight_list *weights;
    unsigned context, position;
    struct decoder_layer *layer;
    struct decoder_matrix embedding, positions, head, distances;
    struct decoder_norm last_norm;
    struct decoder_encoder encoder;
    double *frequency;   /* radians a position, for each pair that is rotated */
    const float *factor; /* of a file, by which these are divided; NULL = none */
    float **vector;      /* decoded vectors that norms and biases point to */
    size_t vectors, vector_room;
    float *row;                                 /* one row of weights */
    void (*round)(float *values, size_t count); /* what goes into the cache; NULL = it stays as it is */
    /* Values of the token in work. */
    float *stream, *normed, *mixed, *queries, *gathered, *inner, *gated, *scores;
};

/* Finds all tensors and checks their shapes. */
bool decoder_find_weights(struct decoder *d, struct orch_error *error);
/* to = matrix * from, and the bias. `row_offset` counts from the matrix' first row, for experts. */
void decoder_multiply(struct decoder *d, const struct decoder_matrix *matrix, uint64_t row_offset, uint64_t rows,
                      const float *from, float *to);
void decoder_normalise(const struct decoder *d, const struct decoder_norm *norm, const float *from, unsigned count, float *to);
/* Turns the pairs of one head by the angles of a position. */
void decoder_rotate(const struct decoder *d, unsigned position, float *head);
/* Adds attention and the feed-forward network of one layer to the stream. */
void decoder_attend(struct decoder *d, struct decoder_layer *layer, const float *from, float *to);
void decoder_feed_forward(struct decoder *d, const struct decoder_layer *layer, const float *from, float *to);

#endif
