/* Tokenizers as a tokenizer.json describes them: tokens that were added are cut out of a text, what is left is normalised and
 * parted into words, and a model parts the words. Order and meaning: huggingface/tokenizers, src/tokenizer/mod.rs and
 * added_vocabulary.rs. */
#include "sim/language/tokenizer_plan.h"

#include "sim/language/pattern.h"
#include "sim/language/unicode.h"
#include "sim/language/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define KEY(name) "orchard.tokenizer." name

enum { AROUND_MAX = 64 };

/* ---- opening ---- */

static bool read_around(const struct tokenizer *t, const char *key, uint32_t **token, size_t *count, struct orch_error *error)
{
    const struct gguf_value *const value = gguf_find(t->gguf, key);
    uint64_t number;
    if (!value)
        return true;
    if (value->type != GGUF_ARRAY || value->count > AROUND_MAX)
        return orch_fail(error, ORCH_USAGE, "%s: expected up to %d tokens", key, AROUND_MAX);
    *token = malloc((AROUND_MAX + 1) * sizeof **token);
    if (!*token)
        return orch_no_memory(error);
    for (*count = 0; *count < value->count; (*count)++) {
        if (!gguf_whole(value, *count, &number) || number >= t->count)
            return orch_fail(error, ORCH_USAGE, "%s[%zu]: expected a number below %zu, of a token", key, *count, t->count);
        (*token)[*count] = (uint32_t)number;
    }
    return true;
}

static bool read_flags(const struct tokenizer *t, struct orch_error *error)
{
    const struct gguf_value *const value = gguf_find(t->gguf, KEY("added"));
    struct token_plan *const plan = t->plan;
    plan->added = calloc(t->count + 1, 1);
    if (!plan->added)
        return orch_no_memory(error);
    if (value && (value->type != GGUF_ARRAY || value->count != t->count))
        return orch_fail(error, ORCH_USAGE, KEY("added") ": expected one number for each of %zu tokens", t->count);
    for (size_t i = 0; value && i < t->count; i++) {
        uint64_t number;
        if (!gguf_whole(value, i, &number) || number > 15)
            return orch_fail(error, ORCH_USAGE, KEY("added") "[%zu]: expected a number up to 15", i);
        plan->added[i] = (uint8_t)number;
    }
    return true;
}

static void read_view(const struct tokenizer *t, const char *key, struct piece_view *view)
{
    const struct gguf_value *const value = gguf_find(t->gguf, key);
    if (value && value->type == GGUF_STRING)
        *view = (struct piece_view){(const char *)value->bytes, value->size};
}

static uint64_t number_or(const struct tokenizer *t, const char *key, uint64_t absent)
{
    const struct gguf_value *const value = gguf_find(t->gguf, key);
    uint64_t number;
    return value && gguf_whole(value, 0, &number) ? number : absent;
}

static bool read_names(struct tokenizer *t, struct orch_error *error)
{
    char model[32], decoder[32];
    gguf_text(gguf_find(t->gguf, KEY("model")), model, sizeof model);
    gguf_text(gguf_find(t->gguf, KEY("decoder")), decoder, sizeof decoder);
    t->plan->model = word_model_named(model);
    t->plan->decoder = word_decoder_named(decoder);
    if (!t->plan->model)
        return orch_fail(error, ORCH_UNMODELLED, KEY("model") " '%s' is not known", model);
    if (!t->plan->decoder)
        return orch_fail(error, ORCH_UNMODELLED, KEY("decoder") " '%s' is not known", decoder);
    t->add_space = t->add_space && t->plan->decoder->leads;
    return strcmp(model, "unigram") != 0 || unigram_open(t, error);
}

