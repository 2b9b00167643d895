/* The tokenizer beside a network: tokenizer.json or vocab.txt in its folder, and of config.json there which tokens begin and end
 * texts. */
#ifndef ORCHARD_SIM_LANGUAGE_VOCABULARY_BESIDE_H
#define ORCHARD_SIM_LANGUAGE_VOCABULARY_BESIDE_H

#include "sim/language/tokenizer.h"

struct vocabulary_beside;

/* *vocabulary NULL = there is none. False: it is damaged. */
bool vocabulary_beside_open(const char *file, struct vocabulary_beside **vocabulary, struct orch_error *error);
/* The one within a GGUF file. */
bool vocabulary_within_open(const char *file, struct vocabulary_beside **vocabulary, struct orch_error *error);
void vocabulary_beside_close(struct vocabulary_beside *vocabulary);
const struct tokenizer *vocabulary_beside_tokenizer(const struct vocabulary_beside *vocabulary);

#endif
