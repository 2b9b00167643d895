/* Touches of an L2 that are noted page by page and made later. Loops that stream over arrays touch the same pages again and
 * again; all that counts is the order in which the lines of a set were used last, and only when a line must leave the set. So a
 * loop notes "lines [from, to) of this page, in order", and a set catches up with its notes before anything else changes it.
 * Pages of which every line was found in L2 with its data are known until one of their lines leaves.
 *
 * The lines of a page lie in neighbouring sets, each in one of its own (mem_later_create refuses other shapes).
 */
#ifndef ORCHARD_UNITS_MEM_MEM_LATER_H
#define ORCHARD_UNITS_MEM_MEM_LATER_H

#include "units/mem/cache.h"

#define MEM_LATER_NOTES 32   /* of the sets that a page covers */
#define MEM_LATER_KNOWN 1024 /* pages */
#define MEM_PAGE_LINES  (1u << MEM_LINES_PER_PAGE_SHIFT)

struct mem_later_note {
    uint64_t page;
    uint32_t number; /* notes are numbered in order */
    uint8_t from, to;
};

/* The notes of neighbouring sets, oldest first. */
struct mem_later_part {
    uint64_t open[MEM_PAGE_LINES / 64]; /* bit: a note that its set has not caught up with may have the line */
    uint32_t count, last;               /* number of the latest note */
    struct mem_later_note note[MEM_LATER_NOTES];
};

struct mem_later_known {
    uint64_t page;  /* + 1 */
    double at_ns;   /* all data had arrived */
    uint64_t doubt; /* the line, + 1, that was missing when a page was looked at last */
    uint8_t from, to;
    uint8_t next; /* the line behind the one that was touched by itself last */
};
_Static_assert(MEM_PAGE_LINES <= UINT8_MAX, "lines of a page are counted in bytes");

struct mem_later {
    uint32_t parts, number;
    struct mem_later_part *part;
    uint32_t *done; /* per set: the number up to which it has caught up */
    struct mem_later_known known[MEM_LATER_KNOWN];
};

/* NULL when memory is out or the cache has another shape. */
struct mem_later *mem_later_create(const struct mem_cache *cache);
void mem_later_free(struct mem_later *later);
/* Forgets everything, for a cache that was emptied. */
void mem_later_clear(struct mem_later *later);

/* True when the lines [from, to) of a page are present with their data at now_ns, and none waits for its first use. */
bool mem_later_knows(struct mem_later *later, const struct mem_cache *cache, uint64_t page, uint32_t from, uint32_t to,
                     double now_ns);
/* Forgets pages, because times start anew or because a line leaves or is sent for again. */
void mem_later_unlearn(struct mem_later *later);
static inline void mem_later_lose(struct mem_later *later, uint64_t line)
{
    const uint64_t page = line >> MEM_LINES_PER_PAGE_SHIFT;
    struct mem_later_known *const known = &later->known[page % MEM_LATER_KNOWN];
    if (known->page == page + 1)
        known->page = 0;
}

/* The same for one line, if that is known already. */
static inline bool mem_later_has(const struct mem_later *later, uint64_t line, double now_ns)
{
    const uint64_t page = line >> MEM_LINES_PER_PAGE_SHIFT;
    const uint32_t at = line % MEM_PAGE_LINES;
    const struct mem_later_known *const known = &later->known[page % MEM_LATER_KNOWN];
    return known->page == page + 1 && known->from <= at && at < known->to && known->at_ns <= now_ns;
}

/* Notes that the lines [from, to) of a page, which are present, were touched. */
void mem_later_touch(struct mem_later *later, struct mem_cache *cache, uint64_t page, uint32_t from, uint32_t to);
void mem_later_make(struct mem_later *later, struct mem_cache *cache, uint32_t set);
/* Touches a line that is present without a note. */
void mem_later_touch_now(struct mem_later *later, struct mem_cache *cache, uint32_t set, uint64_t line);
/* The same for one line. Whoever runs over a page goes on with the note of the line before, unless a newer note has the line's
 * set as well or the set has caught up with that note already. Where loads leap from line to line, notes would be many and short:
 * such a line is touched at once, if its page is known. */
static inline void mem_later_touch_line(struct mem_later *later, struct mem_cache *cache, uint32_t set, uint64_t line)
{
    const uint64_t page = line >> MEM_LINES_PER_PAGE_SHIFT;
    const uint32_t at = line % MEM_PAGE_LINES;
    struct mem_later_part *const part = &later->part[set >> MEM_LINES_PER_PAGE_SHIFT];
    for (uint32_t i = part->count; i-- > 0;) {
        struct mem_later_note *const note = &part->note[i];
        if (note->page == page && note->to == at && later->done[set] < note->number) {
            note->to++;
            part->open[at / 64] |= UINT64_C(1) << at % 64;
            return;
        }
        if (note->from > at || at >= note->to)
            continue;
        if (note->page == page && later->done[set] < note->number)
            return; /* the line is the one of its set that was touched last */
        break;
    }
    struct mem_later_known *const known = &later->known[page % MEM_LATER_KNOWN];
    const bool leaps = known->page == page + 1 && known->next != at;
    known->next = (uint8_t)(at + 1);
    if (leaps)
        mem_later_touch_now(later, cache, set, line);
    else
        mem_later_touch(later, cache, page, at, at + 1);
}

/* Before a set is touched, or its order is used. `later` may be NULL. */
static inline void mem_later_catch_up(struct mem_later *later, struct mem_cache *cache, uint32_t set)
{
    if (!later)
        return;
    const struct mem_later_part *const part = &later->part[set >> MEM_LINES_PER_PAGE_SHIFT];
    if (part->open[set % MEM_PAGE_LINES / 64] >> set % 64 & 1)
        mem_later_make(later, cache, set);
    else
        later->done[set] = part->last;
}
/* The same for all sets. */
void mem_later_finish(struct mem_later *later, struct mem_cache *cache);

#endif
