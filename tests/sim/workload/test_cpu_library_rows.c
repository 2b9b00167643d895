/* Rows and groups of the NEON library, executed: softmax, normalisations and reductions against double precision, within the
 * bounds of units/routines; odd sizes, single elements, all types; the same bytes on three threads. */
#include "isa/array_count.h"
#include "tests/sim/cpu_library_example.h"

#include <stdio.h>

static const char *const types[] = {"f32", "f16", "bf16"};

static void test_softmax(void)
{
    static const char *const workloads[] = {"softmax:1x1",         "softmax:3x2",      "softmax:5x7",    "softmax:4x16",
                                            "softmax:7x17",        "softmax:2x33",     "softmax:3x1000", "softmax:5x7,log=1",
                                            "softmax:3x257,log=1", "softmax:1x1,log=1"};
    neon_all(workloads, ARRAY_COUNT(workloads), types, ARRAY_COUNT(types));
}

static void test_norms(void)
{
    static const char *const workloads[] = {"layernorm:1x1",
                                            "layernorm:3x2",
                                            "layernorm:5x7",
                                            "layernorm:4x16",
                                            "layernorm:7x17,affine=0",
                                            "layernorm:3x1000,eps=0.001",
                                            "rmsnorm:1x1",
                                            "rmsnorm:3x2",
                                            "rmsnorm:5x33,affine=0",
                                            "rmsnorm:7x513",
                                            "rmsnorm:4x16,eps=0.1"};
    neon_all(workloads, ARRAY_COUNT(workloads), types, ARRAY_COUNT(types));
}

static void test_norms_of_images(void)
{
    static const char *const workloads[] = {
        "groupnorm:c=1,h=1,w=1",          "groupnorm:n=2,c=6,h=3,w=5,groups=3", "groupnorm:n=3,c=8,h=7,w=7,groups=8",
        "groupnorm:c=4,h=1,w=1,groups=2", "groupnorm:n=2,c=4,h=1,w=2",          "batchnorm:c=1,h=1,w=1",
        "batchnorm:n=2,c=3,h=5,w=7",      "batchnorm:n=3,c=5,h=4,w=4,eps=0.01"};
    neon_all(workloads, ARRAY_COUNT(workloads), types, ARRAY_COUNT(types));
}

static void test_reductions(void)
{
    static const char *const ops[] = {"sum", "mean", "max", "min", "prod", "norm2", "argmax", "argmin"};
    static const char *const shapes[] = {"1x1", "3x2", "2x7", "5x16", "7x17", "3x130", "33x65", "2x1000"};
    for (size_t o = 0; o < ARRAY_COUNT(ops); o++)
        for (size_t s = 0; s < ARRAY_COUNT(shapes); s++) {
            char texts[2][96];
            const char *const workloads[2] = {texts[0], texts[1]};
            for (int axis = 0; axis < 2; axis++)
                snprintf(texts[axis], sizeof texts[axis], "reduce:%s,op=%s,axis=%d", shapes[s], ops[o], axis);
            neon_all(workloads, 2, types, ARRAY_COUNT(types));
        }
}

/* In eight lanes instead of sixteen: the same sums within their bound; other operations have no such form. */
static void test_eight_lanes(void)
{
    static const char *const workloads[] = {"reduce:1x1,op=sum,lanes=8", "reduce:3x7,op=mean,lanes=8",
                                            "reduce:2x8,op=sum,lanes=8", "reduce:33x65,op=sum,lanes=8",
                                            "reduce:2x1000,op=mean,lanes=8"};
    neon_all(workloads, ARRAY_COUNT(workloads), types, ARRAY_COUNT(types));
    neon_refused("reduce:3x3,op=max,lanes=8", NULL, "sums of rows");
    neon_refused("reduce:3x3,op=sum,axis=0,lanes=8", NULL, "sums of rows");
}

/* Of equal ones the first, in every lane and behind them. */
static double repeated(const struct neon_example *x, unsigned operand, uint64_t index)
{
    (void)x;
    (void)operand;
    return index % 5 == 3 ? 2 : index % 7 == 6 ? -2 : 0.5;
}

static void test_first_of_equals(void)
{
    static const char *const workloads[] = {"reduce:1x40,op=argmax", "reduce:1x43,op=argmin", "reduce:9x6,op=argmax,axis=0",
                                            "reduce:3x3,op=argmin"};
    for (size_t i = 0; i < ARRAY_COUNT(workloads); i++) {
        struct neon_example x = {.value = repeated};
        neon_compare(&x, workloads[i], "f32", 1);
        neon_close(&x);
    }
}

static void test_refusals(void)
{
    neon_refused("softmax:8", NULL, "columns is missing");
    neon_refused("groupnorm:c=5,h=2,w=2,groups=2", NULL, "multiple of groups");
    neon_refused("reduce:3x3,op=summ", NULL, "did you mean sum");
    neon_refused("layernorm:3x3", "i8", "f32 f16 bf16");
}

static const struct suite_test tests[] = {
    {"softmax", test_softmax},
    {"normalisation of rows", test_norms},
    {"normalisation of images", test_norms_of_images},
    {"reductions", test_reductions},
    {"sums of rows in eight lanes", test_eight_lanes},
    {"the first of equal ones", test_first_of_equals},
    {"refusals", test_refusals},
};
SUITE_MAIN("neon rows", tests)
