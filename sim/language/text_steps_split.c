/* Steps that part a text into words. */
#include "sim/language/text_steps_internal.h"

#include "isa/list_grow.h"
#include "sim/language/utf8.h"

#include <stdlib.h>
#include <string.h>

/* Adds a word; one without characters is left out. */
static bool add_word(struct text_words *to, const char *text, size_t length, bool begins, struct orch_error *error)
{
    if (length == 0)
        return true;
    struct text_word *const grown = list_grow(to->word, to->count, &to->room, sizeof *grown);
    if (!grown)
        return orch_no_memory(error);
    to->word = grown;
    to->word[to->count++] = (struct text_word){to->text.length + length, begins};
    return token_text_add(&to->text, text, length, error);
}

/* Joins stretches as a behaviour says: *count of them are left, by their ends. "Removed" is seen to by the caller. */
static void join(const struct text_step *step, struct text_matches *m)
{
    const bool previous = text_word_is(step, 2, "merged_with_previous"), next = text_word_is(step, 2, "merged_with_next"),
               alike = text_word_is(step, 2, "contiguous");
    size_t to = 0;
    for (size_t i = 0; i < m->count; i++) {
        const struct text_match now = m->match[i];
        const bool first = i == 0, before = !first && m->match[to - 1].matched;
        /* With the previous: a match goes to what is before it, unless that is a match as well. With the next: what follows a
         * match goes to it, unless it is one. */
        const bool joins = !first && ((previous && now.matched && !before) || (next && before && !now.matched) ||
                                      (alike && now.matched == before));
        m->match[joins ? to - 1 : to] = now;
        to += !joins;
    }
    m->count = to;
}

static bool split(const struct text_step *step, const char *text, size_t length, bool begins, struct text_words *to,
                  struct orch_error *error)
{
    struct text_matches m = {0};
    const bool removed = text_word_is(step, 2, "removed");
    bool ok = text_matches_find(step, text, length, &m, error);
    if (ok)
        join(step, &m);
    for (size_t i = 0, at = 0; ok && i < m.count; at = m.match[i++].end)
        if (!(removed && m.match[i].matched))
            ok = add_word(to, text + at, m.match[i].end - at, begins && at == 0, error);
    free(m.match);
    return ok;
}

/* Spaces become the replacement, one is put in front, and words begin with it. */
static bool metaspace(const struct text_step *step, const char *text, size_t length, bool begins, struct text_words *to,
                      struct orch_error *error)
{
    const struct piece_view *const space = &step->word[1];
    struct token_text spaced = {0};
    const bool has = length >= space->length && memcmp(text, space->text, space->length) == 0;
    const bool parts =
        text_word_is(step, 2, "always split") || text_word_is(step, 2, "first split") || text_word_is(step, 2, "never split");
    const bool always = text_word_is(step, 2, "always") || text_word_is(step, 2, "always split"),
               at_first = text_word_is(step, 2, "first") || text_word_is(step, 2, "first split");
    bool ok = true;
    if ((always || (at_first && begins)) && !has && !(length && text[0] == ' '))
        ok = token_text_add(&spaced, space->text, space->length, error);
    for (size_t i = 0; ok && i < length; i++)
        ok = text[i] == ' ' ? token_text_add(&spaced, space->text, space->length, error)
                            : token_text_add(&spaced, text + i, 1, error);
    if (ok && parts) {
        const struct text_step by = {.word = {{"split", 5}, *space, {"merged_with_next", 16}, {"text", 4}}};
        ok = split(&by, spaced.text, spaced.length, begins, to, error);
    } else {
        ok = ok && add_word(to, spaced.text, spaced.length, begins, error);
    }
    token_text_free(&spaced);
    return ok;
}

static bool prefix_space(const struct text_step *step, const char *text, size_t length, bool begins, struct text_words *to,
                         struct orch_error *error)
{
    (void)step;
    if (length == 0 || text[0] == ' ')
        return add_word(to, text, length, begins, error);
    return token_text_add(&to->text, " ", 1, error) && add_word(to, text, length, begins, error);
}

static bool bytes(const struct text_step *step, const char *text, size_t length, bool begins, struct text_words *to,
                  struct orch_error *error)
{
    struct token_text made = {0};
    bool ok = true;
    (void)step;
    for (size_t i = 0; ok && i < length; i++) {
        char one[UTF8_MAX];
        ok = token_text_add(&made, one, utf8_write(byte_level_character((uint8_t)text[i]), one), error);
    }
    ok = ok && add_word(to, made.text, made.length, begins, error);
    token_text_free(&made);
    return ok;
}

const struct text_step_kind text_splitters[] = {
    {"split", true, NULL, split},
    {"metaspace", true, NULL, metaspace},
    {"prefix_space", false, NULL, prefix_space},
    {"bytes", false, NULL, bytes},
    {NULL, false, NULL, NULL},
};
