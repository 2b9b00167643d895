/* Attention of the AMX library, executed on the block of each generation: against double precision within the bounds of
 * units/routines; odd lengths and depths, shared heads, masks. */
#include "tests/sim/library_cases.h"

static void test_attention(void)
{
    LIBRARY_ALL(true, library_attentions);
}

static void test_steep_scores(void)
{
    library_steep_scores(true);
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
