/* How a tokenizer.json prepares a text: steps that normalise it, then steps that part it into words. A file of metadata has them
 * under two keys, as arrays of strings, four for each step: its name, and what the name needs.
 *
 *     orchard.tokenizer.normalizers                       orchard.tokenizer.pre_tokenizers
 *     nfc nfd nfkc nfkd                                   split        PATTERN BEHAVIOUR how
 *     lowercase                                           metaspace    REPLACEMENT SCHEME text
 *     strip_accents strip_nonspacing                      prefix_space
 *     strip        left|right|both                        bytes
 *     prepend      TEXT
 *     replace      PATTERN TEXT how
 *     clean chinese nmt charsmap bytes
 *
 * `how` says of a pattern what it is, "text" or "expression", and behind a space "invert" when what it does not match counts as
 * matched. Behaviours: removed, isolated, contiguous, merged_with_previous, merged_with_next. Schemes: always,
 * first, never, each alone or with " split" behind it.
 *
 * Meanings: huggingface/tokenizers, src/normalizers, src/pre_tokenizers and src/tokenizer/normalizer.rs.
 */
#ifndef ORCHARD_SIM_LANGUAGE_TEXT_STEPS_H
#define ORCHARD_SIM_LANGUAGE_TEXT_STEPS_H

#include "sim/language/tokenizer.h"

#define TEXT_STEPS_NORMALIZERS    "orchard.tokenizer.normalizers"
#define TEXT_STEPS_PRE_TOKENIZERS "orchard.tokenizer.pre_tokenizers"

enum { TEXT_STEP_WORDS = 4 };

struct text_steps;

/* The file must outlive the steps. NULL = *error: a step is not known, or its pattern is wrong. */
struct text_steps *text_steps_create(const struct gguf *gguf, struct orch_error *error);
void text_steps_free(struct text_steps *steps);

/* Adds a text in UTF-8, normalised, to another. */
bool text_steps_normalise(const struct text_steps *steps, const char *text, size_t length, struct token_text *to,
                          struct orch_error *error);

/* Words side by side. */
struct text_words {
    struct token_text text;
    struct text_word {
        size_t end;  /* the byte behind it */
        bool begins; /* the whole text */
    } * word;
    size_t count, room;
};
/* Parts a text that is normalised into words; `words` starts zeroed. `begins`: it begins the whole text. */
bool text_steps_split(const struct text_steps *steps, const char *text, size_t length, bool begins, struct text_words *words,
                      struct orch_error *error);
void text_words_free(struct text_words *words);

#endif
