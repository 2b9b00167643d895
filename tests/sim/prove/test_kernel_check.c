/* orchard kernel check: real compiled kernels pass with exact counts. An altered expectation, code or count does not pass. */
#include "isa/array_count.h"
#include "sim/prove/check/gpu_kernels.h"
#include "tests/sim/agx_example.h"

#include <sys/stat.h>

static char folder[] = "/tmp/orchard-kernels-XXXXXX";

static void check(const char *path, const char *name, const struct check_gpu_options *options, struct check_report *report,
                  struct orch_error *error)
{
    *report = (struct check_report){0};
    *error = (struct orch_error){0};
    check_gpu_kernels(path, &name, name ? 1 : 0, options, report, error);
}

/* sgemm_tiled, stencil5, and histogram with both of its images. */
static void test_golden(void)
{
    static const struct check_gpu_options ways[] = {{1, false, false}, {4, false, false}, {1, true, false}, {1, false, true}};
    for (size_t i = 0; i < ARRAY_COUNT(ways); i++) {
        struct check_report report;
        struct orch_error error;
        check(suite_golden("agx/kernels"), NULL, &ways[i], &report, &error);
        CHECK(report.passed == 4 && report.failed == 0 && report.skipped == 0, "way %zu: %lu passed, %s%s", i, report.passed,
              error.text, report.failures.count ? report.failures.text[0] : "");
        check_report_free(&report);
    }
}

/* Writes a kernel: y = x * factor, x = 0 1 2 ... 95. */
static void write_kernel(const char *expected, const char *reference)
{
    char path[256], text[2048];
    snprintf(path, sizeof path, "%s/scale", folder);
    mkdir(path, 0777);
    example_write(path, "scale.s", example_scale, sizeof example_scale - 1);
    const int size =
        snprintf(text, sizeof text,
                 "{\"name\":\"scale\",\"files\":{\"code\":\"scale.s\"},\"launch\":{\"threadgroups\":[3]},%s\"args\":["
                 "{\"name\":\"xs\",\"dtype\":\"f32\",\"count\":96,\"initial\":\"index\",\"expected\":\"unchanged\"},"
                 "{\"name\":\"ys\",\"dtype\":\"f32\",\"count\":96,\"initial\":\"7\",%s\"compare\":{\"mode\":\"bits\"}},"
                 "{\"name\":\"factor\",\"value\":2}]}",
                 reference, expected);
    example_write(path, "abi.json", text, (size_t)size);
}

#define COUNTS(total, lanes, fmul)                                                                                               \
    "\"reference_run\":{\"simdgroup_instructions\":" total ",\"active_lane_instructions\":" lanes                                \
    ",\"by_mnemonic\":{\"get_sr\":3,\"device_load\":3,\"wait\":3,\"fmul32\":" fmul ",\"device_store\":3,\"stop\":3}},"

static void test_notices(void)
{
    static const struct {
        const char *expected, *reference, *says; /* NULL = passes */
    } rows[] = {
        {"\"expected\":\"2*index\",", COUNTS("18", "576", "3"), NULL},
        {"\"expected\":\"3*index\",", "", "ys: 95 of 96 elements differ, first [1]: got 2"},
        {"\"expected\":\"zeros\",", "", "ys: 95 of 96"},
        {"\"expected\":\"unchanged\",", "", "ys: 96 of 96"},
        {"\"expected_sha256\":\"0000000000000000000000000000000000000000000000000000000000000000\",", "", "SHA-256"},
        {"", COUNTS("19", "576", "3"), "simdgroup_instructions: got 18, expected 19"},
        {"", COUNTS("18", "575", "3"), "active_lane_instructions: got 576, expected 575"},
        {"", COUNTS("18", "576", "4"), "fmul32: issued 3 times, expected 4"},
        {"\"expected\":\"none.bin\",", "", "args[1].expected"},
    };
    const struct check_gpu_options options = {1, false, false};
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        struct check_report report;
        struct orch_error error;
        write_kernel(rows[i].expected, rows[i].reference);
        check(folder, NULL, &options, &report, &error);
        if (!rows[i].says)
            CHECK(report.passed == 1 && report.failed == 0, "row %zu: %s", i,
                  report.failures.count ? report.failures.text[0] : error.text);
        else
            CHECK(report.failed == 1 && report.passed == 0 && strstr(report.failures.text[0], rows[i].says), "row %zu: %s", i,
                  report.failures.count ? report.failures.text[0] : error.text);
        check_report_free(&report);
    }
}

static void test_names(void)
{
    const struct check_gpu_options options = {1, false, false};
    struct check_report report;
    struct orch_error error;
    write_kernel("\"expected\":\"2*index\",", "");
    check(folder, "scale", &options, &report, &error);
    CU_ASSERT_EQUAL(report.passed, 1);
    check_report_free(&report);
    check(folder, "scales", &options, &report, &error);
    CHECK(error.exit_code == ORCH_USAGE && strstr(error.text, "did you mean scale"), "%s", error.text);
    check("/nowhere", NULL, &options, &report, &error);
    CU_ASSERT_EQUAL(error.exit_code, ORCH_USAGE);
    check(suite_golden("db"), NULL, &options, &report, &error);
    CHECK(error.exit_code == ORCH_USAGE && strstr(error.text, "abi.json"), "%s", error.text);
}

static void test_all(void)
{
    const struct check_gpu_options options = {2, false, false};
    const char *shared = suite_shared("kernels/agx");
    struct check_report report;
    struct orch_error error;
    if (!shared) {
        suite_skip("the complete kernels are not here");
        return;
    }
    check(shared, NULL, &options, &report, &error);
    CHECK(report.failed == 0 && report.passed >= 12, "%s%s", error.text, report.failures.count ? report.failures.text[0] : "");
    check_report_free(&report);
}

static const struct suite_test tests[] = {
    {"compiled kernels pass, on any number of threads and lane by lane", test_golden},
    {"wrong outputs and counts are noticed", test_notices},
    {"kernels are chosen by name", test_names},
    {"all compiled kernels pass", test_all},
};

int main(void)
{
    if (!mkdtemp(folder))
        return 70;
    const int code = suite_run("kernel_check", tests, ARRAY_COUNT(tests));
    return suite_remove(folder) ? code : 1;
}
