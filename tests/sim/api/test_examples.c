/* The examples below tests/examples, as somebody builds and starts them who has the installed files and nothing else. */
#include "sim/orchard.h"
#include "tests/sim/shell_example.h"
#include "tests/support/suite.h"

#include <glob.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define EXAMPLES ORCHARD_SOURCE_DIR "/tests/examples"

/* What each must say, in C and in Python. */
static const struct {
    const char *name, *c, *python;
} expected[] = {
    {"run", "seconds", "'seconds': "},
    {"events", "14400 samples", "'op_end': 1"},
    {"chip", "vendor-spec", "did you mean m1-max?"},
    {"sweep", "16 cores", "('m2', 16): "},
    {"together", "limited by", "'slowdown': {'gpu': "},
    {"kernel", "y[100] = 201", "out[31] is 961"},
    {"report", NULL,
     "{'plain': True, 'described': True, 'chips': ['m1_4p4e_8g', 'm2_4p4e_10g'], 'slower at 2 GHz': True, 'page': True}"},
};

static char folder[] = "/tmp/orchard-examples-XXXXXX";
static char out[1 << 16];

/* Standard output of a command in the folder into `out`; its exit code, -1 when it did not end by itself. */
static int start(const char *format, ...) __attribute__((format(printf, 1, 2)));

static int start(const char *format, ...)
{
    char line[2000];
    va_list args;
    va_start(args, format);
    vsnprintf(line, sizeof line, format, args);
    va_end(args);
    return shell_run(folder, line, out, sizeof out);
}

/* The header by itself, and the library under the names that `make install` gives it. */
static void test_installed_files(void)
{
    char path[200];
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    static const char *const places[] = {"include", "lib", "lib/pkgconfig"};
    for (size_t i = 0; i < ARRAY_COUNT(places); i++) {
        snprintf(path, sizeof path, "%s/%s", folder, places[i]);
        CU_ASSERT_EQUAL(mkdir(path, 0777), 0);
    }
    shell_place(folder, ORCHARD_SOURCE_DIR "/sim/orchard.h", "include/orchard.h");
    shell_place(folder, ORCHARD_BUILD_DIR "/liborchard.so", "lib/liborchard.so.0");
    shell_place(folder, "liborchard.so.0", "lib/liborchard.so");
    shell_place(folder, ORCHARD_BUILD_DIR "/liborchard.a", "lib/liborchard.a");
    CHECK(start("sed -e 's|@PREFIX@|%s|' -e 's|@VERSION@|%s|' " ORCHARD_SOURCE_DIR
                "/sim/orchard.pc.in > lib/pkgconfig/orchard.pc",
                folder, orchard_version()) == 0,
          "%s", out);
    snprintf(path, sizeof path, "%s/lib/pkgconfig", folder);
    setenv("PKG_CONFIG_PATH", path, 1);
    snprintf(path, sizeof path, "%s/runs.db", folder);
    setenv("ORCHARD_DB", path, 1);
    snprintf(path, sizeof path, "%s/lib", folder);
    setenv("LD_LIBRARY_PATH", path, 1);
    setenv("XDG_CACHE_HOME", folder, 1);
    setenv("PYTHONDONTWRITEBYTECODE", "1", 1);
}

static const char *name_of(const char *path)
{
    static char name[64];
    const char *const base = strrchr(path, '/') + 1;
    snprintf(name, sizeof name, "%.*s", (int)strcspn(base, "."), base);
    return name;
}

static const char *wanted(const char *name, bool python)
{
    for (size_t i = 0; i < ARRAY_COUNT(expected); i++)
        if (strcmp(expected[i].name, name) == 0)
            return python ? expected[i].python : expected[i].c;
    return NULL;
}

static void check_output(const char *path, int code, bool python)
{
    const char *const text = wanted(name_of(path), python);
    CHECK(code == 0, "%s ends with %d:\n%s", path, code, out);
    CHECK(text != NULL, "%s: say in this suite what it prints", path);
    CHECK(text && strstr(out, text), "%s prints\n%s", path, out);
}

