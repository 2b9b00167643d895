/* orchard measure from outside: the steps are compiled and executed here, their answers are read, and bad answers are named. */
#include "isa/array_count.h"
#include "tests/support/cli_binary.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static struct cli_home home = {.name = "measure", .options = ""};

/* Exit code of a line of the shell in which $ stands for the folder; what it prints goes into `said`. */
static int shell(const char *line, char *said, size_t size)
{
    char command[1000];
    size_t used = 0;
    for (; *line && used + 80 < sizeof command; line++)
        used +=
            (size_t)(*line == '$' ? snprintf(command + used, 70, "%s", home.folder) : snprintf(command + used, 2, "%c", *line));
    snprintf(command + used, sizeof command - used, " 2>&1");
    FILE *const pipe = popen(command, "r");
    const size_t got = pipe ? fread(said, 1, size - 1, pipe) : 0;
    said[got] = 0;
    const int status = pipe ? pclose(pipe) : -1;
    return status != -1 && WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static bool has_tool(const char *name)
{
    char command[100], said[200];
    snprintf(command, sizeof command, "command -v %s", name);
    if (shell(command, said, sizeof said) == 0)
        return true;
    suite_skip("a tool that this test needs is not installed");
    return false;
}

/* Objects of an earlier build are kept: only the cases differ. */
static bool build(const char *request, char *said, size_t size)
{
    cli_home_open(&home);
    if (!cli_ask(&home, "%s -o $/mac", request) || !has_tool("aarch64-linux-gnu-gcc"))
        return false;
    CHECK(home.outcome.code == 0 && strstr(home.outcome.out, "sh run.sh") != NULL, "%s%s", home.outcome.out, home.outcome.err);
    const int code =
        shell("CC='aarch64-linux-gnu-gcc -march=armv8.4-a+fp16+dotprod -static -Wextra -Werror' sh $/mac/build.sh", said, size);
    CHECK(code == 0, "build.sh: %d %s", code, said);
    return code == 0;
}

/* The NEON code computes what a plain sum does, in all types and where sizes are no multiples of tiles. */
static void test_neon_steps_run_under_qemu(void)
{
    char said[8000];
    if (!has_tool("qemu-aarch64-static") ||
        !build("measure gemm:65x67x63 gemm:16x48x80 --unit cpu --precision f32,f16,bf16,i8", said, sizeof said))
        return;
    CU_ASSERT_EQUAL(shell("qemu-aarch64-static $/mac/build/bench 'Apple M2 Pro' 8 4 19 'Linux, qemu' 3", said, sizeof said), 0);
    unsigned right = 0;
    for (const char *at = said; (at = strstr(at, ",right\n")); at++)
        right++;
    CHECK(right == 8 * 3 && !strstr(said, "wrong"), "%u right of 24: %s", right, said);
}

/* The program that a Mac would run, run by orchard: what comes back is read, and validate predicts it as far as one core that
 * repeats a product is like one that does it once. */
static void test_answers_of_a_simulated_chip_come_back(void)
{
    static char said[60000];
    if (!build("measure gemm:128x128x128 --precision f32", said, sizeof said))
        return;
    cli_ask(&home, "run $/mac/build/bench --args Apple_M2 --args 4 --args 4 --args 10 --args here --args 3 --chip m2 --json");
    json_object *const d = cli_document(&home.outcome);
    char path[128];
    snprintf(path, sizeof path, "%s/result.csv", home.folder);
    FILE *const f = d ? fopen(path, "w") : NULL;
    CHECK(f && fputs(document_text(d, "/program_output"), f) >= 0 && fclose(f) == 0, "%s", path);
    json_object_put(d);
    cli_ask(&home, "measure read $/result.csv --chip m2 -o $/rows.csv");
    CHECK(home.outcome.code == 0 && strstr(home.outcome.err, "2 rows of m2_4p4e_10g") != NULL, "%s", home.outcome.err);
    cli_ask(&home, "validate $/rows.csv --csv");
    unsigned rows = 0;
    for (const char *at = home.outcome.out; (at = strstr(at, "\nrows:")); at++, rows++) {
        double predicted = NAN, measured = NAN;
        sscanf(strchr(at, ','), ",%lf,%lf", &predicted, &measured);
        CHECK(fabs(predicted / measured - 1) < 0.15, "%.80s", at + 1);
    }
    CHECK(rows == 2, "%u rows: %s%s", rows, home.outcome.out, home.outcome.err);
    cli_ask(&home, "calibrate $/rows.csv --vary amx.clock_ghz --folds 0 --dry-run");
    CHECK(home.outcome.code == 0 && strstr(home.outcome.out, "2 rows fitted of 2") != NULL, "%s%s", home.outcome.out,
          home.outcome.err);
}

/* ---- the GPU ---- */

/* The shaders that a Mac compiles, compiled by orchard, take as long as the kernels of the library that validate simulates in
 * their place. */
static void test_streams_are_those_of_the_library(void)
{
    static const struct {
        const char *entry, *arguments, *library;
    } rows[] = {
        {"scale_f32", "--args f32:262144:rand:1 --args out:f32:262144", "stream-scale:1MiB"},
        {"add_f32", "--args f32:262144:rand:1 --args f32:262144:rand:2 --args out:f32:262144", "stream-add:1MiB"},
        {"triad_f32", "--args f32:262144:rand:1 --args f32:262144:rand:2 --args out:f32:262144", "stream-triad:1MiB"},
    };
    if (!has_tool("clang-16") || !cli_ask(&home, "measure copy:64KiB stream-triad:1MiB -o $/gpu"))
        return;
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        cli_ask(&home, "run $/gpu/streams.metal --entry %s --grid 65536 --group 256 %s:$/out.npy --json", rows[i].entry,
                rows[i].arguments);
        json_object *const theirs = cli_document(&home.outcome);
        cli_ask(&home, "run %s --unit gpu --json", rows[i].library);
        json_object *const ours = cli_document(&home.outcome);
        const double ratio = document_number(theirs, "device_seconds") / document_number(ours, "device_seconds");
        CHECK(fabs(ratio - 1) < 0.02, "%s: %g of the time of %s", rows[i].entry, ratio, rows[i].library);
        json_object_put(theirs);
        json_object_put(ours);
    }
}

