/* orchard run --profile from outside: the listing, the document, runs that are found again, the page. Begins at stored text of
 * the compiler, so that no clang is needed; sources in Metal with clang 16. */
#include "sim/base/file_read.h"
#include "tests/reports/html_check.h"
#include "tests/support/cli_binary.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct cli_home home = {.name = "profile", .options = "-q"};

static const char *two(void)
{
    return suite_golden("agx/source/two.ll");
}

#define LAUNCH "--entry scale --grid 8192 --group 64 --args f32:8192:seq --args f32:8192 --args 0.5f --args 8000"

static bool ask_profile(const char *option)
{
    cli_home_open(&home);
    setenv("XDG_CACHE_HOME", home.folder, 1);
    return cli_ask(&home, "run %s " LAUNCH " %s", two(), option);
}

static void test_listing(void)
{
    if (!ask_profile("--profile"))
        return;
    const char *const out = home.outcome.out;
    CHECK(home.outcome.code == 0, "%s", home.outcome.err);
    CHECK(strstr(out, "profile      scale on m1") && strstr(out, "of these") && strstr(out, "memory"), "%s", out);
    CHECK(!strstr(out, "device_store"), "machine code was not asked for");
    ask_profile("--profile=asm");
    CHECK(home.outcome.code == 0 && strstr(home.outcome.out, "device_store"), "%s%s", home.outcome.out, home.outcome.err);
    ask_profile("--profile --chip m1,m2,m3");
    CHECK(strstr(home.outcome.out, "scale on m1") && strstr(home.outcome.out, "scale on m2") &&
              strstr(home.outcome.out, "scale on m3"),
          "%s", home.outcome.out);
    ask_profile("--profile=source");
    CHECK(home.outcome.code == 2 && strstr(home.outcome.err, "expected nothing or asm"), "%s", home.outcome.err);
    cli_ask(&home, "run gemm:64x64x64 --unit gpu --profile + gemm:64x64x64 --unit gpu");
    CU_ASSERT_EQUAL(home.outcome.code, 2);
}

/* The text of the member "profile"; to be freed. */
static char *profile_of(void)
{
    json_object *const document = cli_document(&home.outcome), *profile = NULL;
    char *text = NULL;
    if (document && json_object_object_get_ex(document, "profile", &profile))
        text = strdup(json_object_to_json_string(profile));
    json_object_put(document);
    return text;
}

static void check_document(void)
{
    json_object *const document = cli_document(&home.outcome);
    if (!document)
        return;
    json_object *const lines = document_at(document, "/profile/kernels/0/lines");
    double cycles = document_number(document, "/profile/kernels/0/idle_cycles"), issued = 0;
    for (size_t i = 0; i < json_object_array_length(lines); i++) {
        json_object *const line = json_object_array_get_idx(lines, i);
        double sum = 0;
        cycles += document_number(line, "cycles");
        issued += document_number(line, "instructions");
        json_object_object_foreach(document_at(line, "stalls"), name, value)
        {
            (void)name;
            sum += json_object_get_double(value);
        }
        CHECK(fabs(sum - document_number(line, "cycles")) < 1e-6 * sum + 1e-9, "line %zu: its reasons make %g cycles", i, sum);
    }
    CU_ASSERT_EQUAL(issued, document_number(document, "/counters/gpu.simdgroup_instructions"));
    CHECK(fabs(cycles - document_number(document, "cycles")) < 1, "%g of %g cycles", cycles, document_number(document, "cycles"));
    json_object_put(document);
}

/* A run is found with its profile, and one without a profile is another run. */
static void test_document(void)
{
    if (!ask_profile("--json"))
        return;
    CU_ASSERT_PTR_NULL(strstr(home.outcome.out, "\"profile\""));
    ask_profile("--json --profile");
    char *const first = profile_of();
    check_document();
    ask_profile("--json --profile");
    char *const again = profile_of();
    CU_ASSERT(first && again && strcmp(first, again) == 0);
    ask_profile("--json --profile --rerun");
    char *const anew = profile_of();
    CU_ASSERT(first && anew && strcmp(first, anew) == 0);
    free(first);
    free(again);
    free(anew);
    ask_profile("--json");
    CU_ASSERT_PTR_NULL(strstr(home.outcome.out, "\"profile\""));
}

