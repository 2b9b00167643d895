/* One computation of two numbers by the interpreter, before and after lowering: what the suites of lowering share. */
#ifndef ORCHARD_TESTS_ISA_IR_LOWER_CASE_H
#define ORCHARD_TESTS_ISA_IR_LOWER_CASE_H

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

/* ---- how cases are written ---- */

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

#endif
