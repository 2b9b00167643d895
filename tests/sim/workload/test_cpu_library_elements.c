/* Functions of the NEON library, executed: every one over its range against the host's double precision library, in all types, at
 * odd sizes; chains, further operands that repeat, special values. */
#include "tests/sim/library_cases.h"

static void test_every_function(void)
{
    library_every_function(false);
}

static void test_sizes_and_chains(void)
{
    static const char *const workloads[] = {"elementwise:77,op=elu,alpha=2",          "elementwise:3072,op=add,period=3",
                                            "elementwise:3072,op=add+mul,period=768", "elementwise:1024,op=sub,period=512",
                                            "elementwise:2100,op=mul,period=700",     "elementwise:12,op=add,period=12",
                                            "elementwise:2051,op=mul,period=1",       "elementwise:1028,op=add,period=4",
                                            "elementwise:3840,op=sub,period=256",     "elementwise:1530,op=mul,period=6"};
    LIBRARY_ALL(false, library_chains);
    LIBRARY_ALL(false, workloads);
}

static void test_special_values(void)
{
    static const char *const ops[] = {"relu", "relu6", "sigmoid", "tanh", "exp", "exp2", "log",
                                      "log2", "sqrt",  "rcp",     "abs",  "neg", "erf",  "floor",
                                      "ceil", "trunc", "add",     "sub",  "mul", "div",  "leaky_relu"};
    library_special_values(false, ops, ARRAY_COUNT(ops), 1e-5, 1e-37);
}

static void test_refusals(void)
{
    neon_refused("elementwise:8", NULL, "op=NAME");
    neon_refused("elementwise:8,op=rellu", NULL, "did you mean relu");
    neon_refused("elementwise:10,op=add,period=3", NULL, "multiple of period");
    neon_refused("elementwise:8,op=add+add+add+add+add+add+add+add", NULL, "at most 7");
    neon_refused("elementwise:8,op=add", "i8", "f32 f16 bf16");
}

static const struct suite_test tests[] = {
    {"every function", test_every_function},
    {"sizes and chains", test_sizes_and_chains},
    {"special values", test_special_values},
    {"refusals", test_refusals},
};
SUITE_MAIN("neon elementwise", tests)
