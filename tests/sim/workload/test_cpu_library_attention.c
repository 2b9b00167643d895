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
    neon_refused("quantise:33", "q8_0", "multiples of 32");
    neon_refused("rope:h=1,s=4,d=3", NULL, "even");
    neon_refused("rope:h=1,s=4,d=8,part=3", NULL, "even");
    neon_refused("rope:h=1,s=4,d=8,part=10", NULL, "part = 10 of the d = 8");
    neon_refused("rope:h=1,s=8192,d=4,offset=1", NULL, "8192");
}

static const struct suite_test tests[] = {
    {"attention", test_attention},       {"over a cache", test_cache}, {"over a cache of another type", test_cache_types},
    {"steep scores", test_steep_scores}, {"rope", test_rope},          {"refusals", test_refusals},
};
SUITE_MAIN("neon attention", tests)
