/* I8MM and BF16, executed: products of bytes against sums in plain loops, BFloat16 where every step is exact, and where the
 * architecture says what is left of what is not (Arm ARM, BFRound: to odd, without denormal numbers). Unicorn has neither. Words
 * by aarch64-linux-gnu-as: every one is v0 or its lower half from v1 and v2. */
#include "isa/array_count.h"
#include "tests/units/cpu_exec_example.h"

#include <math.h>

enum {
    USDOT = 0x4e829c20,
    USDOT_HALF = 0x0e829c20,
    USDOT_3 = 0x4fa2f820, /* v2.4b[3] */
    SUDOT_1 = 0x4f22f020,
    SMMLA = 0x4e82a420,
    UMMLA = 0x6e82a420,
    USMMLA = 0x4e82ac20,
    BFDOT = 0x6e42fc20,
    BFDOT_HALF = 0x2e42fc20,
    BFDOT_2 = 0x4f42f820, /* v2.2h[2] */
    BFMMLA = 0x6e42ec20,
    BFMLALB = 0x2ec2fc20,
    BFMLALT = 0x6ec2fc20,
    BFMLALB_5 = 0x0fd2f820, /* v2.h[5] */
    BFMLALT_7 = 0x4ff2f820,
    BFCVT = 0x1e634020,
    BFCVTN = 0x0ea16820,
    BFCVTN2 = 0x4ea16820
};

union vector {
    uint8_t u8[16];
    int8_t s8[16];
    uint16_t u16[8];
    uint32_t u32[4];
    float f32[4];
};

static struct example *open_new(void)
{
    struct example *const e = example_open();
    cpu_core_set_v86(e->core, true);
    return e;
}

static union vector run(struct example *e, uint32_t word, const union vector in[3])
{
    union vector out;
    for (unsigned i = 0; i < 3; i++)
        cpu_core_set_v(e->core, i, in[i].u8);
    const bool ok = EXAMPLE_RUN(e, word);
    CHECK(ok, "%08x: %s", word, e->fault.text);
    cpu_core_v(e->core, 0, out.u8);
    return out;
}

/* ---- bytes ---- */

/* Where a lane's products come from: `count` of them, from element n of the first and m of the second vector on. */
static void check_bytes(struct example *e, uint32_t word, const union vector in[3], bool n_signed, bool m_signed)
{
    const union vector got = run(e, word, in);
    const bool matrix = word == SMMLA || word == UMMLA || word == USMMLA;
    for (unsigned i = 0; i < 4; i++) {
        const unsigned count = matrix ? 8 : 4, n = matrix ? 8 * (i / 2) : 4 * i;
        const unsigned m = matrix ? 8 * (i % 2) : word == USDOT_3 ? 12 : word == SUDOT_1 ? 4 : 4 * i;
        uint32_t want = word == USDOT_HALF && i > 1 ? 0 : in[0].u32[i];
        for (unsigned k = 0; k < count && (word != USDOT_HALF || i < 2); k++) {
            const int a = n_signed ? in[1].s8[n + k] : in[1].u8[n + k], b = m_signed ? in[2].s8[m + k] : in[2].u8[m + k];
            want += (uint32_t)(a * b);
        }
        CHECK(got.u32[i] == want, "%08x lane %u: %08x, not %08x", word, i, got.u32[i], want);
    }
}

static void test_bytes(void)
{
    struct example *const e = open_new();
    uint64_t state = 11;
    for (unsigned turn = 0; turn < 200; turn++) {
        union vector in[3];
        for (unsigned i = 0; i < 48; i++)
            in[i / 16].u8[i % 16] = turn == 0 ? 0x80 : turn == 1 ? 0xff : (uint8_t)(suite_random(&state) >> 40);
        check_bytes(e, USDOT, in, false, true);
        check_bytes(e, USDOT_HALF, in, false, true);
        check_bytes(e, USDOT_3, in, false, true);
        check_bytes(e, SUDOT_1, in, true, false);
        check_bytes(e, SMMLA, in, true, true);
        check_bytes(e, UMMLA, in, false, false);
        check_bytes(e, USMMLA, in, false, true);
    }
    example_close(e);
}

/* ---- BFloat16 ---- */

static uint16_t brain(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return (uint16_t)(bits >> 16);
}

static float value(uint16_t x)
{
    const uint32_t bits = (uint32_t)x << 16;
    float f;
    memcpy(&f, &bits, sizeof f);
    return f;
}

