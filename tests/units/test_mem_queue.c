/* Links and slot pools: placement in time against a slow, obviously right calendar; and the cache and gather tables
 * against naive ones. */
#include "isa/array_count.h"
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
    CU_ASSERT_EQUAL(mem_link_take(&link, 50.0, 128), 50.0);  /* an early request after a late one is not held back */
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

/* A plain list of intervals that follows the rules of mem_queue.h word by word. */
struct naive_link {
    double start_ns[MEM_LINK_INTERVALS + 1], end_ns[MEM_LINK_INTERVALS + 1], floor_ns;
    unsigned count;
};

static void naive_remove(struct naive_link *n, unsigned i)
{
    n->count--;
    memmove(n->start_ns + i, n->start_ns + i + 1, (n->count - i) * sizeof n->start_ns[0]);
    memmove(n->end_ns + i, n->end_ns + i + 1, (n->count - i) * sizeof n->end_ns[0]);
}

static void naive_make_room(struct naive_link *n, double now_ns)
{
    unsigned best = 0;
    if (n->count < MEM_LINK_INTERVALS)
        return;
    if (n->end_ns[0] < now_ns - MEM_LINK_LATE_NS) {
        n->floor_ns = n->end_ns[0];
        naive_remove(n, 0);
        return;
    }
    for (unsigned i = 1; i + 1 < n->count; i++)
        if (n->start_ns[i + 1] - n->end_ns[i] < n->start_ns[best + 1] - n->end_ns[best])
            best = i;
    n->end_ns[best] = n->end_ns[best + 1];
    naive_remove(n, best + 1);
}

static double naive_place(struct naive_link *n, double now_ns, double ns)
{
    naive_make_room(n, now_ns);
    double at = now_ns > n->floor_ns ? now_ns : n->floor_ns;
    unsigned i = 0;
    while (i < n->count && (n->end_ns[i] <= at || at + ns > n->start_ns[i] + MEM_LINK_EPSILON_NS)) {
        at = n->end_ns[i] > at ? n->end_ns[i] : at;
        i++;
    }
    for (unsigned k = n->count; k > i; k--) {
        n->start_ns[k] = n->start_ns[k - 1];
        n->end_ns[k] = n->end_ns[k - 1];
    }
    n->start_ns[i] = at;
    n->end_ns[i] = at + ns;
    n->count++;
    if (i + 1 < n->count && n->end_ns[i] >= n->start_ns[i + 1] - MEM_LINK_EPSILON_NS) {
        n->end_ns[i] = n->end_ns[i + 1];
        naive_remove(n, i + 1);
    }
    if (i > 0 && n->start_ns[i] <= n->end_ns[i - 1] + MEM_LINK_EPSILON_NS) {
        n->end_ns[i - 1] = n->end_ns[i];
        naive_remove(n, i);
    }
    return at;
}

/* Requests of several cores that take turns, each ahead of the others by up to `ahead_ns`, on a link that is more or less busy.
 */
static unsigned compare_places(double (*place)(struct mem_link *, double, double), uint64_t *seed, double pace_ns, unsigned ahead)
{
    static struct naive_link naive;
    struct mem_link link;
    unsigned wrong = 0;
    double begin_ns = 0;
    naive = (struct naive_link){.count = 0};
    mem_link_init(&link, 1.0);
    for (unsigned turn = 0; turn < 400; turn++, begin_ns += turn % 4 == 0 ? ahead : 0) {
        double now_ns = begin_ns;
        for (unsigned i = 0; i < ahead && now_ns < begin_ns + ahead; i++) {
            now_ns += pace_ns * (double)(suite_random(seed) % 64) / 16;
            const double ns = 0.25 * (double)(1 + suite_random(seed) % 6);
            wrong += place(&link, now_ns, ns) != naive_place(&naive, now_ns, ns);
        }
        wrong += link.count != naive.count || link.floor_ns != naive.floor_ns ||
                 memcmp(link.start_ns + link.first, naive.start_ns, naive.count * sizeof naive.start_ns[0]) != 0 ||
                 memcmp(link.end_ns + link.first, naive.end_ns, naive.count * sizeof naive.end_ns[0]) != 0;
    }
    return wrong;
}

