/* Encoders of texts as transformers saves them: a folder with config.json and model.safetensors of BERT, DistilBERT, RoBERTa and
 * their kin, and of sentence-transformers, whose 1_Pooling/config.json says what becomes of the tokens of a text; and GGUF files
 * of BERT, Nomic's and Jina's.
 *
 * The graph takes input_ids and attention_mask, both [batch, sequence]; it gives last_hidden_state, sentence_embedding (means of
 * tokens, unless the folder says otherwise) and, where there are weights for it, pooler_output.
 */
#ifndef ORCHARD_SIM_NETWORK_ENCODER_ENCODER_H
#define ORCHARD_SIM_NETWORK_ENCODER_ENCODER_H

#include "sim/language/vocabulary_beside.h"
#include "sim/network/graph/graph.h"

#define ENCODER_IDS       "input_ids"
#define ENCODER_MASK      "attention_mask"
#define ENCODER_EMBEDDING "sentence_embedding"
/* Tables that are made here, of which a text needs a row for each token. */
#define ENCODER_COSINES   "rotation.cosine"
#define ENCODER_DISTANCES "distance.places"

/* Whether a folder's config.json says that it holds such an encoder, and weights stand beside it, or a file's name ends in .gguf
 * and its metadata say so. Any other path is none. */
bool encoder_is(const char *path);
bool encoder_is_file(const char *path); /* the latter */
/* NULL with an error that names the file and the member or tensor. */
struct net_model *encoder_load(const char *path, struct orch_error *error);
/* The same of a GGUF file that is open; nothing of it is used afterwards. */
struct net_model *encoder_of_gguf(const struct gguf *gguf, struct orch_error *error);
/* The tokenizer of a folder or file; false when there is none, too. */
bool encoder_vocabulary_open(const char *path, struct vocabulary_beside **vocabulary, struct orch_error *error);
/* What the model has rows for. */
struct encoder_limits {
    uint64_t words, tokens; /* of a text */
};
struct encoder_limits encoder_limits_of(const struct net_model *model);
/* Whether a text has one embedding, and not its tokens alone. */
bool encoder_pools(const struct net_model *model);

#endif
