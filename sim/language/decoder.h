/* A reference decoder: what a language model computes, token by token, on the host.
 *
 * It exists to be compared with what simulated units compute, and never stands in for them. Values are float, sums are double,
 * and weights are decoded exactly, row by row, when they are needed; so memory is that of the file and the cache alone.
 *
 *     struct decoder *d = decoder_create(&shape, weights, 512, &error);
 *     for (size_t i = 0; i < count; i++)
 *         decoder_step(d, token[i], i + 1 == count ? logits : NULL, &error);
 */
#ifndef ORCHARD_SIM_LANGUAGE_DECODER_H
#define ORCHARD_SIM_LANGUAGE_DECODER_H

#include "sim/language/shape.h"

struct decoder;

/* The weights must outlive the decoder; they are named and laid out as in GGUF files. `context`: how many
 * tokens the cache holds. NULL = *error: a tensor is missing or of the wrong shape, or the architecture is beyond this decoder.
 * Models with an encoder are found and checked (decoder_parts.h), but not computed.
 */
struct decoder *decoder_create(const struct language_shape *shape, const struct weight_list *weights, unsigned context,
                               struct orch_error *error);
void decoder_free(struct decoder *decoder);

/* Feeds one token; `logits` has room for the vocabulary, or is NULL when they are not wanted. False with the cache full, and
 * where there is an encoder. */
bool decoder_step(struct decoder *decoder, uint32_t token, float *logits, struct orch_error *error);
/* Keys of a token and its values go through `round`, a layer's at a time, on their way into the cache: what caches of fewer bits
 * are compared with. */
void decoder_round(struct decoder *decoder, void (*round)(float *values, size_t count));
/* How many tokens have been fed; and back to an earlier one. */
unsigned decoder_position(const struct decoder *decoder);
void decoder_rewind(struct decoder *decoder, unsigned position);

#endif
