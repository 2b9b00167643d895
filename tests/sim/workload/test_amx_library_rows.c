/* softmax and normalisations of the AMX library, executed on the block of each generation: against double precision, within the
 * bounds of units/routines; odd sizes, single elements, all types. */
#include "isa/array_count.h"
#include "tests/sim/cpu_library_example.h"

#include <math.h>

static const char *const types[] = {"f32", "f16", "bf16"};

static void test_softmax(void)
{
    static const char *const workloads[] = {"softmax:1x1",   "softmax:3x2",         "softmax:5x7",      "softmax:4x64",
                                            "softmax:7x65",  "softmax:2x129",       "softmax:3x1000",   "softmax:5x7,log=1",
                                            "softmax:2x128", "softmax:3x257,log=1", "softmax:1x1,log=1"};
    amx_all(workloads, ARRAY_COUNT(workloads), types, ARRAY_COUNT(types));
}

static void test_norms(void)
{
    static const char *const workloads[] = {"layernorm:1x1",
                                            "layernorm:3x2",
                                            "layernorm:5x7",
                                            "layernorm:4x64",
                                            "layernorm:2x128",
                                            "layernorm:7x65,affine=0",
                                            "layernorm:3x1000,eps=0.001",
                                            "rmsnorm:1x1",
                                            "rmsnorm:3x2",
                                            "rmsnorm:5x63,affine=0",
                                            "rmsnorm:7x513",
                                            "rmsnorm:4x16,eps=0.1"};
    amx_all(workloads, ARRAY_COUNT(workloads), types, ARRAY_COUNT(types));
}

/* Images: planes of odd sizes, one pixel, planes longer than a variable, one group and as many as channels. */
static void test_image_norms(void)
{
    static const char *const workloads[] = {"groupnorm:n=1,c=1,h=1,w=1",
                                            "groupnorm:n=2,c=6,h=3,w=5,groups=3",
                                            "groupnorm:n=1,c=4,h=9,w=15,groups=2",
                                            "groupnorm:n=3,c=4,h=8,w=8,groups=4",
                                            "groupnorm:n=2,c=5,h=7,w=19,groups=1,eps=0.01",
                                            "groupnorm:n=1,c=70,h=1,w=1,groups=7",
                                            "batchnorm:n=1,c=1,h=1,w=1",
                                            "batchnorm:n=2,c=3,h=5,w=7",
                                            "batchnorm:n=1,c=4,h=8,w=16",
                                            "batchnorm:n=3,c=2,h=13,w=11,eps=0.01"};
    amx_all(workloads, ARRAY_COUNT(workloads), types, ARRAY_COUNT(types));
}

/* Masks: powers of minus infinity are 0, and far from the largest nothing is left. */
static double masked(const struct neon_example *x, unsigned operand, uint64_t index)
{
    (void)x;
    (void)operand;
    return index % 3 == 1 ? -INFINITY : index % 3 == 2 ? 1000 : 900;
}

static void test_masks(void)
{
    struct neon_example x = {.value = masked, .amx = true};
    const bool ok = neon_run(&x, "softmax:1x150", "f32", 1);
    CHECK(ok, "%s", x.error.text);
    const float *const out = ok ? (const float *)(const void *)neon_bytes(&x, routine_result(&x.library.work)) : NULL;
    for (unsigned i = 0; out && i < 150; i++)
        CHECK(i % 3 == 2 ? fabsf(out[i] - 0.02F) < 1e-8F : out[i] == 0, "%u: %g", i, (double)out[i]);
    neon_close(&x);
}

static void test_refusals(void)
{
    amx_refused("softmax:8", NULL, "columns is missing");
    amx_refused("layernorm:3x3", "i8", "f32 f16 bf16");
}

static const struct suite_test tests[] = {
    {"softmax", test_softmax}, {"normalisation of rows", test_norms}, {"normalisation of images", test_image_norms},
    {"masks", test_masks},     {"refusals", test_refusals},
};
SUITE_MAIN("amx rows", tests)
