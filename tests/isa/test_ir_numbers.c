/* Numbers in the interpreter: half arithmetic that rounds once, against exact arithmetic in 113 bits; conversions; minima;
 * functions that are rounded correctly. */
#include "isa/agx/compiler/ir_interpret.h"
#include "tests/isa/ir_kit.h"
#include "tests/support/suite.h"

#include <math.h>
#include <string.h>

#define ROWS 1024u /* operations at a time, three operands each */

struct rows {
    uint64_t in[3][ROWS], out[ROWS];
};

static void *memory_at(void *context, uint64_t address, uint64_t bytes)
{
    const uint64_t offset = address - 0x1000;
    return offset <= sizeof(struct rows) && bytes <= sizeof(struct rows) - offset ? (uint8_t *)context + offset : NULL;
}

/* out = op or builtin of in[0], in[1], in[2], which are of `from`; the result is of `to`. Every number has 8 bytes in memory. */
static void compute(struct kit *k, unsigned op, bool builtin, const struct ir_type *to, const struct ir_type *from,
                    unsigned operands, struct rows *rows)
{
    kit_function(k, "k", k->none, (const struct ir_type *const[]){k->device}, 1)->kernel = true;
    const val id = position(k, IR_B_GLOBAL_ID);
    val in[3];
    for (unsigned i = 0; i < 3; i++) {
        const val at = element(k, k->f->argument[0], k->i64, op2(k, IR_ADD, k->i32, id, number(k, i * ROWS)));
        in[i] = op1(k, IR_LOAD, from, at);
    }
    const val v = kit_put(k, builtin ? ir_make_builtin(k->f, (enum ir_builtin)op, to, in, operands)
                                     : ir_make(k->f, (enum ir_op)op, to, in, operands));
    op2(k, IR_STORE, k->none, v, element(k, k->f->argument[0], k->i64, op2(k, IR_ADD, k->i32, id, number(k, 3 * ROWS))));
    give(k, NULL);
    const uint64_t address = 0x1000;
    const struct ir_launch launch = {
        .grid = {ROWS, 1, 1}, .group = {256, 1, 1}, .arguments = &address, .argument_bytes = 8, .memory = {memory_at, rows}};
    struct isa_error error = {.text = ""};
    memset(rows->out, 0, sizeof rows->out);
    const bool ran = ir_number(k->f) && ir_verify(k->f, &error) && ir_interpret(k->f, &launch, &error);
    CHECK(ran, "%s", error.text);
    ir_module_free(k->m);
}

/* ---- halves ---- */

static __float128 half_value(unsigned bits)
{
    const unsigned exponent = bits >> 10 & 31, fraction = bits & 0x3ff;
    const __float128 size = (__float128)(exponent ? 1024 + fraction : fraction) * ldexp(1, (exponent ? (int)exponent : 1) - 25);
    return bits & 0x8000 ? -size : size;
}

/* Is this the half nearest to the exact number, the even one of two? Beyond the largest, infinity stands for 2^16. */
static bool half_is_nearest(unsigned bits, __float128 exact)
{
    const __float128 got = half_value(bits), error = got > exact ? got - exact : exact - got;
    if ((bits & 0x7fff) > 0x7c00)
        return false;
    for (int step = -1; step <= 1; step += 2) {
        const unsigned size = bits & 0x7fff;
        /* Below 0 lies the least number of the other sign. */
        const unsigned other = size == 0 && step < 0 ? (bits ^ 0x8000) + 1 : bits + (unsigned)step;
        if ((other & 0x7fff) > 0x7c00)
            continue;
        const __float128 value = half_value(other), far = value > exact ? value - exact : exact - value;
        if (far < error || (far == error && (bits & 1)))
            return false;
    }
    return true;
}

/* Halves of all sizes, near one another often enough for sums that cancel. */
static uint64_t any_half(uint64_t *state)
{
    const uint64_t r = suite_random(state);
    const uint64_t exponent = r & 64 ? r >> 8 & 31 : 12 + (r >> 8 & 7);
    return (r >> 20 & 0x83ff) | (exponent == 31 ? 30 : exponent) << 10;
}

