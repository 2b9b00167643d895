/* Lowering keeps what a kernel computes: each case is run by the interpreter as it was read and as it was lowered, on numbers
 * from the corners of their type and random ones. Library functions may differ by the units in the last place that OpenCL C 3.0
 * (table 38) allows; the interpreter computes them in double precision before lowering. */
#include "isa/agx/compiler/ir_interpret.h"
#include "isa/agx/compiler/ir_lower.h"
#include "isa/agx/compiler/ir_read.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define THREADS 1024
#define BASE    0x10000u
#define ROOM    (THREADS * 16u)

struct device {
    unsigned char bytes[4 * ROOM];
};

static void *device_at(void *context, uint64_t address, uint64_t bytes)
{
    struct device *d = context;
    if (address < BASE || address - BASE > sizeof d->bytes || bytes > sizeof d->bytes - (address - BASE))
        return NULL;
    return d->bytes + (address - BASE);
}

enum numbers { WHOLE, ANY_FLOAT, SMALL_FLOAT, UNIT_FLOAT, POSITIVE_FLOAT, SHIFTS, NOT_ZERO, HALVES };

struct example {
    const char *name, *type, *result; /* of both operands %a and %b; of %r */
    const char *body, *declared;
    enum numbers x, y;
    double ulps;
};

static bool run(const struct ir_function *k, struct device *d, struct isa_error *error)
{
    const uint64_t arguments[] = {BASE, BASE + ROOM, BASE + 2 * ROOM};
    const struct ir_launch launch = {.grid = {THREADS, 1, 1},
                                     .group = {64, 1, 1},
                                     .arguments = arguments,
                                     .argument_bytes = sizeof arguments,
                                     .memory = {device_at, d},
                                     .most_instructions = 100000000,
                                     .flush_subnormals = true};
    return ir_interpret(k, &launch, error);
}

static unsigned bytes_of(const char *type)
{
    if (strcmp(type, "half") == 0)
        return 2;
    if (strcmp(type, "float") == 0)
        return 4;
    if (type[0] == '<')
        return (unsigned)(strtoul(type + 1, NULL, 10) * bytes_of(strchr(type, 'x') + 2));
    return (unsigned)strtoul(type + 1, NULL, 10) / 8;
}

/* ---- numbers ---- */

static uint64_t a_whole_number(uint64_t *state, unsigned bits)
{
    static const uint64_t corners[] = {0,
                                       1,
                                       2,
                                       3,
                                       7,
                                       10,
                                       100,
                                       641,
                                       65535,
                                       65536,
                                       0x7fffffff,
                                       0x80000000,
                                       0x80000001,
                                       UINT32_MAX,
                                       UINT64_C(0x100000000),
                                       UINT64_C(0x7fffffffffffffff),
                                       UINT64_C(0x8000000000000000)};
    const uint64_t r = suite_random(state), n = corners[r % ARRAY_COUNT(corners)];
    switch (r >> 32 & 7) {
    case 0: return n;
    case 1: return 0 - n;
    case 2: return (UINT64_C(1) << (r % bits)) - 1;
    case 3: return suite_random(state) >> (r % bits);
    case 4: return ~(suite_random(state) >> (r % bits));
    default: return suite_random(state);
    }
}

static float a_float(uint64_t *state, enum numbers kind)
{
    static const float corners[] = {0.0F, -0.0F,     1.0F,      -1.0F,      0.5F,     1.5F,      -2.5F,
                                    3.0F, 0x1p-126F, 0x1p+127F, -0x1p+100F, INFINITY, -INFINITY, 0x1.fffffep+127F};
    const uint64_t r = suite_random(state);
    const float unit = (float)(r >> 40) * 0x1p-23F - 1;
    switch (kind) {
    case SMALL_FLOAT: return unit * 80;
    case UNIT_FLOAT: return unit;
    case POSITIVE_FLOAT: return ldexpf(1 + (float)(r >> 40) * 0x1p-24F, (int)(r % 250) - 125);
    default: break;
    }
    if ((r & 7) == 0)
        return corners[(r >> 8) % ARRAY_COUNT(corners)];
    if ((r & 7) == 1)
        return unit * 1000;
    const float x = ldexpf(unit, (int)(r >> 8 & 0xff) - 125);
    return isnormal(x) ? x : 0; /* what the hardware takes a subnormal for */
}

