/* Random expressions. Every one is in brackets or a call. */
#include "tests/opencl/opencl_generate_parts.h"

#include "isa/array_count.h"
#include "tests/support/suite.h"

#include <string.h>

const char *const generated_names[GENERATED_TYPES] = {"int",   "uint",  "short", "uchar", "long",
                                                      "ulong", "float", "int4",  "uint4", "float4"};

#define PUT(...) fprintf(g->out, __VA_ARGS__)

unsigned generated_any(struct generator *g, unsigned below)
{
    return (unsigned)(suite_random(&g->random) >> 33) % below;
}

/* Writes a pattern: %t is the type, %u the unsigned type of the same width, %m its bits less one, %a %b %c expressions of the
 * type, %i one of int, %n a small number. */
static void pattern(struct generator *g, enum generated_type type, unsigned depth, const char *text)
{
    static const enum generated_type unsigned_of[] = {GENERATED_UINT,  GENERATED_UINT,  GENERATED_UINT,  GENERATED_UINT,
                                                      GENERATED_ULONG, GENERATED_ULONG, GENERATED_FLOAT, GENERATED_UINT4,
                                                      GENERATED_UINT4, GENERATED_FLOAT4};
    static const unsigned bits[] = {32, 32, 16, 8, 64, 64, 32, 32, 32, 32};
    for (; *text; text++) {
        if (*text != '%') {
            fputc(*text, g->out);
            continue;
        }
        switch (*++text) {
        case 't': PUT("%s", generated_names[type]); break;
        case 'u': PUT("%s", generated_names[unsigned_of[type]]); break;
        case 'm': PUT("%u", bits[type] - 1); break;
        case 'i': generated_expression(g, GENERATED_INT, depth - 1); break;
        case 'n': PUT("%u", generated_any(g, 8)); break;
        case '%': fputc('%', g->out); break;
        default: generated_expression(g, type, depth - 1); break;
        }
    }
}

static void one_of(struct generator *g, enum generated_type type, unsigned depth, const char *const *patterns, unsigned count)
{
    pattern(g, type, depth, patterns[generated_any(g, count)]);
}

#define ONE_OF(patterns) one_of(g, type, depth, patterns, ARRAY_COUNT(patterns))

static void variable(struct generator *g, enum generated_type type)
{
    PUT("%s_%u", generated_names[type], generated_any(g, g->variables[type]));
}

/* ---- leaves ---- */

static void constant(struct generator *g, enum generated_type type)
{
    static const char *const whole[] = {"0", "1", "2", "3", "7", "10", "31", "63", "100", "127"};
    static const char *const large[] = {"255", "1000", "65535", "0x7fffffff", "123456789", "-1", "-5", "-1000"};
    static const char *const real[] = {"0.5f", "1.0f", "-2.0f", "3.25f", "0.001f", "100.0f", "-7.5f"};
    if (type == GENERATED_FLOAT || type == GENERATED_FLOAT4)
        PUT("((%s)%s)", generated_names[type], real[generated_any(g, ARRAY_COUNT(real))]);
    else if (generated_any(g, 3) || type == GENERATED_UCHAR)
        PUT("((%s)%s)", generated_names[type], whole[generated_any(g, ARRAY_COUNT(whole))]);
    else
        PUT("((%s)(%s))", generated_names[type], large[generated_any(g, ARRAY_COUNT(large))]);
}

static void leaf(struct generator *g, enum generated_type type)
{
    if (g->variables[type] && generated_any(g, 4)) {
        variable(g, type);
        return;
    }
    const unsigned what = generated_any(g, 4);
    if (type == GENERATED_INT && what == 0)
        PUT("(int)i");
    else if (type == GENERATED_FLOAT && what == 0 && g->variables[GENERATED_FLOAT4])
        PUT("float4_0.%c", "xyzw"[generated_any(g, 4)]);
    else if (type == GENERATED_INT && what == 1 && g->variables[GENERATED_INT4])
        PUT("int4_0.s%u", generated_any(g, 4));
    else if (type == GENERATED_UINT && what == 1 && g->variables[GENERATED_UINT4])
        PUT("uint4_0.%c", "xyzw"[generated_any(g, 4)]);
    else
        constant(g, type);
}

/* ---- by kinds of types ---- */

