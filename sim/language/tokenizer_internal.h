/* What the kinds of tokenizers share: the vocabulary, and tables to find texts in. */
#ifndef ORCHARD_SIM_LANGUAGE_TOKENIZER_INTERNAL_H
#define ORCHARD_SIM_LANGUAGE_TOKENIZER_INTERNAL_H

#include "sim/language/charsmap.h"
#include "sim/language/text_split.h"
#include "sim/language/tokenizer.h"

/* A text in the file. */
struct piece_view {
    const char *text;
    size_t length;
};

/* Texts and their numbers, found by a hash; the first of equal texts is kept. */
struct piece_index {
    const struct piece_view *view;
    uint32_t *slot; /* number + 1; 0 = free */
    size_t slots;   /* a power of two */
};

bool piece_index_create(struct piece_index *index, const struct piece_view *view, size_t count, struct orch_error *error);
void piece_index_free(struct piece_index *index);
/* The number of a text, TOKEN_NONE when it is not there. The second looks for two texts with a space between them. */
uint32_t piece_find(const struct piece_index *index, const char *text, size_t length);
uint32_t piece_find_pair(const struct piece_index *index, const char *left, size_t left_length, const char *right,
                         size_t right_length);

struct tokenizer {
    const struct tokenizer_kind *kind;
    const struct gguf *gguf;
    size_t count;
    struct piece_view *piece;
    uint8_t *type;
    float *score;              /* NULL = the file has none */
    struct piece_index tokens; /* by their texts */
    uint32_t *special;         /* tokens that are looked for in a text before anything else, longest first */
    size_t specials;
    size_t longest; /* bytes of the longest token */
    uint32_t begin, end, end_of_turn, unknown, separator, classify;
    bool add_begin, add_end, add_space;
    uint32_t byte_token[256]; /* SentencePiece: tokens for single bytes, or TOKEN_NONE */
    /* unigram: the score of the worst piece, and how texts are normalised */
    double worst;
    bool merge_spaces, byte_fallback;
    struct charsmap charsmap;
    /* byte-level BPE */
    struct piece_view *merge;
    size_t merges;
    struct piece_index merge_index;
    const struct split_family *family;
    struct splitter *splitter;
    struct token_plan *plan; /* of a tokenizer.json: the kind that follows its steps */
};

struct tokenizer_kind {
    const char *name; /* of the key tokenizer.ggml.model */
    bool add_begin, add_space;
    /* Reads what only this kind has. */
    bool (*open)(struct tokenizer *t, struct orch_error *error);
    /* Adds the tokens of a stretch of text without special tokens. `first`: it begins the text or follows a special token. */
    bool (*encode)(const struct tokenizer *t, const char *text, size_t length, bool first, struct token_list *tokens,
                   struct orch_error *error);
    /* Adds what a token stands for. */
    bool (*decode)(const struct tokenizer *t, uint32_t token, struct token_text *text, struct orch_error *error);
    /* Adds the tokens of a whole text in place of `encode`, special tokens and frame included; NULL = as all do it. */
    bool (*encode_all)(const struct tokenizer *t, const char *text, size_t length, unsigned flags, struct token_list *tokens,
                       struct orch_error *error);
    void (*close)(struct tokenizer *t); /* frees what `open` made; may be NULL */
};

extern const struct tokenizer_kind tokenizer_sentence, tokenizer_byte_level, tokenizer_word_piece, tokenizer_unigram,
    tokenizer_planned;

/* What kinds lend to others. The character that stands for a byte in byte-level BPE: */
uint32_t byte_level_character(uint8_t byte);
/* The numbers of tokens <0x00> to <0xFF>. */
void find_byte_tokens(struct tokenizer *t);
/* Checks scores, and adds the best way to cut a text that is normalised already. */
bool unigram_open(struct tokenizer *t, struct orch_error *error);
bool unigram_cut(const struct tokenizer *t, const char *text, size_t length, struct token_list *tokens, struct orch_error *error);
/* Whether two pieces side by side are a merge, and the how manieth; `context` is the tokenizer. */
bool merge_rank_of(const void *context, const char *left, size_t left_length, size_t right_length, double *rank);

bool token_text_add(struct token_text *text, const char *bytes, size_t length, struct orch_error *error);
/* The piece with spaces for U+2581. */
bool token_text_add_spaced(struct token_text *text, const char *bytes, size_t length, struct orch_error *error);

#define TOKEN_SPACE "\xe2\x96\x81" /* U+2581 */

#endif
