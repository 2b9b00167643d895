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

/* As the others, within errors that may be 2304 times as large: far below what a wrong tap would make. */
static void test_winograd(void)
{
    static const char *const workloads[] = {
        "conv2d:c=1,h=3,w=3,k=1,algo=winograd4",         "conv2d:c=3,h=9,w=17,k=5,pad=1,algo=winograd4",
        "conv2d:c=5,h=6,w=6,k=9,algo=winograd4",         "conv2d:n=2,c=7,h=13,w=31,k=17,pad=2,bias=1,act=relu,algo=winograd4",
        "conv2d:c=300,h=5,w=7,k=8,pad=1,algo=winograd4",
    };
    struct neon_example x = {.seed = 5};
    struct routine_difference d = {.wrong = 0};
    library_all(false, workloads, ARRAY_COUNT(workloads));
    if (neon_run(&x, "conv2d:c=4,h=9,w=9,k=10,pad=1,algo=winograd4", "f32", 1)) {
        x.before[1][7 * 36 + 4] += 0.05; /* a weight of output channel 7 */
        CHECK(routine_compare(&x.library.request, &x.library.work, (const double *const *)x.before,
                              neon_bytes(&x, routine_result(&x.library.work)), &d) &&
                  d.wrong >= 9 && d.at >= 7 * 81 && d.at < 8 * 81,
              "%llu wrong, the worst at %llu", (unsigned long long)d.wrong, (unsigned long long)d.at);
    }
    neon_close(&x);
    neon_refused("conv2d:c=3,h=9,w=9,k=4,stride=2,algo=winograd4", NULL, "stride 1");
    neon_refused("conv2d:c=3,h=9,w=9,k=4,algo=winograd4", "i8", "floats");
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
    neon_refused("conv2d:c=3,h=9,w=9,k=4,algo=direct", NULL, "winograd4");
}

static const struct suite_test tests[] = {
    {"products of matrices", test_matrices},
    {"groups", test_groups},
    {"bias and activations", test_ends},
    {"signed bytes", test_bytes},
    {"Winograd", test_winograd},
    {"threads do not change bytes", test_threads},
    {"refusals", test_refusals},
};
SUITE_MAIN("neon conv", tests)
