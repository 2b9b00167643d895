/* Joins neighbouring pieces of a text, best pair first, until no pair may be joined: the core of both kinds of BPE. */
#ifndef ORCHARD_SIM_LANGUAGE_MERGE_H
#define ORCHARD_SIM_LANGUAGE_MERGE_H

#include <stdbool.h>
#include <stddef.h>

/* Says whether two neighbours may be joined, and how soon: lower ranks first, of equal ones the leftmost. */
struct merge_rule {
    bool (*rank)(const void *context, const char *left, size_t left_length, size_t right_length, double *rank);
    const void *context;
};

/* `length` has the pieces at the beginning and at the end, *count how many. False when memory is out. */
bool merge_pieces(const struct merge_rule *rule, const char *text, size_t *length, size_t *count);

#endif
