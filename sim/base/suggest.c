#include "sim/base/suggest.h"

#include "sim/base/synonyms.h"

#include <ctype.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { SAME = 0, CASE = 1, STEP = 2, LEAST_BEGIN = 3 };

static unsigned smaller(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static unsigned letter_cost(char a, char b)
{
    if (a == b)
        return SAME;
    return tolower((unsigned char)a) == tolower((unsigned char)b) ? CASE : STEP;
}

unsigned suggest_distance(const char *a, const char *b)
{
    /* Three rows of the distance table: the current one, the one before, and the one before that, which swaps need. */
    unsigned rows[3][SUGGEST_LETTERS + 1];
    const size_t n = strnlen(a, SUGGEST_LETTERS + 1), m = strnlen(b, SUGGEST_LETTERS + 1);
    if (n > SUGGEST_LETTERS || m > SUGGEST_LETTERS)
        return UINT_MAX;
    unsigned *before = rows[0], *last = rows[1], *now = rows[2];
    for (size_t j = 0; j <= m; j++) {
        before[j] = 0;
        last[j] = (unsigned)j * STEP;
    }
    for (size_t i = 1; i <= n; i++) {
        now[0] = (unsigned)i * STEP;
        for (size_t j = 1; j <= m; j++) {
            unsigned best = last[j - 1] + letter_cost(a[i - 1], b[j - 1]);
            best = smaller(best, smaller(last[j], now[j - 1]) + STEP);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                best = smaller(best, before[j - 2] + STEP);
            now[j] = best;
        }
        unsigned *const free_row = before;
        before = last;
        last = now;
        now = free_row;
    }
    return last[m] / STEP;
}

void suggest_start(struct suggest *s, const char *word)
{
    s->word = word;
    s->best = NULL;
    s->longer = NULL;
    s->best_distance = UINT_MAX;
    s->synonym = synonyms_of(word, &s->synonyms);
}

/* How far a candidate may be and still be meant. */
static size_t allowed(size_t letters)
{
    return letters <= 3 ? 1 : (letters + 2) / 3;
}

/* A name that others have another word for wins over any misspelling; of several, the first that fits. */
static bool offer_synonym(struct suggest *s, const char *candidate)
{
    for (size_t i = 0; i < s->synonyms; i++)
        if (strcmp(s->synonym[i].name, candidate) == 0) {
            s->best = candidate;
            s->best_distance = 0;
            s->synonyms = i;
            return true;
        }
    return false;
}

/* "bert" may be the begin of "bert-base", when nothing else is near. */
static void offer_longer(struct suggest *s, const char *candidate)
{
    const size_t letters = strlen(s->word);
    if (!s->longer && letters >= LEAST_BEGIN && strncasecmp(candidate, s->word, letters) == 0)
        s->longer = candidate;
}

void suggest_offer(struct suggest *s, const char *candidate)
{
    if (offer_synonym(s, candidate))
        return;
    offer_longer(s, candidate);
    const size_t letters = strnlen(s->word, SUGGEST_LETTERS + 1), others = strnlen(candidate, SUGGEST_LETTERS + 1);
    /* Each letter more or less is a step: such candidates need no comparing. */
    if ((letters > others ? letters - others : others - letters) > allowed(letters))
        return;
    const unsigned distance = suggest_distance(s->word, candidate);
    if (distance < s->best_distance) {
        s->best_distance = distance;
        s->best = candidate;
    }
}

const char *suggest_best(const struct suggest *s)
{
    return s->best && s->best_distance <= allowed(strnlen(s->word, SUGGEST_LETTERS)) ? s->best : s->longer;
}

const char *suggest_phrase(const struct suggest *s, char *text, size_t size)
{
    const char *const best = suggest_best(s);
    if (best)
        snprintf(text, size, "; did you mean %s?", best);
    else if (size)
        text[0] = 0;
    return text;
}
