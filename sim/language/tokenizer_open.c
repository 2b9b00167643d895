/* Reads the vocabulary from the metadata. Keys: ggml, docs/gguf.md, section "Tokenizer". */
#include "sim/language/tokenizer_internal.h"

#include "isa/array_count.h"
#include "sim/language/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { TOKENS_MAX = 1 << 24 };

static const struct tokenizer_kind *const kinds[] = {&tokenizer_sentence, &tokenizer_byte_level, &tokenizer_word_piece,
                                                     &tokenizer_unigram, &tokenizer_planned};

static const struct gguf_value *find(const struct tokenizer *t, const char *name)
{
    char key[96];
    snprintf(key, sizeof key, "tokenizer.ggml.%s", name);
    return gguf_find(t->gguf, key);
}

/* An array of strings as views into the file. */
static bool read_views(const struct tokenizer *t, const char *name, struct piece_view **view, size_t *count,
                       struct orch_error *error)
{
    const struct gguf_value *const value = find(t, name);
    struct gguf_strings strings;
    if (!value)
        return orch_fail(error, ORCH_USAGE, "tokenizer.ggml.%s is missing; the file holds no complete tokenizer", name);
    if (value->type != GGUF_ARRAY || !gguf_strings_of(value, &strings) || value->count == 0 || value->count > TOKENS_MAX)
        return orch_fail(error, ORCH_USAGE, "tokenizer.ggml.%s: expected an array of 1 to %d strings", name, TOKENS_MAX);
    struct piece_view *const views = malloc((size_t)value->count * sizeof *views);
    if (!views)
        return orch_no_memory(error);
    *view = views;
    *count = (size_t)value->count;
    for (size_t i = 0; gguf_next_string(&strings, &views[i].text, &views[i].length);)
        i++;
    return true;
}

static bool read_types(struct tokenizer *t, struct orch_error *error)
{
    const struct gguf_value *const value = find(t, "token_type");
    t->type = malloc(t->count);
    if (!t->type)
        return orch_no_memory(error);
    memset(t->type, TOKEN_NORMAL, t->count);
    if (value && (value->type != GGUF_ARRAY || value->count != t->count))
        return orch_fail(error, ORCH_USAGE, "tokenizer.ggml.token_type: expected one number for each of %zu tokens", t->count);
    for (size_t i = 0; value && i < t->count; i++) {
        uint64_t type;
        if (!gguf_whole(value, i, &type) || type > TOKEN_BYTE)
            return orch_fail(error, ORCH_USAGE, "tokenizer.ggml.token_type[%zu]: expected a number from 1 to %d", i, TOKEN_BYTE);
        t->type[i] = type ? (uint8_t)type : TOKEN_NORMAL;
    }
    return true;
}

static bool read_scores(struct tokenizer *t, struct orch_error *error)
{
    const struct gguf_value *const value = find(t, "scores");
    double score;
    if (!value)
        return true;
    if (value->type != GGUF_ARRAY || value->count != t->count || !gguf_number(value, 0, &score))
        return orch_fail(error, ORCH_USAGE, "tokenizer.ggml.scores: expected one number for each of %zu tokens", t->count);
    t->score = malloc(t->count * sizeof *t->score);
    if (!t->score)
        return orch_no_memory(error);
    for (size_t i = 0; i < t->count && gguf_number(value, i, &score); i++)
        t->score[i] = (float)score;
    return true;
}

static bool read_token(const struct tokenizer *t, const char *name, uint32_t *token, struct orch_error *error)
{
    const struct gguf_value *const value = find(t, name);
    uint64_t number;
    if (!value)
        return true;
    /* Some converters write -1, which is 2^32 - 1 here, for "none". */
    if (gguf_whole(value, 0, &number) && number == TOKEN_NONE)
        return true;
    if (!gguf_whole(value, 0, &number) || number >= t->count)
        return orch_fail(error, ORCH_USAGE, "tokenizer.ggml.%s: expected a number below %zu, of a token", name, t->count);
    *token = (uint32_t)number;
    return true;
}

static bool read_switch(const struct tokenizer *t, const char *name, bool *on, struct orch_error *error)
{
    const struct gguf_value *const value = find(t, name);
    uint64_t number;
    if (!value)
        return true;
    if (value->type != GGUF_BOOL || !gguf_whole(value, 0, &number))
        return orch_fail(error, ORCH_USAGE, "tokenizer.ggml.%s: expected a boolean", name);
    *on = number != 0;
    return true;
}

static bool read_meanings(struct tokenizer *t, struct orch_error *error)
{
    const struct {
        const char *name;
        uint32_t *token;
    } tokens[] = {
        {"bos_token_id", &t->begin},           {"eos_token_id", &t->end},
        {"eot_token_id", &t->end_of_turn},     {"unknown_token_id", &t->unknown},
        {"seperator_token_id", &t->separator}, /* spelled so in files */
        {"separator_token_id", &t->separator}, {"cls_token_id", &t->classify},
    };
    t->begin = t->end = t->end_of_turn = t->unknown = t->separator = t->classify = TOKEN_NONE;
    t->add_begin = t->kind->add_begin;
    t->add_space = t->kind->add_space;
    for (size_t i = 0; i < ARRAY_COUNT(tokens); i++)
        if (!read_token(t, tokens[i].name, tokens[i].token, error))
            return false;
    return read_switch(t, "add_bos_token", &t->add_begin, error) && read_switch(t, "add_eos_token", &t->add_end, error) &&
           read_switch(t, "add_space_prefix", &t->add_space, error);
}

