/* GPU kernels in a row, from outside: options behind each, and as a file. Begins at stored text, so that no clang is needed. */
#include "sim/base/npy.h"
#include "tests/support/cli_binary.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { COUNT = 256 };

static struct cli_home home = {.name = "row", .options = "-q"};

/* scale(x, y, factor, n): y = factor x */
#define STEP " --entry scale --grid 256 --group 64 "

static const char *two(void)
{
    return suite_golden("agx/source/two.ll");
}

static void use_own_cache(void)
{
    cli_home_open(&home);
    setenv("XDG_CACHE_HOME", home.folder, 1);
}

/* x is 0, 1, 2 ...; what comes out is `factor` times that. */
static void check_file(const char *name, float factor)
{
    char path[200];
    struct npy_array y;
    struct orch_error error = {0};
    float value[COUNT];
    snprintf(path, sizeof path, "%s/%s", home.folder, name);
    CHECK(npy_load(path, &y, &error), "%s", error.text);
    if (error.exit_code)
        return;
    CU_ASSERT_EQUAL_FATAL(y.bytes, sizeof value);
    memcpy(value, y.data, sizeof value);
    for (int i = 0; i < COUNT; i++)
        CHECK(value[i] == factor * (float)i, "%s[%d] is %g", name, i, value[i]);
    npy_release(&y);
}

/* Three steps over x, t and y; the last reads what the first has written. */
static bool ask_row(const char *more)
{
    return cli_ask(&home,
                   "run %s" STEP "--args x=f32:256:seq --args t=f32:256 --args 0.5f --args 256 + %s" STEP
                   "--args t --args u=f32:256 --args 4f --args 256 + %s" STEP
                   "--args t --args y=out:f32:256:$/y.npy --args 3f --args 256 --json %s",
                   two(), two(), two(), more);
}

static double numbers[2]; /* seconds and overhead_seconds of the last document */

static void take_document(void)
{
    json_object *const j = cli_document(&home.outcome);
    CU_ASSERT_PTR_NOT_NULL_FATAL(j);
    double steps = 0;
    for (int i = 1; i <= 3; i++) {
        char path[60];
        snprintf(path, sizeof path, "/counters/gpu.step%d.device_seconds", i);
        steps += document_number(j, path);
    }
    numbers[0] = document_number(j, "seconds");
    numbers[1] = document_number(j, "overhead_seconds");
    CHECK(fabs(steps - document_number(j, "device_seconds")) <= 1e-12, "the steps take %g s", steps);
    CHECK(document_number(j, "joules") > 0, "%g J", document_number(j, "joules"));
    json_object_put(j);
}

static void test_row(void)
{
    use_own_cache();
    if (!ask_row("--output $/out"))
        return;
    take_document();
    const double one = numbers[1];
    check_file("y.npy", 1.5f);
    check_file("out/u.npy", 2);
    check_file("out/t.npy", 0.5f);
    CU_ASSERT_TRUE(ask_row("--buffers each"));
    take_document();
    CHECK(fabs(numbers[1] - 3 * one) < 1e-9 * one, "%g s in three command buffers, %g s in one", numbers[1], one);
}

static void test_only_time(void)
{
    use_own_cache();
    if (!ask_row("--mode timing --rerun"))
        return;
    take_document();
    const double timing = numbers[0];
    CU_ASSERT_TRUE(ask_row("--rerun"));
    take_document();
    CHECK(timing == numbers[0], "%g and %g s", timing, numbers[0]);
}

#define FILE_STEP(source) "{\"kernel\":\"" source "\",\"entry\":\"scale\",\"grid\":256,\"group\":\"64\",\"args\":"

