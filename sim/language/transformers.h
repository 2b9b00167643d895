/* Models as transformers saves them: a folder with config.json, model.safetensors or model.safetensors.index.json, and
 * tokenizer.json or tokenizer.model. A path names the folder, the file of weights or the index.
 */
#ifndef ORCHARD_SIM_LANGUAGE_TRANSFORMERS_H
#define ORCHARD_SIM_LANGUAGE_TRANSFORMERS_H

#include "sim/language/gguf.h"
#include "sim/language/shape.h"

struct transformers;

/* By the path alone: a folder with config.json and such weights, a file that ends in .safetensors, or an index of such files. */
bool transformers_is(const char *path);
/* NULL = *error: something is missing, damaged or of an architecture that is not known. */
struct transformers *transformers_open(const char *path, struct orch_error *error);
void transformers_close(struct transformers *model);
const struct language_shape *transformers_shape(const struct transformers *model);
/* Named and laid out as in GGUF files. */
const struct weight_list *transformers_list(const struct transformers *model);
/* Metadata of its tokenizer, in the form of a GGUF file. */
const struct gguf *transformers_vocabulary(const struct transformers *model);
uint64_t transformers_file_bytes(const struct transformers *model); /* of the weights */

#endif
