/* Sources that mean harm: what takes too much, or asks for what is not theirs, is refused with the right exit code and a line
 * that says why, in little time. */
#include "sim/compile/compile.h"
#include "tests/support/suite.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SECONDS_MAX = 20 }; /* of our own CPU time; clang has limits of its own (test_process.c) */

static const char *now; /* what is tried */

/* Compiles the text and expects the exit code (0: it compiles) and a message with `says` in it. */
static void expect_bytes(const char *path, const char *text, size_t bytes, int code, const char *says)
{
    const struct compile_request q = {
        .path = path, .text = text, .text_bytes = bytes, .entry = "k", .optimise = 2, .fresh = true};
    struct compile_result r;
    struct orch_error error = {0};
    const clock_t start = clock();
    const bool ok = compile_source(&q, &r, &error);
    const double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    CHECK(ok == !code && error.exit_code == code && (ok || strstr(error.text, says)), "%s: exit code %d: %s", now,
          error.exit_code, error.text);
    CHECK(strcspn(error.text, "\n") == strlen(error.text), "%s: more than a line: %s", now, error.text);
    CHECK(seconds < SECONDS_MAX, "%s: %.1f s", now, seconds);
    compile_result_free(&r);
}

static void expect(const char *path, const char *text, int code, const char *says)
{
    expect_bytes(path, text, strlen(text), code, says);
}

/* before, times * again, after */
static char *repeated(const char *before, const char *again, size_t times, const char *after)
{
    char *text = NULL;
    size_t bytes;
    FILE *const out = open_memstream(&text, &bytes);
    fputs(before, out);
    while (times--)
        fputs(again, out);
    fputs(after, out);
    fclose(out);
    return text;
}

static bool skipped(void)
{
    struct orch_error error = {0};
    setenv("XDG_CACHE_HOME", "/dev/null", 1); /* nothing is kept */
    if (compile_is_possible(COMPILE_METAL, &error))
        return false;
    suite_skip(error.text);
    return true;
}

#define KERNEL(body) "kernel void k(global int *o) { " body " }\n"
#define METAL(body)  "kernel void k(device int *o [[buffer(0)]]) { " body " }\n"

struct row {
    const char *what, *path, *text;
    int code;
    const char *says;
};

static void expect_rows(const struct row *rows, size_t count)
{
    if (skipped())
        return;
    for (size_t i = 0; i < count; i++) {
        now = rows[i].what;
        expect(rows[i].path, rows[i].text, rows[i].code, rows[i].says);
    }
}

static void test_size(void)
{
    static const struct row rows[] = {
        {"recursion", "K.cl", "int f(int n) { return n < 2 ? n : f(n - 1) + f(n - 2); }\n" KERNEL("o[0] = f(o[1]);"),
         ORCH_UNMODELLED, "f calls itself, which the GPU cannot"},
        {"recursion of two", "K.cl",
         "int g(int n);\nint f(int n) { return n ? g(n - 1) : 1; }\nint g(int n) { return n & 1 ? f(n - 2) : f(n - 1) * 2; "
         "}\n" KERNEL("o[0] = f(o[1]);"),
         ORCH_UNMODELLED, "calls itself"},
        {"a private array", "K.cl", KERNEL("int a[1000000]; for (int i = 0; i < 100; i++) a[o[i]] = i; o[0] = a[o[1]];"),
         ORCH_UNMODELLED, "more than 131008 bytes of private variables"},
        {"a huge private array", "K.cl", KERNEL("int a[0x10000000][0x10000000]; a[o[0]][o[1]] = 1; o[0] = a[o[1]][o[2]];"),
         ORCH_UNMODELLED, "too large"},
        {"local memory", "K.cl", KERNEL("local int s[100000000]; s[o[0]] = 1; barrier(1); o[0] = s[o[1]];"), ORCH_UNMODELLED,
         "threadgroup memory"},
        {"an array of variable size", "K.cl", KERNEL("int a[o[0]]; a[0] = 1; o[1] = a[o[2]];"), ORCH_USAGE, "variable length"},
        {"a large structure by value", "K.cl",
         "struct s { int a[100000]; };\nkernel void k(global int *o, struct s v) { o[0] = v.a[o[1]]; }\n", ORCH_UNMODELLED,
         "1024 bytes"},
        {"a table", "K.cl", "constant int t[1 << 28] = {1, 2};\n" KERNEL("o[0] = t[o[1]];"), ORCH_UNMODELLED, "t of more than"},
        {"pointers to functions", "K.cl", "int f(int x) { return x; }\n" KERNEL("int (*p)(int) = f; o[1] = p(3);"), ORCH_USAGE,
         "pointers to functions"},
        {"templates without end", "K.metal",
         "template <int N> struct f { static constexpr int v = f<N + 1>::v; };\n" METAL("o[0] = f<0>::v;"), ORCH_USAGE,
         "maximum depth"},
    };
    expect_rows(rows, ARRAY_COUNT(rows));
}

