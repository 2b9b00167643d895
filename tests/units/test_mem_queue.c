/* Links and slot pools: placement in time against a slow, obviously right calendar; and the cache and gather tables
 * against naive ones. */
#include "tests/support/suite.h"
#include "units/mem/cache.h"
#include "units/mem/gather.h"
#include "units/mem/mem_queue.h"

#include <math.h>
#include <string.h>

static void test_link_serialises(void)
{
    struct mem_link link;
    mem_link_init(&link, 64.0); /* 64 GB/s: 128 bytes take 2 ns */
    CU_ASSERT_EQUAL(mem_link_take(&link, 10.0, 128), 10.0);
    CU_ASSERT_EQUAL(mem_link_take(&link, 10.0, 128), 12.0);
    CU_ASSERT_EQUAL(mem_link_take(&link, 13.0, 128), 14.0);
    CU_ASSERT_EQUAL(mem_link_take(&link, 16.0, 128), 16.0);
    CU_ASSERT_EQUAL(mem_link_take(&link, 100.0, 128), 100.0);
}

static void test_link_fills_gaps(void)
{
    struct mem_link link;
    mem_link_init(&link, 64.0);
    mem_link_take(&link, 100.0, 128);
    CU_ASSERT_EQUAL(mem_link_take(&link, 50.0, 128), 50.0); /* an early request after a late one is not held back */
    CU_ASSERT_EQUAL(mem_link_take(&link, 97.0, 256), 102.0); /* 3 ns of gap are too short for 4 ns */
    CU_ASSERT_EQUAL(mem_link_take(&link, 97.0, 128), 97.0);
    CU_ASSERT_EQUAL(mem_link_take(&link, 97.0, 64), 99.0);
}

static void test_link_without_rate_is_free(void)
{
    struct mem_link link;
    mem_link_init(&link, 0.0);
    for (int i = 0; i < 5; i++)
        CU_ASSERT_EQUAL(mem_link_take(&link, 7.0, 256), 7.0);
}

/* Calendar in whole nanoseconds. */
static unsigned naive_take(uint8_t *busy, unsigned from, unsigned ns)
{
    for (unsigned at = from;; at++) {
        unsigned i = 0;
        while (i < ns && !busy[at + i])
            i++;
        if (i < ns)
            continue;
        memset(busy + at, 1, ns);
        return at;
    }
}

static void test_link_against_calendar(void)
{
    enum { HORIZON = 400000 };
    static uint8_t busy[HORIZON];
    uint64_t seed = 5;
    for (int round = 0; round < 20; round++) {
        memset(busy, 0, sizeof busy);
        struct mem_link link;
        mem_link_init(&link, 1.0);
        unsigned now = 0, wrong = 0;
        for (int i = 0; i < 2000; i++) {
            now += (unsigned)(suite_random(&seed) % 12);
            /* Jitter well inside the history that a link keeps. */
            const unsigned from = now + (unsigned)(suite_random(&seed) % 16);
            const unsigned ns = 1 + (unsigned)(suite_random(&seed) % 6);
            wrong += mem_link_take(&link, from, ns) != naive_take(busy, from, ns);
        }
        CHECK(wrong == 0, "round %d: %u placements differ", round, wrong);
    }
}

static void test_slots_hand_out_the_earliest(void)
{
    struct mem_slots slots;
    CU_ASSERT_TRUE_FATAL(mem_slots_init(&slots, 3));
    const double until[] = {30, 10, 20};
    for (int i = 0; i < 3; i++) {
        CU_ASSERT_EQUAL(mem_slots_ready(&slots, 0.0), 0.0);
        mem_slots_take(&slots, until[i]);
    }
    CU_ASSERT_EQUAL(mem_slots_ready(&slots, 5.0), 10.0);
    mem_slots_take(&slots, 40.0);
    CU_ASSERT_EQUAL(mem_slots_ready(&slots, 5.0), 20.0);
    CU_ASSERT_EQUAL(mem_slots_ready(&slots, 25.0), 25.0);
    mem_slots_release(&slots);
}

/* Ages in a plain list per set. */
struct naive_set {
    uint64_t line[4]; /* most recent first, + 1 */
};

