/* Elementwise GPU kernels, executed: every function against the host's double precision library, over the whole range and at odd
 * sizes. Bounds are those of gpu_math.h; results in 16 bits take one more rounding. */
#include "isa/array_count.h"
#include "tests/units/gpu_library_example.h"

#define U 0x1p-24

static double sigmoid(double x)
{
    return 1 / (1 + exp(-x));
}

static double gelu_tanh(double x)
{
    return x * sigmoid(2 * 0.79788456080286536 * (x + 0.044715 * x * x * x));
}

static double softplus(double x)
{
    return fmax(x, 0) + log1p(exp(-fabs(x)));
}

static double mish(double x)
{
    return x * tanh(softplus(x));
}

static double exact(const char *op, double x, double y)
{
    const struct {
        const char *name;
        double value;
    } known[] = {
        {"relu", fmax(x, 0)},
        {"relu6", fmin(fmax(x, 0), 6)},
        {"leaky_relu", x > 0 ? x : x * (double)0.01F},
        {"gelu", x * erfc(-x * 0.70710678118654752) / 2},
        {"gelu_tanh", gelu_tanh(x)},
        {"silu", x * sigmoid(x)},
        {"sigmoid", sigmoid(x)},
        {"tanh", tanh(x)},
        {"elu", x > 0 ? x : expm1(x)},
        {"selu", 1.0507009873554805 * (x > 0 ? x : 1.6732632423543773 * expm1(x))},
        {"softplus", softplus(x)},
        {"softsign", x / (1 + fabs(x))},
        {"mish", mish(x)},
        {"hard_sigmoid", fmin(fmax(x + 3, 0), 6) / 6},
        {"hard_swish", x * fmin(fmax(x + 3, 0), 6) / 6},
        {"exp", exp(x)},
        {"exp2", exp2(x)},
        {"log", log(x)},
        {"log2", log2(x)},
        {"sqrt", sqrt(x)},
        {"rsqrt", 1 / sqrt(x)},
        {"rcp", 1 / x},
        {"abs", fabs(x)},
        {"neg", -x},
        {"square", x * x},
        {"erf", erf(x)},
        {"sin", sin(x)},
        {"cos", cos(x)},
        {"floor", floor(x)},
        {"ceil", ceil(x)},
        {"round", rint(x)},
        {"trunc", trunc(x)},
        {"add", x + y},
        {"sub", x - y},
        {"mul", x * y},
        {"div", x / y},
        {"max", fmax(x, y)},
        {"min", fmin(x, y)},
        {"pow", pow(x, y)},
    };
    for (unsigned i = 0; i < ARRAY_COUNT(known); i++)
        if (strcmp(known[i].name, op) == 0)
            return known[i].value;
    CHECK(0, "no exact %s", op);
    return NAN;
}

