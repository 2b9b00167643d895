/* The public programs on random inputs, against the operation that each implements, in double. No recorded outputs are public;
 * bounds follow from the pipeline: one rounding per step, straight lines between knots of the tables (test_ane_lut.c has theirs).
 */
#include "isa/ane/ane_half.h"
#include "isa/array_count.h"
#include "tests/isa/ane_golden.h"
#include "units/ane/ane_exec.h"

#include <math.h>
#include <string.h>

enum { L2_BYTES = 2 << 20, WIDTH = 1600, HEIGHT = 2560, ROW_BYTES = 0xc80, CHECK_EVERY = 37 };

struct loaded {
    struct ane_program program;
    struct mem_space *space;
    struct ane_core *core;
    struct ane_request request;
    struct ane_exec_counts counts;
};

static bool load(const char *file, struct loaded *l)
{
    size_t size = 0;
    struct isa_error error = {.text = ""};
    uint8_t *bytes = ane_golden_read(file, &size);
    memset(l, 0, sizeof *l);
    const bool ok = bytes && ane_program_parse(bytes, size, &l->program, &error);
    CHECK(ok, "%s: %s", file, error.text);
    free(bytes);
    if (!ok)
        return false;
    l->space = mem_space_create((uint64_t)1 << 30);
    l->core = ane_core_create(NULL, L2_BYTES);
    CU_ASSERT_FATAL(l->space != NULL && l->core != NULL);
    l->request.program = &l->program;
    l->request.space = l->space;
    for (unsigned bar = 0; bar < ANE_BARS; bar++) {
        const struct ane_port *port = &l->program.port[bar];
        if (port->kind != ANE_PORT_INPUT && port->kind != ANE_PORT_OUTPUT && port->kind != ANE_PORT_SCRATCH)
            continue;
        l->request.bytes[bar] = port->bytes;
        l->request.address[bar] = mem_space_alloc(l->space, port->bytes, 16384);
    }
    return true;
}

static void unload(struct loaded *l)
{
    ane_program_free(&l->program);
    ane_core_free(l->core);
    mem_space_free(l->space);
}

/* fp16 number `index` elements behind the start of a buffer. */
static uint8_t *place(const struct loaded *l, unsigned bar, uint64_t at)
{
    return l->space->host + l->request.address[bar] + at;
}

static double get(const struct loaded *l, unsigned bar, uint64_t at)
{
    uint16_t bits;
    memcpy(&bits, place(l, bar, at), sizeof bits);
    return ane_half_value(bits);
}

static void set(const struct loaded *l, unsigned bar, uint64_t at, double value)
{
    const uint16_t bits = ane_half_bits(value);
    memcpy(place(l, bar, at), &bits, sizeof bits);
}

static void run(struct loaded *l)
{
    struct unit_fault fault;
    const bool ok = ane_core_run(l->core, &l->request, 2, &l->counts, &fault);
    CHECK(ok, "%s", fault.text);
}

static double ulp(double value)
{
    int exponent;
    frexp(value, &exponent);
    return ldexp(1, (exponent < -13 ? -13 : exponent) - 11);
}

/* ---- one tensor of 2560 x 1600 ---- */

static double gelu(double x, double y)
{
    return (void)y, 0.5 * x * erfc(-x * sqrt(0.5));
}
static double hardtanh(double x, double y)
{
    return (void)y, fmin(fmax(x, -1), 1);
}
static double relu(double x, double y)
{
    return (void)y, fmax(x, 0);
}
static double selu(double x, double y)
{
    return (void)y, x > 0 ? 1.0507009873554805 * x : 1.7580993408473766 * expm1(x);
}
static double add(double x, double y)
{
    return x + y;
}
static double divide(double x, double y)
{
    return x / y;
}
static double multiply(double x, double y)
{
    return x * y;
}
static double exponential(double x, double y)
{
    return (void)y, exp(x);
}
static double binary_exponential(double x, double y)
{
    return (void)y, exp2(x);
}
static double binary_logarithm(double x, double y)
{
    return (void)y, log2(x);
}
static double sigmoid(double x, double y)
{
    return (void)y, 1 / (1 + exp(-x));
}
static double absolute(double x, double y)
{
    return (void)y, fabs(x);
}
static double root(double x, double y)
{
    return (void)y, sqrt(x);
}
static double hyperbolic(double x, double y)
{
    return (void)y, tanh(x);
}