static bool naive_access(struct naive_set *set, uint64_t line, uint64_t *evicted)
{
    int at = 0;
    while (at < 3 && set->line[at] != line + 1)
        at++;
    const bool hit = set->line[at] == line + 1;
    *evicted = hit ? 0 : set->line[3];
    memmove(set->line + 1, set->line, (size_t)at * sizeof set->line[0]);
    set->line[0] = line + 1;
    return hit;
}

static void check_lru(uint32_t sets)
{
    struct mem_cache cache;
    CU_ASSERT_TRUE_FATAL(mem_cache_init(&cache, sets * 4, 4, false));
    struct naive_set naive[8] = {{{0}}};
    uint64_t seed = sets;
    unsigned wrong = 0;
    for (int i = 0; i < 20000; i++) {
        const uint64_t line = suite_random(&seed) % (sets * 7);
        uint64_t evicted;
        const bool hit = naive_access(&naive[line % sets], line, &evicted);
        const uint32_t index = mem_cache_find(&cache, line);
        wrong += (index != MEM_CACHE_NONE) != hit;
        if (index != MEM_CACHE_NONE) {
            mem_cache_touch(&cache, index);
            continue;
        }
        struct mem_victim victim;
        mem_cache_insert(&cache, line, 0.0, 0, &victim);
        wrong += victim.valid != (evicted != 0) || (victim.valid && victim.line + 1 != evicted);
    }
    CHECK(wrong == 0, "%u sets: %u differences", sets, wrong);
    mem_cache_release(&cache);
}

static void test_cache_is_lru(void)
{
    check_lru(8);
    check_lru(5); /* not a power of two */
    check_lru(1);
}

static void test_cache_refuses_nonsense(void)
{
    struct mem_cache cache;
    CU_ASSERT_FALSE(mem_cache_init(&cache, 16, 0, false));
    CU_ASSERT_FALSE(mem_cache_init(&cache, 4, 8, false));
}

static void test_gather_completes_lines(void)
{
    struct mem_gather gather;
    CU_ASSERT_TRUE_FATAL(mem_gather_init(&gather, 2));
    uint64_t displaced;
    for (uint32_t at = 0; at < 112; at += 16)
        CU_ASSERT_EQUAL(mem_gather_store(&gather, 7, at, 16, &displaced), MEM_GATHER_PART);
    CU_ASSERT_EQUAL(mem_gather_store(&gather, 7, 113, 15, &displaced), MEM_GATHER_PART); /* byte 112 is missing */
    CU_ASSERT_EQUAL(mem_gather_store(&gather, 7, 112, 1, &displaced), MEM_GATHER_FULL);
    CU_ASSERT_FALSE(mem_gather_take(&gather, 7));
    CU_ASSERT_EQUAL(mem_gather_store(&gather, 9, 0, 128, &displaced), MEM_GATHER_FULL);
    mem_gather_release(&gather);
}

static void test_gather_displaces_the_oldest(void)
{
    struct mem_gather gather;
    CU_ASSERT_TRUE_FATAL(mem_gather_init(&gather, 2));
    uint64_t displaced;
    mem_gather_store(&gather, 1, 0, 8, &displaced);
    CU_ASSERT_EQUAL(displaced, UINT64_MAX);
    mem_gather_store(&gather, 2, 0, 8, &displaced);
    mem_gather_store(&gather, 1, 8, 8, &displaced);
    CU_ASSERT_EQUAL(displaced, UINT64_MAX);
    mem_gather_store(&gather, 3, 0, 8, &displaced);
    CU_ASSERT_EQUAL(displaced, 2);
    CU_ASSERT_TRUE(mem_gather_take(&gather, 1));
    mem_gather_release(&gather);
}

static const struct suite_test tests[] = {
    {"a link serialises", test_link_serialises},
    {"a link fills gaps", test_link_fills_gaps},
    {"a link without a rate is free", test_link_without_rate_is_free},
    {"a link agrees with a calendar", test_link_against_calendar},
    {"slots hand out the earliest place", test_slots_hand_out_the_earliest},
    {"caches are true LRU", test_cache_is_lru},
    {"caches refuse nonsense", test_cache_refuses_nonsense},
    {"gathering completes lines", test_gather_completes_lines},
    {"gathering displaces the oldest line", test_gather_displaces_the_oldest},
};
SUITE_MAIN("mem_queue", tests)