/* And so does the product, whose tile the library is told. */
static void test_the_product_is_that_of_the_library(void)
{
    if (!has_tool("clang-16") || !cli_ask(&home, "measure gemm:512x512x512 --unit gpu -o $/gpu"))
        return;
    cli_ask(&home,
            "run $/gpu/gemm.metal --entry gemm --grid 1024x8 --group 128 --args f32:512x512:rand:1 --args f32:512x512:rand:2 "
            "--args f32:512x512 --args u32:1:fill:512 --args u32:1:fill:512 --mode timing --json");
    json_object *const theirs = cli_document(&home.outcome);
    cli_ask(&home, "run gemm:512x512x512,split=1,tile=64x64 --unit gpu --mode timing --json");
    json_object *const ours = cli_document(&home.outcome);
    const double ratio = document_number(theirs, "device_seconds") / document_number(ours, "device_seconds");
    CHECK(fabs(ratio - 1) < 0.1, "%g of the time of the library's", ratio);
    json_object_put(theirs);
    json_object_put(ours);
}

/* There is no Metal here: a compiler looks at names and types, with declarations of the interface beside the tests. */
static void test_the_program_for_the_gpu_keeps_to_metals_interface(void)
{
    char said[4000], line[500];
    if (!has_tool("clang-16") || !cli_ask(&home, "measure copy:64KiB stream-triad:1MiB -o $/gpu") ||
        !cli_ask(&home, "measure copy:64KiB gemm:512x512x512 --unit gpu -o $/gpu"))
        return;
    snprintf(
        line, sizeof line,
        "clang-16 -fobjc-runtime=macosx-13 -fobjc-arc -std=gnu11 -fsyntax-only -Wall -Wextra -Werror -I%s/tests/sim/cmd/apple "
        "-I$/gpu $/gpu/bench_gpu.m",
        ORCHARD_SOURCE_DIR);
    const int code = shell(line, said, sizeof said);
    CHECK(code == 0, "%s", said);
}

