/* Kernels of the GPU library on whole numbers, executed: against the references of units/routines, element by element. */
#include "isa/array_count.h"
#include "tests/units/gpu_library_example.h"
#include "units/cpu/kernels/cpu_kernels.h"
#include "units/routines/routine.h"

static const char *const floats[] = {"f32", "f16", "bf16"};

/* What the operation gives for the contents of the buffers, which have its operands' order. */
static bool find_truth(const struct gpu_example *x, const char *workload, const char *precision, double *const *operand,
                       struct routine_truth *truth)
{
    struct routine_request request = {.threads = 1};
    struct isa_error error = {.line = 0};
    const bool read = routine_read(&cpu_kernels, workload, precision, &request, &error);
    const double *inputs[GPU_KERNEL_BUFFERS];
    for (unsigned i = 0; i < x->kernel.buffers; i++)
        inputs[i] = operand[i];
    CHECK(read, "%s: %s", workload, error.text);
    if (read)
        request.row->operation->reference(&request, inputs, truth);
    return read;
}

static void check(const char *workload, const char *precision)
{
    struct gpu_example x;
    double *operand[GPU_KERNEL_BUFFERS] = {NULL};
    if (!example_start(&x, workload, precision, 17)) {
        example_close(&x);
        return;
    }
    for (unsigned i = 0; i < x.kernel.buffers; i++)
        operand[i] = example_values(&x, x.kernel.buffer[i].name);
    const unsigned result = example_buffer(&x, "out");
    const struct gpu_kernel_buffer *const out = &x.kernel.buffer[result];
    struct routine_truth truth = {calloc(out->count, sizeof(double)), calloc(out->count, sizeof(double)), 0x1p-24};
    uint64_t wrong = 0, at = 0;
    const bool known = truth.value && truth.error && find_truth(&x, workload, precision, operand, &truth);
    for (uint64_t i = 0; known && i < out->count; i++) {
        const double rounding =
            out->type <= GPU_BF16 && truth.error[i] > 0 ? example_epsilon(out->type) * fabs(truth.value[i]) : 0;
        const bool differs = fabs(operand[result][i] - truth.value[i]) > truth.error[i] + rounding;
        at = differs && !wrong ? i : at;
        wrong += differs;
    }
    CHECK(wrong == 0, "%s %s: %llu are wrong, element %llu is %g instead of %g", workload, precision, (unsigned long long)wrong,
          (unsigned long long)at, operand[result][at], truth.value[at]);
    for (unsigned i = 0; i < x.kernel.buffers; i++)
        free(operand[i]);
    free(truth.value);
    free(truth.error);
    example_close(&x);
}

static void check_all(const char *const *workloads, size_t count)
{
    for (size_t i = 0; i < count; i++)
        check(workloads[i], floats[i % ARRAY_COUNT(floats)]);
}

static void test_integer(void)
{
    static const char *const workloads[] = {"integer:1,of=i32",
                                            "integer:1030,of=i32,op=sub",
                                            "integer:90,of=i32,op=mul,period=9",
                                            "integer:1027,of=i64",
                                            "integer:33,of=i64,op=sub",
                                            "integer:333,of=i64,op=mul",
                                            "integer:35,of=i64,op=mul,period=1",
                                            "integer:129,of=u8,op=xor,period=1",
                                            "integer:66,of=u8,op=and",
                                            "integer:67,of=u8,op=or",
                                            "integer:127,of=i64,op=min",
                                            "integer:120,of=i32,op=max,period=4",
                                            "integer:126,of=i64,op=max,period=7",
                                            "integer:129,of=u8,op=div",
                                            "integer:131,of=i32,op=div,period=1",
                                            "integer:66,of=i32,op=mod",
                                            "integer:66,of=i64,op=rem,period=6",
                                            "integer:65,of=i32,op=shl",
                                            "integer:33,of=i64,op=shr"};
    check_all(workloads, ARRAY_COUNT(workloads));
    example_refused("integer:8", "f32", "is missing");
    example_refused("integer:8,of=i32,period=3", "f32", "multiple of period");
}

/* ---- division and shifts: closed forms in C, of all kinds of magnitudes ---- */

