/* orchard run --device from outside: series, limits, refusals, rows in the database. */
#include "isa/array_count.h"
#include "sim/machine/device/device.h"
#include "tests/sim/dram_rate_example.h"
#include "tests/support/cli_binary.h"
#include "tests/support/suite.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static struct cli_home home = {.name = "device", .options = "-q"};

static double last(json_object *d, const char *path)
{
    json_object *const list = document_at(d, path);
    const size_t n = list ? json_object_array_length(list) : 0;
    return n ? json_object_get_double(json_object_array_get_idx(list, n - 1)) : NAN;
}

/* A small product on the GPU of an M1, in a machine. */
#define SHORT_RUN "run gemm:128x128x128 --unit gpu --chip m1 --device "

static void test_the_document_has_series_and_their_sums(void)
{
    if (!cli_ask(&home, SHORT_RUN "macbook-air --duration 300 --json"))
        return;
    json_object *const d = cli_document(&home.outcome);
    if (!d)
        return;
    CU_ASSERT_STRING_EQUAL(json_object_get_string(document_at(d, "/device")), "macbook-air-m1");
    CU_ASSERT_DOUBLE_EQUAL(document_number(d, "/seconds"), 300, 1e-6);
    CHECK(fabs(document_number(d, "/joules") / document_number(d, "/seconds") - document_number(d, "/watts_avg")) < 1e-6,
          "watts %g", document_number(d, "/watts_avg"));
    /* The energy is the integral of the series, and the sum of the parts. */
    static const char *const domains[] = {"p_cpu", "e_cpu", "amx", "gpu", "ane", "slc", "fabric", "dram", "soc"};
    json_object *const time = document_at(d, "/device_run/samples/time_s");
    double joules = 0, parts = 0;
    for (size_t k = 0; k < ARRAY_COUNT(domains); k++) {
        char path[80];
        snprintf(path, sizeof path, "/device_run/samples/watts/%s", domains[k]);
        json_object *const watts = document_at(d, path);
        double before = 0;
        for (size_t i = 0; watts && i < json_object_array_length(watts); i++) {
            const double t = json_object_get_double(json_object_array_get_idx(time, i));
            joules += (t - before) * json_object_get_double(json_object_array_get_idx(watts, i));
            before = t;
        }
    }
    json_object_object_foreach(document_at(d, "/joules_by"), name, value)
    {
        (void)name;
        parts += json_object_get_double(value);
    }
    CHECK(fabs(joules / document_number(d, "/joules") - 1) < 1e-6, "%g J in the series, %g in all", joules,
          document_number(d, "/joules"));
    CHECK(fabs(parts / document_number(d, "/joules") - 1) < 1e-6, "%g J in the parts", parts);
    CHECK(document_number(d, "/celsius_max") > last(d, "/device_run/samples/mean_celsius") - 1, "hottest %g C",
          document_number(d, "/celsius_max"));
    json_object_put(d);
}

static void test_samples_are_in_the_database(void)
{
    if (!cli_ask(&home, SHORT_RUN "macbook-air --duration 60") || home.outcome.code != 0) {
        CHECK(home.outcome.code == 0, "%.300s", home.outcome.err);
        return;
    }
    CHECK(strstr(home.outcome.out, "battery lasts") != NULL, "%.200s", home.outcome.out);
    cli_ask(&home, "db check");
    CHECK(home.outcome.code == 0, "db check: %.300s", home.outcome.err);
    cli_ask(&home, "db export v_samples");
    CHECK(home.outcome.code == 0 && strstr(home.outcome.out, "temperature") && strstr(home.outcome.out, "power"), "%.300s",
          home.outcome.out);
}

static double clock_with(const char *options)
{
    if (!cli_ask(&home, SHORT_RUN "macbook-air --duration 120 --json %s", options))
        return NAN;
    json_object *const d = cli_document(&home.outcome);
    const double mhz = d ? document_number(d, "/device_run/final_mhz/gpu") : NAN;
    json_object_put(d);
    return mhz;
}

