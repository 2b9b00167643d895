/* Convolutions of the AMX library, executed on the block of each generation: against sums in double precision within
 * (C R S + 4) u sum |x w|; 1 x 1, 3 x 3, others, strides, padding, dilation, groups, depthwise, bias and activations. */
#include "isa/array_count.h"
#include "tests/sim/cpu_library_example.h"

static const char *const types[] = {"f32", "f16", "bf16"};

static void test_matrices(void)
{
    static const char *const workloads[] = {
        "conv2d:c=1,h=3,w=3,k=8",
        "conv2d:c=3,h=9,w=17,k=5,pad=1",
        "conv2d:c=7,h=7,w=7,k=33,r=1,s=1",
        "conv2d:c=2,h=8,w=16,k=16,r=1,s=1",
        "conv2d:n=2,c=5,h=13,w=11,k=9,r=5,s=3,pad=2,stride=2",
        "conv2d:c=2,h=16,w=33,k=12,dilation=2,pad=2",
        "conv2d:c=33,h=5,w=6,k=3,r=3,s=3",
        "conv2d:c=64,h=8,w=8,k=16,r=3,s=3,pad=1",
        "conv2d:c=3,h=20,w=20,k=17,r=7,s=7,stride=2,pad=3",
    };
    amx_all(workloads, ARRAY_COUNT(workloads), types, ARRAY_COUNT(types));
}

static void test_groups(void)
{
    static const char *const workloads[] = {
        "conv2d:c=4,h=6,w=7,k=6,groups=2,pad=1",
        "conv2d:n=2,c=9,h=5,w=5,k=27,groups=3",
        "conv2d:c=5,h=9,w=33,k=5,groups=5,pad=1",
        "conv2d:c=3,h=17,w=70,k=6,groups=3,r=3,s=5,pad=2",
        "conv2d:c=3,h=11,w=90,k=3,groups=3,stride=2,pad=1",
        "conv2d:c=2,h=9,w=40,k=2,groups=2,dilation=3,pad=3",
        "conv2d:c=2,h=4,w=4,k=16,groups=2,r=1,s=1",
    };
    amx_all(workloads, ARRAY_COUNT(workloads), types, ARRAY_COUNT(types));
}

static void test_ends(void)
{
    static const char *const workloads[] = {
        "conv2d:c=3,h=9,w=9,k=10,pad=1,bias=1",
        "conv2d:c=3,h=9,w=9,k=10,pad=1,bias=1,act=relu",
        "conv2d:c=5,h=7,w=7,k=5,groups=5,pad=1,bias=1,act=hard_swish",
        "conv2d:c=4,h=5,w=5,k=9,act=silu",
        "conv2d:c=4,h=9,w=9,k=3,act=gelu,bias=1",
    };
    amx_all(workloads, ARRAY_COUNT(workloads), types, ARRAY_COUNT(types));
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