static void test_database(void)
{
    if (!ask_profile("--profile --json --rerun"))
        return;
    if (cli_ask(&home, "db check"))
        CHECK(home.outcome.code == 0 && strstr(home.outcome.out, " 0 failed"), "%s%s", home.outcome.out, home.outcome.err);
    cli_ask(&home, "db export v_profile_lines");
    CHECK(home.outcome.code == 0 && strstr(home.outcome.out, "scale,"), "%s%s", home.outcome.out, home.outcome.err);
}

static char *read_text(const char *name)
{
    char path[256];
    uint8_t *bytes = NULL;
    size_t size;
    snprintf(path, sizeof path, "%s/%s", home.folder, name);
    FILE *const f = fopen(path, "rb");
    const bool ok = f && file_read_all(f, 1 << 24, &bytes, &size);
    if (f)
        fclose(f);
    return ok ? (char *)bytes : NULL;
}

/* The page has the source with a bar for each line, its instructions, and the warning; it is strict HTML and loads nothing. */
static void check_page(const char *source, const char *warning)
{
    struct html_sums sums;
    cli_ask(&home, "report -o $/page.html");
    CHECK(home.outcome.code == 0, "%s", home.outcome.err);
    char *const page = read_text("page.html");
    CU_ASSERT_PTR_NOT_NULL_FATAL(page);
    CHECK(html_check(page, &sums), "%s", sums.error);
    CHECK(strstr(page, ">Source</h2>") && strstr(page, "Instructions of "), "no source on the page");
    CHECK(!source || strstr(page, source), "%s is not on the page", source);
    CHECK(!warning || strstr(page, warning), "%s is not on the page", warning);
    free(page);
}

static void test_page(void)
{
    if (!ask_profile("--profile --rerun"))
        return;
    check_page(NULL, NULL);
    cli_ask(&home, "report --figure scale -o $/scale.svg");
}

static bool missing_clang(void)
{
    if (system("command -v clang-16 >/dev/null 2>&1") == 0)
        return false;
    suite_skip("clang-16 is not installed");
    return true;
}

static const char metal[] = "#include <metal_stdlib>\n"
                            "using namespace metal;\n"
                            "\n"
                            "kernel void columns(device const float *a, device float *b, constant uint &n,\n"
                            "                    uint i [[thread_position_in_grid]])\n"
                            "{\n"
                            "    float sum = 0;\n"
                            "    for (uint k = 0; k < n; k++)\n"
                            "        sum = fma(a[i * n + k], 2.0f, sum);\n"
                            "    b[i] = sum;\n"
                            "}\n";