static void fill(unsigned char *to, const char *type, enum numbers kind, uint64_t seed)
{
    uint64_t state = seed;
    const bool is_float = strstr(type, "float") != NULL, is_half = strstr(type, "half") != NULL;
    const unsigned count = type[0] == '<' ? (unsigned)strtoul(type + 1, NULL, 10) : 1, bytes = bytes_of(type) / count;
    for (unsigned i = 0; i < THREADS * count; i++) {
        if (is_float) {
            const float x = a_float(&state, kind);
            memcpy(to + i * 4, &x, 4);
        } else if (is_half) {
            const _Float16 x = (_Float16)a_float(&state, SMALL_FLOAT);
            memcpy(to + i * 2, &x, 2);
        } else {
            uint64_t n = a_whole_number(&state, 8 * bytes);
            if (kind == SHIFTS)
                n = suite_random(&state) % (8 * bytes);
            if (kind == NOT_ZERO && (bytes < 8 ? n << (64 - 8 * bytes) : n) == 0)
                n = 1;
            memcpy(to + i * bytes, &n, bytes);
        }
    }
}

/* ---- comparing ---- */

static double off_by(float a, float b)
{
    if ((isnan(a) && isnan(b)) || a == b)
        return 0;
    if (fabsf(a) < 0x1p-125F && fabsf(b) < 0x1p-125F) /* subnormal, or one rounding away */
        return 0;
    if (isnan(a) || isnan(b))
        return INFINITY;
    if (isinf(a) || isinf(b)) /* the largest number is one unit from infinity */
        return fabsf(a) >= 0x1.ffffp+127F && fabsf(b) >= 0x1.ffffp+127F && signbit(a) == signbit(b) ? 0 : INFINITY;
    const double unit = ldexp(1, ilogbf(a) < -126 ? -149 : ilogbf(a) - 23);
    return fabs((double)a - (double)b) / unit;
}

static void compare(const struct example *e, const struct device *before, const struct device *after)
{
    const unsigned bytes = bytes_of(e->result), in = bytes_of(e->type);
    double worst = 0;
    unsigned at = 0;
    for (unsigned i = 0; i < THREADS; i++) {
        const unsigned char *p = before->bytes + 2 * ROOM + i * bytes, *q = after->bytes + 2 * ROOM + i * bytes;
        double off = memcmp(p, q, bytes) ? INFINITY : 0;
        if (strcmp(e->result, "float") == 0) {
            float a, b;
            memcpy(&a, p, 4);
            memcpy(&b, q, 4);
            off = off_by(a, b);
        }
        if (off > worst) {
            worst = off;
            at = i;
        }
    }
    uint64_t word[4] = {0};
    memcpy(&word[0], before->bytes + at * in, in < 8 ? in : 8);
    memcpy(&word[1], before->bytes + ROOM + at * in, in < 8 ? in : 8);
    memcpy(&word[2], before->bytes + 2 * ROOM + at * bytes, bytes < 8 ? bytes : 8);
    memcpy(&word[3], after->bytes + 2 * ROOM + at * bytes, bytes < 8 ? bytes : 8);
    CHECK(worst <= e->ulps, "%s: off by %g units of %g allowed, a %#llx b %#llx: %#llx became %#llx", e->name, worst, e->ulps,
          (unsigned long long)word[0], (unsigned long long)word[1], (unsigned long long)word[2], (unsigned long long)word[3]);
}

