/* Pages of a cache of keys and values: of so many tokens each, taken from a pool when a sequence reaches them, and given back
 * when it ends. A sequence has a table of the pages it took, in the order of its tokens, which the kernels of attention read. */
#ifndef ORCHARD_SIM_RUN_LANGUAGE_LANGUAGE_PAGES_H
#define ORCHARD_SIM_RUN_LANGUAGE_LANGUAGE_PAGES_H

#include "sim/base/error.h"

#include <stdbool.h>
#include <stdint.h>

enum { LANGUAGE_PAGE_USUALLY = 16, LANGUAGE_PAGE_MOST = 4096 };

/* How keys and values are kept: "f16", "q8_0", "paged", "paged:TOKENS", "paged:TOKENS:PAGES", or a type and pages with a comma.
 */
struct language_cache_form {
    const struct block_format *type; /* NULL = that of values */
    unsigned page, pages; /* tokens of one, 0 = one piece for each sequence; of all sequences, 0 = as many as they need */
};
/* `text` NULL = nothing was asked for. */
bool language_cache_form_read(const char *text, struct language_cache_form *form, struct orch_error *error);

struct language_pages;

/* For so many sequences of up to `context` tokens; `table` has language_pages_table_words of them. NULL = out of memory. */
struct language_pages *language_pages_create(unsigned page, unsigned pages, unsigned context, unsigned lanes, uint32_t *table);
void language_pages_free(struct language_pages *pages);
uint64_t language_pages_table_words(unsigned page, unsigned context, unsigned lanes);
/* Where the table of a sequence begins. */
uint64_t language_pages_first(const struct language_pages *pages, unsigned lane);

/* Keeps pages for so many tokens of a sequence free, until it ends; false = there are not so many. */
bool language_pages_promise(struct language_pages *pages, unsigned lane, unsigned tokens);
/* Takes pages until the sequence has so many tokens; false = none is left. */
bool language_pages_reach(struct language_pages *pages, unsigned lane, unsigned tokens);
/* Gives back what is behind so many tokens. */
void language_pages_cut(struct language_pages *pages, unsigned lane, unsigned tokens);
/* Gives back all, and what was promised. */
void language_pages_end(struct language_pages *pages, unsigned lane);

/* Row of a token in the pool; *together: so many, `most` at most, from it on follow one another there. */
uint64_t language_pages_row(const struct language_pages *pages, unsigned lane, unsigned token, unsigned most, unsigned *together);

struct language_pages_use {
    unsigned pool;   /* pages there are */
    unsigned taken;  /* of them, when most were */
    unsigned tokens; /* in them, at that time */
    unsigned pieces; /* that did not follow one another, of one sequence, at most */
};
struct language_pages_use language_pages_use(const struct language_pages *pages);

#endif
