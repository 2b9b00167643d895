/* Byte-level BPE: the text is split by the expressions of its family, bytes become printable characters, and pairs are joined in
 * the order of the list of merges.
 */
#include "sim/language/merge.h"
#include "sim/language/tokenizer_internal.h"
#include "sim/language/utf8.h"

#include <stdlib.h>
#include <string.h>

/* GPT-2's table: printable bytes of Latin-1 stand for themselves, the others are U+0100 onwards in order. */
static bool is_printable(unsigned byte)
{
    return (byte >= 0x21 && byte <= 0x7e) || (byte >= 0xa1 && byte <= 0xac) || byte >= 0xae;
}

uint32_t byte_level_character(uint8_t byte)
{
    uint32_t others = 0;
    for (unsigned i = 0; i < byte; i++)
        others += !is_printable(i);
    return is_printable(byte) ? byte : 0x100 + others;
}

/* -1 when the character stands for no byte. */
static int byte_of(uint32_t code)
{
    if (code < 0x100)
        return is_printable(code) ? (int)code : -1;
    for (unsigned byte = 0, others = 0; byte < 0x100; byte++)
        if (!is_printable(byte) && others++ == code - 0x100)
            return (int)byte;
    return -1;
}

static bool open_byte_level(struct tokenizer *t, struct orch_error *error)
{
    char name[64];
    uint64_t ignored;
    const struct gguf_value *const pre = gguf_find(t->gguf, "tokenizer.ggml.pre"), *const begins = gguf_find(
                                                                                       t->gguf, "tokenizer.ggml.add_bos_token");
    gguf_text(pre, name, sizeof name);
    t->family = split_family_named(pre ? name : "default");
    if (!t->family)
        return orch_fail(error, ORCH_UNMODELLED, "tokenizer.ggml.pre '%.40s': how that family splits texts is not known", name);
    if (!begins || !gguf_whole(begins, 0, &ignored))
        t->add_begin = t->family->begins;
    t->splitter = splitter_create(t->family, error);
    return t->splitter && piece_index_create(&t->merge_index, t->merge, t->merges, error);
}

bool merge_rank_of(const void *context, const char *left, size_t left_length, size_t right_length, double *rank)
{
    const struct tokenizer *const t = context;
    const uint32_t merge = piece_find_pair(&t->merge_index, left, left_length, left + left_length, right_length);
    *rank = merge;
    return merge != TOKEN_NONE;
}

/* A piece that has become a token, or else its characters one by one; characters that are no tokens are left out, as the models'
 * tokenizers do. */
static bool add_piece(const struct tokenizer *t, const char *text, size_t length, struct token_list *tokens,
                      struct orch_error *error)
{
    uint32_t code, token = piece_find(&t->tokens, text, length);
    if (token != TOKEN_NONE)
        return token_list_add(tokens, token, error);
    for (size_t at = 0; at < length;) {
        const unsigned size = utf8_read(text + at, length - at, &code);
        token = piece_find(&t->tokens, text + at, size);
        if (token != TOKEN_NONE && !token_list_add(tokens, token, error))
            return false;
        at += size;
    }
    return true;
}

/* One piece of the split, in printable characters whose sizes stand in `length`. */
static bool encode_word(const struct tokenizer *t, const char *word, size_t bytes, size_t *length, size_t count,
                        struct token_list *tokens, struct orch_error *error)
{
    const struct merge_rule rule = {merge_rank_of, t};
    const uint32_t whole = t->family->whole_words ? piece_find(&t->tokens, word, bytes) : TOKEN_NONE;
    if (whole != TOKEN_NONE)
        return token_list_add(tokens, whole, error);
    if (!merge_pieces(&rule, word, length, &count))
        return orch_no_memory(error);
    for (size_t i = 0; i < count; word += length[i++])
        if (!add_piece(t, word, length[i], tokens, error))
            return false;
    return true;
}

static bool encode_words(const struct tokenizer *t, const char *text, const size_t *ends, size_t words, char *printable,
                         size_t *length, struct token_list *tokens, struct orch_error *error)
{
    char of_byte[256][UTF8_MAX];
    uint8_t size[256];
    for (unsigned i = 0; i < 256; i++)
        size[i] = (uint8_t)utf8_write(byte_level_character((uint8_t)i), of_byte[i]);
    for (size_t i = 0, at = 0; i < words; i++) {
        size_t bytes = 0, count = 0;
        for (; at < ends[i]; at++) {
            const uint8_t byte = (uint8_t)text[at];
            memcpy(printable + bytes, of_byte[byte], size[byte]);
            bytes += length[count++] = size[byte];
        }
        if (!encode_word(t, printable, bytes, length, count, tokens, error))
            return false;
    }
    return true;
}

static bool encode_byte_level(const struct tokenizer *t, const char *text, size_t length, bool first, struct token_list *tokens,
                              struct orch_error *error)
{
    size_t *ends = NULL, words = 0;
    (void)first;
    if (!splitter_run(t->splitter, text, length, &ends, &words, error))
        return false;
    char *const printable = malloc(2 * length + 1);
    size_t *const sizes = malloc((length + 1) * sizeof *sizes);
    const bool ok =
        printable && sizes ? encode_words(t, text, ends, words, printable, sizes, tokens, error) : orch_no_memory(error);
    free(sizes);
    free(printable);
    free(ends);
    return ok;
}

static bool decode_byte_level(const struct tokenizer *t, uint32_t token, struct token_text *text, struct orch_error *error)
{
    const struct piece_view *const piece = &t->piece[token];
    uint32_t code;
    if (t->type[token] == TOKEN_USER) /* written as it is */
        return token_text_add(text, piece->text, piece->length, error);
    for (size_t at = 0; at < piece->length;) {
        const unsigned size = utf8_read(piece->text + at, piece->length - at, &code);
        const int byte = size ? byte_of(code) : -1;
        const char one = (char)byte;
        if (!(byte >= 0 ? token_text_add(text, &one, 1, error) : token_text_add(text, piece->text + at, size ? size : 1, error)))
            return false;
        at += size ? size : 1;
    }
    return true;
}

const struct tokenizer_kind tokenizer_byte_level = {"gpt2", false, false, open_byte_level, encode_byte_level, decode_byte_level,
                                                    NULL,   NULL};