/* Whole numbers up to 64: all products and sums are exact, whatever is rounded how. */
static void test_exact_products(void)
{
    static const uint32_t words[] = {BFDOT, BFDOT_HALF, BFDOT_2, BFMMLA, BFMLALB, BFMLALT, BFMLALB_5, BFMLALT_7};
    struct example *const e = open_new();
    uint64_t state = 3;
    for (unsigned turn = 0; turn < 50 * ARRAY_COUNT(words); turn++) {
        const uint32_t word = words[turn % ARRAY_COUNT(words)];
        union vector in[3];
        for (unsigned i = 0; i < 8; i++) {
            in[1].u16[i] = brain((float)((int)(suite_random(&state) >> 57) - 64));
            in[2].u16[i] = brain((float)((int)(suite_random(&state) >> 57) - 64));
            in[0].f32[i % 4] = (float)((int)(suite_random(&state) >> 48) - 32768);
        }
        const union vector got = run(e, word, in);
        for (unsigned i = 0; i < 4; i++) {
            const bool matrix = word == BFMMLA, pair = word == BFDOT || word == BFDOT_HALF || word == BFDOT_2;
            const bool top = word == BFMLALT || word == BFMLALT_7;
            float want = word == BFDOT_HALF && i > 1 ? 0 : in[0].f32[i];
            for (unsigned k = 0; k < (matrix ? 4 : pair ? 2 : 1) && (word != BFDOT_HALF || i < 2); k++) {
                const unsigned n = matrix ? 4 * (i / 2) + k : pair ? 2 * i + k : 2 * i + top;
                const unsigned m = matrix              ? 4 * (i % 2) + k
                                   : word == BFDOT_2   ? 4 + k
                                   : word == BFMLALB_5 ? 5
                                   : word == BFMLALT_7 ? 7
                                                       : n;
                want += value(in[1].u16[n]) * value(in[2].u16[m]);
            }
            CHECK(got.f32[i] == want, "%08x lane %u: %g, not %g", word, i, (double)got.f32[i], (double)want);
        }
    }
    example_close(e);
}

/* sum + (a b + c d) in lane 0, as bits. */
static void test_rounding_to_odd(void)
{
    static const struct {
        uint32_t sum;
        float a, b, c, d;
        uint32_t want;
    } rows[] = {
        {0x3f800000, 0x1p-15F, 0x1p-15F, 0, 0, 0x3f800001},    /* 1 + 2^-30: something is left */
        {0xbf800000, 0x1p-15F, 0x1p-15F, 0, 0, 0xbf7fffff},    /* -1 + 2^-30: truncated to a number that is odd */
        {0x3f800001, -0x1p-15F, 0x1p-15F, 0, 0, 0x3f800001},   /* truncated to 1, then odd */
        {0x3f800000, 0x1p-12F, 0x1p-12F, 0, 0, 0x3f800001},    /* half a unit, even would stay */
        {0x3f800000, 0x1p-11F, 0x1p-11F, 0, 0, 0x3f800002},    /* exact */
        {0, 1, 1, 0x1p-15F, 0x1p-15F, 0x3f800001},             /* the sum of the products, too */
        {0, 0x1p-100F, 0x1p-100F, 0, 0, 0},                    /* a product below the normal numbers is nothing */
        {0x00400000, 0, 0, 0, 0, 0},                           /* and so is a denormal sum */
        {0, 0x1p-64F, 0x1p-62F, 0, 0, 0x00800000},             /* the smallest normal number stays */
        {0x00800000, -0x1p-64F, 0x1.8p-62F, 0, 0, 0x80000000}, /* a denormal difference is zero with its sign */
        {0x7f7fffff, 0x1p64F, 0x1p63F, 0, 0, 0x7f800000},      /* too large */
        {0x7f7fffff, 0x1p60F, 0x1p40F, 0, 0, 0x7f7fffff},      /* not yet */
        {0x3f800000, INFINITY, 0, 0, 0, 0x7fc00000},
        {0x7f800000, -INFINITY, 1, 0, 0, 0x7fc00000},
        {0xff812345, 1, 1, 0, 0, 0x7fc00000},
        {0x3f800000, INFINITY, -1, 5, 5, 0xff800000},
        {0x80000000, -0.0F, 1, -0.0F, 1, 0x80000000},
        {0x80000000, 0, 1, 0, 1, 0},
        {0xbf800000, 1, 1, 0, 0, 0},
    };
    struct example *const e = open_new();
    for (unsigned mode = 0; mode < 4; mode++) /* whatever the rounding mode */
        for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
            union vector in[3] = {{.u32 = {rows[i].sum}}};
            in[1].u16[0] = brain(rows[i].a);
            in[2].u16[0] = brain(rows[i].b);
            in[1].u16[1] = brain(rows[i].c);
            in[2].u16[1] = brain(rows[i].d);
            cpu_core_set_fpcr(e->core, mode << 22);
            const uint32_t got = run(e, BFDOT, in).u32[0];
            CHECK(got == rows[i].want, "row %zu, mode %u: %08x, not %08x", i, mode, got, rows[i].want);
        }
    cpu_core_set_fpcr(e->core, 0);
    example_close(e);
}

