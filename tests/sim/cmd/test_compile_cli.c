/* orchard compile, and orchard run of a source, from outside. Begins at stored text, so that no clang is needed. */
#include "sim/base/npy.h"
#include "tests/support/cli_binary.h"
#include "tests/support/suite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct cli_home home = {.name = "compile", .options = "-q"};

static const char *two(void)
{
    return suite_golden("agx/source/two.ll");
}

static void use_own_cache(void)
{
    cli_home_open(&home);
    setenv("XDG_CACHE_HOME", home.folder, 1);
}

static void test_folder(void)
{
    use_own_cache();
    if (!cli_ask(&home,
                 "compile %s --entry scale -o $/scale --grid 256 --group 64 --args f32:256:seq --args f32:256 --args 0.5f "
                 "--args 200",
                 two()))
        return;
    CHECK(home.outcome.code == 0, "%d %s", home.outcome.code, home.outcome.err);
    cli_ask(&home, "isa disasm agx $/scale");
    CHECK(home.outcome.code == 0 && strstr(home.outcome.out, "device_store"), "%s", home.outcome.err);
    cli_ask(&home, "run $/scale --output $/out --json");
    CHECK(home.outcome.code == 0 && strstr(home.outcome.out, "\"seconds\""), "%s", home.outcome.err);
}

static void check_result(const char *name)
{
    char path[200];
    struct npy_array y;
    struct orch_error error = {0};
    float value[256];
    snprintf(path, sizeof path, "%s/%s", home.folder, name);
    CHECK(npy_load(path, &y, &error), "%s", error.text);
    if (error.exit_code)
        return;
    CU_ASSERT_EQUAL_FATAL(y.bytes, sizeof value);
    memcpy(value, y.data, sizeof value);
    for (int i = 0; i < 256; i++)
        CHECK(value[i] == (i < 200 ? 0.5f * (float)i : 0), "%s[%d] is %g", name, i, value[i]);
    npy_release(&y);
}

static void test_run(void)
{
    use_own_cache();
    if (!cli_ask(&home,
                 "run %s --entry scale --grid 256 --group 64 --args f32:256:seq --args out:f32:16x16:$/y.npy --args 0.5f "
                 "--args 200 --json",
                 two()))
        return;
    CHECK(home.outcome.code == 0 && strstr(home.outcome.out, "\"seconds\""), "%d %s", home.outcome.code, home.outcome.err);
    check_result("y.npy");
    check_result("out/y.npy"); /* of the folder, above */
}

static void test_print(void)
{
    static const struct {
        const char *stage, *says;
    } rows[] = {{"llvm", "spir_kernel void @scale"},
                {"read", "@scale"},
                {"passes", "@scale"},
                {"lowered", "@scale"},
                {"asm", "device_store"}};
    use_own_cache();
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        if (!cli_ask(&home, "compile %s --entry scale --print %s", two(), rows[i].stage))
            return;
        CHECK(home.outcome.code == 0 && strstr(home.outcome.out, rows[i].says), "%s: %s", rows[i].stage, home.outcome.err);
    }
}

static void test_wrong_use(void)
{
    static const struct {
        const char *line; /* @ stands for the stored text */
        int code;
        const char *says;
    } rows[] = {
        {"compile", 2, "expected one K.cl"},
        {"compile @", 2, "-o DIR"},
        {"compile @ -o $/x", 2, "choose one with --entry"},
        {"compile @ --entry scale -o $/x --group 2048", 2, "at most 1024"},
        {"compile @ --entry scale -o $/x --print nonsense", 2, "nonsense"},
        {"compile @ --entry scale -o $/x --args 1", 2, "has 4 arguments, not 1"},
        {"run @ --entry scale --group 32 --args 1", 2, "--grid"},
        {"run @ --entry scale --grid 64 --args 1", 2, "--group"},
        {"run @ --entry scale --grid 64 --group 32 --cores 2 --args f32:64 --args f32:64 --args 1f --args 1", 2, "--cores"},
        {"run gemm:64x64x64 --grid 64", 2, "belong to GPU sources"},
        {"kernel check $/none --compile", 2, "none"},
    };
    use_own_cache();
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        char line[600] = "";
        const char *const at = strchr(rows[i].line, '@');
        snprintf(line, sizeof line, "%.*s%s%s", at ? (int)(at - rows[i].line) : (int)strlen(rows[i].line), rows[i].line,
                 at ? two() : "", at ? at + 1 : "");
        if (!cli_ask(&home, "%s", line))
            return;
        CHECK(home.outcome.code == rows[i].code, "%s: code %d, %s", rows[i].line, home.outcome.code, home.outcome.err);
        CHECK(strstr(home.outcome.err, rows[i].says) != NULL, "%s: %s", rows[i].line, home.outcome.err);
    }
}

static void test_cleans_up(void)
{
    CU_ASSERT_TRUE(cli_home_remove(&home));
}

static const struct suite_test tests[] = {
    {"a folder from stored text", test_folder}, {"run compiles and launches", test_run},
    {"stages are printed", test_print},         {"wrong use", test_wrong_use},
    {"nothing is left", test_cleans_up},
};
SUITE_MAIN("compile cli", tests)