static const char *const parts[] = {"div", "mod", "rem", "shl", "shr"};

/* What C says of a op b in 64 bits; by 0 nothing is divided, and magnitudes without signs have no overflow. */
static int64_t part_of(const char *op, int64_t a, int64_t b, unsigned bits, bool is_signed)
{
    const uint64_t mask = bits == 64 ? UINT64_MAX : (UINT64_C(1) << bits) - 1;
    const uint64_t x = a < 0 ? 0 - (uint64_t)a : (uint64_t)a, y = b < 0 ? 0 - (uint64_t)b : (uint64_t)b;
    const uint64_t quotient = y ? x / y : 0, left = y ? x % y : x, by = (uint64_t)b & mask;
    int64_t rest = (int64_t)(a < 0 ? 0 - left : left);
    if (strcmp(op, "div") == 0)
        return (int64_t)((a < 0) != (b < 0) ? 0 - quotient : quotient);
    if (op[0] == 's')
        return by >= bits ? 0 : (int64_t)(op[2] == 'l' ? (uint64_t)a << by : ((uint64_t)a & mask) >> by);
    if (strcmp(op, "mod") == 0 && is_signed && rest != 0 && (rest < 0) != (b < 0))
        rest = (int64_t)((uint64_t)rest + (uint64_t)b);
    return rest;
}

/* The least, the largest, what lies around powers of two and 0, and anything. */
static int64_t some_number(unsigned i, unsigned bits, uint64_t *seed)
{
    const unsigned at = i % (bits + 1), kind = i / (bits + 1) % 4;
    const uint64_t power = at == bits ? 0 : UINT64_C(1) << at;
    *seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (int64_t)(kind == 0 ? power : kind == 1 ? power - 1 : kind == 2 ? 0 - power : *seed >> (*seed >> 58));
}

static int64_t in_type(int64_t number, unsigned bits)
{
    return bits == 8 ? (uint8_t)number : bits == 32 ? (int32_t)number : number;
}

/* Shifts by every distance and by too far, too. */
static int64_t other_number(const char *op, unsigned i, unsigned bits, uint64_t *seed)
{
    const int64_t any = some_number(i / 7 + 3 * i, bits, seed);
    return in_type(op[0] == 's' && i % 5 ? i % (bits + 9) : any, bits);
}

static void check_part(const char *op, const char *of, unsigned bits)
{
    enum { COUNT = 2500 };
    struct gpu_example x;
    char workload[60];
    const unsigned bytes = bits / 8;
    uint64_t seed = 7;
    snprintf(workload, sizeof workload, "integer:%d,of=%s,op=%s", COUNT, of, op);
    bool ok = example_open(&x, workload, "f32", 8);
    int64_t a[COUNT], b[COUNT];
    for (unsigned i = 0; ok && i < COUNT; i++) {
        a[i] = in_type(some_number(i, bits, &seed), bits);
        b[i] = other_number(op, i, bits, &seed);
        if (i < 3) { /* the least by -1, 0 and itself */
            a[i] = in_type((int64_t)(UINT64_C(1) << (bits - 1)), bits);
            b[i] = i == 2 ? a[i] : in_type((int64_t)i - 1, bits);
        }
        memcpy((uint8_t *)example_bytes(&x, 0) + bytes * i, &a[i], bytes);
        memcpy((uint8_t *)example_bytes(&x, 1) + bytes * i, &b[i], bytes);
    }
    ok = ok && example_run(&x, false);
    CHECK(ok, "%s: %s", workload, x.text);
    for (unsigned i = 0; ok && i < COUNT; i++) {
        int64_t got = 0;
        memcpy(&got, (const uint8_t *)example_bytes(&x, 2) + bytes * i, bytes);
        got = in_type(got, bits);
        const int64_t want = in_type(part_of(op, a[i], b[i], bits, bits > 8), bits);
        CHECK(got == want, "%s: %lld and %lld give %lld, not %lld", workload, (long long)a[i], (long long)b[i], (long long)got,
              (long long)want);
        ok = got == want;
    }
    example_close(&x);
}

