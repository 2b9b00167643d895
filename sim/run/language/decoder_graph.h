/* Networks that go on with a text: ONNX files as optimum exports decoders of Hugging Face. Inputs are input_ids [batch][tokens]
 * and, where the file has them, attention_mask, position_ids, use_cache_branch and past_key_values.N.key and .value
 * [batch][heads][past] [d]; outputs are logits [batch][tokens][vocabulary] and present.N.key and .value, which are the past of
 * the next step. Without a past the whole text goes in at each step.
 */
#ifndef ORCHARD_SIM_RUN_LANGUAGE_DECODER_GRAPH_H
#define ORCHARD_SIM_RUN_LANGUAGE_DECODER_GRAPH_H

#include "sim/network/graph/graph.h"

enum { DECODER_LAYERS_MOST = 256, DECODER_KEPT = 2 * DECODER_LAYERS_MOST };
#define DECODER_NOWHERE SIZE_MAX

struct decoder_graph {
    size_t ids, mask, places, branch; /* inputs; DECODER_NOWHERE = there is none */
    size_t logits;                    /* output */
    unsigned kept;                    /* tensors of the past: keys, then values, of each layer; 0 = no past */
    size_t past[DECODER_KEPT], present[DECODER_KEPT];
    int64_t heads[DECODER_KEPT], depth[DECODER_KEPT]; /* of one of them */
};

/* False: what the file lacks, or has besides. */
bool decoder_graph_read(const struct net_model *model, struct decoder_graph *graph, struct orch_error *error);
/* The inputs of a step over `count` tokens behind `past` others, in the order of the graph's; `kept` has what the step before
 * left. The caller releases those that are not NULL, also on failure. */
bool decoder_graph_inputs(const struct net_model *model, const struct decoder_graph *graph, const uint32_t *token, size_t count,
                          size_t past, struct net_array *const *kept, struct net_array **input, struct orch_error *error);

#endif