/* Units u of |f| (relative), of |x| (argument), and of 1 (absolute); range of inputs. */
static const struct function {
    const char *op;
    double relative, argument, absolute, low, high;
} functions[] = {
    {"relu", 0, 0, 0, -9, 9},         {"relu6", 0, 0, 0, -9, 9},       {"leaky_relu", 1, 0, 0, -9, 9},
    {"gelu", 0, 8, 0, -7, 7},         {"gelu", 0, 8, 0, -0.1, 0.1},    {"gelu", 0, 8, 0, -60, 60},
    {"gelu_tanh", 0, 8, 0, -7, 7},    {"gelu_tanh", 0, 8, 0, -40, 40}, {"silu", 8, 0, 0, -60, 60},
    {"silu", 8, 0, 0, -2, 2},         {"sigmoid", 8, 0, 0, -80, 80},   {"sigmoid", 8, 0, 0, -1, 1},
    {"tanh", 8, 0, 0, -1, 1},         {"tanh", 8, 0, 0, -12, 12},      {"tanh", 8, 0, 0, -0.001, 0.001},
    {"tanh", 8, 0, 0, -200, 200},     {"elu", 8, 0, 0, -1, 1},         {"elu", 8, 0, 0, -30, 2},
    {"selu", 8, 0, 0, -3, 1},         {"softplus", 8, 0, 0, -80, 80},  {"softplus", 8, 0, 0, -2, 2},
    {"softsign", 8, 0, 0, -9, 9},     {"mish", 8, 0, 0, -50, 50},      {"mish", 8, 0, 0, -2, 2},
    {"hard_sigmoid", 3, 0, 3, -5, 5}, {"hard_swish", 3, 3, 0, -5, 5},  {"exp", 3, 0, 0, -87, 88.7},
    {"exp", 3, 0, 0, -1, 1},          {"exp2", 1, 0, 0, -126, 127.9},  {"log", 4, 0, 0, 0.5, 2},
    {"log", 4, 0, 0, 1e-30, 1e-28},   {"log2", 1, 0, 0, 0.01, 1e6},    {"sqrt", 3, 0, 0, 0, 10},
    {"sqrt", 3, 0, 0, 0, 1e30},       {"rsqrt", 1, 0, 0, 1e-20, 9},    {"rcp", 1, 0, 0, -9, 9},
    {"abs", 0, 0, 0, -9, 9},          {"neg", 0, 0, 0, -9, 9},         {"square", 1, 0, 0, -9, 9},
    {"erf", 0, 0, 8, -5, 5},          {"erf", 0, 0, 8, -1, 1},         {"sin", 0, 0, 8, -8, 8},
    {"sin", 0, 0, 8, -8192, 8192},    {"cos", 0, 0, 8, -8, 8},         {"cos", 0, 0, 8, -8192, 8192},
    {"floor", 0, 0, 0, -9, 9},        {"ceil", 0, 0, 0, -9, 9},        {"round", 0, 0, 0, -9, 9},
    {"trunc", 0, 0, 0, -9, 9},        {"add", 1, 0, 0, -4, 4},         {"sub", 1, 0, 0, -4, 4},
    {"mul", 1, 0, 0, -4, 4},          {"div", 3, 0, 0, 0.25, 4},       {"max", 0, 0, 0, -4, 4},
    {"min", 0, 0, 0, -4, 4},
};

static double bound_of(const struct function *f, double x, double want)
{
    return U * (f->relative * fabs(want) + f->argument * fabs(x) + f->absolute) + 0x1p-126;
}

/* Fills a buffer with values of [low, high), the first few special. */
static void fill(const struct gpu_example *x, unsigned buffer, double low, double high, uint64_t seed)
{
    const struct gpu_kernel_buffer *b = &x->kernel.buffer[buffer];
    uint8_t *bytes = example_bytes(x, buffer);
    for (uint64_t i = 0; bytes && i < b->count; i++)
        example_put(bytes, b->type, i, i == 0 && low <= 0 && low != high ? 0 : example_uniform(&seed, low, high));
}

static void check_function(const struct function *f, const char *precision, unsigned count)
{
    struct gpu_example x;
    char workload[96];
    snprintf(workload, sizeof workload, "elementwise:%u,op=%s", count, f->op);
    bool ok = example_open(&x, workload, precision, 8);
    if (ok) {
        example_fill(&x, 5);
        fill(&x, 0, f->low, f->high, 17);
        ok = example_run(&x, false);
    }
    CHECK(ok, "%s: %s", workload, x.text);
    double *a = ok ? example_values(&x, "a") : NULL, *out = ok ? example_values(&x, "out") : NULL, worst = 0, at = 0;
    double *b = ok && x.kernel.buffers == 3 ? example_values(&x, "b") : NULL;
    for (unsigned i = 0; ok && i < count; i++) {
        const bool pole = a[i] == 0 && (strcmp(f->op, "rcp") == 0 || strncmp(f->op, "log", 3) == 0);
        const double want = exact(f->op, a[i], b ? b[i] : 0);
        const double rounding = x.request.type == GPU_F32 ? 0 : example_epsilon(x.request.type) * fabs(want) * 1.01 + 0x1p-25;
        const double ratio = fabs(out[i] - want) / (bound_of(f, a[i], want) + rounding);
        if (!pole && !(ratio <= worst)) {
            worst = ratio;
            at = a[i];
        }
    }
    CHECK(worst <= 1, "%s %s: %g times the bound at %.9g", workload, precision, worst, at);
    free(a);
    free(b);
    free(out);
    example_close(&x);
}

