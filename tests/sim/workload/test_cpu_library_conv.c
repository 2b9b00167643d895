/* Convolutions of the NEON library, executed: against sums in double precision within (C R S + 4) u sum |x w|; 1 x 1, 3 x 3,
 * others, strides, padding, dilation, groups, depthwise, bias and activations; the same bytes on three threads. */
#include "tests/sim/library_cases.h"

static void test_matrices(void)
{
    LIBRARY_ALL(false, library_convs);
}

static void test_groups(void)
{
    LIBRARY_ALL(false, library_conv_groups);
}

static void test_ends(void)
{
    LIBRARY_ALL(false, library_conv_ends);
}

/* Signed bytes: exact, modulo 2^32. */
static void test_bytes(void)
{
    static const char *const i8[] = {"i8"};
    neon_all(library_convs, ARRAY_COUNT(library_convs), i8, 1);
    neon_all(library_conv_groups, ARRAY_COUNT(library_conv_groups), i8, 1);
    neon_all(library_conv_ends, 1, i8, 1);
    neon_refused("conv2d:c=3,h=9,w=9,k=4,act=relu", "i8", "without an activation");
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
    {"products of matrices", test_matrices},       {"groups", test_groups},
    {"bias and activations", test_ends},           {"signed bytes", test_bytes},
    {"threads do not change bytes", test_threads}, {"refusals", test_refusals},
};
SUITE_MAIN("neon conv", tests)