static void test_host(void)
{
    static const struct row rows[] = {
        {"an absolute path", "K.cl", "#include \"/etc/passwd\"\n" KERNEL(""), ORCH_USAGE,
         "includes /etc/passwd, which is in no folder"},
        {"a path upwards", "K.cl", "#include \"../../../../../../etc/passwd\"\n" KERNEL(""), ORCH_USAGE, "which is in no folder"},
        {"a path in a macro", "K.cl", "#define F \"/etc/passwd\"\n#include F\n" KERNEL(""), ORCH_USAGE, "which is in no folder"},
        {"a device without end", "K.cl", "#include \"/dev/zero\"\n" KERNEL(""), ORCH_USAGE, "which is in no folder"},
        {"standard input", "K.cl", "#include \"/dev/stdin\"\n" KERNEL(""), ORCH_USAGE, "nested too deeply"},
        {"the system's headers", "K.cl", "#include <stdio.h>\n" KERNEL(""), ORCH_USAGE, "file not found"},
        {"a mark of the preprocessor", "K.cl", "# 1 \"/etc/passwd\" 1\n" KERNEL(""), ORCH_USAGE, "which is in no folder"},
        {"an assembler's include", "K.cl", "__asm__(\".incbin \\\"/etc/passwd\\\"\");\n" KERNEL(""), ORCH_UNMODELLED, "assembly"},
        {"an include of Metal", "K.metal", "#include \"/etc/passwd\"\n" METAL(""), ORCH_USAGE, "which is in no folder"},
        {"a name of a line", "K.cl", "#line 3 \"/etc/x\\ny\"\n" KERNEL("o[0] = y;"), ORCH_USAGE, "undeclared"},
    };
    expect_rows(rows, ARRAY_COUNT(rows));
}