/* Divisions are functions of the head, which know no division by zero. */
static void scalar_integer(struct generator *g, enum generated_type type, unsigned depth)
{
    static const char *const common[] = {"((%t)((%u)%a + (%u)%b))",
                                         "((%t)((%u)%a - (%u)%b))",
                                         "((%t)((%u)%a * (%u)%b))",
                                         "(%a & %b)",
                                         "(%a | %b)",
                                         "(%a ^ %b)",
                                         "(~%a)",
                                         "((%t)((%u)%a << (%i & %m)))",
                                         "(%a >> (%i & %m))",
                                         "((%t)(%i != 0 ? %a : %b))",
                                         "((%t)-(%u)%a)",
                                         "min(%a, %b)",
                                         "max(%a, %b)",
                                         "((%t)abs(%a))",
                                         "((%t)(%a < %b))",
                                         "((%t)(%a == %b))",
                                         "(%a > %b ? %a : %b)",
                                         "rotate(%a, %b)",
                                         "popcount(%a)",
                                         "clz(%a)",
                                         "mul_hi(%a, %b)",
                                         "add_sat(%a, %b)",
                                         "sub_sat(%a, %b)",
                                         "hadd(%a, %b)",
                                         "((%t)abs_diff(%a, %b))",
                                         "((%t)!%a)",
                                         "((%t)(%a && %b))",
                                         "((%t)(%a || %b))",
                                         "((%t)((%u)%a >> (%i & %m)))",
                                         "bitselect(%a, %b, %a)",
                                         "((%t)%i)",
                                         "rhadd(%a, %b)"};
    static const char *const divisions[] = {"divided_%t(%a, %b)", "rest_%t(%a, %b)", "divided_%t(%a, 7)", "rest_%t(%a, 10)"};
    const bool wide = type == GENERATED_LONG || type == GENERATED_ULONG;
    if (generated_any(g, 8) == 0 && (!wide || g->long_divisions)) {
        g->long_divisions -= wide;
        ONE_OF(divisions);
    } else {
        ONE_OF(common);
    }
}

static void integer_from_others(struct generator *g, enum generated_type type, unsigned depth)
{
    static const enum generated_type sources[] = {GENERATED_INT,   GENERATED_UINT, GENERATED_SHORT,
                                                  GENERATED_UCHAR, GENERATED_LONG, GENERATED_ULONG};
    if (generated_any(g, 4) == 0) { /* of what a float holds */
        PUT("convert_%s_sat%s(", generated_names[type], generated_any(g, 2) ? "" : "_rte");
        generated_expression(g, GENERATED_FLOAT, depth - 1);
    } else {
        PUT(generated_any(g, 3) ? "((%s)" : "convert_%s_sat(", generated_names[type]);
        generated_expression(g, sources[generated_any(g, ARRAY_COUNT(sources))], depth - 1);
    }
    PUT(")");
}

static void memory(struct generator *g, enum generated_type type, unsigned depth)
{
    static const char *const of_int[] = {"a[%i & 255]", "table[%i & 15]", "array[%i & 7]", "a[(i + %n) & 255]", "p[%i & 7]"};
    static const char *const of_uchar[] = {"bytes[%i & 63]"}, *const of_float[] = {"f[%i & 255]"},
                             *const of_int4[] = {"vload4(%i & 63, a)"};
    switch (type) {
    case GENERATED_INT: ONE_OF(of_int); break;
    case GENERATED_UCHAR: ONE_OF(of_uchar); break;
    case GENERATED_FLOAT: ONE_OF(of_float); break;
    case GENERATED_INT4: ONE_OF(of_int4); break;
    default: leaf(g, type); break;
    }
}

/* Not deeper than products of four numbers between 1e-6 and 1e6. */
static void real_number(struct generator *g, enum generated_type type, unsigned depth)
{
    static const char *const both[] = {"(%a + %b)", "(%a - %b)", "(%a * %b)", "(-%a)",     "fmax(%a, %b)", "fmin(%a, %b)",
                                       "fabs(%a)",  "floor(%a)", "ceil(%a)",  "trunc(%a)", "rint(%a)"};
    static const char *const one[] = {"(%a < %b ? %a : %b)",     "(%i > 3 ? %a : %b)",     "kept((float)%i)",
                                      "fma(%a, %b, %a)",         "clamp(%a, -8.0f, 8.0f)", "(isless(%a, %b) ? %a : %b)",
                                      "kept(fma(%a, %b, 1.5f))", "copysign(%a, kept(%b))"};
    static const char *const four[] = {"%a.wzyx", "%a.xxyz", "select(%a, %b, isgreater(%a, %b))", "", "fma(%a, %b, %a)"};
    if (depth > 2)
        depth = 2;
    if (generated_any(g, 3)) {
        ONE_OF(both);
    } else if (type == GENERATED_FLOAT) {
        ONE_OF(one);
    } else {
        const unsigned what = generated_any(g, ARRAY_COUNT(four));
        if (what != 3) {
            pattern(g, type, depth, four[what]);
            return;
        }
        PUT("kept4(convert_float4(");
        generated_expression(g, GENERATED_INT4, depth - 1);
        PUT("))");
    }
}