struct elementwise {
    const char *file;
    double (*value)(double x, double y);
    double low, high;      /* inputs */
    double absolute, ulps; /* bound: absolute + ulps * step of the result */
};
static const struct elementwise elementwise[] = {
    {"eiln/binary_add.bin.gz", add, -100, 100, 0, 0.5},
    {"eiln/binary_mul.bin.gz", multiply, -100, 100, 0, 0.5},
    {"eiln/binary_max.bin.gz", fmax, -100, 100, 0, 0},
    {"eiln/unary_abs.bin.gz", absolute, -100, 100, 0, 0},
    {"eiln/activation_relu.bin.gz", relu, -100, 100, 0, 0},
    {"eiln/activation_hardtanh.bin.gz", hardtanh, -3, 3, 0, 0},
    {"eiln/unary_exp2.bin.gz", binary_exponential, -14, 15.9, 0, 1.1},
    {"eiln/unary_exp.bin.gz", exponential, -2, 2, 0, 2}, /* log2 e rounded to fp16: 2.1e-4 |x| on top of exp2 */
    {"eiln/unary_log2.bin.gz", binary_logarithm, 0, 100, 0x1p-10, 1},
    {"eiln/unary_sqrt.bin.gz", root, 0, 1000, 0, 1.3},
    {"eiln/unary_tanh.bin.gz", hyperbolic, -6, 6, 1.7e-3, 0.5},
    {"eiln/unary_sigmoid.bin.gz", sigmoid, -15, 15, 9e-4, 1}, /* sigmoid - 0.5 is rounded, then the sum */
    {"eiln/activation_gelu.bin.gz", gelu, -6, 6, 6.3e-3, 0.5},
    {"eiln/activation_selu.bin.gz", selu, -10, 10, 0.0146, 1},
    {"eiln/binary_div.bin.gz", divide, 0.01, 10, 0,
     2.9}, /* reciprocal 1.3 steps, which the product may double; and its own half */
};

/* Elements at i are functions of both inputs at i; names of ports do not tell which comes first: base register 5 does. */
static void check_elementwise(const struct elementwise *e)
{
    struct loaded l;
    uint64_t state = 77;
    if (!load(e->file, &l))
        return;
    const bool two = l.program.port[6].kind == ANE_PORT_INPUT;
    for (uint64_t at = 0; at < (uint64_t)HEIGHT * ROW_BYTES; at += 2)
        for (unsigned bar = 5; bar < (two ? 7 : 6); bar++)
            set(&l, bar, at, e->low + (e->high - e->low) * (double)(suite_random(&state) >> 11) * 0x1p-53);
    run(&l);
    for (uint64_t at = 0; at < (uint64_t)HEIGHT * ROW_BYTES; at += 2 * CHECK_EVERY) {
        const double x = get(&l, 5, at), y = two ? get(&l, 6, at) : 0, want = e->value(x, y), got = get(&l, 4, at);
        if (!(fabs(got - want) <= e->absolute + e->ulps * ulp(want))) {
            CHECK(0, "%s at %llu: %g, %g give %.9g, not %.9g", e->file, (unsigned long long)at, x, y, got, want);
            break;
        }
    }
    CU_ASSERT_EQUAL(l.counts.tasks, l.program.count);
    unload(&l);
}

static void test_elementwise(void)
{
    for (size_t i = 0; i < ARRAY_COUNT(elementwise); i++)
        check_elementwise(&elementwise[i]);
}

/* Along the width. Exponents are rounded to fp16 (|x - max| * log2 e < 16: half a step is 2^-8 of a binade, 2.7e-3) and carry the
 * 2.1e-4 of the rounded log2 e (times 8 at most); exp2 adds 1.1 steps, the sum and 1/sum are rounded to fp16, and so is the
 * product: 2.7e-3 + 1.7e-3 + 4.1 * 2^-10, relative. */
static void test_softmax(void)
{
    struct loaded l;
    uint64_t state = 5;
    if (!load("eiln/activation_softmax.bin.gz", &l))
        return;
    for (uint64_t at = 0; at < (uint64_t)HEIGHT * ROW_BYTES; at += 2)
        set(&l, 5, at, 8 * ((double)(suite_random(&state) >> 11) * 0x1p-53 - 0.5));
    run(&l);
    for (unsigned row = 0; row < HEIGHT; row += 97) {
        double most = -INFINITY, sum = 0;
        for (unsigned x = 0; x < WIDTH; x++)
            most = fmax(most, get(&l, 5, (uint64_t)row * ROW_BYTES + 2 * x));
        for (unsigned x = 0; x < WIDTH; x++)
            sum += exp(get(&l, 5, (uint64_t)row * ROW_BYTES + 2 * x) - most);
        for (unsigned x = 0; x < WIDTH; x++) {
            const double want = exp(get(&l, 5, (uint64_t)row * ROW_BYTES + 2 * x) - most) / sum;
            const double got = get(&l, 4, (uint64_t)row * ROW_BYTES + 2 * x);
            CHECK(fabs(got - want) <= want * 8.4e-3 + 0x1p-24, "row %u, %u: %g, not %g", row, x, got, want);
        }
    }
    unload(&l);
}