/* The source is beside the file. */
static void test_file(void)
{
    char path[200];
    use_own_cache();
    snprintf(path, sizeof path, "%s/two.ll", home.folder);
    CHECK(symlink(two(), path) == 0, "%s", path);
    suite_write_text(home.folder, "row.json",
                     "{\"buffers\":{\"x\":\"f32:256:seq\",\"t\":\"f32:256\",\"y\":\"f32:256\"},\"steps\":[" FILE_STEP(
                         "two.ll") "[\"x\",\"t\",\"0.5f\",256]}," FILE_STEP("two.ll") "[\"t\",\"u=f32:256\",\"4f\",256]}"
                                                                                      "," FILE_STEP("two.ll") "[\"t\",\"y\","
                                                                                                              "\"3f\",256]}]}");
    if (!cli_ask(&home, "run $/row.json --json --output $/file"))
        return;
    take_document();
    const double file = numbers[0];
    check_file("file/y.npy", 1.5f);
    check_file("file/u.npy", 2);
    CU_ASSERT_TRUE(ask_row("--rerun"));
    take_document();
    CHECK(file == numbers[0], "%g s as a file, %g s as options", file, numbers[0]);
    CU_ASSERT_TRUE(cli_ask(&home, "sweep $/row.json -L gpu_cores=7,8"));
    CHECK(home.outcome.code == 0 && strstr(home.outcome.out, "gpu_cores"), "%s", home.outcome.err);
    CU_ASSERT_TRUE(cli_ask(&home, "run $/row.json --trace $/row.trace --rerun"));
    CU_ASSERT_TRUE(cli_ask(&home, "trace replay $/row.trace --chip m2"));
    CHECK(home.outcome.code == 0 && strstr(home.outcome.out, "m2"), "%s", home.outcome.err);
}

#define EXPECT_ROW(expect)                                                                                                       \
    "{\"buffers\":{\"x\":\"f32:256:seq\",\"y\":\"f32:256\"},\"steps\":[" FILE_STEP(                                              \
        "two.ll") "[\"x\",\"y\",\"1.5f\",256]}]," expect "}"

/* What another run wrote is expected: right, wrong, within bounds, of another size. */
static void test_expected(void)
{
    static const struct {
        const char *text, *factor;
        int code;
        const char *says;
    } rows[] = {
        {EXPECT_ROW("\"expect\":{\"y\":\"@/e.npy\"}"), "1.5f", 0, "1 of 1 as expected"},
        {EXPECT_ROW("\"expect\":{\"y\":\"@/e.npy\"}"), "1.501f", 1, "buffer y: 255 of 256 elements differ"},
        {EXPECT_ROW("\"expect\":{\"y\":\"@/e.npy\"},\"rtol\":0.01"), "1.501f", 0, "1 of 1 as expected"},
        {EXPECT_ROW("\"expect\":{\"y\":\"@/e.npy\"},\"atol\":0.1"), "1.501f", 1, "buffer y: 156 of 256 elements differ"},
        {EXPECT_ROW("\"expect\":{\"z\":\"@/e.npy\"}"), "1.5f", 2, "no buffer is named 'z'"},
        {EXPECT_ROW("\"expect\":{\"y\":\"@/none.npy\"}"), "1.5f", 2, "none.npy"},
        {EXPECT_ROW("\"expect\":{\"y\":3}"), "1.5f", 2, "expect.y"},
    };
    use_own_cache();
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        char text[600] = "";
        for (const char *at = rows[i].text; *at; at++) {
            const size_t used = strlen(text);
            snprintf(text + used, sizeof text - used, *at == '@' ? "%s" : "%.1s", *at == '@' ? home.folder : at);
        }
        suite_write_text(home.folder, "expect.json", text);
        if (!cli_ask(&home, "run %s" STEP "--args f32:256:seq --args out:f32:256:$/e.npy --args %s --args 256", two(),
                     rows[i].factor))
            return;
        CHECK(home.outcome.code == 0, "%s", home.outcome.err);
        cli_ask(&home, "run $/expect.json --rerun");
        CHECK(home.outcome.code == rows[i].code, "row %zu: code %d: %s", i, home.outcome.code, home.outcome.err);
        CHECK(strstr(home.outcome.out, rows[i].says) || strstr(home.outcome.err, rows[i].says), "row %zu: %s", i,
              home.outcome.err);
    }
}

/* Options behind the last workload alone hold for all, as do those in front. */
static void test_common_options(void)
{
    use_own_cache();
    if (!cli_ask(&home, "run %s + %s" STEP "--args x=f32:256:seq --args f32:256 --args 0.5f --args 256", two(), two()))
        return;
    CHECK(home.outcome.code == 2 && strstr(home.outcome.err, "step 2") && strstr(home.outcome.err, "x is there already"), "%s",
          home.outcome.err);
    cli_ask(&home,
            "run" STEP "%s --args x=f32:256:seq --args f32:256 --args 0.5f --args 256 + %s --args x --args f32:256 --args 1f "
            "--args 256",
            two(), two());
    CHECK(home.outcome.code == 0, "%s", home.outcome.err);
}

