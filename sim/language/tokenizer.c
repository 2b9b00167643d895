/* From text to tokens and back, as far as all kinds of tokenizers do it alike. */
#define _GNU_SOURCE /* memmem */
#include "sim/language/tokenizer_internal.h"

#include "isa/list_grow.h"
#include "sim/language/utf8.h"

#include <stdlib.h>
#include <string.h>

bool token_list_add(struct token_list *tokens, uint32_t token, struct orch_error *error)
{
    uint32_t *const grown = list_grow(tokens->token, tokens->count, &tokens->room, sizeof *grown);
    if (!grown)
        return orch_no_memory(error);
    tokens->token = grown;
    tokens->token[tokens->count++] = token;
    return true;
}

void token_list_free(struct token_list *tokens)
{
    free(tokens->token);
    *tokens = (struct token_list){0};
}

bool token_text_add(struct token_text *text, const char *bytes, size_t length, struct orch_error *error)
{
    if (text->length + length > text->room) {
        const size_t room = 2 * (text->length + length) + 64;
        char *const grown = realloc(text->text, room);
        if (!grown)
            return orch_no_memory(error);
        text->text = grown;
        text->room = room;
    }
    if (length)
        memcpy(text->text + text->length, bytes, length);
    text->length += length;
    return true;
}

void token_text_free(struct token_text *text)
{
    free(text->text);
    *text = (struct token_text){0};
}

bool token_text_add_spaced(struct token_text *text, const char *bytes, size_t length, struct orch_error *error)
{
    enum { SPACE_BYTES = sizeof TOKEN_SPACE - 1 };
    for (size_t at = 0; at < length;) {
        const char *const space = memmem(bytes + at, length - at, TOKEN_SPACE, SPACE_BYTES);
        const size_t end = space ? (size_t)(space - bytes) : length;
        if (!token_text_add(text, bytes + at, end - at, error) || (space && !token_text_add(text, " ", 1, error)))
            return false;
        at = end + (space ? SPACE_BYTES : 0);
    }
    return true;
}

/* ---- special tokens in a text ---- */

/* A stretch of the text, or a special token that was found in it. */
struct stretch {
    size_t begin, end;
    uint32_t token; /* TOKEN_NONE = text */
};
struct stretches {
    struct stretch *stretch;
    size_t count, room;
};

static bool add_stretch(struct stretches *s, size_t begin, size_t end, uint32_t token)
{
    struct stretch *grown;
    if (begin == end)
        return true;
    grown = list_grow(s->stretch, s->count, &s->room, sizeof *grown);
    if (!grown)
        return false;
    s->stretch = grown;
    s->stretch[s->count++] = (struct stretch){begin, end, token};
    return true;
}

/* Cuts a token's text out of all stretches of text. */
static bool cut_out(struct stretches *s, const char *text, const struct piece_view *piece, uint32_t token)
{
    struct stretches finer = {0};
    bool ok = true;
    for (size_t i = 0; ok && i < s->count; i++) {
        const struct stretch *const old = &s->stretch[i];
        size_t begin = old->begin;
        const char *found;
        while (ok && old->token == TOKEN_NONE && (found = memmem(text + begin, old->end - begin, piece->text, piece->length))) {
            const size_t at = (size_t)(found - text);
            ok = add_stretch(&finer, begin, at, TOKEN_NONE) && add_stretch(&finer, at, at + piece->length, token);
            begin = at + piece->length;
        }
        ok = ok && add_stretch(&finer, begin, old->end, old->token);
    }
    free(s->stretch);
    *s = finer;
    return ok;
}

/* Longest tokens first, each in all that is left: so the models' own tokenizers find them. */
static bool cut_specials(const struct tokenizer *t, const char *text, size_t length, bool control, struct stretches *s)
{
    bool ok = add_stretch(s, 0, length, TOKEN_NONE);
    for (size_t i = 0; ok && i < t->specials; i++) {
        const uint32_t token = t->special[i];
        const struct piece_view *const piece = &t->piece[token];
        if ((control || t->type[token] == TOKEN_USER) && memmem(text, length, piece->text, piece->length))
            ok = cut_out(s, text, piece, token);
    }
    return ok;
}

