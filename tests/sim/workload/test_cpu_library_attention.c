/* Attention and rotary positions of the NEON library, executed: against double precision within the bounds of units/routines; odd
 * lengths and depths, shared heads; the same bytes on three threads. */
#include "tests/sim/library_cases.h"

static void test_attention(void)
{
    LIBRARY_ALL(false, library_attentions);
}

/* One token behind others, several of them, all; heads that share keys; depths that are no fours. */
static void test_cache(void)
{
    static const char *const workloads[] = {"cache-attention:h=1,s=1,d=1",           "cache-attention:h=2,s=3,d=2",
                                            "cache-attention:h=8,s=37,d=8,kvh=4",    "cache-attention:h=4,s=16,d=64,kvh=1,q=3",
                                            "cache-attention:h=3,s=21,d=19,q=21",    "cache-attention:h=2,s=130,d=128",
                                            "cache-attention:h=6,s=9,d=33,kvh=2,q=9"};
    LIBRARY_ALL(false, workloads);
}

/* Keys and values of fewer bits: several heads in a block, one, several blocks of a head. */
static void test_cache_types(void)
{
    static const char *const workloads[] = {
        "cache-attention:h=8,s=37,d=8,kvh=4,cached=q8_0", "cache-attention:h=2,s=21,d=32,q=21,cached=q8_0",
        "cache-attention:h=4,s=66,d=80,kvh=2,q=3,cached=q8_0", "cache-attention:h=3,s=5,d=4,cached=f16",
        "cache-attention:h=4,s=70,d=64,kvh=1,q=2,cached=f16"};
    static const char *const into[] = {"quantise:32", "quantise:1056"}, *const types[] = {"f32", "q8_0", "f16"};
    neon_all(workloads, ARRAY_COUNT(workloads), types, 1);
    neon_all(into, ARRAY_COUNT(into), types + 1, 2);
}

/* Keys and values in pages: the last one full, in part, alone; others of the pool are not touched by the reference. */
static void test_cache_pages(void)
{
    static const char *const workloads[] = {
        "cache-attention:h=2,s=3,d=2,page=4", "cache-attention:h=8,s=37,d=8,kvh=4,page=8,pages=9",
        "cache-attention:h=3,s=21,d=19,q=21,page=4", "cache-attention:h=2,s=128,d=33,page=32,pages=5"};
    static const char *const others[] = {"cache-attention:h=8,s=37,d=8,kvh=4,q=5,page=16,pages=4,cached=q8_0",
                                         "cache-attention:h=4,s=70,d=64,kvh=1,q=2,page=4,pages=40,cached=f16"},
                             *const types[] = {"f32"};
    LIBRARY_ALL(false, workloads);
    neon_all(others, ARRAY_COUNT(others), types, 1);
}

/* What keys and values of a token are, wherever it lies. */
enum { PAGED_TOKENS = 45, PAGED_ROW = 24, PAGE_TOKENS = 8, POOL_PAGES = 11, TEXT_PAGES = 6 };

static unsigned page_at(unsigned number)
{
    return (7 * number + 3) % POOL_PAGES;
}

static double value_in_pages(const struct neon_example *x, unsigned operand, uint64_t index)
{
    const bool paged = x->own != NULL;
    uint64_t row = index / PAGED_ROW, state;
    if (paged && operand == 3)
        return page_at((unsigned)index);
    for (unsigned n = 0; paged && operand && n < TEXT_PAGES; n++)
        if (page_at(n) == index / PAGED_ROW / PAGE_TOKENS) {
            row = (uint64_t)n * PAGE_TOKENS + index / PAGED_ROW % PAGE_TOKENS;
            break;
        }
    state = 1000003 * operand + (operand ? row * PAGED_ROW + index % PAGED_ROW : index);
    suite_random(&state);
    return -1 + 2 * (double)(suite_random(&state) >> 11) * 0x1p-53;
}

/* The same bytes as from a cache in one piece. */
static void test_pages_are_exact(void)
{
    static const char one[] = "cache-attention:h=6,s=45,d=8,kvh=3,q=4", pages[] = ",page=8,pages=11";
    for (size_t t = 0; t < ARRAY_COUNT(library_types); t++) {
        struct neon_example whole = {.value = value_in_pages}, paged = {.value = value_in_pages, .own = pages};
        char workload[96];
        snprintf(workload, sizeof workload, "%s%s", one, pages);
        const bool ok = neon_run(&whole, one, library_types[t], 1) && neon_run(&paged, workload, library_types[t], 1);
        CHECK(ok, "%s %s", whole.error.text, paged.error.text);
        CHECK(ok && neon_checksum(&whole) == neon_checksum(&paged), "%s in pages: other bytes", library_types[t]);
        neon_close(&whole);
        neon_close(&paged);
    }
}

