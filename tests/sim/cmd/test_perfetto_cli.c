/* orchard run --perfetto from outside: a program, a machine, two workloads at once, a network, a
 * recorded trace, and a run that is already known. */
#include "isa/array_count.h"
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

/* The reasons to which a run lost time. */
static size_t reasons_of(json_object *run)
{
    size_t count = 0;
    json_object_object_foreach(document_at(run, "/stalls"), name, share)
    {
        (void)name;
        count += json_object_get_double(share) > 0;
    }
    return count;
}

static void test_a_known_run_gives_the_same_file(void)
{
    char first[128], second[128], command[300];
    if (!cli_ask(&home, "run gemm:64x64x64 --unit amx --chip m1,m2 --perfetto $/first.json --json"))
        return;
    CHECK(home.outcome.code == 0, "%.300s", home.outcome.err);
    json_object *const runs = cli_document(&home.outcome);
    const size_t reasons = reasons_of(json_object_array_get_idx(runs, 0)) + reasons_of(json_object_array_get_idx(runs, 1));
    const struct trace_sums sums = sums_of("first.json");
    CU_ASSERT_EQUAL(sums.slices, 6 + reasons); /* of each chip: the run, the submission, the op, a slice for each reason */
    CU_ASSERT_EQUAL(sums.arrows, 2);
    CU_ASSERT_EQUAL(sums.counters, 8); /* of each chip: mean power and bandwidth, from begin to end */
    json_object_put(runs);
    cli_ask(&home, "run gemm:64x64x64 --unit amx --chip m1,m2 --perfetto $/second.json");
    snprintf(first, sizeof first, "%s/first.json", home.folder);
    snprintf(second, sizeof second, "%s/second.json", home.folder);
    snprintf(command, sizeof command, "cmp -s %s %s", first, second);
    CHECK(system(command) == 0, "the run from the database gives another trace");
}

/* How many tracks have a name that ends so: with a core's number. */
static unsigned lanes_of(const char *file, const char *part)
{
    json_object *const d = trace_of(file), *const events = document_at(d, "/traceEvents");
    char begin[32];
    unsigned lanes = 0;
    snprintf(begin, sizeof begin, "%s core ", part);
    for (size_t i = 0; i < json_object_array_length(events); i++) {
        json_object *const e = json_object_array_get_idx(events, i), *name = NULL;
        if (strcmp(trace_text(e, "name"), "thread_name") == 0 && json_object_object_get_ex(e, "args", &name) &&
            strncmp(trace_text(name, "name"), begin, strlen(begin)) == 0)
            lanes++;
    }
    json_object_put(d);
    return lanes;
}

/* Cores that have work have lanes: all of the chip, those that threadgroups are left for, copies of a program. */
static void test_cores_have_lanes(void)
{
    static const struct {
        const char *line, *part;
        unsigned lanes;
    } rows[] = {
        {"run gemm:512x512x512 --unit gpu --chip m1 --detail op --perfetto $/cores.json", "gpu", 8},
        {"run gemm:512x512x512 --unit gpu --chip m1 --detail sampled --perfetto $/cores.json", "gpu", 8},
        {"run gemm:512x512x512 --unit gpu --chip m1 --detail op --perfetto $/cores.json", "gpu", 8}, /* known by now */
        {"run gemm:512x512x512 --unit gpu --chip m1 --set gpu_cores=5 --detail op --perfetto $/cores.json", "gpu", 5},
        {"run gemm:64x64x64 --unit gpu --chip m1 --detail op --perfetto $/cores.json", "gpu", 4},
        {"run gemm:128x128x128 --unit cpu --chip m1 --cores 3 --perfetto $/cores.json", "cpu", 3},
    };
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        if (!cli_ask(&home, "%s", rows[i].line))
            return;
        CHECK(home.outcome.code == 0, "%s: %.300s", rows[i].line, home.outcome.err);
        const unsigned lanes = lanes_of("cores.json", rows[i].part);
        CHECK(lanes == rows[i].lanes, "%s: %u lanes", rows[i].line, lanes);
        const struct trace_sums sums = sums_of("cores.json");
        CHECK(sums.arrows == 1 + lanes, "%zu arrows", sums.arrows);
    }
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
    CHECK(sums.slices >= 5, "%zu slices", sums.slices);
    CHECK(sums.counters > 0, "no use of the DRAM");
}