static void test_functions(void)
{
    for (unsigned i = 0; i < ARRAY_COUNT(functions); i++)
        check_function(&functions[i], "f32", 20001);
}

static void test_functions_in_16_bits(void)
{
    for (unsigned i = 0; i < ARRAY_COUNT(functions); i++) {
        if (functions[i].high > 70 || functions[i].high < 1e-10)
            continue; /* beyond float16 */
        check_function(&functions[i], "f16", 1003);
        check_function(&functions[i], "bf16", 517);
    }
}

static void test_sizes(void)
{
    static const unsigned sizes[] = {1, 2, 3, 4, 5, 31, 127, 128, 129, 1023, 1024, 1025};
    for (unsigned i = 0; i < ARRAY_COUNT(sizes); i++) {
        check_function(&functions[0], "f32", sizes[i]);
        check_function(&functions[0], "f16", sizes[i]);
        check_function(&functions[8], "bf16", sizes[i]);
    }
}

static void test_pow(void)
{
    struct gpu_example x;
    if (example_start(&x, "elementwise:10001,op=pow", "f32", 3)) {
        double *a = example_values(&x, "a"), *b = example_values(&x, "b"), *out = example_values(&x, "out"), worst = 0;
        for (unsigned i = 0; i < 10001; i++) {
            const double want = pow(a[i], b[i]), bound = U * fabs(want) * (4 + 4 * fabs(b[i] * log2(a[i])));
            worst = fmax(worst, fabs(out[i] - want) / bound);
        }
        CHECK(worst <= 1, "%g times the bound", worst);
        free(a);
        free(b);
        free(out);
    }
    example_close(&x);
}

/* One value in, one out. */
static double value_of(const char *op, double in)
{
    struct gpu_example x;
    char workload[64];
    snprintf(workload, sizeof workload, "elementwise:1,op=%s", op);
    double result = -12345;
    if (example_open(&x, workload, "f32", 1)) {
        uint8_t *a = example_bytes(&x, 0), *out = example_bytes(&x, 1);
        if (a)
            example_put(a, GPU_F32, 0, in);
        if (example_run(&x, false) && out)
            result = example_get(out, GPU_F32, 0);
    }
    example_close(&x);
    return result;
}

static void test_limits(void)
{
    static const struct {
        const char *op;
        double in, out;
    } cases[] = {{"exp", INFINITY, INFINITY},  {"exp", -INFINITY, 0},
                 {"exp", 89, INFINITY},        {"exp", -200, 0},
                 {"log", 0, -INFINITY},        {"log", INFINITY, INFINITY},
                 {"sqrt", INFINITY, INFINITY}, {"sqrt", 0, 0},
                 {"tanh", INFINITY, 1},        {"tanh", -INFINITY, -1},
                 {"sigmoid", INFINITY, 1},     {"sigmoid", -INFINITY, 0},
                 {"gelu", INFINITY, INFINITY}, {"softplus", INFINITY, INFINITY},
                 {"softplus", -INFINITY, 0},   {"mish", INFINITY, INFINITY},
                 {"erf", INFINITY, 1},         {"erf", -INFINITY, -1},
                 {"elu", -INFINITY, -1},       {"elu", INFINITY, INFINITY},
                 {"rcp", 0, INFINITY},         {"cos", 0, 1}};
    static const char *const keep_nan[] = {"relu", "gelu", "tanh", "exp", "sigmoid", "softplus", "elu", "erf", "mish", "sqrt"};
    for (unsigned i = 0; i < ARRAY_COUNT(cases); i++) {
        const double got = value_of(cases[i].op, cases[i].in);
        CHECK(got == cases[i].out, "%s(%g) = %g", cases[i].op, cases[i].in, got);
    }
    for (unsigned i = 0; i < ARRAY_COUNT(keep_nan); i++)
        CHECK(isnan(value_of(keep_nan[i], NAN)), "%s(NaN)", keep_nan[i]);
}