#define GPU(seconds)     "Apple M1,4,4,8,macOS 15.1,gpu,copy:2097152,f32,1," seconds ",right\n"
#define PRODUCT(seconds) "Apple M1,4,4,8,macOS 15.1,gpu,\"gemm:128x128x128,split=1,tile=64x64\",f32,1," seconds ",right\n"

static bool write_result(const char *text);

static void test_answers_of_the_gpu_come_back(void)
{
    if (!write_result("machine,p_cores,e_cores,gpu_cores,os,unit,workload,precision,pass,seconds,result\n" GPU("4.1e-5")
                          GPU("3.9e-5") GPU("4.0e-5") PRODUCT("6.5e-6") PRODUCT("7e-6") PRODUCT("6e-6")))
        return;
    cli_ask(&home, "measure read $/result.csv -o $/rows.csv");
    CHECK(home.outcome.code == 0, "%s", home.outcome.err);
    cli_ask(&home, "validate $/rows.csv --csv");
    CHECK(home.outcome.code == 0 && strstr(home.outcome.out, "\nrows:2,") && strstr(home.outcome.out, "\nrows:3,"), "%s%s",
          home.outcome.out, home.outcome.err);
    cli_ask(&home, "validate $/rows.csv --dump rows:2");
    CHECK(strstr(home.outcome.out, "run copy:2097152 --unit gpu") && strstr(home.outcome.err, "device_seconds"), "%s%s",
          home.outcome.out, home.outcome.err);
    cli_ask(&home, "calibrate $/rows.csv --vary mem.slc_gbps --folds 0 --dry-run");
    CHECK(home.outcome.code == 0 && strstr(home.outcome.out, "2 rows fitted of 2"), "%s%s", home.outcome.out, home.outcome.err);
}

#define NAMES                     "machine,p_cores,e_cores,gpu_cores,os,unit,workload,precision,pass,seconds,result\n"
#define M1(pass, seconds, result) "Apple M1,4,4,8,macOS 15.1,amx,gemm:64x64x64,f32," pass "," seconds "," result "\n"
#define SOUND                     M1("1", "2.0e-06", "right") M1("2", "3e-06", "right") M1("3", "2.2e-06", "right")

static bool write_result(const char *text)
{
    char path[128];
    cli_home_open(&home);
    snprintf(path, sizeof path, "%s/result.csv", home.folder);
    FILE *const f = fopen(path, "w");
    return f && fputs(text, f) >= 0 && fclose(f) == 0;
}

static void test_the_median_is_the_row(void)
{
    if (!write_result(NAMES SOUND) || !cli_ask(&home, "measure read $/result.csv"))
        return;
    CHECK(strstr(home.outcome.out,
                 "\n,M1,M1,8,amx,gemm:64x64x64,f32,,time,0.0022,ms,,\"1 thread(s), median of 3 passes, 0.002 to "
                 "0.003 ms\",orchard measure on macOS 15.1,measured,,,,m1_4p4e_8g\n") != NULL,
          "%s%s", home.outcome.out, home.outcome.err);
}

static void test_bad_answers_are_named(void)
{
    static const struct {
        const char *text, *says;
    } rows[] = {
        {NAMES SOUND M1("4", "nan", "right"), "result.csv:5:"},
        {NAMES SOUND M1("4", "nan", "right"), "column 'seconds' is 'nan': not a finite number; measure again"},
        {NAMES SOUND M1("4", "2.0 ms", "right"), "'2.0 ms': not a finite number"},
        {NAMES SOUND M1("4", "2000", "right") M1("5", "20000", "right"),
         "result.csv:6:51: column 'seconds' is '20000': not the time"},
        {NAMES SOUND M1("4", "0", "right"), "write seconds, not another unit"},
        {NAMES SOUND M1("4", "2e-6", "wrong"), "the result was not right; do not use it"},
        {NAMES SOUND "Apple M2,4,4,8,macOS 15.1,amx,gemm:64x64x64,f32,4,2e-6,right\n", "another machine than in line 2"},
        {NAMES SOUND "Apple M1,4,4,8,macOS 15.1,gpu,softmax:64x64,f32,4,2e-6,right\n",
         "no steps to measure 'softmax:64x64' on gpu"},
        {NAMES SOUND "Apple M1,4,4\n", "result.csv:5:"},
        {NAMES M1("1", "2e-6", "right"), "result.csv:2: gemm:64x64x64 f32 on amx has 1 passes; measure at least 3"},
        {NAMES, "no line of a pass"},
        {"", "result.csv"},
        {"machine,p_cores,e_cores,gpu_cores,os,unit,workload,precision,pass,ms,result\n", "no column 'seconds'"},
        {NAMES "Apple M9,4,4,8,macOS 15.1,amx,gemm:64x64x64,f32,1,2e-6,right\n", "no chip 'm9_4p4e_8g' is known: name the one"},
    };
    char path[128];
    cli_home_open(&home);
    snprintf(path, sizeof path, "%s/none.csv", home.folder);
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        if (!write_result(rows[i].text) || !cli_ask(&home, "measure read $/result.csv -o $/none.csv"))
            return;
        CHECK(home.outcome.code == 2 && strstr(home.outcome.err, rows[i].says) != NULL, "%zu: %d %s", i, home.outcome.code,
              home.outcome.err);
        CHECK(access(path, F_OK) != 0, "%zu: something was written", i);
    }
}

