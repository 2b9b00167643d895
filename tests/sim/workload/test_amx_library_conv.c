/* Convolutions of the AMX library, executed on the block of each generation: against sums in double precision within
 * (C R S + 4) u sum |x w|; 1 x 1, 3 x 3, others, strides, padding, dilation, groups, depthwise, bias and activations; 3 x 3 by
 * Winograd within as much more as its transforms make of errors. */
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

/* As the others, within errors that grow by 64, 2304 and 4579: far below what a wrong weight would make. */
static void test_winograd(void)
{
    static const char *const shapes[] = {
        "c=1,h=3,w=3,k=1",         "c=3,h=9,w=17,k=5,pad=1",  "c=5,h=6,w=6,k=19",
        "c=2,h=50,w=23,k=4,pad=1", "c=100,h=5,w=7,k=8,pad=1", "n=2,c=7,h=13,w=31,k=17,pad=2,bias=1,act=silu",
    };
    static const int sides[] = {2, 4, 6};
    for (size_t side = 0; side < ARRAY_COUNT(sides); side++) {
        struct neon_example x = {.seed = 5, .amx = true};
        struct routine_difference d = {.wrong = 0};
        char text[ARRAY_COUNT(shapes)][100];
        const char *workloads[ARRAY_COUNT(shapes)];
        for (size_t i = 0; i < ARRAY_COUNT(shapes); i++) {
            snprintf(text[i], sizeof text[i], "conv2d:%s,algo=winograd%d", shapes[i], sides[side]);
            workloads[i] = text[i];
        }
        library_all(true, workloads, ARRAY_COUNT(workloads));
        snprintf(text[0], sizeof text[0], "conv2d:c=4,h=9,w=9,k=10,pad=1,algo=winograd%d", sides[side]);
        if (neon_run(&x, text[0], "f32", 1)) {
            x.before[1][7 * 36 + 4] += 0.5; /* a weight of output channel 7 */
            CHECK(routine_compare(&x.library.request, &x.library.work, (const double *const *)x.before,
                                  neon_bytes(&x, routine_result(&x.library.work)), &d) &&
                      d.wrong >= 9 && d.at >= 7 * 81 && d.at < 8 * 81,
                  "%s: %llu wrong, the worst at %llu", text[0], (unsigned long long)d.wrong, (unsigned long long)d.at);
        }
        neon_close(&x);
    }
}

/* The tile that takes the fewest products, lanes without tiles included. */
static void test_winograd_side(void)
{
    static const struct {
        const char *workload, *variant;
    } cases[] = {
        {"conv2d:c=2,h=14,w=14,k=2,pad=1,algo=winograd", "amx_conv_winograd2_f32"}, /* 49 tiles, 16; 9, 64 */
        {"conv2d:c=2,h=28,w=28,k=2,pad=1,algo=winograd", "amx_conv_winograd4_f32"}, /* 49 tiles, 36; 25, 64 */
        {"conv2d:c=2,h=48,w=48,k=2,pad=1,algo=winograd", "amx_conv_winograd6_f32"}, /* 64 tiles, 64; 144 in 3 blocks, 108 */
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        struct neon_example x = {.seed = 1, .amx = true};
        CHECK(neon_run(&x, cases[i].workload, "f32", 1) && strcmp(x.library.work.variant, cases[i].variant) == 0, "%s: %s",
              cases[i].workload, x.library.work.variant);
        neon_close(&x);
    }
}

static void test_threads(void)
{
    uint64_t first = 0;
    for (unsigned threads = 1; threads <= 4; threads++) {
        struct neon_example x = {.seed = 3, .amx = true};
        const bool ok = neon_compare(&x, "conv2d:n=3,c=9,h=20,w=20,k=20,pad=1,algo=winograd4", "f32", threads);
        first = threads == 1 && ok ? neon_checksum(&x) : first;
        CHECK(ok && neon_checksum(&x) == first, "other bytes on %u threads", threads);
        neon_close(&x);
    }
}

static void test_refusals(void)
{
    amx_refused("conv2d:c=3,h=9,w=9,k=4,stride=2,algo=winograd4", NULL, "stride 1");
    amx_refused("conv2d:c=4,h=9,w=9,k=4,groups=2,algo=winograd", NULL, "one group");

    amx_refused("conv2d:c=3,h=4,w=4,k=4,groups=2", NULL, "multiples of groups");
    amx_refused("conv2d:c=3,h=2,w=2,k=4", NULL, "do not fit");
    amx_refused("conv2d:c=3,h=9,w=9,k=4,act=mish", NULL, "has the activations relu");
    amx_refused("conv2d:c=3,h=9,w=9,k=4,algo=direct", NULL, "winograd4");
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
    {"Winograd", test_winograd},
    {"Winograd's tiles are chosen by their number", test_winograd_side},
    {"threads do not change bytes", test_threads},
    {"refusals", test_refusals},
    {"the comparison can fail", test_comparison_can_fail},
};
SUITE_MAIN("amx conv", tests)
