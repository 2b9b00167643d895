/* Convolutions of the NEON library, executed: against sums in double precision within (C R S + 4) u sum |x w|; 1 x 1, 3 x 3,
 * others, strides, padding, dilation, groups, depthwise, bias and activations; the same bytes on three threads. */
#include "isa/array_count.h"
#include "tests/sim/cpu_library_example.h"

static const char *const types[] = {"f32", "f16", "bf16"};

static void test_matrices(void)
{
    static const char *const workloads[] = {
        "conv2d:c=1,h=3,w=3,k=8",
        "conv2d:c=3,h=9,w=17,k=5,pad=1",
        "conv2d:c=7,h=7,w=7,k=33,r=1,s=1",
        "conv2d:n=2,c=5,h=13,w=11,k=9,r=5,s=3,pad=2,stride=2",
        "conv2d:c=2,h=16,w=33,k=12,dilation=2,pad=2",
        "conv2d:c=33,h=5,w=6,k=3,r=3,s=3",
        "conv2d:c=64,h=8,w=8,k=16,r=3,s=3,pad=1",
        "conv2d:c=3,h=20,w=20,k=4,r=7,s=7,stride=2,pad=3",
    };
    neon_all(workloads, ARRAY_COUNT(workloads), types, ARRAY_COUNT(types));
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
    neon_all(workloads, ARRAY_COUNT(workloads), types, ARRAY_COUNT(types));
}

static void test_ends(void)
{
    static const char *const workloads[] = {
        "conv2d:c=3,h=9,w=9,k=10,pad=1,bias=1", "conv2d:c=3,h=9,w=9,k=10,pad=1,bias=1,act=relu",
        "conv2d:c=5,h=7,w=7,k=5,groups=5,pad=1,bias=1,act=hard_swish", "conv2d:c=4,h=5,w=5,k=9,act=silu"};
    neon_all(workloads, ARRAY_COUNT(workloads), types, ARRAY_COUNT(types));
}

/* Few pixels: threads share the channels. */
static void test_threads(void)
{
    uint64_t first = 0;
    for (unsigned threads = 1; threads <= 8; threads += 1) {
        struct neon_example x = {.seed = 3};
        const bool ok = neon_compare(&x, "conv2d:c=16,h=5,w=5,k=61,pad=1", "f32", threads);
        first = threads == 1 && ok ? neon_checksum(&x) : first;
        CHECK(ok && neon_checksum(&x) == first, "other bytes on %u threads", threads);
        neon_close(&x);
    }
}

static void test_refusals(void)
{
    neon_refused("conv2d:c=3,h=4,w=4,k=4,groups=2", NULL, "multiples of groups");
    neon_refused("conv2d:c=3,h=2,w=2,k=4", NULL, "do not fit");
    neon_refused("conv2d:c=3,h=9,w=9,k=4,act=add", NULL, "one operand");
    neon_refused("conv2d:c=3,h=9,w=9,k=4,algo=direct", NULL, "no option 'algo'");
}

static const struct suite_test tests[] = {
    {"products of matrices", test_matrices},       {"groups", test_groups},     {"bias and activations", test_ends},
    {"threads do not change bytes", test_threads}, {"refusals", test_refusals},
};
SUITE_MAIN("neon conv", tests)