static void check(const struct example *e)
{
    char text[4096];
    const int length = snprintf(
        text, sizeof text,
        "declare i64 @_Z13get_global_idj(i32)\n%s\n"
        "define spir_kernel void @k(ptr addrspace(1) %%x, ptr addrspace(1) %%y, ptr addrspace(1) %%o) {\n"
        "  %%g = call i64 @_Z13get_global_idj(i32 0)\n"
        "  %%pa = getelementptr %s, ptr addrspace(1) %%x, i64 %%g\n  %%pb = getelementptr %s, ptr addrspace(1) %%y, i64 %%g\n"
        "  %%a = load %s, ptr addrspace(1) %%pa\n  %%b = load %s, ptr addrspace(1) %%pb\n%s\n"
        "  %%po = getelementptr %s, ptr addrspace(1) %%o, i64 %%g\n  store %s %%r, ptr addrspace(1) %%po\n  ret void\n}\n",
        e->declared ? e->declared : "", e->type, e->type, e->type, e->type, e->body, e->result, e->result);
    struct isa_error error = {0};
    struct ir_module *m = ir_read(text, (size_t)length, &error);
    CHECK(m != NULL, "%s: line %lu: %s", e->name, error.line, error.text);
    if (!m)
        return;
    struct ir_function *k = ir_find_function(m, "k");
    struct device *before = calloc(1, sizeof *before), *after = calloc(1, sizeof *after);
    fill(before->bytes, e->type, e->x, 1);
    fill(before->bytes + ROOM, e->type, e->y, 2);
    memcpy(after, before, sizeof *after);
    bool ok = run(k, before, &error);
    CHECK(ok, "%s before lowering: %s", e->name, error.text);
    const struct ir_lower_options options = {.fast_math = false};
    if (ok) {
        ok = ir_lower(m, k, &options, &error);
        CHECK(ok, "%s: %s", e->name, error.text);
    }
    if (ok) {
        ok = run(k, after, &error);
        CHECK(ok, "%s after lowering: %s", e->name, error.text);
    }
    if (ok)
        compare(e, before, after);
    free(before);
    free(after);
    ir_module_free(m);
}

static void check_all(const struct example *examples, size_t count)
{
    for (size_t i = 0; i < count; i++)
        check(&examples[i]);
}

/* ---- cases ---- */

#define BINARY(op, type, y)                                                                                                      \
    {                                                                                                                            \
#op " " type, type, type, "  %r = " #op " " type " %a, %b", NULL, WHOLE, y, 0                                            \
    }
#define WITH(op, type, n)                                                                                                        \
    {                                                                                                                            \
#op " " type " " #n, type, type, "  %r = " #op " " type " %a, " #n, NULL, WHOLE, WHOLE, 0                                \
    }
#define CALL1(name, symbol, type, x, ulps)                                                                                       \
    {                                                                                                                            \
        name, type, type, "  %r = call " type " @" symbol "(" type " %a)", "declare " type " @" symbol "(" type ")", x, x, ulps  \
    }
#define CALL2(name, symbol, type, x, y, ulps)                                                                                    \
    {                                                                                                                            \
        name, type, type, "  %r = call " type " @" symbol "(" type " %a, " type " %b)",                                          \
            "declare " type " @" symbol "(" type ", " type ")", x, y, ulps                                                       \
    }
#define CALL3(name, symbol, type, x, y, ulps)                                                                                    \
    {                                                                                                                            \
        name, type, type, "  %r = call " type " @" symbol "(" type " %a, " type " %b, " type " %a)",                             \
            "declare " type " @" symbol "(" type ", " type ", " type ")", x, y, ulps                                             \
    }