static void test_parts(void)
{
    for (size_t k = 0; k < ARRAY_COUNT(parts); k++) {
        check_part(parts[k], "u8", 8);
        check_part(parts[k], "i32", 32);
        check_part(parts[k], "i64", 64);
    }
}

static void test_compare(void)
{
    static const char *const workloads[] = {"compare:1",
                                            "compare:1031,op=lt",
                                            "compare:77,op=ge,period=11",
                                            "compare:40,op=le,period=1",
                                            "compare:41,op=gt",
                                            "compare:513,of=i64,op=le",
                                            "compare:515,of=i64",
                                            "compare:129,of=i32,op=gt,period=43",
                                            "compare:130,of=i64,op=lt,period=26",
                                            "compare:65,of=u8",
                                            "compare:33,of=i64,op=ge,period=1"};
    check_all(workloads, ARRAY_COUNT(workloads));
}

static void test_select(void)
{
    static const char *const workloads[] = {
        "select:1",          "select:1030",      "select:71,single=a",        "select:70,single=b",       "select:9,single=both",
        "select:515,of=i64", "select:131,of=u8", "select:67,of=i32,single=b", "select:67,of=i64,single=a"};
    for (size_t p = 0; p < ARRAY_COUNT(floats); p++)
        for (size_t i = 0; i < ARRAY_COUNT(workloads); i++)
            check(workloads[i], floats[p]);
}

static void test_topk(void)
{
    static const char *const workloads[] = {"topk:1x1,k=1",    "topk:3x7,k=7",   "topk:5x33,k=4,smallest=1",
                                            "topk:2x1000,k=9", "topk:40x31,k=1", "topk:4x64,k=3"};
    for (size_t p = 0; p < ARRAY_COUNT(floats); p++)
        for (size_t i = 0; i < ARRAY_COUNT(workloads); i++)
            check(workloads[i], floats[p]);
    example_refused("topk:3x4,k=5", "f32", "at most columns");
}

/* Equal elements, infinities, and what is no number. */
static void test_topk_specials(void)
{
    static const double values[8] = {-INFINITY, 3, NAN, 3, INFINITY, -2, -INFINITY, 3};
    static const double largest[8] = {4, 1, 3, 7, 5, 0, 6, 4294967295.0}, smallest[8] = {0, 6, 5, 1, 3, 7, 4, 4294967295.0};
    for (unsigned small = 0; small < 2; small++) {
        struct gpu_example x;
        bool ok = example_open(&x, small ? "topk:1x8,k=8,smallest=1" : "topk:1x8,k=8", "f32", 8);
        for (unsigned i = 0; ok && i < 8; i++)
            example_put(example_bytes(&x, 0), GPU_F32, i, values[i]);
        ok = ok && example_run(&x, false);
        double *const out = ok ? example_values(&x, "out") : NULL;
        CHECK(out != NULL, "%s", x.text);
        for (unsigned i = 0; out && i < 8; i++)
            CHECK(out[i] == (small ? smallest : largest)[i], "place %u is %g", i, out[i]);
        free(out);
        example_close(&x);
    }
}

static void test_cast(void)
{
    static const char *const workloads[] = {"cast:1,to=i32",           "cast:515,to=i64",         "cast:35,to=u8",
                                            "cast:35,to=bool",         "cast:515,from=i64",       "cast:35,from=i32",
                                            "cast:35,from=u8",         "cast:35,from=i64,to=i32", "cast:35,from=i64,to=u8",
                                            "cast:35,from=i32,to=i64", "cast:35,from=u8,to=i64",  "cast:35,from=i64,to=bool"};
    for (size_t p = 0; p < ARRAY_COUNT(floats); p++)
        for (size_t i = 0; i < ARRAY_COUNT(workloads); i++)
            check(workloads[i], floats[p]);
    example_refused("cast:8", "f32", "must differ");
}

