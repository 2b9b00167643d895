/* SentencePiece's unigram model, T5's: of all ways to cut a text into pieces the one whose scores sum to most. Before that the
 * text is normalised as the file says: characters are replaced by a table, runs of spaces become one.
 *
 * Sources: T. Kudo, "Subword Regularization" (2018), for the search; google/sentencepiece, doc/special_symbols.md and
 * unigram_model.cc, for what an unknown character counts.
 */
#include "sim/language/tokenizer_internal.h"
#include "sim/language/utf8.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An unknown character counts so much less than the worst piece. */
#define UNKNOWN_PENALTY 10.0

bool unigram_open(struct tokenizer *t, struct orch_error *error)
{
    if (!t->score)
        return orch_fail(error, ORCH_USAGE, "tokenizer.ggml.scores is missing; texts are cut by the scores of pieces");
    t->worst = INFINITY;
    for (size_t i = 0; i < t->count; i++) {
        if (!isfinite(t->score[i]))
            return orch_fail(error, ORCH_USAGE, "tokenizer.ggml.scores[%zu]: expected a finite number", i);
        if (t->type[i] == TOKEN_NORMAL)
            t->worst = fmin(t->worst, (double)t->score[i]);
    }
    t->worst = isfinite(t->worst) ? t->worst : 0; /* there is no piece at all */
    return true;
}

static bool open_unigram(struct tokenizer *t, struct orch_error *error)
{
    const struct gguf_value *const map = gguf_find(t->gguf, "tokenizer.ggml.precompiled_charsmap");
    const struct gguf_value *const removes = gguf_find(t->gguf, "tokenizer.ggml.remove_extra_whitespaces");
    uint64_t number = 0;
    t->merge_spaces = !removes || !gguf_whole(removes, 0, &number) || number != 0;
    return unigram_open(t, error) && charsmap_read(&t->charsmap, map, error);
}

/* ---- normalising ---- */

struct normal {
    struct token_text text;
    bool spaced; /* a space is due before the next character, or has just been put */
    bool begun;
};

/* Runs of spaces become one, and none stands at an end. */
static bool put(const struct tokenizer *t, struct normal *n, const char *bytes, size_t length, struct orch_error *error)
{
    bool ok = true;
    for (size_t i = 0; ok && i < length; i++) {
        if (bytes[i] == ' ' && t->merge_spaces) {
            n->spaced = true;
            continue;
        }
        if (n->spaced && n->begun)
            ok = token_text_add(&n->text, TOKEN_SPACE, sizeof TOKEN_SPACE - 1, error);
        n->spaced = false;
        n->begun = true;
        ok = ok && (bytes[i] == ' ' ? token_text_add(&n->text, TOKEN_SPACE, sizeof TOKEN_SPACE - 1, error)
                                    : token_text_add(&n->text, bytes + i, 1, error));
    }
    return ok;
}

static bool normalise(const struct tokenizer *t, const char *text, size_t length, struct normal *n, struct orch_error *error)
{
    bool ok = !t->add_space || token_text_add(&n->text, TOKEN_SPACE, sizeof TOKEN_SPACE - 1, error);
    for (size_t at = 0, some; ok && at < length; at += some) {
        const char *by = NULL;
        uint32_t code;
        some = charsmap_find(&t->charsmap, text + at, length - at, &by);
        if (some) {
            ok = put(t, n, by, strlen(by), error);
        } else {
            some = utf8_read(text + at, length - at, &code);
            ok = put(t, n, text + at, some, error);
        }
    }
    return ok;
}

/* ---- cutting ---- */

/* The best way to a place of the text: its score, and the token that ends there. */
struct way {
    double score;
    uint32_t token; /* TOKEN_NONE = a character that no piece has */
    size_t from;    /* where its piece begins */
    size_t next;    /* where the piece ends that begins here */
};

static void offer(struct way *way, double score, uint32_t token, size_t from)
{
    if (score > way->score)
        *way = (struct way){score, token, from, 0};
}