static void test_integers(void)
{
    static const struct example examples[] = {
        BINARY(udiv, "i32", NOT_ZERO),
        BINARY(urem, "i32", NOT_ZERO),
        BINARY(udiv, "i8", NOT_ZERO),
        BINARY(urem, "i8", NOT_ZERO),
        BINARY(udiv, "i16", NOT_ZERO),
        BINARY(urem, "i16", NOT_ZERO),
        BINARY(udiv, "i64", NOT_ZERO),
        BINARY(urem, "i64", NOT_ZERO),
        WITH(udiv, "i32", 3),
        WITH(udiv, "i32", 7),
        WITH(udiv, "i32", 10),
        WITH(udiv, "i32", 641),
        WITH(udiv, "i32", 65537),
        WITH(udiv, "i32", 2147483649),
        WITH(udiv, "i32", 4294967295),
        WITH(udiv, "i32", 64),
        WITH(urem, "i32", 10),
        WITH(urem, "i32", 64),
        WITH(sdiv, "i32", 3),
        WITH(sdiv, "i32", -3),
        WITH(sdiv, "i32", 7),
        WITH(sdiv, "i32", 2),
        WITH(sdiv, "i32", 8),
        WITH(sdiv, "i32", -8),
        WITH(sdiv, "i32", 1000000007),
        WITH(sdiv, "i32", -2147483648),
        WITH(srem, "i32", 10),
        WITH(srem, "i32", 16),
        WITH(srem, "i32", -7),
        WITH(udiv, "i64", 10),
        WITH(udiv, "i16", 10),
        WITH(udiv, "i8", 10),
        BINARY(mul, "i64", WHOLE),
        BINARY(shl, "i64", SHIFTS),
        BINARY(lshr, "i64", SHIFTS),
        BINARY(ashr, "i64", SHIFTS),
        WITH(ashr, "i64", 5),
        WITH(ashr, "i64", 32),
        WITH(ashr, "i64", 47),
        BINARY(add, "i8", WHOLE),
        BINARY(mul, "i8", WHOLE),
        BINARY(sub, "i8", WHOLE),
        BINARY(shl, "i8", SHIFTS),
        BINARY(lshr, "i8", SHIFTS),
        BINARY(ashr, "i8", SHIFTS),
        BINARY(mul, "i16", WHOLE),
        BINARY(ashr, "i16", SHIFTS),
        WITH(mul, "i32", 8),
        WITH(mul, "i64", 12),
        BINARY(add, "<4 x i32>", WHOLE),
        BINARY(mul, "<3 x i16>", WHOLE),
        BINARY(xor, "<4 x i8>", WHOLE),
    };
    check_all(examples, ARRAY_COUNT(examples));
}

/* The one quotient that does not exist, INT_MIN / -1, is kept away by halving. */
static void test_signed_division(void)
{
#define SIGNED(op, type)                                                                                                         \
    {                                                                                                                            \
#op " " type, type, type, "  %h = ashr " type " %a, 1\n  %r = " #op " " type " %h, %b", NULL, WHOLE, NOT_ZERO, 0         \
    }
    static const struct example examples[] = {SIGNED(sdiv, "i32"), SIGNED(srem, "i32"), SIGNED(sdiv, "i8"),  SIGNED(srem, "i8"),
                                              SIGNED(sdiv, "i16"), SIGNED(srem, "i16"), SIGNED(sdiv, "i64"), SIGNED(srem, "i64")};
    check_all(examples, ARRAY_COUNT(examples));
}