/* No NaN is less than, as large as or more than anything, and a zero is as large as the other one. */
static void test_specials(void)
{
    static const double values[] = {0.0, -0.0, NAN, INFINITY, -INFINITY, 1};
    static const char *const ops[] = {"eq", "lt", "le", "gt", "ge"};
    for (unsigned op = 0; op < ARRAY_COUNT(ops); op++) {
        struct gpu_example x;
        char workload[40];
        snprintf(workload, sizeof workload, "compare:36,op=%s", ops[op]);
        bool ok = example_open(&x, workload, "f32", 8);
        for (unsigned i = 0; ok && i < 36; i++) {
            example_put(example_bytes(&x, 0), GPU_F32, i, values[i % 6]);
            example_put(example_bytes(&x, 1), GPU_F32, i, values[i / 6]);
        }
        ok = ok && example_run(&x, false);
        double *const out = ok ? example_values(&x, "out") : NULL;
        CHECK(out != NULL, "%s", x.text);
        for (unsigned i = 0; out && i < 36; i++) {
            const double a = values[i % 6], b = values[i / 6];
            const bool want = op == 0 ? a == b : op == 1 ? a < b : op == 2 ? a <= b : op == 3 ? a > b : a >= b;
            CHECK(out[i] == want, "%s of %g and %g is %g", ops[op], a, b, out[i]);
        }
        free(out);
        example_close(&x);
    }
}

/* Far from zero: magnitudes of 33 to 62 bits, both ways. */
/* float32 beside numbers of 16 bits: these are exact in it, and it is rounded to the nearest of them. */
static void test_single_casts(void)
{
    check("cast:515,to=f32", "f16");
    check("cast:35,to=f32", "bf16");
    struct gpu_example x;
    if (example_start(&x, "cast:515,from=f32", "f16", 17)) {
        double *const in = example_values(&x, "x"), *const out = example_values(&x, "out");
        for (unsigned i = 0; i < 515; i++)
            CHECK(out[i] == (double)(_Float16)in[i], "%.9g as %.9g", in[i], out[i]);
        free(in);
        free(out);
    }
    example_close(&x);
    example_refused("cast:8,to=f32", "f32", "16 bits");
    example_refused("cast:8,from=i32,to=f32", "f16", "16 bits");
    example_refused("cast:8,from=bool,to=i32", "f32", "must differ");
}

static void test_far_casts(void)
{
    static const int64_t wide[] = {INT64_C(1) << 40, -(INT64_C(1) << 33) - 7, INT64_C(0x3ffffffffffff000), INT64_MIN, 4294967295,
                                   -4294967296};
    struct gpu_example x;
    bool ok = example_open(&x, "cast:6,from=i64", "f32", 8);
    if (ok)
        memcpy(example_bytes(&x, 0), wide, sizeof wide);
    ok = ok && example_run(&x, false);
    double *const out = ok ? example_values(&x, "out") : NULL;
    CHECK(out != NULL, "%s", x.text);
    for (unsigned i = 0; out && i < 6; i++)
        CHECK(fabs(out[i] - (double)wide[i]) <= 0x1p-23 * fabs((double)wide[i]), "%lld as %.17g", (long long)wide[i], out[i]);
    free(out);
    example_close(&x);
    ok = example_open(&x, "cast:6,to=i64", "f32", 8);
    for (unsigned i = 0; ok && i < 6; i++)
        example_put(example_bytes(&x, 0), GPU_F32, i, i == 3 ? -0x1.8p62 : (double)(float)wide[i]);
    ok = ok && example_run(&x, false);
    int64_t got[6] = {0};
    if (ok)
        memcpy(got, example_bytes(&x, 1), sizeof got);
    for (unsigned i = 0; i < 6; i++)
        CHECK(ok && got[i] == (int64_t)(i == 3 ? -0x1.8p62F : (float)wide[i]), "%g is %lld", (double)wide[i], (long long)got[i]);
    example_close(&x);
}

static const struct suite_test tests[] = {
    {"arithmetic of whole numbers", test_integer},
    {"quotients, remainders and shifts are those of C", test_parts},
    {"comparisons", test_compare},
    {"comparisons of zeros, infinities and no numbers", test_specials},
    {"choices", test_select},
    {"places of the largest", test_topk},
    {"places of infinities and no numbers", test_topk_specials},
    {"other types", test_cast},
    {"float32 beside 16 bits", test_single_casts},
    {"other types far from zero", test_far_casts},
};
SUITE_MAIN("GPU whole numbers", tests)
