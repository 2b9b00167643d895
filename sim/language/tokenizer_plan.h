/* What a tokenizer.json says besides its vocabulary: how texts are prepared, which model parts words, what stands around a text.
 * Keys of metadata, all under "orchard.tokenizer.": model (unigram, word_piece, bpe, words), decoder (bytes, pieces, suffix,
 * spaces), before, after (tokens around a text), added (flags of each token), prefix, suffix, word_max, fuse_unknown,
 * byte_fallback, whole_words. */
#ifndef ORCHARD_SIM_LANGUAGE_TOKENIZER_PLAN_H
#define ORCHARD_SIM_LANGUAGE_TOKENIZER_PLAN_H

#include "sim/language/text_steps.h"
#include "sim/language/tokenizer_internal.h"

/* How a token is found in a text that was added to the vocabulary. */
enum { ADDED_LEFT = 1, ADDED_RIGHT = 2, ADDED_WORD = 4, ADDED_NORMAL = 8 };

struct token_plan {
    struct text_steps *steps;
    const struct word_model *model;
    const struct word_decoder *decoder;
    uint8_t *added;            /* flags of each token */
    struct piece_view *normal; /* texts of tokens as they are found in normalised texts */
    char *normal_text;
    uint32_t *before, *after;
    size_t befores, afters;
    struct piece_view prefix, suffix;
    uint32_t word_max; /* characters; longer words are unknown */
    bool fuse_unknown, whole_words;
};

/* Adds the tokens of a word. */
struct word_model {
    const char *name;
    bool (*encode)(const struct tokenizer *t, const char *word, size_t length, struct token_list *tokens,
                   struct orch_error *error);
};
/* Adds what a token stands for. */
struct word_decoder {
    const char *name;
    bool leads; /* with a space that a text does not have in front */
    bool (*decode)(const struct tokenizer *t, uint32_t token, struct token_text *text, struct orch_error *error);
};
/* NULL = no model or decoder is called so. */
const struct word_model *word_model_named(const char *name);
const struct word_decoder *word_decoder_named(const char *name);

#endif
