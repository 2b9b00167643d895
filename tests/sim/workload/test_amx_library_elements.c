/* Functions of the AMX library, executed on the block of each generation: every one over its range against the host's double
 * precision library, in all types, at odd sizes; chains, special values, and what is refused. */
#include "tests/sim/library_cases.h"

static void test_every_function(void)
{
    library_every_function(true);
}

/* The words are those of M1: every generation gives the same bytes. */
static void test_sizes_and_generations(void)
{
    LIBRARY_ALL(true, library_chains);
}

static void test_special_values(void)
{
    static const char *const ops[] = {"relu", "relu6", "sigmoid", "tanh", "exp", "abs", "neg", "add", "sub", "mul", "leaky_relu"};
    library_special_values(true, ops, ARRAY_COUNT(ops), 1e-6, 0x1p-126);
}

static void test_refusals(void)
{
    amx_refused("elementwise:8", NULL, "op=NAME");
    amx_refused("elementwise:8,op=rellu", NULL, "did you mean relu");
    amx_refused("elementwise:8,op=log", NULL, "has the functions relu");
    amx_refused("elementwise:8,op=div", NULL, "has the functions relu");
    amx_refused("elementwise:12,op=add,period=3", NULL, "no period");
    amx_refused("elementwise:8,op=add", "i8", "f32 f16 bf16");
}

/* The results come from the block: one number that it is given wrongly is found. */
static void test_comparison_can_fail(void)
{
    struct neon_example x = {.seed = 5, .amx = true};
    struct routine_difference d = {.wrong = 0};
    const bool ran = neon_run(&x, "elementwise:100,op=tanh", "f32", 1);
    CHECK(ran, "%s", x.error.text);
    uint8_t *const at = ran ? neon_bytes(&x, routine_result(&x.library.work)) : NULL;
    if (at) {
        at[4 * 77] ^= 0x20;
        CHECK(routine_compare(&x.library.request, &x.library.work, (const double *const *)x.before, at, &d) && d.wrong == 1 &&
                  d.at == 77,
              "%llu wrong", (unsigned long long)d.wrong);
    }
    neon_close(&x);
}

static const struct suite_test tests[] = {
    {"every function", test_every_function},
    {"sizes and generations", test_sizes_and_generations},
    {"special values", test_special_values},
    {"refusals", test_refusals},
    {"the comparison can fail", test_comparison_can_fail},
};
SUITE_MAIN("amx elementwise", tests)