/* How many slices are on tracks whose names begin so. */
static size_t slices_on(json_object *document, const char *track)
{
    json_object *const events = document_at(document, "/traceEvents");
    long pid[256], tid[256];
    size_t tracks = 0, count = 0;
    for (size_t i = 0; i < json_object_array_length(events); i++) {
        json_object *const e = json_object_array_get_idx(events, i);
        const char *const ph = trace_text(e, "ph");
        if (strcmp(ph, "M") == 0 && strcmp(trace_text(e, "name"), "thread_name") == 0 && tracks < 256 &&
            strncmp(document_text(e, "/args/name"), track, strlen(track)) == 0) {
            pid[tracks] = (long)trace_number(e, "pid");
            tid[tracks++] = (long)trace_number(e, "tid");
        }
        for (size_t t = 0; strcmp(ph, "X") == 0 && t < tracks; t++)
            count += (long)trace_number(e, "pid") == pid[t] && (long)trace_number(e, "tid") == tid[t];
    }
    return count;
}

/* A network's kernels are on the units that ran them. */
static void test_a_network_has_its_kernels(void)
{
    if (!cli_ask(&home, "run model:mobilenet-v3-small --unit gpu --mode timing --dim size=32 --perfetto $/net.json --json"))
        return;
    json_object *const run = cli_document(&home.outcome), *const d = trace_of("net.json");
    size_t timed = 0;
    for (size_t i = 0; i < json_object_array_length(document_at(run, "/placement")); i++) {
        char name[64];
        snprintf(name, sizeof name, "network.kernel%zu.seconds", i + 1);
        timed += json_object_object_get_ex(document_at(run, "/counters"), name, NULL);
    }
    CHECK(timed > 20 && slices_on(d, "kernels of the network") == timed, "%zu slices of %zu kernels",
          slices_on(d, "kernels of the network"), timed);
    CU_ASSERT_EQUAL(slices_on(d, "time by reason"), reasons_of(run));
    json_object_put(run);
    json_object_put(d);
}

/* Launches that follow one another have slices each, on the same lanes; of too many the first have, and the file says so. */
static void test_cores_of_launches(void)
{
    static const struct {
        const char *line, *lane;
        size_t slices;
        bool all;
    } rows[] = {
        {"run gemm:512x512x512 --unit gpu --chip m1 --detail op --repeat 3", "gpu core ", 3 * 8, true},
        {"run gemm:128x128x128 --unit cpu --chip m1 --cores 3 --repeat 2", "cpu core ", 2 * 3, true},
        {"run gemm:64x64x64 --unit gpu --chip m1 --detail op --repeat 600", "gpu core ", 2048, false},
    };
    for (size_t i = 0; i < ARRAY_COUNT(rows); i++) {
        if (!cli_ask(&home, "%s --perfetto $/cores.json", rows[i].line))
            return;
        CHECK(home.outcome.code == 0, "%s: %.300s", rows[i].line, home.outcome.err);
        json_object *const d = trace_of("cores.json");
        CHECK(slices_on(d, rows[i].lane) == rows[i].slices, "%s: %zu slices", rows[i].line, slices_on(d, rows[i].lane));
        const char *const silent = strstr(json_object_to_json_string_ext(d, JSON_C_TO_STRING_PLAIN), "\"launches left out\":88");
        CHECK((silent == NULL) == rows[i].all, "%s: what is left out", rows[i].line);
        json_object_put(d);
    }
}

/* Each kernel of a network on the GPU has slices on the lanes of as many cores as it has threadgroups for; of many kernels on
 * many cores the longest have, and the file says of how many it is silent. */
static void test_cores_of_networks(void)
{
    static const struct {
        const char *chip, *size;
        double cores;
        bool all;
    } rows[] = {{"m1", "64", 8, true}, {"m2-ultra", "64", 76, false}};
    for (size_t row = 0; row < ARRAY_COUNT(rows); row++) {
        if (!cli_ask(
                &home,
                "run model:mobilenet-v3-small --unit gpu --chip %s --mode timing --dim size=%s --perfetto $/cores.json --json",
                rows[row].chip, rows[row].size))
            return;
        CHECK(home.outcome.code == 0, "%.300s", home.outcome.err);
        json_object *const run = cli_document(&home.outcome), *const d = trace_of("cores.json");
        double expected = 0;
        for (size_t i = 0; i < json_object_array_length(document_at(run, "/placement")); i++) {
            char path[64];
            json_object *groups = NULL;
            snprintf(path, sizeof path, "network.kernel%zu.threadgroups", i + 1);
            if (json_object_object_get_ex(document_at(run, "/counters"), path, &groups))
                expected += fmin(json_object_get_double(groups), rows[row].cores);
        }
        const double found = (double)slices_on(d, "gpu core ");
        const bool silent = strstr(json_object_to_json_string(d), "kernels left out") != NULL;
        CHECK(expected > 100 && found <= 2048 && (expected <= 2048 ? found == expected : found < expected),
              "%s: %g slices of cores, expected %g", rows[row].chip, found, expected);
        CHECK(silent == (expected > 2048), "%s: %g of %g slices", rows[row].chip, found, expected);
        /* From the launch to the first kernel, and from each kernel to its cores. */
        CHECK(strstr(json_object_to_json_string(d), "\"launch\"") && (double)sums_of("cores.json").arrows >= found + 2,
              "%s: %zu arrows", rows[row].chip, sums_of("cores.json").arrows);
        CHECK(rows[row].all == (expected <= 2048), "%s: %g slices", rows[row].chip, expected);
        json_object_put(run);
        json_object_put(d);
    }
}

