#define _GNU_SOURCE /* memmem */
#include "sim/language/text_steps_internal.h"

#include "isa/list_grow.h"
#include "sim/language/utf8.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STEPS_MAX = 256, PATTERN_MAX = 1 << 14 };

bool text_word_is(const struct text_step *step, unsigned word, const char *name)
{
    const struct piece_view *const w = &step->word[word];
    return w->length == strlen(name) && memcmp(w->text, name, w->length) == 0;
}

/* ---- opening ---- */

static bool open_pattern(struct text_step *step, struct orch_error *error)
{
    char text[PATTERN_MAX];
    const struct piece_view *const p = &step->word[1];
    const bool plain = text_word_is(step, 3, "text") || text_word_is(step, 3, "text invert");
    step->invert = text_word_is(step, 3, "expression invert") || text_word_is(step, 3, "text invert");
    if (!plain && !text_word_is(step, 3, "expression") && !step->invert)
        return orch_fail(error, ORCH_USAGE, "a pattern is a text or an expression");
    if (p->length >= sizeof text || p->length == 0 || memchr(p->text, 0, p->length) || !utf8_is_valid(p->text, p->length, NULL))
        return orch_fail(error, ORCH_USAGE, "a pattern of %zu bytes: expected UTF-8, 1 to %d", p->length, PATTERN_MAX - 1);
    if (plain)
        return true;
    memcpy(text, p->text, p->length);
    text[p->length] = 0;
    step->pattern = pattern_create(text, error);
    return step->pattern != NULL;
}

static bool open_step(struct text_step *step, const struct text_step_kind *kinds, struct orch_error *error)
{
    for (; kinds->name && !step->kind; kinds++)
        step->kind = text_word_is(step, 0, kinds->name) ? kinds : NULL;
    for (unsigned i = 0; i < TEXT_STEP_WORDS; i++)
        if (!utf8_is_valid(step->word[i].text, step->word[i].length, NULL))
            return orch_fail(error, ORCH_USAGE, "word %u is no UTF-8", i);
    if (!step->kind)
        return orch_fail(error, ORCH_UNMODELLED, "'%.*s' is not known", (int)step->word[0].length, step->word[0].text);
    return !step->kind->has_pattern || open_pattern(step, error);
}

static bool open_steps(const struct gguf *gguf, const char *key, const struct text_step_kind *kinds, struct text_step **steps,
                       size_t *count, struct orch_error *error)
{
    const struct gguf_value *const value = gguf_find(gguf, key);
    struct gguf_strings strings;
    if (!value)
        return true;
    if (!gguf_strings_of(value, &strings) || value->type != GGUF_ARRAY || value->count % TEXT_STEP_WORDS ||
        value->count / TEXT_STEP_WORDS > STEPS_MAX)
        return orch_fail(error, ORCH_USAGE, "%s: expected an array of strings, %d for each of up to %d steps", key,
                         TEXT_STEP_WORDS, STEPS_MAX);
    *count = (size_t)value->count / TEXT_STEP_WORDS;
    *steps = calloc(*count + 1, sizeof **steps);
    if (!*steps)
        return orch_no_memory(error);
    for (size_t i = 0; i < *count; i++) {
        struct text_step *const step = &(*steps)[i];
        for (unsigned k = 0; k < TEXT_STEP_WORDS; k++)
            gguf_next_string(&strings, &step->word[k].text, &step->word[k].length);
        if (!open_step(step, kinds, error))
            return orch_fail_in(error, "%s[%zu]", key, TEXT_STEP_WORDS * i);
    }
    return true;
}

struct text_steps *text_steps_create(const struct gguf *gguf, struct orch_error *error)
{
    struct text_steps *const s = calloc(1, sizeof *s);
    bool ok = s || orch_no_memory(error);
    ok = ok && open_steps(gguf, TEXT_STEPS_NORMALIZERS, text_normalisers, &s->normalise, &s->normalisers, error) &&
         open_steps(gguf, TEXT_STEPS_PRE_TOKENIZERS, text_splitters, &s->split, &s->splitters, error) &&
         charsmap_read(&s->charsmap, gguf_find(gguf, "tokenizer.ggml.precompiled_charsmap"), error);
    if (ok)
        return s;
    text_steps_free(s);
    return NULL;
}

void text_steps_free(struct text_steps *steps)
{
    if (!steps)
        return;
    for (size_t i = 0; steps->normalise && i < steps->normalisers; i++)
        pattern_free(steps->normalise[i].pattern);
    for (size_t i = 0; steps->split && i < steps->splitters; i++)
        pattern_free(steps->split[i].pattern);
    free(steps->normalise);
    free(steps->split);
    free(steps);
}

/* ---- patterns ---- */