static void test_conversions(void)
{
#define CONVERT(op, from, to, x)                                                                                                 \
    {                                                                                                                            \
#op " " from " " to, from, to, "  %r = " #op " " from " %a to " to, NULL, x, x, 0                                        \
    }
    static const struct example examples[] = {
        CONVERT(zext, "i8", "i32", WHOLE),
        CONVERT(sext, "i8", "i32", WHOLE),
        CONVERT(zext, "i8", "i64", WHOLE),
        CONVERT(sext, "i8", "i64", WHOLE),
        CONVERT(sext, "i8", "i16", WHOLE),
        CONVERT(trunc, "i32", "i8", WHOLE),
        CONVERT(trunc, "i64", "i8", WHOLE),
        CONVERT(trunc, "i16", "i8", WHOLE),
        CONVERT(uitofp, "i8", "float", WHOLE),
        CONVERT(sitofp, "i8", "float", WHOLE),
        CONVERT(uitofp, "i64", "float", WHOLE),
        CONVERT(sitofp, "i64", "float", WHOLE),
        CONVERT(uitofp, "i32", "float", WHOLE),
        CONVERT(sitofp, "i16", "float", WHOLE),
        CONVERT(fptosi, "float", "i64", SMALL_FLOAT),
        CONVERT(fptosi, "float", "i8", SMALL_FLOAT),
        CONVERT(bitcast, "<2 x i32>", "i64", WHOLE),
        CONVERT(bitcast, "i64", "<4 x i16>", WHOLE),
        CONVERT(bitcast, "<4 x i8>", "i32", WHOLE),
        CONVERT(bitcast, "i32", "<2 x half>", WHOLE),
        {"wide to i64", "float", "i64", "  %w = fmul float %a, 1099511627776.0\n  %r = fptosi float %w to i64", NULL, SMALL_FLOAT,
         WHOLE, 0},
        {"compare i8", "i8", "i32",
         "  %c = icmp slt i8 %a, %b\n  %d = icmp ult i8 %a, %b\n  %e = zext i1 %c to i32\n"
         "  %f = select i1 %d, i32 2, i32 0\n  %r = or i32 %e, %f",
         NULL, WHOLE, WHOLE, 0},
        {"truths of a vector", "<4 x i32>", "i32",
         "  %c = icmp ult <4 x i32> %a, %b\n  %d = bitcast <4 x i1> %c to i4\n"
         "  %e = icmp eq i4 %d, -1\n  %f = icmp ne i4 %d, 0\n  %h = zext i1 %e to i32\n  %i = zext i1 %f to i32\n"
         "  %j = shl i32 %h, 1\n  %r = or i32 %i, %j",
         NULL, WHOLE, WHOLE, 0},
        {"bits of truths", "<4 x i32>", "i8",
         "  %c = icmp slt <4 x i32> %a, %b\n  %d = bitcast <4 x i1> %c to i4\n"
         "  %r = zext i4 %d to i8",
         NULL, WHOLE, WHOLE, 0},
        {"shuffle", "<4 x i32>", "<2 x i32>", "  %r = shufflevector <4 x i32> %a, <4 x i32> %b, <2 x i32> <i32 6, i32 1>", NULL,
         WHOLE, WHOLE, 0},
        {"element by number", "<4 x i32>", "i32",
         "  %e = extractelement <4 x i32> %b, i64 0\n  %i = and i32 %e, 3\n"
         "  %v = insertelement <4 x i32> %a, i32 9, i32 %i\n  %j = lshr i32 %e, 30\n  %r = extractelement <4 x i32> %v, i32 %j",
         NULL, WHOLE, WHOLE, 0},
    };
    check_all(examples, ARRAY_COUNT(examples));
}

