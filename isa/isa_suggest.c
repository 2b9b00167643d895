#include "isa/isa_suggest.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST_WORD = 32, LARGEST_DISTANCE = 2 };

static unsigned least(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

/* The number of edits (insert, delete, replace, swap neighbours) that turn a into b. Words that are too long are far away. */
static unsigned edit_distance(const char *a, const char *b)
{
    const size_t rows = strlen(a), columns = strlen(b);
    unsigned cost[LONGEST_WORD + 1][LONGEST_WORD + 1];
    if (rows > LONGEST_WORD || columns > LONGEST_WORD)
        return LARGEST_DISTANCE + 1;
    for (size_t r = 0; r <= rows; r++)
        for (size_t c = 0; c <= columns; c++) {
            if (r == 0 || c == 0) {
                cost[r][c] = (unsigned)(r + c);
                continue;
            }
            const unsigned replaced = cost[r - 1][c - 1] + (a[r - 1] != b[c - 1]);
            cost[r][c] = least(replaced, least(cost[r - 1][c], cost[r][c - 1]) + 1);
            if (r > 1 && c > 1 && a[r - 1] == b[c - 2] && a[r - 2] == b[c - 1])
                cost[r][c] = least(cost[r][c], cost[r - 2][c - 2] + 1);
        }
    return cost[rows][columns];
}

void isa_suggest_start(struct isa_suggest *suggest, const char *word)
{
    *suggest = (struct isa_suggest){.word = word, .distance = LARGEST_DISTANCE + 1};
}

void isa_suggest_offer(struct isa_suggest *suggest, const char *candidate)
{
    const unsigned distance = edit_distance(suggest->word, candidate);
    /* A word whose letters would all be replaced is no near match. */
    if (distance < suggest->distance && distance < strlen(candidate)) {
        suggest->distance = distance;
        suggest->nearest = candidate;
    }
}

void isa_suggest_text(const struct isa_suggest *suggest, char *text, size_t size)
{
    if (suggest->nearest)
        snprintf(text, size, "; did you mean %s?", suggest->nearest);
    else if (size)
        text[0] = '\0';
}