static void test_wrong_use(void)
{
    static const struct {
        const char *line; /* @ stands for the stored text with its entry and sizes */
        const char *says;
    } rows[] = {
        {"run @ --args x=f32:256 --args x --args 1f --args 2 + @ --args y --args x --args 1f --args 2", "no buffer is named 'y'"},
        {"run @ --args abc=f32:256 --args abc --args 1f --args 2 + @ --args abd --args abc --args 1f --args 2",
         "did you mean abc?"},
        {"run @ --args a=f32:256 --args a=f32:256 --args 1f --args 2 + @ --args a", "a is there already"},
        {"run @ --args 1=f32:256 --args f32:256 --args 1f --args 2 + @ --args a", "argument '1=f32:256'"},
        {"run @ --args x=f32:256 --args x --args 1f + @ --args x --args x --args 1f --args 2", "step 1"},
        {"run @ --args x=f32:256 --args x --args 1f --args 2 + @ --args x --args x", "step 2"},
        {"run @ --grid 3 --args x=f32:256 + @ --args x", "--grid is given twice"},
        {"run @ --chip m1 --args x=f32:256 + @ --chip m2 --args x", "--chip is given twice"},
        {"run @ --args x=f32:256 --args x --args 1f --args 2 + @ --args x --args x --args 1f --args 2 --precision f16",
         "--precision makes no sense"},
        {"run @ --args x=f32:256 --args x --args 1f --args 2 + @ --args x --args x --args 1f --args 2 --trace $/t", "trace"},
        {"run $/a.json", "steps[0].kernel: is missing"},
        {"run $/b.json", "unknown member \"gird\"; did you mean grid?"},
        {"run $/c.json", "buffer x: no step uses it"},
        {"run $/d.json", "steps[0].grid"},
        {"run $/e.json", "expected an array of 1 to 64"},
        {"run $/f.json --entry scale", "--entry makes no sense"},
    };
    use_own_cache();
    suite_write_text(home.folder, "a.json", "{\"steps\":[{\"entry\":\"scale\"}]}");
    suite_write_text(home.folder, "b.json", "{\"steps\":[{\"kernel\":\"two.ll\",\"gird\":4}]}");
    suite_write_text(home.folder, "c.json",
                     "{\"buffers\":{\"x\":\"f32:4\"},\"steps\":[" FILE_STEP("two.ll") "[\"f32:256\",\"f32:256\",\"1f\",1]}]}");
    suite_write_text(home.folder, "d.json", "{\"steps\":[{\"kernel\":\"two.ll\",\"grid\":\"4y\"}]}");
    suite_write_text(home.folder, "e.json", "{\"steps\":[]}");
    suite_write_text(home.folder, "f.json", "{\"steps\":[" FILE_STEP("two.ll") "[\"f32:256\",\"f32:256\",\"1f\",1]}]}");
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        char line[1200] = "";
        for (const char *at = rows[i].line; *at; at++) {
            const size_t used = strlen(line);
            snprintf(line + used, sizeof line - used, *at == '@' ? "%s" STEP : "%.1s", *at == '@' ? two() : at);
        }
        if (!cli_ask(&home, "%s", line))
            return;
        CHECK(home.outcome.code == 2, "%s: code %d, %s", rows[i].line, home.outcome.code, home.outcome.err);
        CHECK(strstr(home.outcome.err, rows[i].says) != NULL, "%s: %s", rows[i].line, home.outcome.err);
    }
}

static void test_cleans_up(void)
{
    CU_ASSERT_TRUE(cli_home_remove(&home));
}

static const struct suite_test tests[] = {
    {"steps share buffers, one command buffer or three", test_row},
    {"timing alone gives the same time", test_only_time},
    {"a file says the same", test_file},
    {"expected contents", test_expected},
    {"options of all", test_common_options},
    {"wrong use", test_wrong_use},
    {"nothing is left", test_cleans_up},
};
SUITE_MAIN("row cli", tests)
