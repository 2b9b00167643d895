/* A text as the inputs of an encoder of texts (network/encoder). */
#ifndef ORCHARD_SIM_RUN_NETWORK_RUN_NETWORK_TEXT_H
#define ORCHARD_SIM_RUN_NETWORK_RUN_NETWORK_TEXT_H

#include "sim/language/tokenizer.h"
#include "sim/network/graph/graph.h"
#include "sim/run/run.h"

/* Texts of tokens one after another as input_ids and attention_mask, filled up to the longest with tokens that nobody sees. False
 * with an error for what the model has no rows for. */
bool run_network_put_tokens(const struct net_model *model, struct net_array **input, const struct token_list *texts, size_t count,
                            struct orch_error *error);
/* What a request says to an encoder in a folder: a text by the tokenizer there, or nothing. A mask that is not given hides
 * nothing. */
bool run_network_take_text(const struct run_request *request, struct net_model *model, struct net_array **input,
                           struct orch_error *error);
/* A mask that hides nothing becomes a constant, so that what depends on it alone is not computed. */
void run_network_fix_mask(struct net_model *model, struct net_array *const *input);

#endif
