/* A cache whose ways hold halves of lines, against a plain list of lines with their halves and the times of their use. */
#include "tests/support/suite.h"
#include "units/mem/cache.h"

#include <string.h>

struct naive_line {
    uint64_t line; /* + 1 */
    unsigned halves;
    uint64_t stamp;
};

static unsigned naive_room(const struct naive_line *set, unsigned count)
{
    unsigned taken = 0;
    for (unsigned i = 0; i < count; i++)
        taken += set[i].line ? mem_line_takes(mem_line_without(set[i].halves)) : 0;
    return taken;
}

static struct naive_line *naive_oldest(struct naive_line *set, unsigned count)
{
    struct naive_line *oldest = NULL;
    for (unsigned i = 0; i < count; i++)
        if (set[i].line && (!oldest || set[i].stamp < oldest->stamp))
            oldest = &set[i];
    return oldest;
}

/* Both make room for so many halves; the lines that leave are the same. */
static bool make_room_both(struct mem_cache *cache, uint32_t at, struct naive_line *set, unsigned halves)
{
    struct mem_victim victim;
    bool same = true;
    while (mem_cache_make_room(cache, at, halves, &victim)) {
        struct naive_line *const oldest = naive_oldest(set, cache->ways);
        same = same && oldest && naive_room(set, cache->ways) + halves > cache->ways && oldest->line == victim.line + 1;
        if (oldest)
            oldest->line = 0;
    }
    return same && naive_room(set, cache->ways) + halves <= cache->ways;
}

static void check_halves(uint32_t sets, uint32_t ways)
{
    struct mem_cache cache;
    CU_ASSERT_TRUE_FATAL(mem_cache_init_in_halves(&cache, (uint64_t)sets * ways / 2, ways, false));
    static struct naive_line naive[4][64];
    memset(naive, 0, sizeof naive);
    CU_ASSERT_EQUAL(cache.sets, sets);
    uint64_t seed = sets + 100 * ways;
    unsigned wrong = 0;
    for (uint64_t i = 1; i <= 20000; i++) {
        const uint64_t line = suite_random(&seed) % (2 * sets * ways);
        const unsigned halves = (unsigned)(suite_random(&seed) % 4); /* none: parts were written */
        const uint32_t at = (uint32_t)(line % sets);
        struct naive_line *const set = naive[at], *found = NULL, *empty = NULL;
        for (unsigned w = 0; w < ways; w++) {
            found = set[w].line == line + 1 ? &set[w] : found;
            empty = set[w].line ? empty : &set[w];
        }
        const struct mem_entry entry = mem_cache_find(&cache, line);
        wrong += (entry.way != NULL) != (found != NULL);
        if (entry.way && found) {
            const uint8_t more = (uint8_t)(*entry.flags & mem_line_without(halves));
            mem_cache_touch(&cache, &entry);
            found->stamp = i;
            wrong += !make_room_both(&cache, at, set, mem_line_grows(*entry.flags, more));
            *entry.flags = more;
            found->halves |= halves;
        } else {
            struct mem_victim victim;
            wrong += !make_room_both(&cache, at, set, mem_line_takes(mem_line_without(halves)));
            for (unsigned w = 0; w < ways; w++)
                empty = set[w].line ? empty : &set[w];
            mem_cache_insert(&cache, line, 0, mem_line_without(halves), &victim);
            wrong += victim.valid || !empty;
            if (empty)
                *empty = (struct naive_line){line + 1, halves, i};
        }
    }
    CHECK(wrong == 0, "%u sets of %u halves: %u differences", sets, ways, wrong);
    mem_cache_release(&cache);
}

static void test_halves_take_their_room(void)
{
    check_halves(4, 2);
    check_halves(4, 8);
    check_halves(3, 16);
    check_halves(2, 33);
}

static const struct suite_test tests[] = {{"halves of lines take their room", test_halves_take_their_room}};
SUITE_MAIN("mem_halves", tests)