static bool encode_stretches(const struct tokenizer *t, const char *text, const struct stretches *s, struct token_list *tokens,
                             struct orch_error *error)
{
    bool first = true;
    for (size_t i = 0; i < s->count; i++) {
        const struct stretch *const stretch = &s->stretch[i];
        if (stretch->token != TOKEN_NONE
                ? !token_list_add(tokens, stretch->token, error)
                : !t->kind->encode(t, text + stretch->begin, stretch->end - stretch->begin, first, tokens, error))
            return false;
        first = stretch->token != TOKEN_NONE;
    }
    return true;
}

bool tokenizer_encode(const struct tokenizer *tokenizer, const char *text, size_t length, unsigned flags,
                      struct token_list *tokens, struct orch_error *error)
{
    struct stretches stretches = {0};
    const bool frame = flags & TOKENIZE_FRAME, begins = frame && tokenizer->add_begin && tokenizer->begin != TOKEN_NONE;
    size_t wrong = 0;
    if (!utf8_is_valid(text, length, &wrong))
        return orch_fail(error, ORCH_USAGE, "the text is not UTF-8 at byte %zu (0x%02x)", wrong, (unsigned char)text[wrong]);
    if (tokenizer->kind->encode_all)
        return tokenizer->kind->encode_all(tokenizer, text, length, flags, tokens, error);
    if (begins && !token_list_add(tokens, tokenizer->begin, error))
        return false;
    if (!cut_specials(tokenizer, text, length, flags & TOKENIZE_SPECIAL, &stretches)) {
        free(stretches.stretch);
        return orch_no_memory(error);
    }
    const bool ok = encode_stretches(tokenizer, text, &stretches, tokens, error);
    free(stretches.stretch);
    if (!ok || !frame)
        return ok;
    const uint32_t last = tokenizer->kind == &tokenizer_word_piece ? tokenizer->separator
                          : tokenizer->add_end                     ? tokenizer->end
                                                                   : TOKEN_NONE;
    return last == TOKEN_NONE || token_list_add(tokens, last, error);
}

/* ---- tokens as text ---- */

void token_stream_start(struct token_stream *stream, const struct tokenizer *tokenizer, bool from_start)
{
    *stream = (struct token_stream){.tokenizer = tokenizer, .drop_space = from_start && tokenizer->add_space};
}

/* Gives out whole characters; the beginning of one is kept, and what is none is replaced. */
static bool give_out(struct token_stream *s, const char *bytes, size_t length, struct token_text *text, struct orch_error *error)
{
    uint32_t code;
    for (size_t at = 0; at < length;) {
        const unsigned size = utf8_read(bytes + at, length - at, &code);
        if (size == 0 && utf8_is_beginning(bytes + at, length - at)) {
            s->held_count = (unsigned)(length - at);
            memmove(s->held, bytes + at, s->held_count);
            return true;
        }
        const bool drop = s->drop_space && !s->started && size == 1 && bytes[at] == ' ';
        s->started = true;
        if (!drop && !(size ? token_text_add(text, bytes + at, size, error) : token_text_add(text, "\xef\xbf\xbd", 3, error)))
            return false;
        at += size ? size : 1;
    }
    s->held_count = 0;
    return true;
}

bool token_stream_add(struct token_stream *stream, uint32_t token, struct token_text *text, struct orch_error *error)
{
    const struct tokenizer *const t = stream->tokenizer;
    struct token_text bytes = {0};
    if (token >= t->count)
        return orch_fail(error, ORCH_USAGE, "token %u: the vocabulary has %zu tokens", token, t->count);
    bool ok = token_text_add(&bytes, stream->held, stream->held_count, error);
    ok = ok && (t->type[token] == TOKEN_CONTROL || t->kind->decode(t, token, &bytes, error));
    ok = ok && give_out(stream, bytes.text, bytes.length, text, error);
    token_text_free(&bytes);
    return ok;
}

bool token_stream_end(struct token_stream *stream, struct token_text *text, struct orch_error *error)
{
    const bool held = stream->held_count != 0;
    stream->held_count = 0;
    return !held || token_text_add(text, "\xef\xbf\xbd", 3, error);
}

bool tokenizer_decode(const struct tokenizer *tokenizer, const uint32_t *tokens, size_t count, bool from_start,
                      struct token_text *text, struct orch_error *error)
{
    struct token_stream stream;
    token_stream_start(&stream, tokenizer, from_start);
    for (size_t i = 0; i < count; i++)
        if (!token_stream_add(&stream, tokens[i], text, error))
            return false;
    return token_stream_end(&stream, text, error);
}