static void test_limits_lower_the_clock(void)
{
    const double free_mhz = clock_with("");
    if (isnan(free_mhz))
        return;
    CU_ASSERT_DOUBLE_EQUAL(free_mhz, 1278, 1);
    const double low = clock_with("--power-mode low"), capped = clock_with("--power-cap 0.6"),
                 safe = clock_with("--policy thermal-safe");
    CHECK(low < 0.9 * free_mhz, "low-power mode at %g MHz", low);
    CHECK(capped < 0.9 * free_mhz, "capped at %g MHz", capped);
    CHECK(safe > 0 && safe <= free_mhz + 1, "safe at %g MHz", safe);
}

static void test_equal_runs_give_equal_bytes(void)
{
    static char first[sizeof home.outcome.out];
    if (!cli_ask(&home, SHORT_RUN "macbook-pro-13 --duration 200 --json --threads 1"))
        return;
    json_object *a = cli_document(&home.outcome);
    cli_ask(&home, SHORT_RUN "macbook-pro-13 --duration 200 --json --threads 2");
    json_object *b = cli_document(&home.outcome);
    if (a && b) {
        snprintf(first, sizeof first, "%s", json_object_to_json_string(document_at(a, "/device_run")));
        CU_ASSERT_STRING_EQUAL(first, json_object_to_json_string(document_at(b, "/device_run")));
    }
    json_object_put(a);
    json_object_put(b);
}

/* MacBook Air M1 in Cinebench R23 for ten minutes (ThomasKaiser/Knowledge): the P cluster falls from 14 to 8.8 W and from 2988 to
 * about 2450 MHz, the clocks after about 75 s. The only measured inputs are when the load began and ended. */
static void test_a_real_load_throttles_as_measured(void)
{
    if (!cli_ask(&home, "validate " ORCHARD_SOURCE_DIR
                        "/sim/prove/tables/curve-macbook-air-m1.csv --chip m1 --device macbook-air --json"))
        return;
    json_object *const d = cli_document(&home.outcome);
    if (!d)
        return;
    static const struct {
        const char *path;
        double expected, tolerance;
    } checks[] = {
        {"/closed/p_cluster_first_w", 14, 0.08 * 14},
        {"/closed/p_cluster_first_mhz", 2988, 1},
        {"/closed/p_cluster_last_w", 8.8, 0.08 * 8.8},
        {"/closed/p_cluster_last_mhz", 2450, 0.08 * 2450},
        {"/closed/chip_first_w", 15.4, 0.08 * 15.4},
        {"/closed/chip_last_w", 10.3, 0.08 * 10.3},
        {"/closed/onset_s", 75, 15},
        {"/closed/rmse_k", 0, 2.5},
        {"/rmse_k", 0, 1},
    };
    for (size_t i = 0; i < ARRAY_COUNT(checks); i++)
        CHECK(fabs(document_number(d, checks[i].path) - checks[i].expected) <= checks[i].tolerance, "%s: %g, measured %g",
              checks[i].path, document_number(d, checks[i].path), checks[i].expected);
    json_object_put(d);
}

/* Two streams beyond all caches: each has its share of the DRAM as long as it lasts, and together they draw more than one alone.
 */
