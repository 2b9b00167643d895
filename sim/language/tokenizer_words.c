/* Models that part words into tokens, and how tokens become text again. Sources: huggingface/tokenizers, src/models and
 * src/decoders. */
#include "sim/language/merge.h"
#include "sim/language/tokenizer_plan.h"
#include "sim/language/utf8.h"

#include "isa/array_count.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for a piece with a prefix or suffix. */
enum { PIECE_MAX = 1024 };

static bool unknown(const struct tokenizer *t, const char *word, size_t length, struct token_list *tokens,
                    struct orch_error *error)
{
    if (t->unknown != TOKEN_NONE)
        return token_list_add(tokens, t->unknown, error);
    return orch_fail(error, ORCH_USAGE, "the tokenizer has no token for '%.*s'", (int)(length < 80 ? length : 80), word);
}

static bool encode_whole(const struct tokenizer *t, const char *word, size_t length, struct token_list *tokens,
                         struct orch_error *error)
{
    const uint32_t token = piece_find(&t->tokens, word, length);
    return token != TOKEN_NONE ? token_list_add(tokens, token, error) : unknown(t, word, length, tokens, error);
}

/* ---- word pieces ---- */

static uint32_t find_piece(const struct tokenizer *t, const char *text, size_t length, bool inner)
{
    const struct piece_view *const prefix = &t->plan->prefix;
    char piece[PIECE_MAX];
    if (!inner)
        return piece_find(&t->tokens, text, length);
    if (prefix->length + length > sizeof piece)
        return TOKEN_NONE;
    memcpy(piece, prefix->text, prefix->length);
    memcpy(piece + prefix->length, text, length);
    return piece_find(&t->tokens, piece, prefix->length + length);
}

static size_t characters_of(const char *text, size_t length)
{
    size_t count = 0;
    for (size_t i = 0; i < length; i++)
        count += ((uint8_t)text[i] & 0xc0) != 0x80;
    return count;
}

/* The longest piece at the beginning of what is left, whole characters. */
static uint32_t longest_piece(const struct tokenizer *t, const char *text, size_t length, bool inner, size_t *taken)
{
    for (*taken = length < t->longest ? length : t->longest; *taken; (*taken)--) {
        const bool whole = *taken == length || ((uint8_t)text[*taken] & 0xc0) != 0x80;
        const uint32_t token = whole ? find_piece(t, text, *taken, inner) : TOKEN_NONE;
        if (token != TOKEN_NONE)
            return token;
    }
    return TOKEN_NONE;
}

static bool encode_pieces(const struct tokenizer *t, const char *word, size_t length, struct token_list *tokens,
                          struct orch_error *error)
{
    const size_t before = tokens->count;
    const bool long_word = characters_of(word, length) > t->plan->word_max;
    for (size_t at = 0, taken = 0; at < length; at += taken) {
        const uint32_t token = long_word ? TOKEN_NONE : longest_piece(t, word + at, length - at, at > 0, &taken);
        if (token == TOKEN_NONE) { /* the whole word is unknown */
            tokens->count = before;
            return unknown(t, word, length, tokens, error);
        }
        if (!token_list_add(tokens, token, error))
            return false;
    }
    return true;
}

/* ---- pairs ---- */

static bool all_bytes(const struct tokenizer *t, const char *text, size_t length)
{
    bool all = t->byte_fallback;
    for (size_t i = 0; all && i < length; i++)
        all = t->byte_token[(uint8_t)text[i]] != TOKEN_NONE;
    return all;
}

/* A piece that has become a token; of a character that is none its bytes, or the unknown token, or nothing. */
static bool add_piece(const struct tokenizer *t, const char *text, size_t length, bool *was_unknown, struct token_list *tokens,
                      struct orch_error *error)
{
    const uint32_t token = piece_find(&t->tokens, text, length);
    const bool fused = *was_unknown && t->plan->fuse_unknown;
    *was_unknown = false;
    if (token != TOKEN_NONE)
        return token_list_add(tokens, token, error);
    if (all_bytes(t, text, length)) {
        for (size_t i = 0; i < length; i++)
            if (!token_list_add(tokens, t->byte_token[(uint8_t)text[i]], error))
                return false;
        return true;
    }
    *was_unknown = true;
    return fused || t->unknown == TOKEN_NONE || token_list_add(tokens, t->unknown, error);
}