static void go_on(const struct tokenizer *t, const char *text, size_t length, size_t at, struct way *way)
{
    uint32_t code;
    bool alone = false;
    const unsigned first = utf8_read(text + at, length - at, &code);
    for (size_t n = 1; n <= t->longest && at + n <= length; n++) {
        const uint32_t token = piece_find(&t->tokens, text + at, n);
        if (token == TOKEN_NONE || (t->type[token] != TOKEN_NORMAL && t->type[token] != TOKEN_USER))
            continue;
        alone |= n == first;
        offer(&way[at + n], way[at].score + (t->type[token] == TOKEN_USER ? 0 : (double)t->score[token]), token, at);
    }
    if (!alone)
        offer(&way[at + first], way[at].score + t->worst - UNKNOWN_PENALTY, TOKEN_NONE, at);
}

/* Characters that no piece has, from `at` to `end`: their bytes where all of these are tokens, else one unknown token. */
static bool add_unknown(const struct tokenizer *t, const char *text, size_t at, size_t end, struct token_list *tokens,
                        struct orch_error *error)
{
    bool bytes = t->byte_fallback;
    for (size_t i = at; bytes && i < end; i++)
        bytes = t->byte_token[(uint8_t)text[i]] != TOKEN_NONE;
    for (size_t i = at; bytes && i < end; i++)
        if (!token_list_add(tokens, t->byte_token[(uint8_t)text[i]], error))
            return false;
    if (bytes)
        return true;
    if (t->unknown == TOKEN_NONE)
        return orch_fail(error, ORCH_USAGE, "the tokenizer has no token for '%.*s'", (int)(end - at), text + at);
    return token_list_add(tokens, t->unknown, error);
}

/* Ways lead back from the end; here each place learns where the piece that begins there ends. Unknown characters that follow one
 * another are one. */
static bool add_ways(const struct tokenizer *t, const char *text, struct way *way, size_t length, struct token_list *tokens,
                     struct orch_error *error)
{
    bool ok = true;
    for (size_t at = length; at; at = way[at].from)
        way[way[at].from].next = at;
    for (size_t at = 0, next; ok && at < length; at = next) {
        next = way[at].next;
        if (way[next].token != TOKEN_NONE) {
            ok = token_list_add(tokens, way[next].token, error);
            continue;
        }
        while (next < length && way[way[next].next].token == TOKEN_NONE)
            next = way[next].next;
        ok = add_unknown(t, text, at, next, tokens, error);
    }
    return ok;
}

bool unigram_cut(const struct tokenizer *t, const char *text, size_t length, struct token_list *tokens, struct orch_error *error)
{
    struct way *const way = malloc((length + 1) * sizeof *way);
    uint32_t code;
    bool ok = way || orch_no_memory(error);
    for (size_t i = 0; ok && i <= length; i++)
        way[i] = (struct way){i ? -INFINITY : 0, TOKEN_NONE, 0, 0};
    for (size_t at = 0, some; ok && at < length; at += some) {
        some = utf8_read(text + at, length - at, &code);
        if (some == 0)
            ok = orch_fail(error, ORCH_USAGE, "tokenizer.ggml.precompiled_charsmap: what replaces a character is no UTF-8");
        else
            go_on(t, text, length, at, way);
    }
    ok = ok && add_ways(t, text, way, length, tokens, error);
    free(way);
    return ok;
}

static bool encode_unigram(const struct tokenizer *t, const char *text, size_t length, bool first, struct token_list *tokens,
                           struct orch_error *error)
{
    struct normal n = {.spaced = false};
    (void)first;
    const bool ok =
        normalise(t, text, length, &n, error) && unigram_cut(t, n.text.text, n.begun ? n.text.length : 0, tokens, error);
    token_text_free(&n.text);
    return ok;
}

static bool decode_unigram(const struct tokenizer *t, uint32_t token, struct token_text *text, struct orch_error *error)
{
    return token_text_add_spaced(text, t->piece[token].text, t->piece[token].length, error);
}

const struct tokenizer_kind tokenizer_unigram = {"t5", false, true, open_unigram, encode_unigram, decode_unigram, NULL, NULL};
