/* Convolutions of the AMX library, executed on the block of each generation: against sums in double precision within
 * (C R S + 4) u sum |x w|; 1 x 1, 3 x 3, others, strides, padding, dilation, groups, depthwise, bias and activations. */
#include "tests/sim/library_cases.h"

static void test_matrices(void)
{
    LIBRARY_ALL(true, library_convs);
}

static void test_groups(void)
{
    LIBRARY_ALL(true, library_conv_groups);
}

static void test_ends(void)
{
    LIBRARY_ALL(true, library_conv_ends);
}

static void test_refusals(void)
{
    amx_refused("conv2d:c=3,h=4,w=4,k=4,groups=2", NULL, "multiples of groups");
    amx_refused("conv2d:c=3,h=2,w=2,k=4", NULL, "do not fit");
    amx_refused("conv2d:c=3,h=9,w=9,k=4,act=mish", NULL, "has the activations relu");
    amx_refused("conv2d:c=3,h=9,w=9,k=4,algo=direct", NULL, "no option 'algo'");
}

/* The sums are the block's: one product too many is found. */
static void test_comparison_can_fail(void)
{
    struct neon_example x = {.seed = 5, .amx = true};
    struct routine_difference d = {.wrong = 0};
    const bool ran = neon_run(&x, "conv2d:c=3,h=9,w=9,k=10,pad=1", "f32", 1);
    CHECK(ran, "%s", x.error.text);
    if (ran) {
        x.before[1][7 * 27 + 4] += 0.5; /* a weight of output channel 7 */
        CHECK(routine_compare(&x.library.request, &x.library.work, (const double *const *)x.before,
                              neon_bytes(&x, routine_result(&x.library.work)), &d) &&
                  d.wrong >= 64 && d.wrong <= 81 && d.at >= 7 * 81 && d.at < 8 * 81,
              "%llu wrong, the worst at %llu", (unsigned long long)d.wrong, (unsigned long long)d.at);
    }
    neon_close(&x);
}

static const struct suite_test tests[] = {
    {"products of matrices", test_matrices},
    {"groups", test_groups},
    {"bias and activations", test_ends},
    {"refusals", test_refusals},
    {"the comparison can fail", test_comparison_can_fail},
};
SUITE_MAIN("amx conv", tests)