/* The word with the suffix behind its last character. */
static bool join_pairs(const struct tokenizer *t, const char *word, size_t length, size_t *size, struct token_list *tokens,
                       struct orch_error *error)
{
    const struct merge_rule rule = {merge_rank_of, t};
    const size_t all = length + t->plan->suffix.length;
    size_t count = 0;
    uint32_t code;
    bool was_unknown = false;
    for (size_t at = 0; at < length; at += size[count++])
        if ((size[count] = utf8_read(word + at, length - at, &code)) == 0)
            return orch_fail(error, ORCH_USAGE, "a word is no UTF-8");
    size[count - 1] += all - length;
    if (!merge_pieces(&rule, word, size, &count))
        return orch_no_memory(error);
    for (size_t i = 0; i < count; word += size[i++])
        if (!add_piece(t, word, size[i], &was_unknown, tokens, error))
            return false;
    return true;
}

static bool encode_pairs(const struct tokenizer *t, const char *word, size_t length, struct token_list *tokens,
                         struct orch_error *error)
{
    const struct piece_view *const suffix = &t->plan->suffix;
    const uint32_t whole = t->plan->whole_words ? piece_find(&t->tokens, word, length) : TOKEN_NONE;
    struct token_text text = {0};
    if (whole != TOKEN_NONE)
        return token_list_add(tokens, whole, error);
    size_t *const size = malloc((length + 1) * sizeof *size);
    bool ok = size || orch_no_memory(error);
    ok = ok && token_text_add(&text, word, length, error) && token_text_add(&text, suffix->text, suffix->length, error);
    ok = ok && join_pairs(t, text.text, length, size, tokens, error);
    free(size);
    token_text_free(&text);
    return ok;
}

const struct word_model *word_model_named(const char *name)
{
    static const struct word_model models[] = {
        {"unigram", unigram_cut}, {"word_piece", encode_pieces}, {"bpe", encode_pairs}, {"words", encode_whole}};
    for (size_t i = 0; i < ARRAY_COUNT(models); i++)
        if (strcmp(models[i].name, name) == 0)
            return &models[i];
    return NULL;
}

/* ---- tokens as text ---- */

/* BERT's spaces before signs, and within contractions, are left out again (src/decoders/wordpiece.rs, cleanup). */
static bool is_clean_end(const char *text, size_t length)
{
    static const char *const ends[] = {".", "?", "!", ",", "n't", "'m", "'s", "'ve", "'re"};
    for (size_t i = 0; i < ARRAY_COUNT(ends); i++)
        if (length == strlen(ends[i]) && memcmp(text, ends[i], length) == 0)
            return true;
    return false;
}

static bool decode_pieces(const struct tokenizer *t, uint32_t token, struct token_text *text, struct orch_error *error)
{
    const struct piece_view *const piece = &t->piece[token], *const prefix = &t->plan->prefix;
    const bool inner =
        prefix->length && piece->length >= prefix->length && memcmp(piece->text, prefix->text, prefix->length) == 0;
    const size_t from = inner ? prefix->length : 0;
    const bool space = !inner && !is_clean_end(piece->text, piece->length);
    return (!space || token_text_add(text, " ", 1, error)) &&
           token_text_add(text, piece->text + from, piece->length - from, error);
}

static bool decode_suffix(const struct tokenizer *t, uint32_t token, struct token_text *text, struct orch_error *error)
{
    const struct piece_view *const piece = &t->piece[token], *const suffix = &t->plan->suffix;
    const bool ends = suffix->length && piece->length >= suffix->length &&
                      memcmp(piece->text + piece->length - suffix->length, suffix->text, suffix->length) == 0;
    return token_text_add(text, piece->text, piece->length - (ends ? suffix->length : 0), error) &&
           (!ends || token_text_add(text, " ", 1, error));
}

/* A suffix is no bytes. */
static bool decode_bytes(const struct tokenizer *t, uint32_t token, struct token_text *text, struct orch_error *error)
{
    const struct piece_view *const suffix = &t->plan->suffix;
    const size_t from = text->length;
    if (!tokenizer_byte_level.decode(t, token, text, error))
        return false;
    if (!suffix->length || text->length - from < suffix->length ||
        memcmp(text->text + text->length - suffix->length, suffix->text, suffix->length) != 0)
        return true;
    text->length -= suffix->length;
    return token_text_add(text, " ", 1, error);
}

static bool decode_spaces(const struct tokenizer *t, uint32_t token, struct token_text *text, struct orch_error *error)
{
    return tokenizer_sentence.decode(t, token, text, error);
}

const struct word_decoder *word_decoder_named(const char *name)
{
    static const struct word_decoder decoders[] = {{"bytes", false, decode_bytes},
                                                   {"pieces", true, decode_pieces},
                                                   {"suffix", false, decode_suffix},
                                                   {"spaces", true, decode_spaces}};
    for (size_t i = 0; i < ARRAY_COUNT(decoders); i++)
        if (strcmp(decoders[i].name, name) == 0)
            return &decoders[i];
    return NULL;
}
