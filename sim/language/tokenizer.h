/* Tokenizers of language models, from the metadata of a GGUF file: SentencePiece's BPE ("llama") and unigram model ("t5"),
 * byte-level BPE ("gpt2") and WordPiece ("bert").
 */
#ifndef ORCHARD_SIM_LANGUAGE_TOKENIZER_H
#define ORCHARD_SIM_LANGUAGE_TOKENIZER_H

#include "sim/language/gguf.h"

/* Types of tokens, by their numbers in files. */
enum token_type { TOKEN_NORMAL = 1, TOKEN_UNKNOWN, TOKEN_CONTROL, TOKEN_USER, TOKEN_UNUSED, TOKEN_BYTE };
enum { TOKEN_NONE = UINT32_MAX };

struct token_list {
    uint32_t *token;
    size_t count, room;
};
/* A text that grows; `text` has no NUL behind it. */
struct token_text {
    char *text;
    size_t length, room;
};

struct tokenizer;

/* The file must outlive the tokenizer. NULL = *error: there is no tokenizer in the file, or it is damaged or of an unknown kind.
 */
struct tokenizer *tokenizer_create(const struct gguf *gguf, struct orch_error *error);
void tokenizer_free(struct tokenizer *tokenizer);

const char *tokenizer_kind(const struct tokenizer *tokenizer); /* "llama", "gpt2", "bert", "t5" */
size_t tokenizer_count(const struct tokenizer *tokenizer);
/* How a token is written in the file; not ended by a NUL. */
const char *tokenizer_piece(const struct tokenizer *tokenizer, uint32_t token, size_t *length);
enum token_type tokenizer_type(const struct tokenizer *tokenizer, uint32_t token);
/* Tokens with a meaning; TOKEN_NONE where the model has none. */
uint32_t tokenizer_begin(const struct tokenizer *tokenizer);
/* Whether generation stops at a token: the end of a text or of a turn, and the beginning of another text. */
bool tokenizer_ends(const struct tokenizer *tokenizer, uint32_t token);

enum {
    TOKENIZE_FRAME = 1,  /* put the tokens around the text that the model wants there */
    TOKENIZE_SPECIAL = 2 /* what is written like a control token counts as that token */
};
/* Adds the tokens of a text to a list that starts zeroed. The text must be UTF-8. */
bool tokenizer_encode(const struct tokenizer *tokenizer, const char *text, size_t length, unsigned flags,
                      struct token_list *tokens, struct orch_error *error);
void token_list_free(struct token_list *tokens);
bool token_list_add(struct token_list *tokens, uint32_t token, struct orch_error *error);

/* Tokens become text one by one. What comes out is whole characters of UTF-8: the beginning of one is held back until the token
 * that completes it, and what cannot become a character is U+FFFD.
 */
struct token_stream {
    const struct tokenizer *tokenizer;
    char held[4];
    unsigned held_count;
    bool started, drop_space;
};
/* `from_start`: the first token is the first of a text, whose leading space was added by the tokenizer. */
void token_stream_start(struct token_stream *stream, const struct tokenizer *tokenizer, bool from_start);
bool token_stream_add(struct token_stream *stream, uint32_t token, struct token_text *text, struct orch_error *error);
/* What is still held back. */
bool token_stream_end(struct token_stream *stream, struct token_text *text, struct orch_error *error);
/* All of it at once; `text` starts zeroed. */
bool tokenizer_decode(const struct tokenizer *tokenizer, const uint32_t *tokens, size_t count, bool from_start,
                      struct token_text *text, struct orch_error *error);
void token_text_free(struct token_text *text);

#endif