/* The guide: all of the mass goes where a NaN is, and large values do not overflow. */
static void test_softmax_edges(void)
{
    struct loaded l;
    if (!load("eiln/activation_softmax.bin.gz", &l))
        return;
    for (uint64_t at = 0; at < (uint64_t)HEIGHT * ROW_BYTES; at += 2)
        set(&l, 5, at, -30000);
    set(&l, 5, 0, 1000);
    set(&l, 5, 2, 1);
    set(&l, 5, ROW_BYTES + 6, NAN);
    for (unsigned x = 0; x < 4; x++)
        set(&l, 5, 2 * ROW_BYTES + 2 * x, 3);
    run(&l);
    CU_ASSERT_EQUAL(get(&l, 4, 0), 1);
    CU_ASSERT_EQUAL(get(&l, 4, 2), 0);
    for (unsigned x = 0; x < 6; x++)
        CU_ASSERT_EQUAL(get(&l, 4, ROW_BYTES + 2 * x), x == 3);
    for (unsigned x = 0; x < 6; x++)
        CU_ASSERT_EQUAL(get(&l, 4, 2 * ROW_BYTES + 2 * x), x < 4 ? 0.25 : 0);
    unload(&l);
}

/* ---- containers of tinygrad ---- */

static void test_three_channels(void)
{
    static const struct {
        const char *file;
        unsigned outputs;
        double weight, bias;
    } rows[] = {{"tinygrad/golden.1dcaecacc4.hwx.gz", 2, 3, 1},
                {"tinygrad/golden.23664c99bd.hwx.gz", 3, 3, 0},
                {"tinygrad/conv.ff52f832dc.hwx.gz", 3, 0, 0}}; /* weights of the last are denormal: flushed on H13 */
    uint64_t state = 9;
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct loaded l;
        double sum = 0;
        if (!load(rows[i].file, &l))
            return;
        for (unsigned c = 0; c < 3; c++) {
            set(&l, 5, 64 * c, (double)(suite_random(&state) % 200) / 16 - 6);
            sum += get(&l, 5, 64 * c);
        }
        run(&l);
        const double want = rows[i].bias + rows[i].weight * sum;
        for (unsigned k = 0; k < rows[i].outputs; k++)
            CU_ASSERT_EQUAL(get(&l, 4, 64 * k), want);
        unload(&l);
    }
}

static void test_others(void)
{
    struct loaded l;
    if (load("tinygrad/relu.da873cd556.hwx.gz", &l)) {
        for (unsigned x = 0; x < 16; x++)
            set(&l, 5, 2 * x, (double)x - 8);
        run(&l);
        for (unsigned x = 0; x < 16; x++)
            CU_ASSERT_EQUAL(get(&l, 4, 2 * x), x < 8 ? 0 : (double)x - 8);
        unload(&l);
    }
    if (load("tinygrad/sum.6ca449afd2.hwx.gz", &l)) {
        for (unsigned c = 0; c < 64; c++) {
            set(&l, 5, 64 * c, c);
            set(&l, 6, 64 * c, 1000 - 3.0 * c);
        }
        run(&l);
        for (unsigned c = 0; c < 64; c++)
            CU_ASSERT_EQUAL(get(&l, 4, 64 * c), 1000 - 2.0 * c);
        unload(&l);
    }
    if (load("tinygrad/gemm.73ae6d7821.hwx.gz", &l)) { /* all weights 0 */
        for (unsigned c = 0; c < 64; c++) {
            set(&l, 5, 64 * c, c);
            set(&l, 4, 64 * c, 5);
        }
        run(&l);
        for (unsigned c = 0; c < 64; c++)
            CU_ASSERT_EQUAL(get(&l, 4, 64 * c), 0);
        CU_ASSERT_EQUAL(l.counts.macs, 64 * 64);
        CU_ASSERT_EQUAL(l.counts.coefficient_bytes, 16 * 0x200);
        unload(&l);
    }
}

/* Coefficients may lie in a buffer of their own. */
static void test_coefficient_buffer(void)
{
    struct loaded l;
    if (!load("tinygrad/golden.1dcaecacc4.hwx.gz", &l))
        return;
    unsigned bar = 0;
    while (bar < ANE_BARS - 1 && l.program.port[bar].kind != ANE_PORT_COEFFICIENTS)
        bar++;
    l.request.bytes[bar] = l.program.const_bytes;
    l.request.address[bar] = mem_space_alloc(l.space, l.program.const_bytes, 16384);
    memcpy(place(&l, bar, 0), l.program.bytes + l.program.const_offset, l.program.const_bytes);
    set(&l, bar, 0, 7); /* the bias of the first channel */
    set(&l, 5, 0, 2);
    run(&l);
    CU_ASSERT_EQUAL(get(&l, 4, 0), 13);
    CU_ASSERT_EQUAL(get(&l, 4, 64), 7);
    unload(&l);
}

static const struct suite_test tests[] = {
    {"element by element", test_elementwise},
    {"softmax", test_softmax},
    {"softmax of extremes", test_softmax_edges},
    {"three channels", test_three_channels},
    {"relu, sum, gemm", test_others},
    {"coefficients in a buffer", test_coefficient_buffer},
};
SUITE_MAIN("ane programs", tests)