/* Tokens that are looked for in normalised texts are normalised themselves. */
static bool normalise_tokens(const struct tokenizer *t, struct orch_error *error)
{
    struct token_plan *const plan = t->plan;
    struct token_text all = {0};
    bool ok = true;
    plan->normal = calloc(t->count + 1, sizeof *plan->normal);
    if (!plan->normal)
        return orch_no_memory(error);
    for (size_t i = 0; ok && i < t->specials; i++) {
        const uint32_t token = t->special[i];
        const size_t from = all.length;
        if (plan->added[token] & ADDED_NORMAL)
            ok = text_steps_normalise(plan->steps, t->piece[token].text, t->piece[token].length, &all, error);
        plan->normal[token].length = all.length - from;
    }
    plan->normal_text = all.text;
    for (size_t i = 0, at = 0; ok && i < t->specials; at += plan->normal[t->special[i++]].length)
        plan->normal[t->special[i]].text = all.text + at;
    return ok;
}

static bool open_plan(struct tokenizer *t, struct orch_error *error)
{
    struct token_plan *const plan = t->plan = calloc(1, sizeof *plan);
    if (!plan)
        return orch_no_memory(error);
    plan->word_max = (uint32_t)number_or(t, KEY("word_max"), UINT32_MAX);
    plan->fuse_unknown = number_or(t, KEY("fuse_unknown"), 0) != 0;
    plan->whole_words = number_or(t, KEY("whole_words"), 0) != 0;
    t->byte_fallback = number_or(t, KEY("byte_fallback"), 0) != 0;
    read_view(t, KEY("prefix"), &plan->prefix);
    read_view(t, KEY("suffix"), &plan->suffix);
    find_byte_tokens(t);
    plan->steps = text_steps_create(t->gguf, error);
    return plan->steps && read_names(t, error) && read_flags(t, error) && normalise_tokens(t, error) &&
           read_around(t, KEY("before"), &plan->before, &plan->befores, error) &&
           read_around(t, KEY("after"), &plan->after, &plan->afters, error) &&
           piece_index_create(&t->merge_index, t->merge, t->merges, error);
}

static void close_plan(struct tokenizer *t)
{
    struct token_plan *const plan = t->plan;
    if (!plan)
        return;
    text_steps_free(plan->steps);
    free(plan->added);
    free(plan->normal);
    free(plan->normal_text);
    free(plan->before);
    free(plan->after);
    free(plan);
}

/* ---- tokens in a text ---- */

/* Whether a character of a word begins, or ends, at a place. */
static bool is_word_at(const char *text, size_t length, size_t at, bool before)
{
    uint32_t code = 0;
    if (before) {
        if (at == 0)
            return false;
        for (at--; at && ((uint8_t)text[at] & 0xc0) == 0x80;)
            at--;
    }
    if (at >= length || !utf8_read(text + at, length - at, &code))
        return false;
    const enum unicode_category c = unicode_category(code);
    return c >= UNICODE_LU && c <= UNICODE_PC;
}

static bool is_space_at(const char *text, size_t length, size_t at)
{
    uint32_t code = 0;
    return at < length && utf8_read(text + at, length - at, &code) && unicode_is_space(code);
}

/* A token that was found, with the spaces that it takes along. */
struct found {
    size_t begin, end;
    uint32_t token; /* TOKEN_NONE = there is none */
};

static bool may_be(const struct tokenizer *t, uint32_t token, bool normal, bool control)
{
    const bool wanted = control || t->type[token] == TOKEN_USER;
    return wanted && normal == ((t->plan->added[token] & ADDED_NORMAL) != 0);
}

/* Spaces on both sides, as far as `from` and the end. */
static void take_spaces(const struct token_plan *plan, const char *text, size_t length, size_t from, struct found *f)
{
    if (plan->added[f->token] & ADDED_LEFT)
        for (size_t at = f->begin; at > from; f->begin = at) {
            for (at--; at > from && ((uint8_t)text[at] & 0xc0) == 0x80;)
                at--;
            if (!is_space_at(text, length, at))
                break;
        }
    while (plan->added[f->token] & ADDED_RIGHT && is_space_at(text, length, f->end))
        for (f->end++; f->end < length && ((uint8_t)text[f->end] & 0xc0) == 0x80;)
            f->end++;
}