static void test_library_integers(void)
{
    static const struct example examples[] = {
        CALL2("mul_hi u32", "_Z6mul_hijj", "i32", WHOLE, WHOLE, 0),
        CALL2("mul_hi s64", "_Z6mul_hill", "i64", WHOLE, WHOLE, 0),
        CALL2("mul_hi u64", "_Z6mul_himm", "i64", WHOLE, WHOLE, 0),
        CALL2("mul_hi u8", "_Z6mul_hihh", "i8", WHOLE, WHOLE, 0),
        CALL2("mul_hi s16", "_Z6mul_hiss", "i16", WHOLE, WHOLE, 0),
        CALL2("rotate", "_Z6rotatejj", "i32", WHOLE, WHOLE, 0),
        CALL2("rotate u8", "_Z6rotatehh", "i8", WHOLE, WHOLE, 0),
        CALL2("rotate u64", "_Z6rotatemm", "i64", WHOLE, WHOLE, 0),
        CALL2("hadd", "_Z4haddjj", "i32", WHOLE, WHOLE, 0),
        CALL2("hadd s", "_Z4haddii", "i32", WHOLE, WHOLE, 0),
        CALL2("rhadd", "_Z5rhaddjj", "i32", WHOLE, WHOLE, 0),
        CALL2("rhadd s", "_Z5rhaddii", "i32", WHOLE, WHOLE, 0),
        CALL2("add_sat s8", "_Z7add_satcc", "i8", WHOLE, WHOLE, 0),
        CALL2("sub_sat u8", "_Z7sub_sathh", "i8", WHOLE, WHOLE, 0),
        CALL2("add_sat s64", "_Z7add_satll", "i64", WHOLE, WHOLE, 0),
        CALL2("sub_sat u64", "_Z7sub_satmm", "i64", WHOLE, WHOLE, 0),
        CALL2("sub_sat s64", "_Z7sub_satll", "i64", WHOLE, WHOLE, 0),
        CALL2("max s8", "_Z3maxcc", "i8", WHOLE, WHOLE, 0),
        CALL2("min u64", "_Z3minmm", "i64", WHOLE, WHOLE, 0),
        CALL1("clz u8", "_Z3clzh", "i8", WHOLE, 0),
        CALL1("clz u64", "_Z3clzm", "i64", WHOLE, 0),
        CALL1("ctz u64", "_Z3ctzm", "i64", NOT_ZERO, 0),
        CALL1("popcount u64", "_Z8popcountm", "i64", WHOLE, 0),
        CALL1("popcount u16", "_Z8popcountt", "i16", WHOLE, 0),
        CALL3("mad_hi", "_Z6mad_hijjj", "i32", WHOLE, WHOLE, 0),
        CALL3("mad_sat", "_Z7mad_satiii", "i32", WHOLE, WHOLE, 0),
        CALL3("mad_sat u", "_Z7mad_satjjj", "i32", WHOLE, WHOLE, 0),
        CALL3("bitselect", "_Z9bitselectjjj", "i32", WHOLE, WHOLE, 0),
        CALL2("bswap", "_Z6rotatejj", "i32", WHOLE, WHOLE, 0),
        CALL2("abs_diff", "_Z8abs_diffjj", "i32", WHOLE, WHOLE, 0),
        CALL1("bitreverse", "llvm.bitreverse.i64", "i64", WHOLE, 0),
        CALL1("bitreverse 8", "llvm.bitreverse.i8", "i8", WHOLE, 0),
        CALL1("bswap 32", "llvm.bswap.i32", "i32", WHOLE, 0),
        CALL1("bswap 64", "llvm.bswap.i64", "i64", WHOLE, 0),
        CALL3("fshl 64", "llvm.fshl.i64", "i64", WHOLE, WHOLE, 0),
        CALL3("fshr 32", "llvm.fshr.i32", "i32", WHOLE, WHOLE, 0),
        CALL3("fshr 16", "llvm.fshr.i16", "i16", WHOLE, WHOLE, 0),
    };
    check_all(examples, ARRAY_COUNT(examples));
}

