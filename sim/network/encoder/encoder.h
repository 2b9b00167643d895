/* Encoders of texts as transformers saves them: a folder with config.json and model.safetensors of BERT, DistilBERT, RoBERTa and
 * their kin, and of sentence-transformers, whose 1_Pooling/config.json says what becomes of the tokens of a text.
 *
 * The graph takes input_ids and attention_mask, both [batch, sequence]; it gives last_hidden_state, sentence_embedding (means of
 * tokens, unless the folder says otherwise) and, where there are weights for it, pooler_output.
 */
#ifndef ORCHARD_SIM_NETWORK_ENCODER_ENCODER_H
#define ORCHARD_SIM_NETWORK_ENCODER_ENCODER_H

#include "sim/network/graph/graph.h"

#define ENCODER_IDS       "input_ids"
#define ENCODER_MASK      "attention_mask"
#define ENCODER_EMBEDDING "sentence_embedding"
/* Tables, as their tensors are called without a prefix. */
#define ENCODER_WORDS  "embeddings.word_embeddings"
#define ENCODER_PLACES "embeddings.position_embeddings"

/* Whether a folder's config.json says that it holds such an encoder, and weights stand beside it. Any other path is none. */
bool encoder_is(const char *path);
/* NULL with an error that names the file and the member or tensor. */
struct net_model *encoder_load(const char *path, struct orch_error *error);
/* What the model has rows for. */
struct encoder_limits {
    uint64_t words, tokens; /* of a text */
};
struct encoder_limits encoder_limits_of(const struct net_model *model);

#endif
