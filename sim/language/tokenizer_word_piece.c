/* WordPiece of uncased BERT: accents go, letters become small, words and signs are told apart, and each word is the longest piece
 * that it begins with, then the longest of the rest, and so on. In GGUF files a piece that begins a word has U+2581 in front.
 */
#include "sim/language/tokenizer_internal.h"
#include "sim/language/unicode.h"
#include "sim/language/utf8.h"

#include <string.h>

static bool open_word_piece(struct tokenizer *t, struct orch_error *error)
{
    /* Files that do not say which tokens these are have them under the names that BERT gave them. */
    if (t->unknown == TOKEN_NONE)
        t->unknown = piece_find(&t->tokens, "[UNK]", 5);
    if (t->begin == TOKEN_NONE)
        t->begin = t->classify != TOKEN_NONE ? t->classify : piece_find(&t->tokens, "[CLS]", 5);
    if (t->separator == TOKEN_NONE)
        t->separator = piece_find(&t->tokens, "[SEP]", 5);
    return t->unknown != TOKEN_NONE ||
           orch_fail(error, ORCH_USAGE, "tokenizer.ggml.unknown_token_id is missing; words that are not known need it");
}

/* google-research/bert, tokenization.py, _is_punctuation: all ASCII signs, and category P. */
static bool is_sign(uint32_t code)
{
    const enum unicode_category category = unicode_category(code);
    const bool ascii =
        (code >= 33 && code <= 47) || (code >= 58 && code <= 64) || (code >= 91 && code <= 96) || (code >= 123 && code <= 126);
    return ascii || (category >= UNICODE_PC && category <= UNICODE_PO);
}

/* BERT knows three control characters as spaces, and leaves out the others. */
static bool is_space(uint32_t code)
{
    const enum unicode_category category = unicode_category(code);
    return code == '\t' || code == '\n' || code == '\r' || (category >= UNICODE_ZS && category <= UNICODE_ZP);
}

static bool is_left_out(uint32_t code)
{
    const enum unicode_category category = unicode_category(code);
    return code == UTF8_REPLACEMENT || category == UNICODE_MN || category == UNICODE_CN || category >= UNICODE_CC;
}

/* The longest piece at the beginning of what is left. */
static uint32_t longest_piece(const struct tokenizer *t, const char *text, size_t length, size_t *taken)
{
    for (*taken = length < t->longest ? length : t->longest; *taken; (*taken)--) {
        const uint32_t token = piece_find(&t->tokens, text, *taken);
        if (token != TOKEN_NONE)
            return token;
    }
    return TOKEN_NONE;
}

/* A word with U+2581 in front; it is emptied for the next. */
static bool end_word(const struct tokenizer *t, struct token_text *word, struct token_list *tokens, struct orch_error *error)
{
    const size_t before = tokens->count;
    bool ok = true;
    if (word->length <= sizeof TOKEN_SPACE - 1)
        return true;
    for (size_t at = 0, taken = 0; ok && at < word->length; at += taken) {
        const uint32_t token = longest_piece(t, word->text + at, word->length - at, &taken);
        if (token == TOKEN_NONE) { /* the whole word is unknown */
            tokens->count = before;
            ok = token_list_add(tokens, t->unknown, error);
            break;
        }
        ok = token_list_add(tokens, token, error);
    }
    word->length = sizeof TOKEN_SPACE - 1;
    return ok;
}

/* A character without accents and capitals. */
static bool add_character(const struct tokenizer *t, uint32_t code, struct token_text *word, struct token_list *tokens,
                          struct orch_error *error)
{
    char bytes[UTF8_MAX];
    if (is_space(code))
        return end_word(t, word, tokens, error);
    if (is_left_out(code))
        return true;
    const bool alone = is_sign(code) || unicode_is_chinese(code);
    if (alone && !end_word(t, word, tokens, error))
        return false;
    const unsigned length = utf8_write(unicode_lower(code), bytes);
    return token_text_add(word, bytes, length, error) && (!alone || end_word(t, word, tokens, error));
}

static bool encode_word_piece(const struct tokenizer *t, const char *text, size_t length, bool first, struct token_list *tokens,
                              struct orch_error *error)
{
    struct token_text word = {0};
    uint32_t code;
    (void)first;
    bool ok = token_text_add(&word, TOKEN_SPACE, sizeof TOKEN_SPACE - 1, error);
    for (size_t at = 0; ok && at < length;) {
        uint32_t part[UNICODE_DECOMPOSED_MAX];
        at += utf8_read(text + at, length - at, &code);
        const unsigned parts = unicode_decompose(code, part);
        for (unsigned i = 0; ok && i < parts; i++)
            ok = add_character(t, part[i], &word, tokens, error);
    }
    ok = ok && end_word(t, &word, tokens, error);
    token_text_free(&word);
    return ok;
}

static bool decode_word_piece(const struct tokenizer *t, uint32_t token, struct token_text *text, struct orch_error *error)
{
    return token_text_add_spaced(text, t->piece[token].text, t->piece[token].length, error);
}

const struct tokenizer_kind tokenizer_word_piece = {"bert", true, true, open_word_piece, encode_word_piece, decode_word_piece,
                                                    NULL,   NULL};