/* out = relu(a * b + c) * d, each array read once; rounded after every step. */
static void test_chains(void)
{
    static const char *const texts[] = {"elementwise:1001,fused=mul+add+relu+mul", "elementwise:1001,op=mul+add,fused=relu+mul"};
    for (unsigned t = 0; t < 2; t++) {
        struct gpu_example x;
        if (example_start(&x, texts[t], "f32", 9)) {
            double *a = example_values(&x, "a"), *b = example_values(&x, "b"), *c = example_values(&x, "c");
            double *d = example_values(&x, "d"), *out = example_values(&x, "out");
            unsigned wrong = 0;
            for (unsigned i = 0; i < 1001; i++) {
                const float product = (float)a[i] * (float)b[i], sum = product + (float)c[i], positive = sum > 0 ? sum : 0;
                wrong += out[i] != (double)(positive * (float)d[i]);
            }
            CHECK(wrong == 0, "%s: %u", texts[t], wrong);
            free(a);
            free(b);
            free(c);
            free(d);
            free(out);
        }
        example_close(&x);
    }
}

static void test_periods(void)
{
    static const unsigned shapes[][2] = {{1000, 1}, {1000, 8}, {999, 27}, {1002, 6}, {35, 35}, {1025, 5}};
    for (unsigned i = 0; i < ARRAY_COUNT(shapes); i++) {
        struct gpu_example x;
        char workload[64];
        snprintf(workload, sizeof workload, "elementwise:%u,op=add,period=%u", shapes[i][0], shapes[i][1]);
        if (example_start(&x, workload, i % 2 ? "f16" : "f32", i)) {
            double *a = example_values(&x, "a"), *b = example_values(&x, "b"), *out = example_values(&x, "out");
            unsigned wrong = 0;
            for (unsigned k = 0; k < shapes[i][0]; k++) {
                const float sum = (float)a[k] + (float)b[k % shapes[i][1]];
                wrong += out[k] != (double)(i % 2 ? example_half_to_float(example_float_to_half(sum)) : sum);
            }
            CHECK(wrong == 0, "%s: %u", workload, wrong);
            free(a);
            free(b);
            free(out);
        }
        example_close(&x);
    }
}

static void test_texts(void)
{
    struct gpu_kernel_request r = {.cores = 1};
    struct isa_error error;
    char text[128];
    example_refused("elementwise:10", NULL, "op=NAME");
    example_refused("elementwise:10,op=gellu", NULL, "did you mean gelu?");
    example_refused("elementwise:10,op=add+max+tanj", NULL, "did you mean tanh?");
    example_refused("elementwise:10,op=add,period=3", NULL, "multiple of period");
    example_refused("elementwise:10,fused=add+add+add+add+add+add+add+add", NULL, "at most 7");
    CHECK(gpu_kernel_parse("elementwise:64,fused=mul+add+gelu,op=relu", "f16", &r, &error), "%s", error.text);
    gpu_kernel_describe(&r, text, sizeof text);
    CHECK(strcmp(text, "elementwise:64,op=relu,fused=mul+add+gelu") == 0, "%s", text);
}

static void test_clean_under_checks(void)
{
    static const char *const workloads[] = {"elementwise:1001,op=gelu", "elementwise:30,op=pow,period=5", "elementwise:7,op=sin"};
    example_all_clean(workloads, ARRAY_COUNT(workloads), "f16");
}

static const struct suite_test tests[] = {
    {"functions keep their bounds in float32", test_functions},
    {"functions keep their bounds in 16 bits", test_functions_in_16_bits},
    {"odd sizes", test_sizes},
    {"pow", test_pow},
    {"infinities, zeros and NaN", test_limits},
    {"chains round after every step", test_chains},
    {"further arrays may repeat", test_periods},
    {"workloads are explained and named", test_texts},
    {"programs pass the device's checks", test_clean_under_checks},
};
SUITE_MAIN("gpu_kernels_elementwise", tests)
