#include "tests/opencl/opencl_generate.h"

#include "isa/array_count.h"
#include "tests/opencl/opencl_generate_parts.h"
#include "tests/support/suite.h"

enum { STATEMENTS = 22, DEPTH = 3, NUMBERS_IN = 256, WORK_ITEMS = 128, GROUP = 64 };

#define PUT(...) fprintf(g->out, __VA_ARGS__)

static const char head[] = "#pragma OPENCL FP_CONTRACT OFF\n"
                           "constant int table[16] = {3, -1, 4, -1, 5, -9, 2, -6, 5, 3, -5, 8, 9, -7, 9, 3};\n"
                           "#define DIVISIONS(T, NO)                                                                  \\\n"
                           "    T divided_##T(T a, T b)                                                               \\\n"
                           "    {                                                                                     \\\n"
                           "        return b == 0 || NO ? a : a / b;                                                  \\\n"
                           "    }                                                                                     \\\n"
                           "    T rest_##T(T a, T b)                                                                  \\\n"
                           "    {                                                                                     \\\n"
                           "        return b == 0 || NO ? b : a % b;                                                  \\\n"
                           "    }\n"
                           "DIVISIONS(int, b == -1)\nDIVISIONS(uint, false)\nDIVISIONS(short, b == -1)\nDIVISIONS(uchar, false)\n"
                           "DIVISIONS(long, b == -1)\nDIVISIONS(ulong, false)\n"
                           "float kept(float x)\n{\n    return fabs(x) > 1e-6f && fabs(x) < 1e6f ? x : 1.25f;\n}\n"
                           "float4 kept4(float4 v)\n{\n    return (float4)(kept(v.x), kept(v.y), kept(v.z), kept(v.w));\n}\n";

void opencl_generate_head(FILE *out)
{
    fputs(head, out);
}

static void statements(struct generator *g, unsigned depth, bool together);

static void assigned(struct generator *g, enum generated_type type)
{
    const bool real = type == GENERATED_FLOAT, four = type == GENERATED_FLOAT4;
    PUT("%s", real ? "kept(" : four ? "kept4(" : "");
    generated_expression(g, type, 3);
    PUT("%s;\n", real || four ? ")" : "");
}

static enum generated_type known_type(struct generator *g)
{
    enum generated_type type;
    do
        type = (enum generated_type)generated_any(g, GENERATED_TYPES);
    while (!g->variables[type]);
    return type;
}

static void assignment(struct generator *g)
{
    static const char *const parts[] = {"x", "y", "s2", "w"};
    const enum generated_type type = known_type(g);
    const unsigned what = generated_any(g, 10);
    if (type >= GENERATED_INT4 && what < 3) {
        const enum generated_type part = type == GENERATED_INT4    ? GENERATED_INT
                                         : type == GENERATED_UINT4 ? GENERATED_UINT
                                                                   : GENERATED_FLOAT;
        PUT("%s_0.%s = ", generated_names[type], parts[generated_any(g, 4)]);
        assigned(g, part);
    } else if (!g->in_function && what == 3) {
        PUT("array[");
        generated_expression(g, GENERATED_INT, 2);
        PUT(" & 7] = ");
        assigned(g, GENERATED_INT);
    } else if (!g->in_function && what == 4) {
        PUT("p[%u] ^= ", generated_any(g, 8));
        assigned(g, GENERATED_INT);
    } else if (type < GENERATED_FLOAT && what == 5) {
        static const char *const ops[] = {"&=", "|=", "^="};
        PUT("%s_%u %s ", generated_names[type], generated_any(g, g->variables[type]), ops[generated_any(g, 3)]);
        assigned(g, type);
    } else {
        PUT("%s_%u = ", generated_names[type], generated_any(g, g->variables[type]));
        assigned(g, type);
    }
}

