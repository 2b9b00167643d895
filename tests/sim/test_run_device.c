/* orchard run --device as a user meets it: series, limits, refusals, rows in the database. */
#include "tests/support/cli_binary.h"
#include "tests/support/suite.h"

#include <json-c/json.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char folder[] = "/tmp/orchard-device-XXXXXX";
static struct cli_outcome outcome;

static bool orchard(const char *format, ...) __attribute__((format(printf, 1, 2)));
static bool orchard(const char *format, ...)
{
    char line[1024];
    va_list args;

    if (folder[strlen(folder) - 1] == 'X')
        CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    va_start(args, format);
    const int n = vsnprintf(line, sizeof line - 80, format, args);
    va_end(args);
    snprintf(line + n, 80, " -q --db %s/runs.db", folder);
    return cli_run_or_skip(line, &outcome);
}

static json_object *at(json_object *d, const char *path)
{
    json_object *value = NULL;
    CHECK(json_pointer_get(d, path, &value) == 0, "%s is missing", path);
    return value;
}

static double number(json_object *d, const char *path)
{
    return json_object_get_double(at(d, path));
}

static double last(json_object *d, const char *path)
{
    json_object *const list = at(d, path);
    const size_t n = list ? json_object_array_length(list) : 0;
    return n ? json_object_get_double(json_object_array_get_idx(list, n - 1)) : NAN;
}

/* A small product on the GPU of an M1, for so long. */
#define SHORT_RUN "run gemm:128x128x128 --unit gpu --chip m1 --device "

static json_object *document(void)
{
    json_object *const d = outcome.code == 0 ? json_tokener_parse(outcome.out) : NULL;
    CHECK(d != NULL, "exit %d: %.300s", outcome.code, outcome.err);
    return d;
}

static void test_the_document_has_series_and_their_sums(void)
{
    if (!orchard(SHORT_RUN "macbook-air --duration 300 --json"))
        return;
    json_object *const d = document();
    if (!d)
        return;
    CU_ASSERT_STRING_EQUAL(json_object_get_string(at(d, "/device")), "macbook-air-m1");
    CU_ASSERT_DOUBLE_EQUAL(number(d, "/seconds"), 300, 1e-6);
    CHECK(fabs(number(d, "/joules") / number(d, "/seconds") - number(d, "/watts_avg")) < 1e-6, "watts %g", number(d, "/watts_avg"));
    /* Energy is the integral of the series, and of the parts. */
    static const char *const domains[] = {"p_cpu", "e_cpu", "amx", "gpu", "ane", "slc", "fabric", "dram", "soc"};
    json_object *const time = at(d, "/device_run/samples/time_s");
    double joules = 0, parts = 0;
    for (size_t k = 0; k < sizeof domains / sizeof domains[0]; k++) {
        char path[80];
        snprintf(path, sizeof path, "/device_run/samples/watts/%s", domains[k]);
        json_object *const watts = at(d, path);
        double before = 0;
        for (size_t i = 0; watts && i < json_object_array_length(watts); i++) {
            const double t = json_object_get_double(json_object_array_get_idx(time, i));
            joules += (t - before) * json_object_get_double(json_object_array_get_idx(watts, i));
            before = t;
        }
    }
    json_object_object_foreach(at(d, "/joules_by"), name, value) {
        (void)name;
        parts += json_object_get_double(value);
    }
    CHECK(fabs(joules / number(d, "/joules") - 1) < 1e-6, "%g J in the series, %g in all", joules, number(d, "/joules"));
    CHECK(fabs(parts / number(d, "/joules") - 1) < 1e-6, "%g J in the parts", parts);
    CHECK(number(d, "/celsius_max") > last(d, "/device_run/samples/mean_celsius") - 1, "hottest %g C", number(d, "/celsius_max"));
    json_object_put(d);
}

static void test_samples_are_in_the_database(void)
{
    if (!orchard(SHORT_RUN "macbook-air --duration 60") || outcome.code != 0) {
        CHECK(outcome.code == 0, "%.300s", outcome.err);
        return;
    }
    CHECK(strstr(outcome.out, "battery lasts") != NULL, "%.200s", outcome.out);
    orchard("db check");
    CHECK(outcome.code == 0, "db check: %.300s", outcome.err);
    orchard("db export v_samples");
    CHECK(outcome.code == 0 && strstr(outcome.out, "temperature") && strstr(outcome.out, "power"), "%.300s", outcome.out);
}

static double clock_with(const char *options)
{
    if (!orchard(SHORT_RUN "macbook-air --duration 120 --json %s", options))
        return NAN;
    json_object *const d = document();
    const double mhz = d ? number(d, "/device_run/final_mhz/gpu") : NAN;
    json_object_put(d);
    return mhz;
}

static void test_limits_lower_the_clock(void)
{
    const double free_mhz = clock_with("");
    if (isnan(free_mhz))
        return;
    CU_ASSERT_DOUBLE_EQUAL(free_mhz, 1278, 1);
    const double low = clock_with("--power-mode low"), capped = clock_with("--power-cap 0.6"), safe = clock_with("--policy thermal-safe");
    CHECK(low < 0.9 * free_mhz, "low-power mode at %g MHz", low);
    CHECK(capped < 0.9 * free_mhz, "capped at %g MHz", capped);
    CHECK(safe > 0 && safe <= free_mhz + 1, "safe at %g MHz", safe);
}

static void test_equal_runs_give_equal_bytes(void)
{
    static char first[sizeof outcome.out];
    if (!orchard(SHORT_RUN "macbook-pro-13 --duration 200 --json --threads 1"))
        return;
    json_object *a = document();
    orchard(SHORT_RUN "macbook-pro-13 --duration 200 --json --threads 2");
    json_object *b = document();
    if (a && b) {
        snprintf(first, sizeof first, "%s", json_object_to_json_string(at(a, "/device_run")));
        CU_ASSERT_STRING_EQUAL(first, json_object_to_json_string(at(b, "/device_run")));
    }
    json_object_put(a);
    json_object_put(b);
}

static void refused(const char *arguments, const char *expected)
{
    if (!orchard("%s", arguments))
        return;
    CHECK(outcome.code == 2 && strstr(outcome.err, expected), "%s: exit %d, %.300s", arguments, outcome.code, outcome.err);
}

static void test_what_cannot_be_is_refused(void)
{
    refused("run gemm:64x64x64 --unit gpu --chip m1-max --device macbook-air", "machines with it: mac-studio-m1");
    refused("run gemm:64x64x64 --unit gpu --device toaster", "unknown device toaster");
    refused("run gemm:64x64x64 --unit gpu --device macbook-air --policy fastest", "--policy");
    refused("run gemm:64x64x64 --unit gpu --device macbook-air --policy pace", "--target");
    refused("run gemm:64x64x64 --unit gpu --device macbook-air --battery 120", "--battery");
    refused("run gemm:64x64x64 --unit gpu --duration 10", "--device");
}

static const struct suite_test tests[] = {
    {"the document has series and their sums", test_the_document_has_series_and_their_sums},
    {"samples are in the database", test_samples_are_in_the_database},
    {"limits lower the clock", test_limits_lower_the_clock},
    {"equal runs give equal bytes", test_equal_runs_give_equal_bytes},
    {"what cannot be is refused", test_what_cannot_be_is_refused},
};
SUITE_MAIN("run device", tests)