/* For qsort, which passes no context: lengths beside the numbers. */
struct special {
    size_t length;
    uint32_t token;
};

static int longest_first(const void *a, const void *b)
{
    const struct special *const x = a, *const y = b;
    if (x->length != y->length)
        return x->length > y->length ? -1 : 1;
    return x->token < y->token ? -1 : x->token > y->token;
}

/* What is no UTF-8 by itself would be found within characters. */
static bool is_special(const struct tokenizer *t, size_t token)
{
    const uint8_t type = t->type[token];
    return t->piece[token].length && utf8_is_valid(t->piece[token].text, t->piece[token].length, NULL) &&
           (type == TOKEN_USER || type == TOKEN_CONTROL || type == TOKEN_UNKNOWN);
}

static bool list_specials(struct tokenizer *t, struct orch_error *error)
{
    size_t count = 0;
    for (size_t i = 0; i < t->count; i++)
        count += is_special(t, i);
    struct special *const sorted = malloc((count + 1) * sizeof *sorted);
    t->special = malloc((count + 1) * sizeof *t->special);
    if (!sorted || !t->special) {
        free(sorted);
        return orch_no_memory(error);
    }
    for (size_t i = 0; i < t->count; i++)
        if (is_special(t, i))
            sorted[t->specials++] = (struct special){t->piece[i].length, (uint32_t)i};
    qsort(sorted, count, sizeof *sorted, longest_first);
    for (size_t i = 0; i < count; i++)
        t->special[i] = sorted[i].token;
    free(sorted);
    return true;
}

static bool find_kind(struct tokenizer *t, struct orch_error *error)
{
    char name[64];
    const struct gguf_value *const value = find(t, "model");
    gguf_text(value, name, sizeof name);
    for (size_t i = 0; i < ARRAY_COUNT(kinds); i++)
        if (strcmp(kinds[i]->name, name) == 0)
            t->kind = kinds[i];
    if (!value)
        return orch_fail(error, ORCH_USAGE, "tokenizer.ggml.model is missing; the file holds no tokenizer");
    return t->kind ||
           orch_fail(error, ORCH_UNMODELLED, "tokenizer.ggml.model '%.40s' is not known (llama, gpt2, bert and t5 are)", name);
}

static bool read_all(struct tokenizer *t, struct orch_error *error)
{
    if (!find_kind(t, error) || !read_views(t, "tokens", &t->piece, &t->count, error) || !read_types(t, error) ||
        !read_scores(t, error) || !read_meanings(t, error) || !piece_index_create(&t->tokens, t->piece, t->count, error) ||
        !list_specials(t, error))
        return false;
    for (size_t i = 0; i < t->count; i++)
        t->longest = t->piece[i].length > t->longest ? t->piece[i].length : t->longest;
    const bool merges = t->kind == &tokenizer_byte_level || (t->kind == &tokenizer_planned && find(t, "merges"));
    if (merges && !read_views(t, "merges", &t->merge, &t->merges, error))
        return false;
    return t->kind->open(t, error);
}

struct tokenizer *tokenizer_create(const struct gguf *gguf, struct orch_error *error)
{
    struct tokenizer *const t = calloc(1, sizeof *t);
    if (!t) {
        orch_no_memory(error);
        return NULL;
    }
    t->gguf = gguf;
    if (read_all(t, error))
        return t;
    orch_fail_in(error, "%.300s", gguf_name(gguf));
    tokenizer_free(t);
    return NULL;
}

void tokenizer_free(struct tokenizer *tokenizer)
{
    if (!tokenizer)
        return;
    if (tokenizer->kind && tokenizer->kind->close)
        tokenizer->kind->close(tokenizer);
    splitter_free(tokenizer->splitter);
    piece_index_free(&tokenizer->merge_index);
    piece_index_free(&tokenizer->tokens);
    free(tokenizer->merge);
    free(tokenizer->special);
    free(tokenizer->score);
    free(tokenizer->type);
    free(tokenizer->piece);
    free(tokenizer);
}

/* ---- what is in it ---- */

const char *tokenizer_kind(const struct tokenizer *tokenizer)
{
    return tokenizer->kind->name;
}

size_t tokenizer_count(const struct tokenizer *tokenizer)
{
    return tokenizer->count;
}

const char *tokenizer_piece(const struct tokenizer *tokenizer, uint32_t token, size_t *length)
{
    *length = tokenizer->piece[token].length;
    return tokenizer->piece[token].text;
}

enum token_type tokenizer_type(const struct tokenizer *tokenizer, uint32_t token)
{
    return (enum token_type)tokenizer->type[token];
}

uint32_t tokenizer_begin(const struct tokenizer *tokenizer)
{
    return tokenizer->begin;
}

bool tokenizer_ends(const struct tokenizer *tokenizer, uint32_t token)
{
    return token == tokenizer->end || token == tokenizer->end_of_turn || token == tokenizer->begin;
}
