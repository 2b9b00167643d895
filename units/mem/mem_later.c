#include "units/mem/mem_later.h"

#include <stdlib.h>
#include <string.h>

struct mem_later *mem_later_create(const struct mem_cache *cache)
{
    if (cache->sets % MEM_PAGE_LINES != 0 || cache->scatter)
        return NULL;
    struct mem_later *later = calloc(1, sizeof *later);
    if (!later)
        return NULL;
    later->parts = cache->sets / MEM_PAGE_LINES;
    later->part = calloc(later->parts, sizeof *later->part);
    later->done = calloc(cache->sets, sizeof *later->done);
    if (later->part && later->done)
        return later;
    mem_later_free(later);
    return NULL;
}

void mem_later_free(struct mem_later *later)
{
    if (!later)
        return;
    free(later->part);
    free(later->done);
    free(later);
}

/* ---- what is known ---- */

void mem_later_unlearn(struct mem_later *later)
{
    for (uint32_t i = 0; later && i < MEM_LATER_KNOWN; i++)
        later->known[i].page = 0;
}

/* True when a line is present with its data, and not for its first use. *way: where the line before was, and then this one. */
static inline bool sees(const struct mem_cache *cache, uint32_t set, uint64_t line, double now_ns, uint32_t *way)
{
    const struct mem_entry entry = mem_cache_find_near(cache, set, line, *way);
    *way = entry.way ? entry.number : *way;
    return entry.way && !(*entry.flags & MEM_LINE_PREFETCHED) && mem_cache_ready_ns(cache, &entry) <= now_ns;
}

#define AHEAD 8 /* lines before its turn the host is told of a set */

/* Looks at a page from line `from` on, and back. Returns false when a line before `to` is missing; that one is in doubt. */
static bool look(struct mem_later_known *known, const struct mem_cache *cache, uint64_t page, uint32_t from, uint32_t to,
                 double now_ns)
{
    const uint64_t first = page << MEM_LINES_PER_PAGE_SHIFT;
    const uint32_t set = mem_cache_set(cache, first);
    uint32_t way = 0, begin = from, end = from;
    if (known->doubt > first + from && known->doubt <= first + to &&
        !sees(cache, set + (uint32_t)(known->doubt - 1 - first), known->doubt - 1, now_ns, &way))
        return false;
    for (; end < MEM_PAGE_LINES && sees(cache, set + end, first + end, now_ns, &way); end++)
        mem_cache_expect_near(cache, set + (end + AHEAD < MEM_PAGE_LINES ? end + AHEAD : end), way);
    if (end < to) {
        known->doubt = first + end + 1;
        return false;
    }
    while (begin > 0 && sees(cache, set + begin - 1, first + begin - 1, now_ns, &way))
        begin--;
    known->page = page + 1;
    known->at_ns = now_ns;
    known->from = (uint8_t)begin;
    known->to = (uint8_t)end;
    return true;
}

bool mem_later_knows(struct mem_later *later, const struct mem_cache *cache, uint64_t page, uint32_t from, uint32_t to,
                     double now_ns)
{
    struct mem_later_known *const known = &later->known[page % MEM_LATER_KNOWN];
    const bool same = known->page == page + 1 && known->at_ns <= now_ns;
    return (same && known->from <= from && to <= known->to) || look(known, cache, page, from, to, now_ns);
}

/* ---- notes ---- */

void mem_later_make(struct mem_later *later, struct mem_cache *cache, uint32_t set)
{
    struct mem_later_part *const part = &later->part[set >> MEM_LINES_PER_PAGE_SHIFT];
    const uint32_t at = set % MEM_PAGE_LINES;
    uint32_t i = part->count;
    part->open[at / 64] &= ~(UINT64_C(1) << at % 64);
    while (i > 0 && part->note[i - 1].number > later->done[set])
        i--;
    for (; i < part->count; i++) {
        const struct mem_later_note *const note = &part->note[i];
        if (at < note->from || at >= note->to)
            continue;
        const struct mem_entry entry = mem_cache_find_sure(cache, set, (note->page << MEM_LINES_PER_PAGE_SHIFT) + at);
        if (entry.way)
            mem_cache_touch(cache, &entry);
    }
    later->done[set] = part->last;
}