static void integer_vector(struct generator *g, enum generated_type type, unsigned depth)
{
    static const char *const common[] = {"as_%t(as_uint4(%a) + as_uint4(%b))",
                                         "as_%t(as_uint4(%a) - as_uint4(%b))",
                                         "as_%t(as_uint4(%a) * as_uint4(%b))",
                                         "(%a & %b)",
                                         "(%a | %b)",
                                         "(%a ^ %b)",
                                         "(~%a)",
                                         "(%a >> (%t)(%n))",
                                         "as_%t(as_uint4(%a) << (uint4)(%n))",
                                         "(%a < %b ? %a : %b)",
                                         "min(%a, %b)",
                                         "max(%a, %b)",
                                         "as_%t(%a == %b)",
                                         "as_%t(%a > %b)",
                                         "%a.wzyx",
                                         "%a.xxyy",
                                         "%a.yzwx",
                                         "rotate(%a, %b)",
                                         "add_sat(%a, %b)",
                                         "mul_hi(%a, %b)",
                                         "((%t)(%i))",
                                         "popcount(%a)",
                                         "((%t)(%a.x, %b.y, %a.z, %b.w))",
                                         "((%t)(%a.lo, %b.hi))",
                                         "hadd(%a, %b)",
                                         "as_%t(!%a)"};
    if (generated_any(g, 6) == 0) {
        PUT("convert_%s%s(", generated_names[type], generated_any(g, 2) ? "" : "_sat");
        generated_expression(g, type == GENERATED_INT4 ? GENERATED_UINT4 : GENERATED_INT4, depth - 1);
        PUT(")");
    } else {
        ONE_OF(common);
    }
}

void generated_expression(struct generator *g, enum generated_type type, unsigned depth)
{
    if (depth == 0 || generated_any(g, 8) == 0) {
        leaf(g, type);
    } else if (!g->in_function && generated_any(g, 6) == 0) {
        memory(g, type, depth);
    } else if (type == GENERATED_FLOAT || type == GENERATED_FLOAT4) {
        real_number(g, type, depth);
    } else if (type == GENERATED_INT4 || type == GENERATED_UINT4) {
        integer_vector(g, type, depth);
    } else if (!g->in_function && type == GENERATED_INT && generated_any(g, 10) == 0) {
        PUT("called_%u(", g->numbers % 2 ? 1 : 0);
        generated_expression(g, GENERATED_INT, depth - 1);
        PUT(", ");
        generated_expression(g, GENERATED_FLOAT, depth - 1 > 1 ? 1 : depth - 1);
        PUT(")");
    } else { /* what is narrower than int was promoted */
        const bool narrow = type == GENERATED_SHORT || type == GENERATED_UCHAR;
        PUT("%s%s%s", narrow ? "((" : "", narrow ? generated_names[type] : "", narrow ? ")" : "");
        (generated_any(g, 5) == 0 ? integer_from_others : scalar_integer)(g, type, depth);
        PUT("%s", narrow ? ")" : "");
    }
}

void generated_condition(struct generator *g, unsigned depth)
{
    static const char *const compares[] = {"<", ">", "<=", ">=", "==", "!="};
    const enum generated_type type = (enum generated_type)generated_any(g, GENERATED_INT4);
    if (depth && generated_any(g, 3) == 0) {
        PUT(generated_any(g, 3) ? "(" : "!(");
        generated_condition(g, depth - 1);
        PUT(generated_any(g, 2) ? " && " : " || ");
        generated_condition(g, depth - 1);
        PUT(")");
        return;
    }
    if (generated_any(g, 2)) {
        PUT("(");
        generated_expression(g, GENERATED_INT, 1);
        PUT(" & %u) %s %u", 1 + generated_any(g, 7), compares[generated_any(g, 6)], generated_any(g, 4));
        return;
    }
    PUT("(");
    generated_expression(g, type, 2);
    PUT(" %s ", compares[generated_any(g, 6)]);
    generated_expression(g, type, 2);
    PUT(")");
}
