/* Cases that the NEON library and the AMX library's rows share: tables, and the drivers that run them on either. */
#ifndef ORCHARD_TESTS_SIM_LIBRARY_CASES_H
#define ORCHARD_TESTS_SIM_LIBRARY_CASES_H

#include "isa/array_count.h"
#include "tests/sim/cpu_library_example.h"

#include <math.h>
#include <stdio.h>

static const char *const library_types[] = {"f32", "f16", "bf16"};

/* Every workload in all types against the reference; NEON also on three threads, AMX on the block of each generation. */
static inline void library_all(bool amx, const char *const *workload, size_t count)
{
    (amx ? amx_all : neon_all)(workload, count, library_types, ARRAY_COUNT(library_types));
}
#define LIBRARY_ALL(amx, workloads) library_all(amx, workloads, ARRAY_COUNT(workloads))

/* ---- functions of elements ---- */

static const struct library_range {
    const char *op;
    double low, high;
    bool amx;  /* the AMX library has it, too */
    bool half; /* fits into half precision, arguments and values */
} library_ranges[] = {
    {"relu", -9, 9, true, true},         {"relu6", -9, 9, true, true},        {"leaky_relu", -9, 9, true, true},
    {"gelu", -7, 7, true, true},         {"gelu", -0.1, 0.1, true, true},     {"gelu", -60, 60, true, true},
    {"gelu_tanh", -7, 7, true, true},    {"gelu_tanh", -40, 40, true, true},  {"silu", -60, 60, true, true},
    {"silu", -2, 2, true, true},         {"sigmoid", -80, 80, true, true},    {"sigmoid", -1, 1, true, true},
    {"tanh", -1, 1, true, true},         {"tanh", -12, 12, true, true},       {"tanh", -0.001, 0.001, true, true},
    {"tanh", -200, 200, true, true},     {"tanh", 0.59, 0.61, true, true},    {"elu", -1, 1, false, true},
    {"elu", -30, 2, false, true},        {"selu", -3, 1, false, true},        {"softplus", -80, 80, false, true},
    {"softplus", -2, 2, false, true},    {"softsign", -9, 9, false, true},    {"mish", -50, 50, false, true},
    {"mish", -2, 2, false, true},        {"hard_sigmoid", -5, 5, true, true}, {"hard_swish", -5, 5, true, true},
    {"exp", -87, 88.7, true, false},     {"exp", -1, 1, true, true},          {"exp", 88, 88.72, true, false},
    {"exp2", -126, 127.9, false, false}, {"exp2", -1, 1, false, true},        {"log", 0.5, 2, false, true},
    {"log", 1e-30, 1e-28, false, false}, {"log", 0.99, 1.01, false, true},    {"log2", 0.01, 1e6, false, false},
    {"log2", 0.98, 1.02, false, true},   {"sqrt", 0, 10, false, true},        {"sqrt", 0, 1e30, false, false},
    {"rsqrt", 1e-20, 9, false, false},   {"rcp", -9, 9, false, true},         {"abs", -9, 9, true, true},
    {"neg", -9, 9, true, true},          {"square", -9, 9, true, true},       {"erf", -5, 5, false, true},
    {"erf", -1, 1, false, true},         {"sin", -8, 8, false, true},         {"sin", -8192, 8192, false, true},
    {"cos", -8, 8, false, true},         {"cos", -8192, 8192, false, true},   {"floor", -9, 9, false, true},
    {"ceil", -9, 9, false, true},        {"round", -9, 9, false, true},       {"trunc", -9, 9, false, true},
    {"add", -4, 4, true, true},          {"sub", -4, 4, true, true},          {"mul", -4, 4, true, true},
    {"div", 0.25, 4, false, true},       {"max", -4, 4, true, true},          {"min", -4, 4, true, true},
    {"pow", 0.01, 4, false, true},       {"pow", 0.9, 1.1, false, true},
};

static inline double library_in_range(const struct neon_example *x, unsigned operand, uint64_t index)
{
    const struct library_range *const r = x->own;
    uint64_t state = index * 977 + operand * 131071 + 1;
    suite_random(&state);
    return index == 0 && r->low < 0 ? 0 : r->low + (r->high - r->low) * (double)(suite_random(&state) >> 11) * 0x1p-53;
}

static inline void library_every_function(bool amx)
{
    for (const struct library_range *r = library_ranges; r < library_ranges + ARRAY_COUNT(library_ranges); r++)
        for (size_t t = 0; t < ARRAY_COUNT(library_types) && (r->amx || !amx); t++) {
            struct neon_example x = {.value = library_in_range, .own = r, .amx = amx};
            char workload[96];
            snprintf(workload, sizeof workload, "elementwise:%d,op=%s", t == 0 ? 5003 : 517, r->op);
            if (t != 1 || r->half)
                neon_compare(&x, workload, library_types[t], 1);
            neon_close(&x);
        }
}

static const char *const library_chains[] = {"elementwise:1,op=exp",
                                             "elementwise:2,op=add",
                                             "elementwise:3,op=gelu",
                                             "elementwise:7,op=relu",
                                             "elementwise:17,op=mul",
                                             "elementwise:63,op=relu",
                                             "elementwise:64,op=tanh",
                                             "elementwise:65,op=mul",
                                             "elementwise:511,op=add",
                                             "elementwise:513,op=sigmoid",
                                             "elementwise:2049,op=add+relu",
                                             "elementwise:1000,op=mul+add+tanh,fused=mul",
                                             "elementwise:77,op=leaky_relu,alpha=0.25",
                                             "elementwise:77,op=leaky_relu,alpha=2"};

