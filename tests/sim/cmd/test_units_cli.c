/* A kernel on all units, on the fastest one, and what the placement says; kernels of the NEON library from the command line. */
#include "isa/array_count.h"
#include "tests/support/cli_binary.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct cli_home home = {.name = "units", .options = "-q"};

/* The document of a command, NULL when it fails. */
static json_object *ask(const char *line)
{
    return cli_ask(&home, "%s", line) ? cli_document(&home.outcome) : NULL;
}

static void test_all_units(void)
{
    static const char *const units[] = {"amx", "gpu", "ane", "cpu"};
    json_object *const d = ask("run gemm:128x96x64 --unit all --chip m1,m2 --json");
    CHECK(!d || json_object_array_length(d) == 8, "%zu rows", d ? json_object_array_length(d) : 0);
    for (size_t i = 0; d && i < json_object_array_length(d); i++) {
        json_object *const row = json_object_array_get_idx(d, i);
        CHECK(strcmp(document_text(row, "unit"), units[i % 4]) == 0, "row %zu is of %s", i, document_text(row, "unit"));
        CU_ASSERT_STRING_EQUAL(document_text(row, "precision"), "f16");
        CHECK(document_number(row, "seconds") > 0 && document_number(row, "macs") == 128 * 96 * 64, "row %zu", i);
    }
    json_object_put(d);
    json_object *const f32 = ask("run gemm:128x96x64 --unit all --precision f32 --json");
    CHECK(!f32 || json_object_array_length(f32) == 3, "the Neural Engine has no f32");
    json_object_put(f32);
    cli_home_remove(&home);
}

/* The fastest of the single answers, at the precision of them all. */
static void check_fastest(const char *workload)
{
    static const char *const units[] = {"cpu", "gpu", "amx"};
    double best = INFINITY;
    const char *name = "";
    for (size_t i = 0; i < ARRAY_COUNT(units); i++) {
        if (!cli_ask(&home, "run %s --unit %s --json --chip m1", workload, units[i]) || home.outcome.code != 0)
            continue;
        json_object *const d = cli_document(&home.outcome);
        const double seconds = d ? document_number(d, "seconds") : INFINITY;
        if (seconds < best) {
            best = seconds;
            name = units[i];
        }
        json_object_put(d);
    }
    if (cli_ask(&home, "run %s --unit auto --json --rerun --chip m1", workload)) {
        json_object *const d = cli_document(&home.outcome);
        CHECK(d && strcmp(document_text(d, "unit"), name) == 0 && document_number(d, "seconds") == best, "%s: %s instead of %s",
              workload, d ? document_text(d, "unit") : "nothing", name);
        CHECK(d && strstr(document_text(d, "/placement/0/why"), "the fastest, as predicted"), "%s",
              d ? document_text(d, "/placement/0/why") : "");
        json_object_put(d);
    }
}

static void test_fastest_unit(void)
{
    check_fastest("gemm:128x128x128");
    check_fastest("softmax:8x100");
    check_fastest("elementwise:512K,op=gelu");
    cli_home_remove(&home);
}

/* Whether other units have the kernel. */
static void test_placement_is_true(void)
{
    static const struct {
        const char *line, *why;
    } rows[] = {{"run gemm:64x64x64 --json", "gpu, ane, cpu have this kernel, too"},
                {"run gemm:64x64x64 --unit cpu --json", "amx, gpu, ane have this kernel, too"},
                {"run rope:h=1,s=4,d=8 --unit cpu --json", "gpu has this kernel, too"}};
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        json_object *const d = ask(rows[i].line);
        CHECK(!d || strcmp(document_text(d, "/placement/0/why"), rows[i].why) == 0, "%s: %s", rows[i].line,
              document_text(d, "/placement/0/why"));
        json_object_put(d);
    }
    cli_home_remove(&home);
}

static void test_cores_share_a_kernel(void)
{
    double before = INFINITY, first = 0;
    for (unsigned cores = 1; cores <= 8; cores *= 2) {
        if (!cli_ask(&home, "run gemm:384x240x256 --unit cpu --chip m1 --cores %u --json", cores))
            break;
        json_object *const d = cli_document(&home.outcome);
        const double seconds = d ? document_number(d, "seconds") : NAN;
        CHECK(seconds < before / (cores == 1   ? 1
                                  : cores <= 4 ? 1.7
                                               : 1.15),
              "%u cores take %g s, fewer %g", cores, seconds, before);
        before = seconds;
        first = cores == 1 && d ? document_number(d, "gflops") : first;
        json_object_put(d);
    }
    CHECK(first > 0.85 * 102.5 && first < 102.5, "%g GFLOPS on one core", first);
    if (cli_ask(&home, "run gemm:384x240x256 --unit cpu --chip m1 --cores 8 --explain"))
        CHECK(home.outcome.code == 0 &&
                  strstr(home.outcome.out, "neon_gemm_f32: 48 panels of 8 rows of c, of the threads 9 9 9 9 3 3 3 3"),
              "%.3000s", home.outcome.out);
    cli_home_remove(&home);
}