static void test_workloads_at_once_share_the_machine(void)
{
    if (!cli_ask(&home, "run stream-triad:8M[unit=gpu,mode=timing] + stream-triad:8M[unit=cpu,cores=2] --chip m1 --device "
                        "macbook-air --duration 200 --json"))
        return;
    json_object *const d = cli_document(&home.outcome);
    if (!d) {
        CHECK(false, "exit %d, %.300s", home.outcome.code, home.outcome.err);
        return;
    }
    struct chip_db *db = example_chips();
    const double limit = example_mixed_limit_gbps(db, "m1", 1.0 / 3); /* a third are writes */
    chip_db_close(db);
    double gbps = 0, parts = 0;
    for (int i = 0; i < 2; i++) {
        json_object *const p = json_object_array_get_idx(document_at(d, "/device_run/concurrent"), (size_t)i);
        const double slowdown = document_number(p, "/slowdown");
        CHECK(slowdown > 1.3 && slowdown < 2.01, "part %d: %g times as long", i, slowdown);
        CU_ASSERT_DOUBLE_EQUAL(slowdown, document_number(p, "/sharing_slowdown"), 1e-6); /* cool, so clocks do not fall */
        CU_ASSERT_DOUBLE_EQUAL(document_number(p, "/repetitions") * document_number(p, "/seconds"), 200, 1e-6);
        gbps += document_number(p, "/dram_gbps");
    }
    CHECK(gbps <= limit * 1.001 && gbps > 0.9 * limit, "%g of %g GB/s", gbps, limit);
    CU_ASSERT_DOUBLE_EQUAL(gbps, document_number(d, "/dram_gbps"), 0.01 * gbps);
    json_object_object_foreach(document_at(d, "/joules_by"), name, value)
    {
        (void)name;
        parts += json_object_get_double(value);
    }
    CU_ASSERT_DOUBLE_EQUAL(parts / document_number(d, "/joules"), 1, 1e-9);
    CHECK(last(d, "/device_run/samples/utilisation/gpu") > 0 && last(d, "/device_run/samples/utilisation/p_cpu") > 0,
          "both at work");
    json_object_put(d);
}

static double document_value(const char *arguments, const char *path)
{
    if (!cli_ask(&home, "%s", arguments))
        return NAN;
    json_object *const d = cli_document(&home.outcome);
    const double value = d ? document_number(d, path) : NAN;
    CHECK(d != NULL, "%s: exit %d, %.300s", arguments, home.outcome.code, home.outcome.err);
    json_object_put(d);
    return value;
}

/* Programs of the CPU move to the E cores, GPU launches stay. Copies that the E cores cannot take stay as well. */
static void test_work_is_steered(void)
{
#define BOTH                                                                                                                     \
    "run gemm:64x64x64[unit=gpu,mode=timing] + stream-triad:256K[unit=cpu,cores=%s] --chip %s --device %s --duration 30 "        \
    "--steer always --json"
    char text[300];
    snprintf(text, sizeof text, BOTH, "2", "m1", "macbook-air");
    CU_ASSERT_DOUBLE_EQUAL(document_value(text, "/device_run/moved_seconds"), 30, 1e-9);
    CU_ASSERT_DOUBLE_EQUAL(document_value(text, "/device_run/final_mhz/gpu"), 1278, 1);
    snprintf(text, sizeof text, BOTH, "4", "m1-max", "macbook-pro-14"); /* which has two E cores */
    CU_ASSERT_DOUBLE_EQUAL(document_value(text, "/device_run/moved_seconds"), 0, 1e-9);
}

/* Work of the GPU goes to the Neural Engine for as long as it is asked to, and by itself when the machine is hot: then clocks do
 * not fall, and more is done. */
static void test_work_moves_to_another_unit(void)
{
#define HEATS "run gemm:1024x1024x1024 --unit gpu --detail op --chip m2 --device macbook-air --ambient 40 --duration 1800 --json"
    const double always = document_value(
        "run gemm:256x256x256 --unit gpu --mode timing --chip m1 --device macbook-air --duration 30 --steer always "
        "--steer-to ane --json",
        "/device_run/moved_seconds");
    CU_ASSERT_DOUBLE_EQUAL(always, 30, 1e-9);
    const double stays = document_value(HEATS, "/device_run/repetitions"),
                 throttled = document_value(HEATS, "/throttled_seconds");
    const double moves = document_value(HEATS " --steer-to ane", "/device_run/repetitions"),
                 moved = document_value(HEATS " --steer-to ane", "/device_run/moved_seconds"),
                 left = document_value(HEATS " --steer-to ane", "/throttled_seconds");
    CHECK(throttled > 60 && left < throttled && moved > 60 && moved < 1800 && moves > stays,
          "%g s throttled, %g s with %g s on the Neural Engine; %g and %g repetitions", throttled, left, moved, stays, moves);
}

