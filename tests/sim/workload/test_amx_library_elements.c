/* Functions of the AMX library, executed on the block of each generation: every one over its range against the host's double
 * precision library, in all types, at odd sizes; chains, special values, and what is refused. */
#include "isa/array_count.h"
#include "tests/sim/cpu_library_example.h"

#include <math.h>
#include <stdio.h>

static const char *const types[] = {"f32", "f16", "bf16"};

static const struct range {
    const char *op;
    double low, high;
} ranges[] = {
    {"relu", -9, 9},      {"relu6", -9, 9},     {"leaky_relu", -9, 9},   {"gelu", -7, 7},       {"gelu", -0.1, 0.1},
    {"gelu", -60, 60},    {"gelu_tanh", -7, 7}, {"gelu_tanh", -40, 40},  {"silu", -60, 60},     {"silu", -2, 2},
    {"sigmoid", -80, 80}, {"sigmoid", -1, 1},   {"tanh", -1, 1},         {"tanh", -12, 12},     {"tanh", -0.001, 0.001},
    {"tanh", -200, 200},  {"tanh", 0.59, 0.61}, {"hard_sigmoid", -5, 5}, {"hard_swish", -5, 5}, {"exp", -87, 88.7},
    {"exp", -1, 1},       {"exp", 88, 88.72},   {"abs", -9, 9},          {"neg", -9, 9},        {"square", -9, 9},
    {"add", -4, 4},       {"sub", -4, 4},       {"mul", -4, 4},          {"max", -4, 4},        {"min", -4, 4},
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
            const bool large = t == 1 && strcmp(ranges[i].op, "exp") == 0 && ranges[i].high > 11; /* half precision overflows */
            struct neon_example x = {.value = in_range, .own = &ranges[i], .amx = true};
            char workload[96];
            snprintf(workload, sizeof workload, "elementwise:%d,op=%s", t == 0 ? 5003 : 517, ranges[i].op);
            if (!large)
                neon_compare(&x, workload, types[t], 1);
            neon_close(&x);
        }
}

/* The words are those of M1: every generation gives the same bytes. */
static void test_sizes_and_generations(void)
{
    static const char *const workloads[] = {"elementwise:1,op=exp",
                                            "elementwise:2,op=add",
                                            "elementwise:3,op=gelu",
                                            "elementwise:63,op=relu",
                                            "elementwise:64,op=tanh",
                                            "elementwise:65,op=mul",
                                            "elementwise:511,op=add",
                                            "elementwise:513,op=sigmoid",
                                            "elementwise:2049,op=add+relu",
                                            "elementwise:1000,op=mul+add+tanh,fused=mul",
                                            "elementwise:77,op=leaky_relu,alpha=0.25",
                                            "elementwise:77,op=leaky_relu,alpha=2"};
    amx_all(workloads, ARRAY_COUNT(workloads), types, ARRAY_COUNT(types));
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
    static const char *const ops[] = {"relu", "relu6", "sigmoid", "tanh", "exp", "abs", "neg", "add", "sub", "mul", "leaky_relu"};
    for (size_t i = 0; i < ARRAY_COUNT(ops); i++) {
        struct neon_example x = {.value = special, .amx = true};
        char workload[64];
        snprintf(workload, sizeof workload, "elementwise:10,op=%s", ops[i]);
        const bool ok = neon_run(&x, workload, "f32", 1);
        CHECK(ok, "%s: %s", workload, x.error.text);
        for (unsigned k = 0; ok && k < 10; k++) {
            const float got = ((const float *)(const void *)neon_bytes(&x, routine_result(&x.library.work)))[k];
            const enum kernel_function f = (enum kernel_function)((x.library.request.value[ELEMENTWISE_OP] & 63) - 1);
            const double at = x.before[0][k], value = function_value(f, at, 2, 0);
            const double want = isnan(at) ? NAN : (double)(float)value;
            const bool same = isnan(want)                           ? isnan(got)
                              : isinf(want)                         ? (double)got == want
                              : fabs((double)got - want) < 0x1p-126 ? true
                                                                    : fabs((double)got / want - 1) < 1e-6;
            CHECK(same, "%s(%g) is %g, not %g", ops[i], at, (double)got, want);
        }
        neon_close(&x);
    }
}

static void test_refusals(void)
{
    amx_refused("elementwise:8", NULL, "op=NAME");
    amx_refused("elementwise:8,op=rellu", NULL, "did you mean relu");
    amx_refused("elementwise:8,op=log", NULL, "has the functions relu");
    amx_refused("elementwise:8,op=div", NULL, "has the functions relu");
    amx_refused("elementwise:12,op=add,period=3", NULL, "no period");
    amx_refused("elementwise:8,op=add", "i8", "f32 f16 bf16");
}

/* The results come from the block: one number that it is given wrongly is found. */
static void test_comparison_can_fail(void)
{
    struct neon_example x = {.seed = 5, .amx = true};
    struct routine_difference d = {.wrong = 0};
    const bool ran = neon_run(&x, "elementwise:100,op=tanh", "f32", 1);
    CHECK(ran, "%s", x.error.text);
    uint8_t *const at = ran ? neon_bytes(&x, routine_result(&x.library.work)) : NULL;
    if (at) {
        at[4 * 77] ^= 0x20;
        CHECK(routine_compare(&x.library.request, &x.library.work, (const double *const *)x.before, at, &d) && d.wrong == 1 &&
                  d.at == 77,
              "%llu wrong", (unsigned long long)d.wrong);
    }
    neon_close(&x);
}

static const struct suite_test tests[] = {
    {"every function", test_every_function},
    {"sizes and generations", test_sizes_and_generations},
    {"special values", test_special_values},
    {"refusals", test_refusals},
    {"the comparison can fail", test_comparison_can_fail},
};
SUITE_MAIN("amx elementwise", tests)