/* Seconds of all kernels of a network whose name begins so, and of all of them. Operators that only name a place take none. */
static double seconds_of(json_object *d, const char *kernel, double *all)
{
    json_object *const counters = document_at(d, "/counters"), *const places = document_at(d, "/placement");
    double sum = 0;
    *all = 0;
    for (size_t i = 0; i < json_object_array_length(places); i++) {
        char counter[60];
        snprintf(counter, sizeof counter, "network.kernel%zu.seconds", i + 1);
        json_object *const seconds = json_object_object_get(counters, counter);
        const char *const its = json_object_get_string(json_object_object_get(json_object_array_get_idx(places, i), "kernel"));
        *all += json_object_get_double(seconds);
        sum += its && strncmp(its, kernel, strlen(kernel)) == 0 ? json_object_get_double(seconds) : 0;
    }
    return sum;
}

/* A table of units names the kernel that takes most of a network. */
static void test_networks_name_their_main_kernel(void)
{
    json_object *const d = ask("run model:squeezenet --unit cpu --mode timing --json");
    double all = 0, share = 0;
    const double most = d ? seconds_of(d, "neon_conv_8x12_f32", &all) : 0;
    CHECK(d && cli_ask(&home, "run model:squeezenet --unit all --mode timing"), "no answer");
    const char *const row = strstr(home.outcome.out, "cpu f32"), *const kernel = row ? strstr(row, "neon_conv") : NULL;
    CHECK(kernel && sscanf(kernel, "%*s (%lf %%)", &share) == 1 && fabs(share - 100 * most / all) <= 0.5, "%g %% of %s",
          100 * most / all, row ? row : home.outcome.out);
    json_object_put(d);
    cli_home_remove(&home);
}

/* Units that refuse for one reason say it once. */
static void test_refusals_are_told_once(void)
{
    CHECK(cli_ask(&home, "run " ORCHARD_SOURCE_DIR "/tests/examples/models/digits.onnx --unit all") && home.outcome.code == 2,
          "exit %d", home.outcome.code);
    const char *const first = strstr(home.outcome.err, "dimensions that the file leaves open");
    CHECK(first && !strstr(first + 1, "dimensions that the file leaves open"), "%s", home.outcome.err);
    cli_home_remove(&home);
}

static void test_wrong_requests(void)
{
    static const struct {
        const char *line, *says;
        int code;
    } rows[] = {{"run gemm:8x8x8 --unit cpu --precision i16", "f32 f16 bf16 f64 i8", 2},
                {"run gemm:8x8x8 --unit cpu --entry main", "--entry", 2},
                {"run gemm:8x8x8 --unit cpu --cores 9 --chip m1", "4 P and 4 E", 2},
                {"run gemmm:8x8x8 --unit all", "did you mean gemm", 2},
                {"run conv-stack:layers=2,c=8,h=8,w=8 --unit cpu", "no version for this unit; the ane has", 3}};
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++)
        if (cli_ask(&home, "%s", rows[i].line))
            CHECK(home.outcome.code == rows[i].code && strstr(home.outcome.err, rows[i].says), "%s: %d %s", rows[i].line,
                  home.outcome.code, home.outcome.err);
    cli_home_remove(&home);
}

/* A chip that lacks the kernel or the memory is said and left out, wherever it stands; when none is left, it is an error. */
static void test_chips_are_left_out(void)
{
    static const struct {
        const char *line, *chip, *why;
    } cases[] = {
        {"run gemm:64x64x64 --precision bf16 --unit amx --chip m1,m2 --json", "m2_4p4e_10g", "M1 blocks have no bf16"},
        {"run gemm:64x64x64 --precision bf16 --unit amx --chip m2,m1 --json", "m2_4p4e_10g", "M1 blocks have no bf16"},
        {"run model:llama-7b --precision f16 --unit gpu --prompt 4 --generate 1 --chip m1,m1-max --json", "m1_max_8p2e_32g",
         "may hold 11.2 of 16 GiB"},
    };
    for (size_t i = 0; i < ARRAY_COUNT(cases); i++) {
        json_object *const d = ask(cases[i].line);
        CHECK(d && strcmp(document_text(d, "chip"), cases[i].chip) == 0, "%s: %s", cases[i].line, home.outcome.err);
        CHECK(strstr(home.outcome.err, cases[i].why) != NULL, "%s: %s", cases[i].line, home.outcome.err);
        json_object_put(d);
    }
    CU_ASSERT(cli_ask(&home, "run gemm:64x64x64 --precision bf16 --unit amx --chip m1,m1-max") && home.outcome.code == 3);
    cli_home_remove(&home);
}

static const struct suite_test tests[] = {
    {"all units at one precision", test_all_units},
    {"the fastest unit", test_fastest_unit},
    {"the placement is true", test_placement_is_true},
    {"cores share a kernel", test_cores_share_a_kernel},
    {"wrong requests are reported", test_wrong_requests},
    {"networks name their main kernel", test_networks_name_their_main_kernel},
    {"refusals are told once", test_refusals_are_told_once},
    {"chips that cannot answer are left out", test_chips_are_left_out},
};
SUITE_MAIN("units", tests)