static void test_half(void)
{
    static const enum ir_op ops[] = {IR_FADD, IR_FSUB, IR_FMUL, IR_FMA};
    uint64_t state = 7;
    for (unsigned turn = 0; turn < 400; turn++) {
        struct rows rows;
        struct kit k = kit_begin();
        const enum ir_op op = ops[turn % 4];
        for (unsigned i = 0; i < 3; i++)
            for (unsigned row = 0; row < ROWS; row++)
                rows.in[i][row] = any_half(&state);
        if (turn % 8 == 7) /* products and sums on opposite sides of a middle */
            for (unsigned row = 0; row < ROWS; row++)
                rows.in[2][row] = (rows.in[2][row] & 0x83ff) | (row & 1 ? 0x0400 : 0x7800);
        compute(&k, op, false, k.f16, k.f16, op == IR_FMA ? 3 : 2, &rows);
        unsigned wrong = 0;
        for (unsigned row = 0; row < ROWS; row++) {
            const __float128 x = half_value((unsigned)rows.in[0][row]), y = half_value((unsigned)rows.in[1][row]),
                             z = half_value((unsigned)rows.in[2][row]);
            const __float128 exact = op == IR_FADD ? x + y : op == IR_FSUB ? x - y : op == IR_FMUL ? x * y : x * y + z;
            wrong += !half_is_nearest((unsigned)rows.out[row], exact);
        }
        CHECK(wrong == 0, "%s: %u of %u are not nearest", ir_op_name(op), wrong, ROWS);
    }
}

static void test_to_half(void)
{
    uint64_t state = 3;
    for (unsigned turn = 0; turn < 40; turn++) {
        struct rows rows;
        struct kit k = kit_begin();
        for (unsigned row = 0; row < ROWS; row++) {
            const uint64_t r = suite_random(&state);
            /* From below the least half to above the largest, middles and their neighbours among them. */
            const uint32_t fraction =
                r & 1 ? (uint32_t)(r >> 8 & 0x7fe000) | (0xfffU + (uint32_t)(r >> 60 & 2)) : (uint32_t)(r >> 8 & 0x7fffff);
            rows.in[0][row] = (r >> 32 & 1) << 31 | (100 + (r >> 34) % 44) << 23 | fraction;
        }
        compute(&k, IR_FPTRUNC, false, k.f16, k.f32, 1, &rows);
        for (unsigned row = 0; row < ROWS; row++) {
            const uint32_t bits = (uint32_t)rows.in[0][row];
            float x;
            memcpy(&x, &bits, 4);
            CHECK(half_is_nearest((unsigned)rows.out[row], x), "%a gives %x", (double)x, (unsigned)rows.out[row]);
        }
    }
}

/* ---- f32 ---- */

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, 4);
    return bits;
}

static void test_minima(void)
{
    static const struct {
        uint32_t a, b, least, most;
    } cases[] = {{0x3f800000, 0x40000000, 0x3f800000, 0x40000000},
                 {0x7fc00000, 0x40000000, 0x40000000, 0x40000000},
                 {0x40000000, 0x7fc00000, 0x40000000, 0x40000000},
                 {0x7fc12345, 0xffc00000, 0x7fc00000, 0x7fc00000},
                 {0xff800000, 0x00000001, 0xff800000, 0x00000001}};
    for (unsigned turn = 0; turn < 2; turn++) {
        struct rows rows = {.in = {{0}}};
        struct kit k = kit_begin();
        for (unsigned i = 0; i < ARRAY_COUNT(cases); i++) {
            rows.in[0][i] = cases[i].a;
            rows.in[1][i] = cases[i].b;
        }
        compute(&k, turn ? IR_B_FMAX : IR_B_FMIN, true, k.f32, k.f32, 2, &rows);
        for (unsigned i = 0; i < ARRAY_COUNT(cases); i++)
            CHECK(rows.out[i] == (turn ? cases[i].most : cases[i].least), "case %u: %x", i, (unsigned)rows.out[i]);
    }
}

static void test_to_integers(void)
{
    static const struct {
        float x;
        uint32_t with_sign, without;
    } cases[] = {{1.99f, 1, 1},          {-1.99f, (uint32_t)-1, 0},      {3e9f, INT32_MAX, 3000000000U},
                 {-3e9f, 0x80000000, 0}, {1e20f, INT32_MAX, UINT32_MAX}, {NAN, 0, 0},
                 {-0.5f, 0, 0},          {16777216, 16777216, 16777216}};
    for (unsigned turn = 0; turn < 2; turn++) {
        struct rows rows = {.in = {{0}}};
        struct kit k = kit_begin();
        for (unsigned i = 0; i < ARRAY_COUNT(cases); i++)
            rows.in[0][i] = bits_of(cases[i].x);
        compute(&k, turn ? IR_FPTOUI : IR_FPTOSI, false, k.i32, k.f32, 1, &rows);
        for (unsigned i = 0; i < ARRAY_COUNT(cases); i++)
            CHECK(rows.out[i] == (turn ? cases[i].without : cases[i].with_sign), "%g: %x", (double)cases[i].x,
                  (unsigned)rows.out[i]);
    }
}

