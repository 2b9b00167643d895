/* Steps as they are kept, and what finds their patterns in a text. */
#ifndef ORCHARD_SIM_LANGUAGE_TEXT_STEPS_INTERNAL_H
#define ORCHARD_SIM_LANGUAGE_TEXT_STEPS_INTERNAL_H

#include "sim/language/pattern.h"
#include "sim/language/text_steps.h"
#include "sim/language/tokenizer_internal.h"

struct text_step {
    const struct text_step_kind *kind;
    struct piece_view word[TEXT_STEP_WORDS];
    struct pattern *pattern; /* of an expression; NULL = word[1] is found as it is */
    bool invert;
};

/* Of both kinds of steps one function is there. */
struct text_step_kind {
    const char *name;
    bool has_pattern;
    bool (*normalise)(const struct text_steps *s, const struct text_step *step, const char *text, size_t length,
                      struct token_text *to, struct orch_error *error);
    bool (*split)(const struct text_step *step, const char *text, size_t length, bool begins, struct text_words *to,
                  struct orch_error *error);
};
extern const struct text_step_kind text_normalisers[], text_splitters[]; /* up to one without a name */

struct text_steps {
    struct text_step *normalise, *split;
    size_t normalisers, splitters;
    struct charsmap charsmap;
};

/* Stretches of a text that a pattern matches, and those between them, one behind another. */
struct text_matches {
    struct text_match {
        size_t end;
        bool matched;
    } * match;
    size_t count, room;
};
bool text_matches_find(const struct text_step *step, const char *text, size_t length, struct text_matches *to,
                       struct orch_error *error);

bool text_word_is(const struct text_step *step, unsigned word, const char *name);

#endif
