/* SentencePiece's unigram model, T5's: of all ways to cut a text into pieces the one whose scores sum to most. Before that the
 * text is normalised as the file says: characters are replaced by a table, runs of spaces become one.
 *
 * Sources: T. Kudo, "Subword Regularization" (2018), for the search; google/sentencepiece, doc/special_symbols.md and
 * unigram_model.cc, for what an unknown character counts; s-yata/darts-clone for the table's form.
 */
#include "sim/language/tokenizer_internal.h"
#include "sim/language/utf8.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* An unknown character counts so much less than the worst piece. */
#define UNKNOWN_PENALTY 10.0

static uint32_t word_at(const uint8_t *bytes)
{
    uint32_t word;
    memcpy(&word, bytes, sizeof word);
    return word;
}

static bool open_unigram(struct tokenizer *t, struct orch_error *error)
{
    const struct gguf_value *const map = gguf_find(t->gguf, "tokenizer.ggml.precompiled_charsmap");
    const struct gguf_value *const removes = gguf_find(t->gguf, "tokenizer.ggml.remove_extra_whitespaces");
    uint64_t number = 0;
    t->merge_spaces = !removes || !gguf_whole(removes, 0, &number) || number != 0;
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
    if (!map || map->size == 0)
        return true;
    if (map->type != GGUF_ARRAY || map->size != map->count || map->size < 4)
        return orch_fail(error, ORCH_USAGE, "tokenizer.ggml.precompiled_charsmap: expected bytes, four at least");
    const uint32_t units = word_at(map->bytes);
    if (units % 4 || units > map->size - 4 || map->bytes[map->size - 1] != 0)
        return orch_fail(error, ORCH_USAGE,
                         "tokenizer.ggml.precompiled_charsmap: a trie of %u bytes and texts that end with a zero do not make %zu",
                         units, map->size);
    t->trie = map->bytes + 4;
    t->trie_units = units / 4;
    t->replacement = (const char *)map->bytes + 4 + units;
    t->replacement_bytes = map->size - 4 - units;
    return true;
}

/* ---- normalising ---- */

/* A unit of the trie has an offset to its children's units, its own byte, and whether one of them has a value. */
static uint32_t unit_at(const struct tokenizer *t, uint32_t index)
{
    return index < t->trie_units ? word_at(t->trie + 4 * (size_t)index) : 0;
}

static uint32_t children_of(uint32_t unit)
{
    return (unit >> 10) << ((unit & 1u << 9) >> 6);
}

/* The longest beginning of a text that the table replaces, and by what; 0 = none. */
static size_t replaced(const struct tokenizer *t, const char *text, size_t length, const char **by)
{
    uint32_t node = children_of(unit_at(t, 0));
    size_t longest = 0;
    for (size_t i = 0; t->trie_units && i < length && text[i]; i++) {
        const uint8_t byte = (uint8_t)text[i];
        const uint32_t unit = unit_at(t, node ^ byte);
        if ((unit & (1u << 31 | 0xff)) != byte)
            break;
        node ^= byte ^ children_of(unit);
        const uint32_t value = unit_at(t, node) & 0x7fffffff;
        if (unit >> 8 & 1 && value < t->replacement_bytes) {
            longest = i + 1;
            *by = t->replacement + value;
        }
    }
    return longest;
}

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
        some = replaced(t, text + at, length - at, &by);
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
    uint32_t token;
    size_t from;
};

static void offer(struct way *way, double score, uint32_t token, size_t from)
{
    if (score > way->score)
        *way = (struct way){score, token, from};
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
        offer(&way[at + first], way[at].score + t->worst - UNKNOWN_PENALTY, t->unknown, at);
}

/* Ways lead back from the end. Characters that no piece has are one unknown token, as many as follow one another. */
static bool add_way(const struct tokenizer *t, const struct way *way, size_t length, struct token_list *tokens,
                    struct orch_error *error)
{
    const size_t before = tokens->count;
    bool ok = true;
    for (size_t at = length; ok && at; at = way[at].from) {
        const uint32_t token = way[at].token;
        const bool again = tokens->count > before && tokens->token[tokens->count - 1] == token;
        if (!(token == t->unknown && again))
            ok = token_list_add(tokens, token, error);
    }
    for (size_t i = before, k = tokens->count; ok && i + 1 < k; i++) {
        const uint32_t last = tokens->token[--k];
        tokens->token[k] = tokens->token[i];
        tokens->token[i] = last;
    }
    return ok;
}

static bool encode_unigram(const struct tokenizer *t, const char *text, size_t length, bool first, struct token_list *tokens,
                           struct orch_error *error)
{
    struct normal n = {.spaced = false};
    uint32_t code;
    (void)first;
    bool ok = normalise(t, text, length, &n, error);
    const size_t end = n.begun ? n.text.length : 0;
    struct way *const way = ok ? malloc((end + 1) * sizeof *way) : NULL;
    if (ok && !way)
        ok = orch_no_memory(error);
    for (size_t i = 0; ok && i <= end; i++)
        way[i] = (struct way){i ? -INFINITY : 0, TOKEN_NONE, 0};
    for (size_t at = 0, some; ok && at < end; at += some) {
        some = utf8_read(n.text.text + at, end - at, &code);
        if (some == 0)
            ok = orch_fail(error, ORCH_USAGE, "tokenizer.ggml.precompiled_charsmap: what replaces a character is no UTF-8");
        else
            go_on(t, n.text.text, end, at, way);
    }
    if (ok && t->unknown == TOKEN_NONE)
        for (size_t at = end; ok && at; at = way[at].from)
            ok = way[at].token != TOKEN_NONE || orch_fail(error, ORCH_USAGE, "the tokenizer has no token for '%.*s'",
                                                          (int)(at - way[at].from), n.text.text + way[at].from);
    ok = ok && add_way(t, way, end, tokens, error);
    free(way);
    token_text_free(&n.text);
    return ok;
}

static bool decode_unigram(const struct tokenizer *t, uint32_t token, struct token_text *text, struct orch_error *error)
{
    return token_text_add_spaced(text, t->piece[token].text, t->piece[token].length, error);
}

const struct tokenizer_kind tokenizer_unigram = {"t5", false, true, open_unigram, encode_unigram, decode_unigram};