/* Queries that see all keys, also more of them than there are keys; a bias of each score; scores that depth does not scale. */
static void test_cache_bias(void)
{
    static const char *const workloads[] = {
        "cache-attention:h=3,s=21,d=19,q=4,bias=1", "cache-attention:h=4,s=5,d=8,kvh=2,q=9,seen=all",
        "cache-attention:h=8,s=37,d=8,bias=1,scale=one", "cache-attention:h=3,s=21,d=19,q=4,bias=1,page=8,pages=5",
        "cache-attention:h=2,s=18,d=32,q=18,seen=all,bias=1,scale=one"};
    static const char *const others[] = {"cache-attention:h=8,s=6,d=8,q=9,seen=all,cached=q8_0",
                                         "cache-attention:h=4,s=7,d=64,q=9,seen=all,page=4,pages=40,cached=f16,scale=one",
                                         "cache-attention:h=8,s=37,d=8,q=3,bias=1,cached=q8_0",
                                         "cache-attention:h=2,s=18,d=32,q=5,bias=1,page=4,pages=9,cached=q8_0,scale=one",
                                         "cache-attention:h=3,s=22,d=20,q=4,bias=1,cached=f16",
                                         "cache-attention:h=4,s=70,d=64,q=2,bias=1,page=16,pages=6,cached=f16"},
                             *const types[] = {"f32"};
    LIBRARY_ALL(false, workloads);
    neon_all(others, ARRAY_COUNT(others), types, 1);
}

static void test_steep_scores(void)
{
    library_steep_scores(false);
}

static void test_rope(void)
{
    static const char *const workloads[] = {"rope:h=1,s=1,d=2",
                                            "rope:b=2,h=3,s=5,d=8",
                                            "rope:h=2,s=17,d=34",
                                            "rope:h=1,s=33,d=64,style=interleaved",
                                            "rope:h=1,s=7,d=128,base=500000,offset=8185",
                                            "rope:h=1,s=9,d=6,offset=4000,style=interleaved",
                                            "rope:b=2,h=3,s=5,d=8,order=tokens",
                                            "rope:h=5,s=7,d=10,part=6,offset=3",
                                            "rope:h=2,s=6,d=16,part=4,style=interleaved,order=tokens",
                                            "rope:h=3,s=4,d=34,scales=1,order=tokens,offset=50"};
    LIBRARY_ALL(false, workloads);
}

static void test_refusals(void)
{
    neon_refused("attention:h=3,s=4,d=4,kvh=2", NULL, "no multiple of kvh");
    neon_refused("attention:s=4,d=4", NULL, "h is missing");
    neon_refused("cache-attention:h=3,s=4,d=4,kvh=2", NULL, "no multiple of kvh");
    neon_refused("cache-attention:h=3,s=4,d=4,q=5", NULL, "q = 5 queries are among s = 4");
    neon_refused("cache-attention:h=1,s=4,d=8,cached=q8_0", "f32", "no whole blocks of 32");
    neon_refused("cache-attention:h=1,s=4,d=32,cached=q8_0", "f16", "queries are f32");
    neon_refused("cache-attention:h=1,s=9,d=4,page=6", NULL, "no power of two from 4 on");
    neon_refused("cache-attention:h=1,s=9,d=4,page=2", NULL, "no power of two from 4 on");
    neon_refused("cache-attention:h=1,s=9,d=4,page=4,pages=2", NULL, "need 3 pages");
    neon_refused("cache-attention:h=1,s=9,d=4,pages=2", NULL, "of how many tokens");
    neon_refused("quantise:33", "q8_0", "multiples of 32");
    neon_refused("rope:h=1,s=4,d=3", NULL, "even");
    neon_refused("rope:h=1,s=4,d=8,part=3", NULL, "even");
    neon_refused("rope:h=1,s=4,d=8,part=10", NULL, "part = 10 of the d = 8");
    neon_refused("rope:h=1,s=8192,d=4,offset=1", NULL, "8192");
}

static const struct suite_test tests[] = {
    {"attention", test_attention},
    {"over a cache", test_cache},
    {"over a cache of another type", test_cache_types},
    {"over pages", test_cache_pages},
    {"pages give the same bytes", test_pages_are_exact},
    {"queries that see all, and biases", test_cache_bias},
    {"steep scores", test_steep_scores},
    {"rope", test_rope},
    {"refusals", test_refusals},
};
SUITE_MAIN("neon attention", tests)
