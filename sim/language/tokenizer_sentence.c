/* SentencePiece's BPE: characters are joined as long as the union is a piece, highest score first; a character that is no piece
 * becomes its bytes. Spaces are written U+2581, and one is put in front of the text.
 */
#include "sim/language/merge.h"
#include "sim/language/tokenizer_internal.h"
#include "sim/language/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void find_byte_tokens(struct tokenizer *t)
{
    for (unsigned byte = 0; byte < 256; byte++) {
        char name[8];
        snprintf(name, sizeof name, "<0x%02X>", byte);
        const uint32_t token = piece_find(&t->tokens, name, 6);
        t->byte_token[byte] = token != TOKEN_NONE && t->type[token] == TOKEN_BYTE ? token : TOKEN_NONE;
    }
}

static bool open_sentence(struct tokenizer *t, struct orch_error *error)
{
    if (!t->score)
        return orch_fail(error, ORCH_USAGE, "tokenizer.ggml.scores is missing; pieces are joined by their scores");
    find_byte_tokens(t);
    return true;
}

/* What stands for text of itself; the others are there for other purposes, or cannot be joined. */
static bool is_text(const struct tokenizer *t, uint32_t token)
{
    return token != TOKEN_NONE &&
           (t->type[token] == TOKEN_NORMAL || t->type[token] == TOKEN_USER || t->type[token] == TOKEN_UNUSED);
}

static bool rank_of(const void *context, const char *left, size_t left_length, size_t right_length, double *rank)
{
    const struct tokenizer *const t = context;
    const size_t length = left_length + right_length;
    const uint32_t token = length > t->longest ? TOKEN_NONE : piece_find(&t->tokens, left, length);
    if (!is_text(t, token))
        return false;
    *rank = -(double)t->score[token];
    return true;
}

/* A piece, or the bytes of a character that is none. */
static bool add_piece(const struct tokenizer *t, const char *text, size_t length, struct token_list *tokens,
                      struct orch_error *error)
{
    const uint32_t token = piece_find(&t->tokens, text, length);
    if (is_text(t, token))
        return token_list_add(tokens, token, error);
    for (size_t i = 0; i < length; i++) {
        const uint32_t byte = t->byte_token[(unsigned char)text[i]];
        if (byte == TOKEN_NONE) /* without bytes, a character that is no piece is unknown as a whole */
            return t->unknown == TOKEN_NONE
                       ? orch_fail(error, ORCH_USAGE, "the tokenizer has no token for '%.*s'", (int)length, text)
                       : token_list_add(tokens, t->unknown, error);
        if (!token_list_add(tokens, byte, error))
            return false;
    }
    return true;
}

static bool encode_spaced(const struct tokenizer *t, const struct token_text *text, struct token_list *tokens,
                          struct orch_error *error)
{
    const struct merge_rule rule = {rank_of, t};
    size_t *const length = malloc((text->length + 1) * sizeof *length), count = 0;
    uint32_t code;
    bool ok = length != NULL;
    for (size_t at = 0; ok && at < text->length; at += length[count++])
        length[count] = utf8_read(text->text + at, text->length - at, &code);
    ok = (ok && merge_pieces(&rule, text->text, length, &count)) || orch_no_memory(error);
    size_t at = 0;
    for (size_t i = 0; ok && i < count; at += length[i++])
        ok = add_piece(t, text->text + at, length[i], tokens, error);
    free(length);
    return ok;
}

static bool encode_sentence(const struct tokenizer *t, const char *text, size_t length, bool first, struct token_list *tokens,
                            struct orch_error *error)
{
    struct token_text spaced = {0};
    bool ok = !(first && t->add_space) || token_text_add(&spaced, TOKEN_SPACE, sizeof TOKEN_SPACE - 1, error);
    for (size_t at = 0; ok && at < length; at++) {
        const bool space = text[at] == ' ';
        ok = token_text_add(&spaced, space ? TOKEN_SPACE : text + at, space ? sizeof TOKEN_SPACE - 1 : 1, error);
    }
    ok = ok && encode_spaced(t, &spaced, tokens, error);
    token_text_free(&spaced);
    return ok;
}

static bool decode_sentence(const struct tokenizer *t, uint32_t token, struct token_text *text, struct orch_error *error)
{
    const struct piece_view *const piece = &t->piece[token];
    unsigned byte;
    char name[8] = "";
    if (t->type[token] != TOKEN_BYTE)
        return token_text_add_spaced(text, piece->text, piece->length, error);
    memcpy(name, piece->text, piece->length < 6 ? piece->length : 6);
    const char one = sscanf(name, "<0x%2x>", &byte) == 1 ? (char)byte : '?';
    return token_text_add(text, &one, 1, error);
}

const struct tokenizer_kind tokenizer_sentence = {"llama",         true, true, open_sentence, encode_sentence,
                                                  decode_sentence, NULL, NULL};