/* A recorded trace gives the very file that the run gives: the cores, the reasons, the means, where the steps of a network ran.
 */
static void test_a_recorded_trace_gives_the_file_of_its_run(void)
{
    static const char *const lines[] = {
        "gemm:512x512x512 --unit gpu --detail op --repeat 3",
        "gemm:128x128x128 --unit cpu --cores 3 --repeat 2",
        "model:shufflenet-v2 --unit gpu --mode timing",
        "stream-triad:1M[unit=gpu] + stream-triad:1M[unit=cpu]",
    };
    char command[300], compared[200];
    for (size_t i = 0; i < ARRAY_COUNT(lines); i++) {
        snprintf(command, sizeof command, "run %s --chip m1 --rerun --perfetto $/run.json", lines[i]);
        if (!cli_ask(&home, "%s", command))
            return;
        cli_ask(&home, "trace record %s --chip m1 -o $/of.trace", lines[i]);
        cli_ask(&home, "trace convert $/of.trace --perfetto $/trace.json");
        CHECK(home.outcome.code == 0, "%s: %.300s", lines[i], home.outcome.err);
        snprintf(compared, sizeof compared, "cmp -s %s/run.json %s/trace.json", home.folder, home.folder);
        CHECK(system(compared) == 0, "%s: the trace gives another file", lines[i]);
    }
}

/* A lane for each core and unit, a slice for each instruction, an arrow for each launch. */
static void test_a_recorded_trace(void)
{
    static const struct {
        const char *unit, *lane;
    } rows[] = {{"gpu", "gpu 0: instructions"}, {"amx", "amx 0: instructions"}, {"cpu", "cpu 0: instructions"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!cli_ask(&home, "trace record gemm:32x32x32 --unit %s --level instruction -o $/one.trace", rows[i].unit))
            return;
        cli_ask(&home, "trace info $/one.trace --json");
        json_object *const info = cli_document(&home.outcome);
        cli_ask(&home, "trace convert $/one.trace --perfetto $/one.json");
        CHECK(home.outcome.code == 0, "%.300s", home.outcome.err);
        const struct trace_sums sums = sums_of("one.json");
        json_object *const d = trace_of("one.json");
        const double instructions = document_number(info, "/records/instruction"), ops = document_number(info, "/records/op_end");
        const double others = (double)(slices_on(d, "time by reason") + lanes_of("one.json", rows[i].unit));
        CHECK(instructions > 0 && (double)sums.slices == instructions + 2 * ops + document_number(info, "/runs") + others,
              "%s: %zu slices of %g instructions and %g operators", rows[i].unit, sums.slices, instructions, ops);
        CHECK((double)sums.arrows == document_number(info, "/records/launch") + lanes_of("one.json", rows[i].unit),
              "%s: %zu arrows", rows[i].unit, sums.arrows);
        CHECK(slices_on(d, rows[i].lane) > 0, "no lane %s", rows[i].lane);
        json_object_put(info);
        json_object_put(d);
    }
    cli_ask(&home, "trace convert $/one.trace");
    CU_ASSERT_EQUAL(home.outcome.code, 2);
    cli_ask(&home, "trace convert $/one.trace --perfetto $/a.json -o $/b.trace");
    CU_ASSERT_EQUAL(home.outcome.code, 2);
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
    {"cores that have work have lanes", test_cores_have_lanes},
    {"cores that work on launches in a row have slices for each", test_cores_of_launches},
    {"cores that work on kernels of networks have lanes", test_cores_of_networks},
    {"a known run gives the same file", test_a_known_run_gives_the_same_file},
    {"a machine gives counters", test_a_machine_gives_counters},
    {"two workloads at once have tracks of their own", test_two_workloads_at_once},
    {"a network has its kernels on its units", test_a_network_has_its_kernels},
    {"a recorded trace gives the file of its run", test_a_recorded_trace_gives_the_file_of_its_run},
    {"a recorded trace has lanes of instructions", test_a_recorded_trace},
    {"failures leave no file", test_failures_leave_no_file},
};
SUITE_MAIN("run --perfetto", tests)