static bool add_match(struct text_matches *to, size_t end, bool matched, struct orch_error *error)
{
    struct text_match *const grown = list_grow(to->match, to->count, &to->room, sizeof *grown);
    if (!grown)
        return orch_no_memory(error);
    to->match = grown;
    to->match[to->count++] = (struct text_match){end, matched};
    return true;
}

static bool find_text(const struct text_step *step, const char *text, size_t length, struct text_matches *to,
                      struct orch_error *error)
{
    const struct piece_view *const p = &step->word[1];
    size_t at = 0;
    for (const char *found; at < length && (found = memmem(text + at, length - at, p->text, p->length));) {
        const size_t from = (size_t)(found - text);
        if ((from > at && !add_match(to, from, step->invert, error)) || !add_match(to, from + p->length, !step->invert, error))
            return false;
        at = from + p->length;
    }
    return at == length || add_match(to, length, step->invert, error);
}

/* Characters with the byte at which each begins. */
struct characters {
    struct pattern_character *character;
    size_t *byte, count;
};

static bool read_characters(struct characters *c, const char *text, size_t length, struct orch_error *error)
{
    c->character = malloc((length + 1) * sizeof *c->character);
    c->byte = malloc((length + 1) * sizeof *c->byte);
    if (!c->character || !c->byte)
        return orch_no_memory(error);
    for (size_t at = 0, some; at < length; at += some) {
        uint32_t code = 0;
        some = utf8_read(text + at, length - at, &code);
        if (some == 0)
            return orch_fail(error, ORCH_USAGE, "a text that is being prepared is no UTF-8 at byte %zu", at);
        c->byte[c->count] = at;
        c->character[c->count++] = pattern_character(code);
    }
    c->byte[c->count] = length;
    return true;
}

static bool find_expression(const struct text_step *step, const struct characters *c, struct text_matches *to,
                            struct orch_error *error)
{
    size_t kept = 0; /* where what has not been matched begins */
    for (size_t at = 0; at < c->count;) {
        ptrdiff_t length;
        if (!pattern_match(step->pattern, c->character + at, c->count - at, &length, error))
            return false;
        if (length <= 0) {
            at++;
            continue;
        }
        if ((kept < at && !add_match(to, c->byte[at], step->invert, error)) ||
            !add_match(to, c->byte[at + (size_t)length], !step->invert, error))
            return false;
        kept = at += (size_t)length;
    }
    return kept == c->count || add_match(to, c->byte[c->count], step->invert, error);
}

bool text_matches_find(const struct text_step *step, const char *text, size_t length, struct text_matches *to,
                       struct orch_error *error)
{
    struct characters c = {0};
    to->count = 0;
    if (!step->pattern)
        return find_text(step, text, length, to, error);
    const bool ok = read_characters(&c, text, length, error) && find_expression(step, &c, to, error);
    free(c.character);
    free(c.byte);
    return ok;
}

/* ---- running ---- */

bool text_steps_normalise(const struct text_steps *steps, const char *text, size_t length, struct token_text *to,
                          struct orch_error *error)
{
    struct token_text from = {0};
    bool ok = token_text_add(&from, text, length, error);
    for (size_t i = 0; ok && i < steps->normalisers; i++) {
        struct token_text made = {0};
        const struct text_step *const step = &steps->normalise[i];
        ok = step->kind->normalise(steps, step, from.text, from.length, &made, error);
        token_text_free(&from);
        from = made;
    }
    ok = ok && token_text_add(to, from.text, from.length, error);
    token_text_free(&from);
    return ok;
}

static bool add_whole(struct text_words *words, const char *text, size_t length, bool begins, struct orch_error *error)
{
    words->word = malloc(sizeof *words->word);
    if (!words->word)
        return orch_no_memory(error);
    words->room = words->count = 1;
    words->word[0] = (struct text_word){length, begins};
    return token_text_add(&words->text, text, length, error);
}

bool text_steps_split(const struct text_steps *steps, const char *text, size_t length, bool begins, struct text_words *words,
                      struct orch_error *error)
{
    bool ok = length == 0 || add_whole(words, text, length, begins, error);
    for (size_t i = 0; ok && i < steps->splitters; i++) {
        struct text_words finer = {0};
        const struct text_step *const step = &steps->split[i];
        size_t at = 0;
        for (size_t k = 0; ok && k < words->count; at = words->word[k++].end)
            ok = step->kind->split(step, words->text.text + at, words->word[k].end - at, words->word[k].begins, &finer, error);
        text_words_free(words);
        *words = finer;
    }
    return ok;
}

void text_words_free(struct text_words *words)
{
    token_text_free(&words->text);
    free(words->word);
    *words = (struct text_words){0};
}