/* What a text of many megabytes repeats. */
static void test_repetition(void)
{
    static const struct {
        const char *what, *path, *before, *again;
        size_t times;
        const char *after;
        int code;
        const char *says;
    } rows[] = {
        {"a line of 10 MB", "K.cl", "kernel void k(global int *o) { o[0] = 1; } /*", "0123456789", 1000000, "*/\n", 0, ""},
        {"a sum of 10 MB", "K.cl", "kernel void k(global int *o) { o[0] = 1", " + 1", 2500000, "; }\n", ORCH_USAGE, "K.cl: "},
        {"brackets", "K.cl", "kernel void k(global int *o) { o[0] = ", "(", 100000, "1; }\n", ORCH_USAGE, "nesting level"},
        {"braces", "K.cl", "kernel void k(global int *o) { ", "{", 100000, " }\n", ORCH_USAGE, "nesting level"},
        {"macros in macros", "K.cl", "#define A(x) x+x\n", "\n", 10,
         "kernel void k(global int *o) { o[0] = A(A(A(A(A(A(A(A(1)))))))); }\n", 0, ""},
        {"errors", "K.cl", "kernel void k(global int *o) {\n", "x = 1;\n", 10000, "}\n", ORCH_USAGE, "(and 19 more errors)"},
        {"arguments", "K.cl", "kernel void k(global int *o", ", global int *", 3000, "a) { o[0] = 1; }\n", ORCH_UNMODELLED,
         "more arguments than"},
        {"kernels", "K.cl", "", "kernel void j(global int *o);\n", 2000, KERNEL("o[0] = 1;"), 0, ""},
        {"brackets of Metal", "K.metal", "kernel void k(device int *o) { o[0] = ", "(", 100000, "1; }\n", ORCH_USAGE, "bracket"},
        {"nested brackets of Metal", "K.metal", "", "[", 300, "", ORCH_USAGE, "brackets nested deeper than 256"},
        {"attributes of Metal", "K.metal", "", "[[", 100000, "", ORCH_USAGE, "brackets nested deeper than 256"},
        {"choices of Metal", "K.metal", "kernel void k(device int *o) { o[0] = ", "1 ? ", 5000, "1; }\n", ORCH_USAGE,
         "more than 1000 choices"},
        {"a chain of choices of Metal", "K.metal", "kernel void k(device int *o) { o[0] = ", "o[1] ? o[2] : ", 5000, "1; }\n",
         ORCH_USAGE, "more than 1000 choices"},
        {"templates of Metal", "K.metal", "", "template <", 5000, "> kernel void k(device int *o) { }\n", ORCH_USAGE,
         "no kernel is named 'k'"},
        {"kernels of Metal", "K.metal", "", "kernel ", 5000, "void k(device int *o) { }\n", 0, ""},
    };
    if (skipped())
        return;
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        char *const text = repeated(rows[i].before, rows[i].again, rows[i].times, rows[i].after);
        now = rows[i].what;
        expect(rows[i].path, text, rows[i].code, rows[i].says);
        free(text);
    }
}

/* Each function calls the one before three times: clang leaves calls that we would all have to put in their places. */
static void test_calls(void)
{
    char *text = NULL;
    size_t bytes;
    if (skipped())
        return;
    FILE *const out = open_memstream(&text, &bytes);
    fputs("__attribute__((noinline)) int f0(int x) { return x * 3; }\n", out);
    for (unsigned i = 0; i < 25; i++)
        fprintf(out, "__attribute__((noinline)) int f%u(int x) { return f%u(x) + f%u(x + 1) * f%u(x ^ 5); }\n", i + 1, i, i, i);
    fputs(KERNEL("o[0] = f25(o[1]);"), out);
    fclose(out);
    now = "calls of calls";
    expect("K.cl", text, ORCH_UNMODELLED, "becomes too large");
    free(text);
}

static void test_no_text(void)
{
    static const char zero[] = KERNEL("o[0] = 1;") "\0more";
    if (skipped())
        return;
    now = "a byte of zero";
    expect_bytes("K.cl", zero, sizeof zero - 1, ORCH_USAGE, "is not text");
    now = "nothing";
    expect("K.cl", "", ORCH_USAGE, "there is no kernel");
    now = "nothing of Metal";
    expect("K.metal", "", ORCH_USAGE, "kernel");
    now = "no text";
    expect("K.cl", "\x01\x02\x80\xff\xfe\x7f", ORCH_USAGE, "K.cl:1:1");
    now = "no text of Metal";
    expect("K.metal", "\x01\x02\x80\xff\xfe\x7f", ORCH_USAGE, "no kernel is named 'k'");
}

static const struct suite_test tests[] = {
    {"what is too large", test_size}, {"what is the host's", test_host},   {"what repeats", test_repetition},
    {"calls of calls", test_calls},   {"what is no source", test_no_text},
};
SUITE_MAIN("hostile sources", tests)