static void test_a_nearly_empty_battery_saves_power(void)
{
    const double saved = document_value(SHORT_RUN "macbook-air --duration 60 --power-mode auto --battery 15 --json",
                                        "/device_run/low_power_seconds");
    CU_ASSERT_DOUBLE_EQUAL(saved, 60, 1e-6);
    const double not =
        document_value(SHORT_RUN "macbook-air --duration 60 --power-mode auto --json", "/device_run/low_power_seconds");
    CU_ASSERT_DOUBLE_EQUAL(not, 0, 1e-9); /* on the adapter */
}

static void refused(const char *arguments, const char *expected)
{
    if (!cli_ask(&home, "%s", arguments))
        return;
    CHECK(home.outcome.code == 2 && strstr(home.outcome.err, expected), "%s: exit %d, %.300s", arguments, home.outcome.code,
          home.outcome.err);
}

static void test_impossible_requests_are_refused(void)
{
    refused("run gemm:64x64x64 --unit gpu --chip m1-max --device macbook-air", "machines with it: mac-studio-m1");
    refused("run gemm:64x64x64 --unit gpu --device toaster", "unknown device toaster");
    refused("run gemm:64x64x64 --unit gpu --device macbook-air --policy fastest", "--policy");
    refused("run gemm:64x64x64 --unit gpu --device macbook-air --policy pace", "--target");
    refused("run gemm:64x64x64 --unit gpu --device macbook-air --battery 120", "--battery");
    refused("run gemm:64x64x64 --unit gpu --duration 10", "--device");
    refused("run gemm:64x64x64 --unit gpu --device macbook-air --steer sometimes", "--steer");
    refused("run gemm:64x64x64 --steer hot", "--device");
    refused("run gemm:64x64x64 --unit gpu --device macbook-air --steer-to gpu", "there already");
    refused("run gemm:64x64x64 --unit gpu --device macbook-air --steer-to npu", "--steer-to");
    refused("run gemm:64x64x64 --unit gpu --steer-to ane", "--device");
    refused("run gemm:64x64x64 + copy:1M[unit=gpu,start=1] --device macbook-air --duration 10", "begin at once");
    refused("run gemm:64x64x64 + copy:1M[unti=gpu] --device macbook-air --duration 10", "unit");
}

static void test_the_help_names_every_machine(void)
{
    struct device_list list;
    struct orch_error error;
    CU_ASSERT_TRUE_FATAL(device_list_load(NULL, &list, &error));
    CU_ASSERT(list.count > 0 && cli_ask(&home, "run --help") && home.outcome.code == 0);
    for (size_t i = 0; i < list.count; i++) { /* macbook-pro-14-m1 is asked for as macbook-pro-14 */
        const char *const id = list.device[i].id, *const chip = strrchr(id, '-');
        char name[64];
        snprintf(name, sizeof name, "%.*s", chip ? (int)(chip - id) : 0, id);
        CHECK(*name && strstr(home.outcome.out, name), "%s is not in the help", id);
    }
    device_list_free(&list);
}

static const struct suite_test tests[] = {
    {"the document has series and their sums", test_the_document_has_series_and_their_sums},
    {"workloads at once share the machine", test_workloads_at_once_share_the_machine},
    {"work is steered to the E cores", test_work_is_steered},
    {"and to another unit", test_work_moves_to_another_unit},
    {"a nearly empty battery saves power", test_a_nearly_empty_battery_saves_power},
    {"samples are in the database", test_samples_are_in_the_database},
    {"limits lower the clock", test_limits_lower_the_clock},
    {"equal runs give equal bytes", test_equal_runs_give_equal_bytes},
    {"a real load throttles as measured", test_a_real_load_throttles_as_measured},
    {"the help names every machine", test_the_help_names_every_machine},
    {"impossible requests are refused", test_impossible_requests_are_refused},
};

int main(void)
{
    const int code = suite_run("run device", tests, ARRAY_COUNT(tests));
    return cli_home_remove(&home) ? code : 1;
}
