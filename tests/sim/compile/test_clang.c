/* Clang as a process: what it makes of sources, its messages, and what it may open. Skipped on machines without clang 16. */
#include "sim/compile/clang.h"
#include "tests/sim/agx_example.h"

#include <sys/stat.h>

static struct clang clang;
static char folder[] = "/tmp/orchard-clang-XXXXXX";

static bool available(void)
{
    struct orch_error error = {0};
    if (clang_find(&clang, &error))
        return true;
    suite_skip(error.text);
    return false;
}

static bool compile(const char *source, const struct compile_request *how, char **llvm, char **warnings, struct orch_error *error)
{
    struct compile_request q = *how;
    char *text = NULL;
    size_t bytes;
    q.path = "K.cl";
    q.optimise = 2;
    *llvm = *warnings = NULL;
    *error = (struct orch_error){0};
    const bool ok = clang_preprocess(&clang, &q, COMPILE_OPENCL, source, strlen(source), &text, &bytes, error) &&
                    clang_compile(&clang, &q, COMPILE_OPENCL, source, strlen(source), llvm, &bytes, warnings, error);
    free(text);
    return ok;
}

static void test_compiles(void)
{
    const struct compile_request how = {.defines = 1, .define = (const char *const[]){"FACTOR=3.5"}};
    char *llvm, *warnings;
    struct orch_error error;
    if (!available())
        return;
    CHECK(compile("kernel void f(global float *here) { here[get_global_id(0)] = FACTOR; }", &how, &llvm, &warnings, &error), "%s",
          error.text);
    CU_ASSERT_PTR_NOT_NULL_FATAL(llvm);
    CHECK(strstr(llvm, "define") && strstr(llvm, "spir_kernel void @f(ptr addrspace(1)") != NULL, "%s", llvm);
    CHECK(strstr(llvm, "%here") && strstr(llvm, "!kernel_arg_base_type") && strstr(llvm, "float 3.500000e+00") != NULL, "%s",
          llvm);
    CU_ASSERT_STRING_EQUAL(warnings, "");
    free(llvm);
    free(warnings);
}

static void test_messages(void)
{
    static const struct {
        const char *source;
        int code; /* 0 = a warning */
        const char *says;
    } rows[] = {
        {"kernel void f(global float *x) {\n  x[0] = y;\n}", ORCH_USAGE, "K.cl:2:10: use of undeclared identifier 'y'"},
        {"kernel void f(global float *x) { x[0] = y + z; }", ORCH_USAGE, "(and 1 more error)"},
        {"#include \"no.h\"\nkernel void f(void) {}", ORCH_USAGE, "K.cl:1:10: 'no.h' file not found"},
        {"#error \"out\"\n", ORCH_USAGE, "K.cl:1:2: \"out\""},
        {"kernel void f(global double *x) { x[0] = 1; }", ORCH_UNMODELLED, "requires cl_khr_fp64"},
        {"kernel void f(global int *x) { int unused; x[0] = 1 / 0; }", 0, "K.cl:1:53: warning: division by zero"},
    };
    if (!available())
        return;
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        const struct compile_request how = {.path = NULL};
        char *llvm, *warnings;
        struct orch_error error;
        const bool ok = compile(rows[i].source, &how, &llvm, &warnings, &error);
        CHECK(ok == (rows[i].code == 0) && error.exit_code == rows[i].code, "%s: %s", rows[i].source, error.text);
        CHECK(strstr(ok ? warnings : error.text, rows[i].says) != NULL, "%s: %s", rows[i].source, ok ? warnings : error.text);
        CHECK(!ok || !strstr(warnings, "generated"), "%s", warnings);
        free(llvm);
        free(warnings);
    }
}

