/* Notes of touches against touches that are made at once: every victim, and in the end the order of every set, is the same. */
#include "tests/support/suite.h"
#include "units/mem/mem_later.h"

enum { SETS = 256, WAYS = 12, PAGES = 48 };

struct both {
    struct mem_cache noted, made;
    struct mem_later *later;
    uint64_t seed;
    unsigned runs, leaps, lost;
};

static uint32_t below(struct both *b, uint32_t count)
{
    return (uint32_t)(suite_random(&b->seed) % count);
}

static void touch_line(struct mem_cache *cache, uint64_t line)
{
    const struct mem_entry entry = mem_cache_find(cache, line);
    CU_ASSERT_PTR_NOT_NULL_FATAL(entry.way);
    mem_cache_touch(cache, &entry);
}

/* Part of a page, which may lack lines. */
static void run_over(struct both *b)
{
    const uint64_t page = below(b, PAGES);
    const uint32_t from = below(b, 8) ? below(b, MEM_PAGE_LINES) : 0, to = from + 1 + below(b, MEM_PAGE_LINES - from);
    bool all = true;
    for (uint32_t i = from; i < to; i++)
        all = all && mem_cache_find(&b->made, page * MEM_PAGE_LINES + i).way;
    CU_ASSERT_EQUAL(mem_later_knows(b->later, &b->noted, page, from, to, 1.0), all);
    if (!all)
        return;
    b->runs++;
    const bool singly = below(b, 4) == 0;
    for (uint32_t i = from; i < to; i++) {
        const uint64_t line = page * MEM_PAGE_LINES + i;
        touch_line(&b->made, line);
        if (singly)
            mem_later_touch_line(b->later, &b->noted, mem_cache_set(&b->noted, line), line);
    }
    if (!singly)
        mem_later_touch(b->later, &b->noted, page, from, to);
}

/* Lines of a page that is known, one by one in any order. */
static void leap_over(struct both *b)
{
    const uint64_t page = below(b, PAGES);
    const uint32_t from = below(b, MEM_PAGE_LINES);
    uint32_t to = from;
    while (to < MEM_PAGE_LINES && mem_cache_find(&b->made, page * MEM_PAGE_LINES + to).way)
        to++;
    if (from == to || !mem_later_knows(b->later, &b->noted, page, from, to, 1.0))
        return;
    for (unsigned n = 0; n < 8; n++) {
        const uint64_t line = page * MEM_PAGE_LINES + from + below(b, to - from);
        touch_line(&b->made, line);
        mem_later_touch_line(b->later, &b->noted, mem_cache_set(&b->noted, line), line);
    }
    b->leaps++;
}

/* A line comes in, or is touched by somebody else. */
static void reach(struct both *b, uint64_t line)
{
    const uint32_t set = mem_cache_set(&b->noted, line);
    struct mem_victim x, y;
    mem_later_catch_up(b->later, &b->noted, set);
    if (mem_cache_find(&b->made, line).way) {
        touch_line(&b->noted, line);
        touch_line(&b->made, line);
        return;
    }
    mem_cache_insert(&b->noted, line, 0.5, 0, &x);
    mem_cache_insert(&b->made, line, 0.5, 0, &y);
    CU_ASSERT_FATAL(x.valid == y.valid && (!x.valid || x.line == y.line));
    if (x.valid)
        mem_later_lose(b->later, x.line);
    b->lost += x.valid;
}

static void test_notes_and_touches(void)
{
    struct both b = {.seed = 11};
    CU_ASSERT_FATAL(mem_cache_init(&b.noted, SETS * WAYS, WAYS, false) && mem_cache_init(&b.made, SETS * WAYS, WAYS, false));
    b.later = mem_later_create(&b.noted);
    CU_ASSERT_PTR_NOT_NULL_FATAL(b.later);
    for (unsigned i = 0; i < 20000; i++) {
        for (unsigned n = 0; n < 12; n++)
            run_over(&b);
        if (below(&b, 2) == 0)
            leap_over(&b);
        if (below(&b, 4) == 0) {
            const uint64_t page = below(&b, PAGES);
            for (uint32_t k = 0; k < MEM_PAGE_LINES; k++)
                reach(&b, page * MEM_PAGE_LINES + k);
        }
        for (unsigned n = below(&b, 4); n > 0; n--)
            reach(&b, below(&b, PAGES * MEM_PAGE_LINES));
    }
    mem_later_finish(b.later, &b.noted);
    unsigned differ = 0;
    for (uint32_t set = 0; set < SETS; set++)
        differ += mem_cache_header(&b.noted, set)->order != mem_cache_header(&b.made, set)->order;
    CU_ASSERT_EQUAL(differ, 0);
    CU_ASSERT(b.runs > 10000 && b.leaps > 1000 && b.lost > 10000);
    mem_later_free(b.later);
    mem_cache_release(&b.noted);
    mem_cache_release(&b.made);
}

/* Pages whose lines share sets, or lie scattered, cannot be noted. */
static void test_shapes(void)
{
    struct mem_cache small, scattered;
    CU_ASSERT_FATAL(mem_cache_init(&small, 64 * 4, 4, false) && mem_cache_init(&scattered, SETS * WAYS, WAYS, true));
    CU_ASSERT_PTR_NULL(mem_later_create(&small));
    CU_ASSERT_PTR_NULL(mem_later_create(&scattered));
    mem_cache_release(&small);
    mem_cache_release(&scattered);
}

static const struct suite_test tests[] = {
    {"notes leave what touches leave", test_notes_and_touches},
    {"shapes", test_shapes},
};
SUITE_MAIN("mem_later", tests)