static void test_what_has_no_steps_is_refused(void)
{
    static const struct cli_wrong rows[] = {
        {"measure", 2, "measure gemm:512x512x512"},
        {"measure softmax:64x64 --unit gpu", 3, "stream-triad, as copy:64MiB"},
        {"measure gemm:64x64x60 --unit gpu", 2, "multiples of 64 and K of 32"},
        {"measure gemm:64x64x64,tb=1 --unit gpu", 2, "gemm:MxNxK, as"},
        {"measure gemm:64x64x64 --unit gpu --precision f16", 3, "no steps to measure f16 on gpu"},
        {"measure gemm:64x64x64 --unit ane", 3, "cpu, amx and gpu"},
        {"measure copy:63KB", 2, "multiples of 4 KiB"},
        {"measure copy:8GiB", 2, "up to 4 GiB"},
        {"measure copy:64MiB --precision f16", 3, "no steps to measure f16 on gpu"},
        {"measure copy:64MiB --unit cpu", 3, "on cpu: they have gemm:MxNxK"},
        {"measure gemm:64x64x64 --unit amx --precision f16", 3, "no steps to measure f16 on amx"},
        {"measure softmax:64x64", 3, "gemm:MxNxK"},
        {"measure gemm:64x64x64,tb=1", 2, "gemm:MxNxK"},
        {"measure gemm:8x64x64", 2, "sizes are 16 to"},
        {"measure gemm:64x64x64 -o /", 2, "holds other things"},
        {"measure read", 2, "result.csv"},
        {"measure read /nonexistent.csv", 2, "/nonexistent.csv"},
    };
    cli_all_wrong(&home, rows, ARRAY_COUNT(rows));
}

static void test_scripts_are_sound(void)
{
    char said[4000];
    if (!has_tool("shellcheck") || !cli_ask(&home, "measure gemm:64x64x64 copy:64KiB -o $/scripts"))
        return;
    CHECK(shell("shellcheck $/scripts/run.sh $/scripts/build.sh", said, sizeof said) == 0, "%s", said);
    CHECK(shell("sh $/scripts/run.sh", said, sizeof said) == 1 && strstr(said, "copy the folder to a Mac") != NULL, "%s", said);
    cli_home_remove(&home);
}

static const struct suite_test tests[] = {
    {"NEON steps run under qemu", test_neon_steps_run_under_qemu},
    {"answers of a simulated chip come back", test_answers_of_a_simulated_chip_come_back},
    {"streams of the GPU are those of the library", test_streams_are_those_of_the_library},
    {"the product of the GPU is that of the library", test_the_product_is_that_of_the_library},
    {"the program for the GPU keeps to Metal's interface", test_the_program_for_the_gpu_keeps_to_metals_interface},
    {"answers of the GPU come back", test_answers_of_the_gpu_come_back},
    {"the median is the row", test_the_median_is_the_row},
    {"bad answers are named", test_bad_answers_are_named},
    {"what has no steps is refused", test_what_has_no_steps_is_refused},
    {"scripts are sound", test_scripts_are_sound},
};
SUITE_MAIN("measure from outside", tests)