/* Headers come from folders that were named, and from nowhere else. */
static void test_includes(void)
{
    static const struct {
        const char *line;
        bool named, right;
        const char *says;
    } rows[] = {
        {"#include \"in.h\"", true, true, ""},
        {"#include <sub/in.h>", true, true, ""},
        {"#include \"in.h\"", false, false, "'in.h' file not found"},
        {"#include \"/etc/passwd\"", true, false, "includes /etc/passwd, which is in no folder"},
        {"#include \"../../etc/passwd\"", true, false, "etc/passwd, which is in no folder"},
        {"#include \"etc/passwd\"", false, false, "etc/passwd, which is in no folder"},
        {"#define F \"/etc/passwd\"\n#include F", true, false, "which is in no folder"},
        {"#include \"/dev/zero\"", true, false, "K.cl"},
        {"#include <stdio.h>", true, false, "'stdio.h' file not found"},
    };
    char sub[100];
    if (!available())
        return;
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    snprintf(sub, sizeof sub, "%s/sub", folder);
    CU_ASSERT_EQUAL(mkdir(sub, 0777), 0);
    example_write(folder, "in.h", "#define IN 1\n", 13);
    example_write(sub, "in.h", "#include \"../in.h\"\n", 19);
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        const char *const folders[] = {folder};
        const struct compile_request how = {.include = folders, .includes = rows[i].named};
        char source[200], *llvm, *warnings;
        struct orch_error error;
        snprintf(source, sizeof source, "%s\nkernel void f(global int *x) { x[0] = IN; }\n", rows[i].line);
        const bool ok = compile(source, &how, &llvm, &warnings, &error);
        CHECK(ok == rows[i].right, "%s: %s", rows[i].line, error.text);
        CHECK(ok || strstr(error.text, rows[i].says), "%s: %s", rows[i].line, error.text);
        free(llvm);
        free(warnings);
    }
    CU_ASSERT_TRUE(suite_remove(folder));
}

static void test_wrong_options(void)
{
    static const char *const wrong[] = {"", "9=1", "A B", "-fplugin=x", "A;B=1"};
    if (!available())
        return;
    for (size_t i = 0; i < ARRAY_COUNT(wrong); i++) {
        const struct compile_request how = {.define = &wrong[i], .defines = 1};
        char *llvm, *warnings;
        struct orch_error error;
        CHECK(!compile("kernel void f(void) {}", &how, &llvm, &warnings, &error) && error.exit_code == ORCH_USAGE, "%s",
              wrong[i]);
        CHECK(strstr(error.text, "expected NAME or NAME=VALUE") != NULL, "%s", error.text);
    }
    const char *const nowhere[] = {"/nonexistent"};
    const struct compile_request how = {.include = nowhere, .includes = 1};
    char *llvm, *warnings;
    struct orch_error error;
    CU_ASSERT_FALSE(compile("kernel void f(void) {}", &how, &llvm, &warnings, &error));
    CHECK(strstr(error.text, "-I /nonexistent: not a folder") != NULL, "%s", error.text);
}

/* These need no clang. */
static void test_not_there(void)
{
    static const struct {
        const char *program, *says;
    } rows[] = {{"/bin/ls", "is no clang"},
                {"/nonexistent/clang", "cannot be started"},
                {"nonexistent-clang", "ORCHARD_CLANG names nonexistent-clang"}};
    char *const path = strdup(getenv("PATH"));
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct clang found;
        struct orch_error error = {0};
        setenv("ORCHARD_CLANG", rows[i].program, 1);
        CHECK(!clang_find(&found, &error) && error.exit_code == ORCH_USAGE, "%s", rows[i].program);
        CHECK(strstr(error.text, rows[i].says) != NULL, "%s", error.text);
    }
    unsetenv("ORCHARD_CLANG");
    setenv("PATH", "/nonexistent", 1);
    struct clang found;
    struct orch_error error = {0};
    CU_ASSERT_FALSE(clang_find(&found, &error));
    CHECK(strstr(error.text, "Debian package clang-16") != NULL, "%s", error.text);
    setenv("PATH", path, 1);
    free(path);
}

static const struct suite_test tests[] = {
    {"OpenCL C becomes LLVM's text", test_compiles},  {"messages have their place", test_messages},
    {"only named folders are open", test_includes},   {"options are checked", test_wrong_options},
    {"no clang, or no clang at all", test_not_there},
};
SUITE_MAIN("clang", tests)