static void branch(struct generator *g, unsigned depth)
{
    PUT("if (");
    generated_condition(g, 2);
    PUT(") {\n");
    statements(g, depth - 1, false);
    if (generated_any(g, 2)) {
        PUT("} else {\n");
        statements(g, depth - 1, false);
    }
    PUT("}\n");
}

static void choice(struct generator *g, unsigned depth)
{
    const unsigned cases = 2 + generated_any(g, 4);
    PUT("switch (");
    generated_expression(g, GENERATED_INT, 2);
    PUT(" & 7) {\n");
    for (unsigned k = 0; k < cases; k++) {
        PUT("case %u: {\n", k);
        statements(g, depth - 1, false);
        PUT("}\n%s", generated_any(g, 4) ? "break;\n" : "");
    }
    if (generated_any(g, 2)) {
        PUT("default: {\n");
        statements(g, depth - 1, false);
        PUT("}\n");
    }
    PUT("}\n");
}

/* Loops end by their counter. Work items stay together only in those with a constant number of turns that nobody leaves. */
static void loop(struct generator *g, unsigned depth, bool together)
{
    const unsigned number = ++g->numbers, kind = together ? 0 : generated_any(g, 4), before = g->loops;
    const bool outermost = !g->out_label && !together;
    if (outermost) {
        g->out_label = number;
        g->out_used = false;
    }
    if (kind == 0) {
        PUT("for (int k%u = 0; k%u < %u; k%u++) {\n", number, number, 1 + generated_any(g, 6), number);
    } else if (kind == 1) {
        PUT("for (int k%u = 0; k%u < (", number, number);
        generated_expression(g, GENERATED_INT, 1);
        PUT(" & 7); k%u++) {\n", number);
    } else {
        PUT("int k%u = 6;\n%s", number, kind == 3 ? "do {\n" : "");
        if (kind == 2) {
            PUT("while (k%u-- > 0 && ", number);
            generated_condition(g, 1);
            PUT(") {\n");
        }
    }
    g->loops = together ? 0 : before + 1;
    statements(g, depth - 1, together);
    g->loops = before;
    PUT("}");
    if (kind == 3) {
        PUT(" while (k%u-- > 0 && ", number);
        generated_condition(g, 1);
        PUT(");");
    }
    PUT("\n");
    if (outermost) {
        if (g->out_used)
            PUT("out%u:;\n", number);
        g->out_label = 0;
    }
}

static void leave(struct generator *g)
{
    PUT("if (");
    generated_condition(g, 1);
    PUT(") ");
    const unsigned what = generated_any(g, 8);
    if (g->in_function && what == 0) {
        PUT("return int_0;\n");
    } else if (what < 4) {
        PUT("break;\n");
    } else if (what < 6) {
        PUT("continue;\n");
    } else {
        PUT("goto out%u;\n", g->out_label);
        g->out_used = true;
    }
}

/* Through the memory of the group, where all work items come by. */
static void exchange(struct generator *g)
{
    static const char barrier[] = "barrier(CLK_LOCAL_MEM_FENCE);\n";
    const unsigned what = generated_any(g, 3), by = 1 + generated_any(g, GROUP - 1);
    if (what < 2) {
        PUT("s[l] = ");
        assigned(g, GENERATED_INT);
        PUT("%sint_0 = s[l %s %u];\n%s", barrier, what ? "^" : "* 5 + 3 & 63 ^", by, barrier);
        return;
    }
    PUT("if (l < 8) s[l] = (int)l;\n%satomic_%s(&s[", barrier, (const char *const[]){"add", "xor", "max"}[generated_any(g, 3)]);
    generated_expression(g, GENERATED_INT, 1);
    PUT(" & 7], ");
    generated_expression(g, GENERATED_INT, 1);
    PUT(");\n%sint_1 ^= s[%u];\n%s", barrier, generated_any(g, 8), barrier);
}

