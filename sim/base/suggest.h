/* "Did you mean": the nearest of a set of words by edit distance. */
#ifndef ORCHARD_SIM_BASE_SUGGEST_H
#define ORCHARD_SIM_BASE_SUGGEST_H

#include <stdbool.h>
#include <stddef.h>

/* Damerau-Levenshtein distance, neighbours swapped counting one (optimal string alignment); words longer than 63
 * letters are compared by their first 63. Letter case counts half a step, rounded down at the end. */
unsigned suggest_distance(const char *a, const char *b);

/* Offer candidates one after another; the first nearest wins. */
struct suggest {
    const char *word, *best;
    unsigned best_distance;
};
void suggest_start(struct suggest *s, const char *word);
void suggest_offer(struct suggest *s, const char *candidate);
/* NULL when nothing is near enough to be meant: more than a third of the letters differ. */
const char *suggest_best(const struct suggest *s);

/* "; did you mean X?" or "", for the end of an error line. */
const char *suggest_phrase(const struct suggest *s, char *text, size_t size);

#endif
