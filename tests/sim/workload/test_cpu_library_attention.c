/* Attention and rotary positions of the NEON library, executed: against double precision within the bounds of units/routines; odd
 * lengths and depths, shared heads; the same bytes on three threads. */
#include "isa/array_count.h"
#include "tests/sim/cpu_library_example.h"

static const char *const types[] = {"f32", "f16", "bf16"};

static void test_attention(void)
{
    static const char *const workloads[] = {"attention:h=1,s=1,d=1",
                                            "attention:h=2,s=3,d=2",
                                            "attention:h=1,s=7,d=17",
                                            "attention:b=2,h=4,s=13,d=12,kvh=2",
                                            "attention:h=2,s=33,d=31,causal=1",
                                            "attention:h=3,s=64,d=64,causal=1,kvh=1",
                                            "attention:b=2,h=1,s=100,d=24"};
    neon_all(workloads, ARRAY_COUNT(workloads), types, ARRAY_COUNT(types));
}

/* One token behind others, several of them, all; heads that share keys; depths that are no fours. */
static void test_cache(void)
{
    static const char *const workloads[] = {"cache-attention:h=1,s=1,d=1",           "cache-attention:h=2,s=3,d=2",
                                            "cache-attention:h=8,s=37,d=8,kvh=4",    "cache-attention:h=4,s=16,d=64,kvh=1,q=3",
                                            "cache-attention:h=3,s=21,d=19,q=21",    "cache-attention:h=2,s=130,d=128",
                                            "cache-attention:h=6,s=9,d=33,kvh=2,q=9"};
    neon_all(workloads, ARRAY_COUNT(workloads), types, ARRAY_COUNT(types));
}

/* Large scores: powers of most keys vanish. */
static double steep(const struct neon_example *x, unsigned operand, uint64_t index)
{
    uint64_t state = index * 31 + operand * 7919 + 3;
    (void)x;
    suite_random(&state);
    return (operand == 0 ? 30 : 1) * (-1 + 2 * (double)(suite_random(&state) >> 11) * 0x1p-53);
}

static void test_steep_scores(void)
{
    for (size_t i = 0; i < ARRAY_COUNT(types); i++) {
        struct neon_example x = {.value = steep};
        neon_compare(&x, "attention:h=1,s=40,d=16", types[i], 1);
        neon_close(&x);
    }
}

static void test_rope(void)
{
    static const char *const workloads[] = {"rope:h=1,s=1,d=2",
                                            "rope:b=2,h=3,s=5,d=8",
                                            "rope:h=2,s=17,d=34",
                                            "rope:h=1,s=33,d=64,style=interleaved",
                                            "rope:h=1,s=7,d=128,base=500000,offset=8185",
                                            "rope:h=1,s=9,d=6,offset=4000,style=interleaved"};
    neon_all(workloads, ARRAY_COUNT(workloads), types, ARRAY_COUNT(types));
}

static void test_refusals(void)
{
    neon_refused("attention:h=3,s=4,d=4,kvh=2", NULL, "no multiple of kvh");
    neon_refused("attention:s=4,d=4", NULL, "h is missing");
    neon_refused("cache-attention:h=3,s=4,d=4,kvh=2", NULL, "no multiple of kvh");
    neon_refused("cache-attention:h=3,s=4,d=4,q=5", NULL, "q = 5 queries are among s = 4");
    neon_refused("rope:h=1,s=4,d=3", NULL, "even");
    neon_refused("rope:h=1,s=8192,d=4,offset=1", NULL, "8192");
}

static const struct suite_test tests[] = {
    {"attention", test_attention}, {"over a cache", test_cache}, {"steep scores", test_steep_scores},
    {"rope", test_rope},           {"refusals", test_refusals},
};
SUITE_MAIN("neon attention", tests)
