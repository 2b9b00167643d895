#include "sim/run/language/language_pages.h"

#include "sim/language/block_format.h"
#include "units/kernel_pages.h"

#include <stdlib.h>
#include <string.h>

/* ---- how it is asked for ---- */

static bool refuse(const char *text, struct orch_error *error)
{
    return orch_fail(error, ORCH_USAGE,
                     ORCH_OPTION("kv-cache") " %.60s: it is f16, q8_0, paged[:TOKENS[:PAGES]], or a type and pages with a comma, "
                                             "as q8_0,paged:16",
                     text);
}

/* Reads ":NUMBER"; nothing there leaves the number as it is. */
static bool read_number(const char **at, unsigned most, unsigned *number)
{
    char *end;
    if (**at != ':')
        return true;
    const unsigned long read = strtoul(*at + 1, &end, 10);
    const bool ok = (*at)[1] >= '0' && (*at)[1] <= '9' && read >= 1 && read <= most;
    *number = (unsigned)read;
    *at = end;
    return ok;
}

static bool read_word(const char **at, const char *word)
{
    const size_t length = strlen(word);
    if (strncmp(*at, word, length) != 0)
        return false;
    *at += length;
    return true;
}

static bool is_power_of_two(unsigned n)
{
    return n && !(n & (n - 1));
}

bool language_cache_form_read(const char *text, struct language_cache_form *form, struct orch_error *error)
{
    const char *at = text;
    *form = (struct language_cache_form){.page = 0};
    if (!text)
        return true;
    if (read_word(&at, "f16") || read_word(&at, "q8_0")) {
        form->type = block_format_named(text[0] == 'f' ? "f16" : "q8_0");
        if (!*at)
            return true;
        if (*at++ != ',')
            return refuse(text, error);
    }
    form->page = LANGUAGE_PAGE_USUALLY;
    if (!read_word(&at, "paged") || !read_number(&at, LANGUAGE_PAGE_MOST, &form->page) ||
        !read_number(&at, 1U << 24, &form->pages) || *at)
        return refuse(text, error);
    return (form->page >= KERNEL_PAGE_LEAST && is_power_of_two(form->page)) ||
           orch_fail(error, ORCH_USAGE, ORCH_OPTION("kv-cache") " %.60s: a page has a power of two of tokens, %d to %d", text,
                     (int)KERNEL_PAGE_LEAST, (int)LANGUAGE_PAGE_MOST);
}

/* ---- the pool ---- */

struct lane {
    unsigned pages, tokens, promised; /* promised: pages, those that it has among them */
};

struct language_pages {
    unsigned page, all, of_lane, lanes, taken, promised;
    bool *used;      /* by page */
    uint32_t *table; /* of_lane of each sequence */
    struct lane *lane;
    struct language_pages_use use;
};

static unsigned pages_for(const struct language_pages *p, unsigned tokens)
{
    return (tokens + p->page - 1) / p->page;
}

uint64_t language_pages_table_words(unsigned page, unsigned context, unsigned lanes)
{
    return (uint64_t)(context + page - 1) / page * lanes;
}

struct language_pages *language_pages_create(unsigned page, unsigned pages, unsigned context, unsigned lanes, uint32_t *table)
{
    struct language_pages *const p = calloc(1, sizeof *p);
    if (!p)
        return NULL;
    *p = (struct language_pages){
        .page = page, .all = pages, .of_lane = (context + page - 1) / page, .lanes = lanes, .table = table};
    p->use.pool = pages;
    p->used = calloc(pages, sizeof *p->used);
    p->lane = calloc(lanes, sizeof *p->lane);
    if (p->used && p->lane)
        return p;
    language_pages_free(p);
    return NULL;
}

void language_pages_free(struct language_pages *pages)
{
    if (!pages)
        return;
    free(pages->used);
    free(pages->lane);
    free(pages);
}

uint64_t language_pages_first(const struct language_pages *pages, unsigned lane)
{
    return (uint64_t)pages->of_lane * lane;
}

bool language_pages_promise(struct language_pages *p, unsigned lane, unsigned tokens)
{
    const unsigned wanted = pages_for(p, tokens), others = p->promised - p->lane[lane].promised;
    if (wanted > p->all - others)
        return false;
    p->promised = others + wanted;
    p->lane[lane].promised = wanted;
    return true;
}

/* The first free one: pages of a sequence that is alone follow one another. */
static bool take(struct language_pages *p, unsigned lane)
{
    struct lane *const l = &p->lane[lane];
    unsigned page = 0;
    while (page < p->all && p->used[page])
        page++;
    if (page == p->all || l->pages == p->of_lane)
        return false;
    p->used[page] = true;
    p->table[language_pages_first(p, lane) + l->pages++] = page;
    p->taken++;
    return true;
}

static unsigned pieces_of(const struct language_pages *p, unsigned lane)
{
    const uint32_t *const table = p->table + language_pages_first(p, lane);
    unsigned pieces = p->lane[lane].pages > 0;
    for (unsigned i = 1; i < p->lane[lane].pages; i++)
        pieces += table[i] != table[i - 1] + 1;
    return pieces;
}

static void note_use(struct language_pages *p, unsigned lane)
{
    const unsigned pieces = pieces_of(p, lane);
    p->use.pieces = pieces > p->use.pieces ? pieces : p->use.pieces;
    if (p->taken < p->use.taken)
        return;
    p->use.taken = p->taken;
    p->use.tokens = 0;
    for (unsigned i = 0; i < p->lanes; i++)
        p->use.tokens += p->lane[i].tokens;
}

bool language_pages_reach(struct language_pages *p, unsigned lane, unsigned tokens)
{
    while (p->lane[lane].pages < pages_for(p, tokens))
        if (!take(p, lane))
            return false;
    p->lane[lane].tokens = tokens;
    note_use(p, lane);
    return true;
}

void language_pages_cut(struct language_pages *p, unsigned lane, unsigned tokens)
{
    struct lane *const l = &p->lane[lane];
    while (l->pages > pages_for(p, tokens)) {
        p->used[p->table[language_pages_first(p, lane) + --l->pages]] = false;
        p->taken--;
    }
    l->tokens = tokens < l->tokens ? tokens : l->tokens;
}

void language_pages_end(struct language_pages *p, unsigned lane)
{
    language_pages_cut(p, lane, 0);
    p->promised -= p->lane[lane].promised;
    p->lane[lane].promised = 0;
}

uint64_t language_pages_row(const struct language_pages *p, unsigned lane, unsigned token, unsigned most, unsigned *together)
{
    const uint32_t *const table = p->table + language_pages_first(p, lane);
    const unsigned first = token / p->page, within = token % p->page;
    unsigned last = first;
    while ((last + 1 - first) * p->page - within < most && last + 1 < p->lane[lane].pages && table[last + 1] == table[last] + 1)
        last++;
    const unsigned follow = (last + 1 - first) * p->page - within;
    *together = follow < most ? follow : most;
    return (uint64_t)table[first] * p->page + within;
}

struct language_pages_use language_pages_use(const struct language_pages *pages)
{
    return pages->use;
}