static void test_library_floats(void)
{
    static const struct example examples[] = {
        {"fdiv", "float", "float", "  %r = fdiv float %a, %b", NULL, ANY_FLOAT, ANY_FLOAT, 2.5},
        {"fdiv by 3", "float", "float", "  %r = fdiv float %a, 3.0", NULL, ANY_FLOAT, ANY_FLOAT, 2.5},
        {"fdiv by 8", "float", "float", "  %r = fdiv float %a, 8.0", NULL, ANY_FLOAT, ANY_FLOAT, 0},
        CALL1("exp", "_Z3expf", "float", SMALL_FLOAT, 3),
        CALL1("exp any", "_Z3expf", "float", ANY_FLOAT, 3),
        CALL1("exp10", "_Z5exp10f", "float", SMALL_FLOAT, 3),
        CALL1("exp2", "_Z4exp2f", "float", SMALL_FLOAT, 3),
        CALL1("expm1", "_Z5expm1f", "float", SMALL_FLOAT, 3),
        CALL1("expm1 unit", "_Z5expm1f", "float", UNIT_FLOAT, 3),
        CALL1("log", "_Z3logf", "float", ANY_FLOAT, 3),
        CALL1("log2", "_Z4log2f", "float", ANY_FLOAT, 3),
        CALL1("log10", "_Z5log10f", "float", ANY_FLOAT, 3),
        CALL1("log1p", "_Z5log1pf", "float", UNIT_FLOAT, 2),
        CALL2("pow", "_Z3powff", "float", ANY_FLOAT, ANY_FLOAT, 16),
        CALL2("pow small", "_Z3powff", "float", POSITIVE_FLOAT, UNIT_FLOAT, 16),
        CALL1("sin", "_Z3sinf", "float", SMALL_FLOAT, 4),
        CALL1("cos", "_Z3cosf", "float", SMALL_FLOAT, 4),
        CALL1("sin unit", "_Z3sinf", "float", UNIT_FLOAT, 4),
        CALL1("tan", "_Z3tanf", "float", SMALL_FLOAT, 5),
        CALL1("sinpi", "_Z5sinpif", "float", SMALL_FLOAT, 4),
        CALL1("cospi", "_Z5cospif", "float", SMALL_FLOAT, 4),
        CALL1("atan", "_Z4atanf", "float", ANY_FLOAT, 5),
        CALL2("atan2", "_Z5atan2ff", "float", ANY_FLOAT, ANY_FLOAT, 6),
        CALL1("asin", "_Z4asinf", "float", UNIT_FLOAT, 4),
        CALL1("acos", "_Z4acosf", "float", UNIT_FLOAT, 4),
        CALL1("sinh", "_Z4sinhf", "float", SMALL_FLOAT, 4),
        CALL1("cosh", "_Z4coshf", "float", SMALL_FLOAT, 4),
        CALL1("tanh", "_Z4tanhf", "float", ANY_FLOAT, 5),
        CALL1("cbrt", "_Z4cbrtf", "float", ANY_FLOAT, 2),
        CALL2("hypot", "_Z5hypotff", "float", ANY_FLOAT, ANY_FLOAT, 4),
        CALL1("sqrt", "_Z4sqrtf", "float", ANY_FLOAT, 3),
        CALL1("rsqrt", "_Z5rsqrtf", "float", ANY_FLOAT, 2),
        CALL1("round", "_Z5roundf", "float", ANY_FLOAT, 0),
        CALL1("sign", "_Z4signf", "float", ANY_FLOAT, 0),
        CALL2("copysign", "_Z8copysignff", "float", ANY_FLOAT, ANY_FLOAT, 0),
        CALL2("step", "_Z4stepff", "float", ANY_FLOAT, ANY_FLOAT, 0),
        CALL2("fdim", "_Z4fdimff", "float", ANY_FLOAT, ANY_FLOAT, 0),
        CALL2("nextafter", "_Z9nextafterff", "float", ANY_FLOAT, ANY_FLOAT, 1),
        CALL2("maxmag", "_Z6maxmagff", "float", ANY_FLOAT, ANY_FLOAT, 0),
    };
    check_all(examples, ARRAY_COUNT(examples));
}

static const struct suite_test tests[] = {{"keeps integers of all widths", test_integers},
                                          {"keeps signed division", test_signed_division},
                                          {"keeps conversions and vectors", test_conversions},
                                          {"keeps library functions of integers", test_library_integers},
                                          {"keeps library functions of floats within OpenCL's bounds", test_library_floats}};

SUITE_MAIN("ir_lower", tests)
