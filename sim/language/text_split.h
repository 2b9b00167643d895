/* How families of models split a text before byte-level BPE: names as in the key tokenizer.ggml.pre. */
#ifndef ORCHARD_SIM_LANGUAGE_TEXT_SPLIT_H
#define ORCHARD_SIM_LANGUAGE_TEXT_SPLIT_H

#include "sim/base/error.h"

#include <stddef.h>
#include <stdint.h>

enum { SPLIT_EXPRESSIONS_MAX = 6 };

struct split_family {
    const char *names; /* separated by spaces */
    bool whole_words;  /* a piece that is a token is taken as it is, without merging */
    bool begins;       /* a text begins with the token for that unless the file says otherwise */
    /* Each splits the pieces that the one before left; what it does not match stays a piece of its own. */
    const char *expression[SPLIT_EXPRESSIONS_MAX];
};

/* NULL past the last, or when no family has that name. */
const struct split_family *split_family_at(size_t index);
const struct split_family *split_family_named(const char *name);

struct splitter;

struct splitter *splitter_create(const struct split_family *family, struct orch_error *error);
void splitter_free(struct splitter *splitter);

/* Splits a text in UTF-8. *ends, from malloc, has the byte behind each piece; *count says how many there are. */
bool splitter_run(const struct splitter *splitter, const char *text, size_t length, size_t **ends, size_t *count,
                  struct orch_error *error);

#endif
