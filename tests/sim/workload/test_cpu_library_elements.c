/* Functions of the NEON library, executed: every one over its range against the host's double precision library, in all types, at
 * odd sizes; chains, further operands that repeat, special values. */
#include "isa/array_count.h"
#include "tests/sim/cpu_library_example.h"

#include <math.h>
#include <stdio.h>

static const char *const types[] = {"f32", "f16", "bf16"};

static const struct range {
    const char *op;
    double low, high;
} ranges[] = {
    {"relu", -9, 9},       {"relu6", -9, 9},      {"leaky_relu", -9, 9},  {"gelu", -7, 7},       {"gelu", -0.1, 0.1},
    {"gelu", -60, 60},     {"gelu_tanh", -7, 7},  {"gelu_tanh", -40, 40}, {"silu", -60, 60},     {"silu", -2, 2},
    {"sigmoid", -80, 80},  {"sigmoid", -1, 1},    {"tanh", -1, 1},        {"tanh", -12, 12},     {"tanh", -0.001, 0.001},
    {"tanh", -200, 200},   {"elu", -1, 1},        {"elu", -30, 2},        {"selu", -3, 1},       {"softplus", -80, 80},
    {"softplus", -2, 2},   {"softsign", -9, 9},   {"mish", -50, 50},      {"mish", -2, 2},       {"hard_sigmoid", -5, 5},
    {"hard_swish", -5, 5}, {"exp", -87, 88.7},    {"exp", -1, 1},         {"exp2", -126, 127.9}, {"exp2", -1, 1},
    {"log", 0.5, 2},       {"log", 1e-30, 1e-28}, {"log", 0.99, 1.01},    {"log2", 0.01, 1e6},   {"log2", 0.98, 1.02},
    {"sqrt", 0, 10},       {"sqrt", 0, 1e30},     {"rsqrt", 1e-20, 9},    {"rcp", -9, 9},        {"abs", -9, 9},
    {"neg", -9, 9},        {"square", -9, 9},     {"erf", -5, 5},         {"erf", -1, 1},        {"sin", -8, 8},
    {"sin", -8192, 8192},  {"cos", -8, 8},        {"cos", -8192, 8192},   {"floor", -9, 9},      {"ceil", -9, 9},
    {"round", -9, 9},      {"trunc", -9, 9},      {"add", -4, 4},         {"sub", -4, 4},        {"mul", -4, 4},
    {"div", 0.25, 4},      {"max", -4, 4},        {"min", -4, 4},         {"pow", 0.01, 4},      {"pow", 0.9, 1.1},
};

static double in_range(const struct neon_example *x, unsigned operand, uint64_t index)
{
    const struct range *const r = x->own;
    uint64_t state = index * 977 + operand * 131071 + 1;
    suite_random(&state);
    return index == 0 && r->low < 0 ? 0 : r->low + (r->high - r->low) * (double)(suite_random(&state) >> 11) * 0x1p-53;
}

static void test_every_function(void)
{
    for (size_t i = 0; i < ARRAY_COUNT(ranges); i++)
        for (size_t t = 0; t < ARRAY_COUNT(types); t++) {
            /* Beyond the range of half precision there is nothing to compare. */
            const bool fits = t != 1 || (fabs(ranges[i].low) >= 0x1p-14 && ranges[i].high < 65504 && ranges[i].low > -80 &&
                                         strncmp(ranges[i].op, "exp", 3) != 0);
            struct neon_example x = {.value = in_range, .own = &ranges[i]};
            char workload[96];
            snprintf(workload, sizeof workload, "elementwise:%d,op=%s", t == 0 ? 5003 : 517, ranges[i].op);
            if (fits || ranges[i].low == 0)
                neon_compare(&x, workload, types[t], 1);
            neon_close(&x);
        }
}

static void test_sizes_and_chains(void)
{
    static const char *const workloads[] = {"elementwise:1,op=exp",
                                            "elementwise:2,op=add",
                                            "elementwise:3,op=gelu",
                                            "elementwise:7,op=relu",
                                            "elementwise:17,op=mul",
                                            "elementwise:511,op=add",
                                            "elementwise:513,op=sigmoid",
                                            "elementwise:2049,op=add+relu",
                                            "elementwise:1000,op=mul+add+tanh,fused=mul",
                                            "elementwise:77,op=leaky_relu,alpha=0.25",
                                            "elementwise:77,op=elu,alpha=2",
                                            "elementwise:3072,op=add,period=3",
                                            "elementwise:3072,op=add+mul,period=768",
                                            "elementwise:1024,op=sub,period=512",
                                            "elementwise:2100,op=mul,period=700",
                                            "elementwise:12,op=add,period=12"};
    neon_all(workloads, ARRAY_COUNT(workloads), types, ARRAY_COUNT(types));
}

/* Ends of the ranges, infinities and NaN, as float32. */
static double special(const struct neon_example *x, unsigned operand, uint64_t index)
{
    static const double values[] = {0, -0.0, INFINITY, -INFINITY, NAN, 1e30, -1e30, 1e-40, 100, -104};
    (void)x;
    return operand == 0 ? values[index % ARRAY_COUNT(values)] : 2;
}

static void test_special_values(void)
{
    static const char *const ops[] = {"relu", "relu6", "sigmoid", "tanh", "exp", "exp2", "log",
                                      "log2", "sqrt",  "rcp",     "abs",  "neg", "erf",  "floor",
                                      "ceil", "trunc", "add",     "sub",  "mul", "div",  "leaky_relu"};
    for (size_t i = 0; i < ARRAY_COUNT(ops); i++) {
        struct neon_example x = {.value = special};
        char workload[64];
        snprintf(workload, sizeof workload, "elementwise:10,op=%s", ops[i]);
        const bool ok = neon_run(&x, workload, "f32", 1);
        CHECK(ok, "%s: %s", workload, x.error.text);
        for (unsigned k = 0; ok && k < 10; k++) {
            const float got = ((const float *)(const void *)neon_bytes(&x, routine_result(&x.library.work)))[k];
            const enum kernel_function f = (enum kernel_function)((x.library.request.value[ELEMENTWISE_OP] & 63) - 1);
            const double at = x.before[0][k], value = function_value(f, at, 2, 0);
            /* A maximum of the hardware hands NaN on, that of C does not. */
            const double want = isnan(at) ? NAN : (double)(float)value;
            const bool same = isnan(want) ? isnan(got)
                              : isinf(want) || want == 0
                                  ? fabs((double)got - want) < 1e-37 || got == (float)want
                                  : fabs((double)got / want - 1) < 1e-5 || fabs((double)got - want) < 1e-37;
            CHECK(same, "%s(%g) is %g, not %g", ops[i], at, (double)got, want);
        }
        neon_close(&x);
    }
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