/* The first token in a text from a place on; of those that begin there the longest. */
static struct found find_token(const struct tokenizer *t, const char *text, size_t length, size_t from, bool normal, bool control)
{
    const struct token_plan *const plan = t->plan;
    for (size_t at = from; at < length; at++)
        for (size_t i = 0; i < t->specials; i++) {
            const uint32_t token = t->special[i];
            const struct piece_view *const piece = normal ? &plan->normal[token] : &t->piece[token];
            const size_t end = at + piece->length;
            if (piece->length == 0 || text[at] != piece->text[0] || end > length || !may_be(t, token, normal, control) ||
                memcmp(text + at, piece->text, piece->length) != 0)
                continue;
            if (plan->added[token] & ADDED_WORD && (is_word_at(text, length, at, true) || is_word_at(text, length, end, false)))
                continue;
            struct found f = {at, end, token};
            take_spaces(plan, text, length, from, &f);
            return f;
        }
    return (struct found){length, length, TOKEN_NONE};
}

static bool encode_words(const struct tokenizer *t, const char *text, size_t length, bool begins, struct token_list *tokens,
                         struct orch_error *error)
{
    struct text_words words = {0};
    bool ok = text_steps_split(t->plan->steps, text, length, begins, &words, error);
    for (size_t i = 0, at = 0; ok && i < words.count; at = words.word[i++].end)
        ok = t->plan->model->encode(t, words.text.text + at, words.word[i].end - at, tokens, error);
    text_words_free(&words);
    return ok;
}

/* A stretch without tokens that are found before a text is normalised. */
static bool encode_stretch(const struct tokenizer *t, const char *text, size_t length, bool begins, bool control,
                           struct token_list *tokens, struct orch_error *error)
{
    struct token_text normal = {0};
    bool ok = text_steps_normalise(t->plan->steps, text, length, &normal, error);
    for (size_t at = 0; ok && at < normal.length;) {
        const struct found f = find_token(t, normal.text, normal.length, at, true, control);
        ok = encode_words(t, normal.text + at, f.begin - at, begins && at == 0, tokens, error) &&
             (f.token == TOKEN_NONE || token_list_add(tokens, f.token, error));
        at = f.end;
    }
    token_text_free(&normal);
    return ok;
}

static bool add_around(const uint32_t *token, size_t count, bool frame, struct token_list *tokens, struct orch_error *error)
{
    for (size_t i = 0; frame && i < count; i++)
        if (!token_list_add(tokens, token[i], error))
            return false;
    return true;
}

static bool encode_all(const struct tokenizer *t, const char *text, size_t length, unsigned flags, struct token_list *tokens,
                       struct orch_error *error)
{
    const struct token_plan *const plan = t->plan;
    const bool frame = flags & TOKENIZE_FRAME, control = flags & TOKENIZE_SPECIAL;
    bool ok = add_around(plan->before, plan->befores, frame, tokens, error);
    for (size_t at = 0; ok && at < length;) {
        const struct found f = find_token(t, text, length, at, false, control);
        ok = (f.begin == at || encode_stretch(t, text + at, f.begin - at, at == 0, control, tokens, error)) &&
             (f.token == TOKEN_NONE || token_list_add(tokens, f.token, error));
        at = f.end;
    }
    return ok && add_around(plan->after, plan->afters, frame, tokens, error);
}

static bool encode_part(const struct tokenizer *t, const char *text, size_t length, bool first, struct token_list *tokens,
                        struct orch_error *error)
{
    return encode_stretch(t, text, length, first, false, tokens, error);
}

static bool decode_token(const struct tokenizer *t, uint32_t token, struct token_text *text, struct orch_error *error)
{
    return t->plan->decoder->decode(t, token, text, error);
}

const struct tokenizer_kind tokenizer_planned = {"steps",     false,        true,       open_plan,
                                                 encode_part, decode_token, encode_all, close_plan};
