/* Chooses the next token from logits: the largest, or by chance among the likely ones. The same seed gives the same choices on
 * every host.
 */
#ifndef ORCHARD_SIM_LANGUAGE_SAMPLER_H
#define ORCHARD_SIM_LANGUAGE_SAMPLER_H

#include "sim/base/error.h"

#include <stddef.h>
#include <stdint.h>

/* Applied in this order; what is 0 is left out. */
struct sampler_params {
    double repetition_penalty; /* logits of recent tokens are divided by it where positive, multiplied where negative; 1 = none */
    unsigned repetition_last;  /* how many tokens are recent */
    unsigned top_k;            /* only so many of the likeliest */
    double top_p;              /* only the likeliest that have this probability together */
    double min_p;              /* only those that have at least this share of the likeliest one's probability */
    double temperature;        /* 0 = always the largest logit, the lowest token of equal ones */
};

struct sampler;

/* NULL = *error: a parameter is out of range, or memory is out. */
struct sampler *sampler_create(const struct sampler_params *params, unsigned vocabulary, uint64_t seed, struct orch_error *error);
void sampler_free(struct sampler *sampler);
/* `history` has all tokens so far. Logits are not changed. */
uint32_t sampler_next(struct sampler *sampler, const float *logits, const uint32_t *history, size_t count);
/* Fills the probabilities from which the last call of sampler_next has chosen; all 0 but one when the choice was not by chance.
 */
void sampler_probabilities(const struct sampler *sampler, double *probability);

#endif
