/* A language model as a run has it: a GGUF file, or a folder of transformers, with weights, vocabulary and shape; or the shape of
 * a published model alone. */
#ifndef ORCHARD_SIM_RUN_LANGUAGE_LANGUAGE_MODEL_H
#define ORCHARD_SIM_RUN_LANGUAGE_LANGUAGE_MODEL_H

#include "sim/language/decoder.h"
#include "sim/language/decoder_parts.h"
#include "sim/language/tokenizer.h"
#include "sim/language/transformers.h"

#define LANGUAGE_ZOO "model:" /* begins the names of published models */

struct language_model {
    struct gguf *gguf;           /* one of these, */
    struct transformers *folder; /* or neither: there is no file */
    struct tokenizer *tokenizer;
    struct decoder *weights; /* where tensors are; nothing is computed with it */
    struct language_shape shape;
    const char *name; /* of the file without its folders, or of the published model */
};

/* "model:llama-7b", which is none of the networks (sim/network/zoo), a file that ends in .gguf, or what transformers saves
 * (sim/language/transformers.h). */
bool language_model_is(const char *workload);
/* A network with an encoder whose decoder is a language model when tokens are asked for: model:whisper-tiny, model:t5-base. */
bool language_model_generates(const char *workload);
/* False with what is wrong; close in any case. */
bool language_model_open(const char *workload, struct language_model *model, struct orch_error *error);
void language_model_close(struct language_model *model);
/* Whether there are values, and how many bytes the files of the weights have. */
bool language_model_has_weights(const struct language_model *model);
uint64_t language_model_file_bytes(const struct language_model *model);
/* Adds all weights of the file to a checksum (base/checksum.h). */
uint64_t language_model_checksum(uint64_t checksum, const struct language_model *model);

#endif