/* Whether the example can run here: one of them compiles a kernel. */
static bool possible(const char *path)
{
    if (strcmp(name_of(path), "kernel") != 0 || start("${ORCHARD_CLANG:-clang-16} --version") == 0)
        return true;
    printf("  %s is left out: clang-16 is not installed\n", path);
    return false;
}

/* How a program finds the library: pkg-config says it, or, where there is none, who builds it. */
static const char *flags(void)
{
    return start("pkg-config --version") == 0 ? "$(pkg-config --cflags --libs orchard)" : "-Iinclude -Llib -lorchard";
}

static void test_in_c(void)
{
    const char *const how = flags();
    glob_t found;
    CU_ASSERT_EQUAL_FATAL(glob(EXAMPLES "/c/*.c", 0, NULL, &found), 0);
    CU_ASSERT_EQUAL(found.gl_pathc, ARRAY_COUNT(expected) - 1); /* report is in Python alone */
    for (size_t i = 0; i < found.gl_pathc; i++) {
        const char *const path = found.gl_pathv[i];
        const int built = start(TEST_CC " -std=c11 -pedantic -Wall -Wextra -Werror %s -o %s %s", path, name_of(path), how);
        CHECK(built == 0, "%s: %s", path, out);
        if (possible(path))
            check_output(path, start("./%s", name_of(path)), false);
    }
    globfree(&found);
}

/* A program that carries the library with it: pkg-config names what the library itself needs. */
static void test_static_library(void)
{
    if (start("pkg-config --version") != 0 || strcmp(TEST_MODE, "opt") != 0) {
        suite_skip("no pkg-config, or a library with sanitizers");
        return;
    }
    CHECK(start("pkg-config --modversion orchard") == 0 && strncmp(out, orchard_version(), strlen(orchard_version())) == 0, "%s",
          out);
    const int built = start(TEST_CC " -std=c11 " EXAMPLES "/c/chip.c -o chip_static $(pkg-config --cflags orchard) "
                                    "lib/liborchard.a $(pkg-config --static --libs orchard | sed 's/-lorchard//') 2>&1");
    CHECK(built == 0, "%s", out);
    check_output(EXAMPLES "/c/chip.c", start("LD_LIBRARY_PATH= ./chip_static"), false);
}

/* C++ programs may include the header, too. */
static void test_header_in_cpp(void)
{
    if (start("c++ --version") != 0) {
        suite_skip("c++ is not installed (g++)");
        return;
    }
    const int code = start("echo '#include <orchard.h>' | c++ -x c++ -std=c++11 -pedantic -Wall -Wextra -Werror -Iinclude "
                           "-fsyntax-only -");
    CHECK(code == 0, "%s", out);
}

static void test_in_python(void)
{
    glob_t found;
    if (start("python3 -c 'import ctypes'") != 0) {
        suite_skip("python3 with ctypes is not installed (python3)");
        return;
    }
    if (strcmp(TEST_MODE, "opt") != 0) {
        suite_skip("python3 does not load a library with sanitizers");
        return;
    }
    CU_ASSERT_EQUAL_FATAL(glob(EXAMPLES "/python/*.py", 0, NULL, &found), 0);
    CU_ASSERT_EQUAL(found.gl_pathc, ARRAY_COUNT(expected) + 1); /* orchard.py is what all of them import */
    for (size_t i = 0; i < found.gl_pathc; i++)
        if (strcmp(name_of(found.gl_pathv[i]), "orchard") != 0 && possible(found.gl_pathv[i]))
            check_output(found.gl_pathv[i], start("python3 %s", found.gl_pathv[i]), true);
    globfree(&found);
}

static void test_nothing_is_left(void)
{
    CU_ASSERT_TRUE(suite_remove(folder));
}

static const struct suite_test tests[] = {
    {"the installed files", test_installed_files}, {"examples in C", test_in_c},
    {"the static library", test_static_library},   {"the header in C++", test_header_in_cpp},
    {"examples in Python", test_in_python},        {"files are deleted", test_nothing_is_left},
};
SUITE_MAIN("examples", tests)