/* Ends of the ranges, infinities and NaN, as float32. */
static inline double library_special(const struct neon_example *x, unsigned operand, uint64_t index)
{
    static const double values[] = {0, -0.0, INFINITY, -INFINITY, NAN, 1e30, -1e30, 1e-40, 100, -104};
    (void)x;
    return operand == 0 ? values[index % ARRAY_COUNT(values)] : 2;
}

/* Whether `got` is as good as `want`: apart from each other by so much of it, or both next to nothing. */
static inline bool library_same(double got, double want, double share, double nothing)
{
    return isnan(want) ? isnan(got) : isinf(want) ? got == want : fabs(got - want) < nothing || fabs(got / want - 1) < share;
}

static inline void library_special_values(bool amx, const char *const *ops, size_t count, double share, double nothing)
{
    for (size_t i = 0; i < count; i++) {
        struct neon_example x = {.value = library_special, .amx = amx};
        char workload[64];
        snprintf(workload, sizeof workload, "elementwise:10,op=%s", ops[i]);
        const bool ok = neon_run(&x, workload, "f32", 1);
        CHECK(ok, "%s: %s", workload, x.error.text);
        for (unsigned k = 0; ok && k < 10; k++) {
            const double got = (double)((const float *)(const void *)neon_bytes(&x, routine_result(&x.library.work)))[k];
            const enum kernel_function f = (enum kernel_function)((x.library.request.value[ELEMENTWISE_OP] & 63) - 1);
            const double at = x.before[0][k], value = function_value(f, at, 2, 0);
            /* A maximum of the hardware hands NaN on, that of C does not. */
            const double want = isnan(at) ? NAN : (double)(float)value;
            CHECK(library_same(got, want, share, nothing), "%s(%g) is %g, not %g", ops[i], at, got, want);
        }
        neon_close(&x);
    }
}

/* ---- convolutions ---- */

static const char *const library_convs[] = {
    "conv2d:c=1,h=3,w=3,k=8",
    "conv2d:c=3,h=9,w=17,k=5,pad=1",
    "conv2d:c=7,h=7,w=7,k=33,r=1,s=1",
    "conv2d:c=2,h=8,w=16,k=16,r=1,s=1",
    "conv2d:n=2,c=5,h=13,w=11,k=9,r=5,s=3,pad=2,stride=2",
    "conv2d:c=2,h=16,w=33,k=12,dilation=2,pad=2",
    "conv2d:c=33,h=5,w=6,k=3,r=3,s=3",
    "conv2d:c=64,h=8,w=8,k=16,r=3,s=3,pad=1",
    "conv2d:c=3,h=20,w=20,k=4,r=7,s=7,stride=2,pad=3",
    "conv2d:c=3,h=20,w=20,k=17,r=7,s=7,stride=2,pad=3",
};
static const char *const library_conv_groups[] = {
    "conv2d:c=4,h=6,w=7,k=6,groups=2,pad=1",
    "conv2d:n=2,c=9,h=5,w=5,k=27,groups=3",
    "conv2d:c=5,h=9,w=33,k=5,groups=5,pad=1",
    "conv2d:c=3,h=17,w=70,k=6,groups=3,r=3,s=5,pad=2",
    "conv2d:c=3,h=11,w=90,k=3,groups=3,stride=2,pad=1",
    "conv2d:c=2,h=9,w=40,k=2,groups=2,dilation=3,pad=3",
    "conv2d:c=2,h=4,w=4,k=16,groups=2,r=1,s=1",
};
static const char *const library_conv_ends[] = {
    "conv2d:c=3,h=9,w=9,k=10,pad=1,bias=1",
    "conv2d:c=3,h=9,w=9,k=10,pad=1,bias=1,act=relu",
    "conv2d:c=5,h=7,w=7,k=5,groups=5,pad=1,bias=1,act=hard_swish",
    "conv2d:c=4,h=5,w=5,k=9,act=silu",
    "conv2d:c=4,h=9,w=9,k=3,act=gelu,bias=1",
};

/* ---- attention ---- */

static const char *const library_attentions[] = {"attention:h=1,s=1,d=1",
                                                 "attention:h=2,s=3,d=2",
                                                 "attention:h=1,s=7,d=17",
                                                 "attention:b=2,h=4,s=13,d=12,kvh=2",
                                                 "attention:h=2,s=33,d=31,causal=1",
                                                 "attention:h=3,s=64,d=64,causal=1,kvh=1",
                                                 "attention:h=1,s=130,d=16,causal=1",
                                                 "attention:b=2,h=1,s=100,d=24"};

/* Large scores: powers of most keys vanish. */
static inline double library_steep(const struct neon_example *x, unsigned operand, uint64_t index)
{
    uint64_t state = index * 31 + operand * 7919 + 3;
    (void)x;
    suite_random(&state);
    return (operand == 0 ? 30 : 1) * (-1 + 2 * (double)(suite_random(&state) >> 11) * 0x1p-53);
}

static inline void library_steep_scores(bool amx)
{
    for (size_t i = 0; i < ARRAY_COUNT(library_types); i++) {
        struct neon_example x = {.value = library_steep, .amx = amx};
        neon_compare(&x, "attention:h=1,s=40,d=16", library_types[i], 1);
        neon_close(&x);
    }
}

#endif