static void statement(struct generator *g, unsigned depth, bool together)
{
    const unsigned what = generated_any(g, 12);
    if (together && !g->in_function && what < 2)
        exchange(g);
    else if (depth && what < 4)
        branch(g, depth);
    else if (depth && what < 6)
        loop(g, depth, together && generated_any(g, 2));
    else if (depth && what == 6)
        choice(g, depth);
    else if (g->loops && what == 7)
        leave(g);
    else
        assignment(g);
}

static void statements(struct generator *g, unsigned depth, bool together)
{
    for (unsigned n = 1 + generated_any(g, 3); n > 0 && g->statements; n--) {
        g->statements--;
        statement(g, depth, together);
    }
}

static void declare(struct generator *g, enum generated_type type, unsigned count)
{
    for (unsigned k = 0; k < count; k++) {
        PUT("%s %s_%u = ", generated_names[type], generated_names[type], k);
        assigned(g, type);
        g->variables[type] = k + 1;
    }
}

static void function(struct generator *g, unsigned number, uint64_t seed)
{
    PUT("int called_%u_%llu(int int_0, float float_0)\n{\nint i = int_0 >> 3;\n", number, (unsigned long long)seed);
    g->in_function = true;
    g->variables[GENERATED_INT] = g->variables[GENERATED_FLOAT] = 1;
    declare(g, GENERATED_UINT, 1);
    PUT("float_0 = kept(float_0);\n");
    g->statements = 6;
    while (g->statements)
        statements(g, 2, false);
    PUT("return int_0 ^ (int)uint_0 ^ as_int(float_0) ^ i;\n}\n#undef called_%u\n#define called_%u called_%u_%llu\n", number,
        number, number, (unsigned long long)seed);
    for (unsigned t = 0; t < GENERATED_TYPES; t++)
        g->variables[t] = 0;
    g->in_function = false;
}

/* Everything goes into the result. */
static void results(struct generator *g)
{
    PUT("uint r = 0;\nfor (int k = 0; k < 8; k++) r = r * 31 + (uint)(array[k] ^ p[k] * 3);\n");
    for (unsigned t = 0; t < GENERATED_INT4; t++)
        for (unsigned k = 0; k < g->variables[t]; k++)
            if (t == GENERATED_FLOAT)
                PUT("r = r * 31 + as_uint(float_%u);\n", k);
            else
                PUT("r = r * 31 + (uint)(%s_%u ^ (%s_%u >> 7));\n", generated_names[t], k, generated_names[t], k);
    PUT("uint4 q = as_uint4(int4_0) * 5u ^ uint4_0 ^ as_uint4(float4_0) * 3u;\n"
        "o[i * 2] = r;\no[i * 2 + 1] = q.x * 7 + q.y * 11 + q.z * 13 + q.w;\n}\n");
}

void opencl_generate(FILE *out, uint64_t seed)
{
    static const unsigned char counts[GENERATED_TYPES] = {3, 2, 1, 1, 1, 1, 2, 1, 1, 1};
    struct generator generator = {.out = out, .random = seed * 2654435761u + 1, .long_divisions = 1}, *const g = &generator;
    for (unsigned k = 0; k < 2; k++)
        function(g, k, seed);
    PUT("//: random_%llu out:uint:%d in:int:%d in:float:%d:-50~50 in:uchar:64 val:int:%u grid:%d group:%d\n",
        (unsigned long long)seed, 2 * WORK_ITEMS, NUMBERS_IN, NUMBERS_IN, generated_any(g, 1000), WORK_ITEMS, GROUP);
    PUT("kernel void random_%llu(global uint *o, global const int *a, global const float *f, global const uchar *bytes, int "
        "n)\n{\n"
        "local int s[%d];\nconst size_t i = get_global_id(0), l = get_local_id(0);\nint array[8] = {n, 1, 2}, p[8] = {0};\n",
        (unsigned long long)seed, GROUP);
    for (unsigned t = 0; t < GENERATED_TYPES; t++)
        declare(g, (enum generated_type)t, counts[t]);
    g->statements = STATEMENTS;
    while (g->statements)
        statements(g, DEPTH, true);
    results(g);
}
