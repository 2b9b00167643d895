/* Attention of the AMX library, executed on the block of each generation: against double precision within the bounds of
 * units/routines; odd lengths and depths, shared heads, masks. */
#include "isa/array_count.h"
#include "tests/sim/library_cases.h"

static void test_attention(void)
{
    LIBRARY_ALL(true, library_attentions);
}

static void test_steep_scores(void)
{
    library_steep_scores(true);
}

/* All heads with their projections: odd lengths, depths and numbers of heads; the same bytes however many threads there are. */
static void test_projections(void)
{
    static const char *const workloads[] = {"mha:1x1,h=1",           "mha:3x8,h=2",   "mha:17x33,h=3",
                                            "mha:65x64,h=4",         "mha:70x40,h=1", "mha:9x30,h=10,causal=1",
                                            "mha:33x96,h=2,causal=1"};
    static const char *const types[] = {"f32"};
    uint64_t first = 0;
    amx_all(workloads, ARRAY_COUNT(workloads), types, 1);
    for (unsigned threads = 1; threads <= 8; threads++) {
        struct neon_example x = {.seed = 3, .amx = true};
        const bool ok = neon_compare(&x, "mha:70x48,h=3", "f32", threads);
        first = threads == 1 && ok ? neon_checksum(&x) : first;
        CHECK(ok && neon_checksum(&x) == first, "other bytes on %u threads", threads);
        neon_close(&x);
    }
}

static void test_refusals(void)
{
    amx_refused("mha:8x10,h=3", NULL, "no multiple of h");
    amx_refused("mha:8x8,h=2", "f16", "f32");
    amx_refused("attention:h=3,s=4,d=4,kvh=2", NULL, "no multiple of kvh");
    amx_refused("attention:h=3,s=4,d=4", "i8", "f32 f16 bf16");
}

static const struct suite_test tests[] = {
    {"attention", test_attention},
    {"steep scores", test_steep_scores},
    {"attention with its projections", test_projections},
    {"refusals", test_refusals},
};
SUITE_MAIN("amx attention", tests)