void mem_later_touch_now(struct mem_later *later, struct mem_cache *cache, uint32_t set, uint64_t line)
{
    mem_later_catch_up(later, cache, set);
    const struct mem_entry entry = mem_cache_find_sure(cache, set, line);
    if (entry.way)
        mem_cache_touch(cache, &entry);
}

static void make_part(struct mem_later *later, struct mem_cache *cache, uint32_t number)
{
    struct mem_later_part *const part = &later->part[number];
    for (uint32_t i = 0; i < MEM_PAGE_LINES && part->count > 0; i++)
        mem_later_catch_up(later, cache, number * MEM_PAGE_LINES + i);
    part->count = 0;
}

void mem_later_finish(struct mem_later *later, struct mem_cache *cache)
{
    for (uint32_t i = 0; later && i < later->parts; i++)
        make_part(later, cache, i);
}

void mem_later_clear(struct mem_later *later)
{
    if (!later)
        return;
    mem_later_unlearn(later);
    memset(later->part, 0, later->parts * sizeof later->part[0]);
    memset(later->done, 0, (size_t)later->parts * MEM_PAGE_LINES * sizeof later->done[0]);
    later->number = 0;
}

/* Takes out of notes what a newer one of a page, of [from, to), makes superfluous: only the last touch of a line counts. Returns
 * how many remain. */
static uint32_t take_out(struct mem_later_note *notes, uint32_t count, uint64_t page, uint32_t from, uint32_t to)
{
    uint32_t left = 0;
    while (left < count && notes[left].page != page)
        left++;
    for (uint32_t i = left; i < count; i++) {
        struct mem_later_note note = notes[i];
        if (note.page == page) {
            if (from <= note.from && note.from < to)
                note.from = (uint8_t)(to < note.to ? to : note.to);
            else if (note.from < from && note.to <= to && note.to > from)
                note.to = (uint8_t)from;
        }
        if (note.from < note.to)
            notes[left++] = note;
    }
    return left;
}

/* Takes out of all notes what newer ones make superfluous. */
static void tidy(struct mem_later_part *part)
{
    for (uint32_t i = part->count; i-- > 1;) {
        const struct mem_later_note newer = part->note[i];
        const uint32_t kept = take_out(part->note, i, newer.page, newer.from, newer.to);
        memmove(part->note + kept, part->note + i, (part->count - i) * sizeof part->note[0]);
        part->count -= i - kept;
        i = kept;
    }
}

void mem_later_touch(struct mem_later *later, struct mem_cache *cache, uint64_t page, uint32_t from, uint32_t to)
{
    const uint32_t number = mem_cache_set(cache, page << MEM_LINES_PER_PAGE_SHIFT) >> MEM_LINES_PER_PAGE_SHIFT;
    struct mem_later_part *const part = &later->part[number];
    if (later->number == UINT32_MAX) {
        mem_later_finish(later, cache);
        memset(later->part, 0, later->parts * sizeof later->part[0]);
        memset(later->done, 0, (size_t)later->parts * MEM_PAGE_LINES * sizeof later->done[0]);
        later->number = 0;
    }
    part->count = take_out(part->note, part->count, page, from, to);
    if (part->count == MEM_LATER_NOTES)
        tidy(part);
    if (part->count == MEM_LATER_NOTES)
        make_part(later, cache, number);
    for (uint32_t i = from; i < to; i++)
        part->open[i / 64] |= UINT64_C(1) << i % 64;
    part->last = ++later->number;
    part->note[part->count++] =
        (struct mem_later_note){.page = page, .number = part->last, .from = (uint8_t)from, .to = (uint8_t)to};
}