/* Quotients and roots of f32 against the host's own f32 instructions; the others against 64 bits of the long format. */
static void test_functions(void)
{
    static const enum ir_builtin all[] = {IR_B_RCP, IR_B_SQRT, IR_B_RSQRT, IR_B_EXP2, IR_B_LOG2};
    uint64_t state = 11;
    for (unsigned turn = 0; turn < 50; turn++) {
        struct rows rows;
        struct kit k = kit_begin();
        const enum ir_builtin builtin = all[turn % 5];
        for (unsigned row = 0; row < ROWS; row++) {
            const uint64_t r = suite_random(&state);
            const uint64_t exponent = builtin == IR_B_EXP2 ? 110 + (r >> 40) % 24 : 1 + (r >> 40) % 253;
            rows.in[0][row] = (r & 0x7fffff) | exponent << 23 | (builtin == IR_B_EXP2 ? r >> 63 << 31 : 0);
        }
        rows.in[0][0] = 0x403a18e3; /* the root's reciprocal is within 2^-51 of a middle */
        compute(&k, builtin, true, k.f32, k.f32, 1, &rows);
        for (unsigned row = 0; row < ROWS; row++) {
            const uint32_t bits = (uint32_t)rows.in[0][row];
            float x;
            memcpy(&x, &bits, 4);
            const float wanted = builtin == IR_B_RCP     ? 1 / x
                                 : builtin == IR_B_SQRT  ? sqrtf(x)
                                 : builtin == IR_B_RSQRT ? (float)(1 / sqrtl(x))
                                 : builtin == IR_B_EXP2  ? (float)exp2l(x)
                                                         : (float)log2l(x);
            CHECK(rows.out[row] == bits_of(wanted), "%s of %a: %x", ir_builtin_name(builtin), (double)x, (unsigned)rows.out[row]);
        }
    }
}

/* ---- integers ---- */

static void test_saturation(void)
{
    static const enum ir_builtin all[] = {IR_B_ADD_SAT_S, IR_B_SUB_SAT_S,  IR_B_ADD_SAT_U,
                                          IR_B_SUB_SAT_U, IR_B_MUL_HIGH_S, IR_B_MUL_HIGH_U};
    uint64_t state = 5;
    for (unsigned turn = 0; turn < 12; turn++) {
        struct rows rows;
        struct kit k = kit_begin();
        for (unsigned row = 0; row < ROWS; row++)
            for (unsigned i = 0; i < 3; i++)
                rows.in[i][row] = suite_random(&state) & 0xffff;
        compute(&k, all[turn % 6], true, k.i16, k.i16, 2, &rows);
        for (unsigned row = 0; row < ROWS; row++) {
            const int a = (int16_t)rows.in[0][row], b = (int16_t)rows.in[1][row], x = a & 0xffff, y = b & 0xffff;
            const int sums[] = {a + b, a - b, x + y, x - y};
            int wanted = turn % 6 < 4 ? sums[turn % 6] : turn % 6 == 4 ? a * b >> 16 : (int)((unsigned)x * (unsigned)y >> 16);
            const int top = turn % 6 < 2 ? 32767 : 65535, bottom = turn % 6 < 2 ? -32768 : 0;
            if (turn % 6 < 4)
                wanted = wanted > top ? top : wanted < bottom ? bottom : wanted;
            CHECK(rows.out[row] == (uint64_t)(wanted & 0xffff), "%s of %d and %d: %x", ir_builtin_name(all[turn % 6]), a, b,
                  (unsigned)rows.out[row]);
        }
    }
}

static const struct suite_test tests[] = {
    {"sums, products and fused products of halves round once", test_half},
    {"f32 to half rounds to nearest even", test_to_half},
    {"minimum and maximum prefer numbers", test_minima},
    {"numbers beyond an integer's range", test_to_integers},
    {"reciprocals, roots, powers and logarithms are rounded correctly", test_functions},
    {"saturating sums and high products", test_saturation},
};

SUITE_MAIN("ir_numbers", tests)