static void test_links_agree_with_a_plain_list(void)
{
    static double (*const places[])(struct mem_link *, double, double) = {mem_link_place_portable, mem_link_place_ns};
    uint64_t seed = 11;
    for (unsigned p = 0; p < ARRAY_COUNT(places); p++)
        for (unsigned pace = 1; pace < 16; pace++)
            for (unsigned ahead = 30; ahead <= 240; ahead += 70) {
                const unsigned wrong = compare_places(places[p], &seed, pace / 2.0, ahead);
                CHECK(wrong == 0, "variant %u, pace %u, ahead %u: %u placements differ", p, pace, ahead, wrong);
            }
}

static void test_slots_agree_with_a_sorted_list(void)
{
    enum { MOST = 1200 };
    static double naive[MOST];
    uint64_t seed = 17;
    for (uint32_t count = 1; count < MOST; count += 1 + count / 8) { /* the largest ones are heaps, of odd and even sizes */
        struct mem_slots slots;
        unsigned wrong = 0;
        memset(naive, 0, sizeof naive);
        CU_ASSERT_TRUE_FATAL(mem_slots_init(&slots, count));
        for (unsigned i = 0; i < 3000; i++) {
            const double until_ns = i / 4.0 + (double)(suite_random(&seed) % 40);
            uint32_t least = 0;
            for (uint32_t k = 1; k < count; k++)
                least = naive[k] < naive[least] ? k : least;
            wrong += mem_slots_ready(&slots, -1.0) != naive[least];
            naive[least] = until_ns;
            mem_slots_take(&slots, until_ns);
        }
        CHECK(wrong == 0, "%u slots: %u answers differ", count, wrong);
        mem_slots_release(&slots);
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

/* One set with everything written out: a stamp of the last use for each way. */
struct naive_set {
    uint64_t line[64], stamp[64]; /* line + 1; 0 = empty */
    double ready_ns[64];
    uint8_t flags[64];
};

static uint32_t naive_find(const struct naive_set *set, uint32_t ways, uint64_t line)
{
    uint32_t w = 0;
    while (w < ways && set->line[w] != line + 1)
        w++;
    return w;
}

/* The first empty way, else the least recently used one. */
static uint32_t naive_victim(const struct naive_set *set, uint32_t ways)
{
    uint32_t oldest = 0;
    for (uint32_t w = 1; w < ways; w++)
        if (set->stamp[w] < set->stamp[oldest])
            oldest = w;
    return oldest;
}

static bool same_entry(const struct mem_cache *cache, const struct naive_set *set, uint32_t w, const struct mem_entry *entry)
{
    if (w == cache->ways)
        return entry->way == NULL;
    return entry->way && entry->number == w && *entry->flags == set->flags[w] &&
           mem_cache_ready_ns(cache, entry) == set->ready_ns[w];
}

static bool insert_both(struct mem_cache *cache, struct naive_set *set, uint64_t line, uint64_t stamp)
{
    const uint32_t w = naive_victim(set, cache->ways);
    const uint8_t flags = stamp % 64;
    struct mem_victim victim;
    mem_cache_insert(cache, line, (double)stamp, flags, &victim);
    const bool same = victim.valid == (set->line[w] != 0) &&
                      (!victim.valid || (victim.line + 1 == set->line[w] && victim.flags == set->flags[w]));
    set->line[w] = line + 1;
    set->stamp[w] = stamp;
    set->flags[w] = flags;
    set->ready_ns[w] = (double)stamp;
    return same;
}

static bool remove_both(struct mem_cache *cache, struct naive_set *set, uint32_t w, uint64_t line)
{
    bool present;
    const uint8_t flags = mem_cache_remove(cache, line, &present);
    if (w == cache->ways)
        return !present && flags == 0;
    const bool same = present && flags == set->flags[w];
    set->line[w] = set->stamp[w] = set->flags[w] = 0;
    return same;
}

static void settle_both(struct mem_cache *cache, struct naive_set *naive, double now_ns)
{
    mem_cache_settle(cache, now_ns);
    for (uint32_t s = 0; s < cache->sets; s++)
        for (uint32_t w = 0; w < cache->ways; w++)
            naive[s].ready_ns[w] = now_ns;
}

/* Lookups, insertions, removals, arrivals of everything and clearings, at random. */
static void check_lru(uint32_t sets, uint32_t ways)
{
    struct mem_cache cache;
    CU_ASSERT_TRUE_FATAL(mem_cache_init(&cache, (uint64_t)sets * ways, ways, false));
    struct naive_set naive[8];
    memset(naive, 0, sizeof naive);
    uint64_t seed = sets + 100 * ways;
    unsigned wrong = 0;
    for (uint64_t i = 1; i <= 40000; i++) {
        const uint64_t line = suite_random(&seed) % (2 * sets * ways), kind = suite_random(&seed) % 2000;
        struct naive_set *set = &naive[line % sets];
        const uint32_t w = naive_find(set, ways, line);
        const struct mem_entry entry = mem_cache_find(&cache, line);
        wrong += !same_entry(&cache, set, w, &entry);
        if (kind < 200) {
            wrong += !remove_both(&cache, set, w, line);
        } else if (kind == 200) {
            settle_both(&cache, naive, (double)i);
        } else if (kind == 201) {
            mem_cache_clear(&cache);
            memset(naive, 0, sizeof naive);
        } else if (entry.way) {
            mem_cache_touch(&cache, &entry);
            set->stamp[w] = i;
        } else {
            wrong += !insert_both(&cache, set, line, i);
        }
    }
    CHECK(wrong == 0, "%u sets of %u ways: %u differences", sets, ways, wrong);
    mem_cache_release(&cache);
}

static void test_cache_is_lru(void)
{
    static const uint32_t ways[] = {1, 2, 4, 8, 12, 15, 16, 17, 33, 64};
    for (unsigned i = 0; i < ARRAY_COUNT(ways); i++) {
        check_lru(8, ways[i]);
        check_lru(5, ways[i]); /* not a power of two */
        check_lru(1, ways[i]);
    }
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

static bool same_link(const struct mem_link *a, const struct mem_link *b)
{
    return a->count == b->count && a->floor_ns == b->floor_ns &&
           memcmp(a->start_ns + a->first, b->start_ns + b->first, a->count * sizeof a->start_ns[0]) == 0 &&
           memcmp(a->end_ns + a->first, b->end_ns + b->first, a->count * sizeof a->end_ns[0]) == 0;
}

/* Requests that come in one go start when single ones would, and leave the link as single ones would, whatever lies ahead. */
static void test_requests_in_one_go(void)
{
    static struct mem_link single, batch;
    uint64_t seed = 9;
    unsigned refused = 0, tried = 0;
    mem_link_init(&single, 200.0);
    mem_link_init(&batch, 200.0);
    double now = 0;
    for (unsigned round = 0; round < 20000; round++) {
        const double ns = 0.64, pace = round % 1000 < 500 ? 0.9 : 0.3;
        const uint32_t count = 1 + suite_random(&seed) % 16;
        double asked[16], at[16];
        if (suite_random(&seed) % 8 == 0) /* something for later, as stores that wait for their turn */
            for (unsigned i = 0; i < 8; i++) {
                mem_link_take_ns(&single, now + 11.7 * i, ns);
                mem_link_take_ns(&batch, now + 11.7 * i, ns);
            }
        for (uint32_t i = 0; i < count; i++, now += pace * (suite_random(&seed) % 3))
            asked[i] = now;
        const bool can = mem_link_try(&batch, asked, count, ns, at);
        const uint32_t taken = can ? (uint32_t)(suite_random(&seed) % (count + 1)) : count;
        refused += !can;
        tried += can;
        for (uint32_t i = 0; i < taken; i++) {
            const double start = mem_link_take_ns(&single, asked[i], ns);
            CU_ASSERT_FATAL(!can || start == at[i]);
            if (!can)
                mem_link_take_ns(&batch, asked[i], ns);
        }
        if (can)
            mem_link_take_tried(&batch, asked, taken, ns, at);
        CU_ASSERT_FATAL(same_link(&single, &batch));
        now += round % 1000 < 800 ? 2.0 : 0.1;
    }
    CU_ASSERT(tried > 10000);
}

static const struct suite_test tests[] = {
    {"a link serialises", test_link_serialises},
    {"a link fills gaps", test_link_fills_gaps},
    {"a link without a rate is free", test_link_without_rate_is_free},
    {"a link agrees with a calendar", test_link_against_calendar},
    {"links agree with a plain list", test_links_agree_with_a_plain_list},
    {"requests in one go", test_requests_in_one_go},
    {"slots agree with a sorted list", test_slots_agree_with_a_sorted_list},
    {"slots hand out the earliest place", test_slots_hand_out_the_earliest},
    {"caches are true LRU", test_cache_is_lru},
    {"caches refuse nonsense", test_cache_refuses_nonsense},
    {"gathering completes lines", test_gather_completes_lines},
    {"gathering displaces the oldest line", test_gather_displaces_the_oldest},
};
SUITE_MAIN("mem_queue", tests)
