/* Attention of the AMX library, executed on the block of each generation: against double precision within the bounds of
 * units/routines; odd lengths and depths, shared heads, masks. */
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
                                            "attention:h=1,s=130,d=16,causal=1",
                                            "attention:b=2,h=1,s=100,d=24"};
    amx_all(workloads, ARRAY_COUNT(workloads), types, ARRAY_COUNT(types));
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
        struct neon_example x = {.value = steep, .amx = true};
        neon_compare(&x, "attention:h=1,s=40,d=16", types[i], 1);
        neon_close(&x);
    }
}

static void test_refusals(void)
{
    amx_refused("attention:h=3,s=4,d=4,kvh=2", NULL, "no multiple of kvh");
    amx_refused("attention:h=3,s=4,d=4", "i8", "f32 f16 bf16");
}

static const struct suite_test tests[] = {
    {"attention", test_attention},
    {"steep scores", test_steep_scores},
    {"refusals", test_refusals},
};
SUITE_MAIN("amx attention", tests)
