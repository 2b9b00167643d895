/* orchard run --perfetto from outside: a program, a machine, two workloads at once, and a run that is already known. */
#include "tests/reports/trace_check.h"
#include "tests/support/cli_binary.h"
#include "tests/support/suite.h"

#include <unistd.h>

static struct cli_home home = {.name = "perfetto", .options = "-q"};

static json_object *trace_of(const char *file)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", home.folder, file);
    json_object *const d = json_object_from_file(path);
    CHECK(d != NULL, "%s is no JSON", path);
    return d;
}

/* Checks the trace and sums it up. */
static struct trace_sums sums_of(const char *file)
{
    struct trace_sums sums = {0};
    json_object *const d = trace_of(file);
    trace_check(d, &sums);
    json_object_put(d);
    return sums;
}

static void test_a_known_run_gives_the_same_file(void)
{
    char first[128], second[128], command[300];
    if (!cli_ask(&home, "run gemm:64x64x64 --unit amx --chip m1,m2 --perfetto $/first.json"))
        return;
    CHECK(home.outcome.code == 0, "%.300s", home.outcome.err);
    const struct trace_sums sums = sums_of("first.json");
    CU_ASSERT_EQUAL(sums.slices, 6); /* of each chip: the run, the submission, the op */
    CU_ASSERT_EQUAL(sums.arrows, 2);
    cli_ask(&home, "run gemm:64x64x64 --unit amx --chip m1,m2 --perfetto $/second.json");
    snprintf(first, sizeof first, "%s/first.json", home.folder);
    snprintf(second, sizeof second, "%s/second.json", home.folder);
    snprintf(command, sizeof command, "cmp -s %s %s", first, second);
    CHECK(system(command) == 0, "the run from the database gives another trace");
}

static void test_a_machine_gives_counters(void)
{
    if (!cli_ask(&home,
                 "run gemm:64x64x64 --unit gpu --chip m1 --device macbook-air --duration 60 --perfetto $/device.json --json"))
        return;
    json_object *const d = cli_document(&home.outcome);
    const struct trace_sums sums = sums_of("device.json");
    const size_t samples = json_object_array_length(document_at(d, "/device_run/samples/time_s"));
    CHECK(samples > 50 && sums.counters % samples == 0 && sums.counters / samples >= 20, "%zu points of %zu samples",
          sums.counters, samples);
    /* The database gives the same trace whenever it is asked for. */
    cli_ask(&home, "report last --perfetto $/recorded.json -o $/page.html");
    const struct trace_sums recorded = sums_of("recorded.json");
    CU_ASSERT_EQUAL(recorded.counters, sums.counters);
    CU_ASSERT_EQUAL(recorded.slices, sums.slices);
    json_object_put(d);
}

static void test_two_workloads_at_once(void)
{
    if (!cli_ask(&home, "run stream-triad:1M[unit=gpu] + stream-triad:1M[unit=cpu] --chip m1 --perfetto $/both.json"))
        return;
    CHECK(home.outcome.code == 0, "%.300s", home.outcome.err);
    const struct trace_sums sums = sums_of("both.json");
    CU_ASSERT_EQUAL(sums.slices, 5);
    CHECK(sums.counters > 0, "no use of the DRAM");
}

static void test_failures_leave_no_file(void)
{
    char path[128];
    if (!cli_ask(&home, "run gemm:64x64x64 --perfetto /nonexistent/x.json"))
        return;
    CU_ASSERT_EQUAL(home.outcome.code, 2);
    cli_ask(&home, "run gemm:64x64x64 --unit ane --precision f64 --perfetto $/never.json");
    CHECK(home.outcome.code != 0, "f64 ran");
    snprintf(path, sizeof path, "%s/never.json", home.folder);
    CHECK(access(path, F_OK) != 0, "a file was left");
    CHECK(cli_home_remove(&home), "something stays in %s", home.folder);
}

static const struct suite_test tests[] = {
    {"a known run gives the same file", test_a_known_run_gives_the_same_file},
    {"a machine gives counters", test_a_machine_gives_counters},
    {"two workloads at once have tracks of their own", test_two_workloads_at_once},
    {"failures leave no file", test_failures_leave_no_file},
};
SUITE_MAIN("run --perfetto", tests)