/* Code that comes from our headers (fma, the position) belongs to the lines that use it. */
static void test_metal(void)
{
    if (missing_clang())
        return;
    cli_home_open(&home);
    setenv("XDG_CACHE_HOME", home.folder, 1);
    suite_write_text(home.folder, "columns.metal", metal);
    if (!cli_ask(&home,
                 "run $/columns.metal --grid 4096 --group 128 --args f32:262144:rand:1 --args f32:4096 --args u32:1:fill:64 "
                 "--profile --json"))
        return;
    json_object *const document = cli_document(&home.outcome);
    if (!document)
        return;
    CHECK(strstr(document_text(document, "/profile/warnings/0/place"), "columns.metal:9") != NULL, "%s", home.outcome.out);
    CU_ASSERT_STRING_EQUAL(document_text(document, "/profile/warnings/0/kind"), "uncoalesced");
    json_object *const lines = document_at(document, "/profile/kernels/0/lines");
    double inside = 0;
    for (size_t i = 0; i < json_object_array_length(lines); i++) {
        json_object *const line = json_object_array_get_idx(lines, i);
        if (json_object_get_int(json_object_object_get(line, "line")) == 9) {
            inside = document_number(line, "share");
            CU_ASSERT_STRING_EQUAL(document_text(line, "text"), "        sum = fma(a[i * n + k], 2.0f, sum);");
        }
        if (document_number(line, "instructions") > 0 && json_object_object_get(line, "line"))
            CHECK(strstr(document_text(line, "file"), "columns.metal") != NULL, "code of another file: %s",
                  document_text(line, "file"));
    }
    CHECK(inside > 0.8, "line 9 takes %g of the cycles", inside);
    json_object_put(document);
    check_page("sum = fma(a[i * n + k], 2.0f, sum);", "columns.metal:9: uncoalesced");
    cli_ask(&home, "compile $/columns.metal -o $/folder");
    char *const abi = read_text("folder/abi.json");
    CHECK(abi && strstr(abi, "sum = fma(a[i * n + k], 2.0f, sum);"), "the folder has no texts");
    free(abi);
}

static void test_explain(void)
{
    if (!ask_profile("--explain"))
        return;
    CHECK(strstr(home.outcome.out, "registers    ") && strstr(home.outcome.out, " half registers a thread"), "%s",
          home.outcome.out);
    CHECK(strstr(home.outcome.out, "simdgroups   ") && strstr(home.outcome.out, "the launch is too small"), "%s",
          home.outcome.out);
    CHECK(strstr(home.outcome.out, "mix          ") && strstr(home.outcome.out, "device loads"), "%s", home.outcome.out);
    CU_ASSERT_PTR_NULL(strstr(home.outcome.out, "spills  "));
}

/* More values than registers, all needed in a loop. */
static void test_spills(void)
{
    static const char spilled[] = "#include <metal_stdlib>\nusing namespace metal;\n"
                                  "kernel void k(device const float *a, device float *b, constant uint &n,\n"
                                  "              uint i [[thread_position_in_grid]])\n{\n"
                                  "    float v[160];\n"
                                  "    #pragma unroll\n"
                                  "    for (uint k = 0; k < 160; k++)\n        v[k] = a[i + k * 64];\n"
                                  "    for (uint lap = 0; lap < n; lap++) {\n"
                                  "        #pragma unroll\n"
                                  "        for (uint k = 0; k < 160; k++)\n"
                                  "            v[k] = v[k] * v[(k + 37) % 160] + 0.5f;\n"
                                  "    }\n"
                                  "    float sum = 0;\n"
                                  "    #pragma unroll\n"
                                  "    for (uint k = 0; k < 160; k++)\n        sum += v[k];\n"
                                  "    b[i] = sum;\n}\n";
    if (missing_clang())
        return;
    cli_home_open(&home);
    setenv("XDG_CACHE_HOME", home.folder, 1);
    suite_write_text(home.folder, "spilled.metal", spilled);
    if (!cli_ask(&home, "run $/spilled.metal --grid 4096 --group 256 --args f32:65536:rand:1 --args f32:4096 --args "
                        "u32:1:fill:8 --profile --explain"))
        return;
    CHECK(strstr(home.outcome.out, "spilled.metal:13: spill in a loop: ") != NULL, "%s", home.outcome.out);
    CHECK(strstr(home.outcome.out, "spills       ") && strstr(home.outcome.out, " bytes of stack a thread; "), "%s",
          home.outcome.out);
}

static void test_cleans_up(void)
{
    CU_ASSERT_TRUE(cli_home_remove(&home));
}

static const struct suite_test tests[] = {
    {"the listing", test_listing},     {"the document, found again", test_document},
    {"the database", test_database},   {"the page", test_page},
    {"a source in Metal", test_metal}, {"explain of a kernel", test_explain},
    {"spills in a loop", test_spills}, {"nothing is left", test_cleans_up},
};
SUITE_MAIN("profile cli", tests)
