/* The examples of tests/examples/gpu: the commands of their README as somebody types them, and what the results are. */
#include "sim/base/npy.h"
#include "sim/compile/compile.h"
#include "tests/sim/shell_example.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/orchard-gpu-examples-XXXXXX";
static char out[1 << 16];

/* Whether clang is there; says so where it is not. */
static bool possible(void)
{
    struct orch_error error = {0};
    if (compile_is_possible(COMPILE_METAL, &error))
        return true;
    suite_skip(error.text);
    return false;
}

/* Exit code of a line of the shell, in the folder; what it says is in `out`. */
static int start(const char *line)
{
    return shell_run(folder, line, out, sizeof out);
}

/* A folder that looks like a clone after make. */
static void test_clone(void)
{
    char path[200];
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    shell_place(folder, ORCHARD_SOURCE_DIR "/tests", "tests");
    shell_place(folder, ORCHARD_BUILD_DIR, "build");
    setenv("XDG_CACHE_HOME", folder, 1);
    snprintf(path, sizeof path, "%s/runs.db", folder);
    setenv("ORCHARD_DB", path, 1);
}

/* Every line of a page that begins with build/orchard and names one of these examples. */
static unsigned run_commands(const char *page)
{
    char line[2000];
    unsigned commands = 0;
    FILE *const f = fopen(page, "r");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    while (fgets(line, sizeof line, f)) {
        if (strncmp(line, "build/orchard ", 14) != 0)
            continue;
        line[strcspn(line, "\n")] = 0;
        const int code = start(line);
        CHECK(code == 0, "%s: exit code %d: %s", line, code, out);
        commands++;
    }
    fclose(f);
    return commands;
}

static void test_readme(void)
{
    if (!possible())
        return;
    const unsigned commands = run_commands(ORCHARD_SOURCE_DIR "/tests/examples/gpu/README.md");
    CHECK(commands >= 11, "%u commands", commands);
    const unsigned shown = run_commands(ORCHARD_SOURCE_DIR "/README.md");
    CHECK(shown >= 2, "%u commands of the front page", shown);
}

/* peak and saxpy against plain C: y = 2 i + 1 for i = 0, 1 ..., whose peaks are the last of each 256. */
static void test_values(void)
{
    char path[200];
    struct npy_array array;
    struct orch_error error = {0};
    float peaks[16];
    if (!possible())
        return;
    const int code =
        start("build/orchard run tests/examples/gpu/saxpy.metal --entry saxpy --grid 4096 --group 256 --args f32:4096:seq --args "
              "y=f32:4096:fill:1 --args 2f --args 4000 + tests/examples/gpu/saxpy.metal --entry peak --grid 4096 --group 256 "
              "--args y --args out:f32:16:p.npy");
    CHECK(code == 0, "%s", out);
    snprintf(path, sizeof path, "%s/p.npy", folder);
    CHECK(npy_load(path, &array, &error), "%s", error.text);
    if (error.exit_code)
        return;
    CU_ASSERT_EQUAL_FATAL(array.bytes, sizeof peaks);
    memcpy(peaks, array.data, sizeof peaks);
    for (int i = 0; i < 16; i++)
        CHECK(peaks[i] == (i < 15 ? (float)(2 * (256 * i + 255) + 1) : 2 * 3999 + 1), "peak %d is %g", i, (double)peaks[i]);
    npy_release(&array);
}

/* A product that ignores that an operand is transposed is found out; so is what does not fit the operator. */
static void test_own_kernels(void)
{
#define MATMUL "--kernel gemm=tests/examples/gpu/matmul.metal --grid 64x64 --group 16x16"
    static const struct {
        const char *line;
        int code;
        const char *says;
    } rows[] = {
        {"gemm:64x64x64 " MATMUL, 0, "1 of 1 as expected"},
        {"gemm:64x64x64,ta=1 " MATMUL, 1, "0 of 1 as expected"},
        {"gemm:64x64x64 --precision f16 " MATMUL, 1, "0 of 1 as expected"},
        {"gemm:64x64x64 --mode timing " MATMUL, 0, "time"},
        {"gemm:64x64x64 --mode functional " MATMUL, 0, "1 of 1 as expected"},
        {"gemm:64x64x64 --device macbook-air --duration 0.1 " MATMUL, 0, "macbook-air"},
        {"softmax:64x64 " MATMUL, 2, "there is no such operator in softmax"},
        {"gemm:64x64x64 --unit amx " MATMUL, 2, "--kernel belongs to operators of the GPU library"},
        {"gemm:64x64x64 --args 3 " MATMUL, 2, "--args"},
        {"gemm:64x64x64 --kernel gem=k.metal", 2, "did you mean gemm?"},
        {"gemm:64x64x64 --kernel gemm", 2, "expected OPERATOR=FILE"},
        {"gemm:64x64x64 --kernel gemm=none.metal", 2, "none.metal: No such file"},
        {"gemm:64x64x64 --entry matmull " MATMUL, 2, "did you mean matmul?"},
        {"gemm:64x64x64 --kernel gemm=tests/examples/gpu/saxpy.metal --entry peak", 2, "takes the buffers a b c"},
        {"gemm:64x64x64 --kernel gemm=tests/examples/gpu/reduce.cl", 2, "stands for the buffer c, but is a number"},
        {"tests/examples/gpu/row.json " MATMUL, 2, "--kernel belongs to operators"},
    };
    if (!possible())
        return;
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        char line[600];
        snprintf(line, sizeof line, "build/orchard run %s", rows[i].line);
        const int code = start(line);
        CHECK(code == rows[i].code && strstr(out, rows[i].says), "%s: exit code %d: %s", rows[i].line, code, out);
    }
}

