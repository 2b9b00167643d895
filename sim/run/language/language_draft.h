/* A small model that proposes tokens to a larger one with the same vocabulary (speculative decoding). */
#ifndef ORCHARD_SIM_RUN_LANGUAGE_LANGUAGE_DRAFT_H
#define ORCHARD_SIM_RUN_LANGUAGE_LANGUAGE_DRAFT_H

#include "sim/run/language/kind_language.h"
#include "sim/run/language/language_step.h"

struct language_draft;

/* The draft of the options, where there is one: it has the tokens of the model. */
bool language_draft_open(struct language_work *work, struct orch_error *error);
/* Weights, cache and values beside those of the other model, in the memory of the unit; `part` has its kernels. NULL = *error. */
struct language_draft *language_draft_create(const struct language_model *model, struct language_unit *unit, enum orch_part part,
                                             const struct language_room *room, struct orch_error *error);
void language_draft_free(struct language_draft *draft);
/* The tokens that it thinks likeliest behind a text, each behind the one before it. Of the text it reads what it has not read
 * yet. */
bool language_draft_propose(struct language_draft *draft, const uint32_t *text, unsigned count, unsigned tokens, uint32_t *token,
                            struct language_sum *sum, struct orch_error *error);
/* What its encoder reads or hears, before the text. */
bool language_draft_encode(struct language_draft *draft, const struct language_source *source, struct language_sum *sum,
                           struct orch_error *error);
/* Of what it has read only the first tokens are part of the text. */
void language_draft_rewind(struct language_draft *draft, unsigned position);

#endif
