/* "Did you mean": finds the name that is nearest to a mistyped word. Offer every candidate, then ask for the text. */
#ifndef ORCHARD_ISA_ISA_SUGGEST_H
#define ORCHARD_ISA_ISA_SUGGEST_H

#include <stddef.h>

struct isa_suggest {
    const char *word;    /* what was typed */
    const char *nearest; /* best candidate so far, NULL before a near one was offered */
    unsigned distance;   /* its edit distance */
};

/* `word` must stay valid. Candidates that are more than two edits away are never suggested. */
void isa_suggest_start(struct isa_suggest *suggest, const char *word);
void isa_suggest_offer(struct isa_suggest *suggest, const char *candidate);
/* Writes "; did you mean NAME?" or an empty string. */
void isa_suggest_text(const struct isa_suggest *suggest, char *text, size_t size);

#endif