/* What was compiled to a folder can stand for an operator, too. */
static void test_description(void)
{
    if (!possible())
        return;
    CHECK(start("build/orchard compile tests/examples/gpu/matmul.cl --grid 64x64 --args f32:4096 --args f32:4096 --args f32:4096 "
                "--args 64 --args 64 --args 64 -o m") == 0,
          "%s", out);
    CHECK(start("build/orchard run gemm:64x64x64 --kernel gemm=m") == 0 && strstr(out, "1 of 1 as expected"), "%s", out);
    CHECK(start("build/orchard run gemm:96x64x64 --kernel gemm=m") == 1 && strstr(out, "0 of 1 as expected"), "%s", out);
}

/* Each mistake is told in one line that names the place and what to do. */
static void test_bad_input(void)
{
#define SAXPY "build/orchard run tests/examples/gpu/saxpy.metal --entry saxpy --grid 64 --group 32 "
#define ARGS  "--args f32:64 --args f32:64 --args 1f --args 64"
    static const struct {
        const char *line;
        int code;
        const char *says;
    } rows[] = {
        {"build/orchard run tests/examples/gpu/saxpy.metal --grid 64", 2, "has 2 kernels (saxpy, peak); choose one with --entry"},
        {"build/orchard run tests/examples/gpu/saxpy.metal --entry saxpi --grid 64", 2,
         "saxpy.metal: no kernel is named 'saxpi'; did you mean saxpy?"},
        {SAXPY "--args f32:64", 2, "saxpy has 4 arguments, not 1: x (buffer of f32) y (buffer of f32) a (buffer of f32)"},
        {SAXPY "--args f32:64 --args 3 --args 1f --args 64", 2, "argument '3': y: is a buffer"},
        {SAXPY "--args f32:64 --args f32:64 --args 1f --args 1.5f", 2, "argument '1.5f': count: is an integer"},
        {SAXPY "--args f32:3G:rand:1 --args f32:64 --args 1f --args 1", 2,
         "argument 'f32:3G:rand:1': x: has more than the 8 GiB"},
        {SAXPY "--args f32:64 --args out:f32:64:none/y.npy --args 1f --args 1", 2, "none/y.npy cannot be created"},
        {SAXPY ARGS " -D 1=2", 2, "-D 1=2: expected NAME or NAME=VALUE"},
        {SAXPY ARGS " -I none", 2, "-I none: not a folder"},
        {SAXPY ARGS " --constant wide=1", 2, "--constant wide=1: tests/examples/gpu/saxpy.metal has no such function constant"},
        {SAXPY ARGS " --grid 4", 2, "--grid is given twice"},
        {"build/orchard run tests/examples/gpu/saxpy.metal --entry saxpy --grid 65536 --group 32 --args f32:8 --args f32:65536 "
         "--args "
         "1f --args 65536",
         4, "element 4096 of buffer x, which has 8"},
        {"build/orchard run tests/examples/gpu/matmul.cl --constant wide=1", 2, "only Metal has function constants"},
        {"build/orchard run constants.metal --grid 4 --group 4 --args f32:4 --constant wid=1", 2, "did you mean wide?"},
        {"build/orchard run include.cl --grid 4", 2,
         "include.cl:1:10: 'none.h' file not found; name the folder that it is in: -I DIR"},
        {"build/orchard run host.cl --grid 4", 2, "host.cl includes /etc/passwd, which is in no folder of -I"},
        {"build/orchard run texture.metal --grid 4", 3, "texture.metal:2: texture2d"},
        {"ORCHARD_CLANG=/none " SAXPY ARGS, 2, "package clang-16"},
        {"ORCHARD_CLANG=none " SAXPY ARGS, 2, "package clang-16"},
        {"env PATH=/none $PWD/" SAXPY ARGS, 2, "install the Debian package clang-16"},
    };
    if (!possible())
        return;
    suite_write_text(folder, "constants.metal",
                     "constant bool wide [[function_constant(3)]];\nkernel void f(device float *x) { x[0] = wide; }\n");
    suite_write_text(folder, "include.cl", "#include \"none.h\"\nkernel void f(global float *x) { }\n");
    suite_write_text(folder, "host.cl", "#include \"/etc/passwd\"\nkernel void f(global float *x) { }\n");
    suite_write_text(folder, "texture.metal", "#include <metal_stdlib>\nkernel void f(metal::texture2d<float> t) { }\n");
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        const int code = start(rows[i].line);
        const char *const end = strchr(out, '\n');
        CHECK(code == rows[i].code && strstr(out, rows[i].says), "%s: exit code %d: %s", rows[i].line, code, out);
        CHECK(end && !end[1], "%s: more than a line: %s", rows[i].line, out);
    }
}

static void test_nothing_is_left(void)
{
    CU_ASSERT_TRUE(suite_remove(folder));
}

static const struct suite_test tests[] = {
    {"a folder like a clone", test_clone},
    {"the commands of the README", test_readme},
    {"saxpy and peak against C", test_values},
    {"kernels for an operator", test_own_kernels},
    {"a description for an operator", test_description},
    {"mistakes", test_bad_input},
    {"files are deleted", test_nothing_is_left},
};
SUITE_MAIN("gpu examples", tests)
