/* Vocabularies beside weights of transformers: tokenizer.json (the tokenizers library) or tokenizer.model (SentencePiece),
 * written as the metadata that GGUF files have of them, so that there is one reader of tokenizers. */
#ifndef ORCHARD_SIM_LANGUAGE_VOCABULARY_FILE_H
#define ORCHARD_SIM_LANGUAGE_VOCABULARY_FILE_H

#include "sim/base/error.h"

#include <stddef.h>
#include <stdint.h>

/* Tokens with a meaning, by their numbers; TOKEN_NONE where nobody says. */
struct vocabulary_ends {
    uint32_t begin, end, end_of_turn;
};

/* A GGUF file of metadata alone, from malloc; NULL = *error, which names the file and the place. A NUL follows the text. */
uint8_t *vocabulary_of_json(const char *file, const char *text, size_t size, const struct vocabulary_ends *ends,
                            size_t *gguf_size, struct orch_error *error);
uint8_t *vocabulary_of_pieces(const char *file, const uint8_t *bytes, size_t size, const struct vocabulary_ends *ends,
                              size_t *gguf_size, struct orch_error *error);
/* A vocab.txt of uncased BERT: a piece in each line, those that go on with a word behind ##. */
uint8_t *vocabulary_of_lines(const char *file, const char *text, size_t size, size_t *gguf_size, struct orch_error *error);

#endif