/* Of the two neighbours in BFloat16 the one that the mode says. */
static uint16_t converted(float x, unsigned mode)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    const uint16_t low = (uint16_t)(bits >> 16), high = (uint16_t)(low + 1); /* by magnitude */
    const double at = fabs((double)x), below = fabs((double)value(low)), above = fabs((double)value(high));
    if (at == below)
        return low;
    switch (mode) {
    case 0: return at - below < above - at ? low : at - below > above - at ? high : low & 1 ? high : low;
    case 1: return x > 0 ? high : low;
    case 2: return x < 0 ? high : low;
    default: return low;
    }
}

static void test_conversion(void)
{
    struct example *const e = open_new();
    uint64_t state = 5;
    for (unsigned turn = 0; turn < 4000; turn++) {
        union vector in[3] = {{.u32 = {1, 2, 3, 4}}};
        for (unsigned i = 0; i < 4; i++) {
            do
                in[1].u32[i] = (uint32_t)(suite_random(&state) >> 32) & (turn % 5 == 0 ? 0xffff8000 : 0xffffffff);
            while ((in[1].u32[i] >> 23 & 255) > 252);
        }
        cpu_core_set_fpcr(e->core, (turn & 3) << 22);
        const union vector low = run(e, BFCVTN, in), high = run(e, BFCVTN2, in), one = run(e, BFCVT, in);
        for (unsigned i = 0; i < 4; i++) {
            const uint16_t want = converted(in[1].f32[i], turn & 3);
            CHECK(low.u16[i] == want && low.u16[i + 4] == 0, "%08x: %04x, not %04x", in[1].u32[i], low.u16[i], want);
            CHECK(high.u16[i + 4] == want && high.u32[i / 2] == in[0].u32[i / 2], "%08x: the upper half", in[1].u32[i]);
        }
        CHECK(one.u32[0] == low.u16[0] && !one.u32[1] && !one.u32[2] && !one.u32[3], "%08x: the scalar", in[1].u32[0]);
    }
    cpu_core_set_fpcr(e->core, 0);
    const union vector special[3] = {{.u32 = {0}}, {.u32 = {0x7f800000, 0xff7fffff, 0x7f800001, 0xffc12345}}, {.u32 = {0}}};
    const union vector got = run(e, BFCVTN, special);
    CHECK(got.u16[0] == 0x7f80 && got.u16[1] == 0xff80 && got.u16[2] == 0x7fc0 && got.u16[3] == 0xffc1, "%04x %04x %04x %04x",
          got.u16[0], got.u16[1], got.u16[2], got.u16[3]);
    example_close(e);
}

/* A core of M1 does not know them. */
static void test_older_cores(void)
{
    static const uint32_t words[] = {USDOT,   SUDOT_1, SMMLA,   UMMLA,     USMMLA, BFDOT,
                                     BFDOT_2, BFMMLA,  BFMLALB, BFMLALT_7, BFCVT,  BFCVTN};
    struct example *const e = example_open();
    for (size_t i = 0; i < ARRAY_COUNT(words); i++) {
        example_put(e, EXAMPLE_CODE, &words[i], 1);
        CHECK(cpu_core_run(e->core, 100, &e->trace, &e->fault) == CPU_STOP_FAULT && e->fault.pc == EXAMPLE_CODE &&
                  e->fault.kind == UNIT_FAULT_UNDEFINED && strstr(e->fault.text, "M2 and later"),
              "%08x: %s", words[i], e->fault.text);
    }
    example_close(e);
}

static const struct suite_test tests[] = {
    {"products of bytes", test_bytes},
    {"exact products of BFloat16", test_exact_products},
    {"rounding to odd", test_rounding_to_odd},
    {"conversion to BFloat16", test_conversion},
    {"older cores do not have them", test_older_cores},
};
SUITE_MAIN("cpu matrix", tests)
