/* "Did you mean": finds the nearest of a set of words by edit distance, or the one that others have the word for (synonyms.h). */
#ifndef ORCHARD_SIM_BASE_SUGGEST_H
#define ORCHARD_SIM_BASE_SUGGEST_H

#include <stdbool.h>
#include <stddef.h>

enum { SUGGEST_LETTERS = 63 }; /* names are not longer; what is longer is no misspelling of one */

/* The Damerau-Levenshtein distance in which two swapped neighbours count as one step (optimal string alignment). A difference in
 * case counts as half a step; the sum is rounded down. UINT_MAX when a word has more than SUGGEST_LETTERS letters. */
unsigned suggest_distance(const char *a, const char *b);

/* Candidates are offered one after another; of equally near ones, the first wins. The word and the candidates are not copied. */
struct suggest {
    const char *word, *best;
    const char *longer; /* begins with the word */
    unsigned best_distance;
    const struct synonym *synonym; /* what the word is called here, by place; those that count */
    size_t synonyms;
};
void suggest_start(struct suggest *s, const char *word);
void suggest_offer(struct suggest *s, const char *candidate);
/* The nearest; else the first that begins with the word; NULL when no candidate is near enough to be meant, that is, when more
 * than a third of the letters differ. */
const char *suggest_best(const struct suggest *s);

/* "; did you mean X?" or "", to be put at the end of an error line. */
const char *suggest_phrase(const struct suggest *s, char *text, size_t size);

#endif
